"""What a plan can decide, told beforehand.

Authorities: a simulation of the verdict's law, the verdict itself at both sides of its border, and
`plan_sessions`, which asks the same of one benchmark.
"""

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.special import stdtr, stdtrit

from analysis.data.matrix import PerformanceMatrix
from analysis.data.trial import read_trial
from analysis.errors import InsufficientDataError
from analysis.methods.multilevel.compare import multilevel
from analysis.plan.components import variance_components
from analysis.plan.sessions import decidable, decidable_by, plan_decides, plan_sessions
from analysis.stats.multiplicity import adjusted

SAMPLE = Path(__file__).parents[4] / "runs" / "sample"


@pytest.mark.parametrize(("sessions", "benchmarks", "place"), [(6, 29, 1), (8, 1, 2)])
def test_a_difference_of_that_size_is_found_in_four_of_five_simulated_trials(
    rng, sessions, benchmarks, place
):
    found = decidable(sessions, 8, benchmarks).at[place]
    trials = 4000
    logs = rng.normal(0, found.spread, (trials, benchmarks, sessions))
    logs[:, 0] += math.log1p(found.benchmark)

    def pvalues(values):
        t = values.mean(axis=-1) / (values.std(axis=-1, ddof=1) / math.sqrt(sessions))
        return 2 * stdtr(sessions - 1, -np.abs(t))

    named = np.array([adjusted(row)[0] <= 0.05 for row in pvalues(logs)])
    # Holm's later steps find a little more where another benchmark is named by chance
    assert 0.77 < named.mean() < 0.83
    uncorrected = (
        pvalues(logs)[:, 0] <= 0.05
    )  # the negative control: without Holm it is another law
    assert (uncorrected.mean() > 0.9) == (benchmarks > 1)
    if benchmarks > 1:
        suite = rng.normal(0, found.spread, (trials, benchmarks, sessions)).mean(axis=1)
        assert 0.77 < (pvalues(suite + math.log1p(found.suite)) <= 0.05).mean() < 0.83


@pytest.mark.parametrize("benchmarks", [1, 4])
def test_the_verdict_turns_where_the_law_says(benchmarks):
    # half of the interval at Holm's first step, by which the power was reckoned
    sessions, sd = 6, 0.02
    pattern = np.array([1.2, -1.2, 1, -1, 0.8, -0.8])  # no two values are equal: no clock shows
    pattern *= sd / pattern.std(ddof=1)
    border = float(stdtrit(sessions - 1, 1 - 0.025 / benchmarks)) * sd / math.sqrt(sessions)
    ids = {f"b{k}": list(range(sessions)) for k in range(benchmarks)}
    theirs = {name: [1.0] * sessions for name in ids}
    for factor, word in ((1.01, "faster"), (0.99, "undecided")):
        ours = {name: np.exp(-pattern) for name in ids}
        ours["b0"] = np.exp(-pattern - factor * border)
        sides = (
            PerformanceMatrix.from_samples(name, rows, better="lower", sessions=ids)
            for name, rows in (("x", ours), ("y", theirs))
        )
        assert multilevel(*sides).benchmarks[0].outcome == word


def test_one_benchmark_is_planned_as_the_planner_plans_it(pair):
    sessions = np.repeat(np.arange(5), 4).tolist()
    ours, theirs = pair(n=1, m=20, sessions={"b0": sessions})
    plan = plan_sessions(ours, theirs, width=0.1, max_sessions=10)
    line = plan.components.benchmarks[0]
    row = next(row for row in plan.table if row.runs is not None)
    spread = math.hypot(line.session_sd, line.run_sd / math.sqrt(row.runs))
    one = decidable(row.sessions, row.runs, 1).at[0]
    shift = math.log1p(one.benchmark) * spread / one.spread
    assert shift == pytest.approx(math.log(row.detectable), rel=1e-9)


@pytest.mark.parametrize(("sessions", "benchmarks"), [(3, 1), (6, 29)])
def test_half_of_it_needs_that_many_sessions_and_no_fewer(sessions, benchmarks):
    for one in decidable(sessions, 8, benchmarks).at:

        def told(count, spread=one.spread):
            return next(
                x for x in decidable(count, 8, benchmarks).at if x.spread == spread
            ).benchmark

        half = math.log1p(one.benchmark) / 2
        assert math.log1p(told(one.half_sessions)) <= half < math.log1p(told(one.half_sessions - 1))


def test_more_sessions_decide_more_and_more_benchmarks_less():
    by_sessions = [decidable(s, 8, 5).at for s in (2, 3, 6, 20)]
    by_benchmarks = [decidable(6, 8, m).at for m in (1, 5, 29)]
    for rows, falling in ((by_sessions, True), (by_benchmarks, False)):
        for at in zip(*rows, strict=True):
            told = [one.benchmark for one in at]
            assert told == sorted(told, reverse=falling)


def test_what_is_said():
    told = str(decidable(6, 8, 29))
    assert told.startswith(
        "6 sessions, 29 benchmarks: differences below about 3.1 % of a benchmark, 0.27 % of the suite "
        "cannot be decided at a spread of 1 %; 6.4 %, 0.53 % at 2 %; 17 %, 1.3 % at 5 %. Half of that needs 12 "
        "sessions. These spreads are assumed"
    )
    assert "of the suite" not in str(decidable(6, 8, 1))
    assert "; over 900 %, 29 % at 5 %" in str(decidable(2, 5, 5))
    assert "hardly any difference" in (hardly := str(decidable(2, 8, 29)))
    assert "Half of that" not in hardly
    assert str(decidable(6, 8, 29, "rps")).startswith("6 sessions, 29 benchmarks by rps: differ")
    assert str(decidable(1, 8, 3)).startswith("1 session decides nothing")
    assert decidable(1, 8, 3).at == ()
    json.dumps(decidable(2, 8, 29).to_dict(), allow_nan=False)


def test_the_spread_is_that_of_an_earlier_trial_of_the_same_cells():
    trial = read_trial(SAMPLE)
    names = {"benchmarks": trial.manifest.benchmarks, "variants": trial.manifest.variants}
    asked = {"sessions": 12, "runs": 4, **names}
    found = plan_decides([SAMPLE.parent / "none", SAMPLE], **asked)
    assert (found.trial, found.trial_sessions) == ("sample", 6)
    base, other = trial.manifest.variants
    (one,) = found.at
    assert one.candidate == other
    lines = variance_components(trial.matrix(other), trial.matrix(base)).benchmarks
    spreads = [math.sqrt(x.session_sd**2 + (x.run_sd or 0) ** 2 / 4) for x in lines]
    assert one.spread == pytest.approx(float(np.median(spreads)))
    assert "measured in 6 sessions of sample. Half of that needs " in str(found)
    assert "assumed" not in str(found)
    # it is that of the metric which the plan will judge; a trial without it tells nothing
    by_user = plan_decides([SAMPLE], **asked, metric="user")
    assert (by_user.trial, by_user.metric) == ("sample", "user")
    assert by_user.at[0].spread != one.spread
    assert plan_decides([SAMPLE], **asked, metric="rps").trial is None
    # one whose sessions do not differ tells no spread
    flat = replace(trial, numbers={**trial.numbers, "wall_ns": np.full(len(trial), 1e9)})
    with pytest.raises(InsufficientDataError, match="two sessions with the baseline that differ"):
        decidable_by(flat, 6, 8)
    # a trial of other cells tells nothing
    assert plan_decides([SAMPLE], **asked | {"variants": (base, "z")}).trial is None


@pytest.mark.parametrize(
    ("sessions", "told"),
    [
        (
            3,
            "3 sessions, 2 benchmarks by size: counts that do not vary, of which 4 sessions decide",
        ),
        (
            4,
            "4 sessions, 2 benchmarks by size: counts that do not vary, of which 4 sessions decide",
        ),
    ],
)
def test_counts_that_do_not_vary_need_sessions_and_no_size(synthetic, tmp_path, sessions, told):
    runs = {name: {"x": [1.0] * 6, "y": [1.0] * 6} for name in ("old", "new")}
    one = synthetic(runs, sessions=2, metrics={"size": {"unit": "B", "better": "lower"}})
    one.rows = [replace(row, metrics={"size": (7.0,)}) for row in one.rows]
    found = decidable_by(read_trial(one.write(tmp_path / "t")), sessions, 3, "size")
    assert str(found).startswith(told)
    assert found.at[0].benchmark == (0.0 if sessions > 3 else None)
