"""The forest: a column for each candidate, in it a row for each benchmark and for the suite.

Columns, rows and bins are mappings as JSON has them; ``docs/json.md`` explains their keys.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from ...methods.multilevel.page import advice_text, failed_text, reason_text
from ...methods.multilevel.result import MOST_TOLD, BenchmarkLine, Line, Multilevel
from ...pages import number_format as figures
from ...pages.model import Value
from ...pages.number_format import said
from ...plots.palette import style_of
from ..names import Name
from ..written import all_written, column_of
from .drawing import axis_of
from .headline import leading

if TYPE_CHECKING:
    from ...data.matrix import PerformanceMatrix
    from ...verdict.result import CandidateVerdict
    from ..subject import Subject
    from ..written import Written

__all__ = ["DENSE", "LISTED", "NOTHING", "columns_of", "grouped", "kept_of"]

DENSE = 12  # more benchmarks have one line of text each
LISTED = 60  # more are not listed one by one
NOTHING = Value("", None)
_ENDS = 15  # of the fastest, and of the slowest, that are listed of very many
_CAUTIONED = 30
_BINS = 8
_FEW = 3  # rows between others that need no bin
_WORDS = ("faster", "better", "equivalent", "undecided", "slower", "worse", "")
Row = dict[str, Any]
Marks = Mapping[tuple[str, str], tuple[int, ...]]


def columns_of(
    subject: Subject, names: Mapping[str, Name], variants: Mapping[str, Name], marks: Marks
) -> list[dict[str, Any]]:
    """Give a column for each candidate: the same benchmarks in the same order in each.

    Parameters
    ----------
    subject : Subject
        What is reported.
    names, variants : mapping of str to Name
        How benchmarks (all, in their order) and variants are shown.
    marks : mapping of (str, str) to tuple of int
        The numbers of the cautions at a line, under (candidate, benchmark), or ("", benchmark).
    """
    kept = kept_of(tuple(names), {bench for _, bench in marks})
    return [
        _column(subject, one, place, names=names, variants=variants, marks=marks, kept=kept)
        for place, one in enumerate(subject.candidates, 1)
    ]


def _column(
    subject: Subject,
    one: CandidateVerdict,
    place: int,
    *,
    names: Mapping[str, Name],
    variants: Mapping[str, Name],
    marks: Marks,
    kept: Collection[str],
) -> dict[str, Any]:
    found: dict[str, Any] = {
        "anchor": f"{subject.anchor('answer')}-{place}",
        "candidate": variants[one.variant],
        "lead": None,
        "over": "nothing could be compared",
        "axis": None,
        "rows": [],
        "suite": [],
        "every": [],
        "remark": "",
    }
    result = one.multilevel
    if result is None:
        return found
    column = column_of(result)
    texts = {id(line): told for line, told in zip(column, all_written(column), strict=True)}
    lines = {line.name: line for line in result.benchmarks}
    listed = set(subject.order)
    rows = []
    for bench, name in names.items():
        line = lines.get(bench)
        # what names no candidate is marked once, in the first column
        numbers = marks.get(("", bench), ()) if place == 1 else ()
        more = {
            "link": subject.anchor("benchmark", bench) if bench in listed else "",
            "marks": (*numbers, *marks.get((one.variant, bench), ())),
        }
        if line is None:
            rows.append(_row(name, note=_only(bench, result, subject, variants), **more))
        else:
            rows.append(_benchmark_row(line, texts[id(line)], result, name) | more)
    known = sum(line.speedup is not None for line in result.benchmarks)
    suite = [
        _suite_row(line, texts[id(line)], result, text, subject)
        for text, line in ((f"these {known}", result.these), ("others like them", result.similar))
        if line is not None
    ]
    lead, over = None, f"none of {len(result.benchmarks)} benchmarks could be compared"
    answer = leading(result)
    if answer is not None and answer is result.these:
        lead, over = suite[0], f"over {suite[0]['name'].text}"
    elif answer is not None:
        lead = next(row for row in rows if row["name"].whole == answer.name)
        over = f"on {lead['name'].text}"
    return found | {
        "lead": lead,
        "over": over,
        "axis": axis_of(column, result.margin, timed=result.timed),
        "rows": grouped(rows, kept),
        "suite": suite,
        "every": rows if len(rows) > LISTED else [],
        "remark": result.occasions or "",
    }


def _only(bench: str, result: Multilevel, subject: Subject, variants: Mapping[str, Name]) -> str:
    """Say on which side a benchmark is that was not compared."""
    sides = (result.baseline, result.candidate)
    having = [side for side in sides if bench in _benchmarks(subject.matrices.get(side))]
    if len(having) == 1:
        return f"only in {variants[having[0]].narrow}"
    return "not compared" if having else "no run counts"


def _benchmarks(matrix: PerformanceMatrix | None) -> tuple[str, ...]:
    if matrix is None:
        return ()
    zeros = () if matrix.with_zeros is None else matrix.with_zeros.benchmarks
    return (*matrix.benchmarks, *zeros)


# ---- rows


def _row(name: Name, **more: object) -> Row:
    """Give a row of which nothing is known but its name, and what is said of it."""
    found: Row = {"name": name, "link": "", "suite": False}
    found |= dict.fromkeys(("baseline", "candidate", "speedup", "low", "high"), NOTHING)
    found |= {"word": "", "style": "neither", "filled": False, "sessions": (), "note": ""}
    return found | {"lacking": False, "more": NOTHING, "advice": "", "marks": ()} | more


def _compared(line: Line, told: Written, result: Multilevel, name: Name, **more: object) -> Row:
    return _row(
        name,
        speedup=told.speedup,
        low=told.low,
        high=told.high,
        word=said(line.outcome, timed=result.timed),
        style=style_of(line.outcome),
        filled=line.outcome != "undecided",
        more=_more(line),
        advice=_advice(line, result),
        **more,
    )


def _benchmark_row(line: BenchmarkLine, told: Written, result: Multilevel, name: Name) -> Row:
    lacking = result.design == "paired" and 2 <= line.sessions < result.sessions
    means = {"baseline": line.mean_baseline, "candidate": line.mean_candidate}
    return _compared(
        line,
        told,
        result,
        name,
        sessions=tuple(math.exp(difference) for difference in line.differences),
        note=_note(line, result, lacking=lacking),
        lacking=lacking,
        **{
            side: NOTHING if mean is None else Value(figures.quantity(mean, result.unit), mean)
            for side, mean in means.items()
        },
    )


def _suite_row(line: Line, told: Written, result: Multilevel, text: str, subject: Subject) -> Row:
    """Give a row of the suite; the strokes of these benchmarks are their means by session."""
    weights = subject.asked.get("weights") or {}
    return _compared(
        line,
        told,
        result,
        Name(text, text, text),
        link=subject.anchor("panel"),
        suite=True,
        sessions=_suite_sessions(result, weights) if line.name == "these" else (),
        note="" if line.low is not None else _without(result, result.sessions),
    )


def _suite_sessions(result: Multilevel, weights: Mapping[str, float]) -> tuple[float, ...]:
    """Give the suite's ratio of each session that holds every benchmark which has weight.

    Its log is the benchmarks' weighted mean, as in the estimate.
    """
    lines = [
        (weights.get(line.name, 1.0), dict(zip(line.session_ids, line.differences, strict=True)))
        for line in result.benchmarks
        if line.speedup is not None and weights.get(line.name, 1.0) > 0
    ]
    if not lines or any(not of for _, of in lines):
        return ()
    total = sum(weight for weight, _ in lines)
    return tuple(
        math.exp(sum(weight * of[session] for weight, of in lines) / total)
        for session in lines[0][1]
        if all(session in of for _, of in lines)
    )


def _advice(line: Line, result: Multilevel) -> str:
    """Say in full why a line is undecided though its interval is not, what would decide, what failed."""
    told = [advice_text(line, result.outermost)]
    if isinstance(line, BenchmarkLine):
        told.append(failed_text(line))
        if line.reason is None and line.outcome != line.outcome_uncorrected:
            count = sum(one.low is not None for one in result.benchmarks)
            told.insert(0, f"after correction for {count} benchmarks")
    return "; ".join(text for text in told if text)


def _note(line: BenchmarkLine, result: Multilevel, *, lacking: bool) -> str:
    """Say why there is no interval, or why the word is not what it says."""
    if line.reason in ("fails-more", "fails-always"):
        return f"fails {line.failed_candidate} of {line.failed_candidate + line.runs_candidate}"
    if line.reason is not None and (told := reason_text(line)):
        return told
    if line.identity is not None:
        return "in all runs"
    if line.low is None:
        return _without(result, line.sessions)
    if lacking:
        return f"{line.sessions} of {result.sessions} {result.outermost}s"
    hosts = max(one.sessions for one in result.benchmarks)
    if result.design == "hosts" and line.sessions < hosts:
        return f"{line.sessions} of {hosts} hosts"
    return ""


def _without(result: Multilevel, sessions: int) -> str:
    if result.design == "confounded":
        return "cannot be told apart"
    return f"one {result.outermost}" if sessions <= 1 else "no interval yet"


def _more(line: Line) -> Value:
    """Write the advice as a row holds it."""
    more = line.more_sessions
    if line.outcome != "undecided" or more is None:
        return NOTHING
    if more.told is None:
        return Value(f">\N{NO-BREAK SPACE}{MOST_TOLD:,} more", None)
    return Value(f"{more.told} more", more.told)


# ---- bins, where there are very many rows


def kept_of(order: Sequence[str], cautioned: Collection[str]) -> Collection[str]:
    """Choose the benchmarks that are listed: all up to 60, else both ends and what cautions name."""
    if len(order) <= LISTED:
        return set(order)
    some = [name for name in order if name in cautioned][:_CAUTIONED]
    return {*order[:_ENDS], *order[-_ENDS:], *some}


def grouped(rows: Sequence[Row], kept: Collection[str]) -> list[Row]:
    """Put the rows whose names are not kept into bins, where they stand.

    The rows are in the order of the page, so that the bins are the same in each column.
    """
    hidden = sum(row["name"].whole not in kept for row in rows)
    most = -(-hidden // _BINS)
    found: list[Row] = []
    waiting: list[Row] = []
    for row in rows:
        if row["name"].whole in kept:
            found += [*_bins(waiting, most), row]
            waiting = []
        else:
            waiting.append(row)
    return [*found, *_bins(waiting, most)]


def _bins(rows: Sequence[Row], most: int) -> Sequence[Row]:
    """Cut rows into bins of nearly equal size; very few stay as they are."""
    if len(rows) <= _FEW:
        return rows
    count = -(-len(rows) // most)
    ends = [len(rows) * k // count for k in range(count + 1)]
    return [_bin(rows[start:end]) for start, end in pairwise(ends)]


def _bin(rows: Sequence[Row]) -> Row:
    """Say where rows lie, and how many have which word."""
    known = [row["speedup"] for row in rows if row["speedup"].value is not None]
    known.sort(key=lambda speedup: speedup.value)
    counts = {word: sum(row["word"] == word for row in rows) for word in _WORDS}
    return {
        "count": len(rows),
        "lowest": known[0] if known else NOTHING,
        "highest": known[-1] if known else NOTHING,
        "speedups": tuple(speedup.value for speedup in known),
        "counts": tuple((word or "not compared", n) for word, n in counts.items() if n),
    }
