"""The table of one candidate: the benchmarks shown, their words, and what HPT claims."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from ..methods.multilevel.page import advice_text, chance_heading, level_text, reason_text
from ..methods.multilevel.result import BenchmarkLine, Line, Multilevel
from ..pages import number_format as figures
from ..pages.model import Cell, Column, Section, Sentence, Table, Value, text_of, value_of
from ..pages.number_format import said
from ..words import shorten

if TYPE_CHECKING:
    from .result import CandidateVerdict, HptBound, Verdict

_ALL = 12  # rows that are all shown
_ENDS = 4  # of the fastest, and of the slowest
_CAUTIONED = 4


def chosen(
    benchmarks: Sequence[str],
    speedups: Mapping[str, float | None],
    cautioned: Collection[str],
    *,
    whole: bool,
) -> tuple[tuple[str, ...], int]:
    """Choose the rows of a screen, in the trial's order, and count those that are not shown."""
    if whole or len(benchmarks) <= _ALL:
        return tuple(benchmarks), 0
    known = [(value, bench) for bench in benchmarks if (value := speedups.get(bench)) is not None]
    known.sort(key=lambda pair: pair[0])
    ends = {bench for _, bench in (*known[:_ENDS], *known[-_ENDS:])}
    marked = [bench for bench in benchmarks if bench in cautioned and bench not in ends]
    kept = ends | set(marked[:_CAUTIONED])
    shown = tuple(bench for bench in benchmarks if bench in kept)
    return shown, len(benchmarks) - len(shown)


def ratio_text(line: Line) -> str:
    """Write a line's speedup, with the decimals that its interval needs."""
    if line.speedup is None:
        return "-"
    return figures.ratio_within(line.speedup, line.low, line.high)


def interval_text(line: Line) -> str:
    """Write a line's interval; "-" where there is none."""
    if line.low is None or line.high is None:
        return "-"
    return figures.ends(line.low, line.high)


def speedup(line: Line) -> Value:
    """Give a cell with a line's speedup."""
    return Value(ratio_text(line), line.speedup)


def word(line: Line, unit: str) -> str:
    """Say what the candidate is: of a metric that is neither time nor rate, better or worse."""
    return said(line.outcome, timed=figures.timed(unit))


def advice(line: Line, result: Multilevel) -> str:
    """Say why a line is undecided, or what would settle it."""
    told = advice_text(line, result.outermost, short=True)
    if isinstance(line, BenchmarkLine):
        if line.outcome == "undecided" != line.outcome_uncorrected and line.reason is None:
            told = f"after correction for {len(result.benchmarks)}"
        told = "; ".join(text for text in (told, reason_text(line)) if text)
    return told


_WIDTH = 100
_NAME = (16, 28)  # columns for a benchmark's name: the fewest, the most
_VARIANT = 12
_NEAR_ONE = 0.1  # ratios so near 1 need a third decimal


def single(
    verdict: Verdict, one: CandidateVerdict, number: int, marks: Mapping[str, str]
) -> Section:
    """Set one candidate."""
    result = one.multilevel
    if result is None:
        name = shorten(one.variant, _NAME[1])
        return Section((Sentence(f"{name}: nothing could be compared"),))
    table, hidden = _table(verdict, result, number, marks)
    told = [f"and {hidden} more (--all)"] if hidden else []
    told += [text for text in (result.occasions, runs_text(result)) if text]
    below = ["; ".join(told)] if told else []
    below += [] if one.hpt_speedup is None else [hpt_text(one.hpt_speedup)]
    return Section((table, *(Sentence(text) for text in below)))


def _table(
    verdict: Verdict, result: Multilevel, number: int, marks: Mapping[str, str]
) -> tuple[Table, int]:
    names = [line.name for line in result.benchmarks]
    speedups = {line.name: line.speedup for line in result.benchmarks}
    kept, hidden = chosen(names, speedups, marks.keys(), whole=verdict.whole)
    shown = [line for line in result.benchmarks if line.name in kept]
    rows = [_row(line, result, verdict.unit, marks.get(line.name, "")) for line in shown]
    rows += [
        _suite_row(text, line, result, verdict.unit)
        for text, line in suite_lines(result)
        if line is not None
    ]
    columns = list(zip(*rows, strict=True))[1:]
    taken = sum(2 + max(len(text_of(cell)) for cell in column) for column in columns)
    width = min(max(_WIDTH - taken, _NAME[0]), _NAME[1])
    ours, theirs = (shorten(name, _VARIANT) for name in (result.candidate, result.baseline))
    table = Table(
        name=f"benchmarks-{number}",
        columns=(
            Column(shorten(result.candidate, width), "left"),
            Column(theirs),
            Column(ours),
            Column("spread"),
            Column("speedup"),
            Column(level_text(verdict.look_alpha), "left"),
            Column("", "left"),
            Column(chance_heading([*shown, *([result.these] if result.these else [])]), "left"),
        ),
        rows=tuple((shorten(str(name), width), *rest) for name, *rest in rows),
    )
    return table, hidden


def suite_lines(result: Multilevel) -> tuple[tuple[str, Line | None], ...]:
    """Name the lines of the suite."""
    return (
        (f"these {len(result.benchmarks)}", result.these),
        ("others like them", result.similar),
    )


def _row(line: BenchmarkLine, result: Multilevel, unit: str, mark: str) -> tuple[Cell, ...]:
    spreads = [s for s in (line.spread_candidate, line.spread_baseline) if s is not None]
    write = partial(figures.quantity, unit=unit)
    return (
        line.name,
        value_of(line.mean_baseline, write),
        value_of(line.mean_candidate, write),
        value_of(max(spreads, default=None), figures.percent),
        speedup(line),
        interval_text(line),
        word(line, unit),
        " ".join(text for text in (advice(line, result), mark) if text),
    )


def _suite_row(name: str, line: Line, result: Multilevel, unit: str) -> tuple[Cell, ...]:
    told = advice(line, result)
    return (name, "", "", "", speedup(line), interval_text(line), word(line, unit), told)


def hpt_text(bound: HptBound) -> str:
    """Say what HPT claims."""
    level = f"{bound.required:g}"
    if bound.value is None:
        return f"HPT: no speedup has reliability {level}"
    return f"HPT: at least {_down(bound.value)}x with reliability {level}"


def _down(value: float) -> str:
    """Write a lower bound; rounding up would claim more."""
    digits = 3 if abs(value - 1) < _NEAR_ONE else 2
    if not 0.095 <= value < 9.995:
        return figures.significant(value * (1 - 5e-4), 3)
    return f"{math.floor(value * 10**digits * (1 + 1e-12)) / 10**digits:.{digits}f}"


def runs_text(result: Multilevel) -> str:
    """Say of undecided benchmarks that more runs alone would not settle them."""
    known = [line.more_sessions for line in result.benchmarks if line.outcome == "undecided"]
    told = [more.runs_suffice for more in known if more is not None]
    never = sum(one is False for one in told)
    if not never:
        return ""
    if len(told) == 1:
        return "more runs alone would not do"
    return f"more runs alone would not do: {never} of {len(told)} undecided benchmarks"
