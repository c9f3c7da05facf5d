"""Components between sessions and within them.

Authorities: the analysis of variance, which is the restricted likelihood's answer for sessions of one
size; the dense restricted likelihood, whose gradient must vanish and which no grid of other points
goes below.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from analysis.stats.variance_components import one_way, random_effects


def dense(values, groups, between, within):
    """Minus twice the restricted log likelihood by matrices of all values."""
    same = (groups[:, None] == groups[None]).astype(float)
    covariance = between * same + within * np.eye(values.size)
    inverse = np.linalg.inv(covariance)
    ones = np.ones(values.size)
    weight = ones @ inverse @ ones
    away = values - ones @ inverse @ values / weight
    return (
        np.linalg.slogdet(covariance)[1]
        + math.log(weight)
        + away @ inverse @ away
        + (values.size - 1) * math.log(2 * math.pi)
    )


def drawn(seed, sizes, between_sd, within_sd=1.0):
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(len(sizes)), sizes)
    return rng.normal(0, between_sd, len(sizes))[groups] + rng.normal(
        3, within_sd, groups.size
    ), groups


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("sessions", "runs"), [(2, 3), (5, 10), (10, 30)])
def test_with_sessions_of_one_size_it_is_the_analysis_of_variance(seed, sessions, runs):
    values, groups = drawn(seed, [runs] * sessions, 0.6)
    table = values.reshape(sessions, runs)
    within = float(table.var(axis=1, ddof=1).mean())
    means = float(table.mean(axis=1).var(ddof=1))
    found = one_way(values, groups)
    assert found.mean == pytest.approx(table.mean(), rel=1e-12)
    if means > within / runs:
        assert found.within == pytest.approx(within, rel=1e-10)
        assert found.between == pytest.approx(means - within / runs, rel=1e-8)
    else:
        assert found.between == 0
        assert found.within == pytest.approx(float(values.var(ddof=1)), rel=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_with_any_sizes_the_likelihood_is_stationary_and_nowhere_higher(seed):
    sizes = np.random.default_rng(seed).integers(1, 9, 6)
    values, groups = drawn(seed + 50, sizes, 0.8)
    found = one_way(values, groups)
    here = dense(values, groups, found.between, found.within)
    assert found.deviance == pytest.approx(here, rel=1e-12)
    for between in np.linspace(0, 4, 21):
        for within in np.linspace(0.2, 3, 21):
            assert dense(values, groups, between, within) > here - 1e-9
    step = 1e-4

    def slope(between, within):
        up = dense(values, groups, between, within + step)
        return (up - dense(values, groups, between, within - step)) / (2 * step)

    def across(between, within):
        up = dense(values, groups, between + step, within)
        return (up - dense(values, groups, between - step, within)) / (2 * step)

    assert abs(slope(found.between, found.within)) < 1e-4
    if found.between > step:
        assert abs(across(found.between, found.within)) < 1e-4
    # negative control: away from it neither slope vanishes
    assert abs(slope(found.between, 1.2 * found.within)) > 0.1


def test_between_sessions_that_agree_nothing_is_found():
    values, groups = np.tile([1.0, 2.0, 3.0], 4), np.repeat(np.arange(4), 3)
    assert one_way(values, groups).between == 0


def test_one_value_a_session_leaves_the_two_together():
    values = np.array([1.0, 2.0, 4.0])
    found = one_way(values, np.array([5, 7, 9]))
    assert found.within is None
    assert found.between == pytest.approx(values.var(ddof=1))
    assert found.deviance == pytest.approx(dense(values, np.arange(3), 0.0, found.between))


def test_without_any_spread_both_are_zero():
    found = one_way(np.full(6, 0.1), np.repeat([0, 1], 3))
    assert (found.between, found.within, found.deviance) == (0, 0, None)
    found = one_way(np.repeat([0.0, 1.0], 3), np.repeat([0, 1], 3))
    assert (found.between, found.within) == (0.5, 0)


# --- Crossed random effects: by hand, and how the search ends
#
# Authorities: contrasts of three values, which tell two variances and no third; sums of effects, of which
# nothing is left over; Newton's method, whose steps are few.


def test_three_values_by_hand():
    # without b: y2 - y1 = 1 has the variance 2 rest, and y3 - (y1 + y2) / 2 = 3 / 2 has 2 a + 3 / 2 rest
    values, a, b = np.array([0.0, 1.0, 2.0]), np.array([0, 0, 1]), np.array([0, 1, 0])
    found = random_effects(values, {"a": a, "b": b})
    assert found.variances == pytest.approx({"a": 0.75, "b": 0.0, "rest": 0.5})
    assert found.deviance == pytest.approx(one_way(values, a).deviance)


def crossed(shape, runs):
    a, b, _ = (axis.ravel() for axis in np.indices((*shape, runs)))
    return a, b


@pytest.mark.parametrize("noise", [0.0, 1e-6, 1e-2])
def test_effects_that_leave_nothing_over_are_not_told(noise):
    a, b = crossed((4, 3), 2)
    values = np.array([0.0, 0.1, 0.3, 0.7])[a] + np.array([0.0, 0.5, 0.2])[b]
    found = random_effects(
        values + noise * np.random.default_rng(1).normal(size=a.size), {"a": a, "b": b}
    )
    if noise < 1e-3:  # its variance is below a billionth of the whole
        assert found is None
    else:
        assert noise**2 / 5 < found.variances["rest"] < noise**2 * 5


@pytest.mark.parametrize("seed", range(5))
def test_a_few_steps_will_do_where_a_third_of_the_values_is_lost(seed):
    rng = np.random.default_rng(seed)
    a, b = crossed((6, 8), 5)
    values = rng.normal(0, 0.5, 6)[a] + rng.normal(0, 2, 8)[b] + rng.normal(size=a.size)
    kept = rng.random(a.size) >= 0.3
    found = random_effects(values[kept], {"a": a[kept], "b": b[kept]})
    assert found.variances["rest"] == pytest.approx(1.0, rel=0.3)
    assert found.steps <= 8
