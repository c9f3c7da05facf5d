"""The t interval of a suite's speedup, and the published loop."""

import math

import numpy as np
import pytest
from scipy import stats

from analysis.data.matrix import PerformanceMatrix
from analysis.errors import AnalysisError, InsufficientDataError, UsageError
from analysis.plan.runs import plan_runs, t_interval, width_loop
from analysis.plan.stop_rule import exponential, log_half_width, width_text
from analysis.stats.arguments import stream

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
