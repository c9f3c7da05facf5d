"""Crossed random effects: by hand, and how the search ends.

Authorities: contrasts of three values, which tell two variances and no third; sums of effects, of which
nothing is left over; Newton's method, whose steps are few.
"""

import numpy as np
import pytest

from analysis.stats.variance_components import one_way, random_effects


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
