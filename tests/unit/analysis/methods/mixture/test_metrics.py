"""The metrics of single runs: tails, scales, many variants, logarithms, refusals."""

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import ndtr

from analysis.errors import UsageError
from analysis.methods.mixture.model import Mixture
from analysis.methods.mixture.single_run import (
    mean_difference,
    probability_faster,
    probability_fastest,
    variability_level,
)


def single(mean: float, sd: float, **more: object) -> Mixture:
    return Mixture.from_parameters(weights=[1], means=[mean], sds=[sd], **more)


TWO = Mixture.from_parameters(weights=[0.4, 0.6], means=[10, 13], sds=[1, 0.5])
WIDE = Mixture.from_parameters(weights=[0.5, 0.3, 0.2], means=[9, 12, 30], sds=[2, 1, 4])
LOG_A = Mixture.from_parameters(weights=[0.3, 0.7], means=[0, 0.6], sds=[0.2, 0.4], scale="log")
LOG_B = Mixture.from_parameters(weights=[0.5, 0.5], means=[-0.2, 1], sds=[0.3, 0.1], scale="log")


def test_single_gaussians_by_hand() -> None:
    x, y = single(10, 3), single(14, 4)
    assert probability_faster(x, y) == pytest.approx(ndtr(0.8), rel=1e-15)
    assert probability_faster(x, y, shift=-4) == 0.5
    assert probability_faster(x, y, shift=6) == pytest.approx(ndtr(2), rel=1e-15)
    assert mean_difference(x, x) == pytest.approx(3 * 2 / math.sqrt(math.pi), rel=1e-15)
    folded = 4 * (2 * ndtr(0.8) - 1) + 10 * math.exp(-0.32) / math.sqrt(2 * math.pi)
    assert mean_difference(x, y) == pytest.approx(folded, rel=1e-14)
    assert variability_level(x) == 1


@pytest.mark.parametrize(
    ("apart", "first", "other"),
    [(10, 1, 1), (30, 1, 1), (50, 1, 1), (5, 1e-6, 1), (20, 1e-3, 1), (20, 1, 1e-3), (30, 1, 1e-6)],
)
def test_tiny_chances_keep_their_digits(apart: float, first: float, other: float) -> None:
    expected = ndtr(-apart / math.hypot(first, other))
    x, y = single(apart, first), single(0, other)
    assert probability_faster(x, y) == pytest.approx(expected, rel=1e-13)
    assert probability_fastest(x, y) == pytest.approx(expected, rel=1e-11)


def test_a_chance_too_small_for_a_number_is_zero_without_a_warning() -> None:
    assert probability_faster(single(1e9, 1), single(0, 1)) == 0
    assert probability_fastest(single(1e9, 1), single(0, 1)) == 0
    assert probability_fastest(single(0, 1), single(1e9, 1)) == pytest.approx(1, abs=1e-15)


@pytest.mark.parametrize("r", [2, 3, 10, 60])
def test_equal_variants_share_the_chance(r: int) -> None:
    assert probability_fastest(WIDE, *[WIDE] * (r - 1)) == pytest.approx(1 / r, rel=1e-13)


def test_the_chances_of_many_variants_sum_to_one() -> None:
    rng = np.random.default_rng(5)
    variants = [
        Mixture.from_parameters(
            weights=rng.dirichlet(np.ones(k)),
            means=rng.normal(0, 3, k),
            sds=10.0 ** rng.uniform(-6, 1, k),
        )
        for k in (1, 2, 3, 5, 9, 4, 2, 1)
    ]
    chances = [
        probability_fastest(v, *(variants[:i] + variants[i + 1 :])) for i, v in enumerate(variants)
    ]
    assert sum(chances) == pytest.approx(1, abs=1e-12)


def test_two_variants_agree_with_the_closed_form() -> None:
    for x, y in ((TWO, WIDE), (WIDE, TWO)):
        assert probability_fastest(x, y) == pytest.approx(probability_faster(x, y), abs=1e-14)


@pytest.mark.parametrize("scale", [1e-9, 1e9])
def test_scales(scale: float) -> None:
    def scaled(m: Mixture) -> Mixture:
        return Mixture.from_parameters(weights=m.weights, means=m.means * scale, sds=m.sds * scale)

    x, y = scaled(TWO), scaled(WIDE)
    assert mean_difference(x, y) == pytest.approx(mean_difference(TWO, WIDE) * scale, rel=1e-13)
    assert probability_faster(x, y, shift=scale) == pytest.approx(
        probability_faster(TWO, WIDE, shift=1), rel=1e-13
    )
    assert probability_fastest(x, y) == pytest.approx(probability_fastest(TWO, WIDE), rel=1e-12)


def test_the_shift_has_the_sign_of_the_derivation() -> None:
    # X is 2 faster than Y almost surely, but not 4 faster
    x, y = single(10, 0.1), single(13, 0.1)
    assert probability_faster(x, y, shift=-2) > 0.999
    assert probability_faster(x, y, shift=-4) < 0.001
    assert probability_faster(y, x, shift=4) > 0.999


# ---- mixtures of logarithms


def test_logarithms_are_compared_as_values() -> None:
    linear = [
        Mixture.from_parameters(weights=m.weights, means=m.means, sds=m.sds) for m in (LOG_A, LOG_B)
    ]
    assert probability_faster(LOG_A, LOG_B) == probability_faster(*linear)
    assert probability_fastest(LOG_A, LOG_B, LOG_B) == probability_fastest(*linear, linear[1])
    assert mean_difference(LOG_A, LOG_B) == pytest.approx(
        quad(
            lambda x: LOG_A.cdf(x) * LOG_B.survival(x) + LOG_B.cdf(x) * LOG_A.survival(x),
            0,
            40,
            points=[0.5, 1, 2, 3, 4],
            limit=500,
            epsabs=1e-12,
        )[0],
        rel=1e-9,
    )


@pytest.mark.parametrize("shift", [1e-3, 0.5, 3.0, 1e4, -1e-3, -0.5, -3.0])
def test_the_shift_of_logarithms_is_one_of_values(shift: float) -> None:
    # pieces that end where either side changes
    places = np.concatenate(
        [np.exp(m + s * np.arange(-9, 10)) for m, s in zip(LOG_B.means, LOG_B.sds, strict=True)]
        + [
            np.exp(m + s * np.arange(-9, 10)) - shift
            for m, s in zip(LOG_A.means, LOG_A.sds, strict=True)
        ]
    )
    ends = np.unique(np.clip(places, max(1e-9, -shift), None))
    expected = math.fsum(
        quad(lambda y: LOG_B.pdf(y) * LOG_A.cdf(y + shift), a, b, epsabs=1e-13)[0]
        for a, b in pairwise(ends)
        if b - a > 1e-12
    )
    assert probability_faster(LOG_A, LOG_B, shift=shift) == pytest.approx(expected, abs=1e-9)


def test_refusals() -> None:
    with pytest.raises(UsageError, match="logarithms cannot be compared"):
        mean_difference(LOG_A, TWO)
    with pytest.raises(UsageError, match="logarithms cannot be compared"):
        probability_faster(TWO, LOG_A)
    with pytest.raises(UsageError, match="logarithms cannot be compared"):
        probability_fastest(TWO, WIDE, LOG_A)
    with pytest.raises(UsageError, match="at least one other"):
        probability_fastest(TWO)
    for shift in (math.nan, math.inf):
        with pytest.raises(UsageError, match="finite"):
            probability_faster(TWO, WIDE, shift=shift)


def test_spreads_as_different_as_numbers_can_be() -> None:
    wide = Mixture.from_parameters(weights=[0.5, 0.5], means=[0, 1e100], sds=[3e-3, 1e86])
    thin = single(1e150, 1e-150)
    assert wide.modes() == pytest.approx([0, 1e100], abs=1e-9)
    narrow = Mixture.from_parameters(weights=[0.5, 0.5], means=[0, 1e100], sds=[3e-3, 1e-80])
    assert narrow.modes()[0] == 0  # the other peak is narrower than the gap between two numbers
    assert wide.quantile([0.25, 0.75]) == pytest.approx([0, 1e100], abs=1e-9)
    assert mean_difference(wide, thin) == pytest.approx(1e150)
    assert probability_faster(wide, thin) == 1
    assert probability_fastest(wide, thin) == pytest.approx(1)
    assert probability_fastest(thin, wide) == 0


def test_logarithms_beyond_the_largest_number() -> None:
    assert mean_difference(single(2000, 1, scale="log"), single(0, 1, scale="log")) == math.inf
    huge, small = single(2000, 1, scale="log"), single(0, 1, scale="log")
    assert probability_faster(small, huge, shift=5.0) == pytest.approx(1, abs=1e-14)
    assert probability_faster(huge, small, shift=-5.0) == 0
