"""Several candidates on one screen: up to three side by side with their times, more as a list."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ...methods.multilevel.page import level_text, mean_cell
from ...methods.multilevel.result import BenchmarkLine, Line, Multilevel
from ...pages import number_format as figures
from ...pages.model import Cell, Column, Sentence, Table, Value, columns_of, value_of
from ...pages.number_format import said
from ...words import shorten, shown
from .one_candidate import (
    ROWS,
    change,
    change_heading,
    change_interval,
    chosen,
    corrected,
    word,
)
from .sentence import leading

if TYPE_CHECKING:
    from ..result import CandidateVerdict, Verdict

SIDE_BY_SIDE = 3  # candidates with a column each
_NAME = 14
_LONG_NAME = 20  # of a variant that has a row
_MARKS = {"equivalent": "= ", "undecided": "? "}
_Known = Sequence[tuple["CandidateVerdict", Multilevel]]


def several(
    verdict: Verdict, marks: Mapping[str, str], *, most: int = ROWS
) -> tuple[Table | Sentence, ...]:
    """Set all candidates: side by side, benchmark by benchmark, or a row each for the suite."""
    known = [(one, one.multilevel) for one in verdict.candidates if one.multilevel is not None]
    if not known:
        return ()
    if len(known) > SIDE_BY_SIDE:
        return (_listed(verdict, known), *_corrected(known))
    names, hidden = _names(verdict, known, marks, most)
    blocks: list[Table | Sentence] = [_side_by_side(verdict, known, names, marks)]
    if any(line.outcome in _MARKS for _, result in known for line in result.benchmarks):
        blocks.append(Sentence(f"= the same within {100 * verdict.margin:g} %, ? undecided"))
    if hidden:
        blocks.append(Sentence(f"and {hidden} more (--all)"))
    return (*blocks, *_corrected(known))


def _corrected(known: _Known) -> Iterator[Sentence]:
    """Say why a word may be "undecided" beside an interval that decides: there is no column for it."""
    counts = {one.variant: sum(map(corrected, result.benchmarks)) for one, result in known}
    told = [f"{shorten(shown(name), _NAME)} {n}" for name, n in counts.items() if n]
    if told:
        most = max(len(result.benchmarks) for _, result in known)
        yield Sentence(
            f"undecided only because {most} benchmarks share the risk: {figures.listed(told, 4)} "
            "(--variant V says which)"
        )


def _names(
    verdict: Verdict, known: _Known, marks: Mapping[str, str], most: int
) -> tuple[tuple[str, ...], int]:
    """Choose the rows by the candidates' mean."""
    names = tuple(dict.fromkeys(line.name for _, result in known for line in result.benchmarks))
    logs: dict[str, list[float]] = {name: [] for name in names}
    for _, result in known:
        for line in result.benchmarks:
            if line.speedup is not None:
                logs[line.name].append(float(np.log(line.speedup)))
    means = {name: float(np.mean(found)) if found else None for name, found in logs.items()}
    return chosen(names, means, marks.keys(), whole=verdict.whole, most=most)


# ---- side by side


def _side_by_side(
    verdict: Verdict, known: _Known, names: Sequence[str], marks: Mapping[str, str]
) -> Table:
    """Set a row for each benchmark: the baseline's time, and of each candidate its time and the difference."""
    rows: list[tuple[Cell, ...]] = []
    for name in names:
        lines = [_line(result, name) for _, result in known]
        first = next((line for line in lines if line is not None), None)
        base = Value("-", None) if first is None else mean_cell(first, 1, verdict.unit)
        cells: list[Cell] = [shorten(shown(name), _NAME), base]
        for line in lines:
            if line is None:
                cells += ["-", ""]
            else:
                cells += [mean_cell(line, 0, verdict.unit), _marked(line, verdict)]
        rows.append((*cells, marks.get(name, "")))
    most = max(len(result.benchmarks) for _, result in known)
    for label, suite in (
        (f"these {most}", [result.these for _, result in known]),
        ("others", [result.similar for _, result in known]),
    ):
        if any(line is not None for line in suite):
            told = [_suite_cells(line, verdict) for line in suite]
            rows.append((label, "", *(cell for pair in told for cell in pair), ""))
    columns = [Column("", "left"), Column(shorten(shown(verdict.baseline), _NAME))]
    for one, _ in known:
        columns += [Column(shorten(shown(one.variant), _NAME)), Column("")]
    return Table(name="candidates-1", columns=(*columns, Column("", "left")), rows=tuple(rows))


def _line(result: Multilevel, name: str) -> BenchmarkLine | None:
    return next((line for line in result.benchmarks if line.name == name), None)


def _marked(line: Line, verdict: Verdict) -> Value:
    """Give a difference with the mark of its word: "=" is the same, "?" undecided."""
    cell = change(line, verdict)
    return Value(f"{_MARKS.get(line.outcome, '')}{cell.text}", cell.value)


def _suite_cells(line: Line | None, verdict: Verdict) -> tuple[Cell, Cell]:
    if line is None:
        return "-", ""
    return change(line, verdict), word(line, verdict.unit)


# ---- a row each


def _listed(verdict: Verdict, known: _Known) -> Table:
    """Set a row for each candidate: the suite's difference, and how many benchmarks say what."""
    suite = any(result.these is not None for _, result in known)
    words = [*dict.fromkeys(line.outcome for _, result in known for line in result.benchmarks)]
    words = [each for each in ("faster", "slower", "equivalent", "undecided") if each in words]
    timed = figures.timed(verdict.unit)
    rows = []
    for one, result in known:
        line = leading(result)
        cells: list[Cell] = [shorten(shown(one.variant), _LONG_NAME)]
        if not suite:
            mean = line.mean_candidate if isinstance(line, BenchmarkLine) else None
            cells.append(value_of(mean, partial(figures.quantity, unit=verdict.unit)))
        if line is None:
            cells += ["-", "-", "undecided"]
        else:
            cells += [
                change(line, verdict),
                change_interval(line, verdict),
                word(line, verdict.unit),
            ]
        if suite:
            counts = Counter(each.outcome for each in result.benchmarks)
            cells += [Value(f"{counts[each]}", counts[each]) for each in words]
        rows.append(tuple(cells))
    columns = [
        *([] if suite else ["mean"]),
        change_heading(verdict),
        level_text(verdict.look_alpha),
        "<",
        *(
            []
            if not suite
            else [_OF[each] if each in _OF else said(each, timed=timed) for each in words]
        ),
    ]
    return Table(name="candidates-1", columns=columns_of("<", *columns), rows=tuple(rows))


_OF = {"equivalent": "same", "undecided": "open"}
