"""The lines of the forest, from the lines of the verdict."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from ...methods.multilevel.page import advice_text, failed_text, reason_text
from ...methods.multilevel.result import BenchmarkLine, Line, Multilevel
from ...pages import number_format as figures
from ...pages.model import Value
from ...pages.number_format import said
from ...plots.palette import style_of
from ..written import Written
from .result import Name, Row

__all__ = ["absent_row", "benchmark_row", "suite_row"]

_NOTHING = Value("", None)
_PLAIN = Written(_NOTHING, _NOTHING, _NOTHING)
_ADVISED = 100  # sessions beyond which nobody is advised to go on


def benchmark_row(
    line: BenchmarkLine,
    told: Written,
    result: Multilevel,
    name: Name,
    *,
    link: str,
    marks: tuple[int, ...],
) -> Row:
    """Give the row of a benchmark."""
    lacking = result.design == "paired" and 2 <= line.sessions < result.sessions
    return _row(
        line,
        told,
        result,
        name,
        link=link,
        marks=marks,
        baseline=_mean(line.mean_baseline, result.unit),
        candidate=_mean(line.mean_candidate, result.unit),
        sessions=tuple(math.exp(difference) for difference in line.differences),
        note=_note(line, result, lacking=lacking),
        lacking=lacking,
    )


def suite_row(
    line: Line,
    told: Written,
    result: Multilevel,
    name: Name,
    *,
    link: str,
    weights: Mapping[str, float] | None,
) -> Row:
    """Give a row of the suite; the strokes of these benchmarks are their means by session."""
    return _row(
        line,
        told,
        result,
        name,
        link=link,
        suite=True,
        sessions=_suite_sessions(result, weights) if line.name == "these" else (),
        note="" if line.low is not None else _without(result, result.sessions),
    )


def absent_row(name: Name, note: str, *, link: str, marks: tuple[int, ...]) -> Row:
    """Give the row of a benchmark that cannot be compared."""
    return Row(
        name=name,
        link=link,
        suite=False,
        baseline=_NOTHING,
        candidate=_NOTHING,
        speedup=_NOTHING,
        low=_NOTHING,
        high=_NOTHING,
        word="",
        style="neither",
        filled=False,
        sessions=(),
        note=note,
        lacking=False,
        more=_NOTHING,
        advice="",
        marks=marks,
    )


def _row(
    line: Line,
    told: Written,
    result: Multilevel,
    name: Name,
    *,
    link: str,
    suite: bool = False,
    baseline: Value = _NOTHING,
    candidate: Value = _NOTHING,
    sessions: tuple[float, ...] = (),
    note: str = "",
    lacking: bool = False,
    marks: tuple[int, ...] = (),
) -> Row:
    return Row(
        name=name,
        link=link,
        suite=suite,
        baseline=baseline,
        candidate=candidate,
        speedup=told.speedup,
        low=told.low,
        high=told.high,
        word=said(line.outcome, timed=result.timed),
        style=style_of(line.outcome),
        filled=line.outcome != "undecided",
        sessions=sessions,
        note=note,
        lacking=lacking,
        more=_more(line),
        advice=_advice(line, result),
        marks=marks,
    )


def _advice(line: Line, result: Multilevel) -> str:
    """Say in full why a line is undecided though its interval is not, what would decide, what failed."""
    told = [advice_text(line, result.outermost)]
    if isinstance(line, BenchmarkLine):
        told.append(failed_text(line))
    if isinstance(line, BenchmarkLine) and line.reason is None:
        count = sum(one.low is not None for one in result.benchmarks)
        if line.outcome != line.outcome_uncorrected:
            told.insert(0, f"after correction for {count} benchmarks")
    return "; ".join(text for text in told if text)


def _mean(value: float | None, unit: str) -> Value:
    return _NOTHING if value is None else Value(figures.quantity(value, unit), value)


def _note(line: BenchmarkLine, result: Multilevel, *, lacking: bool) -> str:
    """Say why there is no interval, or why the word is not what it says."""
    if line.reason in ("fails-more", "fails-always"):
        return f"fails {line.failed_candidate} of {line.failed_candidate + line.runs_candidate}"
    if line.reason is not None and (told := reason_text(line)):
        return told
    if line.low is None:
        return _without(result, line.sessions)
    if lacking:
        return f"{line.sessions} of {result.sessions} {result.outermost}s"
    if result.design == "hosts":
        hosts = max(one.sessions for one in result.benchmarks)
        return f"{line.sessions} of {hosts} hosts" if line.sessions < hosts else ""
    return ""


def _without(result: Multilevel, sessions: int) -> str:
    if result.design == "confounded":
        return "cannot be told apart"
    return f"one {result.outermost}" if sessions <= 1 else "no interval yet"


def _more(line: Line) -> Value:
    """Write the advice as a row holds it."""
    more = line.more_sessions
    if line.outcome != "undecided" or more is None:
        return _NOTHING
    if more.sessions is None:
        return Value(f">\N{NO-BREAK SPACE}{_ADVISED} more", None)
    return Value(f"{more.sessions} more", more.sessions)


def _suite_sessions(result: Multilevel, weights: Mapping[str, float] | None) -> tuple[float, ...]:
    """Give the suite's ratio of each session that holds every benchmark which has weight.

    Its log is the benchmarks' weighted mean, as in the estimate.
    """
    given = weights or {}
    lines = [
        (given.get(line.name, 1.0), dict(zip(line.session_ids, line.differences, strict=True)))
        for line in result.benchmarks
        if line.speedup is not None and given.get(line.name, 1.0) > 0
    ]
    if not lines or any(not of for _, of in lines):
        return ()
    total = sum(weight for weight, _ in lines)
    return tuple(
        math.exp(sum(weight * of[session] for weight, of in lines) / total)
        for session in _common([of for _, of in lines])
    )


def _common(each: Sequence[Mapping[str, float]]) -> list[str]:
    return [session for session in each[0] if all(session in of for of in each)]
