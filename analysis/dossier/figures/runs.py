"""Every run of a benchmark as a dot: by session on the axis of values, and in the order of execution."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...errors import AnalysisError
from ...plots import PRINT, Scale, Sheet, clear, quantity_axis, quantity_scale
from ...report.figures import quantity
from ...stats import bandwidth_of, kernel_density
from ..subject import Subject
from .cells import Cell, cells_of
from .layout import fresh, name_of, names_of, note, panels, rows_high
from .result import Drawing

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_order", "draw_strip"]

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
        alt=_alt(subject, benchmark, cells),
        figure=figure,
        columns=("variant", "session", "block", f"{subject.verdict.metric}_{unit}"),
        rows=_numbers(cells),
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


def draw_order(subject: Subject, sheet: Sheet, benchmark: str) -> Drawing:
    """Draw a row of panels for each variant: its runs from left to right, session by session.

    Raises
    ------
    AnalysisError
        If nobody knows the order of the runs.
    """
    cells = cells_of(subject, benchmark)
    if not subject.trials and any(cell.blocks is None for cell in cells):
        raise AnalysisError(
            "the order of these runs is unknown: the files name no blocks",
            benchmark,
            "draw a strip instead, or give a trial",
        )
    unit, metric = subject.verdict.unit, subject.verdict.metric
    scale = quantity_scale(value for cell in cells for value in cell.values.tolist())
    figure = fresh(sheet, rows_high(sheet, len(cells), 7.0, 4.0))
    names = names_of([cell.variant for cell in cells], sheet)
    every = panels(figure, len(cells), 1, sharex=True, sharey=True)
    base = _means(cells[0], scale) if cells[0].variant == subject.baseline else []
    for axes, cell in zip(every, cells, strict=True):
        _series(axes, cell, base, scale)
        axes.set_title(
            f"{names[cell.variant]}: {cell.values.size} runs", color=PRINT.ink, fontsize="medium"
        )
    quantity_axis(every[0], "y", scale, unit, most=4)
    for axes in every[:-1]:
        axes.tick_params(axis="x", labelbottom=False)
    _session_ticks(every[-1], cells)
    failed = _failed(subject, benchmark)
    if failed:
        runs = "run is" if failed == 1 else "runs are"
        note(figure, sheet, [f"{failed} failed {runs} not drawn"])
    return Drawing(
        name=subject.anchor("order", benchmark),
        title=f"runs of {benchmark} in their order",
        alt=_alt(subject, benchmark, cells),
        figure=figure,
        columns=("variant", "session", "block", f"{metric}_{unit}"),
        rows=_numbers(cells),
    )


def _places(cell: Cell) -> list[tuple[float, float]]:
    """Give where each session begins and ends on the axis of runs: they stand apart."""
    found, start = [], 0.0
    for values in cell.by_session():
        found.append((start, start + values.size))
        start += values.size * 1.08 + 1
    return found


def _means(cell: Cell, scale: Scale) -> list[float]:
    return [
        float(np.exp(np.log(v).mean())) if scale.log else float(v.mean()) for v in cell.by_session()
    ]


def _series(axes: Axes, cell: Cell, base: Sequence[float], scale: Scale) -> None:
    sessions, means, spans = cell.by_session(), _means(cell, scale), _places(cell)
    for values, mean, (left, right) in zip(sessions, means, spans, strict=True):
        x = left + 0.5 + np.arange(values.size)
        axes.plot(
            x, values, linestyle="none", marker="o", markersize=_DOT,
            markerfacecolor=cell.colour, markeredgewidth=0, alpha=0.7, zorder=2,
        )  # fmt: skip
        axes.plot([left, right], [mean, mean], color=PRINT.ink, linewidth=1.5, zorder=3)
    if len(base) == len(spans) and base != means:
        for mean, (left, right) in zip(base, spans, strict=True):
            axes.plot([left, right], [mean, mean], color=PRINT.one, linewidth=1.2, zorder=1)


def _session_ticks(axes: Axes, cells: Sequence[Cell]) -> None:
    """Name the sessions below their runs, every few of them where there are many."""
    longest = max(cells, key=lambda cell: cell.values.size)
    spans = _places(longest)
    each = max(1, -(-len(spans) // 10))
    middle = [(left + right) / 2 for left, right in spans]
    labels = (
        [f"{k + 1}" if k % each == 0 else "" for k in range(len(spans))] if len(spans) > 1 else [""]
    )
    axes.set_xticks(middle, labels)
    clear(axes, "bottom")
    axes.set_xlabel("session; its runs in their order" if len(spans) > 1 else "runs in their order")


def _failed(subject: Subject, benchmark: str) -> int:
    return sum(matrix.failed.get(benchmark, 0) for matrix in subject.matrices.values())


def _alt(subject: Subject, benchmark: str, cells: Sequence[Cell]) -> str:
    """Say of each variant how many runs there are, where their middle is, and how far they reach."""
    unit = subject.verdict.unit
    told = [
        f"{cell.variant}: {cell.values.size} runs"
        f"{'' if cell.sessions is None else f' in {len(cell.by_session())} sessions'}, "
        f"median {quantity(float(np.median(cell.values)), unit)}, "
        f"{quantity(float(cell.values.min()), unit)} to {quantity(float(cell.values.max()), unit)}"
        for cell in cells
    ]
    return f"{subject.verdict.metric} of {benchmark}, {subject.verdict.better} is better. {'. '.join(told)}."


def _numbers(cells: Sequence[Cell]) -> tuple[tuple[str | float | int | None, ...], ...]:
    return tuple(
        (cell.variant, session, block, value)
        for cell in cells
        for session, block, value in zip(
            _ids(cell.sessions, cell.values), _ids(cell.blocks, cell.values), cell.values.tolist(),
            strict=True,
        )
    )  # fmt: skip


def _ids(ids: NDArray[np.generic] | None, values: NDArray[np.float64]) -> list[str | int | None]:
    return [None] * values.size if ids is None else ids.tolist()
