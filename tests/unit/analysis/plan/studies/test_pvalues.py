"""The tests that a study compares, against scipy's."""

import numpy as np
import pytest
from scipy import stats

from analysis.data.matrix import PerformanceMatrix
from analysis.plan.error_rates import pvalue_of
from analysis.plan.study import drawn_pairs


@pytest.mark.parametrize("alternative", ["two-sided", "candidate"])
@pytest.mark.parametrize("better", ["lower", "higher"])
def test_t_is_the_paired_t_test_on_log_ratios(population, alternative, better, rng):
    ours, theirs = next(
        drawn_pairs(population(better=better), 1, 5, 1, "run", factors=1.01)
    ).sides()
    sign = 1 if better == "higher" else -1
    gains = [
        sign * (np.log(a).mean() - np.log(b).mean())
        for a, b in zip(ours.samples, theirs.samples, strict=True)
    ]
    side = "greater" if alternative == "candidate" else "two-sided"
    want = stats.ttest_1samp(gains, 0, alternative=side).pvalue
    assert pvalue_of((ours, theirs), "t", alternative, 9, rng) == pytest.approx(want)


def test_welch_on_one_benchmark_is_welchs_test(population, rng):
    ours, theirs = next(drawn_pairs(population(1), 1, 5, 1, "run", factors=1.01)).sides()
    logs = np.log(theirs.samples[0]), np.log(ours.samples[0])
    want = stats.ttest_ind(*logs, equal_var=False)
    assert pvalue_of((ours, theirs), "welch", "two-sided", 9, rng) == pytest.approx(want.pvalue)
    one = stats.ttest_ind(*logs, equal_var=False, alternative="greater").pvalue
    assert pvalue_of((ours, theirs), "welch", "candidate", 9, rng) == pytest.approx(one)


@pytest.mark.parametrize("test", ["t", "welch"])
def test_no_spread_at_all(test, rng):
    flat = PerformanceMatrix.from_samples("p", {"a": [1.0] * 3, "b": [1.0] * 3}, better="lower")
    fast = PerformanceMatrix.from_samples("q", {"a": [0.5] * 3, "b": [0.5] * 3}, better="lower")
    assert pvalue_of((flat, flat), test, "two-sided", 9, rng) == 1.0
    assert pvalue_of((fast, flat), test, "two-sided", 9, rng) == 0.0
    assert pvalue_of((fast, flat), test, "candidate", 9, rng) == 0.0
    assert pvalue_of((flat, fast), test, "candidate", 9, rng) == 1.0
