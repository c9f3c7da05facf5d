"""Pictures of mixtures: what is drawn, for easy and for hard samples; the same bytes each time."""

from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import trapezoid

from analysis.data.matrix import PerformanceMatrix
from analysis.errors import UsageError
from analysis.methods.mixture.pictures import mixture_picture
from analysis.methods.mixture.report import MixtureOptions, mixture_report
from analysis.plots.chart import write_picture
from analysis.plots.marks import Curve, Line
from analysis.stats.arguments import stream

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
    ((density, steps),) = drawn(mixture_picture(found), tmp_path)
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
    ((density, _),) = drawn(mixture_picture(report(AMMP)), tmp_path)
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
    ((density, _),) = drawn(mixture_picture(report(values, max_components=2)), tmp_path)
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
    ((density, steps),) = drawn(mixture_picture(report(values, scale=scale)), tmp_path)
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
    picture = mixture_picture(report(*samples))
    rows = drawn(picture, tmp_path)
    assert len(rows) == 6
    assert len({axes.x for axes, _ in rows}) == 1
    assert "first 6 of 8" in picture.texts()[0][0]


def test_long_names_and_dollar_signs(tmp_path):
    names = ["a" * 100, "$x^2$ {b}"]
    found = report(AMMP, np.array(AMMP) + 1, names=names)
    picture = mixture_picture(found)
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
    (few, _), (many, _) = drawn(mixture_picture(found), tmp_path)
    assert "v0: 10 runs, " in few.title
    assert "10 values hardly determine a number of components" in few.title
    assert "hardly determine" not in many.title


def test_ticks_are_in_a_sensible_unit_and_the_density_has_a_scale(tmp_path):
    values = np.random.default_rng(2).normal(0.0025, 0.0003, 40)
    ((density, _),) = drawn(mixture_picture(report(values)), tmp_path)
    texts = [tick.text for tick in density.x_ticks]
    assert texts[-1].endswith(" ms")
    assert float(texts[0]) in (1.5, 2)
    assert density.y_label == "share of runs per ms"
    # the share of runs in the histogram's bars, by the numbers on the axes, is 1
    edges, heights = bars(density)
    factor = float(density.y_ticks[1].text) / density.y_ticks[1].value  # of the axis's numbers
    assert (np.diff(edges) * 1e3 * heights * factor).sum() == pytest.approx(1)


def test_several_benchmarks_are_refused():
    one = PerformanceMatrix.from_samples("v", {"a": [1, 2, 3], "b": [1, 2, 3]}, better="lower")
    found = mixture_report([one], options=MixtureOptions(resamples=0), rng=stream(1, "test"))
    with pytest.raises(UsageError, match="one benchmark"):
        mixture_picture(found)
