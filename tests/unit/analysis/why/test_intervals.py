"""t over sessions and Holm's correction.

Authority: scipy's t (`ttest_rel`, `t.interval`), Holm (1979) written out anew below, and for the variance of counts
exact enumeration over where a piece of a run begins (docs/why.md, "Counting").
"""

import math

import numpy as np
import pytest
from scipy import stats

from analysis.diagnose.explain import corrected, counting_variance, holm, row_of
from analysis.diagnose.session_profiles import Side
from analysis.diagnose.why_result import Row


def times(rng: np.random.Generator, n: int) -> np.ndarray:
    return 30 + rng.standard_normal(n)


@pytest.mark.parametrize("n", [2, 4, 6, 30])
@pytest.mark.parametrize("confidence", [0.9, 0.95, 0.99])
def test_a_row_is_scipys_paired_t(n, confidence):
    rng = np.random.default_rng(n)
    base, slow = times(rng, n), times(rng, n) + 0.5
    row = row_of(base, slow, confidence, function="f")
    told = stats.ttest_rel(slow, base)
    ends = told.confidence_interval(confidence)
    assert row.pvalue == pytest.approx(told.pvalue, rel=1e-12)
    assert (row.low_ms, row.high_ms) == pytest.approx((ends.low, ends.high), rel=1e-12)
    assert row.difference_ms == pytest.approx((slow - base).mean(), rel=1e-12)


def test_without_spread_a_difference_has_no_p():
    # binary fractions, so that nothing is rounded
    row = row_of(np.array([1.0, 2.0, 3.0]), np.array([1.5, 2.5, 3.5]), 0.95, function="f")
    assert row.pvalue is None
    same = row_of(np.zeros(4), np.zeros(4), 0.95, function="f")
    assert same.pvalue == 1.0


def test_the_error_is_never_below_that_of_counting():
    base, slow = np.array([1.0, 2.0, 3.0, 4.0]), np.array([1.5, 2.5, 3.5, 4.5])
    least = 0.25
    row = row_of(base, slow, 0.95, least, function="f")
    error = math.sqrt(least / 4)
    reach = stats.t.ppf(0.975, 3) * error
    assert (row.low_ms, row.high_ms) == pytest.approx((0.5 - reach, 0.5 + reach), rel=1e-12)
    assert row.pvalue == pytest.approx(2 * stats.t.sf(0.5 / error, 3), rel=1e-12)
    # where sessions vary more, it changes nothing
    rng = np.random.default_rng(1)
    wide = times(rng, 6), times(rng, 6)
    assert row_of(*wide, 0.95, 1e-3, function="f") == row_of(*wide, 0.95, function="f")


def side(samples: int, milliseconds: float, runs: int = 3) -> Side:
    four = np.ones(4)
    return Side(
        counts=np.full((4, 1), samples),
        samples=np.full(4, samples),
        runs=np.full(4, runs),
        sampled=milliseconds * four,
        unseen=0 * four,
        wall=0 * four,
        waiting=0 * four,
    )


def test_the_least_variance_is_that_of_pieces_of_any_length():
    # a piece of length `lam` samples, whose begin lies anywhere between two of them
    begins = (np.arange(2000) + 0.5) / 2000
    lengths = (np.arange(200) + 0.5) / 200 + 3
    counts = np.floor(begins[:, None] + lengths) - np.floor(begins[:, None])
    variance = counts.var(axis=0).mean()
    assert variance == pytest.approx(1 / 6, abs=1e-4)
    found = counting_variance(side(100, 30.0), side(120, 36.0, runs=6))
    assert found == pytest.approx(variance * (3 * 0.3**2 + 6 * 0.3**2), rel=1e-3)


def test_what_is_unknown_counts_in_the_family():
    assert holm([0.01, None, 0.02]) == [pytest.approx(0.03), None, pytest.approx(0.04)]


def plain(p: float | None, difference: float = 1.0, function: str = "f") -> Row:
    return Row(
        function=function,
        baseline_ms=1.0,
        candidate_ms=1.0 + difference,
        difference_ms=difference,
        low_ms=None,
        high_ms=None,
        pvalue=p,
    )


def test_only_what_holds_after_the_correction_is_named():
    told = corrected([plain(0.01), plain(0.03), plain(None)], 0.05, names=True)
    assert [row.named for row in told] == [True, False, False]
    assert [row.pvalue_adjusted for row in told] == [pytest.approx(0.03), pytest.approx(0.06), None]
    assert not any(row.named for row in corrected([plain(1e-9)], 0.05, names=False))
