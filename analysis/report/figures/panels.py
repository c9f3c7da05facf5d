"""Every run of a benchmark as a dot: on the axis of values, and in the order of execution."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...errors import AnalysisError, InsufficientDataError
from ...pages.number_format import outcome_word, quantity
from ...plots.axes import Axes, Scale, Tick, quantity_axis, quantity_scale, rows_down
from ...plots.chart import POINT, arranged
from ...plots.marks import COLOURS, style_of
from ...plots.svg import wide
from ...stats.samples import bandwidth_of, kernel_density
from ...words import shorten, shortened
from ..runs import (
    Cell,
    Frame,
    cells_of,
    failed_of,
    far_places,
    frame_of,
    mean_of,
    ran_together,
    session_means,
)

if TYPE_CHECKING:
    from ...diagnose.result import Finding
    from ...methods.multilevel.result import BenchmarkLine, Multilevel
    from ...plots.chart import Sheet
    from ...plots.paper import Picture
    from ..subject import Subject

__all__ = [
    "Drawing",
    "Number",
    "broad",
    "cells_and_styles",
    "check_order",
    "columns_of",
    "counted",
    "draw_order",
    "draw_strip",
    "few_of",
    "in_columns",
    "line_of",
    "name_of",
    "names_of",
    "numbers_of",
    "rows_high",
    "told_of",
]

# --- The runs of one benchmark, variant by variant, as figures draw and count them.


def line_of(subject: Subject, variant: str, benchmark: str) -> BenchmarkLine | None:
    """Give what the verdict says of a candidate on a benchmark."""
    for one in subject.candidates:
        if one.variant == variant and one.multilevel is not None:
            lines = (line for line in one.multilevel.benchmarks if line.name == benchmark)
            return next(lines, None)
    return None


def cells_and_styles(
    subject: Subject, benchmark: str
) -> tuple[Mapping[str, Cell], Mapping[str, str]]:
    """Give each variant's runs, the baseline's first, and the roles that they are drawn in.

    These are the baseline's, its word's of one candidate, colours and dashes of their own of several.
    """
    cells = cells_of(subject, benchmark)
    if not cells:
        raise InsufficientDataError(f"no run of {benchmark!r} counts", n=0, needed=1)
    candidates = [name for name in subject.matrices if name != subject.baseline]
    styles = {subject.baseline: "baseline"}
    for k, name in enumerate(candidates):
        line = line_of(subject, name, benchmark)
        place = k % len(COLOURS)
        word = "undecided" if line is None else line.outcome
        styles[name] = f"c{place} d{place}" if len(candidates) > 1 else style_of(word)
    return cells, styles


def word_styles(subject: Subject, benchmark: str) -> dict[str, str]:
    """Give the role that each variant is drawn in on a page: the baseline's, or its word's."""
    lines = {name: line_of(subject, name, benchmark) for name in subject.matrices}
    return {
        name: style_of(
            None if name == subject.baseline else "undecided" if line is None else line.outcome
        )
        for name, line in lines.items()
    }


def check_order(
    subject: Subject, cells: Mapping[str, Cell], benchmark: str, fix: str = "give a trial"
) -> None:
    """Refuse runs of which nobody knows the order."""
    if not subject.trials and any(cell.block is None for cell in cells.values()):
        raise AnalysisError(
            "the order of these runs is unknown: the files name no blocks", benchmark, fix
        )


def told_of(subject: Subject, benchmark: str, cells: Mapping[str, Cell]) -> str:
    """Say of each variant how many runs there are, where their middle is, and how far they reach."""
    unit = subject.verdict.unit
    told = []
    for variant, cell in cells.items():
        sessions = "" if cell.labels == ("",) else f" in {len(cell.labels)} sessions"
        median, low, high = (quantity(v, unit) for v in (float(np.median(cell.values)), *cell.ends))
        told.append(
            f"{variant}: {cell.values.size} runs{sessions}, median {median}, {low} to {high}"
        )
    return f"{subject.verdict.metric} of {benchmark}, {subject.verdict.better} is better. {'. '.join(told)}."


def numbers_of(cells: Mapping[str, Cell]) -> tuple[tuple[Number, ...], ...]:
    """Give each run with its variant, session and block."""
    return tuple(
        (variant, cell.labels[session] or None, block, value)
        for variant, cell in cells.items()
        for session, block, value in zip(
            cell.session.tolist(),
            [None] * cell.values.size if cell.block is None else cell.block.tolist(),
            cell.values.tolist(),
            strict=True,
        )
    )


# --- A figure of a paper, and how its parts are laid out: heights by what they hold, names that fit.


_TALLEST = 230.0  # mm: a page with its caption
_LONGEST, _SHORTEST = 24, 6  # characters of a name
_MOST_ROWS, _ENDS = (
    40,
    15,
)  # rows; of more the first and the last, and those that a caution names

Number = str | float | int | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Drawing:
    """One picture.

    Attributes
    ----------
    name : str
        What its files are called, without an ending.
    title : str
        What it is; never drawn, but found by search and readers of screens.
    alt : str
        Its result in words, with its numbers of runs and its cautions: also a caption to begin with.
    picture : Picture
    columns : tuple of str
        Headings of the numbers in it.
    rows : tuple of tuple
        The numbers, unrounded, in the units that the headings name; None is unknown.
    """

    name: str
    title: str
    alt: str
    picture: Picture
    columns: tuple[str, ...]
    rows: tuple[tuple[Number, ...], ...]


def rows_high(sheet: Sheet, rows: float, each: float, around: float = 4.5) -> float:
    """Give the height in mm of so many rows, each in lines of letters, with an axis below."""
    return min(_TALLEST, (rows * each + around) * sheet.font_size * POINT)


def columns_of(sheet: Sheet, count: int, each: float) -> int:
    """Say how many panels stand beside each other, of which each needs `each` mm per point of letters."""
    return max(1, min(count, int(sheet.width / (each * sheet.font_size))))


def in_columns(
    sheet: Sheet, panels: Sequence[Axes], across: int, height: float, notes: Iterable[str] = ()
) -> Picture:
    """Set panels in rows, `across` in each."""
    rows = [list(panels[k : k + across]) for k in range(0, len(panels), across)]
    return arranged(sheet, rows, height, notes=notes)


def broad(text: str, sheet: Sheet, *, bold: bool = False) -> float:
    """Give how much of the sheet's width a text takes, in the sheet's letters."""
    return wide(text, sheet.font_size, sheet.font_family, bold=bold) * POINT / sheet.width


def names_of(
    names: Sequence[str], sheet: Sheet, share: float = 0.25, *, bold: bool = False
) -> dict[str, str]:
    """Shorten names that stand beside each other, until they take a share of the width at most."""
    found: dict[str, str] = {}
    for letters in range(_LONGEST, _SHORTEST - 1, -2):
        found = dict(shortened(list(names), letters))
        if all(broad(text, sheet, bold=bold) <= share for text in found.values()):
            break
    return found


def name_of(name: str, sheet: Sheet, share: float = 0.25) -> str:
    """Shorten one name, such as the baseline's in an axis's label."""
    return names_of([name], sheet, share)[name]


def few_of(
    every: Sequence[str], named: Iterable[str] = (), last: int = 0
) -> tuple[list[str], list[str]]:
    """Give the rows that are drawn, `last` more at the end, and a note of those that are not."""
    if len(every) <= _MOST_ROWS:
        return list(every), []
    wanted = set(named)
    kept = {*every[:_ENDS], *every[-_ENDS - last :], *(wanted if len(wanted) <= _ENDS else ())}
    few = [name for name in every if name in kept]
    out = len(every) - len(few)
    return few, [f"{out} benchmarks between the first and the last are not drawn"]


def counted(result: Multilevel) -> str:
    """Count the words of a candidate: ``3 faster, 1 undecided``."""
    words = [line.outcome for line in result.benchmarks]
    return ", ".join(
        f"{words.count(word)} {outcome_word(word, timed=result.timed)}"
        for word in ("faster", "slower", "equivalent", "undecided")
        if word in words
    )


_LINES = 12  # sessions that have a line of their own; more share theirs
_FEW = 8  # runs below which a density is not drawn
_PLACES = 160
_MOST = 4  # findings that are marked
_NAME = 12  # characters of a session's name
_LINE = 1.1  # of letters, that each of them takes
_ACROSS = Scale(-0.02, 1.02)  # all sessions, with room beside them


def draw_strip(subject: Subject, sheet: Sheet, benchmark: str) -> Drawing:
    """Draw a row for each variant: a line of dots for each session, and the density above them."""
    cells, styles = cells_and_styles(subject, benchmark)
    unit = subject.verdict.unit
    scale = quantity_scale(end for cell in cells.values() for end in cell.ends)
    lines = max(min(len(cell.labels), _LINES) for cell in cells.values())
    names = names_of(list(cells), sheet)
    axes = rows_down(
        [f"{names[name]}\n{cell.values.size} runs" for name, cell in cells.items()], (0.6, 0.55)
    )
    quantity_axis(axes, "x", scale, unit)
    if scale.log and subject.baseline in cells:
        axes.upright(mean_of(cells[subject.baseline].values, log=True), "one thin")
    for row, (name, cell) in enumerate(cells.items()):
        _strip(axes, cell, styles[name], row, scale)
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


def _strip(axes: Axes, cell: Cell, css: str, row: int, scale: Scale) -> None:
    """Draw a variant around its row: dots from -0.05 down to 0.4, its density above."""
    x = np.log(cell.values) if scale.log else cell.values
    width = bandwidth_of(x) if cell.values.size >= _FEW else 0.0
    if width > 0:
        places = np.linspace(x.min() - 3 * width, x.max() + 3 * width, _PLACES)
        height = kernel_density(x, places, width)
        grid = np.exp(places) if scale.log else places
        top = row - 0.08
        up = top - 0.36 * height / height.max()
        axes.curve([grid[0], *grid, grid[-1]], [top, *up, top], f"{css} pale", closed=True)
    sessions = cell.by_session
    shared = len(sessions) > _LINES
    step = 0.4 / max(1, (1 if shared else len(sessions)) - 1) if len(sessions) > 1 else 0.0
    for k, values in enumerate(sessions):
        y = row + (0.15 if shared or len(sessions) == 1 else k * step)
        axes.spots(values, y, f"{css} faint")
        if scale.log and not shared:
            mean = mean_of(values, log=True)
            half = min(0.5 * step, 0.08) or 0.08
            axes.line(mean, y - half, mean, y + half, "ink curve")


def draw_order(subject: Subject, sheet: Sheet, benchmark: str) -> Drawing:
    """Draw a panel for each variant: its runs from left to right, session by session.

    A stroke is a session's mean, a grey one the baseline's; a ring is a run far from the others of
    its session, a cross on the upper edge a failed run; a bar above sessions bears the number of a
    finding.
    """
    cells, styles = cells_and_styles(subject, benchmark)
    check_order(subject, cells, benchmark, "draw a strip instead, or give a trial")
    unit, metric = subject.verdict.unit, subject.verdict.metric
    scale = quantity_scale(end for cell in cells.values() for end in cell.ends)
    found = _findings(subject, benchmark)
    names = names_of(list(cells), sheet)
    failures = failed_of(subject)
    lost = {name: failures.get((benchmark, name), ()) for name in cells}
    frame = frame_of(cells, lost, together=ran_together(subject))
    means = {n: session_means(cell, frame, n, log=scale.log) for n, cell in cells.items()}
    base = means.get(subject.baseline, []) if frame.together else []
    diagnosis = subject.verdict.diagnosis
    panels, notes = [], []
    for name, cell in cells.items():
        axes = Axes(x=_ACROSS, sides="l", title=f"{names[name]}: {cell.values.size} runs")
        quantity_axis(axes, "y", scale, unit, most=4)
        for left, right, mean in base if name != subject.baseline else ():
            axes.line(left, mean, right, mean, "one curve")
        axes.spots(frame.across[name], cell.values, f"{styles[name]} dense")
        for left, right, mean in means[name]:
            axes.line(left, mean, right, mean, "ink interval")
        runs = () if diagnosis is None else diagnosis.far_runs
        mine = [run for run in runs if (run.benchmark, run.variant) == (benchmark, name)]
        far = list(far_places(cell, mine))
        axes.spots(frame.across[name][far], cell.values[far], "ink hair ring", r=2.3)
        failed = frame.failed.get(name, ())
        axes.spots(failed, axes.y.high, "ink", r=2, shape="cross")
        notes += ["ring: far from the others of its session"] * bool(far)
        notes += ["cross: failed"] * bool(failed)
        panels.append(axes)
    _name_sessions(panels[-1], frame)
    rows, heights = [[axes] for axes in panels], [5.6] * len(panels)
    if found:
        rows, heights = [[_bars(found, frame)], *rows], [_LINE * len(found), *heights]
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


def _bars(found: Sequence[Finding], frame: Frame) -> Axes:
    """Give a line for each finding above all panels: a bar over each of its sessions, its number."""
    axes = Axes(x=_ACROSS, y=Scale(len(found) + 0.5, 0.5), sides="")
    spans = dict(zip(frame.labels, frame.spans, strict=True))
    for number, one in enumerate(found, 1):
        there = [spans[str(session)] for session in one.sessions if str(session) in spans]
        for left, right in there:
            axes.line(left, number, right, number, "ink thick")
        if there:
            axes.text(there[0][0], number, f"{number}", "ink small", anchor="end", dx=-2)
    return axes


def _name_sessions(axes: Axes, frame: Frame) -> None:
    """Name the sessions below their runs, every few of them where there are many."""
    named = list(zip(frame.labels, frame.spans, strict=True))
    several = len(named) > 1
    axes.x_ticks = [
        Tick((left + right) / 2, shorten(label, _NAME))
        for label, (left, right) in named[:: max(1, -(-len(named) // 10))]
        if several
    ]
    axes.x_label = "session; its runs in their order" if several else "runs in their order"
