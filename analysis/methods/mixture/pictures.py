"""The pictures of mixtures: the density over a histogram, and the distribution over the steps."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...errors import AnalysisError
from ...pages import number_format as figures
from ...plots.axes import (
    Axes,
    Key,
    Picture,
    Scale,
    Sheet,
    Tick,
    density_axis,
    quantity_axis,
    quantity_scale,
    quantity_ticks,
)
from ...plots.chart import arranged
from ...stats.samples import Array
from .model import Mixture

if TYPE_CHECKING:
    from ...record.run_numbers import Better
    from .cell import MixtureCell
    from .goodness import CorpusSummary

_SHEET = Sheet(width=243.8)
_MOST = 6  # variants drawn
_FEWEST_BINS, _MOST_BINS = 4, 60
_AROUND = np.linspace(-5, 5, 41)  # in standard deviations of each component
_TALL = 2.5  # times the highest bar: from there on a curve leaves the picture,
_HEADROOM = 1.7  # which then ends at this multiple of the bar


def mixture_picture(
    benchmark: str, cells: Sequence[MixtureCell], *, unit: str, better: Better
) -> Picture:
    """Draw each variant of one benchmark in a row: density left, distribution right.

    The left side holds a histogram of the values (a rug below it marks each), the density of the
    mixture, and its components in dashes. The right side holds the share of runs up to each value,
    as steps, and the same of the mixture; the largest distance of both is marked. All rows share
    the axis of values, in `unit`. Up to six variants are drawn.
    """
    fitted = [cell for cell in cells if cell.mixture is not None]
    if not fitted:
        raise AnalysisError("there is no mixture to draw", benchmark)
    drawn = fitted[:_MOST]
    window = window_of(drawn)
    rows = []
    for k, cell in enumerate(drawn):
        left, right = Axes(title=_heading(cell)), Axes()
        for axes in (left, right):
            quantity_axis(axes, "x", window, unit)
            axes.x_texts = cell is drawn[-1]
        draw_density(left, cell, f"c{k}", unit=unit)
        _distribution(right, cell, f"c{k}")
        rows.append([left, right])
    word = "smaller" if better == "lower" else "larger"
    for axes in rows[-1]:
        axes.x_label = f"value of one run ({word} is better)"
    title = f"{benchmark:.44}"
    if len(fitted) > len(drawn):
        title += f" (the first {len(drawn)} of {len(fitted)} variants)"
    height = 25.4 * (1.0 + 2.9 * len(drawn))
    return arranged(_SHEET, rows, height, widths=(1.25, 1), title=title)


def corpus_picture(corpus: CorpusSummary, cells: Sequence[MixtureCell]) -> Picture:
    """Draw many samples: p of their fit tests, the same against uniform ones, and their modes.

    Left the histogram of p (figure 5 of the paper), in the middle the ordered p against the
    quantiles of as many uniform values, with the band that holds each with 95 %, right the histogram
    of the number of modes, the level of variability (figure 6). Without fit tests the modes alone.
    """
    tests = [cell.fit_test for cell in cells if cell.fit_test is not None]
    levels = _levels(corpus)
    if not tests:
        return arranged(Sheet(width=_SHEET.width / 2), [[levels]], 85.0, title=_corpus_text(corpus))
    p = np.sort([test.pvalue for test in tests])
    row = [_pvalues(p, corpus), _uniform_quantiles(p), levels]
    return arranged(_SHEET, [row], 85.0, title=_corpus_text(corpus))


def corpus_alt(corpus: CorpusSummary) -> str:
    """Say in words what the picture of many samples shows."""
    tested = f", {corpus.rejected} of {corpus.tested} fit tests reject" if corpus.tested else ""
    modes = ", ".join(f"{count} with {level}" for level, count in corpus.modes.items())
    return f"{_corpus_text(corpus)}{tested}; samples by number of modes: {modes}"


def _corpus_text(corpus: CorpusSummary) -> str:
    return f"{corpus.samples} samples; components: {corpus.components.text}"


def _bars(axes: Axes, edges: Array, heights: Array) -> None:
    axes.y = Scale(0.0, 1.08 * float(heights.max()))
    axes.y_ticks = quantity_ticks(axes.y, "1", 5)
    axes.y_label = "share of samples"
    axes.curve(np.repeat(edges, 2), [0, *np.repeat(heights, 2), 0], "bars", closed=True)
    axes.segments(edges[1:-1], 0.0, edges[1:-1], np.minimum(heights[:-1], heights[1:]), "page hair")


def _unit_axis(axes: Axes, side: str, label: str) -> None:
    scale = Scale(-0.02, 1.02)
    setattr(axes, side, scale)
    setattr(axes, f"{side}_ticks", tuple(Tick(v, f"{v:g}") for v in (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)))
    setattr(axes, f"{side}_label", label)


def _pvalues(p: Array, corpus: CorpusSummary) -> Axes:
    axes = Axes(title=f"fit test: {100 * corpus.rejected / p.size:.3g} % have p up to 0.05")
    edges = np.linspace(0, 1, 21)  # one bar holds what is rejected at 5 %: p = 0.05 belongs to it
    places = np.searchsorted(edges + 1e-12, p, "left") - 1
    _bars(axes, edges, np.bincount(np.clip(places, 0, 19), minlength=20) / p.size)
    _unit_axis(axes, "x", "p of the fit test")
    axes.level(1 / 20, "one hair")
    return axes


def _uniform_quantiles(p: Array) -> Axes:
    from scipy.stats import beta

    n = p.size
    axes, rank = Axes(title="ordered p; grey: 95 % of uniform ones"), np.arange(1, n + 1)
    for side, label in (("x", "quantile of uniform values"), ("y", "p of the fit test")):
        _unit_axis(axes, side, label)
    at = (rank - 0.5) / n
    low, high = (np.array(beta.ppf(level, rank, n + 1 - rank)) for level in (0.025, 0.975))
    axes.curve([*at, *at[::-1]], [*low, *high[::-1]], "bars", closed=True)
    axes.line(0.0, 0.0, 1.0, 1.0, "one hair")
    axes.spots(at, p, "c0", r=1.6)
    return axes


def _levels(corpus: CorpusSummary) -> Axes:
    most = max(corpus.modes)
    axes = Axes(title="level of variability")
    shares = [corpus.modes.get(level, 0) / corpus.samples for level in range(1, most + 1)]
    _bars(axes, np.linspace(0.5, most + 0.5, most + 1), np.array(shares))
    axes.x = Scale(0.3, most + 0.7)
    axes.x_ticks = tuple(Tick(level, f"{level}") for level in range(1, most + 1))
    axes.x_label = "modes of a sample's mixture"
    return axes


def mixture_alt(cells: Sequence[MixtureCell]) -> str:
    """Say in words what the picture of one benchmark shows."""
    fitted = [cell for cell in cells if cell.mixture is not None]
    return "; ".join(_heading(cell).replace("\n", ", ") for cell in fitted[:_MOST])


def _heading(cell: MixtureCell) -> str:
    """Say what is drawn, and below it what a reader should know before believing it."""
    k, modes = cell.fitted.components, cell.fitted.modes().size
    title = (
        f"{cell.variant:.30}: {cell.values.size} runs, "
        f"{figures.counted(k, 'component')}, {figures.counted(modes, 'mode')}"
    )
    return "\n".join([title, *(caution.text for caution in cell.cautions)])


def window_of(cells: Sequence[MixtureCell]) -> Scale:
    """Give the axis: all values, and a margin."""
    return quantity_scale((v for cell in cells for v in cell.values.tolist()), log=False)


def draw_density(axes: Axes, cell: MixtureCell, css: str, *, unit: str) -> bool:
    """Draw the histogram of a cell's values, a rug below it, its mixture and the components.

    The axis of values is set already. Say whether the density goes on above the picture.
    """
    mixture, x = cell.fitted, cell.values
    edges = _bins(x)
    heights = np.histogram(x, bins=edges)[0] / x.size / np.diff(edges)
    grid = _places_in_picture(mixture, axes.x)
    curve = mixture.pdf(grid)
    bar, peak = float(heights.max()), float(curve.max())
    top = 1.08 * (_HEADROOM * bar if peak > _TALL * bar else max(peak, bar))
    axes.y = Scale(-0.06 * top, top)
    density_axis(axes, axes.x, unit, top)
    axes.curve(np.repeat(edges, 2), [0, *np.repeat(heights, 2), 0], "bars", closed=True)
    axes.keys = [Key("mixture", f"{css} thick")]
    for k in range(mixture.components if mixture.components > 1 else 0):
        alone = Mixture.from_parameters(
            weights=[1], means=mixture.means[[k]], sds=mixture.sds[[k]], scale=mixture.scale
        )
        axes.curve(grid, float(mixture.weights[k]) * alone.pdf(grid), "ink thin d1")
    if mixture.components > 1:
        axes.keys.append(Key("components", "ink thin d1"))
    axes.curve(grid, curve, f"{css} d0 thick")
    if x.size <= 2000:  # values above which the rug would be a band
        seen = "dense" if x.size < 200 else "pale"
        axes.segments(x, -0.055 * top, x, -0.012 * top, f"ink thin {seen}")
        axes.level(0, "one hair")
    inner = np.concatenate(([-np.inf], curve, [-np.inf]))
    peaks = np.flatnonzero((curve > top) & (curve >= inner[:-2]) & (curve > inner[2:]))
    if peaks.size:
        most = "up to " if peaks.size > 1 else ""
        axes.spots(grid[peaks], top, "ink", r=2.5, shape="up")
        text = f"goes on to {most}{curve.max() / top:.2g}x the height"
        axes.keys.append(Key(text, "ink", "up"))
    return bool(peaks.size)


def _distribution(axes: Axes, cell: MixtureCell, css: str) -> None:
    mixture, x = cell.fitted, np.sort(cell.values)
    share = np.arange(1, x.size + 1) / x.size
    axes.y = Scale(-0.02, 1.04)
    axes.y_ticks = quantity_ticks(axes.y, "1", 6)
    axes.y_label = "share of runs up to it"
    grid = _places_in_picture(mixture, axes.x)
    axes.curve(grid, mixture.cdf(grid), f"{css} thick")
    ends = ([axes.x.low, *x, axes.x.high], [0.0, *share, 1.0])
    axes.curve(*ends, "ink line", steps=True)
    model = mixture.cdf(x)
    above, below = share - model, model - (share - 1 / x.size)
    at = int(np.argmax(np.maximum(above, below)))
    end = share[at] if above[at] >= below[at] else share[at] - 1 / x.size
    distance = float(max(above[at], below[at]))
    role = "c1 bar" if css != "c1" else "ink bar"
    axes.line(x[at], model[at], x[at], end, role)
    axes.title = f"distance {distance:.3g}"
    test = cell.fit_test
    if test is not None:
        moved = ", ties spread" if test.ties == "jitter" else ""
        axes.title += f"; fit test p {figures.pvalue(test.pvalue)}{moved}"
    axes.keys = [
        Key("runs", "ink line"), Key("mixture", f"{css} thick"), Key("largest distance", role)
    ]  # fmt: skip


def _bins(x: Array) -> Array:
    """Give the histogram's edges: width by Freedman and Diaconis, within sensible numbers of bins."""
    low, high = float(x.min()), float(x.max())
    if not high > low:
        room = abs(low) * 0.01 or 1.0
        return np.array([low - room, low + room])
    quarter = float(np.subtract(*np.quantile(x, [0.75, 0.25])))
    sturges = math.ceil(math.log2(x.size)) + 1
    count = sturges
    if quarter > 0:
        count = max(sturges, math.ceil((high - low) / (2 * quarter) * x.size ** (1 / 3)))
    most = min(_MOST_BINS, 2 * math.ceil(math.sqrt(x.size)))  # a small sample has no fine shape
    edges = np.linspace(low, high, max(min(count, most), _FEWEST_BINS) + 1)
    distinct = np.unique(edges)  # a spread at the limit of rounding
    return distinct if distinct.size > 1 else np.array([low, high])


def _places_in_picture(mixture: Mixture, window: Scale) -> Array:
    """Give where the curves are computed: evenly, and closely around each narrow component."""
    even = np.linspace(window.low, window.high, 800)
    near = (mixture.means[:, None] + mixture.sds[:, None] * _AROUND).ravel()
    if mixture.scale == "log":
        with np.errstate(over="ignore"):
            near = np.exp(near)
    inside = near[(near >= even[0]) & (near <= even[-1])]
    places = np.unique(np.concatenate((even, inside)))
    return places[places > 0] if mixture.scale == "log" else places
