"""HPT's reliability for each speedup under test: the steps of the r-Speedup."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...errors import AnalysisError, InsufficientDataError
from ...methods.hpt.speedup import HptSpeedup, hpt_speedup
from ...plots.palette import PRINT, style_of
from ...plots.paper import ratio_axis, tone
from ...plots.scale import ratio_scale
from .layout import fresh, name_of, names_of, panels, rows_high
from .result import Drawing

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ...plots.drawing import Sheet
    from ..subject import Subject

__all__ = ["draw_curve"]

_SURE = 1e-4  # of a reliability: what is nearer to 0 or 1 is not drawn


def draw_curve(subject: Subject, sheet: Sheet) -> Drawing:
    """Draw a step curve for each candidate, with the required level and the largest speedup.

    Raises
    ------
    InsufficientDataError
        If no candidate shares two benchmarks with the baseline.
    """
    found = [
        best
        for one in subject.candidates
        if one.multilevel is not None and (best := _best(subject, one.variant)) is not None
    ]
    if not found:
        raise InsufficientDataError(
            "HPT compares suites: it needs two benchmarks that both sides have",
            fix="draw a forest",
            n=1,
            needed=2,
        )
    across = max(1, min(len(found), int(sheet.width / (7.2 * sheet.font_size))))
    down = -(-len(found) // across)
    figure = fresh(sheet, rows_high(sheet, down, 13.0, 3.0))
    names = names_of([best.candidate for best in found], sheet, 0.6 / across)
    base = name_of(subject.baseline, sheet, 0.6 / across)
    every = panels(figure, len(found), across, sharey=True)
    for k, (axes, best) in enumerate(zip(every, found, strict=True)):
        _panel(axes, best)
        word = next(
            c.multilevel.word
            for c in subject.candidates
            if c.variant == best.candidate and c.multilevel is not None
        )
        if best.value is not None:
            axes.plot(
                [best.value], [best.required], marker="o", markersize=4, linestyle="none",
                color=tone(style_of(word)), zorder=4,
            )  # fmt: skip
        said = "none" if best.printed is None else f"{best.printed}×"
        axes.set_title(
            f"{names[best.candidate]}: {said}" if len(found) > 1 else "", color=PRINT.ink
        )
        if k % across == 0:
            axes.set_ylabel("HPT reliability")
        axes.set_xlabel(f"speedup under test,\nover {base}")
    rows: list[tuple[str | float | int | None, ...]] = []
    for best in found:
        curve = best.curve
        rows += [
            (best.candidate, x, on, left, right)
            for x, on, left, right in zip(
                curve.speedups.tolist(), curve.at.tolist(), curve.between[:-1].tolist(),
                curve.between[1:].tolist(), strict=True,
            )
        ]  # fmt: skip
    told = ". ".join(f"{best.candidate}: {best.conclusion}" for best in found)
    return Drawing(
        name=subject.anchor("curve"),
        title="HPT's reliability for each speedup under test",
        alt=f"{told}.",
        figure=figure,
        columns=(
            "candidate",
            "speedup",
            "reliability_at",
            "reliability_below",
            "reliability_above",
        ),
        rows=tuple(rows),
    )


def _best(subject: Subject, variant: str) -> HptSpeedup | None:
    ours, theirs = subject.matrices.get(variant), subject.matrices.get(subject.baseline)
    if ours is None or theirs is None:
        return None
    common = [bench for bench in ours.benchmarks if bench in theirs.benchmarks]
    confidence = subject.verdict.confidence
    if len(common) < 2 or not 0.5 < confidence < 1:
        return None
    try:
        return hpt_speedup(ours.select(common), theirs.select(common), confidence=confidence)
    except AnalysisError:  # values that HPT has no answer for
        return None


def _panel(axes: Axes, best: HptSpeedup) -> None:
    curve = best.curve
    inside = curve.speedups[(curve.between[:-1] > _SURE) & (curve.between[1:] < 1 - _SURE)]
    shown = inside if inside.size else curve.speedups
    scale = ratio_scale([*shown.tolist(), *([] if best.value is None else [best.value])])
    ratio_axis(axes, "x", scale)
    x = np.concatenate(([scale.low], np.repeat(curve.speedups, 2), [scale.high]))
    y = np.repeat(curve.between, 2)
    keep = (x >= scale.low) & (x <= scale.high)
    start = float(curve.confidence(scale.low))
    axes.plot(
        np.concatenate(([scale.low], x[keep][1:] if x[keep][0] == scale.low else x[keep])),
        np.concatenate(([start], y[keep][1:] if x[keep][0] == scale.low else y[keep])),
        color=PRINT.ink, linewidth=1.2,
    )  # fmt: skip
    axes.axhline(best.required, color=PRINT.one, linewidth=0.7, linestyle=(0, (4, 2)))
    axes.set_ylim(-0.02, 1.03)
    axes.set_yticks([0, 0.5, best.required], ["0", "0.5", f"{best.required:g}"])
