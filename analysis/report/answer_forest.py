"""The forest: a column for each candidate, in it a row for each benchmark and for the suite.

Columns, rows and bins are mappings as JSON has them; ``docs/json.md`` explains their keys.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from .. import plots
from ..methods.multilevel.page import advice_text, failed_text, reason_text
from ..methods.multilevel.result import MOST_TOLD, BenchmarkLine, Line, Multilevel
from ..pages import number_format as figures
from ..pages.model import Value
from ..pages.number_format import outcome_word
from ..plots.marks import style_of
from .answer_headline import leading
from .subject import Name
from .written import all_written, column_of

if TYPE_CHECKING:
    from ..data.matrix import PerformanceMatrix
    from ..verdict.result import CandidateVerdict
    from .subject import Subject
    from .written import Written

__all__ = [
    "DENSE",
    "LISTED",
    "NOTHING",
    "axis",
    "axis_of",
    "cell",
    "columns_of",
    "grouped",
    "kept_of",
    "key",
]

# --- The pictures of the first screen: the cells of the forest, its axis, the key.


_BEYOND = 3.0  # usual half-widths that an interval may reach beyond all estimates
_SHARE = 0.6  # and the share of the estimates' range that it may always
_ROOM = 0.25  # share of the axis beside 1 from which on its word stands there
_TICKS = 4
_TALL, _DENSE = (16.0, 23.0, 6.0), (9.0, 15.0, 4.0)  # y of the line, top and height of the strokes
_KEY = (7.0, 13.0, 6.0)  # the same in a line of text
_BIN = (3.0, 14.0)
_WIDTHS = (80, 112, 150, 200, 280)  # of an axis in CSS pixels, as in the style sheet
_LETTER, _GAP = 7.0, 5.0  # of a tick's number, in CSS pixels
_STROKES = (0.24, 0.33, 0.44, 0.5, 0.58, 0.86)  # of the key
Entry = Mapping[str, Any]  # a row or a bin of the forest, or an axis


def axis_of(lines: Sequence[Line], margin: float, *, timed: bool) -> dict[str, Any]:
    """Give the axis that holds all estimates, 1 with its margin, and the usual interval.

    An interval much wider than the others leaves the scale: otherwise the others could not be seen.

    Parameters
    ----------
    lines : sequence of Line
        All lines of the column.
    margin : float
        The largest speedup less 1 that counts as equivalent.
    timed : bool
        Whether better is said as faster.
    """
    logs = [math.log(line.speedup) for line in lines if line.speedup is not None]
    band = math.log1p(max(margin, 0.005))
    low, high = min([*logs, -band]), max([*logs, band])
    halves = [
        math.log(line.high / line.low) / 2
        for line in lines
        if line.low is not None and line.high is not None and line.low > 0
    ]
    usual = statistics.median(halves) if halves else 0.0
    beyond = max(_BEYOND * usual, _SHARE * (high - low))
    wide = [
        min(max(math.log(value), low - beyond), high + beyond)
        for line in lines
        for value in _reach(line)
        if value > 0
    ]
    scale = plots.ratio_scale([math.exp(value) for value in (*logs, *wide)], margin)
    one = scale.at(1.0)
    return {
        "scale": scale,
        "ticks": plots.ratio_ticks(scale, _TICKS),
        "margin": (1 / (1 + margin), 1 + margin),
        "slower": outcome_word("slower", timed=timed) if one > _ROOM else "",
        "faster": outcome_word("faster", timed=timed) if one < 1 - _ROOM else "",
    }


def _reach(line: Line) -> list[float]:
    ends = [end for end in (line.low, line.high) if end is not None]
    if isinstance(line, BenchmarkLine):
        ends += [math.exp(difference) for difference in line.differences]
    return ends


def cell(column: Entry, number: int, entry: Entry, *, dense: bool) -> Markup:
    """Give the picture of a line; the first of a column holds the background of all.

    Parameters
    ----------
    column : mapping
        Its axis is known.
    number : int
        The line's place in the column, from 0.
    entry : mapping
        The line: a row or a bin.
    dense : bool
        Whether a line has one row of text.
    """
    name, axis = f"{column['anchor']}-ground", column["axis"]
    ground = plots.again(name) if number else plots.shared(name, _ground(axis))
    marks = _bin_marks(entry, axis) if "counts" in entry else _row_marks(entry, axis, dense=dense)
    return plots.cell([ground, *marks], _alt(column, entry))


def axis(column: Entry) -> Markup:
    """Give the axis below the lines: ticks, numbers, and which side is faster."""
    axis = column["axis"]
    one = axis["scale"].at(1.0)
    marks: list[plots.Mark] = []
    for tick, css in _labelled(axis):
        x = axis["scale"].at(tick.value)
        marks += [plots.stroke(x, 0, 4, "one"), plots.label(x, 16, tick.text, css)]
    if axis["slower"]:
        marks.append(plots.label(one, 31, f"{axis['slower']} ◂", "side", anchor="end", dx=-8))
    if axis["faster"]:
        marks.append(plots.label(one, 31, f"▸ {axis['faster']}", "side", anchor="start", dx=8))
    return plots.plot(36, marks, "")


def _labelled(axis: Entry) -> Iterator[tuple[plots.Tick, str]]:
    """Give each tick the class of the least width at which its number touches no other.

    1 has its number always; then come those farthest from it.
    """
    scale = axis["scale"]
    one = scale.at(1.0)
    placed: list[tuple[float, int]] = []
    for tick in sorted(
        axis["ticks"], key=lambda t: (t.value != 1.0, -abs(scale.at(t.value) - one))
    ):
        place, length = scale.at(tick.value), len(tick.text)
        needed = [
            (_LETTER * (length + other) / 2 + _GAP) / max(abs(place - at), 1e-9)
            for at, other in placed
        ]
        placed.append((place, length))
        step = sum(width < max(needed, default=0.0) for width in _WIDTHS)
        yield tick, f"tick-{step}" if step else "tick"


def key(*, strokes: bool) -> Markup:
    """Give a mark as they are drawn, for the sentence that explains it."""
    y, top, height = _KEY
    marks: list[plots.Mark] = [
        plots.line(0.0, y, 1.0, y, "interval neither"),
        plots.dot(0.5, y, "neither ringed"),
    ]
    if strokes:
        marks.append(plots.strokes(_STROKES, "session neither", top=top, height=height))
    return plots.plot(20, marks, "", css="key")


def _ground(axis: Entry) -> list[plots.Mark]:
    scale = axis["scale"]
    low, high = (scale.at(end) for end in axis["margin"])
    grid = (tick.value for tick in axis["ticks"] if tick.value != 1.0)
    return [
        plots.field(low, high, "margin"),
        *(plots.upright(scale.at(value), "grid") for value in grid),
        plots.upright(scale.at(1.0), "one"),
    ]


def _row_marks(row: Entry, axis: Entry, *, dense: bool) -> list[plots.Mark]:
    y, top, height = _DENSE if dense else _TALL
    scale, style = axis["scale"], row["style"]
    places = [scale.at(value) for value in row["sessions"]]
    marks: list[plots.Mark] = [plots.strokes(places, f"session {style}", top=top, height=height)]
    if row["lacking"]:
        marks.append(plots.dot(0.0, top + height / 2, "lacking", r=2))
    if row["low"].value is not None and row["high"].value is not None:
        # a line with an open arrowhead where it leaves the scale
        low, high = scale.at(row["low"].value), scale.at(row["high"].value)
        line = f"interval {style}"
        marks.append(plots.line(max(0.0, low), y, min(1.0, high), y, line))
        if low < 0:
            marks.append(plots.arrow(0.0, y, "left", f"open {line}", r=5))
        if high > 1:
            marks.append(plots.arrow(1.0, y, "right", f"open {line}", r=5))
    if row["speedup"].value is not None:
        place, css = scale.at(row["speedup"].value), f"{style} ringed"
        css += "" if row["filled"] else " hollow"
        if row["suite"]:
            marks.append(plots.diamond(place, y, css, r=5.0 if dense else 6.5))
        else:
            marks.append(plots.dot(place, y, css, r=3.6 if dense else 4.5))
    return marks


def _bin_marks(one: Entry, axis: Entry) -> list[plots.Mark]:
    """Draw all of a bin's lines as strokes, in the colour of its only word."""
    top, height = _BIN
    counts = one["counts"]
    style = plots.style_of(counts[0][0]) if len(counts) == 1 else "neither"
    places = [axis["scale"].at(value) for value in one["speedups"]]
    return [plots.strokes(places, f"binned {style}", top=top, height=height)]


def _alt(column: Entry, entry: Entry) -> str:
    """Say what a line's picture shows."""
    if "counts" in entry:
        counts = ", ".join(f"{n} {word}" for word, n in entry["counts"])
        between = ""
        if entry["lowest"].text:
            between = f" from {entry['lowest'].text} to {entry['highest'].text} times"
        return f"{entry['count']} benchmarks{between}: {counts}"
    name = f"{column['candidate'].text}, {entry['name'].text}"
    if not entry["speedup"].text:
        return f"{name}: {entry['note'] or 'no speedup is known'}"
    interval = "without an interval"
    if entry["low"].text:
        interval = f"interval {entry['low'].text} to {entry['high'].text}"
    note = f", {entry['note']}" if entry["note"] else ""
    return f"{name}: {entry['speedup'].text} times, {interval}, {entry['word']}{note}"


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
        word=outcome_word(line.outcome, timed=result.timed),
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
    weights = subject.options.get("weights") or {}
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
    if more.worthwhile is None:
        return Value(f">\N{NO-BREAK SPACE}{MOST_TOLD:,} more", None)
    return Value(f"{more.worthwhile} more", more.worthwhile)


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
