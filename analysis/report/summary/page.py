"""The compact table in words and cells: one line a benchmark, the suite last."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ...pages.model import Cell, Column, Section, Sentence, Table, Value
from ...words import shorten, shown
from ..names import shortened

if TYPE_CHECKING:
    from .result import Against, Brief, Mean, Row

__all__ = ["brief_sections"]

_NAME = 24
_ADVICE = 48
_NONE = Value("", None)


def brief_sections(brief: Brief, *, whole: bool = False) -> tuple[Section, ...]:
    """Give the heading, and a table for each candidate, or of one side alone.

    Names are shortened as on the page, or `whole` for what takes tables as data.
    """
    head = (Sentence(brief.heading),) if brief.heading else ()
    if not brief.candidates:
        told = Sentence("one side only: nothing was compared")
        return (Section((*head, told, _alone(brief, whole=whole), *_half_said(brief))),)
    names = _names([brief.baseline, *(one.variant for one in brief.candidates)], whole=whole)
    tables = tuple(
        _against(brief, one, names, number, whole=whole)
        for number, one in enumerate(brief.candidates, 1)
    )
    compared = any(one.rows for one in brief.candidates)
    return (Section((*head, *tables, *(_half_said(brief) if compared else ()))),)


def _names(names: Sequence[str], *, whole: bool) -> Mapping[str, str]:
    return {name: shown(name) for name in names} if whole else shortened(names, _NAME)


def _half_said(brief: Brief) -> tuple[Sentence, ...]:
    """Say what a bare ± would leave open."""
    if not brief.rests_on:
        return ()
    each = "each side's" if brief.candidates else "its"
    text = f"±: half the width of {each} own {brief.level.text} interval, over its {brief.rests_on}"
    if brief.candidates and brief.rests_on in ("sessions", "hosts"):
        text += (
            f"; what {brief.rests_on} do to both sides alike is no part of the speedup's interval"
        )
    return (Sentence(text),)


def _against(
    brief: Brief, one: Against, names: Mapping[str, str], number: int, *, whole: bool
) -> Section | Sentence:
    name, base = names[one.variant], names[brief.baseline]
    labels = _names([row.label for row in one.rows], whole=whole)
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
        rows=tuple(_row(row, labels[row.label]) for row in one.rows),
    )
    return Section((table,), f"{name} against {base}")


def _row(row: Row, label: str) -> tuple[Cell, ...]:
    return (
        label,
        *_sides(row.baseline),
        *_sides(row.candidate),
        row.speedup,
        row.low,
        row.high,
        row.word,
        shorten(row.advice, _ADVICE),
    )


def _sides(mean: Mean | None) -> Sequence[Value]:
    return (_NONE, _NONE) if mean is None else (mean.mean, mean.half)


def _alone(brief: Brief, *, whole: bool) -> Table:
    names = _names([brief.baseline, *(name for name, _, _ in brief.alone)], whole=whole)
    return Table(
        name="alone",
        columns=(
            Column("", "left"),
            Column(names[brief.baseline]),
            Column("±"),
            Column("runs"),
        ),
        rows=tuple((names[name], mean.mean, mean.half, runs) for name, mean, runs in brief.alone),
    )
