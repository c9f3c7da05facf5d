"""Speedups with their intervals, session values and margin: the answer in one picture."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ...errors import InsufficientDataError
from ...methods.multilevel.result import BenchmarkLine, Line, Multilevel
from ...pages.number_format import said
from ...plots.palette import PRINT, style_of
from ...plots.paper import clear, interval_row, margin_band, ratio_axis
from ...plots.scale import ratio_scale
from ..fleet import level_of
from ..written import Written, written_of
from .layout import fresh, name_of, names_of, note, panels, rows_high
from .result import Drawing

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ...plots.drawing import Sheet
    from ..subject import Subject

__all__ = ["draw_forest"]

_MOST, _ENDS = 40, 15  # rows; of more the first and the last, and those that a caution names
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
    rows = _rows(subject, told)
    across = max(1, min(len(told), int(sheet.width / (_BESIDE * sheet.font_size))))
    down = -(-len(told) // across)
    strokes = len(rows) <= _MOST // 2 and any(one.differences for one in told[0].benchmarks)
    each = 2.3 if strokes else 1.5
    height = rows_high(sheet, down * max(len(rows) + 1.2, 5.0), each, around=2.0 + 3.2 * down)
    figure = fresh(sheet, height)
    texts = written_of(subject)
    names = names_of(rows, sheet, 0.2 / across + 0.06)
    titles = names_of([one.candidate for one in told], sheet, 0.62 / across, bold=True)
    base = name_of(subject.baseline, sheet, 0.22 / across)
    for k, (axes, result) in enumerate(zip(panels(figure, len(told), across), told, strict=True)):
        shown = [_label(name, names, result) for name in rows] if k % across == 0 else None
        _panel(
            axes,
            result,
            rows,
            texts[result.candidate],
            labels=shown,
            strokes=strokes,
            brief=across > 1,
        )
        if len(told) > 1:
            axes.set_title(titles[result.candidate], weight="bold")
        one = f" of {name_of(result.candidate, sheet, 0.2)}" if len(told) == 1 else ""
        if k // across == down - 1 or k + across >= len(told):
            axes.set_xlabel(f"speedup{one} over {base}")
    left_out = len(_every(subject, told)) - len(rows)
    if left_out:
        note(figure, sheet, [f"{left_out} benchmarks between the first and the last are not drawn"])
    return Drawing(
        name=subject.anchor("forest"),
        title=f"speedups over {subject.baseline}",
        alt=_alt(subject, told, texts),
        figure=figure,
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


def _every(subject: Subject, told: Sequence[Multilevel]) -> list[str]:
    known = {line.name for result in told for line in result.benchmarks}
    suite = dict.fromkeys(line.name for result in told for line in _suite(result))
    return [*(name for name in subject.order if name in known), *suite]


def _rows(subject: Subject, told: Sequence[Multilevel]) -> list[str]:
    """Name the rows from above: benchmarks in the page's order, the suite's lines last."""
    every = _every(subject, told)
    if len(every) <= _MOST:
        return every
    named = {name for caution in subject.verdict.cautions for name in caution.about}
    few = named if len(named) <= _ENDS else set()
    kept = {*every[:_ENDS], *every[-_ENDS - 2 :], *few}
    return [name for name in every if name in kept]


def _label(name: str, names: dict[str, str], result: Multilevel) -> str:
    count = sum(line.speedup is not None for line in result.benchmarks)
    return _SUITE[name].format(n=count) if name in _SUITE else names[name]


def _panel(
    axes: Axes,
    result: Multilevel,
    rows: Sequence[str],
    texts: Mapping[str, Written],
    *,
    labels: Sequence[str] | None,
    strokes: bool,
    brief: bool,
) -> None:
    lines: dict[str, Line] = {
        line.name: line for line in (*result.benchmarks, *_suite(result)) if line.name in rows
    }
    scale = ratio_scale(_extent(list(lines.values())), result.margin)
    ratio_axis(axes, "x", scale, most=4)
    margin_band(axes, result.margin)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_yticks(range(len(rows)), labels or [""] * len(rows))
    axes.tick_params(axis="y", labelcolor=PRINT.ink)
    clear(axes, "left")
    for y, name in enumerate(rows):
        line = lines.get(name)
        if line is None or line.speedup is None:
            _beside(axes, y, "no speedup", PRINT.second)
            continue
        word = line.outcome
        if strokes and isinstance(line, BenchmarkLine):
            inside = [math.exp(d) for d in line.differences if scale.holds(math.exp(d))]
            axes.vlines(inside, y + 0.2, y + 0.42, color=PRINT.baseline, linewidth=0.7)
        ends = None if line.low is None or line.high is None else (line.low, line.high)
        suite = name in _SUITE
        interval_row(
            axes, y, line.speedup, ends, style_of(word), hollow=word == "undecided", suite=suite
        )
        text = texts[name]
        numbers = f"{text.speedup.text}× {'' if brief else text.interval}".strip()
        _beside(axes, y, f"{numbers}  {said(word, timed=result.timed)}", PRINT.ink)


def _beside(axes: Axes, y: float, text: str, colour: str) -> None:
    axes.text(
        1.02, y, text, transform=axes.get_yaxis_transform(), va="center", ha="left",
        fontsize="small", color=colour,
    )  # fmt: skip


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
        words = [line.outcome for line in result.benchmarks]
        line = result.these if result.these is not None else result.benchmarks[0]
        text = texts[result.candidate][line.name]
        what = f"{len(words)} benchmarks" if len(words) > 1 else repr(line.name)
        counts = ", ".join(
            f"{words.count(word)} {said(word, timed=result.timed)}"
            for word in ("faster", "slower", "equivalent", "undecided")
            if word in words
        )
        between = f" {result.confidence:.0%} interval {text.interval}".replace("%", " %")
        parts.append(
            f"{result.candidate}: {text.speedup.text} times over {what},"
            f"{between if text.interval else ' no interval'}, {said(line.outcome, timed=result.timed)}"
            + (f"; {counts}" if len(words) > 1 else "")
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
