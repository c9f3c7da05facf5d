"""How many runs: plans from a pilot, against theory and their own promises."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import pytest
from scipy import stats

from analysis.data.matrix import PerformanceMatrix
from analysis.errors import AnalysisError, InsufficientDataError, UsageError
from analysis.pages.model import Table, Value
from analysis.plan import runs as pilot
from analysis.plan.runs import least_runs, plan_runs, residuals, t_interval, width_loop
from analysis.plan.stop_rule import RunningSuite, decide, exponential, log_half_width, width_text
from analysis.record.trial_files import StopRule
from analysis.stats.arguments import stream

quick = partial(plan_runs, simulations=100)


def test_a_plan_agrees_with_theory(pair, rng):
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
    # the square of a normal error has sqrt(2) times its mean as standard deviation (chi-squared, 1 df)
    assert row.mse_sd == pytest.approx(math.sqrt(2) * theory, rel=0.24)
    assert row.mse_error == pytest.approx(row.mse_sd / math.sqrt(1000))
    # figure 12 b: both decrease with the runs
    at = {r.runs: r for r in plan.table}
    for name in ("mse", "mse_sd"):
        three, ten, thirty = (getattr(at[m], name) for m in (3, 10, 30))
        assert three > 2 * ten > 4 * thirty > 0
    assert 0.92 < row.coverage < 0.98
    assert row.detectable == pytest.approx(
        math.exp((stats.t.ppf(0.975, 2 * n * 19) + power_z) * sd * math.sqrt(2 / (n * 20))),
        rel=2e-3,
    )


def test_the_answers_keep_their_promise(pair, rng):
    plan = plan_runs(*pair(), width=0.02, effect=1.02, rng=rng)
    rows = {row.runs: row for row in plan.table}
    assert rows[plan.runs_for_width].chance >= 0.8
    assert rows[plan.runs_for_effect].power >= 0.8
    assert plan.loop.why == "width"
    text = " ".join(str(plan).split())
    assert f"width 0.02 or less needs {plan.runs_for_width} runs" in text
    assert f"a speedup of 1.02x from none needs {plan.runs_for_effect} runs" in text
    assert all(len(line) <= 96 for line in str(plan).splitlines())


def test_only_what_is_asked_for_and_not_reached_is_capped(pair, rng):
    x, y = pair()
    assert quick(x, y, width=0.02, effect=1.02, rng=rng).capped == ()
    assert quick(x, y, width=0.02, rng=rng).capped == ()
    assert quick(x, y, width=0.02, effect=1.00001, max_runs=200, rng=rng).capped == ("effect",)


def test_the_loop_of_a_plan_starts_at_five_runs_where_there_are_so_many(pair, rng):
    for runs, start in ((20, 5), (5, 5), (4, 4), (3, 3)):
        assert quick(*pair(m=runs), width=1e-6, max_runs=60, rng=rng).loop.steps[0].runs == start


def test_arguments_are_refused_before_the_pilot_is_looked_at(pair, rng):
    with pytest.raises(UsageError, match="width must be a number above 0"):
        plan_runs(*pair(m=2), width=-1.0, rng=rng)


def test_an_effect_below_one_needs_as_many(pair, rng):
    slower = quick(*pair(), effect=1 / 1.01, rng=rng)
    faster = quick(*pair(), effect=1.01, rng=stream(5, "test"))
    assert slower.runs_for_effect == faster.runs_for_effect


def test_a_plan_is_capped_and_says_so(pair, rng):
    plan = quick(*pair(), width=1e-5, effect=1.00001, max_runs=20, rng=rng)
    assert (plan.runs_for_width, plan.runs_for_effect) == (None, None)
    assert plan.capped == ("width", "effect")
    assert "needs more than 20 runs, the cap" in " ".join(str(plan).split())
    assert max(row.runs for row in plan.table) == 20


def test_seeds_repeat_and_a_benchmark_more_changes_no_stream(pair, rng):
    plans = [quick(*pair(), width=0.02, rng=stream(k, "t")).to_dict() for k in (1, 1, 2)]
    assert plans[0] == plans[1] != plans[2]


def test_what_differs_between_sessions_is_not_spread_between_runs():
    logs = np.array([0.0, 0.1, 0.2, 5.0, 5.1, 5.2])
    found = residuals(logs, np.array([1, 1, 1, 2, 2, 2]))
    assert found == pytest.approx(np.array([-0.1, 0, 0.1] * 2) * math.sqrt(6 / 4))
    assert residuals(logs, None).std() == pytest.approx(logs.std(ddof=1))
    # two runs more than sessions are enough to tell the spread around the sessions' means
    two = residuals(logs[[0, 1, 3, 4]], np.array([1, 1, 2, 2]))
    assert two == pytest.approx(np.array([-0.05, 0.05] * 2) * math.sqrt(4 / 2))
    one = residuals(logs[[0, 1, 3]], np.array([1, 1, 2]))
    assert one == pytest.approx((logs[[0, 1, 3]] - logs[[0, 1, 3]].mean()) * math.sqrt(3 / 2))
    single = residuals(logs[:3], np.array([1, 2, 3]))  # a run a session: their spread is all
    assert single.std() == pytest.approx(0.1)
    assert residuals(np.full(5, math.log(0.3)), None).tolist() == [0.0] * 5


def test_constant_pilots_need_no_more_than_the_least(matrix, rng):
    flat = matrix("x", np.zeros((3, 4)))
    plan = quick(flat, flat, width=0.001, effect=1.001, rng=rng)
    assert (plan.runs_for_width, plan.runs_for_effect) == (3, 3)


def test_scales(pair):
    needed = {quick(*pair(scale=s), width=0.02, rng=stream(5, "t")).runs_for_width
              for s in (1e-9, 1, 1e9)}  # fmt: skip
    assert len(needed) == 1


def test_a_pilot_of_two_runs_is_too_small(pair, rng):
    with pytest.raises(InsufficientDataError, match="2 runs, and 3 are needed"):
        quick(*pair(m=2), width=0.1, rng=rng)
    assert quick(*pair(m=3), width=0.1, rng=rng).loop.steps[0].runs == 3


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
def test_wrong_arguments_of_a_plan(pair, rng, wrong):
    with pytest.raises(UsageError):
        plan_runs(*pair(), rng=rng, **wrong)


def test_cautions_name_what_the_plan_rests_on(pair, rng):
    few = quick(*pair(m=5), rng=rng)
    text = " ".join(map(str, few.cautions))
    assert "within one session" in text
    assert "only 5 runs" in text
    assert "does not say which runs share a session" in text
    assert str(few).startswith("x against y: what a number of runs would bring")


def test_the_documented_figures(pair, rng):
    # docs/planning.md: the numbers of runs of figure 12, 1,000 simulations, a cap of 1,000 runs
    plan = plan_runs(*pair(), rng=rng)
    assert [row.runs for row in plan.table] == [3, 5, 7, 10, 15, 20, 30, 50, 100]
    assert (plan.simulations, plan.max_runs, plan.power, plan.confidence) == (1000, 1000, 0.8, 0.95)
    capped = plan_runs(*pair(), width=1e-6, simulations=100, rng=rng)
    assert "needs more than 1000 runs, the cap (probability 0.8)" in " ".join(str(capped).split())
    most = plan_runs(*pair(), max_runs=10_000, grid=(3,), simulations=100, rng=rng)
    assert most.max_runs == 10_000
    with pytest.raises(UsageError, match="between 3 and 10,000, and is 10001"):
        plan_runs(*pair(), max_runs=10_001, rng=rng)


@pytest.mark.parametrize(("runs", "told"), [(9, True), (10, False)])
def test_a_pilot_of_fewer_than_ten_runs_is_small(pair, rng, runs, told):
    x, y = pair(m=12)
    short = {name: y.values(name)[: runs + k] for k, name in enumerate(y.benchmarks)}
    plan = quick(x, type(y).from_samples("y", short, better="lower"), rng=rng)
    found = [c.text for c in plan.cautions if c.code == "small-pilot"]
    assert [f"only {runs} runs of some benchmark" in text for text in found] == [True] * told


@pytest.mark.parametrize("most", [437, 10_000])
def test_the_search_is_exact_below_400_runs_and_good_to_half_a_percent_above(most):
    for least in [*range(3, 400), 401, 437, 799, 1000, 6143, 9999]:
        found = least_runs(lambda m, least=least: float(m >= least), 1.0, most)
        if least > most:
            assert found is None
        elif found < 400:
            assert found == least
        else:
            assert least <= found <= min(1.005 * least, most)


def test_the_search_never_looks_beyond_the_cap():
    looked = []

    def goal(runs):
        looked.append(runs)
        return float(runs >= 7)

    assert least_runs(goal, 1.0, 7) == 7
    assert max(looked) == 7
    assert least_runs(goal, 1.0, 6) is None
    assert max(looked) == 7
    assert least_runs(lambda m: 0.0, 1.0, 3) is None


def test_how_much_is_held_at_a_time_changes_no_number(pair, monkeypatch):
    at_once = plan_runs(*pair(), grid=(3, 50), simulations=250, rng=stream(5, "t"))
    monkeypatch.setattr(pilot, "_CHUNK", 5000)  # a hundred trials of 50 runs
    assert plan_runs(*pair(), grid=(3, 50), simulations=250, rng=stream(5, "t")) == at_once


def test_a_speedup_that_is_detectable_only_when_huge_is_left_out(matrix, rng):
    noisy = [[0.0, 4.0, -4.0]]
    plan = plan_runs(matrix("x", noisy), matrix("y", noisy), grid=(3,), rng=rng)
    (table,) = (b for s in plan.screen().sections for b in s.blocks if isinstance(b, Table))
    (place,) = (k for k, c in enumerate(table.columns) if c.heading == "detectable")
    assert table.rows[0][place] == Value("-", plan.table[0].detectable)


def test_a_plan_says_the_cautions_of_its_loop_once(pair, rng):
    plan = quick(*pair(m=5), width=0.05, rng=rng)
    cautions = plan.screen().cautions
    assert set(cautions) == {*plan.cautions, *plan.loop.cautions}
    assert len(cautions) == len(set(cautions))


# --- The t interval of a suite's speedup, and the published loop


# --- the t interval ---------------------------------------------------------------------------


@pytest.mark.parametrize("better", ["lower", "higher"])
def test_t_interval_of_one_benchmark_is_welchs(pair, better):
    x, y = pair(n=1, better=better)
    welch = stats.ttest_ind(np.log(y.samples[0]), np.log(x.samples[0]), equal_var=False)
    low, high = welch.confidence_interval(0.9)
    if better == "higher":
        low, high = -high, -low
    found = t_interval(x, y, confidence=0.9)
    assert found[1:] == pytest.approx((math.exp(low), math.exp(high)), rel=1e-10)
    assert found[1] < found[0] < found[2]
    assert (found[0] > 1) == (better == "lower")


def test_t_interval_of_unequal_numbers_of_runs_is_banerjees_bound():
    rng = np.random.default_rng(31)
    rows = [rng.lognormal(0, 0.1, n) for n in (2, 9)]
    x, y = (
        PerformanceMatrix.from_samples(name, {"a": row}, better="higher")
        for name, row in zip("xy", rows, strict=True)
    )
    speedup, low, high = t_interval(x, y)
    parts = (stats.t.isf(0.025, row.size - 1) * stats.sem(np.log(row)) for row in rows)
    half = math.hypot(*parts)
    assert (low, high) == pytest.approx((speedup * math.exp(-half), speedup * math.exp(half)))
    welch = stats.ttest_ind(*(np.log(row) for row in rows), equal_var=False)
    interval = welch.confidence_interval(0.95)
    assert 2 * half > interval.high - interval.low


def test_t_interval_is_of_the_geometric_mean_and_needs_no_unit(pair):
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


@pytest.mark.parametrize("confidence", [0.0, 1.0, math.nan])
def test_no_interval_has_a_confidence_of_none_or_of_all(pair, confidence):
    with pytest.raises(UsageError, match="confidence must lie between 0 and 1"):
        t_interval(*pair(), confidence=confidence)


def test_one_run_has_no_interval():
    one = PerformanceMatrix.from_samples("x", {"a": [1.0]}, better="lower")
    with pytest.raises(InsufficientDataError, match="1 run, and 2 are needed"):
        t_interval(one, one)


def test_benchmarks_of_one_side_only_are_not_dropped_in_silence(pair, rng):
    x, y = pair()
    fewer = y.select(["b0", "b1"])
    with pytest.raises(AnalysisError, match="only 'x' has them: b2, b3"):
        t_interval(x, fewer)
    for result in (width_loop(x, fewer, width=0.1), plan_runs(x, fewer, width=0.1, rng=rng)):
        assert sum("only 'x' has them: b2, b3" in text for text in result.cautions) == 1
        assert " ".join(str(result).split()).count("left out, because only") == 1


# --- the loop ---------------------------------------------------------------------------------


def test_the_loop_stops_at_the_first_narrow_interval(pair):
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


def test_the_loop_is_always_capped_and_says_by_what(pair):
    x, y = pair(m=12)
    by_data = width_loop(x, y, width=1e-6)
    assert (by_data.runs, by_data.why) == (12, "data")
    assert "ends after 12 runs (no more were measured)" in " ".join(str(by_data).split())
    by_cap = width_loop(x, y, width=1e-6, max_runs=8, step=2)
    assert (by_cap.runs, by_cap.why) == (8, "max_runs")
    assert [s.runs for s in by_cap.steps] == [5, 7, 8]
    assert "ends after 8 runs (the cap)" in str(by_cap)


def test_the_loop_may_start_at_two_runs(pair):
    found = width_loop(*pair(), width=1e-6, start=2, max_runs=3)
    assert [step.runs for step in found.steps] == [2, 3]


def test_widths_are_relative_or_as_published(pair):
    x, y = pair(gain=math.log(4))
    relative = width_loop(x, y, width=1e-6, max_runs=5).steps[0]
    absolute = width_loop(x, y, width=1e-6, max_runs=5, scale="absolute").steps[0]
    assert absolute.width == pytest.approx(relative.width * relative.speedup)
    assert absolute.width == pytest.approx(absolute.high - absolute.low)


def test_the_percentile_loop_is_the_published_one_and_warns(pair, rng):
    x, y = pair(sd=0.03, m=30)
    found = width_loop(x, y, width=0.03, interval="percentile", start=3, rng=rng)
    text = " ".join(map(str, found.cautions))
    assert "covers about 87 %" in text
    assert "starts at 3 runs" in text
    assert found.runs <= width_loop(x, y, width=0.03, start=3).runs  # narrower at few runs
    again = width_loop(x, y, width=0.03, interval="percentile", start=3, rng=stream(5, "test"))
    assert again == found
    with pytest.raises(UsageError, match="give rng"):
        width_loop(x, y, width=0.03, interval="percentile")


def test_the_studentized_loop(pair, rng):
    x, y = pair(m=8)
    found = width_loop(x, y, width=1e-9, interval="studentized", max_runs=6, rng=rng)
    assert [step.runs for step in found.steps] == [5, 6]
    assert found.steps[0].width > 0


def test_a_constant_suite_stops_at_once(matrix):
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
def test_wrong_arguments_of_the_loop(pair, wrong):
    with pytest.raises(UsageError):
        width_loop(*pair(), **wrong)


# --- The interval on logarithms at its limits, and how a width is written.


def test_no_spread_is_no_width_and_extreme_spreads_do_not_overflow():
    assert log_half_width(np.zeros((2, 4)), np.full(4, 5), 2, 0.95).tolist() == [0.0, 0.0]
    tiny = log_half_width(np.array([1e-200, 0.0]), np.array([5, 5]), 1, 0.95)
    assert 0 < tiny < 1e-99
    huge = log_half_width(np.array([1e200, 1e-200]), np.array([5, 5]), 1, 0.95)
    assert np.isfinite(huge)


def test_an_end_beyond_all_numbers_is_refused():
    assert exponential(709.0) == math.exp(709.0)
    assert exponential(-1e6) == 0.0
    with pytest.raises(AnalysisError, match="leaves the range of numbers"):
        exponential(710.0)


@pytest.mark.parametrize(
    ("width", "limit", "text"),
    [
        (0.0147, 0.015, "0.0147"),
        (0.0150004, 0.015, "0.0150004"),
        (0.01499996, 0.015, "0.015"),
        (0.5, 0.015, "0.5"),
        (None, 0.015, "unknown"),
        (math.nextafter(0.015, 1), 0.015, repr(math.nextafter(0.015, 1))),
    ],
)
def test_a_width_is_written_on_its_side_of_the_limit(width, limit, text):
    assert width_text(width, limit) == text


# --- The stopping rule's arithmetic, against Welch's test and direct sums


def fed(values):
    """Feed an array of (runs, benchmarks, variants) run by run."""
    suite = RunningSuite(values.shape[1], values.shape[2])
    for k, block in enumerate(values, start=1):
        for b, row in enumerate(block):
            for v, value in enumerate(row):
                if value > 0:
                    suite.add(k, b, v, float(value))
    return suite


def by_rounds(logs, sides, confidence=0.95):
    """Student's interval of the rounds' own means, or differences of means."""
    rounds = logs[:, :, sides].mean(axis=1) @ np.array([1.0, -1.0])[: len(sides)]
    interval = stats.ttest_1samp(rounds, 0).confidence_interval(confidence)
    return (interval.high - interval.low) / 2


def test_one_benchmark_is_welchs_interval():
    rng = np.random.default_rng(1)
    values = np.exp(rng.normal(0, [[0.1, 0.3]], (8, 1, 2)))
    interval = stats.ttest_ind(
        np.log(values[:, 0, 1]), np.log(values[:, 0, 0]), equal_var=False
    ).confidence_interval(0.95)
    half = (interval.high - interval.low) / 2
    suite = fed(values)
    paired = by_rounds(np.log(values), [1, 0])
    assert suite.half_widths([1, 0]) == pytest.approx((half, paired), rel=1e-10)
    found = suite.widths(0)
    assert math.isnan(found[0])
    assert found[1] == pytest.approx(2 * math.sinh(max(half, paired)), rel=1e-10)


def test_one_variant_and_benchmark_is_students_interval():
    values = np.exp(np.random.default_rng(2).normal(0, 0.1, (7, 1, 1)))
    interval = stats.ttest_1samp(np.log(values[:, 0, 0]), 0).confidence_interval(0.95)
    half = (interval.high - interval.low) / 2
    assert fed(values).widths(0)[0] == pytest.approx(2 * math.sinh(half), rel=1e-10)


def test_many_benchmarks_by_the_formula():
    rng = np.random.default_rng(3)
    logs = rng.normal(0, 0.05, (6, 4, 3)) + rng.normal(0, 0.02, (6, 1, 3))
    suite = fed(np.exp(logs))
    u = logs.var(axis=0, ddof=1) / 6
    for v in (0, 2):
        both = np.concatenate([u[:, v], u[:, 1]])
        df = both.sum() ** 2 / (both**2 / 5).sum()
        runs = stats.t.ppf(0.975, df) * math.sqrt(both.sum()) / 4
        rounds = by_rounds(logs, [v, 1])
        assert suite.half_widths([v, 1]) == pytest.approx((runs, rounds), rel=1e-9)
        assert suite.widths(1)[v] == pytest.approx(2 * math.sinh(max(runs, rounds)), rel=1e-9)


def test_what_moves_a_whole_round_cancels_between_variants_and_not_within_one():
    common = np.random.default_rng(8).normal(0, 0.1, (9, 1, 1))
    pair = fed(np.exp(np.broadcast_to(common, (9, 5, 2))))
    runs, rounds = pair.half_widths([1, 0])
    assert runs > 0.02
    assert rounds < 1e-15
    alone = fed(np.exp(np.broadcast_to(common, (9, 5, 1))))
    runs, rounds = alone.half_widths([0])
    assert rounds == pytest.approx(by_rounds(common, [0]), rel=1e-10)
    assert rounds > 2 * runs
    assert alone.widths(0)[0] == pytest.approx(2 * math.sinh(rounds), rel=1e-12)


def test_rounds_with_missing_runs_by_direct_sums():
    logs = np.random.default_rng(9).normal(0, 0.05, (7, 3, 2))
    logs[[0, 4, 6], [1, 2, 2], [0, 1, 1]] = -np.inf  # exp gives 0: a run that does not count
    logs[2] = -np.inf  # a whole round
    total = 0.0
    for block in range(7):
        part = 0.0
        for b in range(3):
            for v, sign in ((1, 1), (0, -1)):
                cell = logs[:, b, v]
                kept = cell[np.isfinite(cell)]
                if np.isfinite(cell[block]):
                    part += sign * (cell[block] - kept.mean()) / kept.size / 3
        total += part**2
    want = stats.t.ppf(0.975, 4 - 1) * math.sqrt(6 / 5 * total)
    assert fed(np.exp(logs)).half_widths([1, 0])[1] == pytest.approx(want, rel=1e-10)


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_the_unit_does_not_matter(scale):
    values = np.exp(np.random.default_rng(4).normal(0, 0.01, (5, 3, 2)))
    assert fed(values * scale).widths(0)[1] == pytest.approx(fed(values).widths(0)[1], rel=1e-6)


def test_a_cell_with_one_run_has_no_width():
    suite = RunningSuite(1, 2)
    for block, value in enumerate((1.0, 1.1, 1.2), start=1):
        suite.add(block, 0, 0, value)
    suite.add(1, 0, 1, 1.0)
    assert np.isnan(suite.widths(0)).all()
    assert suite.counts.tolist() == [[3, 1]]


@pytest.mark.parametrize("value", [0.2, 0.3, 0.9, 7.0])
@pytest.mark.parametrize("runs", [7, 10])
def test_no_spread_of_values_that_logarithms_round_is_no_width(value, runs):
    assert fed(np.full((runs, 3, 2), value)).half_widths([1, 0]) == (0.0, 0.0)
    assert fed(np.full((runs, 3, 1), value)).half_widths([0]) == (0.0, 0.0)


def test_ragged_counts():
    rng = np.random.default_rng(5)
    values = rng.lognormal(0, 0.1, (9, 1, 2))
    values[4:, 0, 1] = 0
    a, b = values[:, 0, 0], values[:4, 0, 1]
    interval = stats.ttest_ind(np.log(b), np.log(a), equal_var=False).confidence_interval(0.95)
    half = (interval.high - interval.low) / 2
    assert fed(values).half_widths([1, 0])[0] == pytest.approx(half, rel=1e-10)


def test_a_session_may_have_many_rounds():
    values = np.random.default_rng(7).lognormal(0, 0.1, (70, 2, 2))
    suite = fed(values)
    assert suite.counts.tolist() == [[70, 70], [70, 70]]
    assert suite.half_widths([1, 0])[1] == pytest.approx(by_rounds(np.log(values), [1, 0]))


def test_the_limit_itself_is_narrow_enough():
    values = np.exp(np.random.default_rng(6).normal(0, 0.05, (5, 2, 2)))
    suite = fed(values)
    width = float(suite.widths(0)[1])

    def at(limit, blocks=5):
        return decide(
            StopRule(width=limit, min_runs=3, max_runs=9),
            suite,
            session=2,
            blocks=blocks,
            elapsed_s=0.0,
            baseline=0,
            benchmarks=("x", "y"),
            variants=("a", "b"),
        )

    assert at(width).why == "width"
    assert at(math.nextafter(width, 0)) is None
    assert at(math.nextafter(width, 0), blocks=9).why == "max_runs"
