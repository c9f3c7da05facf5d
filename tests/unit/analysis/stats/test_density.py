"""Density estimates, by scipy's and by Silverman's rule."""

from statistics import NormalDist

import numpy as np
import pytest
from scipy.stats import gaussian_kde, iqr, norm

from analysis.stats.classical import normal_positions
from analysis.stats.samples import bandwidth_of, kernel_density


def test_the_density_is_scipys_at_the_same_bandwidth() -> None:
    x = np.random.default_rng(1).normal(size=50)
    at = np.linspace(-4, 4, 33)
    width = bandwidth_of(x)
    scipys = gaussian_kde(x, bw_method=width / x.std(ddof=1))
    assert kernel_density(x, at, width) == pytest.approx(scipys(at))


def test_the_density_integrates_to_one() -> None:
    x = np.random.default_rng(2).lognormal(size=40)
    at = np.linspace(-20, 60, 20_001)
    assert np.trapezoid(kernel_density(x, at, bandwidth_of(x)), at) == pytest.approx(1)


def test_the_bandwidth_is_silvermans_rule() -> None:
    x = np.random.default_rng(3).normal(size=200)
    narrow = min(x.std(ddof=1), iqr(x) / 1.34)
    assert bandwidth_of(x) == pytest.approx(0.9 * narrow * 200**-0.2)
    # two far states: the quartiles lie in both, so the standard deviation is the smaller one
    two = np.concatenate([x, x + 50])
    assert bandwidth_of(two) == pytest.approx(0.9 * two.std(ddof=1) * 400**-0.2)


def test_the_bandwidth_of_values_without_quartiles() -> None:
    mostly = np.array([1.0] * 8 + [2.0])
    assert bandwidth_of(mostly) == pytest.approx(0.9 * mostly.std(ddof=1) * 9**-0.2)
    assert bandwidth_of(np.ones(9)) == 0
    assert bandwidth_of(np.ones(1)) == 0


def test_places_far_away_have_no_density_and_no_warning() -> None:
    assert kernel_density(np.zeros(3), np.array([1e200]), 1e-3).tolist() == [0.0]


# --- Places of a normal Q-Q plot: the formulas of Blom and of R's ``ppoints``, by other quantiles.


def test_few_values_have_bloms_places() -> None:
    # (k - 3/8) / (n + 1/4), by the standard library's quantiles of a normal law
    expected = [NormalDist().inv_cdf((k - 0.375) / 5.25) for k in range(1, 6)]
    assert normal_positions(5) == pytest.approx(expected, abs=1e-12)


def test_more_values_have_the_middles_of_equal_shares() -> None:
    assert normal_positions(11) == pytest.approx(norm.ppf([(k - 0.5) / 11 for k in range(1, 12)]))


def test_one_value_stands_in_the_middle() -> None:
    assert normal_positions(1).tolist() == [0.0]
    assert normal_positions(0).size == 0
