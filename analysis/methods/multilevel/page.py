"""The sound verdict in words: a line a benchmark, the suite's two lines, what they rest on."""

from __future__ import annotations

from ...report import Cell, Column, Page, Section, Sentence, Table, Value, figures, page_of, said
from .result import BenchmarkLine, Line, Multilevel
from .wording import (
    advice_text,
    interval_text,
    level_text,
    looks_text,
    reason_text,
    speedup_text,
)

_BENCHMARK, _VARIANT = 28, 20  # columns for names


@page_of.register
def _(result: Multilevel) -> Page:
    return Page(
        title=f"verdict: {result.candidate} against {result.baseline}",
        sections=(
            Section((Sentence(_answer(result)),)),
            Section((_table(result), *(Sentence(text) for text in _notes(result)))),
        ),
        cautions=result.cautions,
    )


def _answer(result: Multilevel) -> str:
    ours, theirs = (figures.shorten(name, _VARIANT) for name in (result.candidate, result.baseline))
    line = result.these
    if line is None:
        line = next((one for one in result.benchmarks if one.speedup is not None), None)
    word = said(result.word, timed=result.timed)
    number = "" if line is None or line.speedup is None else f", {speedup_text(line)}"
    interval = "" if line is None or line.low is None else f" {interval_text(line)}"
    return f"{ours} against {theirs}: {word}{number}{interval}; {_basis(result)}"


def _basis(result: Multilevel) -> str:
    noun = result.outermost
    alone = "on one host" if noun == "host" else "within one session"
    basis = {
        "paired": f"{_counted(result.sessions, noun)}, paired",
        "separate": f"{result.sessions_candidate} and {result.sessions_baseline} separate {noun}s",
        "one session, blocks": f"{alone}, by its blocks",
        "one session, runs": f"{alone}, by its runs",
        "confounded": f"{noun} and variant cannot be told apart",
        "hosts": f"on hosts like these, {_counted(result.sessions, 'session')} in all",
    }[result.design]
    return f"{basis}; margin {100 * result.margin:g} %"


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'s' * (count != 1)}"


def _table(result: Multilevel) -> Table:
    ours, theirs = (figures.shorten(name, _VARIANT) for name in (result.candidate, result.baseline))
    rows = [_row(result, line) for line in result.benchmarks]
    known = sum(line.speedup is not None for line in result.benchmarks)
    for name, line in ((f"these {known}", result.these), ("others like them", result.similar)):
        if line is not None:
            rows.append((name, "", "", *_verdict(result, line)))
    return Table(
        name="benchmarks",
        columns=(
            Column("", "left"),
            Column(theirs),
            Column(ours),
            Column("speedup"),
            Column(level_text(result.look_alpha), "left"),
            Column("", "left"),
            Column("", "left"),
        ),
        rows=tuple(rows),
    )


def _row(result: Multilevel, line: BenchmarkLine) -> tuple[Cell, ...]:
    means = (line.mean_baseline, line.mean_candidate)
    return (
        figures.shorten(line.name, _BENCHMARK),
        *(
            Value("-" if mean is None else figures.quantity(mean, result.unit), mean)
            for mean in means
        ),
        *_verdict(result, line),
    )


def _verdict(result: Multilevel, line: Line) -> tuple[Cell, ...]:
    note = reason_text(line) or advice_text(line, result.outermost)
    if (
        isinstance(line, BenchmarkLine)
        and not line.reason
        and line.outcome != line.outcome_uncorrected
    ):
        count = sum(one.low is not None for one in result.benchmarks)
        note = "; ".join(text for text in (f"after correction for {count}", note) if text)
    return (
        Value(speedup_text(line), line.speedup),
        interval_text(line),
        said(line.outcome, timed=result.timed),
        note,
    )


def _notes(result: Multilevel) -> list[str]:
    notes = [] if result.occasions is None else [result.occasions]
    told = looks_text(result)
    if told:
        notes.append(told)
    elif any(line.more_sessions for line in result.benchmarks):
        noun = result.outermost
        plan = "--looks 2" if noun == "host" else "--looks 2, or --always-valid"
        notes.append(
            f"a second look at more {noun}s is another chance to be wrong: plan it ({plan}), or a "
            "trial that grows judges it at alpha/6"
        )
    return notes
