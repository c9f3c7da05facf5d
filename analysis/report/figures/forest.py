"""Speedups with their intervals, session values and margin: the answer in one picture."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ...errors import InsufficientDataError
from ...methods.multilevel.result import BenchmarkLine, Line, Multilevel
from ...pages.number_format import said
from ...plots.axes import Axes, ratio_axis, rows_down
from ...plots.palette import style_of
from ...plots.scale import ratio_scale
from ..fleet import level_of
from ..written import Written, written_of
from .layout import (
    Drawing,
    columns_of,
    counted,
    few_of,
    in_columns,
    name_of,
    names_of,
    rows_high,
)

if TYPE_CHECKING:
    from ...plots.sheet import Sheet
    from ..subject import Subject

__all__ = ["draw_forest"]

_STROKES = 20  # rows, of which each may show its sessions
_SUITE = {"these": "these {n}", "similar": "others like them"}
_BESIDE = 7.2  # mm of width for each point of a letter's size, that a panel beside another needs


def draw_forest(subject: Subject, sheet: Sheet) -> Drawing:
    """Draw a panel for each candidate: beside each other where there is room, else below."""
    told = [one.multilevel for one in subject.candidates if one.multilevel is not None]
    if not told:
        raise InsufficientDataError(
            "a forest shows speedups, and nothing was compared",
            fix="name two sides, or a trial with two variants that have runs",
            n=0,
            needed=1,
        )
    known = {line.name for result in told for line in result.benchmarks}
    suite = dict.fromkeys(line.name for result in told for line in _suite(result))
    every = [*(name for name in subject.order if name in known), *suite]
    named = {name for caution in subject.verdict.cautions for name in caution.about}
    rows, notes = few_of(every, named, last=2)
    across = columns_of(sheet, len(told), _BESIDE)
    down = -(-len(told) // across)
    strokes = len(rows) <= _STROKES and any(one.differences for one in told[0].benchmarks)
    height = rows_high(
        sheet, down * max(len(rows) + 1.2, 5.0), 2.3 if strokes else 1.5, around=2.0 + 3.2 * down
    )
    texts = written_of(subject)
    names = names_of(rows, sheet, 0.2 / across + 0.06)
    titles = names_of([one.candidate for one in told], sheet, 0.62 / across, bold=True)
    base = name_of(subject.baseline, sheet, 0.22 / across)
    panels = []
    for k, result in enumerate(told):
        count = sum(line.speedup is not None for line in result.benchmarks)
        labels = [_SUITE[one].format(n=count) if one in _SUITE else names[one] for one in rows]
        axes = _panel(
            result, rows, texts[result.candidate], labels, strokes=strokes, brief=across > 1
        )
        axes.y_texts = k % across == 0
        axes.title, axes.title_css = (titles[result.candidate] if len(told) > 1 else ""), "ink bold"
        one = f" of {name_of(result.candidate, sheet, 0.2)}" if len(told) == 1 else ""
        if k + across >= len(told):
            axes.x_label = f"speedup{one} over {base}"
        panels.append(axes)
    return Drawing(
        name=subject.anchor("forest"),
        title=f"speedups over {subject.baseline}",
        alt=_alt(subject, told, texts),
        picture=in_columns(sheet, panels, across, height, notes),
        columns=(
            "candidate", "baseline", "line", "speedup", "low", "high", "confidence", "word",
            "sessions", "session_speedups",
        ),
        rows=tuple(
            _numbers(result, line)
            for result in told
            for line in (*result.benchmarks, *_suite(result))
        ),
    )  # fmt: skip


def _suite(result: Multilevel) -> tuple[Line, ...]:
    return tuple(line for line in (result.these, result.similar) if line is not None)


def _panel(
    result: Multilevel, rows: Sequence[str], texts: Mapping[str, Written], labels: Sequence[str],
    *, strokes: bool, brief: bool,
) -> Axes:  # fmt: skip
    lines: dict[str, Line] = {
        line.name: line for line in (*result.benchmarks, *_suite(result)) if line.name in rows
    }
    axes = rows_down(labels)
    scale = ratio_scale(_extent(list(lines.values())), result.margin)
    axes.x = scale
    axes.margin(result.margin)
    ratio_axis(axes, "x", scale)
    for y, name in enumerate(rows):
        line = lines.get(name)
        if line is None or line.speedup is None:
            axes.beside.append((y, "no speedup", "second"))
            continue
        word = line.outcome
        if strokes and isinstance(line, BenchmarkLine):
            inside = [math.exp(d) for d in line.differences if scale.holds(math.exp(d))]
            axes.segments(inside, y + 0.2, inside, y + 0.42, "baseline thin")
        ends = None if line.low is None or line.high is None else (line.low, line.high)
        axes.interval(
            y, line.speedup, ends, style_of(word), hollow=word == "undecided", suite=name in _SUITE
        )
        text = texts[name]
        numbers = f"{text.speedup.text}× {'' if brief else text.interval}".strip()
        axes.beside.append((y, f"{numbers}  {said(word, timed=result.timed)}", "ink"))
    return axes


def _extent(lines: Sequence[Line]) -> list[float]:
    """Give what the axis must hold: all estimates, and ends as far as they leave room for these."""
    known = [line.speedup for line in lines if line.speedup is not None]
    if not known:
        return [1.0]
    low, high = min(known), max(known)
    room = max(1.5, (high / low) ** 0.8)
    ends = [end for line in lines for end in (line.low, line.high) if end is not None]
    return [*known, *(min(max(end, low / room), high * room) for end in ends)]


def _alt(
    subject: Subject, told: Sequence[Multilevel], texts: Mapping[str, Mapping[str, Written]]
) -> str:
    parts = []
    for result in told:
        line = result.these if result.these is not None else result.benchmarks[0]
        text = texts[result.candidate][line.name]
        many = len(result.benchmarks)
        what = f"{many} benchmarks" if many > 1 else repr(line.name)
        between = f" {result.confidence:.0%} interval {text.interval}".replace("%", " %")
        parts.append(
            f"{result.candidate}: {text.speedup.text} times over {what},"
            f"{between if text.interval else ' no interval'}, {said(line.outcome, timed=result.timed)}"
            + (f"; {counted(result)}" if many > 1 else "")
        )
    return (
        f"Speedups over {subject.baseline}, {_amount(subject)} with "
        f"{subject.verdict.runs} runs. {'. '.join(parts)}."
    )


def _amount(subject: Subject) -> str:
    level = level_of(subject.verdict)
    if level is not None:
        return f"on hosts like these {len(level.hosts)}, in {level.sessions} sessions of theirs"
    return f"in {subject.verdict.sessions} sessions"


def _numbers(result: Multilevel, line: Line) -> tuple[str | float | int | None, ...]:
    sessions = line.sessions if isinstance(line, BenchmarkLine) else result.sessions
    values = line.differences if isinstance(line, BenchmarkLine) else ()
    return (
        result.candidate, result.baseline, line.name, line.speedup, line.low, line.high,
        result.confidence, said(line.outcome, timed=result.timed), sessions,
        " ".join(repr(math.exp(d)) for d in values),
    )  # fmt: skip
