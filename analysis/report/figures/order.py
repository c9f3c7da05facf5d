"""The runs of a benchmark in the order of execution, with what was found in them marked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...errors import AnalysisError
from ...plots.palette import PRINT
from ...plots.paper import clear, quantity_axis
from ...plots.scale import Scale, quantity_scale
from .cells import Cell, cells_of, numbers_of, told_of
from .layout import fresh, names_of, note, rows_high
from .result import Drawing

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ...diagnose.result import Finding
    from ...plots.drawing import Sheet
    from ..subject import Subject

__all__ = ["draw_order"]

_DOT = 2.6
_MOST = 4  # findings that are marked
_LINE = 1.1  # of letters, that each of them takes

Spans = Mapping[object, tuple[float, float]]


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
    figure = fresh(sheet, rows_high(sheet, len(cells), 7.0, 4.0 + _LINE * len(found)))
    names = names_of([cell.variant for cell in cells], sheet)
    spans = _spans(cells)
    heights = [_LINE * len(found), *([5.6] * len(cells))] if found else [1.0] * len(cells)
    drawn = figure.subplots(
        len(heights), 1, sharex=True, squeeze=False, height_ratios=heights
    ).ravel()
    every = list(drawn[bool(found) :])
    base = _means(cells[0], scale) if cells[0].variant == subject.baseline else {}
    notes = []
    for axes, cell in zip(every, cells, strict=True):
        _series(axes, cell, spans, base, scale)
        far = _rings(axes, cell, spans, subject, benchmark)
        failed = _crosses(axes, cell, spans, subject, benchmark)
        axes.set_title(
            f"{names[cell.variant]}: {cell.values.size} runs", color=PRINT.ink, fontsize="medium"
        )
        notes += ["ring: far from the others of its session"] * far
        notes += ["cross: failed"] * failed
        quantity_axis(axes, "y", scale, unit, most=4)
    for axes in drawn[:-1]:
        axes.tick_params(axis="x", labelbottom=False)
    _session_ticks(every[-1], spans)
    if found:
        _bars(drawn[0], found, spans)
    said = [
        f"{number}{f', {names[one.variant]}' if one.variant in names else ''}: {_text(one)}"
        for number, one in enumerate(found, 1)
    ]
    note(figure, sheet, [*dict.fromkeys(notes), *said])
    alt = told_of(subject, benchmark, cells)
    return Drawing(
        name=subject.anchor("order", benchmark),
        title=f"runs of {benchmark} in their order",
        alt=" ".join([alt, *(f"Found: {_text(one)}." for one in found)]),
        figure=figure,
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
        axes.plot(
            left + 0.5 + np.arange(places.size), cell.values[places], linestyle="none", marker="o",
            markersize=_DOT, markerfacecolor=cell.colour, markeredgewidth=0, alpha=0.7, zorder=2,
        )  # fmt: skip
        axes.plot([left, right], [means[one]] * 2, color=PRINT.ink, linewidth=1.5, zorder=3)
        if one in base and base != means:
            axes.plot([left, right], [base[one]] * 2, color=PRINT.one, linewidth=1.2, zorder=1)


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
    axes.plot(
        x, y, linestyle="none", marker="o", markersize=_DOT * 1.8, markerfacecolor="none",
        markeredgecolor=PRINT.ink, markeredgewidth=0.5, zorder=4,
    )  # fmt: skip
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
    (marks,) = axes.plot(
        x, [1.0] * len(x), linestyle="none", marker="x", markersize=4, color=PRINT.ink,
        transform=axes.get_xaxis_transform(), clip_on=False, zorder=4,
    )  # fmt: skip
    marks.set_in_layout(False)
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


def _bars(axes: Axes, found: Sequence[Finding], spans: Spans) -> None:
    """Draw a line for each finding above all panels: a bar over each of its sessions, its number."""
    known = {str(session): span for session, span in spans.items()}
    for number, one in enumerate(found, 1):
        there = [known[str(session)] for session in one.sessions if str(session) in known]
        for left, right in there:
            axes.plot(
                [left, right], [number] * 2, color=PRINT.ink, linewidth=2.0, solid_capstyle="butt"
            )
        if there:
            axes.annotate(
                f"{number}", (there[0][0], number), (-2, 0), textcoords="offset points",
                fontsize="x-small", va="center", ha="right",
            )  # fmt: skip
    axes.set_ylim(len(found) + 0.5, 0.5)
    axes.set_yticks([])
    clear(axes, "left", "bottom")


def _session_ticks(axes: Axes, spans: Spans) -> None:
    """Name the sessions below their runs, every few of them where there are many."""
    each = max(1, -(-len(spans) // 10))
    middle = [(left + right) / 2 for left, right in spans.values()]
    several = len(spans) > 1
    labels = [
        f"{k if isinstance(one, str) else one}" if several and k % each == 0 else ""
        for k, one in enumerate(spans)
    ]
    axes.set_xticks(middle, labels)
    clear(axes, "bottom")
    axes.set_xlabel("session; its runs in their order" if several else "runs in their order")
