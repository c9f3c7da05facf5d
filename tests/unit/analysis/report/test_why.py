"""The chapter on why: what `explain` answers on the profiles beside the trial, and a sentence where one is not its own.

Authority: `analysis.diagnose.explain` on the same profile; the page of the same trial before it had one.
"""

from __future__ import annotations

import json
import random
import shutil
from html import unescape

import pytest

from analysis.diagnose.explain import explain
from analysis.diagnose.why_result import MOST, evidence, rows_of
from analysis.importers.reader import Reading
from analysis.pages import as_markup, as_markup as as_csv, as_text
from analysis.pages.model import text_of
from analysis.record.manifest import read_manifest
from analysis.record.profiles import PROFILE, profiles_of, read_profile
from analysis.report.assembling import assemble, brief_page, data_page, html_page
from analysis.report.subject import subject_of, subjects_of
from analysis.report.why import chapter, profiles_beside
from tests.profiled import CALLS, profile_beside


@pytest.fixture(scope="module")
def trial(tmp_path_factory, synthetic, shared):
    """Write a small trial in which `slow` is slower on `keys`."""
    rng = random.Random(5)

    def walls(ms):
        return [ms / 1e3 * (1 + rng.gauss(0, 0.01)) for _ in range(12)]

    made = synthetic(
        {
            "base": {"keys": walls(30), "logs": walls(50)},
            "slow": {"keys": walls(35), "logs": walls(50)},
            "other": {"keys": walls(30), "logs": walls(50)},
        },
        sessions=6,
    )
    place = made.write(tmp_path_factory.mktemp("why") / "runs" / "sort")
    with shared(place):
        yield place


@pytest.fixture
def profiled(trial, tmp_path, synthetic):
    """Give a copy of the trial with a profile of `slow` beside it."""
    place = tmp_path / "runs" / trial.name
    shutil.copytree(trial, place)
    profile_beside(place, synthetic, variant="slow", benchmarks=("keys",))
    return place


def subject(path, **asked):
    return subject_of([str(path)], Reading(), explain=False, **asked)


def told(path, **asked):
    return chapter(subject(path, **asked))


def change(path, **fields):
    """Change keys of the profile of `slow`."""
    file = profiles_of(path) / "slow" / PROFILE
    file.write_text(json.dumps(json.loads(file.read_text()) | fields))


# --- what is shown


def test_the_rows_are_those_of_explain_in_every_form(profiled):
    found = told(profiled)
    why = explain(read_profile(profiles_of(profiled) / "slow"), benchmark="keys")
    assert [row.name for row in why.named] == ["qsort_cmp (app)", "msort_with_tmp (libc)"]
    (one,) = found["profiles"]
    (answer,) = one["answers"]
    assert answer["told"].to_dict() == why.to_dict()
    (_, (table, *_), *_) = (part.blocks for part in evidence(why, whole="why-1-"))
    functions = [text_of(row[4]) for row in table.rows[: len(why.rows)]]
    report = assemble(subjects_of([str(profiled)], Reading(), explain=False))
    page = html_page(report)
    assert ">slow against base<" in page  # a name at the head of a part keeps its letters
    forms = {
        "csv": as_csv.render(data_page(report)),
        "md": as_markup.render_markdown(report.screen()),
        "latex": as_markup.render_latex(report.screen()),
        "html": page.replace("\N{MINUS SIGN}", "-"),
    }
    for form, text in forms.items():
        assert [one for one in functions if one not in text] == [], form
        if form != "csv":  # which has tables only
            assert "Recorded 2026-11-27" in text
            assert "None of these runs is in the verdict" in text
    assert "why-1-slow-keys-functions," in forms["csv"]
    assert "Why it differs" not in as_text.render(brief_page(report))


def test_recorded_runs_change_no_other_part_of_the_page(trial, profiled):
    before = assemble([subject(trial)])
    after = assemble([subject(profiled)])
    assert [one.name for one in before.chapters if one.name == "why"] == []
    names = [one.name for one in after.chapters]
    assert names.index("why") == names.index("parts") + 1
    assert after.headline == before.headline
    one, other = (
        {c.name: c.to_dict() for c in report.chapters if c.name in ("answer", "parts", "suite")}
        for report in (before, after)
    )
    text = json.dumps(other).replace(str(profiled), str(trial))
    assert json.loads(text) == json.loads(json.dumps(one))


def test_without_callers_there_is_no_table_of_calls(profiled, synthetic):
    profile_beside_again(profiled, synthetic, chains=None)
    found = told(profiled)
    assert found["profiles"][0]["answers"][0]["calls"] == []
    assert "without callers" in found["profiles"][0]["deck"][0]
    assert "by path of calls" not in html_page(assemble([subject(profiled)]))


def test_a_difference_that_did_not_appear_names_no_function(profiled, synthetic):
    same = {chain: (ms[0], ms[0]) for chain, ms in CALLS.items()}
    profile_beside_again(profiled, synthetic, calls=same, seed=3)
    (answer,) = told(profiled)["profiles"][0]["answers"]
    assert answer["told"].withheld == "total-not-resolved"
    rows = [row.function for row in rows_of(answer["told"], MOST)]
    assert rows == ["all, on the CPU", "off the CPU"]
    assert answer["calls"] == []
    assert told(profiled)["summary"] == answer["told"].sentence


def test_of_several_comparisons_the_named_functions_are_counted(profiled, synthetic):
    profile_beside(profiled, synthetic, variant="other", benchmarks=("keys",))
    assert told(profiled)["summary"] == "4 functions named in 2 comparisons"  # two of each


def test_only_what_is_asked_for_is_shown(profiled):
    assert told(profiled, variants=("other",)) is None
    assert told(profiled, benchmarks=("logs",)) is None
    assert told(profiled, variants=("slow",)) is not None


def test_a_second_metric_does_not_repeat_it(profiled):
    report = assemble(subjects_of([str(profiled)], Reading(), ("wall", "user"), explain=False))
    assert [one.anchor for one in report.chapters if one.name == "why"] == ["why"]


def test_hostile_names_stay_text(profiled, synthetic):
    nasty = "<script>alert(1)</script>\x07\u202e"
    calls = {**CALLS, ("_start@app", f"{nasty}@app"): (4.0, 9.0)}
    profile_beside_again(profiled, synthetic, calls=calls)
    page = html_page(assemble([subject(profiled)]))
    assert "<script>alert" not in page
    assert "\x07" not in page
    assert "\u202e" not in page
    assert "<script>alert(1)</script>" in unescape(page)


def test_a_profile_that_is_not_shown_is_a_sentence_of_the_page(profiled):
    change(profiled, trial="elsewhere")
    found = told(profiled)
    assert found["profiles"] == []
    assert "elsewhere" in found["faults"][0]
    assert found["faults"][0] in unescape(html_page(assemble([subject(profiled)])))


def profile_beside_again(path, synthetic, **options):
    shutil.rmtree(profiles_of(path))
    profile_beside(path, synthetic, variant="slow", benchmarks=("keys",), **options)
    assert read_manifest(path).trial


# --- Profiles beside a trial: which are its own; each other one is a sentence (docs/report.md)


KEYS = ("keys", "logs")


@pytest.fixture(scope="module")
def made(tmp_path_factory, synthetic, shared):
    """Write a trial with a profile of `slow`, and one of `other`."""
    cells = {"keys": [0.03, 0.03], "logs": [0.05, 0.05]}
    trial = synthetic({"base": cells, "slow": cells, "other": cells}, sessions=2)
    place = trial.write(tmp_path_factory.mktemp("beside") / "sort")
    for variant in ("slow", "other"):
        profile_beside(place, synthetic, variant=variant, benchmarks=("keys",))
    with shared(place.parent):
        yield place


@pytest.fixture
def beside_trial(made, tmp_path):
    shutil.copytree(made.parent, tmp_path / "runs")
    return tmp_path / "runs" / "sort"


def look(trial, variants=("slow",), benchmarks=KEYS):
    return profiles_beside(trial, read_manifest(trial), frozenset(variants), benchmarks, 0.95)


FOREIGN = {
    "of the trial elsewhere": {"trial": "elsewhere"},
    "another campaign": {"campaign_sha256": "f" * 64},
    "another host": {"host_id": "of-somebody"},
    "before the trial began": {"started": "2020-01-01T00:00:00Z"},
    "when it was recorded": {"started": "yesterday"},
    "schema": {"schema": 2},
    "damaged": {"sessions": "six"},
}


@pytest.mark.parametrize("said", FOREIGN)
def test_a_profile_of_something_else_is_a_sentence(beside_trial, said):
    file = profiles_of(beside_trial) / "slow" / PROFILE
    file.write_text(json.dumps(json.loads(file.read_text()) | FOREIGN[said]))
    found = look(beside_trial)
    assert found["profiles"] == []
    (fault,) = found["faults"]
    assert said in fault
    assert fault.startswith("sort.why/slow is not shown: ")


DAMAGES = {
    "no profile": lambda folder: (folder / PROFILE).unlink(),
    "samples cut": lambda folder: (folder / "samples.jsonl").write_text('{"session": 1,'),
    "samples gone": lambda folder: (folder / "samples.jsonl").unlink(),
    "no timed runs": lambda folder: shutil.rmtree(folder / "timed"),
    "a timed run changed": lambda folder: (folder / "timed" / "measurements.jsonl").write_text("x"),
    "no JSON": lambda folder: (folder / PROFILE).write_text("{"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_profile_is_a_sentence_and_hides_no_other(beside_trial, damage):
    DAMAGES[damage](profiles_of(beside_trial) / "slow")
    found = look(beside_trial, ("slow", "other"))
    assert [one["variant"] for one in found["profiles"]] == ["other"]
    assert len(found["faults"]) == 1


def test_a_benchmark_without_samples_is_a_sentence_and_hides_no_other(beside_trial, synthetic):
    shutil.rmtree(profiles_of(beside_trial) / "slow")
    folder = profile_beside(beside_trial, synthetic, variant="slow")
    rows = [json.loads(line) for line in (folder / "samples.jsonl").read_text().splitlines()]
    kept = [row for row in rows if (row["benchmark"], row["variant"]) != ("keys", "slow")]
    (folder / "samples.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in kept))
    found = look(beside_trial)
    assert [each["told"].benchmark for each in found["profiles"][0]["answers"]] == ["logs"]
    (fault,) = found["faults"]
    assert fault.startswith("sort.why/slow is not shown on keys: no session")


def test_a_profile_in_the_folder_of_another_variant_is_a_sentence(beside_trial):
    folder = profiles_of(beside_trial)
    shutil.rmtree(folder / "other")
    (folder / "slow").rename(folder / "other")
    said = "sort.why/other is not shown: it compares slow with base"
    assert look(beside_trial, ("slow", "other"))["faults"] == [said]


def test_a_profile_of_no_variant_and_a_folder_without_a_finished_one_are_told(beside_trial):
    folder = profiles_of(beside_trial)
    (folder / "slow").rename(folder / "gone")
    shutil.rmtree(folder / "other")
    assert "no variant of this name" in look(beside_trial)["faults"][0]
    (folder / "gone").rename(folder / ".slow.part")
    assert look(beside_trial)["faults"] == ["sort.why holds no finished profile"]


def test_what_is_not_asked_for_is_left_alone(beside_trial):
    (profiles_of(beside_trial) / "other" / PROFILE).write_text("{")
    found = look(beside_trial)
    assert [len(one["answers"]) for one in found["profiles"]] == [1]
    assert found["faults"] == []
    assert look(beside_trial, benchmarks=("logs",)) is None


def test_a_file_in_the_place_of_the_folder_is_a_sentence(beside_trial):
    shutil.rmtree(profiles_of(beside_trial))
    assert look(beside_trial) is None
    profiles_of(beside_trial).write_text("mine")
    assert "cannot be read" in look(beside_trial)["faults"][0]
