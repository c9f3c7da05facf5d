"""Whole distributions: the share of runs done by a time, and the speedup at each decile."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import InsufficientDataError
from ...pages.number_format import quantity
from ...plots.palette import PRINT
from ...plots.paper import margin_band, quantity_axis, ratio_axis
from ...plots.scale import quantity_scale, ratio_scale
from ...stats.quantiles import Shift, shift_of
from .cells import Cell, cells_of, line_of
from .layout import fresh, name_of, names_of, note
from .result import Drawing

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ...plots.drawing import Sheet
    from ..subject import Subject

__all__ = ["draw_ecdf", "draw_shift"]

_QUARTILES = 3  # of them there are


def draw_ecdf(subject: Subject, sheet: Sheet, benchmark: str) -> Drawing:
    """Draw the share of runs done by a time, a step curve for each variant."""
    cells = cells_of(subject, benchmark)
    verdict = subject.verdict
    scale = quantity_scale(value for cell in cells for value in cell.values.tolist())
    figure = fresh(sheet, min(sheet.width * 0.62, 90.0))
    axes = figure.subplots()
    names = names_of([cell.variant for cell in cells], sheet)
    for cell in cells:
        ordered = np.sort(cell.values)
        axes.step(
            np.concatenate(([scale.low], ordered, [scale.high])),
            np.concatenate(([0.0], np.arange(1, ordered.size + 1) / ordered.size, [1.0])),
            where="post", color=cell.colour, linestyle=cell.dash, linewidth=1.3,
            label=f"{names[cell.variant]}, {cell.values.size} runs",
        )  # fmt: skip
    quantity_axis(axes, "x", scale, verdict.unit)
    axes.set_ylim(0, 1.02)
    axes.set_yticks([0, 0.5, 1], ["0", "half", "all"])
    axes.set_ylabel("share of runs")
    axes.set_xlabel(f"{name_of(verdict.metric, sheet, 0.3)} of at most")
    _keys(axes, cells)
    told = [
        f"half of {cell.variant}'s {cell.values.size} runs need at most "
        f"{quantity(float(np.median(cell.values)), verdict.unit)}, nine tenths "
        f"{quantity(float(np.quantile(cell.values, 0.9)), verdict.unit)}"
        for cell in cells
    ]
    return Drawing(
        name=subject.anchor("ecdf", benchmark),
        title=f"distribution of the runs of {benchmark}",
        alt=f"Empirical distribution functions of {verdict.metric} on {benchmark}: {'; '.join(told)}.",
        figure=figure,
        columns=("variant", f"{verdict.metric}_{verdict.unit}", "share"),
        rows=tuple(
            (cell.variant, value, (k + 1) / cell.values.size)
            for cell in cells
            for k, value in enumerate(np.sort(cell.values).tolist())
        ),
    )


def _keys(axes: Axes, cells: tuple[Cell, ...]) -> None:
    """Name the curves in their colours, where they leave most room."""
    shown = axes.legend(
        loc="upper left", bbox_to_anchor=(1.0, 1.0), borderaxespad=0.2, handlelength=1.6
    )
    for text, cell in zip(shown.get_texts(), cells, strict=True):
        text.set_color(PRINT.second if cell.colour == PRINT.baseline else cell.colour)


def draw_shift(subject: Subject, sheet: Sheet, benchmark: str) -> Drawing:
    """Draw each candidate's speedup at the deciles of the runs, with intervals over sessions.

    Raises
    ------
    InsufficientDataError
        If there is no candidate, or no session has three runs of both sides.
    """
    cells = cells_of(subject, benchmark)
    base = next((cell for cell in cells if cell.variant == subject.baseline), None)
    found = [
        (cell, shift)
        for cell in cells
        if base is not None
        and cell is not base
        and (shift := _shift(subject, cell, base, benchmark)) is not None
    ]
    if not found:
        raise InsufficientDataError(
            "a shift function needs two sides with three positive runs in a session",
            benchmark,
            "measure more runs, or draw an ecdf",
            n=0,
            needed=3,
        )
    verdict = subject.verdict
    figure = fresh(sheet, min(sheet.width * 0.62, 90.0))
    axes = figure.subplots()
    names = names_of([cell.variant for cell, _ in found], sheet)
    ends = [
        math.exp(end)
        for _, shift in found
        for log, half in zip(shift.logs, np.nan_to_num(shift.half), strict=True)
        for end in (log - half, log, log + half)
    ]
    scale = ratio_scale(ends, verdict.margin)
    ratio_axis(axes, "y", scale)
    margin_band(axes, verdict.margin, "y")
    _draw_deciles(axes, found, names)
    axes.set_xlim(0.03, 0.97)
    axes.set_xticks([0.1, 0.25, 0.5, 0.75, 0.9], ["fast", "", "median run", "", "slow"])
    axes.set_ylabel(f"speedup over\n{name_of(subject.baseline, sheet, 0.3)}")
    axes.set_xlabel(f"runs of each side, from {'fast' if verdict.better == 'lower' else 'low'} on")
    if verdict.better != "lower":
        axes.set_xticks([0.1, 0.5, 0.9], ["low", "median run", "high"])
    if len(found) > 1:
        _keys(axes, tuple(cell for cell, _ in found))
    limits = _limits(found)
    note(figure, sheet, [f"{names[name]}: {said}" for name, said in limits])
    told = _told(found)
    return Drawing(
        name=subject.anchor("shift", benchmark),
        title=f"speedup at each decile of {benchmark}",
        alt=f"Speedups over {subject.baseline} by quantile of the runs of {benchmark} "
        f"(shift function). {'. '.join([*told, *(f'{name}: {said}' for name, said in limits)])}.",
        figure=figure,
        columns=("candidate", "share", "speedup", "low", "high", "sessions"),
        rows=tuple(_row(cell, shift, k) for cell, shift in found for k in range(len(shift.shares))),
    )


def _draw_deciles(
    axes: Axes, found: Sequence[tuple[Cell, Shift]], names: Mapping[str, str]
) -> None:
    for k, (cell, shift) in enumerate(found):
        aside = (k - (len(found) - 1) / 2) * 0.016
        x = np.array(shift.shares) + aside
        middle = np.exp(shift.logs)
        half = np.nan_to_num(shift.half)
        axes.vlines(
            x,
            np.exp(shift.logs - half),
            np.exp(shift.logs + half),
            color=cell.colour,
            linewidth=1.3,
        )
        axes.plot(
            x, middle, color=cell.colour, linestyle=cell.dash, linewidth=0.8, marker="o",
            markersize=3.2, label=names[cell.variant],
        )  # fmt: skip


def _limits(found: Sequence[tuple[Cell, Shift]]) -> list[tuple[str, str]]:
    """Say of each candidate what its runs do not allow."""
    return [
        (cell.variant, said)
        for cell, shift in found
        for said, holds in (
            ("quartiles, for lack of runs", len(shift.shares) == _QUARTILES),
            ("one session, so no interval", bool(np.isnan(shift.half).all())),
        )
        if holds
    ]


def _told(found: Sequence[tuple[Cell, Shift]]) -> list[str]:
    """Say what the picture shows of each candidate."""
    return [
        f"{cell.variant}: {math.exp(shift.logs[0]):.2f}× at the {shift.shares[0]:.0%} point, "
        f"{math.exp(shift.logs[len(shift.logs) // 2]):.2f}× at the median, "
        f"{math.exp(shift.logs[-1]):.2f}× at the {shift.shares[-1]:.0%} point, over "
        f"{shift.sessions} sessions".replace("%", " %")
        for cell, shift in found
    ]


def _row(cell: Cell, shift: Shift, k: int) -> tuple[Any, ...]:
    log, half = float(shift.logs[k]), float(shift.half[k])
    ends = (None, None) if math.isnan(half) else (math.exp(log - half), math.exp(log + half))
    return (cell.variant, shift.shares[k], math.exp(log), *ends, shift.sessions)


def _shift(subject: Subject, ours: Cell, theirs: Cell, benchmark: str) -> Shift | None:
    """Give the shift, positive where the candidate is better; sessions pair where the verdict's do.

    None of what the verdict does not compare.
    """
    line = line_of(subject, ours.variant, benchmark)
    result = next((c.multilevel for c in subject.candidates if c.variant == ours.variant), None)
    if line is None or result is None:
        return None
    first, second = (theirs, ours) if subject.verdict.better == "lower" else (ours, theirs)
    paired = result.design in ("paired", "hosts")
    if paired and first.sessions is not None and second.sessions is not None:
        both = np.intersect1d(first.sessions, second.sessions)
        sides = [[side.values[side.sessions == one] for one in both] for side in (first, second)]
    else:
        sides = [first.by_session(), second.by_session()]
    confidence = 1 - result.look_alpha  # as the forest's intervals
    return shift_of(*sides, paired=paired, confidence=confidence)
