"""The biplot of the variants: the existing fit, and its picture with the names that find room."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import plots
from ...errors import FairtrialError
from ...methods.biplot.fit import biplot
from ...pages.model import Value
from ...words import shown

if TYPE_CHECKING:
    from markupsafe import Markup

    from ...plots import Box, Wanted
    from ...stats.samples import Array
    from ..subject import Subject

__all__ = ["biplot_plot", "plane_of"]

_SIDE = 328.0  # the picture keeps its ratio: as wide as a telephone's page
_MIDDLE = _SIDE / 2
_EDGE = 11.0  # room for a point
_SAME = 4.0  # points that are nearer than this are one, with all their names
_NAMES = 2  # of them that are written
_ARROW = 0.86  # length of the longest arrow, of the distance of the farthest point
_ARROWS = 60  # more are drawn as lines without heads
_NAMED = 24  # arrows that may have a name

Place = complex  # pixels from the middle, to the right and upwards
Mark = Mapping[str, Any]


def plane_of(subject: Subject, styles: Mapping[str, str]) -> Mapping[str, Any] | str:
    """Fit the medians of all variants on the benchmarks that all of them have; or say why not.

    ``variants`` are points and ``benchmarks`` the ends of arrows in the first two components;
    ``shares`` are these components' parts of the variance in percent.
    """
    matrices = {name: one for name, one in subject.matrices.items() if one.benchmarks}
    if len(matrices) < 3:
        return "A biplot needs three variants or more: two lie on a line whatever they are."
    common = [b for b in subject.order if all(b in one.benchmarks for one in matrices.values())]
    if len(common) < 2:
        return "A biplot needs two benchmarks or more that all variants have."
    table = np.array([matrix.select(common).medians() for matrix in matrices.values()])
    try:
        found = biplot(table, list(matrices), common)
    except FairtrialError as error:
        return f"No biplot: {error.what}."
    shares = (100 * float(part) for part in found.explained[: min(2, found.rank)])
    return {
        "variants": _marks(found.systems, found.scores, styles),
        "benchmarks": _marks(found.benchmarks, found.loadings[:, : found.rank], {}, "baseline"),
        "shares": tuple(
            Value("< 0.1" if 0 < share < 0.05 else f"{share:.1f}", share) for share in shares
        ),
        "conclusion": found.conclusion,
        "cautions": tuple(caution.text for caution in found.cautions),
    }


def _marks(
    names: Sequence[str], places: Array, styles: Mapping[str, str], other: str = "neither"
) -> tuple[Mark, ...]:
    """Give names their places and roles; 0 stands for a second component that is missing."""
    rows = ((*row, 0.0)[:2] for row in places[:, :2].tolist())
    texts = ([Value(f"{x:+.3f}" if abs(x) >= 0.0005 else "0", x) for x in row] for row in rows)
    return tuple(
        {"name": name, "style": styles.get(name, other), "x": x, "y": y}
        for name, (x, y) in zip(names, texts, strict=True)
    )


def biplot_plot(plane: Mapping[str, Any], names: Mapping[str, str]) -> Markup:
    """Draw points and arrows in a square that does not stretch, with the names that find room.

    `names` says how each name is shown.
    """
    points, tips = _geometry(plane)
    strokes = [(*_share(start), *_share(end)) for start, end in _arrows(tips)]
    marks = [
        plots.line(0, _MIDDLE, 1, _MIDDLE, "grid"),
        plots.line(0.5, 0, 0.5, _SIDE, "grid"),
        plots.segments(strokes, "suite-arrow", top=0, height=_SIDE),
    ]
    for mark, point in zip(plane["variants"], points, strict=True):
        marks.append(plots.dot(_share(point)[0], _MIDDLE - point.imag, mark["style"], r=5.0))
    frame = plots.Box(0, 0, _SIDE, _SIDE)
    taken = [_around(point, 7) for point in points]
    heads = [_around(tip, 3) for tip in tips[:_ARROWS]]
    wanted, styles = _point_names(plane["variants"], points, names)
    found = plots.placed(wanted, frame=frame, taken=[*taken, *heads], bold=True)
    # no name lies on the outer half of an arrow, which small boxes cover
    taken += [_around(tip * (0.5 + 0.1 * k), 1.5) for tip in tips[:_ARROWS] for k in range(6)]
    for one, css in zip(found, styles, strict=True):
        if one is not None:  # arrows go on below the name
            box = one.box
            left, right = box.left / _SIDE, box.right / _SIDE
            style = f"suite-point {css}"
            marks.append(plots.band(left, right, box.top, box.bottom, "suite-under"))
            marks.append(plots.label(one.x / _SIDE, one.y, one.text, style, anchor=one.anchor))
            taken.append(box)
    ends = plots.placed(_end_names(plane["benchmarks"], tips, names), frame=frame, taken=taken)
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
    """Place points and arrows' tips; one factor fits the arrows to the points."""
    points, tips = (
        [complex(mark["x"].value, mark["y"].value) for mark in plane[kind]]
        for kind in ("variants", "benchmarks")
    )
    far, long = (max(map(abs, places)) or 1.0 for places in (points, tips))
    reach = max(max(abs(point.real), abs(point.imag)) for point in points) or 1.0
    unit = (_MIDDLE - _EDGE) * 0.8 / max(reach, far * _ARROW)
    stretch = unit * far * _ARROW / long
    return [unit * point for point in points], [stretch * tip for tip in tips]


def _arrows(tips: Sequence[Place]) -> Iterator[tuple[Place, Place]]:
    """Give the strokes of the arrows from the middle: of each a shaft, and two of its head."""
    for tip in tips:
        yield 0, tip
        if abs(tip) >= 8 and len(tips) <= _ARROWS:
            along = tip / abs(tip)
            yield tip - along * (7 - 3j), tip
            yield tip - along * (7 + 3j), tip


def _share(place: Place) -> tuple[float, float]:
    """Give a place as shares of the picture, from the left and from the bottom."""
    return 0.5 + place.real / _SIDE, 0.5 + place.imag / _SIDE


def _pixels(place: Place) -> tuple[float, float]:
    """Give a place as pixels from the left and from the top."""
    return _MIDDLE + place.real, _MIDDLE - place.imag


def _around(place: Place, half: float) -> Box:
    x, y = _pixels(place)
    return plots.Box(x - half, y - half, x + half, y + half)


def _point_names(
    marks: Sequence[Mark], points: Sequence[Place], names: Mapping[str, str]
) -> tuple[list[Wanted], list[str]]:
    """Give the points' names, and the role of each; those that lie on each other have one label."""
    groups: list[list[int]] = []
    for k, point in enumerate(points):
        near = (group for group in groups if abs(points[group[0]] - point) < _SAME)
        if (found := next(near, None)) is None:
            groups.append([k])
        else:
            found.append(k)
    wanted, styles = [], []
    for group in groups:
        text = ", ".join(names[marks[k]["name"]] for k in group[:_NAMES])
        more = f" +{len(group) - _NAMES}" if len(group) > _NAMES else ""
        wanted.append(plots.Wanted(text + more, *_pixels(points[group[0]]), len(group)))
        alike = {marks[k]["style"] for k in group}
        styles.append(alike.pop() if len(alike) == 1 else "neither")
    return wanted, styles


def _end_names(
    marks: Sequence[Mark], tips: Sequence[Place], names: Mapping[str, str]
) -> list[Wanted]:
    """Give the names of the longest arrows, ahead of them."""
    both = sorted(zip(marks, tips, strict=True), key=lambda one: -abs(one[1]))[:_NAMED]
    return [
        plots.Wanted(names[mark["name"]], *_pixels(tip), abs(tip), away=(tip.real, -tip.imag))
        for mark, tip in both
        if tip
    ]
