"""For a reviewer: each run against the run before, and the runs against a normal law."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...errors import AnalysisError, InsufficientDataError
from ...plots.palette import PRINT
from ...plots.paper import quantity_axis
from ...plots.scale import quantity_scale
from ...stats.classical_tests import normal_positions
from ...stats.ranks import midranks
from ...stats.samples import lag_pairs
from .cells import Cell, cells_of
from .layout import fresh, names_of, panels
from .result import Drawing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from ...plots.drawing import Sheet
    from ..subject import Subject

__all__ = ["draw_lag", "draw_qq"]

_NARROW = 38.0  # mm: a panel
_FEWEST = 4  # runs of a variant
_ROUNDING = 1e-12  # values that differ by less are equal


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
            f"{cell.variant}: " + ("" if r is None else f"autocorrelation {r:.2f} of ")
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
    """Draw a square for each variant: its runs less their session's mean, against a normal law.

    Of logs where all runs are positive, in standard deviations within sessions; on the line they
    would be normal (lognormal).

    Raises
    ------
    InsufficientDataError
        If no variant has four runs that vary, in sessions of two or more.
    """
    cells = cells_of(subject, benchmark)
    found = [(cell, rest) for cell in cells if (rest := _residuals(cell)) is not None]
    if not found:
        raise InsufficientDataError(
            "a normal Q-Q plot needs four runs of a variant that vary within sessions",
            benchmark,
            n=0,
            needed=_FEWEST,
        )
    figure, every = _squares(sheet, len(found))
    names = names_of([cell.variant for cell, _ in found], sheet, 0.7 * _NARROW / sheet.width)
    told, rows = [], []
    for axes, (cell, rest) in zip(every, found, strict=True):
        across = normal_positions(rest.size)
        reach = 1.06 * float(max(np.abs(across).max(), np.abs(rest).max()))
        axes.plot((-reach, reach), (-reach, reach), color=PRINT.one, linewidth=0.7)
        axes.plot(
            across, rest, linestyle="none", marker="o", markersize=2.6,
            markerfacecolor=cell.colour, markeredgewidth=0, alpha=0.8,
        )  # fmt: skip
        axes.set_xlim(-reach, reach)
        axes.set_ylim(-reach, reach)
        step = max(1, math.ceil(reach / 2))
        axes.set_xticks([-step, 0, step])
        axes.set_yticks([-step, 0, step])
        axes.set_title(f"{names[cell.variant]}\nn = {rest.size}", color=PRINT.ink)
        axes.set_box_aspect(1)
        apart = float(np.abs(rest - across).max())
        told.append(
            f"{cell.variant}: {rest.size} runs, the farthest lies {apart:.1f} standard deviations "
            "from the law"
        )
        rows += [(cell.variant, x, y) for x, y in zip(across.tolist(), rest.tolist(), strict=True)]
    _outer(every, "normal quantile", "run, in sd")
    logs = "logs of the " if all((cell.values > 0).all() for cell, _ in found) else ""
    return Drawing(
        name=subject.anchor("qq", benchmark),
        title=f"runs of {benchmark} against a normal law",
        alt=f"Q-Q plot of the {logs}runs of {benchmark}, less their session's mean, against a normal "
        f"law. {'. '.join(told)}.",
        figure=figure,
        columns=("variant", "normal_quantile", "residual_in_sd"),
        rows=tuple(rows),
    )


def _residuals(cell: Cell) -> NDArray[np.float64] | None:
    """Give the ordered residuals in standard deviations; None of few runs, or where all are equal."""
    values = np.log(cell.values) if (cell.values > 0).all() else cell.values
    groups = np.zeros(values.size) if cell.sessions is None else cell.sessions
    _, where, counts = np.unique(groups, return_inverse=True, return_counts=True)
    means = np.bincount(where.reshape(-1), weights=values) / counts
    rest = np.sort((values - means[where.reshape(-1)])[counts[where.reshape(-1)] > 1])
    if rest.size < _FEWEST:
        return None
    free = max(1, rest.size - int((counts > 1).sum()))
    sd = float(np.sqrt((rest**2).sum() / free))
    return rest / sd if sd > _ROUNDING else None


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
