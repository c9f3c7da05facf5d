"""The subcommand ``plan``, and how trials under a stopping rule are read."""

from __future__ import annotations

import json
import re
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
import yaml

from analysis.data.trial import read_trial
from analysis.errors import FairtrialError, UsageError
from analysis.plan.components import trial_costs
from analysis.plan.sessions import plan_sessions
from analysis.record.trial_files import SessionEnd, StopRule
from analysis.verdict.judging import judge
from harness.campaign.model import Protocol
from tests.unit.analysis.commands.conftest import execute, executed

TIMES = {
    "old": {f"b{k}": [1.0, 1.01, 1.02, 1.03, 0.99, 1.0] for k in range(6)},
    "new": {f"b{k}": [0.5, 0.51, 0.52, 0.53, 0.54, 0.5] for k in range(6)},
}


@pytest.fixture
def trial(synthetic, tmp_path):
    return str(synthetic(TIMES).write(tmp_path / "runs" / "one"))


def test_plan_of_a_trial_takes_its_baseline(trial):
    words = ("plan", "--within-session", f"{trial}:new", "--width", "0.01", "--effect", "1.01")
    code, text = execute(*words)
    assert code == 0
    assert text.startswith("new against old: a 95 % interval of width 0.01 or less needs ")
    assert "to tell a speedup of 1.01x from none needs" in text
    assert execute(*words, "--seed", "1")[1] != text


def test_a_session_is_simulated_a_thousand_times_where_nobody_says(trial):
    words = ("plan", "--within-session", f"{trial}:new", "--width", "0.05", "--json")
    assert json.loads(execute(*words)[1])["simulations"] == 1000
    assert json.loads(execute(*words, "--simulations", "100")[1])["simulations"] == 100


def test_plan_as_json(trial):
    words = ("--width", "0.01", "--interval", "percentile", "--max-runs", "50", "--json")
    data = json.loads(
        execute("plan", "--within-session", f"{trial}:new", f"{trial}:old", *words)[1]
    )
    assert data["max_runs"] == 50
    assert data["loop"]["interval"] == "percentile"
    assert any("covers about 87 %" in text for text in data["loop"]["cautions"])
    assert data["seed"] == 0


def test_plan_refuses_a_wrong_number(trial):
    with pytest.raises(UsageError, match="power must lie between 0 and 1"):
        execute("plan", "--within-session", f"{trial}:new", "--power", "80")


@pytest.fixture
def pilot(synthetic, tmp_path):
    """Write a trial of three sessions whose difference moves from one to the next."""
    rng = np.random.default_rng(3)
    shift = {"old": 0.0, "new": -0.05}
    times = {
        name: {
            f"b{k}": np.exp(
                by + rng.normal(0, 0.01, 12) + np.repeat(rng.normal(0, 0.01, 3), 4)
            ).tolist()
            for k in range(2)
        }
        for name, by in shift.items()
    }
    return str(synthetic(times, sessions=3, warmup=1).write(tmp_path / "runs" / "pilot"))


@pytest.fixture
def fleet(fleet_folder, synthetic):
    """Write a fleet of four hosts, of which the first has not been measured."""

    def make(*candidates, benchmarks="x", more=""):
        folder = fleet_folder(names := [f"lab{k}" for k in range(1, 5)])
        rng = np.random.default_rng(5)
        for name in names[1:]:
            times = {
                side: {one: np.exp(rng.normal(0, 0.01, 12)).tolist() for one in benchmarks}
                for side in ("old", *candidates)
            }
            for k, side in enumerate(times) if name == "lab3" else ():
                times[side] |= dict.fromkeys(more, [k + 1.0] * 12)
            synthetic(times, sessions=3, host=name, trial=f"t-{name}").write(folder / name)
        return folder

    return make


def test_hosts_that_are_not_there_hide_no_other(fleet):
    caps = ("--max-hosts", "6", "--max-sessions", "3", "--max-runs", "4")
    plan = json.loads(execute("plan", str(fleet("new")), "--json", *caps)[1])
    assert plan["pilot_hosts"] == 3
    assert any("lab1" in caution for caution in plan["cautions"])


def test_a_benchmark_that_one_host_has_is_in_no_mean(fleet):
    caps = ("--max-hosts", "6", "--max-sessions", "3", "--max-runs", "4")
    folder = fleet("new", benchmarks="xy", more="z")
    x, y, these = json.loads(execute("plan", str(folder), "--json", *caps)[1])["lines"]
    assert (x["name"], y["name"], these["name"]) == ("x", "y", "these")
    assert these["mean"] == pytest.approx((x["mean"] + y["mean"]) / 2)


@pytest.mark.parametrize(
    ("candidates", "named", "said"),
    [
        (("new",), ":newer", "the fleet has no candidate 'newer'"),
        (("new", "newer"), "", "the fleet has 2 candidates for its baseline old"),
    ],
)
def test_the_candidate_of_a_fleet_must_be_clear(fleet, candidates, named, said):
    folder = fleet(*candidates)
    with pytest.raises(UsageError, match=said) as refused:
        execute("plan", f"{folder}{named}")
    assert f"candidates here: {', '.join(candidates)}" in refused.value.fix


def test_a_plan_of_sessions_prints_hours_and_what_to_paste(pilot):
    code, text = execute("plan", pilot, "--width", "0.05")
    assert code == 0
    flat = " ".join(text.split())
    found = re.search(r"width 0.05 needs (\d+) sessions x (\d+) runs?, [\d.]+ (s|min|h)", flat)
    assert found
    assert f"\nprotocol: {{sessions: {found[1]}, runs: {found[2]}}}\n" in text
    assert "a run of every cell took" in flat
    assert execute("plan", f"{pilot}:new", f"{pilot}:old", "--width", "0.05")[1] == text


def test_a_plan_of_sessions_is_what_python_gives(pilot):
    trial = read_trial(pilot)
    new, old = trial.matrix("new"), trial.matrix("old")
    words = ("--effect", "1.03", "--on", "benchmarks", "--power", "0.9", "--confidence", "0.9")
    caps = ("--max-sessions", "30", "--max-runs", "20")
    told = json.loads(execute("plan", pilot, *words, *caps, "--json")[1])
    ours = plan_sessions(
        new,
        old,
        effect=1.03,
        on="benchmarks",
        power=0.9,
        confidence=0.9,
        max_sessions=30,
        max_runs=20,
        costs=trial_costs(trial),
    )
    assert told == json.loads(json.dumps(ours.to_dict()))


def test_the_protocol_can_be_pasted(pilot):
    told = json.loads(execute("plan", pilot, "--width", "0.05", "--json")[1])
    pasted = yaml.safe_load(told["protocol"])["protocol"]
    assert pasted == {"sessions": told["sessions"], "runs": told["runs"]}
    assert {"sessions", "runs"} <= {field.name for field in fields(Protocol)}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--simulations", "200"), "--simulations belongs to a plan of the runs of one session"),
        (("--interval", "t"), "--interval belongs to a plan of the runs of one session"),
        (("--within-session", "--on", "suite"), "--on belongs to a plan of sessions"),
        (("--within-session", "--max-sessions", "9"), "--max-sessions belongs to a plan of sess"),
    ],
)
def test_options_of_the_other_plan_are_refused(pilot, words, message):
    with pytest.raises(UsageError, match=message):
        execute("plan", pilot, *words)


def test_files_are_planned_without_costs(tmp_path):
    rng = np.random.default_rng(4)
    for name in ("new", "old"):
        samples = {"a": rng.lognormal(0, 0.01, 12).tolist()}
        ids = {"a": [1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4]}
        data = {"name": name, "better": "lower", "unit": "s", "samples": samples, "sessions": ids}
        (tmp_path / f"{name}.json").write_text(json.dumps(data))
    text = execute("plan", str(tmp_path / "new.json"), str(tmp_path / "old.json"))[1]
    assert "counts as nothing" in " ".join(text.split())


def ruled(synthetic, ends, **manifest):
    """Make a trial of two sessions of 3 runs that might have had 5 each."""
    made = synthetic(TIMES, sessions=2)
    made.manifest = replace(
        made.manifest,
        runs=5,
        planned=2 * 5 * 12,
        stop=StopRule(width=0.05, min_runs=3, max_runs=5),
        session_ends=ends,
        **manifest,
    )
    rest = [
        replace(row, position=1000 + k, block=4 + k // 12) for k, row in enumerate(made.plan[:24])
    ]
    more = [
        replace(row, position=2000 + k, block=4 + k // 12) for k, row in enumerate(made.plan[-24:])
    ]
    made.plan += [*rest, *more]
    return made


ENDS = tuple(
    SessionEnd(session=k, runs=3, why="width", width=0.04, text="width 0.04 <= 0.05 after 3 runs")
    for k in (1, 2)
)


def test_runs_that_were_not_needed_are_not_missing_and_every_judge_hears_of_it_once(
    synthetic, tmp_path
):
    trial = read_trial(ruled(synthetic, ENDS).write(tmp_path / "t"))
    assert len(trial) == trial.manifest.needed == 72
    (caution,) = trial.cautions
    assert caution.code == "sequential"
    assert caution.text.startswith(
        "sequential: by the stopping rule the number of runs depends on the values"
    )
    assert "(width 0.05; 3 runs a cell and session)" in caution
    assert sum("sequential" in text for text in judge(trial).cautions) == 1
    assert [str(caution) for caution in trial.matrix("new").cautions] == [
        "sequential (stopping rule, width 0.05): the number of runs depends on the values"
    ]


def test_a_session_that_has_not_ended_is_missing_runs(synthetic, tmp_path):
    made = ruled(synthetic, ENDS[:1], status="stopped", reason="why")
    del made.rows[-5:]
    cautions = read_trial(made.write(tmp_path / "t")).cautions
    assert "67 of at most 96 planned runs are there" in map(str, cautions)


def test_a_session_that_ended_at_a_cap_is_told(synthetic, tmp_path):
    capped = (ENDS[0], replace(ENDS[1], why="max_time", width=None))
    text = read_trial(ruled(synthetic, capped).write(tmp_path / "t")).cautions[0]
    assert "1 of 2 sessions ended at a cap" in text


def test_a_manifest_that_names_other_runs_than_there_are_is_told(synthetic, tmp_path):
    edited = (replace(ENDS[0], runs=4), ENDS[1])
    cautions = read_trial(ruled(synthetic, edited).write(tmp_path / "t")).cautions
    assert (
        "the manifest says that session 1 ended after 4 runs a cell, and its runs go to 3"
        in map(str, cautions)
    )
    assert not any("session 2" in text for text in cautions)


def test_sessions_that_ended_early_stay_sequential_when_the_rule_is_taken_away(synthetic, tmp_path):
    made = ruled(synthetic, ENDS)
    made.manifest = replace(made.manifest, stop=None)
    trial = read_trial(made.write(tmp_path / "t"))
    assert "depends on the values (3 runs a cell and session)" in trial.cautions[0]
    assert [str(caution) for caution in trial.matrix("new").cautions] == [
        "sequential (stopping rule): the number of runs depends on the values"
    ]


# --- The subcommand ``calibrate``, on trials that the runner wrote and on planted ones


ROOT = Path(__file__).parents[4]
CAMPAIGN = """\
name: aa
variants: {one: {}, two: {}}
benchmarks: {x: {command: ["true"]}, y: {command: ["true", "y"]}}
protocol: {sessions: 3, runs: 3, warmup: 0}
isolation: {cpus: none}
"""


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    place = tmp_path_factory.mktemp("aa")
    (place / "c.yaml").write_text(CAMPAIGN)
    code, _, err = executed("run", place / "c.yaml", "--dir", place / "runs", "--quiet")
    assert code == 0, err
    return next((place / "runs").iterdir())


def test_a_measured_trial_gets_a_certificate_beside_it(measured):
    code, out, err = executed("calibrate", measured)
    assert code == 0, err
    assert out.startswith("one and two are one program: wall on ")
    folder = measured.parent / "certificates"
    (path,) = folder.iterdir()
    assert str(path) in err
    assert json.loads(path.read_text())["design"]["sessions"] == 3
    # the folder of certificates is no damaged trial
    code, out, err = executed("status", "--dir", measured.parent)
    assert (code, err) == (0, "")
    assert "certificates" not in out


def test_json_is_what_is_kept(measured, tmp_path):
    words = ("--methods", "welch", "--dir", tmp_path / "c", "--seed", 2)
    code, out, _ = executed("calibrate", measured, "--json", *words)
    assert code == 0
    (path,) = (tmp_path / "c").iterdir()
    assert json.loads(out) == json.loads(path.read_text())
    assert json.loads(out)["seed"] == 2


def test_nothing_is_kept_when_asked(measured, tmp_path):
    words = ("--no-certificate", "--methods", "welch", "--pair", "two,one", "--dir", tmp_path / "d")
    code, out, err = executed("calibrate", measured, *words)
    assert (code, err) == (0, "")
    assert "HPT" not in out
    assert not (tmp_path / "d").exists()


@pytest.mark.parametrize("pair", ["one", "one,", "one,two,three"])
def test_a_wrong_pair_is_refused(measured, pair):
    code, _, err = executed("calibrate", measured, "--pair", pair)
    assert code == 2
    assert "--pair A,B" in err


def test_a_trial_without_twins_says_how_to_get_them():
    code, _, err = executed("calibrate", ROOT / "tests" / "data" / "sample-0.2.0")
    assert code == 6
    assert "variants: {one: {}, two: {}}" in err


# --- The subcommand ``study``


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "p.csv"
    rows = np.exp(np.random.default_rng(1).normal(0, 0.02, (6, 40)))
    path.write_text(
        "".join(f"b{k}," + ",".join(map(repr, r.tolist())) + "\n" for k, r in enumerate(rows))
    )
    return str(path)


def test_the_command(file):
    words = ("--better", "lower", "--simulations", "4", "--resamples", "99")
    code, text = execute("study", "power", file, *words, "--shift", "5", "--shifted", "0,6")
    assert code == 0
    assert "power to tell 1.05x on some of 6 benchmarks, 5 runs each" in text
    data = json.loads(execute("study", "type1", file, *words, "--runs", "3,4", "--json")[1])
    assert [cell["runs"] for cell in data["cells"]] == [3] * 4 + [4] * 4
    data = json.loads(execute("study", "coverage", file, *words, "--runs", "3", "--json")[1])
    assert data["confidence"] == 0.95
    assert (len(data["cells"]), len(data["over_benchmarks"])) == (5, 2)


def test_power_at_several_numbers_of_runs_as_published_with_its_curve(file, tmp_path):
    picture = tmp_path / "power.svg"
    words = ("--better", "lower", "--simulations", "4", "--resamples", "99", "--json")
    more = ("--runs", "3,5", "--shifted", "0,6", "--shift-by", "1.0", "--without-replacement")
    code, text = execute("study", "power", file, *words, *more, "--plot", str(picture))
    data = json.loads(text)
    assert code == 0
    assert [cell["runs"] for cell in data["cells"]] == [3] * 8 + [5] * 8
    assert (data["shift"], data["shift_by"], data["replace"]) == (None, 1.0, False)
    assert {c["rate"] for c in data["cells"] if c["shifted"] == 6 and c["test"] == "welch"} == {1.0}
    assert "power to tell" in picture.read_text()


def test_draws_from_two_matrices(file, tmp_path):
    picture = tmp_path / "draws.svg"
    words = ("--better", "lower", "--simulations", "4", "--resamples", "99", "--plot", str(picture))
    code, text = execute("study", "draw", file, file, *words)
    assert code == 0
    assert "rejects at 0.01  rejects at 0.05" in text
    assert "HPT 0.95-speedup" in picture.read_text()
    more = ("--alpha", "0.1", "--speedup", "1.01", "--runs", "3", "--without-replacement", "--json")
    data = json.loads(execute("study", "draw", file, file, *words, *more)[1])
    assert (data["method"], data["alternative"], data["speedup"]) == (
        "draw-study",
        "candidate",
        1.01,
    )
    assert (data["alphas"], data["confidence"], data["runs"]) == ([0.1], 0.9, 3)
    assert not data["replace"]


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (("type1", "--shift", "1"), "--shift is for 'study power'"),
        (
            ("coverage", "--alternative", "candidate"),
            "--alternative is for 'study power, type1 and draw'",
        ),
        (("power", "--mean", "harmonic"), "--mean is for 'study coverage'"),
        (("type1", "--shift-by", "1"), "--shift-by is for 'study power'"),
        (("power", "--shift-by", "1", "--shift", "1"), "two ways to shift"),
        (("coverage", "--plot", "x.svg"), "--plot is for 'study power, type1 and draw'"),
        (("power", "--plot", "x.gif"), "a picture ends in"),
        (("power", "--runs", "21", "--without-replacement"), "42 runs would be drawn"),
        (("draw",), "BASELINE"),
        (("draw", "{file}", "--runs", "3,5"), "one number of runs"),
        (("draw", "{file}", "--shift", "1"), "--shift is for 'study power'"),
        (("draw", "{file}", "--speedup", "0"), "speedup"),
        (("power", "{file}"), "both sides from one matrix"),
        (("power", "--alpha", "0.1,0.2"), "one level"),
        (("power", "--speedup", "2"), "--speedup is for 'study draw'"),
        (("power", "--simulations", "0"), "simulations must lie between 1"),
        (("power", "--alpha", "0.7"), r"not 0\.3 \(alpha 0\.7\)"),
        (("coverage", "--alpha", "0.7"), r"not 0\.3 \(alpha 0\.7\)"),
        (("power", "--shift=-200"), r"not -1\.0 \(a shift of -200 %\)"),
    ],
)
def test_what_the_command_refuses(file, words, what):
    more = [word.format(file=file) for word in words[1:]]
    with pytest.raises(FairtrialError, match=what):
        execute("study", words[0], file, *more, "--better", "lower")
