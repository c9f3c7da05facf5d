"""The least shift that a t test tells with a power.

Authorities: the examples of R's page of ``power.t.test`` (20 a group, a difference of one sd: power
0.8689528; power 0.9 needs 22.02110 a group); an integral of another form, over the normal instead of
chi, by adaptive quadrature; simulation.
"""

import math
import runpy
from pathlib import Path

import numpy as np
import pytest
from scipy.special import stdtrit

from analysis.errors import UsageError
from analysis.stats.classical import least_shift

t_power = runpy.run_path(str(Path(__file__).parents[3] / "power.py"))["t_power"]


def test_the_published_examples_of_r():
    # R counts the near tail only, unless it is told strict = TRUE; the far one holds less than 1e-6
    assert least_shift(0.8689528, 38, 0.05) == pytest.approx(math.sqrt(10), abs=2e-6)
    n = 22.02110
    assert least_shift(0.90, 2 * n - 2, 0.05) == pytest.approx(math.sqrt(n / 2), abs=2e-6)


@pytest.mark.parametrize("freedom", [1, 5, 300])
@pytest.mark.parametrize("alpha", [0.2, 0.001])
@pytest.mark.parametrize("power", [0.3, 0.99])
def test_another_integral_gives_that_power(freedom, alpha, power):
    shift = float(least_shift(power, freedom, alpha))
    assert t_power(shift, freedom, alpha) == pytest.approx(power, abs=1e-9)


def test_it_rises_with_the_power_and_falls_with_the_freedom():
    powers = [0.06, 0.2, 0.5, 0.8, 0.95, 0.999999]
    grid = np.array([least_shift(power, [1, 2, 4, 29, 1000, 1e6], 0.05) for power in powers])
    assert np.isfinite(grid).all()
    assert (np.diff(grid, axis=0) > 0).all()
    assert (np.diff(grid[1:], axis=1) < 0).all()


def test_simulated_tests_reject_as_often():
    rng = np.random.default_rng(12)
    trials, sessions, power = 40_000, 4, 0.8
    shift = float(least_shift(power, sessions - 1, 0.05))
    values = rng.normal(shift / math.sqrt(sessions), 1.0, (trials, sessions))
    t = values.mean(axis=1) / values.std(axis=1, ddof=1) * math.sqrt(sessions)
    rate = float((np.abs(t) > stdtrit(sessions - 1, 0.975)).mean())
    assert abs(rate - power) < 4 * math.sqrt(power * (1 - power) / trials)
    # negative control: as if the spread were known
    assert float(least_shift(power, 10_000, 0.05)) < 0.8 * shift


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: least_shift(0.8, 0.5, 0.05),
        lambda: least_shift(0.8, math.nan, 0.05),
        lambda: least_shift(0.8, 5, 1.0),
        lambda: least_shift(0.01, 5, 0.05),
        lambda: least_shift(1.0, 5, 0.05),
    ],
)
def test_what_is_out_of_range_is_refused(wrong):
    with pytest.raises(UsageError):
        wrong()
