"""The confidence sequence and the p-values that belong to intervals.

Authority: the closed form of the t mixture, against the mixture integrated numerically; widths as
printed in the specification's table (rounded to two decimals).
"""

import math

import numpy as np
import pytest
from scipy import integrate, stats

from analysis.methods.multilevel.law import C_SQUARED, ErrorLaw

ONES = np.ones(1)


def half(n: int, alpha: float = 0.05) -> float:
    """The half-width for sd 1, as the specification writes it."""
    k = 1 + n * C_SQUARED
    a = (k / alpha**2) ** (1 / n)
    return math.sqrt((n - 1) * (a - 1) / (1 - a / k) / n) if a < k else math.inf


@pytest.mark.parametrize(("n", "ratio"), [(3, 3.07), (5, 1.95), (10, 1.85), (30, 1.82), (50, 1.83)])
def test_the_width_against_the_fixed_t(n, ratio):
    freedom, error = ONES * (n - 1), ONES / math.sqrt(n)
    sequence = ErrorLaw(alpha=0.05, always_valid=True).half(error, freedom)[0]
    assert sequence == pytest.approx(half(n), rel=1e-12)
    assert sequence / ErrorLaw(alpha=0.05).half(error, freedom)[0] == pytest.approx(
        ratio, abs=0.006
    )


def test_two_sessions_have_no_finite_sequence():
    law = ErrorLaw(alpha=0.05, always_valid=True)
    assert law.multiplier(ONES)[0] == math.inf
    assert np.isnan(law.half(ONES, ONES)[0])
    assert law.pvalue(1e6 * ONES, ONES, ONES)[0] > 0.05


@pytest.mark.parametrize("n", [3, 5, 12])
def test_the_mixture_reaches_one_over_alpha_on_the_bound(n):
    # likelihood ratio of the t statistic: noncentral t mixed over mean/sd ~ N(0, c^2), against t
    bound = half(n) * math.sqrt(n)  # t at the end of the interval
    mixed, _ = integrate.quad(
        lambda delta: (
            stats.nct.pdf(bound, n - 1, delta * math.sqrt(n))
            * stats.norm.pdf(delta, scale=math.sqrt(C_SQUARED))
        ),
        -40,
        40,
        points=[0, bound / math.sqrt(n)],
        limit=400,
    )
    assert mixed / stats.t.pdf(bound, n - 1) == pytest.approx(1 / 0.05, rel=1e-5)


@pytest.mark.parametrize("always_valid", [False, True])
@pytest.mark.parametrize("n", [3, 6, 40])
def test_p_is_below_alpha_where_the_interval_excludes_the_hypothesis(always_valid, n):
    rng = np.random.default_rng(n)
    estimate, error = rng.normal(0, 1, 500), rng.uniform(0.05, 1.0, 500)
    freedom = np.full(500, n - 1.0)
    for alpha in (0.2, 0.05, 0.001):
        law = ErrorLaw(alpha=alpha, always_valid=always_valid)
        h = law.half(error, freedom)
        outside = np.abs(estimate) > np.where(np.isnan(h), np.inf, h)
        assert (law.pvalue(estimate, error, freedom) < alpha).tolist() == outside.tolist()
        inside = (estimate - h > -0.8) & (estimate + h < 0.8)
        p = law.pvalue_equivalent(estimate, error, freedom, 0.8)
        assert (p < alpha / 2).tolist() == inside.tolist()


def test_p_is_never_0_and_none_without_spread():
    law = ErrorLaw(alpha=0.05)
    p = law.pvalue(np.array([1.0, 1.0]), np.array([1e-200, 0.0]), np.array([50.0, 50.0]))
    assert 0 < p[0] < 1e-300
    assert np.isnan(p[1])


def test_p_of_equivalence_is_the_larger_of_two_t_tests():
    rng = np.random.default_rng(3)
    d = rng.normal(0.003, 0.005, 6)
    margin = math.log(1.01)
    one = stats.ttest_1samp(d, -margin, alternative="greater").pvalue
    other = stats.ttest_1samp(d, margin, alternative="less").pvalue
    found = ErrorLaw(alpha=0.05).pvalue_equivalent(
        d.mean() * ONES, stats.sem(d) * ONES, 5.0 * ONES, margin
    )
    assert found[0] == pytest.approx(max(one, other), rel=1e-9)
