"""Places of a normal Q-Q plot: the formulas of Blom and of R's ``ppoints``, by other quantiles."""

from statistics import NormalDist

import pytest
from scipy.stats import norm

from analysis.stats.classical import normal_positions


def test_few_values_have_bloms_places() -> None:
    # (k - 3/8) / (n + 1/4), by the standard library's quantiles of a normal law
    expected = [NormalDist().inv_cdf((k - 0.375) / 5.25) for k in range(1, 6)]
    assert normal_positions(5) == pytest.approx(expected, abs=1e-12)


def test_more_values_have_the_middles_of_equal_shares() -> None:
    assert normal_positions(11) == pytest.approx(norm.ppf([(k - 0.5) / 11 for k in range(1, 12)]))


def test_one_value_stands_in_the_middle() -> None:
    assert normal_positions(1).tolist() == [0.0]
    assert normal_positions(0).size == 0
