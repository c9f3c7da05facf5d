"""The first verdict in words: the answer first, evidence below, the next command last."""

from __future__ import annotations

import shlex
from collections import Counter

from ..report import (
    Cell,
    Column,
    Command,
    Page,
    Section,
    Sentence,
    Table,
    Value,
    Word,
    figures,
    page_of,
    said,
)
from .result import CandidateVerdict, Spread, Verdict

__all__: list[str] = []

_NAME = 28  # columns for a benchmark's name
_VARIANT = 16


@page_of.register
def _(verdict: Verdict) -> Page:
    heading = Sentence(_heading(verdict))
    if verdict.candidates:
        sections = (
            Section((heading, Section((_answers(verdict),)))),
            *(_evidence(verdict, one, k) for k, one in enumerate(verdict.candidates, 1)),
        )
    else:
        alone = Sentence("one variant only: there is nothing to compare")
        spread = _spread_table(verdict.spreads, verdict.unit)
        sections = (Section((heading, Section((alone,)))), Section((spread,)))
    return Page(
        title=f"Verdict on {verdict.trial}",
        sections=sections,
        # that there is one variant only is the answer already
        cautions=tuple(c for c in verdict.cautions if c.code != "one-variant"),
        following=(_next(verdict),),
    )


def _heading(verdict: Verdict) -> str:
    sessions = f"{verdict.sessions} session{'s' * (verdict.sessions != 1)}"
    aside = f" ({verdict.warmups} warm-up left out)" if verdict.warmups else ""
    metric = "wall time" if verdict.metric == "wall" else verdict.metric
    parts = [
        f"{verdict.campaign} on {verdict.host}",
        f"{metric}, {verdict.better} is better",
        f"baseline {figures.shorten(verdict.baseline, _NAME)}",
        f"{verdict.runs} runs{aside} in {sessions}",
    ]
    return " · ".join(parts)


def _answers(verdict: Verdict) -> Table:
    """Answer in one line for each candidate: over the suite, then benchmark by benchmark."""
    return Table(
        name="answers",
        columns=(
            Column("candidate", "left"),
            Column("speedup"),
            Column("outcome", "left"),
            Column("benchmarks", "left"),
        ),
        rows=tuple(
            (figures.shorten(one.variant, _NAME), _mean(one), *_answer(verdict, one))
            for one in verdict.candidates
        ),
        headed=False,
    )


def _answer(verdict: Verdict, one: CandidateVerdict) -> tuple[str, str]:
    total = len(one.benchmarks)
    if total == 1:  # HPT compares suites; of one benchmark its first stage is the answer
        return (_said(verdict, one.word) if one.speedup is not None else "not measured"), ""
    counts = Counter(row.word for row in one.benchmarks)
    told = [f"{_said(verdict, word)} on {n}" for word, n in counts.items() if word != "undecided"]
    single = f"{', '.join(told) or 'nothing told apart'} of {total}"
    return f"over the suite: {_suite(verdict, one)}", single


def _said(verdict: Verdict, word: Word) -> str:
    return said(word, timed=figures.timed(verdict.unit))


def _suite(verdict: Verdict, one: CandidateVerdict) -> str:
    result = one.hpt
    if result is None:
        return "not compared"
    outcome = _said(verdict, one.word)
    if result.outcome == "undecided":
        return outcome
    p = result.pvalue if result.outcome == "candidate" else result.pvalue_baseline
    return f"{outcome}, reliability {figures.reliability(1 - p, result.required)}"


def _mean(one: CandidateVerdict) -> Value:
    return Value("" if one.speedup is None else figures.ratio(one.speedup), one.speedup)


def _evidence(verdict: Verdict, one: CandidateVerdict, number: int) -> Section:
    return Section((_table(verdict, one, number), Sentence(_tested(one))))


def _table(verdict: Verdict, one: CandidateVerdict, number: int) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (
            figures.shorten(row.benchmark, _NAME),
            _median(row.median_baseline, verdict.unit, bound="baseline" in row.floored),
            _median(row.median_candidate, verdict.unit, bound="candidate" in row.floored),
            Value("-" if row.speedup is None else figures.ratio(row.speedup), row.speedup),
            f"{row.runs_baseline}+{row.runs_candidate}",
            row.outcome if row.speedup is not None or row.floored else "not measured",
        )
        for row in one.benchmarks
    ]
    if one.speedup is not None and len(one.benchmarks) > 1:
        known = sum(row.speedup is not None for row in one.benchmarks)
        rows.append((f"geometric mean of {known}", "", "", _mean(one), "", ""))
    return Table(
        name=f"benchmarks-{number}",
        columns=(
            Column("", "left"),
            Column(figures.shorten(verdict.baseline, _VARIANT)),
            Column(figures.shorten(one.variant, _VARIANT)),
            Column("speedup"),
            Column("runs"),
            Column("outcome", "left"),
        ),
        rows=tuple(rows),
    )


def _median(value: float | None, unit: str, *, bound: bool) -> Value:
    if value is None:
        return Value("-", None)
    return Value(("<= " if bound else "") + figures.quantity(value, unit), value)


def _tested(one: CandidateVerdict) -> str:
    """Say what the outcomes of a candidate are by."""
    if one.hpt is None:
        return "no benchmark can be compared: the suite was not compared"
    if len(one.benchmarks) > 1:
        return one.hpt.conclusion
    alpha = one.hpt.benchmarks[0].alpha
    test = "medians alone" if alpha is None else f"a rank-sum test in each direction at {alpha:g}"
    return f"one benchmark: the outcome is by {test}; HPT compares suites of benchmarks"


def _spread_table(spreads: tuple[Spread, ...], unit: str) -> Table:
    def between(low: float, high: float) -> str:
        return f"{figures.quantity(low, unit)} to {figures.quantity(high, unit)}"

    return Table(
        name="spread",
        columns=(
            Column("", "left"),
            Column("median"),
            Column("half of the runs"),
            Column("all runs"),
            Column("runs"),
        ),
        rows=tuple(
            (
                figures.shorten(row.benchmark, _NAME),
                Value(figures.quantity(row.median, unit), row.median),
                between(row.low_quartile, row.high_quartile),
                between(row.minimum, row.maximum),
                Value(str(row.runs), row.runs),
            )
            for row in spreads
        ),
    )


def _next(verdict: Verdict) -> Section:
    """Name the next command: how far it is, measure more, the rank table, or an interval."""
    if not verdict.finished:
        return _commanded("how far it is:", "status", verdict.path)
    compared = [one.variant for one in verdict.candidates if one.hpt is not None]
    if not compared:
        return _commanded("measure more:", "run", verdict.campaign_path)
    metric = () if verdict.metric == "wall" else ("--metric", verdict.metric)
    sides = (f"{verdict.path}:{name}" for name in (compared[0], verdict.baseline))
    if len(verdict.candidates[0].benchmarks) == 1:  # a rank table would have one row
        return _commanded("the interval of its speedup:", "resample", *sides, *metric)
    return _commanded("the whole rank table:", "hpt", *sides, *metric)


def _commanded(title: str, *words: str) -> Section:
    return Section((Command(shlex.join(["fairtrial", *words])),), title=title)
