"""Power of the t test.

Authorities: the examples of R's page of ``power.t.test`` (20 a group, a difference of one sd: power
0.8689528; power 0.9 needs 22.02110 a group, 17.84713 one-sided); an integral of another form, over the
normal instead of chi, by adaptive quadrature; simulation; at shift 0 the power is alpha.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import chdtr, stdtrit

from analysis.errors import UsageError
from analysis.stats import least_shift, t_power


def by_the_normal(shift: float, freedom: float, alpha: float) -> float:
    """Integrate over Z instead: P(T > c) is the mean over Z of P(chi < (Z + shift) / c)."""
    critical = float(stdtrit(freedom, 1 - alpha / 2))

    def tail(delta: float) -> float:
        def inside(z: float) -> float:
            chi = freedom * ((z + delta) / critical) ** 2
            return math.exp(-z * z / 2) / math.sqrt(2 * math.pi) * float(chdtr(freedom, chi))

        start = max(-delta, -12.0)
        return quad(inside, start, 12.0, epsabs=1e-13, limit=400)[0] if start < 12 else 0.0

    return tail(shift) + tail(-shift)


def test_the_published_examples_of_r():
    # R counts the near tail only, unless it is told strict = TRUE
    near = float(t_power(math.sqrt(10), 38, 0.025, sides=1))
    assert near == pytest.approx(0.8689528, abs=6e-8)
    assert near < t_power(math.sqrt(10), 38, 0.05) < near + 1e-6
    n = 22.02110
    assert t_power(math.sqrt(n / 2), 2 * n - 2, 0.05) == pytest.approx(0.90, abs=1e-6)
    n = 17.84713
    assert t_power(math.sqrt(n / 2), 2 * n - 2, 0.05, sides=1) == pytest.approx(0.90, abs=1e-6)


@pytest.mark.parametrize("freedom", [1, 2, 3, 5, 10, 29, 60, 300])
@pytest.mark.parametrize("alpha", [0.2, 0.05, 0.001])
def test_another_integral_agrees(freedom, alpha):
    shifts = np.array([0.0, 0.1, 1.0, 2.5, 5.0, 9.0, 15.0, 30.0])
    found = t_power(shifts, freedom, alpha)
    assert found == pytest.approx([by_the_normal(d, freedom, alpha) for d in shifts], abs=1e-9)
    assert np.isfinite(found).all()


def test_without_a_shift_the_power_is_the_risk():
    freedom = np.arange(1, 200)
    for alpha in (0.5, 0.05, 0.025, 1e-4):
        assert t_power(0.0, freedom, alpha) == pytest.approx(np.full(199, alpha), rel=1e-8)


def test_it_rises_with_shift_and_freedom_and_stays_a_chance():
    grid = t_power(np.linspace(0, 60, 241)[:, None], np.array([1, 2, 4, 29, 1000])[None], 0.05)
    assert (np.diff(grid, axis=0) >= -1e-12).all()
    assert (np.diff(grid, axis=1) >= -1e-12).all()
    assert grid.min() >= 0
    assert grid.max() <= 1
    assert t_power(1e9, 3, 0.05) == pytest.approx(1)


def test_simulated_tests_reject_as_often():
    rng = np.random.default_rng(12)
    trials, sessions, shift = 40_000, 4, 3.0
    values = rng.normal(shift / math.sqrt(sessions), 1.0, (trials, sessions))
    t = values.mean(axis=1) / values.std(axis=1, ddof=1) * math.sqrt(sessions)
    rate = float((np.abs(t) > stdtrit(sessions - 1, 0.975)).mean())
    right, normal = float(t_power(shift, 3, 0.05)), float(t_power(shift, 10_000, 0.05))
    assert abs(rate - right) < 4 * math.sqrt(right * (1 - right) / trials)
    assert abs(rate - normal) > 0.1  # negative control: as if the spread were known


@pytest.mark.parametrize("sides", [1, 2])
def test_the_least_shift_has_that_power(sides):
    freedom = np.arange(1, 120)
    for power in (0.3, 0.5, 0.8, 0.99):
        shift = least_shift(power, freedom, 0.05, sides=sides)
        assert t_power(shift, freedom, 0.05, sides=sides) == pytest.approx(
            np.full(119, power), abs=1e-9
        )


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: t_power(1.0, 0.5, 0.05),
        lambda: t_power(math.nan, 5, 0.05),
        lambda: t_power(1.0, 5, 1.0),
        lambda: t_power(1.0, 5, 0.05, sides=3),
        lambda: least_shift(0.01, 5, 0.05),
        lambda: least_shift(1.0, 5, 0.05),
    ],
)
def test_what_is_out_of_range_is_refused(wrong):
    with pytest.raises(UsageError):
        wrong()
