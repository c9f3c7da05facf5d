"""Places of a normal Q-Q plot: R's ``qqnorm``."""

from __future__ import annotations

import pytest
from scipy.stats import norm

from analysis.stats import normal_positions


def test_few_values_have_bloms_places() -> None:
    # R 4.2: qnorm(ppoints(5))
    expected = [-1.1797611176, -0.4972005998, 0.0, 0.4972005998, 1.1797611176]
    assert normal_positions(5) == pytest.approx(expected, abs=1e-9)


def test_more_values_have_the_middles_of_equal_shares() -> None:
    assert normal_positions(11) == pytest.approx(norm.ppf([(k - 0.5) / 11 for k in range(1, 12)]))


def test_one_value_stands_in_the_middle() -> None:
    assert normal_positions(1).tolist() == [0.0]
    assert normal_positions(0).size == 0
