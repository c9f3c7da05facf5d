"""Distributions of runs: up to a time, decile by decile, against the run before and a normal law."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import AnalysisError, InsufficientDataError
from ...pages.number_format import quantity
from ...plots.axes import Axes, Key, quantity_axis, ratio_axis
from ...plots.layout import POINT, arranged
from ...plots.scale import Scale, Tick, quantity_scale, ratio_scale
from ...stats.classical_tests import normal_positions
from ...stats.quantiles import Shift, shift_of
from ...stats.ranks import midranks
from ...stats.samples import lag_pairs
from .cells import Cell, cells_of, line_of
from .layout import Drawing, in_columns, name_of, names_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ...plots.drawing import Sheet
    from ...plots.paper import Picture
    from ..subject import Subject

__all__ = ["draw_ecdf", "draw_lag", "draw_qq", "draw_shift"]

_QUARTILES = 3  # of them there are
_NARROW = 38.0  # mm: a panel
_FEWEST = 4  # runs of a variant
_ROUNDING = 1e-12  # values that differ by less are equal


def draw_ecdf(subject: Subject, sheet: Sheet, benchmark: str) -> Drawing:
    """Draw the share of runs done by a time, a step curve for each variant."""
    cells = cells_of(subject, benchmark)
    verdict = subject.verdict
    scale = quantity_scale(value for cell in cells for value in cell.values.tolist())
    names = names_of([cell.variant for cell in cells], sheet)
    axes = Axes(
        y=Scale(0, 1.02),
        y_ticks=[Tick(0, "0"), Tick(0.5, "half"), Tick(1, "all")],
        y_label="share of runs",
        x_label=f"{name_of(verdict.metric, sheet, 0.3)} of at most",
        keys=[
            Key(f"{names[cell.variant]}, {cell.values.size} runs", f"{cell.css} curve")
            for cell in cells
        ],
    )
    quantity_axis(axes, "x", scale, verdict.unit)
    for cell in cells:
        share = np.arange(1, cell.values.size + 1) / cell.values.size
        axes.curve(
            np.concatenate(([scale.low], np.sort(cell.values), [scale.high])),
            np.concatenate(([0.0], share, [1.0])), f"{cell.css} curve", steps=True,
        )  # fmt: skip
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
        picture=arranged(sheet, [[axes]], min(sheet.width * 0.62, 90.0)),
        columns=("variant", f"{verdict.metric}_{verdict.unit}", "share"),
        rows=tuple(
            (cell.variant, value, (k + 1) / cell.values.size)
            for cell in cells
            for k, value in enumerate(np.sort(cell.values).tolist())
        ),
    )


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
    lower = verdict.better == "lower"
    names = names_of([cell.variant for cell, _ in found], sheet)
    ends = [
        math.exp(end)
        for _, shift in found
        for log, half in zip(shift.logs, np.nan_to_num(shift.half), strict=True)
        for end in (log - half, log, log + half)
    ]
    scale = ratio_scale(ends, verdict.margin)
    words = ("fast", "median run", "slow") if lower else ("low", "median run", "high")
    places = zip((0.1, 0.25, 0.5, 0.75, 0.9), (words[0], "", words[1], "", words[2]), strict=True)
    axes = Axes(
        x=Scale(0.03, 0.97),
        y=scale,
        x_ticks=[Tick(at, text) for at, text in places if text or lower],
        y_label=f"speedup over\n{name_of(subject.baseline, sheet, 0.3)}",
        x_label=f"runs of each side, from {words[0]} on",
        keys=[Key(names[cell.variant], f"{cell.css} curve") for cell, _ in found if len(found) > 1],
    )
    axes.margin(verdict.margin, "y")
    ratio_axis(axes, "y", scale)
    for k, (cell, shift) in enumerate(found):
        x = np.array(shift.shares) + (k - (len(found) - 1) / 2) * 0.016
        logs, half = np.asarray(shift.logs), np.nan_to_num(shift.half)
        axes.segments(x, np.exp(logs - half), x, np.exp(logs + half), f"{cell.css} d0 curve")
        axes.curve(x, np.exp(logs), f"{cell.css} line")
        axes.spots(x, np.exp(logs), cell.css, r=2.1)
    limits = _limits(found)
    notes = [f"{names[name]}: {said}" for name, said in limits]
    picture = arranged(sheet, [[axes]], min(sheet.width * 0.62, 90.0), notes=notes)
    told = _told(found)
    return Drawing(
        name=subject.anchor("shift", benchmark),
        title=f"speedup at each decile of {benchmark}",
        alt=f"Speedups over {subject.baseline} by quantile of the runs of {benchmark} "
        f"(shift function). {'. '.join([*told, *(f'{name}: {said}' for name, said in limits)])}.",
        picture=picture,
        columns=("candidate", "share", "speedup", "low", "high", "sessions"),
        rows=tuple(_row(cell, shift, k) for cell, shift in found for k in range(len(shift.shares))),
    )


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
    names = names_of([cell.variant for cell in shown], sheet, 0.7 * _NARROW / sheet.width)
    panels, told, rows = [], [], []
    for cell in shown:
        before, after = pairs[cell.variant].T
        scale = quantity_scale(cell.values.tolist())
        r = _correlation(subject, benchmark, cell.variant, pairs[cell.variant])
        said = "" if r is None else f"r\xa0=\xa0{r:.2f}, "
        axes = Axes(
            title=f"{names[cell.variant]}\n{said}n\xa0=\xa0{before.size}",
            square=True, x_label="the run before", y_label="the run",
        )  # fmt: skip
        quantity_axis(axes, "x", scale, subject.verdict.unit, most=3)
        quantity_axis(axes, "y", scale, subject.verdict.unit, most=3)
        axes.line(scale.low, scale.low, scale.high, scale.high, "grid thin")
        axes.spots(before, after, f"{cell.css} faint", r=1.4)
        panels.append(axes)
        told.append(
            f"{cell.variant}: " + ("" if r is None else f"autocorrelation {r:.2f} of ")
            + f"{before.size} pairs"
        )  # fmt: skip
        rows += [(cell.variant, *pair) for pair in pairs[cell.variant].tolist()]
    metric = f"{subject.verdict.metric}_{subject.verdict.unit}"
    return Drawing(
        name=subject.anchor("lag", benchmark),
        title=f"each run of {benchmark} against the run before",
        alt=f"Runs of {benchmark} against the run before in the same session. {'. '.join(told)}.",
        picture=_squares(sheet, panels),
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
    names = names_of([cell.variant for cell, _ in found], sheet, 0.7 * _NARROW / sheet.width)
    panels, told, rows = [], [], []
    for cell, rest in found:
        across = normal_positions(rest.size)
        reach = 1.06 * float(max(np.abs(across).max(), np.abs(rest).max()))
        scale = Scale(-reach, reach)
        step = max(1, math.ceil(reach / 2))
        ticks = [
            Tick(value, f"{value}".replace("-", "\N{MINUS SIGN}")) for value in (-step, 0, step)
        ]
        axes = Axes(
            x=scale, y=scale, x_ticks=ticks, y_ticks=ticks, square=True,
            title=f"{names[cell.variant]}\nn = {rest.size}",
            x_label="normal quantile", y_label="run, in sd",
        )  # fmt: skip
        axes.line(-reach, -reach, reach, reach, "one thin")
        axes.spots(across, rest, f"{cell.css} dense")
        panels.append(axes)
        apart = float(np.abs(rest - across).max())
        told.append(
            f"{cell.variant}: {rest.size} runs, the farthest lies {apart:.1f} standard deviations "
            "from the law"
        )
        rows += [(cell.variant, x, y) for x, y in zip(across.tolist(), rest.tolist(), strict=True)]
    logs = "logs of the " if all((cell.values > 0).all() for cell, _ in found) else ""
    return Drawing(
        name=subject.anchor("qq", benchmark),
        title=f"runs of {benchmark} against a normal law",
        alt=f"Q-Q plot of the {logs}runs of {benchmark}, less their session's mean, against a normal "
        f"law. {'. '.join(told)}.",
        picture=_squares(sheet, panels),
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


def _squares(sheet: Sheet, panels: Sequence[Axes]) -> Picture:
    """Set squares beside and below each other; only the first of a row says what is upwards."""
    across = max(1, min(len(panels), int(sheet.width / _NARROW)))
    for k, axes in enumerate(panels):
        axes.y_label = axes.y_label if k % across == 0 else ""
    high = min(sheet.width / across * 0.92, 62.0) + 3 * sheet.font_size * POINT
    return in_columns(sheet, panels, across, min(230.0, high * -(-len(panels) // across)))
