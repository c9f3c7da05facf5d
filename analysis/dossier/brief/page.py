"""The compact table in words and cells: one line a benchmark, the suite last."""

from __future__ import annotations

from collections.abc import Sequence

from ...report import Cell, Column, Section, Sentence, Table, Value, figures
from .result import Against, Brief, Mean, Row

__all__ = ["brief_sections"]

_NAME = 24
_ADVICE = 48
_NONE = Value("", None)


def brief_sections(brief: Brief) -> tuple[Section, ...]:
    """Give the heading, and a table for each candidate, or of one side alone."""
    head = (Sentence(brief.heading),) if brief.heading else ()
    if not brief.candidates:
        told = Sentence("one side only: nothing was compared")
        return (Section((*head, told, _alone(brief), *_half_said(brief))),)
    tables = tuple(_against(brief, one, k) for k, one in enumerate(brief.candidates, 1))
    compared = any(one.rows for one in brief.candidates)
    return (Section((*head, *tables, *(_half_said(brief) if compared else ()))),)


def _half_said(brief: Brief) -> tuple[Sentence, ...]:
    """Say what a bare ± would leave open."""
    if not brief.rests_on:
        return ()
    each = "each side's" if brief.candidates else "its"
    text = f"±: half the width of {each} own {brief.level.text} interval, over its {brief.rests_on}"
    if brief.candidates and brief.rests_on == "sessions":
        text += "; what sessions do to both sides alike is no part of the speedup's interval"
    return (Sentence(text),)


def _against(brief: Brief, one: Against, number: int) -> Section | Sentence:
    name = figures.shorten(one.variant, _NAME)
    base = figures.shorten(brief.baseline, _NAME)
    if not one.rows:
        return Sentence(f"{name}: nothing could be compared with {base}")
    table = Table(
        name=f"speedups-{number}",
        columns=(
            Column("", "left"),
            Column(base),
            Column("±"),
            Column(name),
            Column("±"),
            Column("speedup"),
            Column(f"{brief.level.text} from"),
            Column("to"),
            Column("word", "left"),
            Column("to decide", "left"),
        ),
        rows=tuple(_row(row) for row in one.rows),
    )
    return Section((table,), f"{name} against {base}")


def _row(row: Row) -> tuple[Cell, ...]:
    return (
        figures.shorten(row.label, _NAME),
        *_sides(row.baseline),
        *_sides(row.candidate),
        row.speedup,
        row.low,
        row.high,
        row.word,
        figures.shorten(row.advice, _ADVICE),
    )


def _sides(mean: Mean | None) -> Sequence[Value]:
    return (_NONE, _NONE) if mean is None else (mean.mean, mean.half)


def _alone(brief: Brief) -> Table:
    return Table(
        name="alone",
        columns=(
            Column("", "left"),
            Column(figures.shorten(brief.baseline, _NAME)),
            Column("±"),
            Column("runs"),
        ),
        rows=tuple(
            (figures.shorten(name, _NAME), mean.mean, mean.half, runs)
            for name, mean, runs in brief.alone
        ),
    )
