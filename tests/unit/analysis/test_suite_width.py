"""The stopping rule's arithmetic, against Welch's test and direct sums."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from analysis.record import StopRule
from analysis.stopping import RunningSuite, decide, log_half_width, relative_width, width_text


def fed(values):
    """Feed an array of (runs, benchmarks, variants) run by run."""
    suite = RunningSuite(values.shape[1], values.shape[2])
    for block in values:
        for b, row in enumerate(block):
            for v, value in enumerate(row):
                suite.add(b, v, float(value))
    return suite


def test_one_benchmark_is_welchs_interval():
    rng = np.random.default_rng(1)
    values = np.exp(rng.normal(0, [[0.1, 0.3]], (8, 1, 2)))
    interval = stats.ttest_ind(
        np.log(values[:, 0, 1]), np.log(values[:, 0, 0]), equal_var=False
    ).confidence_interval(0.95)
    half = (interval.high - interval.low) / 2
    found = fed(values).widths(0)
    assert math.isnan(found[0])
    assert found[1] == pytest.approx(2 * math.sinh(half), rel=1e-10)


def test_one_variant_and_benchmark_is_students_interval():
    values = np.exp(np.random.default_rng(2).normal(0, 0.1, (7, 1, 1)))
    interval = stats.ttest_1samp(np.log(values[:, 0, 0]), 0).confidence_interval(0.95)
    half = (interval.high - interval.low) / 2
    assert fed(values).widths(0)[0] == pytest.approx(2 * math.sinh(half), rel=1e-10)


def test_many_benchmarks_by_the_formula():
    rng = np.random.default_rng(3)
    values = np.exp(rng.normal(0, 0.05, (6, 4, 3)))
    logs = np.log(values)
    u = logs.var(axis=0, ddof=1) / 6
    for v in (0, 2):
        both = np.concatenate([u[:, v], u[:, 1]])
        df = both.sum() ** 2 / (both**2 / 5).sum()
        half = stats.t.ppf(0.975, df) * math.sqrt(both.sum()) / 4
        assert fed(values).widths(1)[v] == pytest.approx(2 * math.sinh(half), rel=1e-9)


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_the_unit_does_not_matter(scale):
    values = np.exp(np.random.default_rng(4).normal(0, 0.01, (5, 3, 2)))
    assert fed(values * scale).widths(0)[1] == pytest.approx(fed(values).widths(0)[1], rel=1e-6)


def test_a_cell_with_one_run_has_no_width():
    suite = RunningSuite(1, 2)
    for value in (1.0, 1.1, 1.2):
        suite.add(0, 0, value)
    suite.add(0, 1, 1.0)
    assert np.isnan(suite.widths(0)).all()
    assert suite.counts.tolist() == [[3, 1]]


def test_no_spread_is_no_width_and_extreme_spreads_do_not_overflow():
    assert log_half_width(np.zeros((2, 4)), np.full(4, 5), 2, 0.95).tolist() == [0.0, 0.0]
    tiny = log_half_width(np.array([1e-200, 0.0]), np.array([5, 5]), 1, 0.95)
    assert 0 < tiny < 1e-99
    huge = log_half_width(np.array([1e200, 1e-200]), np.array([5, 5]), 1, 0.95)
    assert np.isfinite(huge)


def test_ragged_counts():
    suite = RunningSuite(1, 2)
    rng = np.random.default_rng(5)
    a, b = rng.lognormal(0, 0.1, 9), rng.lognormal(0, 0.1, 4)
    for v, row in enumerate((a, b)):
        for value in row:
            suite.add(0, v, float(value))
    interval = stats.ttest_ind(np.log(b), np.log(a), equal_var=False).confidence_interval(0.95)
    want = relative_width((interval.high - interval.low) / 2)
    assert suite.widths(0)[1] == pytest.approx(want, rel=1e-10)


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
