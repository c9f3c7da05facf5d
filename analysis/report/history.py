"""The page of a history: the answer and its table, a strip for each benchmark with what changed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ..announcing import doing
from ..history.judged import (
    History,
    HostInterval,
    Segment,
    SeriesHistory,
    bisect_words,
    label_of,
)
from ..history.night_values import Night, missing_before, moment_of
from ..history.sentences import (
    benchmarks_table,
    changes_table,
    heading_of,
    host_sentence,
)
from ..pages import number_format as figures
from ..pages.model import Block, CommandLine, Figure, Section, section, table_of
from ..pages.number_format import counted
from ..plots.axes import Scale, Tick, quantity_ticks, ratio_ticks, read_out
from ..plots.marks import Area, Boxes, Dots, Line, Mark, Rect, Segments, Text, plot
from ..words import command_line, shorten
from .assembling import Chapter, Report, html_page, sentence

# --- The page.


_OPEN = 12  # benchmarks without a change whose strips are not folded
_SHOWN = 3  # cautions that are not folded
_TEXT = 160  # of a sentence about a series


def history_html(history: History) -> str:
    """Give a history, as `judge_nights` gives it, as one HTML file that needs nothing else.

    The same history gives the same bytes.
    """
    benchmarks = benchmarks_of(history)
    places = places_of(value for one in history.series for value in one.values)
    about, *heading = heading_of(history)
    still = [one for one in benchmarks if not one.changed]
    folded = still if len(still) > _OPEN else []
    seen = [one for one in benchmarks if one.changed] + (still if not folded else [])

    def strips(anchor: str, title: str, some: Sequence[Benchmark], lead: str = "") -> Chapter:
        reading = " ".join(_reading(history, benchmarks, places))
        return Chapter(
            name="strips",
            anchor=anchor,
            title=title,
            lead=lead,
            sections=lambda: (section(reading, *(_strip(one, history, places) for one in some)),),
        )

    doing("drawing the strips")
    answer = Chapter(
        name="history",
        anchor="answer",
        title="",
        headline=history.sentence,
        lead=f"fairtrial history · {about}",
        sections=lambda: tuple(_answer(history, heading)),
    )
    text = counted(len(still), "benchmark")
    chapters = (
        answer,
        *([strips("strips", "Night by night", seen)] if seen else ()),
        *([strips("still", "Without a change", folded, text)] if folded else ()),
    )
    report = Report(
        title=history.campaign or history.place,
        headline=history.sentence,
        metrics=(history.metric,),
        chapters=chapters,
        names=tuple(one.name for one in benchmarks),
        cautions=history.cautions,
        shown=history.cautions[:_SHOWN],
    )
    return html_page(report)


def _answer(history: History, heading: Sequence[str]) -> Iterator[Section]:
    gate = []
    if history.gate is not None:
        since = f" since {history.since}" if history.since else ""
        gate = [f"gate {history.gate}{since}: {history.outcome}"]
    yield section(*(f"{sentence(text)}." for text in (*heading, *gate)))
    if history.newest:
        yield section(benchmarks_table(history, history.newest, whole=True))
    if history.left_out:
        columns = ("@left out", lambda one: one[0]), ("<why", lambda one: one[1])
        yield section(table_of("left-out", history.left_out, *columns))
    for one in history.following:
        yield section(f"Next: {one.why}" if one.why else "Next", CommandLine(one.line))


def _reading(history: History, benchmarks: Sequence[Benchmark], places: Places) -> Iterator[str]:
    yield "Dot: a night. Line: the mean between two changes."
    if any(one.intervals for one in history.series):
        yield (
            "Shaded: nights that hold a change, orange where it became worse, blue where better; "
            "broken line: the best place in them."
        )
    if any(len(one.series) > 1 for one in benchmarks):
        yield "Thick line: another series begins, and nothing is compared across it."
    if history.host_intervals:
        yield "Grey bar below: nights in which the baseline itself, and so the host, changed."
    if history.host_changes:
        yield "Stroke below: from here on the record of the host says otherwise."
    if places.missing:
        yield "Open stripe: a night that is missing."
    if places.cut:
        yield f"{counted(places.cut, 'missing night')} more are not drawn."


def _strip(one: Benchmark, history: History, places: Places) -> Section:
    """Give the picture of a benchmark, and below it whose each change is and how to go on."""
    changes = [(series, found) for series in one.series for found in series.intervals]
    blocks: list[Block | str] = [
        Figure(name=one.anchor, alt=words_of(one), draw=lambda: picture(one, history, places))
    ]
    if changes:
        blocks.append(changes_table(history, changes, whole=True))
    for series in one.series[:-1]:
        why = shorten(series.changed or f"{series.ends} changed", _TEXT)
        blocks.append(f"After {label_of(series.values)(-1)} another series begins: {why}.")
    mine = [found for series in one.series for found in _own(history, series)]
    blocks += [f"{host_sentence(history, found, whole=True)}." for found in mine]
    commands = (bisect_words(*pair) for pair in changes)
    blocks += [CommandLine(command_line(words)) for words in commands if words is not None]
    return section(*blocks, title=one.name, anchor=one.anchor)


def _own(history: History, series: SeriesHistory) -> Iterator[HostInterval]:
    there = {value.trial for value in series.values}
    for found in history.host_intervals:
        mine = (found.benchmark, found.baseline) == (series.benchmark, series.baseline)
        if mine and {found.first, found.last} <= there:
            yield found


class _Drawn(str):
    """A picture whose colours are those of the page."""

    __slots__ = ()

    def svg(self) -> str:
        return self


# --- A benchmark: its series one after the other.


@dataclass(frozen=True, slots=True, kw_only=True)
class Benchmark:
    """A benchmark of a variant: its series, the newest last."""

    name: str  # with its variant where there are several
    anchor: str
    series: tuple[SeriesHistory, ...]

    @property
    def newest(self) -> SeriesHistory:
        """The series that goes on."""
        return self.series[-1]

    @property
    def changed(self) -> bool:
        """Whether anything is to be seen: a change, the end of a series, an alarm."""
        alarm = self.newest.alarm
        alarmed = alarm is not None and alarm.word == "proven"
        return alarmed or len(self.series) > 1 or any(one.intervals for one in self.series)


def benchmarks_of(history: History) -> tuple[Benchmark, ...]:
    """Group the series of a history, in its order."""
    groups: dict[tuple[str, str], list[SeriesHistory]] = {}
    for one in history.series:
        groups.setdefault((one.benchmark, one.variant), []).append(one)
    several = len({variant for _, variant in groups}) > 1
    return tuple(
        Benchmark(
            name=f"{benchmark} ({variant})" if several else benchmark,
            anchor=f"strip-{number}",
            series=tuple(series),
        )
        for number, ((benchmark, variant), series) in enumerate(groups.items(), 1)
    )


# --- Where nights stand in a row: one place for each, and empty ones for nights without a trial.


_MOST = 30  # empty places in a row that are drawn


@dataclass(frozen=True, slots=True)
class Places:
    """The places of a page's axis, which all strips share.

    Attributes
    ----------
    of : mapping
        The place of each night, from 0, by when it began and its trial.
    names : tuple of str
        What each place is called; "" of a night without a trial.
    missing : tuple of int
        The places of nights without a trial.
    cut : int
        Nights without a trial that are not drawn, since there are too many in a row.
    """

    of: Mapping[tuple[str | None, str], int]
    names: tuple[str, ...]
    missing: tuple[int, ...]
    cut: int = 0

    def at(self, place: float) -> float:
        """Give the middle of a place as a share of the axis."""
        return (place + 0.5) / max(1, len(self.names))


def places_of(values: Iterable[Night]) -> Places:
    """Set nights in a row by when they began, and by their trials.

    Where they follow in a rhythm, each one that is missing has an empty place.
    """
    nights = {(one.started_at, one.trial): one for one in values}

    def when(night: tuple[str | None, str]) -> tuple[bool, float, str]:
        moment = moment_of(night[0])
        return moment is None, 0.0 if moment is None else moment.timestamp(), night[1]

    ordered = [nights[one] for one in sorted(nights, key=when)]
    gaps = missing_before([one.started_at for one in ordered])
    called = label_of(ordered)
    of: dict[tuple[str | None, str], int] = {}
    names: list[str] = []
    missing: list[int] = []
    for k, (one, gap) in enumerate(zip(ordered, gaps, strict=True)):
        empty = min(gap, _MOST)
        missing += range(len(names), len(names) + empty)
        of[one.started_at, one.trial] = len(names) + empty
        names += [*[""] * empty, called(k)]
    return Places(of, tuple(names), tuple(missing), sum(gaps) - len(missing))


# --- The picture of a benchmark: a dot a night, the levels between changes, what is shaded and why.


_HEIGHT = 104.0  # CSS pixels of the panel
_HEAD, _FOOT = 18.0, 20.0  # above it: what changed; below it: days
_LANE, _BAR = 13.0, 5.0  # of changes of the host
_APART = 20.0  # CSS pixels between two ticks
_FAR = 12.0  # times the usual distance from its level, above which a night is an outlier
_ROOM = 1.2
_LEAST = math.log(1.01)  # of the scale, above and below its middle
_WIDE = 4.0  # from this ratio of its ends on a scale has multiples
_SAID = 0.45  # of the width, from one text above the panel to the next


def picture(one: Benchmark, history: History, places: Places) -> _Drawn:
    """Draw a benchmark's nights as wide as its place; one far beyond the others lies at the edge."""
    scale, at = scale_of(one), places.at
    top, bottom = _HEAD, _HEAD + _HEIGHT
    unit = "" if one.newest.paired else figures.unit_text(one.newest.unit) or "1"
    half = 0.5 / max(1, len(places.names))
    marks: list[Mark] = [Rect(0, 1, top, bottom, "panel")]
    if missing := [(at(place) - half, at(place) + half) for place in places.missing]:
        marks.append(Boxes(missing, "history-missing", Area(top, _HEIGHT)))
    texts: list[tuple[float, str, str]] = []
    for series in one.series:
        where = _where(series, places)
        for found in series.intervals:
            best = (where[found.place_value - 1] + where[found.place_value]) / 2
            css = "slower" if found.step.speedup < 1 else "faster"
            ends = where[found.first_value], where[found.last_value]
            marks.append(Rect(*ends, top, bottom, f"history-{css}"))
            marks.append(Line(best, top - 3, best, bottom, "history-best"))
            step = series.difference(found.step)
            size = step.cell() if step.low is None else step.cell_interval()
            texts.append((best, size.replace("-", "\N{MINUS SIGN}"), css))
    for y, text in _ticks(scale, unit):
        line = Line(0, y, 1, y, "one" if text in ("same", "1×") else "grid")
        marks += [line, Text(0, y + 4, text, "", anchor="end", dx=-6)]
    for before, after in pairwise(one.series):
        border = (_where(before, places)[-1] + _where(after, places)[0]) / 2
        marks.append(Line(border, top - 6, border, bottom + 6, "history-end"))
        texts.append((border, f"{before.ends} changed", "second"))
    area = Area(top, _HEIGHT)
    points, lines = [], []
    for series in one.series:
        where = _where(series, places)
        points += [
            (where[k], scale.clipped(value))
            for k, value in enumerate(_values(series))
            if value is not None
        ]
        for part in series.segments:
            if (level := _level(series, part)) is not None:
                y = scale.clipped(level)
                lines.append((where[part.first_value] - half, y, where[part.last_value] + half, y))
    if points:
        marks.append(
            Dots(points, "history-night", area._replace(axis=read_out(scale, unit or "×")))
        )
    if lines:
        marks.append(Segments(lines, "history-level", area))
    host = list(_of_host(one, history, places, bottom + 4))
    marks += host
    marks += _labels(texts)
    bottom += _LANE * bool(host)
    for anchor, place in (("start", 0), ("end", len(places.names) - 1))[: len(places.names)]:
        day = places.names[place]
        marks.append(Text(places.at(place), bottom + 15, day, "", anchor=anchor))
    return _Drawn(plot(bottom + _FOOT, marks, "", css="history-plot"))


def _where(series: SeriesHistory, places: Places) -> list[float]:
    return [places.at(places.of[one.started_at, one.trial]) for one in series.values]


def _values(series: SeriesHistory) -> list[float | None]:
    """Give the ratio, or the value, of each night; None where there is none that a log axis has."""
    values = (_level(series, one) for one in series.values)
    return [v if v is not None and v > 0 and math.isfinite(v) else None for v in values]


def _level(series: SeriesHistory, at: Night | Segment) -> float | None:
    """Give how much of the metric there is for one of the baseline's; of a plain series the metric itself."""
    if at.speedup is None:
        return at.metric_value
    return at.speedup if series.better == "higher" else 1 / at.speedup


def scale_of(one: Benchmark) -> Scale:
    """Give the upright scale: all levels are on it, and all nights that are no outliers of theirs."""
    logs, away, levels = [], [], []
    for series in one.series:
        values = _values(series)
        for part in series.segments:
            if (level := _level(series, part)) is not None:
                levels.append(math.log(level))
        own = np.log([value for value in values if value is not None])
        known = np.array(levels or [float(np.median(own))] if own.size else [0.0])
        logs += own.tolist()
        away += [float(np.abs(known - log).min()) for log in own]
    if not logs:
        return Scale(0.95, 1.05, log=True)
    usual = float(np.median(away))
    near = [log for log, far in zip(logs, away, strict=True) if not usual or far <= _FAR * usual]
    low, high = min([*near, *levels]), max([*near, *levels])
    middle, half = (low + high) / 2, max((high - low) / 2 * _ROOM, _LEAST)
    return Scale(math.exp(middle - half), math.exp(middle + half), log=True)


def _ticks(scale: Scale, unit: str) -> Iterator[tuple[float, str]]:
    """Give ticks with room between them, each its place in the picture and its text.

    Ratios to the baseline are shown in per cent of it, and where the scale is wide as multiples.
    """
    found: Sequence[Tick]
    if unit:
        found = quantity_ticks(scale, unit, 4)
    elif scale.high > _WIDE * scale.low:
        found = ratio_ticks(scale)
    else:
        percents = quantity_ticks(Scale(100 * (scale.low - 1), 100 * (scale.high - 1)), "1", 4)
        found = [Tick(1 + tick.value / 100, _percent(tick.value)) for tick in percents]
    kept: list[float] = []
    for tick in sorted(found, key=lambda tick: tick.value != 1.0):  # the baseline's own goes first
        at = scale.at(tick.value)
        if all(abs(at - other) * _HEIGHT >= _APART for other in kept) and 0.02 < at < 0.98:
            kept.append(at)
            yield _HEAD + (1 - at) * _HEIGHT, tick.text


def _percent(value: float) -> str:
    if value == 0:
        return "same"
    return f"{value:+g}\N{NO-BREAK SPACE}%".replace("-", "\N{MINUS SIGN}")


def _labels(texts: Sequence[tuple[float, str, str]]) -> Iterator[Mark]:
    """Say above the panel what changed, and where a series ends; what has no room is left out."""
    free = 0.0
    for x, text, css in sorted(texts):
        if x >= free or free == 0.0:
            free = x + _SAID
            anchor, dx = ("end", -3.0) if x > 1 - _SAID else ("start", 3.0)
            yield Text(x, 12, text, f"history-said {css}", anchor=anchor, dx=dx)


def _of_host(one: Benchmark, history: History, places: Places, y: float) -> Iterator[Mark]:
    half = 0.5 / max(1, len(places.names))
    for series in one.series:
        where = _where(series, places)
        at = {value.trial: x for value, x in zip(series.values, where, strict=True)}
        for found in _own(history, series):
            yield Rect(at[found.first], at[found.last], y, y + _BAR, "history-host")
        for changed in history.host_changes:
            if changed.trial in at:
                x = at[changed.trial] - half
                yield Line(x, y - 2, x, y + _BAR + 2, "history-record")


def words_of(one: Benchmark) -> str:
    """Say in words what the picture shows."""
    texts = [f"{one.name}: {counted(sum(len(s.values) for s in one.series), 'night')}"]
    if len(one.series) > 1:
        texts.append(f"{len(one.series)} parts that are not compared")
    changes = [
        f"between {label(found.first_value)} and {label(found.last_value)} "
        f"{series.difference(found.step).ranged()}"
        for series in one.series
        for label in (label_of(series.values),)
        for found in series.intervals
    ]
    texts += changes or ["no change found"]
    scale = scale_of(one)
    values = [value for series in one.series for value in _values(series) if value is not None]
    if far := sum(not scale.holds(value) for value in values):
        texts.append(f"{counted(far, 'night')} beyond the edge")
    return "; ".join(texts)
