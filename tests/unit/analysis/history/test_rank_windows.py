"""Windows of ranks. Authority: scipy's mannwhitneyu, and enumeration of all orders."""

import itertools
import math

import numpy as np
import pytest
from scipy.stats import mannwhitneyu

from analysis.history import changes
from analysis.history.changes import GRID, pvalues, tails, windows_of

RNG = np.random.default_rng(20261127)


def total(x: np.ndarray, y: np.ndarray) -> int:
    """Count the pairs in which y is larger, less those in which x is."""
    return int(np.sign(y[None, :] - x[:, None]).sum())


@pytest.mark.parametrize(("a", "b"), [(2, 2), (2, 16), (3, 5), (8, 8), (13, 10), (16, 16)])
def test_p_is_that_of_scipy_where_it_is_exact(a: int, b: int) -> None:
    for _ in range(20):
        x, y = RNG.normal(size=a), RNG.normal(0.5, 1, b)
        p = float(pvalues(np.array([total(x, y)]), a, b)[0])
        assert p == pytest.approx(mannwhitneyu(y, x, method="exact").pvalue, rel=1e-12)


@pytest.mark.parametrize(("a", "b"), [(20, 20), (5, 32), (40, 128)])
def test_p_is_that_of_scipy_where_it_is_normal(a: int, b: int) -> None:
    x, y = RNG.normal(size=a), RNG.normal(0.5, 1, b)
    p = float(pvalues(np.array([total(x, y)]), a, b)[0])
    expected = mannwhitneyu(y, x, method="asymptotic", use_continuity=True).pvalue
    assert p == pytest.approx(expected, rel=1e-9)


def test_all_orders_of_five_and_three_values() -> None:
    found = []
    for places in itertools.combinations(range(8), 3):
        y = np.array(places, dtype=float)
        x = np.array([k for k in range(8) if k not in places], dtype=float)
        found.append(int((y[None, :] > x[:, None]).sum()))
    for u, p in enumerate(tails(5, 3)):
        far = sum(abs(one - 7.5) >= abs(u - 7.5) for one in found)
        assert p == pytest.approx(far / math.comb(8, 3), abs=1e-15)


def test_a_tie_takes_the_larger_p_of_the_two_neighbours() -> None:
    x, y = np.array([1.0, 2.0, 3.0]), np.array([3.0, 4.0, 5.0])  # U is 8.5 of 9
    p = float(pvalues(np.array([total(x, y)]), 3, 3)[0])
    assert p == max(tails(3, 3)[8], tails(3, 3)[9]) == tails(3, 3)[8]
    assert float(pvalues(np.array([0]), 3, 3)[0]) == 1.0


def test_each_window_is_that_of_its_two_sides() -> None:
    x = RNG.normal(size=23)
    windows = windows_of(x)
    pairs = {(a, b) for a in GRID for b in GRID if a + b <= x.size}
    assert windows.place.size == sum(x.size - a - b + 1 for a, b in pairs)
    for k, a, b, p in zip(
        windows.place, windows.before, windows.behind, windows.pvalue, strict=True
    ):
        s = np.array([total(x[k - a : k], x[k : k + b])])
        assert p == pvalues(s, int(a), int(b))[0]
    # kept are those that some level may name
    kept, limit = changes.looked_at(x, corrected=False), changes.law_of(x.size).threshold(0.2)
    assert kept.windows.pvalue.tolist() == [p for p in windows.pvalue if p <= limit]


def test_an_inflation_divides_the_normal_quantile() -> None:
    from scipy.stats import norm

    x = RNG.normal(size=20)
    plain, inflated = windows_of(x).pvalue, windows_of(x, 1.5).pvalue
    assert inflated == pytest.approx(2 * norm.cdf(norm.ppf(plain / 2) / 1.5), rel=1e-9)
    assert (inflated[plain < 1] > plain[plain < 1]).all()


def test_too_few_values_have_no_window() -> None:
    assert windows_of(np.array([1.0, 2.0, 3.0])).pvalue.size == 0
    assert windows_of(np.array([])).pvalue.size == 0
