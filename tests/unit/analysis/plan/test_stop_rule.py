"""The stopping rule's arithmetic, against Welch's test and direct sums."""

import math

import numpy as np
import pytest
from scipy import stats

from analysis.plan.stop_rule import RunningSuite, decide
from analysis.record.trial_files import StopRule


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
