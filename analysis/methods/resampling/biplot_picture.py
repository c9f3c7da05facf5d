"""The biplot as a picture: systems as points, benchmarks as arrows, and the names that find room."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ...errors import InsufficientDataError
from ...plots.axes import Axes, Key, Scale, Tick, quantity_ticks
from ...plots.chart import Sheet, arranged
from ...plots.labels import Box, Placed, Wanted, placed
from ...plots.paper import SMALL, Picture
from ...plots.svg import wide
from ...stats.samples import Array
from ...words import shorten, shown
from .biplot import SCALES, Biplot

_SYSTEMS, _BENCHMARKS = 40, 30  # named at most; the others are drawn without a name
_BESIDE = 120.0  # mm of width, from which on the shares of components stand beside
_FEWEST = 3  # systems that can lie otherwise than on a line
_BARS, _MANY = 6, 12  # components with a bar: beside a biplot, and in a figure of their own
_ROOM = 0.13  # of the extent, around it
_FAR = 14  # points, from which on a thin line leads from a name to its place
_DISTANCES = (5.0, 9.0, 15.0, 23.0, 33.0, 46.0)  # points from the place to its name
_NAME = 22  # letters


def biplot_picture(result: Biplot, sheet: Sheet | None = None) -> Picture:
    """Draw a biplot of the first two components, and beside it the explained variance.

    On a `sheet` for a paper nothing is said above it, and a narrow one leaves out the shares of
    further components. Arrows have the direction and relative length of the loadings; one factor fits
    them to the points. A name without room is left out, the innermost first, and counted.
    """
    if len(result.systems) < _FEWEST:
        raise InsufficientDataError(
            "a biplot of two systems is a line, whatever they are: there is nothing to see",
            fix="give 3 or more systems; of two, 'fairtrial plot forest' shows the speedups",
            n=len(result.systems),
            needed=_FEWEST,
        )
    title, height = "", 157.5
    broad = sheet is None or sheet.width >= _BESIDE
    if sheet is None:
        sheet = Sheet(width=233.7)
        n, p = len(result.systems), len(result.benchmarks)
        title = (
            f"{n} systems (points) over {p} benchmark{'s' * (p > 1)} (arrows) · "
            f"{SCALES[result.scale]}"
        )
    else:
        height = sheet.width * (0.62 if broad else 0.95)
    plane = _Plane(result, sheet)
    row = [plane.axes, *([_shares(result)] if broad else [])]
    return arranged(sheet, [row], height, widths=(4.2, 1) if broad else (1,), title=title)


def shares_picture(result: Biplot, sheet: Sheet) -> Picture:
    """Draw the components' shares of the variance alone, with a line of their sums."""
    axes = _shares(result, _MANY if sheet.width >= _BESIDE else _BARS)
    together = (100 * np.cumsum(result.explained[: len(axes.x_ticks)])).tolist()
    places = [tick.value for tick in axes.x_ticks]
    axes.curve(places, together, "ink curve")
    axes.spots(places, together, "ink", r=1.6)
    axes.keys = [Key("each", "c5", "square"), Key("together", "ink curve")]
    return arranged(sheet, [[axes]], sheet.width * (0.45 if sheet.width >= _BESIDE else 0.7))


def _shares(result: Biplot, most: int = _BARS) -> Axes:
    shares = (100 * result.explained[: min(max(result.rank, 2), most)]).tolist()
    more = result.rank - len(shares)
    axes = Axes(
        x=Scale(0.4, max(len(shares), 2) + 0.6), y=Scale(0, 108),
        x_ticks=[Tick(float(k), f"{k}") for k in range(1, len(shares) + 1)],
        y_ticks=[Tick(float(share), f"{share}") for share in range(0, 101, 20)],
        x_label="component" + (f" ({more} more)" if more > 0 else ""),
        y_label="variance explained, %",
    )  # fmt: skip
    for k, share in enumerate(shares, 1):
        axes.band(k - 0.35, k + 0.35, 0, share, "c5")
        axes.text(k, share, f"{share:.1f}", "ink small", anchor="middle", dy=-5)
    return axes


class _Plane:
    """Points and arrows in one unit; what needs lengths is drawn when the area has its place."""

    def __init__(self, result: Biplot, sheet: Sheet) -> None:
        self.result, self.sheet = result, sheet
        self.points = _planar(result.scores)
        self.unit = float(np.abs(self.points).max())
        self.points = self.points / self.unit
        tips = _planar(result.loadings[:, : result.rank])
        self.tips = tips * (np.hypot(*self.points.T).max() / np.hypot(*tips.T).max() * 0.85)
        every = np.vstack([self.points, self.tips, [[0, 0]]])
        self.low, self.high = every.min(axis=0), every.max(axis=0)
        shares = [result.explained[k] if k < result.rank else 0.0 for k in range(2)]
        labels = [
            f"PC{k + 1} ({100 * share:.1f} % of the variance)"
            if share > 0
            else f"PC{k + 1} (no variance)"
            for k, share in enumerate(shares)
        ]
        self.axes = Axes(x_label=labels[0], y_label=labels[1], title=" ", then=self.draw)
        self.axes.title_css = "baseline small"
        self.set_scales(1.0, 1.0)

    def set_scales(self, width: float, height: float) -> float:
        """Take one unit on both axes, so that angles and distances are what they look like."""
        reach = np.maximum(self.high - self.low, 1e-9) * (1 + 2 * _ROOM)
        each = float(max(reach[0] / width, reach[1] / height))
        middle = (self.low + self.high) / 2
        for side, at, length in zip("xy", middle.tolist(), (width, height), strict=True):
            scale = Scale(at - each * length / 2, at + each * length / 2)
            setattr(self.axes, side, scale)
            setattr(self.axes, f"{side}_ticks", self.ticks(scale))
        return each

    def ticks(self, scale: Scale) -> list[Tick]:
        """Give round numbers in the scores' unit; its power of ten is left out while they are chosen."""
        unit = self.unit
        head = unit / 10.0 ** math.floor(math.log10(unit)) if 1e-300 < unit < 1e300 else 1.0
        rounds = quantity_ticks(Scale(scale.low * head, scale.high * head), "1", 7)
        return [Tick(one.value / head, f"{one.value / head * unit:.4g}") for one in rounds]

    def draw(self, axes: Axes, box: Box) -> None:
        """Draw arrows below points below names."""
        each = self.set_scales(box.right - box.left, box.bottom - box.top)
        axes.level(0, "one hair")
        axes.upright(0, "one hair")
        named = _farthest(self.tips, _BENCHMARKS)
        others = np.setdiff1d(np.arange(len(self.tips)), named)
        axes.segments(0, 0, self.tips[others, 0], self.tips[others, 1], "faintest hair")
        for k in named:
            length = float(np.hypot(*self.tips[k]))
            if length > 0:
                back, aside = self.tips[k] / length, self.tips[k][::-1] / length * (-1, 1)
                base = self.tips[k] - back * min(length, 6 * each)
                axes.line(0, 0, float(base[0]), float(base[1]), "c1 rim")
                corners = np.array(
                    [self.tips[k], base + 2.1 * each * aside, base - 2.1 * each * aside]
                )
                axes.curve(corners[:, 0], corners[:, 1], "c1", closed=True)
        axes.spots(self.points[:, 0], self.points[:, 1], "c0 edged", r=2.7)
        self.names(axes, box, each, [k for k in named if np.hypot(*self.tips[k]) > 0])

    def names(self, axes: Axes, box: Box, each: float, arrows: Sequence[int]) -> None:
        """Write the names where they cover neither points nor each other, as far as there is room."""
        size = SMALL * self.sheet.font_size

        def at(place: Array) -> tuple[float, float]:
            return (
                box.left + (float(place[0]) - axes.x.low) / each,
                box.bottom - (float(place[1]) - axes.y.low) / each,
            )

        middle = at(np.zeros(2))
        points, tips = [at(one) for one in self.points], [at(self.tips[k]) for k in arrows]
        taken = [Box(x - 3, y - 3, x + 3, y + 3) for x, y in points]
        along = [
            Box(x - 1, y - 1, x + 1, y + 1)
            for tip in tips
            for share in np.linspace(0.4, 1, 9).tolist()
            for x, y in [tuple(m + share * (t - m) for m, t in zip(middle, tip, strict=True))]
        ]
        left = []
        groups = (
            ("points", self.result.systems, _farthest(self.points, _SYSTEMS), points, "c0", len(points)),
            ("arrows", self.result.benchmarks, arrows, dict(zip(arrows, tips, strict=True)), "arrows", len(self.tips)),
        )  # fmt: skip
        for kind, names, chosen, places, css, count in groups:
            wanted = [
                Wanted(
                    shorten(shown(names[k]), _NAME), *places[k], -rank,
                    (places[k][0] - middle[0], places[k][1] - middle[1]) if kind == "arrows" else None,
                )
                for rank, k in enumerate(chosen)
            ]  # fmt: skip
            drawn = 0
            for strict in (
                True,
                False,
            ):  # where there is no room beside the arrows, a name lies on one
                found = placed(
                    wanted, frame=box, taken=[*taken, *(along if strict else ())], size=size,
                    measure=lambda text: wide(text, size, self.sheet.font_family), distances=_DISTANCES,
                )  # fmt: skip
                for one, name in zip(found, wanted, strict=True):
                    if one is None:
                        continue
                    drawn += 1
                    taken.append(one.box)
                    self.name(box, each, one, name, f"{css} small hollow")
                wanted = [name for one, name in zip(found, wanted, strict=True) if one is None]
            if count > drawn:
                left.append(f"{kind} without a name: {count - drawn}")
        axes.title = "; ".join(left)

    def name(self, box: Box, each: float, one: Placed, wanted: Wanted, css: str) -> None:
        """Write a name; a thin line leads to its place if that is far."""
        axes, own = self.axes, one.box

        def back(x: float, y: float) -> tuple[float, float]:
            return axes.x.low + (x - box.left) * each, axes.y.low + (box.bottom - y) * each

        near = (
            min(max(wanted.x, own.left), own.right),
            min(max(wanted.y, own.top), own.bottom),
        )
        if math.dist(near, (wanted.x, wanted.y)) > _FAR:
            axes.line(*back(*near), *back(wanted.x, wanted.y), "ink hair faint")
        axes.text(*back(own.left, (own.top + own.bottom) / 2), one.text, css)


def _planar(table: Array) -> Array:
    """Give the first two columns; zeros stand for a second that is missing."""
    flat = np.zeros((table.shape[0], 2))
    flat[:, : min(2, table.shape[1])] = table[:, :2]
    return flat


def _farthest(places: Array, most: int) -> list[int]:
    """Give the indices of those farthest out, farthest first; an arrow may have no length."""
    far = np.hypot(*places.T)
    return [int(k) for k in np.argsort(-far, kind="stable")[:most]]
