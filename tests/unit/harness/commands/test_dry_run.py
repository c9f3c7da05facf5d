"""What a dry run, ``--probe`` and ``--only`` say. Authority: limits added up by hand, and a trial that is there."""

from __future__ import annotations

import dataclasses
import io
import json
import shutil
from pathlib import Path

import pytest

from analysis.data.trial import read_trial
from analysis.plan.sessions import decidable, decidable_by
from harness.campaign.resolve import load_campaign, one_block, one_cell
from harness.commands.dry_run import _row_text, _set, execute_only, probe
from harness.commands.live_view import View
from harness.trial.ending import Ending
from harness.trial.execution import Options
from harness.trial.progress import read_progress
from harness.trial.writer import Store
from tests.unit.harness.commands.conftest import execute

SAMPLE = Path(__file__).resolve().parents[4] / "tests" / "data" / "sample-0.2.0"
SAMPLE_NAME = json.loads((SAMPLE / "manifest.json").read_text())["trial"]
CAMPAIGN = (
    "name: c\nvariants: {a: {}, b: {}}\nbenchmarks: {x: {command: ['true']}}\n"
    "isolation: {cpus: none}\n"
)
BUILT = Options(folder=Path("runs"), built=True)


@pytest.fixture
def view():
    return View(io.StringIO(), quiet=True)


@pytest.fixture
def campaign(tmp_path):
    path = tmp_path / "c.yaml"
    path.write_text(CAMPAIGN)
    return load_campaign(path)


@pytest.fixture
def ends(monkeypatch):
    """Let what is executed end as a trial that is there; give what was asked for."""
    asked = []

    def with_trial(trial, **changes):
        ending = Ending(trial=trial, status="complete", reason=None, done=2, planned=2, failed=0)

        def start(campaign, options, view):
            asked.append((campaign, options.passing, options.built, view))
            return dataclasses.replace(ending, **changes)

        monkeypatch.setattr("harness.commands.dry_run.start", start)
        return asked

    return with_trial


@pytest.mark.parametrize(
    ("protocol", "seconds"),
    [
        # 2 programs, 2 s each: a block is 4 s; 3 sessions of a warm-up and 10 blocks, 2 pauses
        ("", 3 * 11 * 4 + 2 * 5),
        (", disturbed: repeat", 3 * 21 * 4 + 2 * 5),
        # a session ends after the block in which 20 s have passed, and after its repeats
        (", stop: {width: 0.01, max_runs: 50, max_time: 20s}", 3 * (20 + 4) + 2 * 5),
        (", disturbed: repeat, stop: {width: 0.01, max_runs: 50, max_time: 20s}", 3 * 28 + 2 * 5),
        (", max_time: 60s", 60),
    ],
)
def test_a_dry_run_tells_when_limits_end_a_trial(tmp_path, protocol, seconds):
    path = tmp_path / "c.yaml"
    runs = "" if "stop" in protocol else ", runs: 10"
    path.write_text(
        f"{CAMPAIGN}protocol: {{sessions: 3{runs}, warmup: 1, timeout: 2s, pause: 5s{protocol}}}\n"
    )
    code, said, _ = execute("run", path, "--dry-run", "--json", "--dir", tmp_path / "runs")
    assert (code, json.loads(said)["at_most_seconds"]) == (0, seconds)


def test_a_dry_run_tells_what_the_plan_can_decide(tmp_path):
    # authority: the project's list of what real work showed, a campaign of 29 benchmarks that decided nothing
    def decides(text, *options):
        path = tmp_path / "c.yaml"
        path.write_text(text)
        words = ("run", path, "--dry-run", "--dir", tmp_path / "runs", *options)
        said = " ".join(execute(*words)[1].split()).partition("power ")[2].partition(" cpus ")[0]
        return said, json.loads(execute(*words, "--json")[1])["decides"]

    said, found = decides(CAMPAIGN)
    assert said == str(decidable(6, 8, 1))
    assert found == json.loads(json.dumps(decidable(6, 8, 1).to_dict()))
    assert decides(CAMPAIGN, "--sessions", "9")[0] == str(decidable(9, 8, 1))
    assert decides(CAMPAIGN.replace(", b: {}", "")) == ("", None)  # nothing to compare
    shutil.copytree(SAMPLE, tmp_path / "runs" / SAMPLE_NAME)
    trial = read_trial(SAMPLE)
    cells = ", ".join(f"{name}: {{command: ['true']}}" for name in trial.manifest.benchmarks)
    variants = ", ".join(f"{name}: {{}}" for name in trial.manifest.variants)
    text = (
        f"name: {trial.manifest.campaign_name}\nvariants: {{{variants}}}\nbenchmarks: {{{cells}}}\n"
    )
    said, found = decides(f"{text}isolation: {{cpus: none}}\n")
    assert found["trial"] == SAMPLE_NAME
    assert found == json.loads(json.dumps(decidable_by(trial, 6, 8).to_dict())) | {
        "trial": SAMPLE_NAME
    }
    assert f"measured in {trial.sessions} sessions of {SAMPLE_NAME}" in said


def test_a_dry_run_tells_when_a_variant_is_built(tmp_path):
    path = tmp_path / "c.yaml"
    build = "build: {each: session, run: [[make, 'S={layout_seed}', '{{x}}'], [make, 'b c', '']], artifacts: [p]}\n"
    path.write_text(CAMPAIGN.replace("a: {}", "a: {build: make}") + build)
    lines = execute("run", path, "--dry-run", "--dir", tmp_path / "runs")[1].splitlines()
    assert "build   a: make" in lines
    assert "build   b, before each session: make S={layout_seed} {x}; make 'b c' ''" in lines


def test_a_dry_run_writes_the_command_of_a_service_as_a_shell_reads_it(tmp_path):
    path = tmp_path / "c.yaml"
    path.write_text(f"{CAMPAIGN}services: {{s: {{command: [sleep, '{{s.port}}', '', 'a b']}}}}\n")
    said = execute("run", path, "--dry-run")[1]
    (line,) = [line for line in said.splitlines() if line.startswith("service s,")]
    assert line.endswith(": sleep {s.port} '' 'a b'")


@pytest.mark.parametrize(("failed", "said"), [(0, "2 runs;"), (1, "2 runs (1 failed);")])
def test_a_probe_is_the_first_block_and_its_seconds(ends, campaign, view, failed, said):
    asked = ends(SAMPLE, failed=failed)
    found = probe(campaign, BUILT, view)
    assert asked == [(one_block(campaign), True, True, view)]
    assert found.seconds == read_progress(SAMPLE).seconds != {}
    assert (found.runs, found.failed, found.interrupted) == (2, failed, False)
    assert str(found) == f"the first block, {said} nothing of it is kept"


def test_one_cell_with_many_iterations_and_an_output_that_is_no_text(
    ends, campaign, view, tmp_path, make_manifest, make_measurement
):
    store = Store.create(make_manifest(planned=1), tmp_path / "runs", b"")
    many = {"t": tuple(map(float, range(40))), "few": (1.0, 2.5)}
    store.append_measurement(make_measurement(0, wall_ns=10**9, metrics=many))
    store.release()
    (store.path / "outputs").mkdir(exist_ok=True)
    (store.path / "outputs" / "0000.stdout").write_bytes(b"BZh91AY&SY\x00\xff")
    out = io.StringIO()
    ends(store.path)
    assert execute_only(campaign, "x:a", BUILT, out, view) == 0
    assert out.getvalue().splitlines()[:2] == [
        "run     x / a: ok  1.00 s  t 0, 1, 2, 3, 4, ... (40 values, mean 19.5)  few 1, 2.5",
        "stdout, 12 bytes that are no text",
    ]


def test_one_cell_shows_what_its_run_wrote(
    ends, campaign, view, tmp_path, make_manifest, make_measurement
):
    store = Store.create(make_manifest(planned=2), tmp_path / "runs", b"")
    store.append_measurement(make_measurement(0, warmup=True, wall_ns=10**9))
    store.append_measurement(make_measurement(1, wall_ns=2 * 10**9))
    store.release()
    outputs = store.path / "outputs"
    outputs.mkdir(exist_ok=True)
    (outputs / "0000.stdout").write_bytes(b"of the warm-up\n")
    (outputs / "0001.stdout").write_bytes(b"one\ntwo\x1b\n" + b"x" * 5000)
    out = io.StringIO()
    asked = ends(store.path)
    assert execute_only(campaign, "x:a", BUILT, out, view) == 0
    # seen: built anew, although --built said that the programs are there
    assert asked == [(one_cell(campaign, "x:a"), True, True, view)]
    assert out.getvalue().splitlines() == [
        "warm-up x / a: ok  1.00 s",
        "run     x / a: ok  2.00 s",
        "stdout, 5,009 bytes:",
        "    one",
        "    two?",
        "    " + "x" * (4000 - 9),
        "    … 1,009 more characters",
        "stderr is discarded",
        "this was a trial run: nothing is stored",
    ]


def test_many_values_are_told_by_number_and_mean_and_unknown_ones_as_such():
    row = {
        "warmup": False, "benchmark": "x", "variant": "a", "outcome": "ok", "detail": None, "wall_ns": None,
        "metrics": {"t": [2.5], "t.p99": [9.0], "u.p99": []},
        "samples": {"t": {"count": 20_000, "sha256": "0" * 64}},
    }  # fmt: skip
    assert _row_text(row).endswith("ok  t (20,000 values, mean 2.5)  t.p99 9  u.p99 unknown")


def test_a_long_line_goes_on_two_blanks_further_in():
    for begin, further in (("", 8), (" " * 8, 10), (" " * 12, 14)):
        first, *others = _set(begin + "word " * 40)
        assert first.startswith(f"{begin}word")
        assert others
        assert {len(line) - len(line.lstrip()) for line in others} == {further}
    assert _set("short") == ["short"]


def test_the_remedy_of_what_is_missing_is_a_line_of_its_own(tmp_path):
    (tmp_path / "c.yaml").write_text(CAMPAIGN.replace("['true']", "['true'], inputs: [absent]"))
    _, out, _ = execute("run", tmp_path / "c.yaml", "--dry-run", "--dir", tmp_path)
    assert "\n  fix: create it\n" in out


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ((), "nothing is left: "),
        (("--sessions", "+2"), "adding sessions 3 to 4: "),
        (("--sessions", "1"), ""),
    ],
)
def test_a_dry_run_of_a_resumption_says_where_it_goes_on(tmp_path, words, text):
    shutil.copytree(SAMPLE, tmp_path / "runs" / SAMPLE_NAME)
    call = ("run", SAMPLE / "campaign.yaml", "--resume", "--dry-run", *words)
    code, said, err = execute(*call, "--dir", tmp_path / "runs")
    assert (code, f" resume {text}" in " ".join(said.split())) == (0, True)
    told = execute(*call, "--dir", tmp_path / "runs", "--json")[1]
    assert json.loads(told)["resumed"].startswith(text)
    # seen: fewer sessions than there are were taken, and changed nothing
    few = "note    --sessions 1 changes nothing: the trial has 2 sessions\n"
    assert err == few * (not text)


@pytest.mark.parametrize("option", ["--trial=x", "--accept-drift"])
def test_what_is_for_a_resumption_says_so(option):
    name = option.partition("=")[0]
    said = f"{name} is for --resume\n  fix: add --resume, or leave out {name}\n"
    assert execute("run", "c.yaml", option) == (2, "", said)
