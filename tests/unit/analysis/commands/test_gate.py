"""The subcommand ``gate``: exit codes, sources, outputs and what it refuses."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from analysis.record.trial_files import Appended, GivenUp, LooksPlan

from .conftest import executed

SHARES = {"old": 1.0, "same": 1.0, "slow": 1.1, "fast": 0.9}


def times(shares, seed=1, sessions=6, runs=4, noise=0.004):
    rng = np.random.default_rng(seed)
    size = sessions * runs
    return {
        name: {
            f"b{k}": (share * (1 + k) * np.exp(noise * rng.normal(size=size))).tolist()
            for k in range(3)
        }
        for name, share in shares.items()
    }


@pytest.fixture
def make(synthetic, tmp_path):
    def made(name="one", shares=None, sessions=6, change=None, seed=1, noise=0.004, **manifest):
        values = times(shares or SHARES, seed=seed, sessions=sessions, noise=noise)
        trial = synthetic(values, sessions=sessions, **manifest)
        if change is not None:
            trial.rows = [row for row in map(change, trial.rows) if row is not None]
        return str(trial.write(tmp_path / "runs" / name))

    return made


APPENDED = Appended(first=4, last=6, at="2026-11-22T04:12:00Z")


execute = partial(executed, "gate")


@pytest.mark.parametrize(
    ("variant", "condition", "code"),
    [
        ("same", "slower>2%", 0),
        ("slow", "slower>2%", 1),
        ("slow", "worse>2%", 1),
        ("slow", "slower>20%", 0),
        ("fast", "faster<5%", 0),
        ("same", "faster<5%", 1),
        ("same", "slower>0%", 7),
    ],
)
def test_exit_codes(make, variant, condition, code):
    assert execute(condition, f"{make()}:{variant}")[0] == code


def test_a_candidate_is_named_in_three_ways(make):
    trial = make()
    for words in (
        (f"{trial}:slow",),
        (trial, "--variant", "slow"),
        (f"{trial}:slow", f"{trial}:old"),
    ):
        assert execute("slower>2%", *words)[0] == 1
        assert execute("slower>20%", *words)[0] == 0


def test_a_trial_brings_every_candidate_and_the_worst_decides(make):
    code, out, _ = execute("slower>2%", make(), "--json")
    data = json.loads(out)
    assert (code, data["exit_code"], data["outcome"]) == (1, 1, "proven")
    found = {one["candidate"]: one["outcome"] for one in data["candidates"]}
    assert found == {"same": "passed", "slow": "proven", "fast": "passed"}
    words = ("--variant", "same", "--variant", "fast")
    assert execute("slower>2%", make("two"), *words)[0] == 0


def test_two_trials_are_compared_by_their_sessions(make):
    new, old = make("new", {"v2": 1.1}, seed=2), make("base", {"v1": 1.0}, seed=3)
    code, out, _ = execute("slower>2%", f"{new}:v2", f"{old}:v1", "--json")
    told = json.loads(out)
    assert (code, told["candidates"][0]["design"]) == (1, "separate")
    assert told["next"] == [f"fairtrial report {new}:v2 {old}:v1 -o report.html"]
    assert execute("slower>20%", f"{new}:v2", f"{old}:v1")[0] == 0
    assert execute("slower>2%", new, f"{old}:v1", "--variant", "v2")[0] == 1


def without(*cell):
    return lambda row: None if (row.variant, row.benchmark) == cell else row


def failed(when):
    return lambda row: replace(row, outcome="exit", exit_code=1) if when(row) else row


def test_failing_more_often_does_not_pass(make):
    often = make(change=failed(lambda row: row.variant == "fast" and row.block % 2))
    code, out, _ = execute("slower>2%", f"{often}:fast")
    assert code == 1
    assert out.startswith("STOP  fast fails more often than old on b0, b1, b2\n")
    gone = make("gone", change=failed(lambda row: (row.variant, row.benchmark) == ("fast", "b1")))
    assert execute("slower>2%", f"{gone}:fast")[0] == 1
    alike = make("alike", change=failed(lambda row: row.block == 1))  # both sides alike
    assert execute("slower>2%", f"{alike}:fast")[0] == 0


def test_a_candidate_without_a_good_run_does_not_pass(make):
    trial = make(change=failed(lambda row: row.variant == "fast"))
    code, out, _ = execute("slower>2%", trial, "--variant", "fast", "--variant", "same")
    assert code == 1
    assert out.startswith("STOP  no run of fast succeeded (1 of 2 candidates passes)")
    assert execute("slower>2%", f"{trial}:same")[0] == 0
    assert execute("slower>2%", f"{trial}:fast")[0] == 1
    assert execute("slower>2%", f"{trial}:fast", f"{make('two')}:old")[0] == 1


@pytest.mark.parametrize(("fails", "code"), [("new", 1), ("old", 6)])
def test_a_trial_that_ended_because_no_warm_up_of_a_variant_was_ok(
    synthetic, tmp_path, fails, code
):
    """A candidate that never succeeds stops the build; of a baseline that never does nothing is known."""
    made = synthetic({v: {"b0": [0.1, 0.1]} for v in ("old", "new")}, sessions=2)
    made.plan = [replace(one, warmup=True, block=0) for one in made.plan[:2]]
    made.rows = [replace(row, warmup=True, block=0) for row in made.rows[:2]]
    made.rows = [failed(lambda row: row.variant == fails)(row) for row in made.rows]
    given_up = (
        GivenUp(
            benchmark="b0",
            variant=fails,
            session=1,
            runs=0,
            never_ok=True,
            position=next(row.position for row in made.rows if row.variant == fails),
            why="no warm-up of session 1 was ok",
        ),
    )
    made.manifest = replace(made.manifest, status="stopped", given_up=given_up)
    trial = str(made.write(tmp_path / "t"))
    done, out, err = execute("slower>2%", trial)
    assert done == code
    if code == 1:
        assert out.startswith("STOP  no run of new succeeded\n")
        assert " ".join(out.split()).endswith(f"{trial} which runs failed")
    else:
        assert "no run of 'old'" in err


def test_looks_and_always_valid_bounds_are_wider(make):
    trial = make(shares={"old": 1.0, "new": 1.0}, noise=0.02)

    def width(*words):
        (one,) = json.loads(execute("slower>2%", trial, "--json", *words)[1])["candidates"]
        return one["suite"]["high"] / one["suite"]["low"]

    assert width() < width("--looks", "3") < width("--always-valid")


def test_files_for_machines(make, tmp_path):
    report, note = tmp_path / "gate.xml", tmp_path / "summary.md"
    note.write_text("before\n")
    words = ("--junit", str(report), "--summary", str(note), "--annotations", "github")
    code, out, err = execute("slower>2%", f"{make()}:slow", *words)
    assert (code, err) == (1, "")
    assert ET.parse(report).getroot().get("failures") == "4"
    assert note.read_text().startswith("before\n### gate slower")
    assert sum(line.startswith("::error title=slow") for line in out.splitlines()) == 4
    code, out, err = execute("slower>2%", f"{make('two')}:slow", *words, "--json")
    assert json.loads(out)["exit_code"] == code == 1
    assert err.startswith("::error ")
    words = ("slower>2%", f"{make('three')}:slow", "--summary", "-", "--junit", "/dev/stdout")
    assert re.match(r"(?s)<\?xml.*\n### gate slower.*\nSTOP ", execute(*words)[1])


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("slower<2%", "{}"), "no condition of a gate"),
        (("slower>2%", "{}:old"), "is the baseline: there is nothing"),
        (("slower>2%", "{}:slow", "--variant", "slow"), "named twice"),
        (("slower>2%", "{}:slow", "{}:old", "--variant", "slow"), "--variant names candidates"),
        (("slower>2%", "{}", "--metric", "nope"), "the trial has no metric 'nope'"),
        (("slower>2%", "{}", "--junit", "/nowhere/x"), "there is no folder"),
        (("slower>2%", "{}", "--summary", "/nowhere/x"), "there is no folder"),
        (("slower>2%", "nowhere"), "there is no such trial or file"),
        (("slower>2%", __file__), "no tool is known for this file"),
        (("slower>2%", "{}", "--looks", "2", "--always-valid"), "exclude each other"),
    ],
)
def test_what_is_refused(make, words, told):
    trial = make()
    code, out, err = execute(*(word.replace("{}", trial) for word in words))
    assert (code, out) == (2, "")
    assert told in err
    assert "\n  fix: " in err


def test_a_trial_of_one_variant_has_no_gate(make):
    code, _, err = execute("slower>2%", make(shares={"only": 1.0}))
    assert (code, "the trial has one variant" in err) == (2, True)


# ---- what to do next


def commands(trial, *words, condition="slower>0.1%"):
    code, out, _ = execute(condition, trial, *words, "--json")
    return code, json.loads(out)["next"]


@pytest.mark.parametrize(
    ("status", "first"), [("running", "fairtrial status "), ("interrupted", "--resume --trial ")]
)
def test_an_unfinished_trial_goes_on_before_sessions_are_added(make, status, first):
    # seen: a killed trial of 3 sessions was to get 5 more behind the 2 that it lacked
    trial = make(shares={"old": 1.0, "new": 1.0})
    path = Path(trial) / "manifest.json"
    stored = json.loads(path.read_text())
    changed = {"status": status, "finished": None, "files": {}, "campaign_path": str(path)}
    path.write_text(json.dumps(stored | changed))
    _, (command, again) = commands(trial)
    assert first in command
    assert command.endswith(trial)
    assert again == f"fairtrial gate 'slower>0.1%' {trial}"


@pytest.mark.parametrize(
    ("seed", "said"),
    [
        (0, "1,000 more sessions may not decide it"),
        (3, "3 in 4 at least, or measure differently"),
    ],
)
def test_few_sessions_with_a_known_spread_get_what_decides_or_no_number(make, seed, said):
    # seen: +2 sessions, which make the 6 of a default, where 1,000 more may not decide
    shares = {"old": 1.0, "new": 1.0}
    told = execute("slower>0%", make(shares=shares, sessions=4, noise=0.02, seed=seed))[1]
    assert said in " ".join(told.split())
    single = make("single", shares, sessions=1)  # no spread between sessions
    assert "+5 sessions" in execute("slower>0%", single)[1]


def test_the_same_options_are_asked_again(make):
    trial = make(shares={"old": 1.0, "new": 1.0, "other": 1.0})
    words = ("--variant", "new", "--on", "benchmarks", "--confidence", "0.9", "--always-valid")
    _, (_, again) = commands(trial, *words)
    assert again == (
        f"fairtrial gate 'slower>0.1%' {trial} --variant new --on benchmarks --confidence 0.9 "
        "--always-valid"
    )
    _, (_, again) = commands(f"{trial}:new")
    assert again.endswith(f"{trial} --variant new")
    _, (_, again) = commands(trial, "--metric", "user")
    assert again.endswith(f"{trial} --metric user")


def test_a_planned_look_is_followed_by_the_next_one_until_all_are_used(make, tmp_path, monkeypatch):
    shares = {"old": 1.0, "new": 1.0}
    _, (_, again) = commands(make("first", shares), "--looks", "2")
    assert again.endswith(" --looks 2")
    used = make("second", shares, appended=(APPENDED,))
    assert commands(used, "--looks", "2")[1] == []  # the campaign is not here
    monkeypatch.chdir(tmp_path)
    Path("campaign.yaml").touch()
    assert commands(used, "--looks", "2")[1] == ["fairtrial run campaign.yaml"]


def test_a_comparison_at_one_sitting_goes_on_by_its_own_plan(make):
    shares = {"old": 1.0, "new": 1.0}
    plan = LooksPlan(rule="repeated", looks=(3, 4, 5, 6), risk=0.05, candidates=1, open=False)
    trial = make("open", shares, looks_plan=plan)
    assert commands(trial) == (
        7,
        [f"fairtrial compare --resume {trial}", f"fairtrial gate 'slower>0.1%' {trial}"],
    )
    spent = LooksPlan(rule="planned", looks=(6,), risk=0.05, candidates=1, open=False)
    _, found = commands(make("spent", shares, looks_plan=spent))
    assert found == [f"fairtrial report {Path(trial).parent / 'spent'} -o report.html"]


def test_what_the_verdict_shows_the_gate_shows(make):
    """One list of cautions: those of the gate are those of the verdict, warm-ups are none of them."""
    trial = make(change=failed(lambda row: (row.variant, row.block) == ("slow", 1)))
    one = (f"{trial}:slow", "--json")
    found = (executed("verdict", *one)[1], execute("slower>2%", *one)[1])
    told, gated = (json.loads(out)["cautions"] for out in found)
    assert gated == told


@pytest.mark.parametrize(("allowed", "code"), [([], 7), (["=b0"], 7), (["=b2"], 0), ([""], 0)])
@pytest.mark.parametrize("on", ["suite", "benchmarks"])
def test_a_candidate_that_lacks_a_benchmark_does_not_pass(make, tmp_path, on, allowed, code):
    # authority: a benchmark that was renamed or crashed is no pass, and is named with its side, once
    trial = make(change=without("same", "b2"))
    files = (tmp_path / "j.xml", tmp_path / "s.md")
    option = ("--on", on, *(f"--allow-missing{of}" for of in allowed))
    words = (*option, "slower>2%", trial, "--variant", "same")
    found, said, _ = execute(*words, "--junit", str(files[0]), "--summary", str(files[1]))
    assert (found, bool(re.search(r"(?m)^b2 +- +- +missing", said))) == (code, True)
    assert executed("verdict", trial, "--variant=same", "--gate=slower>2%", *option[2:])[0] == code
    case = ET.parse(files[0]).find(".//testcase[@name='b2']/*")
    assert case.tag == ("error" if code else "skipped")
    assert "| b2 | - | - | missing |" in files[1].read_text()
    told = json.loads(execute(*words, "--json")[1])["candidates"][0]
    assert told["missing"] == {"candidate": ["b2"], "baseline": []}
    assert told["reason"] == ("missing" if code else None)
    slower = make("two", change=without("slow", "b2"))  # what is proven stops
    assert execute(*option, "slower>2%", slower, "--variant", "slow")[0] == 1


def test_a_metric_without_a_unit_is_no_time(tmp_path):
    # authority: allocations are counted; nobody takes more time of them
    rows = ["benchmark,variant,session,value,metric,unit,better"]
    for variant, start in (("old", 100), ("new", 120)):
        rows += [f"b,{variant},s{k % 4},{start + k % 3},allocs,,lower" for k in range(12)]
    (tmp_path / "t.csv").write_text("\n".join(rows) + "\n")
    code, said, _ = execute("slower>2%", str(tmp_path / "t.csv"))
    assert (code, "time" in said) == (1, False)
    assert "more (allocs)" in said
