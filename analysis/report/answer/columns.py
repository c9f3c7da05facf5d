"""The candidates' columns of the forest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ..names import shortened
from ..written import Written, column_of, written
from .axes import axis_of
from .doubts import marks, named
from .growth import LISTED, grouped, kept_of
from .headline import leading
from .result import Column, Name, Row
from .rows import absent_row, benchmark_row, suite_row

if TYPE_CHECKING:
    from ...data.matrix import PerformanceMatrix
    from ...methods.multilevel.result import BenchmarkLine, Line, Multilevel
    from ...verdict.result import CandidateVerdict
    from ..subject import Subject

__all__ = ["Columns", "names_of"]

_WIDE, _NARROW = 24, 14  # characters of a name


class Columns:
    """Makes the candidates' columns: names, marks and the choice of rows are those of all."""

    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        self.marks = marks(subject)
        self.listed = set(subject.order)
        self.order = _order(subject)
        self.kept = kept_of(self.order, named(subject))
        self.names = names_of(self.order)
        self.variants = names_of((subject.baseline, *(one.variant for one in subject.candidates)))

    def of(self, one: CandidateVerdict) -> Column:
        """Give the column of a candidate."""
        name = self.variants[one.variant]
        place = [c.variant for c in self.subject.candidates].index(one.variant) + 1
        anchor = f"{self.subject.anchor('answer')}-{place}"
        if one.multilevel is None:
            return Column(
                anchor=anchor,
                candidate=name,
                lead=None,
                over="nothing could be compared",
                axis=None,
                rows=(),
                suite=(),
                every=(),
                remark="",
            )
        result = one.multilevel
        column = column_of(result)
        written_as = {id(line): written(line, column) for line in column}
        rows = self._rows(result, {line.name: written_as[id(line)] for line in result.benchmarks})
        suite = self._suite(result, written_as)
        lead, over = self._lead(result, rows, suite)
        cut = grouped(rows, self.kept)
        return Column(
            anchor=anchor,
            candidate=name,
            lead=lead,
            over=over,
            axis=axis_of(column, result.margin, timed=result.timed),
            rows=cut,
            suite=suite,
            every=rows if len(rows) > LISTED else (),
            remark=result.occasions or "",
        )

    def _rows(self, result: Multilevel, told: Mapping[str, Written]) -> tuple[Row, ...]:
        lines = {line.name: line for line in result.benchmarks}
        return tuple(self._row(bench, result, lines.get(bench), told) for bench in self.order)

    def _row(
        self,
        bench: str,
        result: Multilevel,
        line: BenchmarkLine | None,
        told: Mapping[str, Written],
    ) -> Row:
        first = result.candidate == self.subject.candidates[0].variant
        numbers = (
            *(self.marks.get(("", bench), ()) if first else ()),
            *self.marks.get((result.candidate, bench), ()),
        )
        link = self.subject.anchor("benchmark", bench) if bench in self.listed else ""
        name = self.names[bench]
        if line is None:
            return absent_row(name, self._only(bench, result), link=link, marks=numbers)
        return benchmark_row(line, told[bench], result, name, link=link, marks=numbers)

    def _only(self, bench: str, result: Multilevel) -> str:
        """Say on which side a benchmark is."""
        sides = [
            name
            for name in (result.baseline, result.candidate)
            if bench in _all(self.subject.matrices.get(name))
        ]
        if len(sides) == 1:
            return f"only in {self.variants[sides[0]].narrow}"
        return "not compared" if sides else "no run counts"

    def _suite(self, result: Multilevel, told: Mapping[int, Written]) -> tuple[Row, ...]:
        known = sum(line.speedup is not None for line in result.benchmarks)
        link = self.subject.anchor("panel")
        weights = self.subject.asked.get("weights")
        texts = (f"these {known}", result.these), ("others like them", result.similar)
        return tuple(
            suite_row(
                line,
                told[id(line)],
                result,
                Name(text, text, text),
                link=link,
                weights=weights,
            )
            for text, line in texts
            if line is not None
        )

    def _lead(
        self, result: Multilevel, rows: tuple[Row, ...], suite: tuple[Row, ...]
    ) -> tuple[Row | None, str]:
        """Give the line of the heading, and what it is over."""
        line: Line | None = leading(result)
        if line is None:
            return None, f"none of {len(result.benchmarks)} benchmarks could be compared"
        if line is result.these:
            return suite[0], f"over {suite[0].name.text}"
        row = next(row for row in rows if row.name.whole == line.name)
        return row, f"on {row.name.text}"


def _order(subject: Subject) -> tuple[str, ...]:
    """Give the benchmarks in the order of the page, then those that only one candidate has."""
    results = (one.multilevel for one in subject.candidates)
    lines = (line.name for result in results if result is not None for line in result.benchmarks)
    return tuple(dict.fromkeys((*subject.order, *lines)))


def _all(matrix: PerformanceMatrix | None) -> tuple[str, ...]:
    if matrix is None:
        return ()
    zeros = () if matrix.with_zeros is None else matrix.with_zeros.benchmarks
    return (*matrix.benchmarks, *zeros)


def names_of(names: tuple[str, ...]) -> Mapping[str, Name]:
    """Give the names in both widths; two that look alike keep what tells them apart."""
    wide, narrow = shortened(names, _WIDE), shortened(names, _NARROW)
    return {name: Name(name, wide[name], narrow[name]) for name in names}
