"""The metrics of single runs: tails, scales, many variants, logarithms, refusals."""

import math
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import quad, trapezoid
from scipy.special import ndtr

from analysis.data.matrix import PerformanceMatrix
from analysis.errors import UsageError
from analysis.methods.mixture.model import Mixture
from analysis.methods.mixture.report import MixtureOptions, mixture_report
from analysis.methods.mixture.single_run import (
    mean_difference,
    probability_faster,
    probability_fastest,
    variability_level,
)
from analysis.plots.chart import write_picture
from analysis.plots.marks import Curve, Line
from analysis.stats.arguments import stream


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


# --- Pictures of mixtures: what is drawn, for easy and for hard samples; the same bytes each time.

GOLDEN = Path(__file__).parents[4] / "golden" / "varcore_ammp"
AMMP = [float(row.split(",")[0]) for row in (GOLDEN / "times.csv").read_text().splitlines()[1:]]


def report(*samples, names=None, **options):
    matrices = [
        PerformanceMatrix.from_samples(
            f"v{k}" if names is None else names[k], {"b": values}, better="lower"
        )
        for k, values in enumerate(samples)
    ]
    chosen = MixtureOptions(**{"resamples": 0, **options})
    return mixture_report(matrices, options=chosen, rng=stream(1, "test"))


def drawn(picture, tmp_path):
    """Write the picture; give the density and the distribution axes by row."""
    write_picture(picture, tmp_path / "x.svg")
    return list(zip(picture.axes[::2], picture.axes[1::2], strict=True))


def curve(axes, label):
    """Give the points of the curve that a key names."""
    css = next(key.css for key in axes.keys if key.text == label).split()
    found = [one for one in axes.marks if isinstance(one, Curve) and set(css) <= {*one.css.split()}]
    return found[0].points.T


def bars(axes):
    """Give the histogram's edges and heights."""
    x, y = next(one for one in axes.marks if isinstance(one, Curve) and one.closed).points.T
    return x[::2], y[1:-1:2]


def test_density_and_distribution_of_the_model(tmp_path):
    found = report(AMMP, resamples=5)
    ((density, steps),) = drawn(found.picture(), tmp_path)
    mixture = found.benchmarks[0].cells[0].mixture
    x, y = curve(density, "mixture")
    assert y == pytest.approx(mixture.pdf(x))
    assert trapezoid(y, x) == pytest.approx(1, abs=0.01)  # the narrow component too
    x, y = curve(steps, "mixture")
    assert y == pytest.approx(mixture.cdf(x))
    (ends,) = (one for one in steps.marks if isinstance(one, Line))
    assert abs(ends.y2 - ends.y1) == pytest.approx(0.0923259, abs=1e-7)
    assert "distance 0.0923; fit test p" in steps.title
    assert "5 components, 4 modes" in density.title


def test_a_spike_does_not_flatten_the_rest(tmp_path):
    ((density, _),) = drawn(report(AMMP).picture(), tmp_path)
    top = density.y.high
    peak = curve(density, "mixture")[1].max()
    assert peak > 10 * top
    assert density.keys[-1].text == f"goes on to {peak / top:.2g}x the height"
    assert bars(density)[1].max() > 0.4 * top


@pytest.mark.parametrize(
    ("n", "fewest", "most"), [(3, 3, 6), (10, 4, 8), (200, 8, 30), (10_000, 20, 60)]
)
def test_bins(tmp_path, n, fewest, most):
    values = np.random.default_rng(1).normal(10, 1, n)
    ((density, _),) = drawn(report(values, max_components=2).picture(), tmp_path)
    edges, counts = bars(density)
    assert fewest <= counts.size <= most
    assert (counts * np.diff(edges)).sum() == pytest.approx(1)


@pytest.mark.parametrize(
    "values",
    [
        np.round(np.random.default_rng(1).normal(10, 0.02, 60), 2),
        np.append(np.random.default_rng(1).normal(10, 0.1, 50), [40, 9000]),
        [1.0, 1.0 + 2**-40, 1.0 + 2**-30, 1.0],
        np.random.default_rng(1).normal(10, 1, 40) * 1e-9,
        np.random.default_rng(1).normal(10, 1, 40) * 1e9,
        [1.0, 2.0],
    ],
)
@pytest.mark.parametrize("scale", ["linear", "log"])
def test_hard_samples(tmp_path, values, scale):
    ((density, steps),) = drawn(report(values, scale=scale).picture(), tmp_path)
    low, high = density.x.low, density.x.high
    assert low < min(values) < max(values) < high
    edges, heights = bars(density)
    assert (heights * np.diff(edges)).sum() == pytest.approx(1)
    found = curve(density, "mixture")[1]
    assert np.isfinite(found).all()
    assert found.max() > 0
    shares = curve(steps, "mixture")[1]
    assert (np.diff(shares) >= 0).all()
    assert 0 <= shares[0] < shares[-1] <= 1


def test_variants_share_the_axis_and_six_are_drawn(tmp_path):
    samples = [np.random.default_rng(k).normal(10 + k, 1, 20) for k in range(8)]
    picture = report(*samples).picture()
    rows = drawn(picture, tmp_path)
    assert len(rows) == 6
    assert len({axes.x for axes, _ in rows}) == 1
    assert "first 6 of 8" in picture.texts()[0][0]


def test_long_names_and_dollar_signs(tmp_path):
    names = ["a" * 100, "$x^2$ {b}"]
    found = report(AMMP, np.array(AMMP) + 1, names=names)
    picture = found.picture()
    drawn(picture, tmp_path)
    told = picture.texts()
    assert any("$x^2$ {b}: " in text for text, _ in told)
    for k, (text, box) in enumerate(told):
        assert box.left >= 0, text
        assert box.right <= picture.width, text
        assert not any(box.meets(other) for _, other in told[:k]), text


def test_a_picture_of_few_runs_says_so(tmp_path):
    # the caution of the screen stands in the picture, which travels without the screen
    values = np.random.default_rng(2).normal(10, 1, 10)
    found = report(values, np.random.default_rng(3).normal(10, 1, 40))
    (few, _), (many, _) = drawn(found.picture(), tmp_path)
    assert "v0: 10 runs, " in few.title
    assert "10 values hardly determine a number of components" in few.title
    assert "hardly determine" not in many.title


def test_ticks_are_in_a_sensible_unit_and_the_density_has_a_scale(tmp_path):
    values = np.random.default_rng(2).normal(0.0025, 0.0003, 40)
    ((density, _),) = drawn(report(values).picture(), tmp_path)
    texts = [tick.text for tick in density.x_ticks]
    assert texts[-1].endswith(" ms")
    assert float(texts[0]) in (1.5, 2)
    assert density.y_label == "share of runs per ms"
    # the share of runs in the histogram's bars, by the numbers on the axes, is 1
    edges, heights = bars(density)
    factor = float(density.y_ticks[1].text) / density.y_ticks[1].value  # of the axis's numbers
    assert (np.diff(edges) * 1e3 * heights * factor).sum() == pytest.approx(1)
