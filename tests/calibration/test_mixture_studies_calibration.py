"""The paper's studies of mixtures in small: the errors of I1 to I4, and p of the fit test by size.

Authority: mixture_studies.py says which sections, laws and mixtures. That the estimates are as precise as
they may be is held against what needs no model: the mean square error of U / (n m), whose variance is at
most a quarter of 1 / n, and the rate 1 / n of consistent estimates. Bounds of counts are binomial at 1 in
1,000; those of errors lie three standard errors or more from the documented values. The negative
controls are mixtures of one Gaussian, and laws that are none.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from tests.calibration.mixture_studies import METRICS, Precision, precision, pvalues

pytestmark = pytest.mark.calibration
spot_check = pytest.mark.spot_check

# docs/methods/mixture-metrics.md, N = 1,000: mean square error, and mean absolute percentage error
SEED = 2018  # not that of the documented table
DOCUMENTED = {
    30: ((0.106, 0.00325, 0.00198, 0.583), (7.52, 12.8, 20.3, 18.8)),
    100: ((0.0300, 0.00126, 0.000806, 0.266), (4.05, 7.38, 11.6, 9.08)),
    200: ((0.0144, 0.000572, 0.000304, 0.150), (2.79, 5.25, 7.98, 5.41)),
}


def errors(found: Precision) -> np.ndarray:
    return (found.estimated - found.true) ** 2


@pytest.fixture(scope="module")
def studies() -> dict[int, Precision]:
    return {n: precision(n, 150, seed=SEED) for n in DOCUMENTED}


@pytest.mark.parametrize("n", DOCUMENTED)
def test_errors_are_those_that_are_documented(studies: dict[int, Precision], n: int) -> None:
    found = studies[n]
    squares = errors(found)
    for name, got, one, documented in zip(
        METRICS, found.mse(), squares.T, DOCUMENTED[n][0], strict=True
    ):
        spread = one.std(ddof=1) / np.sqrt(one.size)
        print(f"n = {n}, {name}: {got:.3g} +- {spread:.2g}, documented {documented:.3g}")
        assert abs(got - documented) < 4 * spread
    assert (found.mape() < 1.6 * np.array(DOCUMENTED[n][1])).all()


def test_more_values_make_smaller_errors_at_the_rate_of_1_over_n(
    studies: dict[int, Precision],
) -> None:
    small, large = studies[30].mse(), studies[200].mse()
    ratios = small / large
    print("MSE of 30 by MSE of 200:", ratios.round(2))
    assert (ratios[:3] > 0.5 * 200 / 30).all()  # means and chances: 1 / n
    assert ratios[3] > 2  # a count of modes


@pytest.mark.parametrize("n", DOCUMENTED)
def test_a_chance_is_as_precise_as_counting(studies: dict[int, Precision], n: int) -> None:
    found = studies[n]
    counted = float(np.mean((found.counted - found.true[:, 1]) ** 2))
    assert found.mse()[1] < 1.25 * counted
    assert counted < 1 / (4 * n)  # the largest variance of U / (n n) is a quarter of 1 / n


def test_one_gaussian_is_less_precise(studies: dict[int, Precision]) -> None:
    # negative control: the same samples, one component
    plain = precision(200, 150, most=1, seed=SEED)
    assert plain.true.tolist() == studies[200].true.tolist()
    assert (plain.mse() > 1.5 * studies[200].mse()).all()


@spot_check
def test_errors_of_a_few_mixtures() -> None:
    some, control = precision(100, 12), precision(100, 12, most=1)
    assert (some.mse() < (0.15, 0.006, 0.004, 1.2)).all()
    assert control.mse()[3] > some.mse()[3]


# ---- the fit test (section 7.2)

LEVELS = (0.05, 0.1, 0.25, 0.5, 0.75, 0.9)


@pytest.mark.parametrize(("n", "samples"), [(30, 200), (100, 80)])
@pytest.mark.parametrize("law", ["one Gaussian", "two modes, five standard deviations apart"])
def test_ordered_p_of_mixtures_lie_on_the_diagonal_or_above(law: str, n: int, samples: int) -> None:
    p = pvalues(law, n, samples)
    assert p.size == samples
    for level in LEVELS:
        count = int(np.sum(p <= level))
        assert count <= binom.isf(1e-3, samples, level), level


# docs/methods/mixtures.md, 500 samples of 500 values, up to 4 components
POWER = {"exponential": 0.332, "Pareto, index 3": 0.628, "Pareto, index 1": 0.854}


@pytest.mark.parametrize("law", POWER)
def test_laws_that_are_no_mixtures_are_rejected(law: str) -> None:
    # the negative control of the above: 500 values, up to 4 components
    samples = 80
    rejected = int(np.sum(pvalues(law, 500, samples, most=4) <= 0.05))
    print(law, rejected, samples)
    low, high = binom.ppf(1e-3, samples, POWER[law]), binom.isf(1e-3, samples, POWER[law])
    assert low <= rejected <= high
    assert rejected > binom.isf(1e-3, samples, 0.05)


def test_nine_components_follow_what_four_do_not() -> None:
    few, many = (pvalues("Pareto, index 1", 100, 60, most=most) for most in (4, 9))
    assert np.sum(few <= 0.05) > np.sum(many <= 0.05)


@spot_check
def test_a_heavy_tail_is_rejected_in_a_few_samples() -> None:
    assert np.sum(pvalues("Pareto, index 1", 500, 6, most=4) <= 0.05) >= 2
