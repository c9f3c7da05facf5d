"""Density estimates, by scipy's and by Silverman's rule."""

import numpy as np
import pytest
from scipy.stats import gaussian_kde, iqr

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
