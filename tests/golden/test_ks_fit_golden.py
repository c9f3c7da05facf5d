"""The fit test against the document's example 1 (ammp): 31 times, published p = 41/200.

`varcore_ammp` holds what an R program with mclust 6.0.0 found with 2,000 resamples, for the test as
described and for two misreadings of it.
"""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from numba import njit

from analysis.methods.mixture import fit_kernel
from analysis.methods.mixture.fit import fit_mixture
from analysis.methods.mixture.goodness import FitTest, ks_fit
from analysis.methods.mixture.model import Mixture

draw_sorted = njit(fit_kernel.draw_sorted.py_func)
HERE = Path(__file__).parent / "varcore_ammp"
EXPECTED = json.loads((HERE / "expected.json").read_text())
REFERENCE = EXPECTED["computed_R"]["ks_bootstrap_N2000"]
N = 2000  # resamples of the reference
OURS = 1000
BOUND = 3.5  # standard errors


@pytest.fixture(scope="module")
def times() -> np.ndarray:
    return np.sort(np.loadtxt(HERE / "times.csv", delimiter=",", skiprows=1)[:, 0])


@pytest.fixture(scope="module")
def mixture(times: np.ndarray) -> Mixture:
    return fit_mixture(times)


@pytest.fixture(scope="module")
def found(times: np.ndarray, mixture: Mixture) -> FitTest:
    return ks_fit(times, mixture, resamples=OURS, rng=np.random.default_rng(20261121))


def errors(p: float, q: float, n: int) -> float:
    """Give the difference of a p found with n and one with N resamples in standard errors."""
    return abs(p - q) / math.sqrt(q * (1 - q) * (1 / n + 1 / N))


def test_the_distance(found: FitTest) -> None:
    assert found.statistic == pytest.approx(EXPECTED["computed_R"]["ks_distance"], abs=1e-9)
    assert round(found.statistic, 7) == 0.0923259


def test_the_pvalue(found: FitTest) -> None:
    assert errors(found.pvalue, REFERENCE["reselect_K_and_model"], OURS) < BOUND
    assert found.failed_fits == 0
    # published with N = 200
    assert errors(EXPECTED["published"]["ksfit_p"], found.pvalue, 200) < BOUND


def test_the_critical_distance(found: FitTest) -> None:
    # its standard error is near 0.003 with 1,000 resamples
    assert found.critical[0.05] == pytest.approx(REFERENCE["critical_value_5pct"], abs=0.008)


def test_the_misreadings_are_told_apart(found: FitTest) -> None:
    # negative control: neither K and model kept (0.136) nor a naive table (0.954) would pass
    assert errors(found.pvalue, REFERENCE["fixed_K5_V"], OURS) > BOUND
    assert errors(found.pvalue, REFERENCE["reselect_after_rounding_to_0_01"], OURS) > BOUND
    assert errors(found.pvalue, EXPECTED["computed_R"]["naive_ks_p_known_parameters"], OURS) > BOUND


def test_without_left_limits(times: np.ndarray, mixture: Mixture) -> None:
    # negative control: the same replicates, with i/n only, give 0.19
    n, count = times.size, 300
    heights = np.arange(1, n + 1) / n

    def right(x: np.ndarray, fit: Mixture) -> float:
        return float(np.abs(heights - fit.cdf(x)).max())

    def both(x: np.ndarray, fit: Mixture) -> float:
        return float(max((heights - fit.cdf(x)).max(), (fit.cdf(x) - heights + 1 / n).max()))

    seeds = np.random.default_rng(1).integers(0, 2**64, count, dtype=np.uint64)
    further = {right: 0, both: 0}
    at_first = {distance: distance(times, mixture) for distance in further}
    x, rows = np.empty(n), np.stack([mixture.weights, mixture.means, mixture.sds])
    for seed in seeds:
        draw_sorted(np.array([seed]), rows, x)
        again = fit_mixture(x)
        for distance in further:
            further[distance] += distance(x, again) > at_first[distance]
    ours = ks_fit(times, mixture, resamples=count, rng=np.random.default_rng(1))
    assert ours.pvalue_published == further[both] / count
    published = REFERENCE["statistic_without_left_limits"]
    assert errors(further[right] / count, published, count) < BOUND
    assert further[right] < further[both]
