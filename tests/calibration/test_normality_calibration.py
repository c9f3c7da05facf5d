"""How often normal runs are said not to look normal, and from which size on their means do.

Authority: normal values, for which 10 is large enough and 5 % of samples may look otherwise, and exact binomial
bounds. The negative controls are the rules of 0.2.0 on the same values: a union of two tests, one draw at the risk.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from analysis.diagnose.normality import lilliefors, mean_sample_size, shapiro, sizes_enough

pytestmark = pytest.mark.calibration
SEED = 20261201


@pytest.mark.parametrize("size", [pytest.param(20, marks=pytest.mark.spot_check), 120])
def test_normal_samples_look_otherwise_in_a_twentieth(size):
    rng = np.random.default_rng([SEED, size])
    count = 4000
    tests = [(lilliefors(x), shapiro(x)) for x in rng.normal(10, 1, (count, size))]
    new = sum(one.pvalue <= 0.05 for one, _ in tests)
    old = sum(min(one.pvalue, other.pvalue) <= 0.05 for one, other in tests)
    assert stats.beta.ppf(0.001, new, count - new + 1) <= 0.05
    assert stats.beta.ppf(0.999, new + 1, count - new) >= 0.04
    assert stats.beta.ppf(0.001, old, count - old + 1) > 0.06


def test_means_of_normal_runs_look_normal_from_ten_on():
    rng = np.random.default_rng(SEED)
    new = old = 0
    for _ in range(150):
        values = rng.normal(10, 1, 300)
        trials = mean_sample_size(values, rng=rng)
        old += all(trial.pvalue > 0.05 for trial in trials)
        new += sizes_enough(values, risk=0.05, rng=rng)[1][1] == 10
    assert new >= 143
    assert old <= 100
