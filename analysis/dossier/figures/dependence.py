"""For a reviewer: each run against the run before, and the runs against a normal law."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...errors import AnalysisError, InsufficientDataError
from ...plots import PRINT, Scale, Sheet, quantity_axis, quantity_scale, tone
from ...stats import lag_pairs, midranks, normal_positions
from ..subject import Subject
from .cells import Cell, cells_of
from .layout import fresh, names_of, panels
from .result import Drawing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw_lag", "draw_qq"]

_NARROW = 38.0  # mm: a panel
_FEWEST = 4  # runs of a variant
_NORMAL = 0.6745  # of a standard normal law: its upper quartile


def draw_lag(subject: Subject, sheet: Sheet, benchmark: str) -> Drawing:
    """Draw a square for each variant: the run before across, the run upwards.

    Raises
    ------
    AnalysisError
        If nobody knows the order of the runs, or no session has enough of them.
    """
    cells = cells_of(subject, benchmark)
    if not subject.trials and any(cell.blocks is None for cell in cells):
        raise AnalysisError(
            "the order of these runs is unknown: the files name no blocks",
            benchmark,
            "give a trial",
        )
    pairs = {cell.variant: _pairs(cell) for cell in cells}
    shown = [cell for cell in cells if len(pairs[cell.variant]) >= _FEWEST]
    if not shown:
        raise InsufficientDataError(
            "a lag plot needs runs that follow each other", benchmark, n=0, needed=_FEWEST
        )
    figure, every = _squares(sheet, len(shown))
    names = names_of([cell.variant for cell in shown], sheet, 0.7 * _NARROW / sheet.width)
    told, rows = [], []
    for axes, cell in zip(every, shown, strict=True):
        before, after = pairs[cell.variant].T
        scale = quantity_scale(cell.values.tolist())
        quantity_axis(axes, "x", scale, subject.verdict.unit, most=3)
        quantity_axis(axes, "y", scale, subject.verdict.unit, most=3)
        axes.plot((scale.low, scale.high), (scale.low, scale.high), color=PRINT.grid, linewidth=0.7)
        axes.plot(
            before, after, linestyle="none", marker="o", markersize=2.8, alpha=0.65,
            markerfacecolor=cell.colour, markeredgewidth=0,
        )  # fmt: skip
        r = _correlation(subject, benchmark, cell.variant, pairs[cell.variant])
        said = "" if r is None else f"r = {r:.2f}, "
        axes.set_title(f"{names[cell.variant]}\n{said}n = {before.size}", color=PRINT.ink)
        axes.set_box_aspect(1)
        told.append(
            f"{cell.variant}: " + ("" if r is None else f"rank correlation {r:.2f} of ")
            + f"{before.size} pairs"
        )  # fmt: skip
        rows += [(cell.variant, *pair) for pair in pairs[cell.variant].tolist()]
    _outer(every, "the run before", "the run")
    metric = f"{subject.verdict.metric}_{subject.verdict.unit}"
    return Drawing(
        name=subject.anchor("lag", benchmark),
        title=f"each run of {benchmark} against the run before",
        alt=f"Runs of {benchmark} against the run before in the same session. {'. '.join(told)}.",
        figure=figure,
        columns=("variant", f"{metric}_before", metric),
        rows=tuple(rows),
    )


def _pairs(cell: Cell) -> NDArray[np.float64]:
    groups = np.zeros(cell.values.size) if cell.sessions is None else cell.sessions
    return lag_pairs(cell.values, groups)


def _correlation(
    subject: Subject, benchmark: str, variant: str, pairs: NDArray[np.float64]
) -> float | None:
    """Give the diagnosis' autocorrelation of ranks, else Spearman's of the pairs; None if unknown."""
    diagnosis = subject.verdict.diagnosis
    for one in () if diagnosis is None else diagnosis.cells:
        if (one.benchmark, one.variant) == (benchmark, variant) and one.lag_1 is not None:
            return one.lag_1
    before, after = pairs.T
    if np.ptp(before) == 0 or np.ptp(after) == 0:
        return None
    return float(np.corrcoef(midranks(before), midranks(after))[0, 1])


def draw_qq(subject: Subject, sheet: Sheet, benchmark: str) -> Drawing:
    """Draw a square for each variant: its runs upwards, a normal law's across, logs where positive.

    The line goes through the quartiles; runs on it would be normal (their logs, on a log axis).

    Raises
    ------
    InsufficientDataError
        If no variant has four runs.
    """
    cells = [cell for cell in cells_of(subject, benchmark) if cell.values.size >= _FEWEST]
    if not cells:
        raise InsufficientDataError(
            "a normal Q-Q plot needs four runs of a variant", benchmark, n=0, needed=_FEWEST
        )
    figure, every = _squares(sheet, len(cells))
    names = names_of([cell.variant for cell in cells], sheet, 0.7 * _NARROW / sheet.width)
    told, rows = [], []
    for axes, cell in zip(every, cells, strict=True):
        ordered = np.sort(cell.values)
        across = normal_positions(ordered.size)
        scale = quantity_scale(cell.values.tolist())
        quantity_axis(axes, "y", scale, subject.verdict.unit, most=3)
        _line(axes, ordered, across, scale)
        axes.plot(
            across, ordered, linestyle="none", marker="o", markersize=2.6,
            markerfacecolor=cell.colour, markeredgewidth=0, alpha=0.8,
        )  # fmt: skip
        axes.set_xticks([-2, 0, 2])
        axes.set_title(f"{names[cell.variant]}\nn = {ordered.size}", color=PRINT.ink)
        axes.set_box_aspect(1)
        values = np.log(ordered) if scale.log else ordered
        straight = "all runs are equal"
        if np.ptp(values) > 0:
            straight = f"straightness {float(np.corrcoef(across, values)[0, 1]):.3f}"
        told.append(f"{cell.variant}: {straight}, {ordered.size} runs")
        rows += [
            (cell.variant, x, y) for x, y in zip(across.tolist(), ordered.tolist(), strict=True)
        ]
    _outer(every, "normal quantile", "the run")
    law = "lognormal" if quantity_scale(cells[0].values.tolist()).log else "normal"
    return Drawing(
        name=subject.anchor("qq", benchmark),
        title=f"runs of {benchmark} against a normal law",
        alt=f"Q-Q plot of {benchmark} against a {law} law, of which the straightness is 1. "
        f"{'. '.join(told)}.",
        figure=figure,
        columns=("variant", "normal_quantile", f"{subject.verdict.metric}_{subject.verdict.unit}"),
        rows=tuple(rows),
    )


def _line(
    axes: Axes, ordered: NDArray[np.float64], across: NDArray[np.float64], scale: Scale
) -> None:
    values = np.log(ordered) if scale.log else ordered
    low, middle, high = np.quantile(values, [0.25, 0.5, 0.75])
    ends = np.array([across[0], across[-1]])
    y = middle + ends * (high - low) / (2 * _NORMAL)
    axes.plot(ends, np.exp(y) if scale.log else y, color=tone("baseline"), linewidth=0.8)
    axes.set_xlim(ends[0] * 1.08 - 0.05, ends[1] * 1.08 + 0.05)


def _squares(sheet: Sheet, count: int) -> tuple[Figure, list[Axes]]:
    across = max(1, min(count, int(sheet.width / _NARROW)))
    down = -(-count // across)
    high = min(sheet.width / across * 0.92, 62.0) + 3 * sheet.font_size * 0.3528
    figure = fresh(sheet, min(230.0, high * down))
    return figure, panels(figure, count, across)


def _outer(every: Sequence[Axes], across: str, up: str) -> None:
    """Label the outer axes only."""
    for axes in every:
        place = axes.get_subplotspec()
        if place is not None and place.is_first_col():
            axes.set_ylabel(up)
        axes.set_xlabel(across)
