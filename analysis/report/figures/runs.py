"""Every run of a benchmark as a dot on the axis of values, a line of dots for each session."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...plots.palette import PRINT
from ...plots.paper import clear, quantity_axis
from ...plots.scale import Scale, quantity_scale
from ...stats.samples import bandwidth_of, kernel_density
from .cells import Cell, cells_of, numbers_of, told_of
from .layout import fresh, name_of, names_of, rows_high
from .result import Drawing

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ...plots.drawing import Sheet
    from ..subject import Subject

__all__ = ["draw_strip"]

_LINES = 12  # sessions that have a line of their own; more share theirs
_FEW = 8  # runs below which a density is not drawn
_PLACES = 160
_DOT = 2.6


def draw_strip(subject: Subject, sheet: Sheet, benchmark: str) -> Drawing:
    """Draw a row for each variant: a line of dots for each session, and the density above them."""
    cells = cells_of(subject, benchmark)
    unit = subject.verdict.unit
    scale = quantity_scale(value for cell in cells for value in cell.values.tolist())
    lines = max(min(len(cell.by_session()), _LINES) for cell in cells)
    figure = fresh(sheet, rows_high(sheet, len(cells), 2.4 + 0.55 * lines, 3.5))
    axes = figure.subplots()
    names = names_of([cell.variant for cell in cells], sheet)
    centre = float(np.exp(np.log(cells[0].values).mean())) if scale.log else None
    if centre is not None and cells[0].variant == subject.baseline:
        axes.axvline(centre, color=PRINT.one, linewidth=0.7, zorder=0.5)
    for row, cell in enumerate(cells):
        _strip(axes, cell, row, scale)
    quantity_axis(axes, "x", scale, unit)
    axes.set_ylim(len(cells) - 0.45, -0.6)
    labels = [f"{names[cell.variant]}\n{cell.values.size} runs" for cell in cells]
    axes.set_yticks(range(len(cells)), labels)
    axes.tick_params(axis="y", labelcolor=PRINT.ink)
    clear(axes, "left")
    metric = name_of(subject.verdict.metric, sheet)
    axes.set_xlabel(f"{metric} of a run ({subject.verdict.better} is better)")
    return Drawing(
        name=subject.anchor("strip", benchmark),
        title=f"runs of {benchmark}",
        alt=told_of(subject, benchmark, cells),
        figure=figure,
        columns=("variant", "session", "block", f"{subject.verdict.metric}_{unit}"),
        rows=numbers_of(cells),
    )


def _strip(axes: Axes, cell: Cell, row: int, scale: Scale) -> None:
    """Draw a variant around its row: dots from -0.05 down to 0.4, its density above."""
    sessions = cell.by_session()
    shared = len(sessions) > _LINES
    step = 0.4 / max(1, (1 if shared else len(sessions)) - 1) if len(sessions) > 1 else 0.0
    for k, values in enumerate(sessions):
        y = row + (0.15 if shared or len(sessions) == 1 else k * step)
        axes.plot(
            values, np.full(values.size, y), linestyle="none", marker="o", markersize=_DOT,
            markerfacecolor=cell.colour, markeredgewidth=0, alpha=0.55, zorder=2,
        )  # fmt: skip
        if scale.log and not shared:
            mean = float(np.exp(np.log(values).mean()))
            half = min(0.5 * step, 0.08) or 0.08
            axes.plot([mean] * 2, [y - half, y + half], color=PRINT.ink, linewidth=1.3, zorder=3)
    if cell.values.size < _FEW:
        return
    x = np.log(cell.values) if scale.log else cell.values
    width = bandwidth_of(x)
    if width > 0:
        places = np.linspace(x.min() - 3 * width, x.max() + 3 * width, _PLACES)
        height = kernel_density(x, places, width)
        grid = np.exp(places) if scale.log else places
        top = row - 0.08
        axes.fill_between(
            grid, top, top - 0.36 * height / height.max(), color=cell.colour, alpha=0.3,
            linewidth=0, zorder=1,
        )  # fmt: skip
