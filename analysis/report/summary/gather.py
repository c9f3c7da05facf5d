"""Gathers the compact table from the subject; its strings are those of the page."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from ...pages import number_format as figures
from ...pages.model import Value
from ...verdict.judging import judge_alone
from ...verdict.page import heading
from ...verdict.page_table import advice, word
from ...words import shown
from ..written import column_of, written
from .result import Against, Brief, Mean, Row

if TYPE_CHECKING:
    from ...methods.multilevel.result import Line, Multilevel
    from ...verdict.result import CandidateVerdict, Verdict
    from ..subject import Subject

__all__ = ["gather"]

_UNKNOWN = Value("", None)
_NO_HALF = (None, "")
Halves = Mapping[str, tuple[float | None, str]]


def gather(subject: Subject) -> Brief:
    """Give the compact table of one metric."""
    verdict = subject.verdict
    level = 1 - verdict.look_alpha
    halves = {name: _halves(subject, name, level) for name in subject.matrices}
    units = {unit for found in halves.values() for _, unit in found.values() if unit}
    return Brief(
        heading=shown(heading(verdict).text) if verdict.candidates or verdict.campaign else "",
        metric=verdict.metric,
        unit=verdict.unit,
        baseline=verdict.baseline,
        level=Value(f"{100 * level:.4g}\N{NO-BREAK SPACE}%", level),
        rests_on=f"{units.pop()}s" if len(units) == 1 else "",
        candidates=tuple(
            Against(variant=one.variant, rows=_rows(subject, one, halves))
            for one in verdict.candidates
        ),
        alone=tuple(
            (
                one.benchmark,
                _mean(one.mean, _half(one.low, one.high), verdict.unit),
                Value(f"{one.runs}", one.runs),
            )
            for one in verdict.alone
        ),
    )


def _halves(subject: Subject, name: str, level: float) -> Halves:
    """Give the half-width of a side's own interval by benchmark, and what it rests on."""
    matrix = subject.matrices.get(name)
    if matrix is None:
        return {}
    found = judge_alone(matrix, confidence=level)
    units = {one.benchmark: one.unit for one in found.alone if one.low is not None}
    return {
        one.benchmark: (_half(one.low, one.high), _unit(units.get(one.benchmark, ""), found))
        for one in found.alone
    }


def _unit(unit: str, found: Verdict) -> str:
    """Say host where each host was taken as one session."""
    return found.outermost if unit == "session" else unit


def _half(low: float | None, high: float | None) -> float | None:
    """Give half the width of an interval that is symmetric in logs, as a share of its middle."""
    return None if low is None or high is None else math.sqrt(high / low) - 1


def _rows(subject: Subject, one: CandidateVerdict, halves: Mapping[str, Halves]) -> tuple[Row, ...]:
    found = one.multilevel
    if found is None:
        return ()
    lines = {line.name: line for line in found.benchmarks}
    ours, theirs = halves.get(one.variant, {}), halves.get(subject.baseline, {})
    unit = subject.verdict.unit
    rows = []
    for name in (name for name in subject.order if name in lines):
        line = lines[name]
        rows.append(
            replace(
                _row(line, found, unit, name),
                candidate=_mean(line.mean_candidate, ours.get(name, _NO_HALF)[0], unit),
                baseline=_mean(line.mean_baseline, theirs.get(name, _NO_HALF)[0], unit),
            )
        )
    labels = (f"these\N{NO-BREAK SPACE}{len(lines)}", "others like them")
    suite = zip((found.these, found.similar), labels, strict=True)
    rows += [_row(line, found, unit, label) for line, label in suite if line is not None]
    return tuple(rows)


def _row(line: Line, found: Multilevel, unit: str, label: str) -> Row:
    told = written(line, column_of(found))
    return Row(
        name=line.name,
        label=shown(label),
        candidate=None,
        baseline=None,
        speedup=told.speedup,
        low=told.low,
        high=told.high,
        outcome=line.outcome,
        word=word(line, unit),
        advice=advice(line, found),
    )


def _mean(mean: float | None, half: float | None, unit: str) -> Mean:
    told = _UNKNOWN if half is None else Value(_share(half), half)
    return Mean(
        mean=_UNKNOWN if mean is None else Value(figures.quantity(mean, unit), mean), half=told
    )


def _share(half: float) -> str:
    return f"{figures.significant(100 * half, 2)}\N{NO-BREAK SPACE}%"
