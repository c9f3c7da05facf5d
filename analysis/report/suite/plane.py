"""The biplot of the variants: the existing fit, and what a page shows of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...errors import FairtrialError
from ...methods.biplot.fit import biplot
from ...pages.model import Value
from ...pages.number_format import said
from ...plots.palette import style_of
from .result import Plane, PlaneMark, Style

if TYPE_CHECKING:
    from ..subject import Subject

__all__ = ["plane_of"]

Array = NDArray[np.float64]

_LEAST = 3  # variants: two lie on a line whatever they are


def plane_of(subject: Subject) -> Plane | str:
    """Fit the medians of all variants on the benchmarks that all of them have; or say why not."""
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
    styles = _styles(subject)
    points, ends = _planar(found.scores), _planar(found.loadings[:, : found.rank])
    return Plane(
        variants=tuple(
            PlaneMark(
                name=name, style=styles.get(name, "neither"), x=_coordinate(x), y=_coordinate(y)
            )
            for name, (x, y) in zip(found.systems, points.tolist(), strict=True)
        ),
        benchmarks=tuple(
            PlaneMark(name=name, style="baseline", x=_coordinate(x), y=_coordinate(y))
            for name, (x, y) in zip(found.benchmarks, ends.tolist(), strict=True)
        ),
        shares=tuple(_share(100 * float(part)) for part in found.explained[: min(2, found.rank)]),
        conclusion=found.conclusion,
        cautions=tuple(caution.text for caution in found.cautions),
    )


def _styles(subject: Subject) -> dict[str, Style]:
    styles: dict[str, Style] = {subject.baseline: "baseline"}
    for one in subject.candidates:
        if one.multilevel is not None:
            styles[one.variant] = style_of(said(one.multilevel.word, timed=one.multilevel.timed))
    return styles


def _planar(table: Array) -> Array:
    """Give the first two columns; zeros stand for a second that is missing."""
    flat = np.zeros((table.shape[0], 2))
    flat[:, : min(2, table.shape[1])] = table[:, :2]
    return flat


def _coordinate(number: float) -> Value:
    text = f"{number:+.3f}" if abs(number) >= 0.0005 else "0"
    return Value(text, number)


def _share(percent: float) -> Value:
    return Value("< 0.1" if 0 < percent < 0.05 else f"{percent:.1f}", percent)
