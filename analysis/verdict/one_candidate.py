"""The table of one candidate: both times, the difference with its interval, and the word of each benchmark."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ..methods.multilevel.page import (
    advice_text,
    interval_text,
    level_text,
    mean_cell,
    reason_text,
    speedup_text,
)
from ..methods.multilevel.result import BenchmarkLine, Line, Multilevel
from ..pages import number_format as figures
from ..pages.as_text import natural_width
from ..pages.difference import stuff_of
from ..pages.model import Cell, Column, Sentence, Table, Value, value_of
from ..pages.number_format import outcome_word
from ..words import WIDTH, apart, shorten, shortened, shown
from .sentence import difference, unanswered

if TYPE_CHECKING:
    from .result import CandidateVerdict, Verdict

ROWS = 12  # that a first screen shows where it has room for them
OTHERS = "others like them"
_VARIANT = 12
_NAME = 28
_REASONS = 3  # rows whose reason is said below the table


def chosen(
    benchmarks: Sequence[str],
    speedups: Mapping[str, float | None],
    cautioned: Collection[str],
    *,
    whole: bool,
    most: int = ROWS,
) -> tuple[tuple[str, ...], int]:
    """Choose the rows of a screen, in the trial's order, and count those that are not shown.

    Of more than `most` both ends are shown, the slowest and the fastest; a third of the room is for what has
    cautions.
    """
    if whole or len(benchmarks) <= most:
        return tuple(benchmarks), 0
    known = [(value, bench) for bench in benchmarks if (value := speedups.get(bench)) is not None]
    known.sort(key=lambda pair: pair[0])
    each = max(most // 3, 1)
    ends = {bench for _, bench in (*known[:each], *known[-each:])}
    marked = [bench for bench in benchmarks if bench in cautioned and bench not in ends]
    kept = ends | set(marked[: most - 2 * each])
    shown = tuple(bench for bench in benchmarks if bench in kept)
    return shown, len(benchmarks) - len(shown)


# ---- cells, of one candidate and of several


def as_ratio(verdict: Verdict) -> bool:
    """Tell whether tables give speedups: where they are asked for, and of what is better when it is more."""
    return verdict.ratio or verdict.better == "higher"


def change_heading(verdict: Verdict) -> str:
    """Name the column of the differences."""
    if as_ratio(verdict):
        return "speedup"
    if figures.is_time(verdict.unit):
        return "time"
    return "memory" if stuff_of(verdict.metric, verdict.unit) == "memory" else "change"


def change(line: Line, verdict: Verdict) -> Value:
    """Give a cell with a line's difference, per cent of what the baseline takes, or its speedup."""
    if as_ratio(verdict):
        return Value(speedup_text(line), line.speedup)
    told = difference(line, verdict)
    return Value(told.cell(), None if told.ratio is None else told.ratio - 1)


def change_interval(line: Line, verdict: Verdict) -> str:
    """Give a cell with its interval, in the same unit."""
    if as_ratio(verdict):
        return interval_text(line) or "-"
    return difference(line, verdict).cell_interval()


def word(line: Line, unit: str) -> str:
    """Say what the candidate is: of a metric that is neither time nor rate, better or worse."""
    told = outcome_word(line.outcome, timed=figures.timed(unit))
    return "the same" if told == "equivalent" else told


def corrected(line: Line) -> bool:
    """Tell whether only the number of benchmarks makes a line undecided."""
    return (
        isinstance(line, BenchmarkLine)
        and line.reason is None
        and line.outcome == "undecided" != line.outcome_uncorrected
    )


def corrected_sentence(count: int) -> Sentence:
    """Say below a table what the star behind a word is."""
    return Sentence(f"* the interval alone would decide; {count} benchmarks share the risk")


def advice(line: Line, result: Multilevel) -> str:
    """Say why a line is undecided, or what would settle it."""
    told = advice_text(line, result.outermost, short=True)
    if isinstance(line, BenchmarkLine):
        if corrected(line):
            told = f"after correction for {len(result.benchmarks)}"
        told = "; ".join(text for text in (told, reason_text(line)) if text)
    return told


def suite_lines(result: Multilevel) -> tuple[tuple[str, Line], ...]:
    """Name the lines of the suite that are there."""
    lines = (
        (f"these {len(result.benchmarks)}", result.these),
        (OTHERS, result.similar),
    )
    return tuple((name, line) for name, line in lines if line is not None)


# ---- one candidate


def single(
    verdict: Verdict,
    one: CandidateVerdict,
    marks: Mapping[str, str],
    *,
    number: int = 1,
    most: int = ROWS,
) -> tuple[Table | Sentence, ...]:
    """Set one candidate: its table, and what stands directly below it."""
    result = one.multilevel
    if result is None:
        return ()
    names = [line.name for line in result.benchmarks]
    speedups = {line.name: line.speedup for line in result.benchmarks}
    kept, hidden = chosen(names, speedups, marks.keys(), whole=verdict.whole, most=most)
    lines = [line for line in result.benchmarks if line.name in kept]
    below = [f"and {hidden} more (--all)"] if hidden else []
    below += [text for text in (result.occasions,) if text]
    reasons = [
        line for line in lines if (line.reason or line.fails_proven) and not marks.get(line.name)
    ]
    below += [
        f"{shorten(shown(line.name), _NAME)}: {reason_text(line)}"
        for line in reasons[:_REASONS]
        if reason_text(line) and not (len(names) == 1 and unanswered(result, line, ""))
    ]
    foot = [corrected_sentence(len(names))] if any(map(corrected, lines)) else []
    table = _table(verdict, result, lines, marks, number)
    return (table, *foot, *(Sentence(text) for text in below))


def _table(
    verdict: Verdict,
    result: Multilevel,
    lines: Sequence[BenchmarkLine],
    marks: Mapping[str, str],
    number: int,
) -> Table:
    called = shortened([line.name for line in result.benchmarks], _NAME)
    rows = [(called[line.name], *_row(line, verdict), marks.get(line.name, "")) for line in lines]
    rows += [
        (
            name,
            "",
            "",
            change(line, verdict),
            change_interval(line, verdict),
            "",
            word(line, verdict.unit),
            "",
        )
        for name, line in suite_lines(result)
    ]
    theirs, ours = apart((result.baseline, result.candidate), _VARIANT)
    table = Table(
        name=f"benchmarks-{number}",
        columns=(
            Column("", "left"),
            Column(theirs),
            Column(ours),
            Column(change_heading(verdict)),
            Column(level_text(verdict.look_alpha)),
            Column("spread"),
            Column("", "left"),
            Column("", "left"),
        ),
        rows=tuple(rows),
    )
    return with_short_suite(table) if natural_width(table) > WIDTH else table


def with_short_suite(table: Table) -> Table:
    """Name the last line of the suite in one word, where a table is too wide."""
    rows = (("others", *row[1:]) if row[0] == OTHERS else row for row in table.rows)
    return replace(table, rows=tuple(rows))


def _row(line: BenchmarkLine, verdict: Verdict) -> tuple[Cell, ...]:
    spreads = [s for s in (line.spread_candidate, line.spread_baseline) if s is not None]
    return (
        *(mean_cell(line, side, verdict.unit) for side in (1, 0)),
        change(line, verdict),
        change_interval(line, verdict),
        value_of(max(spreads, default=None), spread_text),
        f"{word(line, verdict.unit)}{'*' * corrected(line)}",
    )


def spread_text(share: float) -> str:
    """Write a spread such as 0.043 as ``4 %``; below 1 % with a decimal."""
    told = 100 * share
    return f"{told:.0f} %" if told >= 0.95 or told == 0 else f"{told:.1f} %"
