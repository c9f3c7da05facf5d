"""The biplot of the variants: the existing fit, and its picture with the names that find room."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import plots
from ...errors import FairtrialError
from ...methods.biplot.fit import biplot
from ...pages.model import Value
from ...words import shown

if TYPE_CHECKING:
    from markupsafe import Markup
    from numpy.typing import NDArray

    from ...plots import Box, Wanted
    from ..subject import Subject

__all__ = ["biplot_plot", "plane_of"]

_LEAST = 3  # variants: two lie on a line whatever they are
_SIDE = 328.0  # the picture keeps its ratio: as wide as a telephone's page
_MIDDLE = _SIDE / 2
_EDGE = 6.0
_POINT = 5.0
_SAME = 4.0  # points that are nearer than this are one, with all their names
_NAMES = 2  # of them that are written
_ARROW = 0.86  # length of the longest arrow, of the distance of the farthest point
_ARROWS = 60  # more are drawn as lines without heads
_NAMED = 24  # arrows that may have a name

Place = tuple[float, float]
Mark = Mapping[str, Any]


def plane_of(subject: Subject, styles: Mapping[str, str]) -> Mapping[str, Any] | str:
    """Fit the medians of all variants on the benchmarks that all of them have; or say why not.

    ``variants`` are points and ``benchmarks`` the ends of arrows in the first two components;
    ``shares`` are these components' parts of the variance in percent.
    """
    matrices = {name: one for name, one in subject.matrices.items() if one.benchmarks}
    if len(matrices) < _LEAST:
        return "A biplot needs three variants or more: two lie on a line whatever they are."
    common = [
        bench
        for bench in subject.order
        if all(bench in matrix.benchmarks for matrix in matrices.values())
    ]
    if len(common) < 2:
        return "A biplot needs two benchmarks or more that all variants have."
    table = np.array([matrix.select(common).medians() for matrix in matrices.values()])
    try:
        found = biplot(table, list(matrices), common)
    except FairtrialError as error:
        return f"No biplot: {error.what}."
    roles = {name: styles.get(name, "neither") for name in found.systems}
    shares = (100 * float(part) for part in found.explained[: min(2, found.rank)])
    return {
        "variants": _marks_of(roles, found.scores),
        "benchmarks": _marks_of(
            dict.fromkeys(found.benchmarks, "baseline"), found.loadings[:, : found.rank]
        ),
        "shares": tuple(
            Value("< 0.1" if 0 < share < 0.05 else f"{share:.1f}", share) for share in shares
        ),
        "conclusion": found.conclusion,
        "cautions": tuple(caution.text for caution in found.cautions),
    }


def _marks_of(roles: Mapping[str, str], places: NDArray[np.float64]) -> tuple[Mark, ...]:
    """Give names and roles their places; zeros stand for a second component that is missing."""
    plane = np.zeros((len(places), 2))
    plane[:, : min(2, places.shape[1])] = places[:, :2]
    return tuple(
        {"name": name, "style": role, "x": _coordinate(x), "y": _coordinate(y)}
        for (name, role), (x, y) in zip(roles.items(), plane.tolist(), strict=True)
    )


def _coordinate(number: float) -> Value:
    return Value(f"{number:+.3f}" if abs(number) >= 0.0005 else "0", number)


def biplot_plot(plane: Mapping[str, Any], names: Mapping[str, str]) -> Markup:
    """Draw points and arrows in a square that does not stretch, with the names that find room.

    `names` says how each name is shown.
    """
    points, tips = _geometry(plane)
    marks = [
        plots.line(0, _MIDDLE, 1, _MIDDLE, "grid"),
        plots.line(0.5, 0, 0.5, _SIDE, "grid"),
        plots.segments(_arrows(tips), "suite-arrow", top=0, height=_SIDE),
    ]
    for mark, (x, y) in zip(plane["variants"], points, strict=True):
        marks.append(plots.dot(x / _SIDE, y, mark["style"], r=_POINT))
    frame = plots.Box(0, 0, _SIDE, _SIDE)
    dots = [_around(point, 7) for point in points]
    heads = [_around(tip, 3) for tip in tips[:_ARROWS]]
    wanted, styles = _point_names(plane["variants"], points, names)
    found = plots.placed(wanted, frame=frame, taken=[*dots, *heads], bold=True)
    full = dots + [box for tip in tips[:_ARROWS] for box in _along(tip)]
    for one, css in zip(found, styles, strict=True):
        if one is not None:  # arrows go on below the name
            box = one.box
            left, right = box.left / _SIDE, box.right / _SIDE
            style = f"suite-point {css}"
            marks.append(plots.band(left, right, box.top, box.bottom, "suite-under"))
            marks.append(plots.label(one.x / _SIDE, one.y, one.text, style, anchor=one.anchor))
            full.append(box)
    ends = plots.placed(_end_names(plane["benchmarks"], tips, names), frame=frame, taken=full)
    marks += [
        plots.label(one.x / _SIDE, one.y, one.text, "suite-end", anchor=one.anchor)
        for one in ends
        if one is not None
    ]
    held = " and ".join(f"{share.text} %" for share in plane["shares"])
    places = "; ".join(
        f"{shown(mark['name'])} at {mark['x'].text}, {mark['y'].text}"
        for mark in plane["variants"][:8]
    )
    said = f"{shown(plane['conclusion'])}. Shares of the components: {held}. {places}"
    return plots.plot(_SIDE, marks, said)


def _geometry(plane: Mapping[str, Any]) -> tuple[list[Place], list[Place]]:
    """Give points and arrows' tips in pixels; one factor fits the arrows to the points."""
    points, tips = (
        [(mark["x"].value, mark["y"].value) for mark in plane[kind]]
        for kind in ("variants", "benchmarks")
    )
    far, long = (max(math.hypot(*place) for place in places) or 1.0 for places in (points, tips))
    half = _SIDE / 2 - _EDGE - _POINT
    reach = max(max(abs(x), abs(y)) for x, y in points) or 1.0
    unit = half * 0.8 / max(reach, far * _ARROW)
    stretch = unit * far * _ARROW / long

    def placed(places: Iterable[Place], factor: float) -> list[Place]:
        return [(_MIDDLE + factor * x, _MIDDLE - factor * y) for x, y in places]

    return placed(points, unit), placed(tips, stretch)


def _arrows(tips: Sequence[Place]) -> Iterator[tuple[float, float, float, float]]:
    """Give the arrows from the middle, each a shaft and two strokes of its head."""

    def stroke(x: float, y: float, tip: Place) -> tuple[float, float, float, float]:
        return x / _SIDE, 1 - y / _SIDE, tip[0] / _SIDE, 1 - tip[1] / _SIDE

    for tip in tips:
        yield stroke(_MIDDLE, _MIDDLE, tip)
        x, y = tip
        length = math.dist(tip, (_MIDDLE, _MIDDLE))
        if length >= 8 and len(tips) <= _ARROWS:
            across, down = (x - _MIDDLE) / length, (y - _MIDDLE) / length
            for side in (1, -1):
                yield stroke(
                    x - 7 * across + side * 3 * down, y - 7 * down - side * 3 * across, tip
                )


def _around(place: Place, half: float) -> Box:
    x, y = place
    return plots.Box(x - half, y - half, x + half, y + half)


def _along(tip: Place) -> list[Box]:
    """Cover the outer half of an arrow with small boxes, so that no name lies on it."""
    shares = [0.5 + 0.1 * k for k in range(6)]
    return [
        _around((_MIDDLE + share * (tip[0] - _MIDDLE), _MIDDLE + share * (tip[1] - _MIDDLE)), 1.5)
        for share in shares
    ]


def _point_names(
    marks: Sequence[Mark], points: Sequence[Place], names: Mapping[str, str]
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
        told = ", ".join(names[marks[k]["name"]] for k in group[:_NAMES])
        more = f" +{len(group) - _NAMES}" if len(group) > _NAMES else ""
        wanted.append(plots.Wanted(f"{told}{more}", *points[group[0]], len(group)))
        alike = {marks[k]["style"] for k in group}
        styles.append(alike.pop() if len(alike) == 1 else "neither")
    return wanted, styles


def _end_names(
    marks: Sequence[Mark], tips: Sequence[Place], names: Mapping[str, str]
) -> list[Wanted]:
    """Give the names of the longest arrows, ahead of them."""
    lengths = [math.dist(tip, (_MIDDLE, _MIDDLE)) for tip in tips]
    longest = sorted(range(len(tips)), key=lambda k: (-lengths[k], k))[:_NAMED]
    return [
        plots.Wanted(
            names[marks[k]["name"]],
            *tips[k],
            lengths[k],
            away=(tips[k][0] - _MIDDLE, tips[k][1] - _MIDDLE),
        )
        for k in longest
        if lengths[k] > 0
    ]
