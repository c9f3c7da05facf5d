"""The subcommand ``plan``, and how trials under a stopping rule are read."""

from __future__ import annotations

import argparse
import io
import json
from dataclasses import replace

import pytest

from analysis import cli
from analysis.data.trial import read_trial
from analysis.errors import UsageError
from analysis.record import SessionEnd, StopRule
from analysis.verdict.judging import judge

TIMES = {
    "old": {f"b{k}": [1.0, 1.01, 1.02, 1.03, 0.99, 1.0] for k in range(6)},
    "new": {f"b{k}": [0.5, 0.51, 0.52, 0.53, 0.54, 0.5] for k in range(6)},
}


def execute(*words):
    parser = argparse.ArgumentParser(prog="fairtrial")
    cli.register(parser.add_subparsers())
    args = parser.parse_args(words)
    out = io.StringIO()
    return args.run(args, out, io.StringIO()), out.getvalue()


@pytest.fixture
def trial(synthetic, tmp_path):
    return str(synthetic(TIMES).write(tmp_path / "runs" / "one"))


def test_plan_of_a_trial_takes_its_baseline(trial):
    code, text = execute(
        "plan", "--within-session", f"{trial}:new", "--width", "0.01", "--effect", "1.01"
    )
    assert code == 0
    assert text.startswith("new against old: a 95 % interval of width 0.01 or less needs ")
    assert "to tell a speedup of 1.01x from none needs" in text
    assert (
        execute("plan", "--within-session", f"{trial}:new", "--width", "0.01", "--effect", "1.01")[
            1
        ]
        == text
    )
    assert (
        execute("plan", "--within-session", f"{trial}:new", "--width", "0.01", "--seed", "1")[1]
        != text
    )


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


def test_runs_that_were_not_needed_are_not_missing(synthetic, tmp_path):
    trial = read_trial(ruled(synthetic, ENDS).write(tmp_path / "t"))
    assert len(trial) == trial.manifest.needed == 72
    (caution,) = trial.cautions
    assert caution.code == "sequential"
    assert caution.text.startswith(
        "sequential: by the stopping rule the number of runs depends on the values"
    )
    assert "(width 0.05; 3 runs a cell and session)" in caution


def test_a_session_that_has_not_ended_is_missing_runs(synthetic, tmp_path):
    made = ruled(synthetic, ENDS[:1], status="stopped", reason="why")
    del made.rows[-5:]
    cautions = read_trial(made.write(tmp_path / "t")).cautions
    assert "67 of at most 96 planned runs are there" in map(str, cautions)


def test_a_session_that_ended_at_a_cap_is_told(synthetic, tmp_path):
    capped = (ENDS[0], replace(ENDS[1], why="max_time", width=None))
    text = read_trial(ruled(synthetic, capped).write(tmp_path / "t")).cautions[0]
    assert "1 of 2 sessions ended at a cap" in text


def test_every_judge_hears_of_it_once(synthetic, tmp_path):
    trial = read_trial(ruled(synthetic, ENDS).write(tmp_path / "t"))
    assert sum("sequential" in text for text in judge(trial).cautions) == 1
    assert [str(caution) for caution in trial.matrix("new").cautions] == [
        "sequential (stopping rule, width 0.05): the number of runs depends on the values",
    ]


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
        "sequential (stopping rule): the number of runs depends on the values",
    ]
