"""A biplot in words and as a picture: systems as points, benchmarks as arrows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import InsufficientDataError
from ...pages import number_format as figures
from ...pages.model import (
    Cell,
    Column,
    Figure as PageFigure,
    Page,
    Section,
    Sentence,
    Table,
    Value,
    page_of,
)
from ...plots.drawing import INK, PALE, Sheet, look
from ...plots.palette import COLOURS
from ...stats.samples import Array
from ...words import shorten, shown
from .fit import SCALES, Biplot

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_SYSTEMS, _BENCHMARKS = 40, 30  # named at most; the others are drawn without a name
_BESIDE = 120.0  # mm of width, from which on the shares of components stand beside
_FEWEST = 3  # systems that can lie otherwise than on a line
_OVER = 60.0  # cost from which a name lies over something
_DISTANCES = (5, 9, 15, 23, 33, 46)  # points from the place to its name
_ANGLES = 16
_FAINT = "#f0c9b3"  # arrows without a name
_FAR = 14  # points, from which on a thin line leads from a name to its place
_DARK = "#a84300"  # of the arrows' names: their colour, dark enough to be read


def biplot_figure(result: Biplot, sheet: Sheet | None = None) -> Figure:
    """Draw a biplot of the first two components, and beside it the explained variance.

    On a `sheet` for a paper nothing is said above it, and a narrow one leaves out the shares of
    further components.

    Arrows have the direction and relative length of the loadings; one factor fits them to the
    points. A name without room is left out, the innermost first, and counted.
    """
    from matplotlib.figure import Figure

    if len(result.systems) < _FEWEST:
        raise InsufficientDataError(
            "a biplot of two systems is a line, whatever they are: there is nothing to see",
            fix="give 3 or more systems; of two, 'fairtrial plot forest' shows the speedups",
            n=len(result.systems),
            needed=_FEWEST,
        )

    wide = sheet is None or sheet.width >= _BESIDE
    size = (9.2, 6.2)
    if sheet is not None:
        size = (sheet.inches, sheet.inches * (0.62 if wide else 0.95))
    with look(sheet):
        figure = Figure(figsize=size, layout="constrained")
        if wide:
            axes, side = figure.subplots(1, 2, width_ratios=[4.2, 1])
            _scree(side, result)
        else:
            axes = figure.subplots()
        _picture(axes, result)
        if sheet is None:
            n, p = len(result.systems), len(result.benchmarks)
            figure.suptitle(
                f"{n} systems (points) over {p} benchmark{'s' * (p > 1)} (arrows) · "
                f"{SCALES[result.scale]}",
                fontsize=10,
                x=0.01,
                ha="left",
            )
        _name_all(figure, axes, result)
    return figure


def _geometry(result: Biplot) -> tuple[Array, Array, float]:
    """Give points and arrow tips in one unit, and the unit's size."""

    def planar(table: Array) -> Array:
        """Give the first two columns; zeros stand for a second that is missing."""
        flat = np.zeros((table.shape[0], 2))
        flat[:, : min(2, table.shape[1])] = table[:, :2]
        return flat

    points = planar(result.scores)
    unit = float(np.abs(points).max())
    points = points / unit
    tips = planar(result.loadings[:, : result.rank])
    reach = np.hypot(*points.T).max() / np.hypot(*tips.T).max() * 0.85
    return points, tips * reach, unit


def _picture(axes: Axes, result: Biplot) -> None:
    points, tips, unit = _geometry(result)
    axes.axhline(0, color=PALE, linewidth=0.6, zorder=0)
    axes.axvline(0, color=PALE, linewidth=0.6, zorder=0)
    shown = _named(tips, _BENCHMARKS)
    others = np.setdiff1d(np.arange(len(tips)), shown)
    if others.size:
        from matplotlib.collections import LineCollection

        lines = [np.vstack([[0, 0], tips[k]]) for k in others]
        axes.add_collection(LineCollection(lines, colors=_FAINT, linewidths=0.5), autolim=False)
    for k in shown:
        arrow = {"arrowstyle": "-|>", "color": COLOURS[1], "linewidth": 1.1}
        arrow |= {"shrinkA": 0, "shrinkB": 0, "mutation_scale": 9}
        axes.annotate("", xy=tuple(tips[k].tolist()), xytext=(0, 0), arrowprops=arrow, zorder=2)
    axes.scatter(
        points[:, 0],
        points[:, 1],
        s=26,
        color=COLOURS[0],
        edgecolor="white",
        linewidth=0.5,
        zorder=3,
    )
    axes.update_datalim(np.vstack([points, tips, [[0, 0]]]))  # arrows do not count by themselves
    axes.margins(0.13)
    # one scale on both axes, so that angles and distances are what they look like
    axes.set_aspect("equal", adjustable="datalim")
    for k, axis in enumerate((axes.xaxis, axes.yaxis)):
        share = result.explained[k] if k < result.rank else 0.0
        words = f"PC{k + 1} ({100 * share:.1f} % of the variance)"
        axis.set_label_text(words if share > 0 else f"PC{k + 1} (no variance)")
        axis.set_major_formatter(lambda value, _: f"{value * unit:.4g}")
        axis.set_major_locator(_locator(unit))


def _locator(unit: float) -> Any:  # noqa: ANN401 - matplotlib's classes are imported late
    """Give a locator of round numbers in the scores' unit, on an axis drawn in `unit`."""
    from matplotlib.ticker import Locator, MaxNLocator

    rounds = MaxNLocator(nbins=7, steps=[1, 2, 2.5, 5, 10])
    # what is left of the unit after its power of ten: ticks are round numbers of this
    head = unit / 10.0 ** math.floor(math.log10(unit)) if 1e-300 < unit < 1e300 else 1.0

    class Rounded(Locator):
        def __call__(self) -> Any:  # noqa: ANN401 - as its parent
            assert self.axis is not None
            low, high = self.axis.get_view_interval()
            return self.tick_values(low, high)

        def tick_values(self, vmin: float, vmax: float) -> Any:  # noqa: ANN401 - as its parent
            return np.asarray(rounds.tick_values(vmin * head, vmax * head)) / head

    return Rounded()


def _scree(axes: Axes, result: Biplot) -> None:
    """Draw the components' shares as bars."""
    shares = 100 * result.explained[: min(max(result.rank, 2), 6)]
    axes.bar(range(1, len(shares) + 1), shares, color=COLOURS[5], width=0.7)
    for k, share in enumerate(shares, 1):
        axes.annotate(
            f"{share:.1f}", (k, share), (0, 2), textcoords="offset points", ha="center",
            fontsize="x-small",
        )  # fmt: skip
    more = result.rank - len(shares)
    axes.set_xticks(range(1, len(shares) + 1))
    axes.set_xlim(0.4, max(len(shares), 2) + 0.6)
    axes.set_ylim(0, 108)
    axes.set_ylabel("variance explained, %")
    axes.set_xlabel("component" + (f" ({more} more)" if more > 0 else ""))


def _named(places: Array, most: int) -> list[int]:
    """Give the indices of those farthest out, farthest first; an arrow may have no length."""
    far = np.hypot(*places.T)
    return [int(k) for k in np.argsort(-far, kind="stable")[:most]]


def _name_all(figure: Figure, axes: Axes, result: Biplot) -> None:
    """Write the names where they cover neither points nor each other, as far as there is room."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    FigureCanvasAgg(figure)
    figure.draw_without_rendering()  # the layout must stand before lengths in pixels are known
    points, tips, _ = _geometry(result)
    to_pixels = axes.transData.transform
    at_points, at_tips, origin = to_pixels(points), to_pixels(tips), to_pixels((0, 0))
    arrows = [k for k in _named(tips, _BENCHMARKS) if np.hypot(*tips[k]) > 0]
    names = _Names(axes, at_points, [(origin, at_tips[k]) for k in arrows])
    drawn = [
        sum(
            names.write(result.systems[k], at_points[k], COLOURS[0])
            for k in _named(points, _SYSTEMS)
        ),
        sum(
            names.write(result.benchmarks[k], at_tips[k], _DARK, away=at_tips[k] - origin)
            for k in arrows
        ),
    ]
    left = [
        f"{kind} without a name: {count - named}"
        for kind, count, named in zip(
            ("points", "arrows"), (len(points), len(tips)), drawn, strict=True
        )
        if count > named
    ]
    if left:
        axes.set_title("; ".join(left), fontsize="small", color=PALE)


class _Names:
    """Names in a picture: each goes to the place near its point where it is read best."""

    def __init__(self, axes: Axes, points: Array, arrows: Sequence[tuple[Array, Array]]) -> None:
        self._axes = axes
        self._scale = axes.figure.dpi / 72
        self._frame = np.array(axes.get_window_extent().extents)
        # boxes as left, bottom, right, top
        self._taken = [np.concatenate([point - 4, point + 4]) for point in points]
        self._starts = np.array([start for start, _ in arrows]).reshape(-1, 2)
        self._stops = np.array([stop for _, stop in arrows]).reshape(-1, 2)

    def write(self, name: str, place: Array, colour: str, *, away: Array | None = None) -> bool:
        """Write a name beside a place in pixels; for an arrow ahead of it, in the way `away`."""
        text = self._axes.text(
            0,
            0,
            shorten(shown(name), 22),
            fontsize="small",
            color=colour,
            horizontalalignment="center",
            verticalalignment="center",
            zorder=4,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.4, "alpha": 0.75},
        )
        size = text.get_window_extent()
        half = np.array([size.width, size.height]) / 2
        centre = self._best(place, half, away)
        if centre is None:
            text.remove()
            return False
        self._taken.append(np.concatenate([centre - half, centre + half]))
        # in the data's coordinates: the figure may be written at any resolution
        back = self._axes.transData.inverted().transform
        text.set_position(tuple(back(centre)))
        if np.hypot(*np.maximum(np.abs(centre - place) - half, 0)) > _FAR * self._scale:
            ends = back([centre + np.clip(place - centre, -half, half), place])
            self._axes.plot(*ends.T, color=INK, linewidth=0.4, alpha=0.6, zorder=1)
        return True

    def _best(self, place: Array, half: Array, away: Array | None) -> Array | None:
        """Give the centre that costs least: far off, aside, over an arrow; None if all are taken."""
        turns = np.arange(_ANGLES)
        steps = (turns + 1) // 2  # right or ahead first, then ever more to both sides
        start = 0.0 if away is None else math.atan2(away[1], away[0])
        angles = start + steps * np.where(turns % 2, 1, -1) * 2 * math.pi / _ANGLES
        directions = np.column_stack([np.cos(angles), np.sin(angles)])
        reach = half + np.array(_DISTANCES)[:, None, None] * self._scale / 2
        centres = (place + directions * reach).reshape(-1, 2)
        aside = steps * (0.6 if away is None else 1.5)
        cost = (np.array(_DISTANCES)[:, None] * 0.5 + aside).ravel()
        boxes = np.hstack([centres - half, centres + half])
        over = _covering(boxes, np.array(self._taken))
        cost = cost + over
        cost += 60.0 * _crossing(boxes, self._starts, self._stops)
        outside = (boxes[:, :2] < self._frame[:2]) | (boxes[:, 2:] > self._frame[2:])
        cost += 1000.0 * outside.any(axis=1)
        best = int(cost.argmin())
        return None if over[best] > _OVER or outside[best].any() else np.asarray(centres[best])


def _covering(boxes: Array, taken: Array) -> Array:
    """Give what it costs each box to lie over those taken: a sum, and the area in pixels."""
    low = np.maximum(boxes[:, None, :2], taken[None, :, :2])
    high = np.minimum(boxes[:, None, 2:], taken[None, :, 2:])
    sides = np.maximum(high - low, 0)
    area = sides[..., 0] * sides[..., 1]
    return np.asarray((area + 400 * (area > 0)).sum(axis=1))


def _crossing(boxes: Array, starts: Array, stops: Array) -> Array:
    """Count the lines that enter each box: their parts inside both pairs of sides meet."""
    step = (stops - starts)[None, :, :]
    step = np.where(np.abs(step) < 1e-9, 1e-9, step)
    one = (boxes[:, None, :2] - starts) / step
    two = (boxes[:, None, 2:] - starts) / step
    enter = np.maximum(np.minimum(one, two).max(axis=2), 0)
    leave = np.minimum(np.maximum(one, two).min(axis=2), 1)
    return np.asarray((enter <= leave).sum(axis=1), dtype=np.float64)


_COMPONENTS = 8  # of which the shares are given
_ROWS = 30  # of a table of coordinates
_CORRELATED = 9  # benchmarks, up to which all correlations are given
_NAME_IN_TEXT = 32


@page_of.register(Biplot)
def _biplot_page(result: Biplot) -> Page:
    sections = [
        Section((Sentence(result.conclusion),)),
        Section((_figure(result),)),
        Section((_components(result),)),
        _coordinates("system", result.systems, "scores", result.scores, rank=result.rank),
        _coordinates("benchmark", result.benchmarks, "loadings", result.loadings, rank=result.rank),
    ]
    if len(result.benchmarks) > 1:
        sections.append(_correlations(result))
    n, p = len(result.systems), len(result.benchmarks)
    return Page(
        title=f"biplot of {n} systems over {p} benchmark{'s' * (p > 1)}",
        sections=tuple(sections),
        cautions=result.cautions,
    )


def _figure(result: Biplot) -> PageFigure:
    return PageFigure(
        name="biplot",
        alt=f"The systems {figures.listed(result.systems)} as points and the benchmarks "
        f"{figures.listed(result.benchmarks)} as arrows in the plane of the first two components; "
        "beside it bars of the variance that each component explains. The tables below give the "
        "coordinates",
        draw=partial(biplot_figure, result),
    )


def _components(result: Biplot) -> Table:
    count = min(result.rank, _COMPONENTS)
    rows = (
        ("share of the variance", result.explained),
        ("together", np.cumsum(result.explained)),
    )
    return Table(
        name="components",
        columns=(Column("", "left"), *_headings(count)),
        rows=tuple(
            (label, *(Value(f"{100 * share:.2f} %", share) for share in shares[:count].tolist()))
            for label, shares in rows
        ),
    )


def _headings(count: int) -> tuple[Column, ...]:
    return tuple(Column(f"PC{k + 1}") for k in range(count))


def _coordinates(kind: str, names: Sequence[str], what: str, table: Array, *, rank: int) -> Section:
    count = min(rank, 2)
    # where there are too many, those that lie farthest from the middle of the picture
    order = list(range(len(names)))
    if len(order) > _ROWS:
        far = np.hypot(table[:, 0], table[:, count - 1])
        order = sorted(np.argsort(-far, kind="stable")[:_ROWS].tolist())
    columns = [table[:, k].tolist() for k in range(count)]
    cells = [
        list(map(Value, _written(column, 3 if what == "loadings" else None), column))
        for column in columns
    ]
    rows: list[tuple[Cell, ...]] = [
        (shorten(names[k], _NAME_IN_TEXT), *(column[k] for column in cells)) for k in order
    ]
    block = Table(name=what, columns=(Column(kind, "left"), *_headings(count)), rows=tuple(rows))
    more = len(names) - len(order)
    if not more:
        return Section((block,), title=what)
    rest = Sentence(f"and {more} {kind}s nearer to the middle (--json gives all)")
    return Section((block, rest), title=what)


def _correlations(result: Biplot) -> Section:
    if len(result.benchmarks) > _CORRELATED:
        return _extreme_correlations(result)
    names = [shorten(name, 7) for name in result.benchmarks]
    rows: list[tuple[Cell, ...]] = []
    for name, row in zip(result.benchmarks, result.correlations.tolist(), strict=True):
        cells = ["-" if math.isnan(r) else Value(f"{r:.2f}", r) for r in row]
        rows.append((shorten(name, 16), *cells))
    columns = (Column("", "left"), *map(Column, names))
    table = Table(name="correlations", columns=columns, rows=tuple(rows))
    return Section((table,), title="correlations of the benchmarks")


def _extreme_correlations(result: Biplot) -> Section:
    upper = np.triu_indices(len(result.benchmarks), 1)
    r = result.correlations[upper]
    known = np.flatnonzero(~np.isnan(r))
    if not known.size:
        return Section((Sentence("correlations: fewer than two benchmarks vary"),))
    r = r[known]

    def row(label: str, k: int) -> tuple[Cell, ...]:
        i, j = (int(index[known[k]]) for index in upper)
        pair = " and ".join(shorten(result.benchmarks[q], 24) for q in (i, j))
        return label, Value(f"{r[k]:+.2f}", float(r[k])), pair

    table = Table(
        name="correlations",
        columns=(Column("", "left"),) * 3,
        rows=(row("least", int(r.argmin())), row("most", int(r.argmax()))),
        headed=False,
    )
    title = f"correlations of the {len(r):,} pairs of benchmarks: median {np.median(r):.2f}"
    return Section((table,), title=title)


def _written(values: list[float], decimals: int | None) -> list[str]:
    """Write values with as many decimals; None: with four digits of the largest value."""
    if decimals is None:
        # all are 0 where the variance is below the smallest number
        top = math.floor(math.log10(max(map(abs, values)) or 1.0))
        if not -4 <= top < 7:
            return [f"{value:+.3e}" for value in values]
        decimals = max(0, 3 - top)
    return [f"{round(value, decimals) + 0.0:+.{decimals}f}" for value in values]
