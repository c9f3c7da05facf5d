"""Sessions added one by one. Authority: t over session values, by scipy; and the ordinary trial of as many sessions."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from scipy.stats import t as student

from analysis import judge, read_trial
from analysis.errors import StoreError
from analysis.history.places import runs_of_variants, session_values
from analysis.record.trial_files import LooksPlan
from harness.bisect.journal import add_session, whole_sessions
from harness.launch.matching import Interrupted
from harness.trial.execution import Options

PLAN = LooksPlan(rule="planned", looks=(3, 6, 9), risk=0.025)


@pytest.fixture
def noisy(stage):
    """Let each run take a time of its own, `b` 4 % longer."""
    rng = np.random.default_rng(7)

    def target(request):
        slow = 1.04 if request.argv[-1] == "b" else 1.0
        return {"wall_ns": round(1e8 * slow * math.exp(rng.normal(0, 0.005)))}

    stage.target = target


@pytest.fixture
def of_two(campaign, make_cell, stage):
    def make(benchmarks=("x",), **given):
        from harness.campaign.model import Command

        cells = tuple(
            make_cell(
                name, variant, command=Command(argv=("true", variant), mark="c:1:1"), cwd=stage.bin
            )
            for name in benchmarks
            for variant in ("a", "b")
        )
        return campaign(benchmarks, cells=cells, never_ok="go_on", **given)  # as of commits

    return make


def added(stage, campaign, plan=PLAN, name="step0"):
    return add_session(campaign, Options(folder=stage.runs, name=name), stage.watching, plan)


@pytest.mark.usefixtures("noisy")
@pytest.mark.parametrize("benchmarks", [("x",), ("x", "y")])
def test_the_verdict_prints_the_numbers_of_the_looks_that_were_planned(stage, of_two, benchmarks):
    made = of_two(benchmarks)
    for count in range(1, 7):
        ending = added(stage, made)
        assert ending.status == "complete"
        assert whole_sessions(stage.runs / "step0") == count
    trial = read_trial(stage.runs / "step0")
    assert trial.manifest.sessions == 6
    assert trial.manifest.looks_plan == PLAN
    assert trial.manifest.appended == ()
    values = [session_values(trial, number, "wall") for number in range(1, 7)]
    d = np.array([np.mean(one["a"]) - np.mean(one["b"]) for one in values])
    half = student.ppf(1 - 0.025 / 3 / 2, 5) * d.std(ddof=1) / math.sqrt(6)
    (candidate,) = judge(trial).candidates
    line = (
        candidate.multilevel.benchmarks[0] if len(benchmarks) == 1 else candidate.multilevel.these
    )
    for ours, theirs in ((line.speedup, 0.0), (line.low, -half), (line.high, half)):
        assert ours == pytest.approx(math.exp(d.mean() + theirs), rel=1e-12)
    assert candidate.multilevel.look_alpha == pytest.approx(0.025 / 3, abs=1e-14)
    assert candidate.multilevel.looks_rule == "planned"


@pytest.mark.usefixtures("noisy")
def test_without_a_plan_each_session_is_an_appended_one(stage, of_two):  # the control
    for _ in range(3):
        added(stage, of_two(), None)
    manifest = read_trial(stage.runs / "step0").manifest
    assert manifest.looks_plan is None
    assert [(one.first, one.last) for one in manifest.appended] == [(2, 2), (3, 3)]


@pytest.mark.usefixtures("noisy")
def test_a_session_that_was_broken_off_is_finished_and_no_run_is_made_twice(stage, of_two):
    made = of_two(runs=4)
    added(stage, made)
    whole = stage.target
    stage.target = stage.at(5, stage.interrupt)
    ending = added(stage, made)
    assert ending.status == "interrupted"
    assert whole_sessions(stage.runs / "step0") == 1
    stage.target = whole
    added(stage, made)
    assert whole_sessions(stage.runs / "step0") == 2
    planned = [row["position"] for row in stage.rows if row["position"] >= 0]
    assert planned == list(range(20))  # warm-ups are made once more, behind a break


@pytest.mark.usefixtures("noisy")
def test_a_kill_before_the_last_manifest_leaves_a_whole_session(stage, of_two):
    made = of_two()
    added(stage, made)
    manifest = stage.manifest | {"status": "running", "files": {}, "finished": None}
    (stage.trial / "manifest.json").write_text(json.dumps(manifest))
    assert whole_sessions(stage.trial) == 1
    added(stage, made)
    assert whole_sessions(stage.trial) == 2


def test_there_is_no_session_where_there_is_no_trial(tmp_path):
    assert whole_sessions(tmp_path / "none") == 0


@pytest.mark.usefixtures("noisy")
def test_a_plan_of_looks_is_not_put_upon_a_trial_without_one(stage, of_two):
    added(stage, of_two(), None)
    with pytest.raises(StoreError, match="no plan of looks"):
        added(stage, of_two())


def test_a_variant_whose_runs_all_fail_has_no_value_and_failed_runs_are_left_out(stage, of_two):
    numbers = iter(range(100))

    def target(request):
        wall = 10**8 + next(numbers)
        failed = request.argv[-1] == "b" and stage.fails
        return {"wall_ns": wall, "exit_code": 1 if failed else 0}

    stage.fails, stage.target = True, target
    added(stage, of_two())
    stage.fails = False
    added(stage, of_two())
    trial = read_trial(stage.runs / "step0")
    assert math.isnan(session_values(trial, 1, "wall")["b"])
    assert np.mean(session_values(trial, 2, "wall")["b"]) == pytest.approx(math.log(0.1), abs=1e-5)
    assert runs_of_variants(trial) == {"a": (0, 4), "b": (2, 4)}


def test_a_metric_of_which_more_is_better_is_negated(stage, of_two):
    from dataclasses import replace

    from harness.campaign.model import MetricRule

    made = of_two()
    rule = MetricRule(name="rate", regex=r"rate (\d+)", unit="1/s", better="higher")
    made = replace(made, cells=tuple(replace(cell, metrics=(rule,)) for cell in made.cells))

    def target(request):
        request.stdout.write_text(f"rate {200 if request.argv[-1] == 'b' else 100}\n")

    stage.target = target
    added(stage, made)
    values = session_values(read_trial(stage.runs / "step0"), 1, "rate")
    assert [set(values[name]) for name in "ab"] == [{-math.log(100)}, {-math.log(200)}]


def test_a_signal_before_the_first_run_leaves_a_start_that_is_begun_anew(stage, of_two):
    stage.target = stage.at(0, stage.interrupt)
    assert added(stage, of_two()).status == "interrupted"
    stage.target = lambda request: None
    assert added(stage, of_two()).status == "complete"
    assert whole_sessions(stage.runs / "step0") == 1
    assert Interrupted(2).number == 2
