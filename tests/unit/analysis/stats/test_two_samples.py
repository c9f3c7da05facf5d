"""The two-sample tests against full enumeration, closed forms and scipy where it agrees with R."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from analysis.errors import AnalysisError, InsufficientDataError, UsageError
from analysis.stats.classical import f_test, ks_centred, rank_sum, shapiro_wilk, student, welch


def distance(x: np.ndarray, y: np.ndarray) -> float:
    at = np.concatenate([x, y])
    below = [(side[:, None] <= at + 1e-9).mean(axis=0) for side in (x, y)]
    return float(np.abs(below[0] - below[1]).max())


def by_enumeration(x: np.ndarray, y: np.ndarray) -> float:
    """Give the share of all splits of the centred values that are as far apart."""
    a, b = x - np.median(x), y - np.median(y)
    both = np.concatenate([a, b])
    reached = distance(a, b) - 1e-9
    hits = splits = 0
    for chosen in itertools.combinations(range(both.size), a.size):
        mask = np.zeros(both.size, dtype=bool)
        mask[list(chosen)] = True
        splits += 1
        hits += distance(both[mask], both[~mask]) >= reached
    return hits / splits


@pytest.mark.parametrize(("n", "m"), [(1, 1), (2, 5), (3, 3), (4, 5), (5, 5), (3, 8), (7, 2)])
def test_ks_is_exact_given_the_ties(n: int, m: int) -> None:
    rng = np.random.default_rng(10 * n + m)
    for x, y in (
        (rng.normal(size=n), 3 * rng.normal(size=m)),
        (rng.integers(0, 4, n) * 1.0, rng.integers(0, 4, m) * 3.0),
        (np.full(n, 2.0), rng.integers(0, 3, m) * 1.0),
    ):
        done = ks_centred(x, y)
        assert done.exact.all()
        assert done.statistic[0] == pytest.approx(
            distance(x - np.median(x), y - np.median(y)), abs=1e-12
        )
        assert done.pvalue[0] == pytest.approx(by_enumeration(x, y), rel=1e-12)


def test_ks_takes_no_notice_of_centring_noise() -> None:
    # An exact shift as printed: without rounding the two differ by D = 0.2.
    x = np.array([2.799, 2.046, 1.259, 1.877, 2.244])
    y = np.array([1.046, 0.259, 0.877, 1.244, 1.799])
    a, b = x - np.median(x), y - np.median(y)
    assert stats.ks_2samp(a, b, method="asymp").statistic == pytest.approx(0.2)
    done = ks_centred(x, y)
    assert (done.statistic[0], done.pvalue[0]) == (0.0, 1.0)


def test_ks_ties_at_a_limit_of_rounding() -> None:
    # The largest deviation is 2.048, so that odd thousandths lie half-way between two units.
    x = np.array([1.0, 1.001, 1.003, 1.004, 1.005, 3.052, 1.004])
    for shift in (0.3, 0.7, 1.1, 9.9):
        done = ks_centred(x + shift, x)
        assert (done.statistic[0], done.pvalue[0]) == (0.0, 1.0)


def test_ks_laws_meet_scipy_where_there_are_no_ties() -> None:
    rng = np.random.default_rng(3)
    for n, m in ((10, 14), (40, 60), (98, 100)):  # medians of even samples leave no tie
        x, y = rng.normal(size=n), rng.normal(0, 1.6, m)
        done = ks_centred(x, y)
        other = stats.ks_2samp(x - np.median(x), y - np.median(y), method="exact")
        assert done.statistic[0] == pytest.approx(other.statistic, rel=1e-12)
        assert done.pvalue[0] == pytest.approx(other.pvalue, rel=1e-9)
    x, y = rng.normal(size=300), rng.normal(0, 1.3, 200)
    done = ks_centred(x, y)
    assert not done.exact.any()
    root = math.sqrt(300 * 200 / 500)
    # R's series is cut; the full one is scipy's Kolmogorov law
    assert done.pvalue[0] == pytest.approx(stats.kstwobign.sf(root * done.statistic[0]), abs=5e-5)


def test_the_exact_law_ends_at_ten_thousand() -> None:
    rng = np.random.default_rng(8)
    assert ks_centred(rng.normal(size=99), rng.normal(size=101)).exact[0]
    assert not ks_centred(rng.normal(size=100), rng.normal(size=100)).exact[0]


@pytest.mark.parametrize(("size", "decimals"), [(1.0, 4), (100.0, 4), (100.0, 6), (1000.0, 6)])
def test_a_shift_of_long_steady_times_has_one_shape(size: float, decimals: int) -> None:
    # With a spread of 1e-5 the noise of 100 s in binary is larger than 1e-10 of the largest deviation.
    rng = np.random.default_rng(30)
    for _ in range(50):
        x = (size * (1 + 1e-5 * rng.random(15))).round(decimals)
        done = ks_centred((x + 0.3).round(decimals), x)
        assert (done.statistic[0], done.pvalue[0]) == (0.0, 1.0)


def test_what_times_of_their_size_can_resolve_is_a_difference() -> None:
    one, other = np.array([[-200, -100, 0, 100, 200], [-200, -150, 0, 150, 200]]) * 1e-12
    done = ks_centred(100 + one, 100 + other)
    assert done.statistic[0] == 0.2


@pytest.mark.parametrize(("n", "m"), [(1, 1), (3, 4), (8, 5), (49, 49)])
def test_rank_sum_without_ties_is_exact(n: int, m: int) -> None:
    rng = np.random.default_rng(n)
    x, y = rng.normal(0.3, 1, n), rng.normal(size=m)
    done = rank_sum(x, y)
    other = stats.mannwhitneyu(x, y, alternative="greater", method="exact")
    assert done.exact[0]
    assert done.statistic[0] == other.statistic
    assert done.pvalue[0] == pytest.approx(other.pvalue, rel=1e-11)


@pytest.mark.parametrize(("n", "m", "ties"), [(50, 10, False), (8, 9, True), (60, 70, True)])
def test_rank_sum_otherwise_is_normal(n: int, m: int, ties: bool) -> None:
    rng = np.random.default_rng(n)
    x, y = rng.normal(0.3, 1, n), rng.normal(size=m)
    if ties:
        x, y = x.round(1), y.round(1)
        x[0] = y[0]
    done = rank_sum(x, y)
    other = stats.mannwhitneyu(x, y, alternative="greater", method="asymptotic")
    assert not done.exact[0]
    assert done.pvalue[0] == pytest.approx(other.pvalue, rel=1e-11)


def test_rank_sum_of_equal_values() -> None:
    done = rank_sum([2.0] * 5, [2.0] * 7)
    assert (done.statistic[0], done.pvalue[0]) == (17.5, 1.0)


def test_means_and_variances_agree_with_scipy() -> None:
    rng = np.random.default_rng(12)
    x, y = rng.normal(10.5, 2, (40, 9)), rng.normal(10, 1, (40, 14))
    for ours, pooled in ((student, True), (welch, False)):
        done = ours(x, y)
        other = stats.ttest_ind(x, y, axis=1, equal_var=pooled, alternative="greater")
        assert done.statistic == pytest.approx(other.statistic, rel=1e-12)
        assert done.pvalue == pytest.approx(other.pvalue, rel=1e-10)
        assert done.df == pytest.approx(other.df, rel=1e-12)
    done = f_test(x, y)
    ratio = x.var(axis=1, ddof=1) / y.var(axis=1, ddof=1)
    tails = np.minimum(stats.f.cdf(ratio, 8, 13), stats.f.sf(ratio, 8, 13))
    assert done.statistic == pytest.approx(ratio, rel=1e-12)
    assert done.pvalue == pytest.approx(2 * tails, rel=1e-12)


def test_what_has_no_spread_has_no_test() -> None:
    flat, noisy = [2.0, 2.0, 2.0], [1.0, 2.0, 4.0]
    for x, y in ((flat, noisy), (noisy, flat), (flat, flat)):
        assert np.isnan(f_test(x, y).pvalue[0])
    for test in (student, welch):
        assert np.isnan(test(flat, [1.0, 1.0, 1.0]).pvalue[0])
        assert test(flat, noisy).pvalue[0] > 0.5
        # R calls it constant below 10 units of rounding of the mean
        tight = [1.0, 1.0 + 2e-16, 1.0]
        assert np.isnan(test(tight, tight).pvalue[0])


@pytest.mark.parametrize("scale", [1e-300, 1e-9, 1e9, 1e300])
def test_the_unit_does_not_matter(scale: float) -> None:
    rng = np.random.default_rng(2)
    x, y = rng.lognormal(0.1, 0.2, 20), rng.lognormal(0, 0.1, 35)
    for test in (f_test, student, welch, ks_centred, rank_sum):
        assert test(x * scale, y * scale).pvalue == pytest.approx(test(x, y).pvalue, rel=1e-9)


def test_rows_do_not_depend_on_their_neighbours() -> None:
    rng = np.random.default_rng(6)
    x, y = rng.normal(5, 1, (50, 11)).round(1), rng.normal(5, 2, (50, 8)).round(1)
    for test in (f_test, student, welch, ks_centred, rank_sum):
        alone = [test(a, b).pvalue[0] for a, b in zip(x, y, strict=True)]
        assert test(x, y).pvalue.tolist() == alone
    alone = [shapiro_wilk(row[None])[1][0] for row in x]
    assert shapiro_wilk(x)[1].tolist() == alone


def test_wrong_input_is_refused() -> None:
    with pytest.raises(InsufficientDataError) as error:
        student([1.0], [1.0, 2.0])
    assert (error.value.n, error.value.needed) == (1, 2)
    with pytest.raises(UsageError, match="shapes"):
        rank_sum(np.ones((2, 3)), np.ones((3, 3)))
    with pytest.raises(AnalysisError, match="finite"):
        ks_centred([1.0, np.nan], [1.0, 2.0])


@pytest.mark.parametrize("n", [3, 4, 5, 6, 7, 11, 12, 13, 30, 100, 1999, 5000])
def test_shapiro_agrees_with_scipy(n: int) -> None:
    rng = np.random.default_rng(n)
    rows = np.stack([rng.normal(size=n), rng.lognormal(0, 0.2, n), rng.random(n)])
    w, p = shapiro_wilk(rows)
    other = [stats.shapiro(row) for row in rows]
    assert w == pytest.approx([done.statistic for done in other], rel=1e-7)
    assert p == pytest.approx([done.pvalue for done in other], rel=1e-4, abs=1e-9)


def test_shapiro_at_its_ends() -> None:
    w, p = shapiro_wilk(np.array([[1.0, 1.0, 2.0], [1.0, 2.0, 3.0], [4.0, 4.0, 4.0]]))
    assert w[:2] == pytest.approx([0.75, 1.0], abs=1e-12)
    assert p[:2] == pytest.approx([0.0, 1.0], abs=1e-7)
    assert np.isnan(w[2])
    assert np.isnan(p[2])
    # W so far beyond its law that Royston gives a fixed p
    assert shapiro_wilk(np.array([[0.0] * 10 + [1.0]]))[1][0] < 1e-6
    for n in (2, 5001):
        with pytest.raises(UsageError, match="3 to 5000"):
            shapiro_wilk(np.arange(n, dtype=float)[None])
