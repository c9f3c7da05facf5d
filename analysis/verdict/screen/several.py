"""Several candidates: side by side up to three, and as a matrix of words beyond that."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from ...methods.multilevel import Line, Multilevel, level_text
from ...report import Cell, Column, Section, Sentence, Table, figures
from ..result import CandidateVerdict, Verdict
from .choice import chosen
from .one_candidate import hpt_text
from .spoken import interval_text, ratio_text, speedup, word

__all__ = ["beside"]

_SIDE_BY_SIDE = 3
_ACROSS = 6  # columns of words in one table
_NAME = 24
_VARIANT = 14


def beside(verdict: Verdict, marks: Mapping[str, str]) -> Section:
    """Set all candidates, one column or group of columns each."""
    known = [(one, one.multilevel) for one in verdict.candidates if one.multilevel is not None]
    without = [one.variant for one in verdict.candidates if one.multilevel is None]
    blocks: list[Table | Sentence] = []
    names, hidden = _names(verdict, [result for _, result in known], marks)
    narrow = len(known) > _SIDE_BY_SIDE
    step = _ACROSS if narrow else _SIDE_BY_SIDE
    for number, start in enumerate(range(0, len(known), step), 1):
        part = known[start : start + step]
        fill = _words if narrow else _full
        blocks.append(fill(verdict, part, names, number, marks))
    if hidden:
        blocks.append(Sentence(f"and {hidden} more (--all)"))
    if without:
        blocks.append(Sentence(f"nothing could be compared: {', '.join(without)}"))
    blocks += _corrected(known)
    told = [
        f"{figures.shorten(one.variant, _VARIANT)}: {hpt_text(one.hpt_speedup).removeprefix('HPT: ')}"
        for one, _ in known
        if one.hpt_speedup is not None
    ]
    if told and not narrow:
        blocks.append(Sentence(f"HPT: {'; '.join(told)}"))
    return Section(tuple(blocks))


_Known = Sequence[tuple[CandidateVerdict, Multilevel]]


def _corrected(known: _Known) -> Iterator[Sentence]:
    """Say why a word may be "undecided" beside an interval that decides: there is no column for it."""
    counts = {
        one.variant: sum(
            line.outcome == "undecided" != line.outcome_uncorrected for line in result.benchmarks
        )
        for one, result in known
    }
    told = [f"{figures.shorten(name, _VARIANT)} {n}" for name, n in counts.items() if n]
    if told:
        most = max(len(result.benchmarks) for _, result in known)
        yield Sentence(
            f"undecided after correction for {most}, though the interval alone would decide: "
            f"{', '.join(told)} (--variant V says which)"
        )


def _names(
    verdict: Verdict, results: Sequence[Multilevel], marks: Mapping[str, str]
) -> tuple[tuple[str, ...], int]:
    """Choose the rows by the candidates' mean."""
    names = tuple(dict.fromkeys(line.name for result in results for line in result.benchmarks))
    logs: dict[str, list[float]] = {name: [] for name in names}
    for result in results:
        for line in result.benchmarks:
            if line.speedup is not None:
                logs[line.name].append(float(np.log(line.speedup)))
    means = {name: float(np.mean(found)) if found else None for name, found in logs.items()}
    choice = chosen(names, means, marks.keys(), whole=verdict.whole)
    return choice.shown, choice.hidden


def _rows(part: _Known, names: Sequence[str]) -> Iterator[tuple[str, list[Line | None]]]:
    for name in names:
        found = [{line.name: line for line in result.benchmarks}.get(name) for _, result in part]
        yield name, list(found)
    most = max(len(result.benchmarks) for _, result in part)
    for text, found_lines in (
        (f"these {most}", [result.these for _, result in part]),
        ("others like them", [result.similar for _, result in part]),
    ):
        if any(line is not None for line in found_lines):
            yield text, found_lines


def _full(
    verdict: Verdict, part: _Known, names: Sequence[str], number: int, marks: Mapping[str, str]
) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for name, lines in _rows(part, names):
        cells: list[Cell] = [figures.shorten(name, _NAME)]
        for line in lines:
            if line is None:
                cells += ["-", "", ""]
            else:
                cells += [word(line, verdict.unit), speedup(line), interval_text(line)]
        rows.append((*cells, marks.get(name, "")))
    columns = [Column("", "left")]
    for one, _ in part:
        name = figures.shorten(one.variant, _VARIANT)
        columns += [
            Column(name, "left"),
            Column("speedup"),
            Column(level_text(verdict.look_alpha), "left"),
        ]
    columns.append(Column("", "left"))
    return Table(name=f"candidates-{number}", columns=tuple(columns), rows=tuple(rows))


def _words(
    verdict: Verdict, part: _Known, names: Sequence[str], number: int, marks: Mapping[str, str]
) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for name, lines in _rows(part, names):
        told = [
            "-" if line is None else f"{_short(line, verdict.unit)} {ratio_text(line)}"
            for line in lines
        ]
        rows.append((figures.shorten(name, _NAME), *told, marks.get(name, "")))
    columns = (
        Column("", "left"),
        *(Column(figures.shorten(one.variant, _VARIANT), "left") for one, _ in part),
        Column("", "left"),
    )
    return Table(name=f"candidates-{number}", columns=columns, rows=tuple(rows))


def _short(line: Line, unit: str) -> str:
    """Give a word that a narrow column holds: "=" is equivalent, "?" undecided."""
    return {"equivalent": "=", "undecided": "?"}.get(line.outcome, word(line, unit))
