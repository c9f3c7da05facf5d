"""Every run of a benchmark as a dot: on the axis of values, and in the order of execution."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...errors import AnalysisError
from ...plots.axes import Axes, quantity_axis, rows_down
from ...plots.layout import arranged
from ...plots.scale import Scale, Tick, quantity_scale
from ...stats.samples import bandwidth_of, kernel_density
from .cells import Cell, cells_of, numbers_of, told_of
from .layout import Drawing, name_of, names_of, rows_high

if TYPE_CHECKING:
    from ...diagnose.result import Finding
    from ...plots.drawing import Sheet
    from ..subject import Subject

__all__ = ["draw_order", "draw_strip"]

_LINES = 12  # sessions that have a line of their own; more share theirs
_FEW = 8  # runs below which a density is not drawn
_PLACES = 160
_MOST = 4  # findings that are marked
_LINE = 1.1  # of letters, that each of them takes

Spans = Mapping[object, tuple[float, float]]


def draw_strip(subject: Subject, sheet: Sheet, benchmark: str) -> Drawing:
    """Draw a row for each variant: a line of dots for each session, and the density above them."""
    cells = cells_of(subject, benchmark)
    unit = subject.verdict.unit
    scale = quantity_scale(value for cell in cells for value in cell.values.tolist())
    lines = max(min(len(cell.by_session()), _LINES) for cell in cells)
    names = names_of([cell.variant for cell in cells], sheet)
    rows = [f"{names[cell.variant]}\n{cell.values.size} runs" for cell in cells]
    axes = rows_down(rows, (0.6, 0.55))
    quantity_axis(axes, "x", scale, unit)
    if scale.log and cells[0].variant == subject.baseline:
        axes.upright(float(np.exp(np.log(cells[0].values).mean())), "one thin")
    for row, cell in enumerate(cells):
        _strip(axes, cell, row, scale)
    metric = name_of(subject.verdict.metric, sheet)
    axes.x_label = f"{metric} of a run ({subject.verdict.better} is better)"
    height = rows_high(sheet, len(cells), 2.4 + 0.55 * lines, 3.5)
    return Drawing(
        name=subject.anchor("strip", benchmark),
        title=f"runs of {benchmark}",
        alt=told_of(subject, benchmark, cells),
        picture=arranged(sheet, [[axes]], height),
        columns=("variant", "session", "block", f"{subject.verdict.metric}_{unit}"),
        rows=numbers_of(cells),
    )


def _strip(axes: Axes, cell: Cell, row: int, scale: Scale) -> None:
    """Draw a variant around its row: dots from -0.05 down to 0.4, its density above."""
    x = np.log(cell.values) if scale.log else cell.values
    width = bandwidth_of(x) if cell.values.size >= _FEW else 0.0
    if width > 0:
        places = np.linspace(x.min() - 3 * width, x.max() + 3 * width, _PLACES)
        height = kernel_density(x, places, width)
        grid = np.exp(places) if scale.log else places
        top = row - 0.08
        up = top - 0.36 * height / height.max()
        axes.curve([grid[0], *grid, grid[-1]], [top, *up, top], f"{cell.css} pale", closed=True)
    sessions = cell.by_session()
    shared = len(sessions) > _LINES
    step = 0.4 / max(1, (1 if shared else len(sessions)) - 1) if len(sessions) > 1 else 0.0
    for k, values in enumerate(sessions):
        y = row + (0.15 if shared or len(sessions) == 1 else k * step)
        axes.spots(values, y, f"{cell.css} faint")
        if scale.log and not shared:
            mean = float(np.exp(np.log(values).mean()))
            half = min(0.5 * step, 0.08) or 0.08
            axes.line(mean, y - half, mean, y + half, "ink curve")


def draw_order(subject: Subject, sheet: Sheet, benchmark: str) -> Drawing:
    """Draw a panel for each variant: its runs from left to right, session by session.

    A stroke is a session's mean, a grey one the baseline's; a ring is a run far from the others of
    its session, a cross on the upper edge a failed run; a bar above sessions bears the number of a
    finding.

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
    found = _findings(subject, benchmark)
    names = names_of([cell.variant for cell in cells], sheet)
    spans = _spans(cells)
    across = Scale(-0.02 * _end(spans), 1.02 * _end(spans))
    base = _means(cells[0], scale) if cells[0].variant == subject.baseline else {}
    panels, notes = [], []
    for cell in cells:
        axes = Axes(x=across, sides="l", title=f"{names[cell.variant]}: {cell.values.size} runs")
        quantity_axis(axes, "y", scale, unit, most=4)
        _series(axes, cell, spans, base, scale)
        far = _rings(axes, cell, spans, subject, benchmark)
        failed = _crosses(axes, cell, spans, subject, benchmark)
        notes += ["ring: far from the others of its session"] * far
        notes += ["cross: failed"] * failed
        panels.append(axes)
    _name_sessions(panels[-1], spans)
    rows, heights = [[axes] for axes in panels], [5.6] * len(panels)
    if found:
        rows, heights = [[_bars(found, spans, across)], *rows], [_LINE * len(found), *heights]
    said = [
        f"{number}{f', {names[one.variant]}' if one.variant in names else ''}: {_text(one)}"
        for number, one in enumerate(found, 1)
    ]
    height = rows_high(sheet, len(cells), 7.0, 4.0 + _LINE * len(found))
    notes = [*dict.fromkeys(notes), *said]
    alt = told_of(subject, benchmark, cells)
    return Drawing(
        name=subject.anchor("order", benchmark),
        title=f"runs of {benchmark} in their order",
        alt=" ".join([alt, *(f"Found: {_text(one)}." for one in found)]),
        picture=arranged(sheet, rows, height, heights=heights, notes=notes),
        columns=("variant", "session", "block", f"{metric}_{unit}"),
        rows=numbers_of(cells),
    )


def _sessions(cell: Cell) -> Mapping[object, np.ndarray]:
    """Give the places of each session's runs; whole numbers in order, names as they are first met."""
    if cell.sessions is None:
        return {None: np.arange(cell.values.size)}
    ids = cell.sessions.tolist()
    known = sorted(set(ids)) if cell.sessions.dtype.kind in "iu" else list(dict.fromkeys(ids))
    return {one: np.flatnonzero(cell.sessions == one) for one in known}


def _spans(cells: Sequence[Cell]) -> Spans:
    """Give where each session begins and ends: as wide as its longest cell, a little apart."""
    widths: dict[object, int] = {}
    for cell in cells:
        for one, places in _sessions(cell).items():
            widths[one] = max(widths.get(one, 0), places.size)
    order = list(widths)
    if all(isinstance(one, int) for one in order):
        order.sort(key=lambda one: float(str(one)))
    found: dict[object, tuple[float, float]] = {}
    start = 0.0
    for one in order:
        found[one] = (start, start + widths[one])
        start += widths[one] * 1.08 + 1
    return found


def _end(spans: Spans) -> float:
    return max(right for _, right in spans.values())


def _means(cell: Cell, scale: Scale) -> dict[object, float]:
    def mean(values: np.ndarray) -> float:
        return float(np.exp(np.log(values).mean()) if scale.log else values.mean())

    return {one: mean(cell.values[places]) for one, places in _sessions(cell).items()}


def _series(
    axes: Axes, cell: Cell, spans: Spans, base: Mapping[object, float], scale: Scale
) -> None:
    means = _means(cell, scale)
    for one, places in _sessions(cell).items():
        left, right = spans[one]
        if one in base and base != means:
            axes.line(left, base[one], right, base[one], "one curve")
        axes.spots(left + 0.5 + np.arange(places.size), cell.values[places], f"{cell.css} dense")
        axes.line(left, means[one], right, means[one], "ink interval")


def _rings(axes: Axes, cell: Cell, spans: Spans, subject: Subject, benchmark: str) -> bool:
    """Mark the runs that the diagnosis calls far; say whether there are any."""
    diagnosis = subject.verdict.diagnosis
    if diagnosis is None:
        return False
    sessions = {str(one): (one, places) for one, places in _sessions(cell).items()}
    x, y = [], []
    for run in diagnosis.far_runs:
        if (run.benchmark, run.variant) == (benchmark, cell.variant):
            one, places = sessions.get(str(run.session), (None, np.empty(0, dtype=np.intp)))
            if run.run <= places.size:
                x.append(spans[one][0] + run.run - 0.5)
                y.append(float(cell.values[places[run.run - 1]]))
    axes.spots(x, y, "ink hair ring", r=2.3)
    return bool(x)


def _crosses(axes: Axes, cell: Cell, spans: Spans, subject: Subject, benchmark: str) -> bool:
    """Mark the failed runs on the upper edge, where they stood in their session."""
    trial = subject.trial
    if trial is None or cell.blocks is None or benchmark not in trial.manifest.benchmarks:
        return False
    if cell.variant not in trial.manifest.variants:
        return False
    mine = (trial.benchmark == trial.manifest.benchmarks.index(benchmark)) & (
        trial.variant == trial.manifest.variants.index(cell.variant)
    )
    failed = np.flatnonzero(mine & trial.candidates & (trial.outcome != 0))
    blocks = trial.session * (int(trial.block.max()) + 1) + trial.block
    sessions = _sessions(cell)
    x = []
    for row in failed.tolist():
        one = int(trial.session[row])
        if one in spans:
            places = sessions.get(one, np.empty(0, dtype=np.intp))
            x.append(spans[one][0] + float((cell.blocks[places] < blocks[row]).sum()))
    axes.spots(x, axes.y.high, "ink", r=2, shape="cross")
    return bool(x)


def _findings(subject: Subject, benchmark: str) -> list[Finding]:
    """Give what is certain of some sessions, not of all: of this benchmark, or of the host."""
    diagnosis = subject.verdict.diagnosis
    if diagnosis is None:
        return []
    found = [
        one
        for one in diagnosis.findings
        if one.certain
        and 0 < len(one.sessions) < diagnosis.sessions
        and one.benchmark in (None, benchmark)
        and one.code not in ("disturbed-runs", "waited-for-cpu")
    ]
    return sorted(found, key=lambda one: one.benchmark is None)[:_MOST]


def _text(one: Finding) -> str:
    return f"{one.code} {one.text}" if one.text[:1].isdigit() else one.text


def _bars(found: Sequence[Finding], spans: Spans, across: Scale) -> Axes:
    """Give a line for each finding above all panels: a bar over each of its sessions, its number."""
    axes = Axes(x=across, y=Scale(len(found) + 0.5, 0.5), sides="")
    known = {str(session): span for session, span in spans.items()}
    for number, one in enumerate(found, 1):
        there = [known[str(session)] for session in one.sessions if str(session) in known]
        for left, right in there:
            axes.line(left, number, right, number, "ink thick")
        if there:
            axes.text(there[0][0], number, f"{number}", "ink small", anchor="end", dx=-2)
    return axes


def _name_sessions(axes: Axes, spans: Spans) -> None:
    """Name the sessions below their runs, every few of them where there are many."""
    each = max(1, -(-len(spans) // 10))
    several = len(spans) > 1
    axes.x_ticks = [
        Tick((left + right) / 2, f"{k if isinstance(one, str) else one}")
        for k, (one, (left, right)) in enumerate(spans.items())
        if several and k % each == 0
    ]
    axes.x_label = "session; its runs in their order" if several else "runs in their order"
