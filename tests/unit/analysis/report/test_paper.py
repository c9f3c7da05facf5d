"""For a paper: the paragraph says what was done, the commands do it again, the values are the values."""

from __future__ import annotations

import hashlib
import io
import json
import re
import shlex
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml
from hypothesis import given, strategies as st

from analysis.importers.reader import Reading
from analysis.record.shapes import encode_checked
from analysis.record.trial_files import (
    BUILDS,
    Appended,
    BuildRecord,
    GivenUp,
    MergedTrial,
    StopRule,
)
from analysis.report.assembling import chapter_html, embedded
from analysis.report.methods_text import METHODS, citations_of, counted, spoken_text, works
from analysis.report.paper import chapter as paper
from analysis.report.subject import subject_of, subjects_of
from analysis.version import VERSION
from harness.cli import main

BENCHES = ("text", "logs", "json")
RESOLVED = {
    "campaign": {
        "protocol": {"order": "shuffled", "warmup_sessions": "all"},
        "isolation": {"aslr": True, "padding": "random"},
    }
}
ENVIRONMENT = {
    "session": 1,
    "segment": 0,
    "host": {"name": "lab07", "virtual": "kvm"},
    "cpu": {"model": "Some CPU", "cores": 2},
    "kernel": {
        "release": "6.1.2-secret-lab",
        "distribution": "Debian GNU/Linux 12",
        "boot_arguments": "console=secret",
    },
    "tools": {"python": "3.11.7", "libc": "glibc 2.36"},
}


def runs(names=("old", "new"), *, count=16, benches=BENCHES):
    rng = np.random.default_rng(7)
    return {
        name: {b: np.exp(rng.normal(-0.4 * k, 0.02, count)).tolist() for b in benches}
        for k, name in enumerate(names)
    }


@pytest.fixture
def made(synthetic):
    found = synthetic(runs(), sessions=4, warmup=1, runs=4, tool_version=VERSION)
    found.extra["resolved.json"] = json.dumps(RESOLVED).encode()
    found.extra["environment.jsonl"] = json.dumps(ENVIRONMENT).encode() + b"\n"
    return found


@pytest.fixture
def chapter(tmp_path):
    def make(made, name="t", how=None, **asked):
        path = made.write(tmp_path / "runs" / name)
        return paper(subject_of([str(path)], how or Reading(), **{"explain": False} | asked))

    return make


def said(chapter) -> str:
    return spoken_text(chapter["paragraph"])


# --- the paragraph


def test_the_paragraph_says_what_the_manifest_and_the_verdict_say(made, chapter, synthetic) -> None:
    found = chapter(made)
    text = said(found)
    assert {section.title: section for section in found.sections()}["Method"].blocks[0].text == text
    # it names neither the host nor what a laboratory starts it with
    assert not re.search("lab07|secret", chapter_html(found))
    for words in (
        "We executed two variants on three benchmarks in four sessions of four runs of each",
        "each block in a new random order",
        "every run in a process of its own with a new address layout and an environment padded",
        "a virtual machine with 2 CPUs (Some CPU) under Debian GNU/Linux 12, Linux 6.1.2;",
        "each run was pinned to one CPU",
        "One warm-up run of each in every session was left out.",
        "above 1 where a variant is better than old, with 95 % intervals by Student's t on the "
        "sessions' means of the paired log ratios (3 degrees of freedom)",
        "corrected by Holm's method over three benchmarks",
        "within ± 1 % count as equivalent (two one-sided tests, 2.5 % a side)",
        f"Measured and analysed with fairtrial {VERSION}",
    ):
        assert words in text
    three = said(chapter(synthetic(runs(("old", "new", "next")), sessions=4, runs=4), "u"))
    assert "corrected by Holm's method over six comparisons" in three


def test_layouts_of_each_session_are_told_with_the_hash_of_their_record(made, chapter) -> None:
    record = BuildRecord(
        session=1,
        segment=0,
        variant="old",
        artifacts={},
        programs={"prog": "1" * 64},
        seconds=1.0,
        log=(),
        at="2026-11-27T10:00:00Z",
    )
    made.extra[BUILDS] = encode_checked(record.to_dict()) + b"\n"
    found = chapter(made)
    assert "Before each session one variant was built anew" in said(found)
    told = {fact["name"]: fact["text"] for fact in found["hashes"]}
    assert told[BUILDS] == hashlib.sha256(made.extra[BUILDS]).hexdigest()


def test_what_the_trial_does_not_say_is_said_to_be_unknown(synthetic, chapter) -> None:
    found = chapter(synthetic(runs(), sessions=4, tool_version=""))
    text = said(found)
    assert "in an order that the trial does not say" in text
    assert "What host they were executed on is not recorded." in text
    assert f"Analysed with fairtrial {VERSION}" in text
    unknown = {
        fact["name"] for fact in (*found["versions"], *found["hashes"]) if fact["text"] is None
    }
    assert {"measured with fairtrial", "measured under", "resolved.json"} <= unknown
    assert "<bdi>unknown</bdi>" in chapter_html(found)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"correction": "none"}, "are not corrected for their number"),
        ({"correction": "bh"}, "Benjamini and Hochberg's method over three benchmarks [4]"),
        (
            {"looks": 2},
            "two looks, each at a risk of 2.50 %, so that all looks together risk at most 5 %",
        ),
        ({"margin": 0.02}, "within ± 2 % count as equivalent"),
        ({"confidence": 0.9}, "90 % intervals"),
        ({"looks": 2}, "97.5 % intervals"),
        ({"always_valid": True}, "95 % confidence sequences"),
        ({"weights": {"text": 2.0}}, "weighted over benchmarks"),
        ({"benchmarks": ["text"]}, "(two variants on one benchmark were judged)"),
    ],
)
def test_each_option_of_judging_changes_the_paragraph(made, chapter, asked, words) -> None:
    assert words in said(chapter(made, **asked))


def test_below_three_sessions_no_half_width_is_told(synthetic, chapter) -> None:
    text = said(chapter(synthetic(runs(count=8), sessions=2, runs=4)))
    assert "Differences within 1 % count as equivalent" in text
    assert "±" not in text


def test_failed_runs_are_counted_with_their_blocks(made, chapter) -> None:
    rows = [
        replace(row, outcome="signal", signal=9, exit_code=None) if row.position in (7, 8) else row
        for row in made.rows
    ]
    measured = sum(not row.warmup for row in rows)
    text = said(chapter(replace(made, rows=rows)))
    assert f"Two runs of {measured} failed and were left out, with what the other side" in text


def test_files_say_nothing_of_their_measuring(tmp_path) -> None:
    for name, factor in (("new", 1.0), ("old", 2.0)):
        rows = [f"{b}," + ",".join(f"{factor + 0.01 * k}" for k in range(5)) for b in BENCHES]
        (tmp_path / f"{name}.csv").write_text("\n".join(rows) + "\n")
    sources = [str(tmp_path / "new.csv"), str(tmp_path / "old.csv")]
    found = paper(subject_of(sources, Reading(better="lower"), explain=False))
    text = said(found)
    assert "sessions, order and host are unknown" in text
    assert "without an interval and without a word" in text
    assert "Holm" not in text
    assert [fact["text"] for fact in found["hashes"]] == [
        hashlib.sha256((tmp_path / f"{name}.csv").read_bytes()).hexdigest()
        for name in ("new", "old")
    ]
    assert {cell["sessions"] for cell in found["raw"]["cells"]} == {None}
    assert all("--better lower" in line for line in found["commands"])


def test_two_trials_are_told_one_after_the_other(made, tmp_path) -> None:
    sources = [f"{made.write(tmp_path / 'runs' / name)}:new" for name in ("one", "two")]
    found = paper(subject_of(sources, Reading(), explain=False))
    text = said(found)
    assert "In the first of two trials we executed" in text
    assert "In the second of two trials we executed" in text
    assert len([line for line in found["commands"] if line.startswith("fairtrial run ")]) == 2


def test_trials_of_unequal_numbers_of_sessions_name_the_bound(synthetic, tmp_path) -> None:
    def text_of(*sessions) -> str:
        sources = [
            f"{synthetic(runs(count=4 * n), sessions=n, runs=4).write(tmp_path / 'runs' / f'{k}of{n}')}:new"
            for k, n in enumerate(sessions)
        ]
        found = paper(subject_of(sources, Reading(), explain=False))
        return said(found) + " ".join(one["bibtex"] for one in found["citations"])

    equal, unequal = text_of(4, 4), text_of(2, 4)
    assert "the session means of the logarithms of both sides (Welch) (" in equal
    assert "banerjee1960" not in equal
    assert "both sides (Banerjee's bound, for unequal numbers of them)" in unequal
    assert "@article{banerjee1960," in unequal
    assert "welch1947" not in unequal


def test_numbers_are_written_in_letters_up_to_ten() -> None:
    assert counted(1, "run") == "one run"
    assert counted(10, "run") == "ten runs"
    assert counted(0, "run") == "no runs"
    assert counted(1600, "run") == "1,600 runs"


# --- citations

# what BibTeX's standard styles require of an entry
REQUIRED = {
    "article": {"author", "title", "journal", "year"},
    "inproceedings": {"author", "title", "booktitle", "year"},
    "techreport": {"author", "title", "institution", "year"},
    "book": {"author", "title", "publisher", "year"},
    "misc": {"author", "title"},
}
ENTRY = re.compile(r"@(\w+)\{(\w+),\n((?:  \w+ = \{.*\},\n)+)\}\Z")


def test_every_entry_has_its_required_fields_and_balanced_braces() -> None:
    for one in citations_of(works()):
        found = ENTRY.match(one["bibtex"])
        assert found is not None, one["bibtex"]
        kind, key, lines = found.groups()
        fields = dict(re.findall(r"  (\w+) = \{(.*)\},\n", lines))
        assert key == one["key"]
        assert fields.keys() >= REQUIRED[kind]
        assert all(text.count("{") == text.count("}") for text in fields.values())
        assert "&" not in one["bibtex"].replace("\\&", "")
        assert one["bibtex"].isascii()
        assert not set("{}\\$") & set(one["text"])


def test_the_tool_is_cited_as_its_own_file_says() -> None:
    root = Path(__file__).resolve().parents[4]
    told = yaml.safe_load((root / "CITATION.cff").read_text("utf-8"))
    (tool,) = citations_of(())
    assert told["authors"][0]["name"] in tool["bibtex"]
    assert f"{{{told['title']}}}" in tool["bibtex"]
    assert f"version {told['version']}" in tool["bibtex"]


@pytest.mark.parametrize("version", [VERSION, "0.0.9", ""])
def test_only_what_was_used_is_cited_and_every_number_has_its_entry(made, chapter, version) -> None:
    made = replace(made, manifest=replace(made.manifest, tool_version=version))
    found = chapter(made, correction="none", explain=True)
    keys = [one["key"] for one in found["citations"]]
    assert "holm1979" not in keys
    assert "gabriel1971" not in keys  # of two variants there is no biplot
    assert {
        "fairtrial",
        "kalibera2013",
        "ibragimov2010",
        "schuirmann1987",
        *METHODS["HPT"][1],
    } <= set(keys)
    numbers = {
        int(n) for group in re.findall(r"\[([\d, ]+)\]", said(found)) for n in group.split(",")
    }
    assert numbers == set(range(1, len(keys) + 1))


# --- commands, seeds, hashes


def test_the_commands_are_those_that_the_tool_takes(made, chapter) -> None:
    """Authority: the tool's own reader of command lines, which ends with 0 after --help."""
    options = {
        "correction": "bh",
        "margin": 0.02,
        "confidence": 0.9,
        "looks": 3,
        "weights": {"text": 2.0},
        "benchmarks": ["text", "logs"],
        "variants": ["new"],
    }
    made.manifest = replace(made.manifest, campaign_path="/w/runs/own/campaign.yaml", trial="own")
    found = chapter(made, **options)
    assert "/own/campaign.yaml --seed" in chapter(made, "own")["commands"][0]
    assert [line.split()[1] for line in found["commands"]] == ["run", "verdict", "report"]
    for line in found["commands"]:
        words = shlex.split(line)
        assert main([*words[1:], "--help"], io.StringIO(), io.StringIO()) == 0
    judged = found["commands"][1]
    for words in (
        "--variant new",
        "--benchmark text --benchmark logs",
        "--correction bh",
        "--margin 0.02",
        "--confidence 0.9",
        "--looks 3",
        "--weight text=2.0",
    ):
        assert words in judged


def test_the_verdict_command_gives_the_verdict_of_the_page(made, tmp_path) -> None:
    path = made.write(tmp_path / "runs" / "t")
    asked = {"correction": "bh", "margin": 0.02, "benchmarks": ["text", "logs"]}
    subject = subject_of([str(path)], Reading(), **asked)
    line = paper(subject)["commands"][1]
    out = io.StringIO()
    assert main([*shlex.split(line)[1:], "--json"], out, io.StringIO()) == 0
    assert json.loads(out.getvalue())["candidates"] == json.loads(
        json.dumps(subject.verdict.to_dict()["candidates"])
    )


def test_the_commands_read_a_file_as_it_was_read(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = (f"{b},{v},{k + len(v)}\n" for b in "ab" for v in ("x", "yy") for k in (10, 11, 13))
    Path("t.csv").write_text("path,shell,elapsed\n" + "".join(rows))
    roles = "benchmark=path, variant=shell, value=elapsed"
    asked = ["t.csv", "--columns", roles, "--better", "lower", "--format", "md"]
    out = io.StringIO()
    assert main(["report", *asked], out, io.StringIO()) == 0
    words = shlex.split(re.search(r"(?m)^fairtrial (verdict .*)$", out.getvalue())[1])
    assert words[words.index("--columns") + 1] == roles
    assert words.count("--better") == 1
    assert main(words, out, io.StringIO()) == 0
    assert "No failed run is known." in out.getvalue()  # the table has no column of them
    assert "Analysed with fairtrial" in out.getvalue()
    assert not re.search(
        "(?i)no run failed|measured and analysed|measured with|seed . plan", out.getvalue()
    )


def test_names_that_a_shell_would_take_apart_are_quoted(synthetic, chapter) -> None:
    names = ("old", "new; rm -rf /")
    found = chapter(synthetic(runs(names), sessions=4), variants=["new; rm -rf /"])
    words = shlex.split(found["commands"][1])
    assert words[words.index("--variant") + 1] == "new; rm -rf /"


@pytest.mark.parametrize(("first", "told"), [(3, "Sessions 3 to 4 were"), (4, "Session 4 was")])
def test_seeds_and_later_sessions_are_told(made, chapter, first, told) -> None:
    appended = (Appended(at="2026-11-22T00:00:00Z", first=first, last=4),)
    found = chapter(
        replace(made, manifest=replace(made.manifest, appended=appended, seed=20261121))
    )
    assert found["seeds"][0] == {"name": "plan", "text": "20261121"}
    assert "--seed 20261121" in found["commands"][0]
    assert any(f"{told} appended" in note for note in found["notes"])
    assert "this one, number 2, was judged at a risk of 0.833 %" in said(found)


def test_a_second_metric_repeats_nothing_but_what_is_its_own(made, tmp_path) -> None:
    path = made.write(tmp_path / "runs" / "t")
    first, second = (
        paper(one) for one in subjects_of([str(path)], Reading(), ["wall", "user"], explain=False)
    )
    assert first.anchor != second.anchor
    assert second["citations"] == second["hashes"] == second["seeds"] == []
    assert "[" not in said(second)
    assert "the metric user" in said(second)
    assert second["raw"]["metric"] == "user"


# --- the values


def test_the_embedded_runs_are_all_that_count(made, tmp_path) -> None:
    path = made.write(tmp_path / "runs" / "t")
    subject = subject_of([str(path)], Reading(), explain=False)
    trial, manifest = subject.trial, subject.trial.manifest
    html = chapter_html(paper(subject))
    found = json.loads(re.search(r'<script type="application/json"[^>]*>(.*?)</script>', html)[1])
    told = [
        (cell["variant"], cell["benchmark"], str(session), value)
        for cell in found["cells"]
        for session, value in zip(cell["sessions"], cell["values"], strict=True)
    ]
    expected = [
        (manifest.variants[trial.variant[k]], manifest.benchmarks[trial.benchmark[k]],
         str(trial.session[k]), trial.values("wall")[k])
        for k in np.flatnonzero(trial.measured)
    ]  # fmt: skip
    assert sorted(told) == sorted(expected)


@given(st.dictionaries(st.text(), st.text()))
def test_nothing_in_the_embedded_values_ends_their_element(data: dict[str, str]) -> None:
    data["</script><script>alert(1)</script>"] = "<!--<script>&\u2028"
    text = str(embedded(json.dumps(data)))
    assert not set("<>&\u2028") & set(text)
    assert text.isascii()
    assert json.loads(text) == data


# --- the page


def test_what_unfolds_is_complete_and_closed(made, chapter, tmp_path) -> None:
    given_up = (GivenUp(benchmark="text", variant="new", session=4, position=1, runs=2, why="x"),)
    found = chapter(replace(made, manifest=replace(made.manifest, given_up=given_up)))
    told = {fact["name"]: fact["text"] for fact in found["hashes"]}
    for name in ("campaign.yaml", "plan.jsonl", "measurements.jsonl", "manifest.json"):
        content = (tmp_path / "runs" / "t" / name).read_bytes()
        assert told[name] == hashlib.sha256(content).hexdigest()
    (table,) = {one.title: one for one in found.sections()}["Seeds, versions, hashes"].blocks
    count = sum(len(cell["values"]) for cell in found["raw"]["cells"])
    assert len(table.rows) == sum(len(found[part]) for part in ("seeds", "versions", "hashes"))
    folded = chapter_html(found)
    assert "<details open" not in folded
    for part, texts in (
        ("hashes", [fact["text"] for fact in found["hashes"] if fact["text"]]),
        ("citations", [one["key"] for one in found["citations"]]),
        ("raw", [f"{count} values"]),
    ):
        (inside,) = re.findall(rf'<details id="paper-{part}">(.*?)</details>', folded, re.DOTALL)
        assert all(text in inside for text in texts)


def test_a_stopping_rule_is_told(made, chapter) -> None:
    manifest = replace(made.manifest, stop=StopRule(width=0.02))
    text = said(chapter(replace(made, manifest=manifest)))
    assert "of at most four runs of each" in text
    assert "narrower than 2 %, so the number of runs depends on the values" in text


def test_a_merged_trial_is_measured_again_part_by_part(made, chapter) -> None:
    parts = tuple(
        MergedTrial(
            trial=f"part-{k}",
            first=2 * k + 1,
            last=2 * k + 2,
            seed=10 + k,
            tool_version="0.1.0",
            started="2026-11-21T04:12:00Z",
            finished=None,
        )
        for k in range(2)
    )
    found = chapter(
        replace(made, manifest=replace(made.manifest, origin="merged", merged_from=parts))
    )
    assert found["commands"][:3] == [
        "fairtrial run campaign.yaml --seed 10 --sessions 2",
        "fairtrial run campaign.yaml --seed 11 --sessions 2",
        "fairtrial merge runs/part-0 runs/part-1 -o runs/synthetic-20261121-0412",
    ]
    assert [(fact["name"], fact["text"]) for fact in found["seeds"][:2]] == [
        ("plan of part-0", "10"),
        ("plan of part-1", "11"),
    ]


# --- runs that waited for a CPU ------------------------------------------------------------------


def test_a_paper_says_that_disturbed_runs_were_repeated_and_how_many_remained():
    # counted by hand in the measured trial of the second schema
    golden = Path(__file__).resolve().parents[3] / "golden" / "schemas"
    for number, said in (
        (
            2,
            "13 runs of 40 waited for a CPU for more than 0.5 % of the time: such runs were executed "
            "again at the end of their block, at most twice, and the first undisturbed run was taken; "
            "6 remained.",
        ),
        (1, None),
    ):
        subject = subject_of([str(golden / str(number) / "trial")], Reading(), explain=False)
        told = paper(subject).to_dict()
        text = json.dumps(told)
        if said is None:
            assert "waited for a CPU" not in text
        else:
            assert said in text
