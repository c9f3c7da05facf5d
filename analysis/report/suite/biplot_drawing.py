"""The biplot as a picture: points, arrows, and the names that find room."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from ...plots.labels import Box, Wanted, placed
from ...plots.marks import Mark, band, dot, label, line
from ...plots.svg import plot

if TYPE_CHECKING:
    from .result import Plane, PlaneMark

__all__ = ["biplot_plot"]

_SIDE = 328.0  # it keeps its ratio: as wide as a telephone's page
_EDGE = 6.0
_POINT = 5.0
_SAME = 4.0  # points that are nearer than this are one, with all their names
_NAMES = 2  # of them that are written
_ARROW = 0.86  # length of the longest arrow, of the distance of the farthest point
_ARROWS = 60  # more are drawn as lines without heads
_NAMED = 24  # arrows that may have a name

Place = tuple[float, float]


def biplot_plot(plane: Plane, names: Mapping[str, str], alt: str) -> str:
    """Draw points and arrows in a square that does not stretch, with the names that find room.

    Parameters
    ----------
    plane : Plane
        What is drawn.
    names : mapping of str to str
        How each name is shown.
    alt : str
        What it shows.
    """
    points, tips = _geometry(plane)
    middle = _SIDE / 2
    heads = len(tips) <= _ARROWS
    path = "".join(shaft + (head if heads else "") for shaft, head in (_arrow(tip) for tip in tips))
    marks: list[Mark] = [
        line(0, middle, 1, middle, "grid"),
        line(0.5, 0, 0.5, _SIDE, "grid"),
        f'<path class="suite-arrow" d="{path}"/>',
        *(
            dot(x / _SIDE, y, mark.style, r=_POINT)
            for mark, (x, y) in zip(plane.variants, points, strict=True)
        ),
    ]
    frame = Box(0, 0, _SIDE, _SIDE)
    taken = [Box(x - 7, y - 7, x + 7, y + 7) for x, y in points]
    ends = [box for tip in tips[:_ARROWS] for box in _along(tip)]
    wanted, styles = _point_names(plane.variants, points, names)
    heads_only = [Box(x - 3, y - 3, x + 3, y + 3) for x, y in tips[:_ARROWS]]
    told = placed(wanted, frame=frame, taken=[*taken, *heads_only], bold=True)
    for one, css in zip(told, styles, strict=True):
        if one is not None:  # arrows go on below the name
            box = one.box
            left, right = box.left / _SIDE, box.right / _SIDE
            marks.append(band(left, right, box.top, box.bottom, "suite-under"))
            style = f"suite-point {css}"
            marks.append(label(one.x / _SIDE, one.y, one.text, style, anchor=one.anchor))
    full = [*taken, *ends, *(one.box for one in told if one is not None)]
    marks += [
        label(one.x / _SIDE, one.y, one.text, "suite-end", anchor=one.anchor)
        for one in placed(_end_names(plane.benchmarks, tips, names), frame=frame, taken=full)
        if one is not None
    ]
    return plot(_SIDE, marks, alt)


def _point_names(
    marks: Sequence[PlaneMark], points: Sequence[Place], names: Mapping[str, str]
) -> tuple[list[Wanted], list[str]]:
    """Give the points' names, and the role of each; those that lie on each other have one label."""
    groups: list[list[int]] = []
    for k, point in enumerate(points):
        near = (group for group in groups if math.dist(points[group[0]], point) < _SAME)
        found = next(near, None)
        if found is None:
            groups.append([k])
        else:
            found.append(k)
    wanted: list[Wanted] = []
    styles: list[str] = []
    for group in groups:
        told = ", ".join(names[marks[k].name] for k in group[:_NAMES])
        more = f" +{len(group) - _NAMES}" if len(group) > _NAMES else ""
        wanted.append(Wanted(f"{told}{more}", *points[group[0]], len(group)))
        alike = {marks[k].style for k in group}
        styles.append(alike.pop() if len(alike) == 1 else "neither")
    return wanted, styles


def _end_names(
    marks: Sequence[PlaneMark], tips: Sequence[Place], names: Mapping[str, str]
) -> list[Wanted]:
    """Give the names of the longest arrows, ahead of them."""
    middle = _SIDE / 2
    lengths = [math.dist(tip, (middle, middle)) for tip in tips]
    longest = sorted(range(len(tips)), key=lambda k: (-lengths[k], k))[:_NAMED]
    return [
        Wanted(
            names[marks[k].name],
            *tips[k],
            lengths[k],
            away=(tips[k][0] - middle, tips[k][1] - middle),
        )
        for k in longest
        if lengths[k] > 0
    ]


def _geometry(plane: Plane) -> tuple[list[Place], list[Place]]:
    """Give points and arrows' tips in pixels; one factor fits the arrows to the points."""
    points, tips = _known(plane.variants), _known(plane.benchmarks)
    far = max(math.hypot(x, y) for x, y in points) or 1.0
    long = max(math.hypot(x, y) for x, y in tips) or 1.0
    half = _SIDE / 2 - _EDGE - _POINT
    reach = max(max(abs(x), abs(y)) for x, y in points) or 1.0
    unit = half * 0.8 / max(reach, far * _ARROW)
    stretch = unit * far * _ARROW / long

    def place(xy: Place, factor: float) -> Place:
        return _SIDE / 2 + factor * xy[0], _SIDE / 2 - factor * xy[1]

    return [place(one, unit) for one in points], [place(one, stretch) for one in tips]


def _known(marks: Iterable[PlaneMark]) -> list[Place]:
    return [(float(mark.x.value or 0), float(mark.y.value or 0)) for mark in marks]


def _arrow(tip: Place) -> tuple[str, str]:
    """Give an arrow from the middle: its shaft, and its head."""
    x, y = tip
    middle = _SIDE / 2
    shaft = f"M{middle:g} {middle:g}L{x:.1f} {y:.1f}"
    length = math.hypot(x - middle, y - middle)
    if length < 8:
        return shaft, ""
    along = ((x - middle) / length, (y - middle) / length)
    ends = [
        (x - 7 * along[0] + side * 3 * along[1], y - 7 * along[1] - side * 3 * along[0])
        for side in (1, -1)
    ]
    (a, b), (c, d) = ends
    return shaft, f"M{a:.1f} {b:.1f}L{x:.1f} {y:.1f}L{c:.1f} {d:.1f}"


def _along(tip: Place) -> list[Box]:
    """Cover the outer half of an arrow with small boxes, so that no name lies on it."""
    middle = _SIDE / 2
    places = [0.5 + 0.1 * k for k in range(6)]
    return [
        Box(x - 1.5, y - 1.5, x + 1.5, y + 1.5)
        for share in places
        for x, y in [(middle + share * (tip[0] - middle), middle + share * (tip[1] - middle))]
    ]
