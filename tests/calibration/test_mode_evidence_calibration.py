"""How often samples are called multimodal, and how often intervals cover, with fixed seeds.

"Survey" are the rates of an independent program in this project's survey of analysis tools: one
lognormal peak (sd of the logarithm 0.5) has I4 > 1 by BIC in 70 +- 4 % of samples of 30 and 58 +- 5
% of samples of 100. Bounds are those of a binomial count at 1 in 1,000.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.stats import binom

from analysis.methods.mixture.fit import fit_mixture
from analysis.methods.mixture.modality import bandwidth_test, calls_multimodal, dip_test
from analysis.methods.mixture.model import Mixture
from analysis.methods.mixture.refits import fitted_sample, stability
from analysis.methods.mixture.single_run import faster_estimate, rank_share, variability_level

pytestmark = pytest.mark.calibration
spot_check = pytest.mark.spot_check

TRUTH = 0.7488325227  # P[N(0, 1) < N(1.5, 2)] = Phi(1.5 / sqrt(5))
Draw = Callable[[np.random.Generator, int], np.ndarray]


def lognormal(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.lognormal(0, 0.5, n)


def exponential(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.exponential(size=n)


def student(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.standard_t(3, n)


def flat(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.random(n)


def rounded(rng: np.random.Generator, n: int) -> np.ndarray:
    return np.round(2 * rng.normal(size=n)) / 2


def halves(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.normal(size=n) + 5 * (rng.random(n) < 0.5)


def fifth(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.normal(size=n) + 6 * (rng.random(n) < 0.2)


def shown(x: np.ndarray, rng: np.random.Generator) -> tuple[int, bool]:
    """Give the modes of the fit, and what the product's rule says of them, with few resamples.

    A rule that cannot say yes any more needs no further test.
    """
    mixture = fit_mixture(x)
    modes = mixture.modes().size
    if not calls_multimodal(modes, dip=0.0, bandwidth=0.0, several=1.0):
        return modes, False
    tests = {
        "dip": dip_test(x, resamples=119, rng=rng).pvalue,
        "bandwidth": bandwidth_test(x, resamples=119, rng=rng).pvalue,
    }
    if not calls_multimodal(modes, **tests, several=1.0):
        return modes, False
    again = stability(fitted_sample(x, mixture, resamples=20, rng=rng))
    return modes, calls_multimodal(modes, **tests, several=again.several)


def calls(draw: Draw, n: int, samples: int) -> tuple[int, int]:
    """Count the samples with I4 > 1, and those called multimodal."""
    rng = np.random.default_rng([n, samples])
    found = [shown(draw(rng, n), rng) for _ in range(samples)]
    return sum(modes > 1 for modes, _ in found), sum(called for _, called in found)


@pytest.mark.parametrize(("n", "survey"), [pytest.param(30, 0.70, marks=spot_check), (100, 0.58)])
def test_the_published_metric_calls_skew_several_modes(n: int, survey: float) -> None:
    # the control: what the rule is there to prevent happens
    samples = 200
    count = sum(
        variability_level(fit_mixture(lognormal(np.random.default_rng([n, i]), n))) > 1
        for i in range(samples)
    )
    # the survey's own standard error (60 to 120 samples) widens the bounds
    assert abs(count / samples - survey) < 0.17


@pytest.mark.parametrize(
    ("draw", "n"),
    [
        pytest.param(rounded, 30, marks=spot_check),
        pytest.param(student, 100, marks=spot_check),
        *((draw, n) for draw in (lognormal, exponential) for n in (30, 100)),
        (student, 30),
        (rounded, 100),
    ],
)
def test_one_peak_is_rarely_called_multimodal(draw: Draw, n: int) -> None:
    samples = 60
    _, called = calls(draw, n, samples)
    assert called <= binom.isf(1e-3, samples, 0.05)


def test_a_flat_top_is_the_limit() -> None:
    samples = 80
    _, called = calls(flat, 50, samples)
    assert called <= binom.isf(1e-3, samples, 0.10)


@pytest.mark.parametrize(
    ("draw", "n", "power", "samples"),
    [
        (halves, 40, 0.6, 40),
        (fifth, 100, 0.8, 40),
        pytest.param(halves, 40, 0.6, 10, marks=spot_check),
    ],
)
def test_two_peaks_are_called_multimodal(draw: Draw, n: int, power: float, samples: int) -> None:
    # negative control of the rates above: the rule can say yes
    _, called = calls(draw, n, samples)
    assert called >= binom.ppf(1e-3, samples, power)


def normal(values: np.ndarray) -> Mixture:
    return Mixture.from_parameters(weights=[1], means=[values.mean()], sds=[values.std(ddof=1)])


def test_the_intervals_of_i2_cover() -> None:
    # one Gaussian each: what is tested is the interval, not the choice of the fit
    rng = np.random.default_rng(78)
    samples, hits, narrow = 150, 0, 0
    for _ in range(samples):
        pair = [rng.normal(0, 1, 25), rng.normal(1.5, 2, 25)]
        x, y = (fitted_sample(v, normal(v), fit=normal, resamples=150, rng=rng) for v in pair)
        found = faster_estimate(x, y).mixture
        hits += found.low <= TRUTH <= found.high
        part = faster_estimate(x, y, confidence=0.7).mixture
        narrow += part.low <= TRUTH <= part.high
    assert hits >= binom.ppf(1e-3, samples, 0.93)
    assert narrow < binom.ppf(1e-3, samples, 0.93)  # negative control: 70 % covers less


@spot_check
def test_the_interval_of_the_ranks_covers() -> None:
    rng = np.random.default_rng(77)
    samples, hits, narrow = 2000, 0, 0
    for _ in range(samples):
        x, y = rng.normal(0, 1, 12), rng.normal(1.5, 2, 15)
        found = rank_share(x, y)
        hits += found.low <= TRUTH <= found.high
        half = rank_share(x, y, confidence=0.8)
        narrow += half.low <= TRUTH <= half.high
    assert hits >= binom.ppf(1e-3, samples, 0.94)
    assert narrow < binom.ppf(1e-3, samples, 0.94)  # negative control: 80 % covers less
