"""How often normal runs are said not to look normal, and from which size on their means do.

Authority: normal values, for which 10 is large enough and 5 % of samples may look otherwise, and exact binomial
bounds. The negative controls are the rules of 0.2.0 on the same values: a union of two tests, one draw at the risk.
"""

from __future__ import annotations

import numpy as np
import pytest

from analysis.diagnose.normality import lilliefors, mean_sample_size, shapiro, sizes_enough
from tests.calibration.made_pairs import lower, upper

pytestmark = pytest.mark.calibration
SEED = 20261201


def otherwise(size, count):
    """Count normal samples that do not look normal, by the rule and by either of two tests."""
    rng = np.random.default_rng([SEED, size])
    tests = [(lilliefors(x), shapiro(x)) for x in rng.normal(10, 1, (count, size))]
    new = sum(one.pvalue <= 0.05 for one, _ in tests)
    old = sum(min(one.pvalue, other.pvalue) <= 0.05 for one, other in tests)
    return new, old


@pytest.mark.parametrize("size", [pytest.param(20, marks=pytest.mark.spot_check), 120])
def test_normal_samples_look_otherwise_in_a_twentieth(size):
    new, old = otherwise(size, 4000)
    assert lower(new, 4000) <= 0.05
    assert upper(new, 4000) >= 0.04
    assert lower(old, 4000) > 0.06


def ten_enough(sets):
    """Count the sets of normal runs of which ten are said to be enough, by the rule and by one draw."""
    rng = np.random.default_rng(SEED)
    new = old = 0
    for _ in range(sets):
        values = rng.normal(10, 1, 300)
        trials = mean_sample_size(values, rng=rng)
        old += all(trial.pvalue > 0.05 for trial in trials)
        new += sizes_enough(values, risk=0.05, rng=rng)[1][1] == 10
    return new, old


@pytest.mark.parametrize("sets", [pytest.param(15, marks=pytest.mark.spot_check), 150])
def test_means_of_normal_runs_look_normal_from_ten_on(sets):
    new, old = ten_enough(sets)
    assert new >= 0.95 * sets
    assert old <= 0.7 * sets
