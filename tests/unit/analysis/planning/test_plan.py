"""How many runs: the published loop, the t interval, and plans from a pilot."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from scipy import stats

from analysis.data.matrix import PerformanceMatrix
from analysis.errors import AnalysisError, InsufficientDataError, UsageError
from analysis.planning.pilot import least_runs, residuals
from analysis.planning.plan import plan_runs, t_interval, width_loop
from analysis.stats.streams import stream


def matrix(name, logs, *, better="lower", scale=1.0, **ids):
    """Make a matrix of exp(logs), benchmarks x runs."""
    rows = {f"b{k}": scale * np.exp(row) for k, row in enumerate(logs)}
    return PerformanceMatrix.from_samples(name, rows, better=better, **ids)


def pair(seed=1, sd=0.02, n=4, m=20, gain=0.05, **options):
    rng = np.random.default_rng(seed)
    ours, theirs = rng.normal(0, sd, (2, n, m))
    return matrix("x", ours - gain, **options), matrix("y", theirs, **options)


@pytest.fixture
def rng():
    return stream(5, "test")


# --- the t interval ---------------------------------------------------------------------------


@pytest.mark.parametrize("better", ["lower", "higher"])
def test_t_interval_of_one_benchmark_is_welchs(better):
    x, y = pair(n=1, better=better)
    welch = stats.ttest_ind(np.log(y.samples[0]), np.log(x.samples[0]), equal_var=False)
    low, high = welch.confidence_interval(0.9)
    if better == "higher":
        low, high = -high, -low
    found = t_interval(x, y, confidence=0.9)
    assert found[1:] == pytest.approx((math.exp(low), math.exp(high)), rel=1e-10)
    assert found[1] < found[0] < found[2]
    assert (found[0] > 1) == (better == "lower")


def test_t_interval_is_of_the_geometric_mean_and_needs_no_unit():
    x, y = pair()
    want = math.exp(np.mean([np.log(row).mean() for row in y.samples])) / math.exp(
        np.mean([np.log(row).mean() for row in x.samples])
    )
    assert t_interval(x, y)[0] == pytest.approx(want)
    small, tall = pair(scale=1e-9), pair(scale=1e9)
    assert t_interval(*small) == pytest.approx(t_interval(*tall), rel=1e-9)


def test_t_interval_of_ragged_and_constant_benchmarks():
    x = PerformanceMatrix.from_samples("x", {"a": [1.0, 1.0], "b": [2.0, 2.1, 2.2]}, better="lower")
    y = PerformanceMatrix.from_samples("y", {"a": [2.0] * 5, "b": [2.0, 2.1]}, better="lower")
    speedup, low, high = t_interval(x, y)
    assert low < speedup < high
    flat = t_interval(x.select(["a"]), y.select(["a"]))
    assert flat == (2.0, 2.0, 2.0)


def test_one_run_has_no_interval():
    one = PerformanceMatrix.from_samples("x", {"a": [1.0]}, better="lower")
    with pytest.raises(InsufficientDataError, match="1 run, and 2 are needed"):
        t_interval(one, one)


def test_benchmarks_of_one_side_only_are_not_dropped_in_silence(rng):
    x, y = pair()
    fewer = y.select(["b0", "b1"])
    with pytest.raises(AnalysisError, match="2 benchmarks left out"):
        t_interval(x, fewer)
    for result in (width_loop(x, fewer, width=0.1), plan_runs(x, fewer, width=0.1, rng=rng)):
        assert sum("2 benchmarks left out" in text for text in result.cautions) == 1
        assert str(result).count("benchmarks left out") == 1


# --- the loop ---------------------------------------------------------------------------------


def test_the_loop_stops_at_the_first_narrow_interval():
    x, y = pair(sd=0.05, m=40)
    found = width_loop(x, y, width=0.04)
    assert found.why == "width"
    assert [step.runs for step in found.steps] == list(range(5, found.runs + 1))
    assert all(step.width > 0.04 for step in found.steps[:-1])
    assert found.steps[-1].width <= 0.04
    first = {b: row[: found.runs] for b, row in zip(x.benchmarks, x.samples, strict=True)}
    same = {b: row[: found.runs] for b, row in zip(y.benchmarks, y.samples, strict=True)}
    last = t_interval(
        PerformanceMatrix.from_samples("x", first, better="lower"),
        PerformanceMatrix.from_samples("y", same, better="lower"),
    )
    step = found.steps[-1]
    assert (step.speedup, step.low, step.high) == pytest.approx(last)
    assert step.width == pytest.approx((last[2] - last[1]) / last[0])


def test_the_loop_is_always_capped_and_says_by_what():
    x, y = pair(m=12)
    by_data = width_loop(x, y, width=1e-6)
    assert (by_data.runs, by_data.why) == (12, "data")
    assert "ends after 12 runs (no more were measured)" in str(by_data)
    by_cap = width_loop(x, y, width=1e-6, max_runs=8, step=2)
    assert (by_cap.runs, by_cap.why) == (8, "max_runs")
    assert [s.runs for s in by_cap.steps] == [5, 7, 8]
    assert "ends after 8 runs (the cap)" in str(by_cap)


def test_widths_are_relative_or_as_published():
    x, y = pair(gain=math.log(4))
    relative = width_loop(x, y, width=1e-6, max_runs=5).steps[0]
    absolute = width_loop(x, y, width=1e-6, max_runs=5, scale="absolute").steps[0]
    assert absolute.width == pytest.approx(relative.width * relative.speedup)
    assert absolute.width == pytest.approx(absolute.high - absolute.low)


def test_the_percentile_loop_is_the_published_one_and_warns(rng):
    x, y = pair(sd=0.03, m=30)
    found = width_loop(x, y, width=0.03, interval="percentile", start=3, rng=rng)
    text = " ".join(found.cautions)
    assert "covers about 87 %" in text
    assert "starts at 3 runs" in text
    assert found.runs <= width_loop(x, y, width=0.03, start=3).runs  # narrower at few runs
    again = width_loop(x, y, width=0.03, interval="percentile", start=3, rng=stream(5, "test"))
    assert again == found
    with pytest.raises(UsageError, match="give rng"):
        width_loop(x, y, width=0.03, interval="percentile")


def test_the_studentized_loop(rng):
    x, y = pair(m=8)
    found = width_loop(x, y, width=1e-9, interval="studentized", max_runs=6, rng=rng)
    assert [step.runs for step in found.steps] == [5, 6]
    assert found.steps[0].width > 0


def test_a_constant_suite_stops_at_once():
    flat = matrix("x", np.zeros((3, 9)))
    found = width_loop(flat, flat, width=1e-12)
    assert (found.runs, found.why, found.steps[0].width) == (5, "width", 0.0)


@pytest.mark.parametrize(
    "wrong",
    [
        {"width": 0.0},
        {"width": math.nan},
        {"width": 0.1, "confidence": 1.0},
        {"width": 0.1, "start": 1},
        {"width": 0.1, "step": 0},
        {"width": 0.1, "max_runs": 4},
        {"width": 0.1, "interval": "bca"},
        {"width": 0.1, "scale": "log"},
    ],
)
def test_wrong_arguments_of_the_loop(wrong):
    with pytest.raises(UsageError):
        width_loop(*pair(), **wrong)


def test_the_loop_is_json():
    data = json.loads(json.dumps(width_loop(*pair(), width=0.1).to_dict(), allow_nan=False))
    assert data["why"] == "width"
    assert data["steps"][0].keys() == {"runs", "speedup", "low", "high", "width"}


# --- plans ------------------------------------------------------------------------------------


def test_a_plan_agrees_with_theory(rng):
    # Equal normal strata: the half width at m runs is about 1.96 sd sqrt(2 / (n m)).
    sd, n = 0.02, 8
    x, y = pair(3, sd, n, 200)
    plan = plan_runs(x, y, width=0.01, effect=1.005, rng=rng)
    z, power_z = stats.norm.ppf([0.975, 0.8])
    for_width = 2 * n * (2 * z * sd / (n * 0.01)) ** 2
    for_effect = 2 * n * ((z + power_z) * sd / (n * math.log(1.005))) ** 2
    assert plan.runs_for_width == pytest.approx(for_width, rel=0.12)
    assert plan.runs_for_effect == pytest.approx(for_effect, rel=0.12)
    row = next(r for r in plan.table if r.runs == 20)
    theory = plan.speedup**2 * sd**2 * 2 / (n * 20)
    assert row.mse == pytest.approx(theory, abs=5 * row.mse_error + 0.1 * theory)
    assert 0.92 < row.coverage < 0.98
    assert row.detectable == pytest.approx(
        math.exp((stats.t.ppf(0.975, 2 * n * 19) + power_z) * sd * math.sqrt(2 / (n * 20))),
        rel=2e-3,
    )


def test_the_answers_keep_their_promise(rng):
    plan = plan_runs(*pair(), width=0.02, effect=1.02, rng=rng)
    rows = {row.runs: row for row in plan.table}
    assert rows[plan.runs_for_width].chance >= 0.8
    assert rows[plan.runs_for_effect].power >= 0.8
    assert plan.loop.why == "width"
    text = " ".join(str(plan).split())
    assert f"width 0.02 or less needs {plan.runs_for_width} runs" in text
    assert f"a speedup of 1.02x from none needs {plan.runs_for_effect} runs" in text
    assert all(len(line) <= 96 for line in str(plan).splitlines())


def test_an_effect_below_one_needs_as_many(rng):
    slower = plan_runs(*pair(), effect=1 / 1.01, rng=rng)
    faster = plan_runs(*pair(), effect=1.01, rng=stream(5, "test"))
    assert slower.runs_for_effect == faster.runs_for_effect


def test_a_plan_is_capped_and_says_so(rng):
    plan = plan_runs(*pair(), width=1e-5, effect=1.00001, max_runs=20, rng=rng)
    assert (plan.runs_for_width, plan.runs_for_effect) == (None, None)
    assert plan.capped == ("width", "effect")
    assert "needs more than 20 runs, the cap" in str(plan)
    assert max(row.runs for row in plan.table) == 20


def test_seeds_repeat_and_a_benchmark_more_changes_no_stream(rng):
    plans = [plan_runs(*pair(), width=0.02, rng=stream(k, "t")).to_dict() for k in (1, 1, 2)]
    assert plans[0] == plans[1] != plans[2]


def test_what_differs_between_sessions_is_not_spread_between_runs():
    logs = np.array([0.0, 0.1, 0.2, 5.0, 5.1, 5.2])
    found = residuals(logs, np.array([1, 1, 1, 2, 2, 2]))
    assert found == pytest.approx(np.array([-0.1, 0, 0.1] * 2) * math.sqrt(6 / 4))
    assert residuals(logs, None).std() == pytest.approx(logs.std(ddof=1))
    single = residuals(logs[:3], np.array([1, 2, 3]))  # a run a session: their spread is all
    assert single.std() == pytest.approx(0.1)
    assert residuals(np.full(5, math.log(0.3)), None).tolist() == [0.0] * 5


def test_constant_pilots_need_no_more_than_the_least(rng):
    flat = matrix("x", np.zeros((3, 4)))
    plan = plan_runs(flat, flat, width=0.001, effect=1.001, rng=rng)
    assert (plan.runs_for_width, plan.runs_for_effect) == (3, 3)


@pytest.mark.parametrize("scale", [1e-9, 1e9])
def test_scales(rng, scale):
    plan = plan_runs(*pair(scale=scale), width=0.02, rng=rng)
    same = plan_runs(*pair(), width=0.02, rng=stream(5, "test"))
    assert plan.runs_for_width == same.runs_for_width


def test_a_pilot_of_two_runs_is_too_small(rng):
    with pytest.raises(InsufficientDataError, match="2 runs, and 3 are needed"):
        plan_runs(*pair(m=2), width=0.1, rng=rng)
    assert plan_runs(*pair(m=3), width=0.1, rng=rng).loop.steps[0].runs == 3


@pytest.mark.parametrize(
    "wrong",
    [
        {"width": -1.0},
        {"effect": 1.0},
        {"effect": 0.0},
        {"effect": math.inf},
        {"power": 1.0},
        {"confidence": 0.0},
        {"max_runs": 2},
        {"max_runs": 10_001},
        {"grid": (1,)},
        {"simulations": 9},
    ],
)
def test_wrong_arguments_of_a_plan(rng, wrong):
    with pytest.raises(UsageError):
        plan_runs(*pair(), rng=rng, **wrong)


def test_cautions_name_what_the_plan_rests_on(rng):
    few = plan_runs(*pair(m=5), rng=rng)
    text = " ".join(few.cautions)
    assert "within one session" in text
    assert "only 5 runs" in text
    assert "does not say which runs share a session" in text
    assert str(few).startswith("x against y: what a number of runs would bring")


def test_a_plan_is_json(rng):
    plan = plan_runs(*pair(), width=0.02, effect=1.02, rng=rng, seed=5)
    data = json.loads(json.dumps(plan.to_dict(), allow_nan=False))
    assert data["seed"] == 5
    assert data["loop"]["interval"] == "t"
    assert data["table"][0]["runs"] == 3


def test_the_search_finds_the_least_and_respects_the_cap():
    assert least_runs(lambda m: m / 100, 0.8, 1000) == 80
    assert least_runs(lambda m: 1.0, 0.8, 1000) == 3
    assert least_runs(lambda m: m / 100, 0.8, 79) is None
    assert least_runs(lambda m: m / 100, 0.8, 80) == 80
