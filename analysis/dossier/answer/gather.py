"""Gathers the chapter's values from the subject."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Literal

from ...data import PerformanceMatrix
from ...methods.multilevel import BenchmarkLine, Line, Multilevel
from ...report import Value, figures
from ...verdict import CandidateVerdict
from ..names import shortened, shown
from ..subject import Subject
from ..written import Written, column_of, written
from .axes import axis_of
from .deck import deck, kicker, level, reading
from .doubts import OPEN, doubts, marks, named
from .growth import DENSE, LISTED, grouped, kept_of
from .headline import headline, leading, text_of
from .result import Alone, Answer, Column, Name, Row
from .rows import absent_row, benchmark_row, suite_row

__all__ = ["gather"]

_WIDE, _NARROW = 24, 14  # characters of a name
_BESIDE = 3  # candidates that stand beside each other


def gather(subject: Subject) -> Answer:
    """Give the first screen."""
    verdict = subject.verdict
    told = headline(verdict)
    columns = _Columns(subject)
    found = tuple(columns.of(one) for one in subject.candidates)
    form: Literal["alone", "columns", "matrix"] = "alone"
    if found:
        form = "columns" if len(found) <= _BESIDE else "matrix"
    rows = [row for one in found for row in (*one.rows, *one.suite) if isinstance(row, Row)]
    cautions = doubts(subject)
    return Answer(
        anchor=subject.anchor("answer"),
        title="",
        headline=text_of(told),
        spoken=told,
        kicker=kicker(subject),
        deck=deck(subject),
        baseline=columns.variants[subject.baseline] if found else None,
        metric=verdict.metric,
        form=form,
        dense=len(subject.order) > DENSE,
        columns=found,
        alone=_alone(subject, columns.names),
        sources=tuple(shown(source) for source in subject.sources)
        if len(subject.sources) > 1
        else (),
        level=level(verdict),
        order=_order(subject),
        reading=reading(
            verdict,
            strokes=max((len(row.sessions) for row in rows), default=0),
            columns=min(len(found), _BESIDE),
            undecided=any(row.word == "undecided" for row in rows),
        ),
        doubts=cautions,
        shown=len(cautions) if len(cautions) <= OPEN + 1 else OPEN,
        certificate="" if verdict.certificate is None else verdict.certificate.sentence,
        panel=subject.anchor("panel") if any(one.panel for one in subject.candidates) else "",
    )


class _Columns:
    """Makes the candidates' columns: names, marks and the choice of rows are those of all."""

    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        self.marks = marks(subject)
        self.kept = kept_of(subject.order, named(subject))
        self.names = _names(subject.order)
        self.variants = _names((subject.baseline, *(one.variant for one in subject.candidates)))

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
        return tuple(
            self._row(bench, result, lines.get(bench), told) for bench in self._order(lines)
        )

    def _order(self, lines: Mapping[str, BenchmarkLine]) -> tuple[str, ...]:
        """Give the benchmarks in the order of the page, and what only this candidate has."""
        known = dict.fromkeys((*self.subject.order, *lines))
        return tuple(known)

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
        link = self.subject.anchor("benchmark", bench)
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


def _all(matrix: PerformanceMatrix | None) -> tuple[str, ...]:
    if matrix is None:
        return ()
    zeros = () if matrix.with_zeros is None else matrix.with_zeros.benchmarks
    return (*matrix.benchmarks, *zeros)


def _names(names: tuple[str, ...]) -> Mapping[str, Name]:
    """Give the names in both widths; two that look alike keep what tells them apart."""
    wide, narrow = shortened(names, _WIDE), shortened(names, _NARROW)
    return {name: Name(name, wide[name], narrow[name]) for name in names}


def _order(subject: Subject) -> str:
    if len(subject.order) < 2 or not subject.candidates:
        return ""
    if subject.candidates[0].multilevel is None:
        return ""
    if len(subject.candidates) == 1:
        return "Sorted by speedup."
    first = shortened([one.variant for one in subject.candidates], _WIDE)
    return f"Sorted by the speedup of {first[subject.candidates[0].variant]}, in each column alike."


def _alone(subject: Subject, names: Mapping[str, Name]) -> tuple[Alone, ...]:
    unit = subject.verdict.unit

    def quantity(value: float | None) -> Value:
        return Value("", None) if value is None else Value(figures.quantity(value, unit), value)

    found = []
    for one in subject.verdict.alone:
        half = None
        if one.low is not None and one.high is not None:
            half = 100 * (math.sqrt(one.high / one.low) - 1)
        by = f"{one.sessions} sessions" if one.unit == "session" else f"{one.unit}s of one session"
        found.append(
            Alone(
                name=names.get(one.benchmark) or Name(one.benchmark, *2 * (shown(one.benchmark),)),
                link=subject.anchor("benchmark", one.benchmark),
                mean=quantity(one.mean),
                low=quantity(one.low),
                high=quantity(one.high),
                half=Value("", None)
                if half is None
                else Value(
                    f"±\N{NO-BREAK SPACE}{figures.significant(half, 2)}\N{NO-BREAK SPACE}%", half
                ),
                lowest=quantity(one.minimum),
                highest=quantity(one.maximum),
                runs=Value(f"{one.runs}", one.runs),
                by=by,
            )
        )
    return tuple(found)
