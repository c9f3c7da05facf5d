"""The page of a history: the answer and its table, a strip for each benchmark with what changed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import plots
from ..announcing import doing
from ..history.night_values import missing_before, moment_of
from ..history.sentences import alarm_alone, measured
from ..pages import number_format as figures
from ..pages.difference import Difference
from ..pages.number_format import bare_pvalue, counted, listed, significant
from ..plots.axes import Scale, Tick, quantity_ticks, ratio_ticks, read_out
from ..words import command_line, shown
from .assembling import html_page
from .page import Chapter, Report
from .subject import in_short, kicker, metric_said, names_of

if TYPE_CHECKING:
    from markupsafe import Markup

    from ..history.judged import History, HistoryInterval, HostInterval, SeriesHistory
    from ..plots import Mark

__all__ = [
    "Benchmark",
    "Places",
    "benchmarks_of",
    "history_html",
    "picture",
    "places_of",
    "scale_of",
]

Values = Mapping[str, Any]

# --- The page.


_NAME = 28  # characters of a benchmark's name
_OPEN = 12  # benchmarks without a change whose strips are not folded
_RULES = {"holm": "Holm", "bh": "Benjamini and Hochberg"}
_TEXT = 160  # of a sentence about the host
_SHA = 7  # signs of a commit


def history_html(history: History) -> str:
    """Give a history, as `judge_nights` gives it, as one HTML file that needs nothing else.

    The same history gives the same bytes.
    """
    benchmarks = benchmarks_of(history)
    places = places_of(
        (value.started_at or "", value.trial) for one in history.series for value in one.values
    )
    briefs = names_of([one.name for one in benchmarks], _NAME)
    names = {name: brief.text for name, brief in briefs.items()}
    answer = _answer(history, benchmarks, places) | {"names": names}
    chapters = [_chapter("answer", "", answer, history.sentence)]
    if benchmarks:
        doing("drawing the strips")
        strips = _strips(history, benchmarks, places) | {"names": names}
        chapters.append(_chapter("strips", "Night by night", strips))
    report = Report(
        title=history.campaign or history.place,
        headline=history.sentence,
        metrics=(history.metric,),
        chapters=tuple(chapters),
        names=tuple(names),
        cautions=history.cautions,
    )
    return html_page(report)


def _chapter(name: str, title: str, values: Values, headline: str = "") -> Chapter:
    return Chapter(
        name=name,
        folder=f"history/{name}",
        anchor=name,
        title=title,
        values=values,
        sections=tuple,
        headline=headline,
    )


# --- The answer.


def _answer(history: History, benchmarks: Sequence[Benchmark], places: Places) -> dict[str, Any]:
    days = [one[:10] for one in (history.first_at, history.last_at) if one is not None]
    return {
        "kicker": kicker(
            "history",
            measured(history),
            " to ".join(dict.fromkeys(days)),
            metric_said(history.metric, history.better),
            listed([in_short(one) for one in history.host], 3),
            counted(history.nights, "night"),
            f"{history.missing} missing" if history.missing else "",
        ),
        "headline": history.sentence,
        "deck": list(_deck(history, benchmarks)),
        "gated": history.gate is not None,
        "plain": not all(one.newest.paired for one in benchmarks),
        "rows": [_row(one, places) for one in benchmarks],
        "cautions": [one.text for one in history.cautions],
        "left_out": [f"{shown(name)}: {why}" for name, why in history.left_out],
        "following": [(one.line, one.why) for one in history.following],
    }


def _deck(history: History, benchmarks: Sequence[Benchmark]) -> Iterator[str]:
    newest = [one.newest for one in benchmarks]
    if not newest:
        return
    paired = all(one.paired for one in newest)
    if paired:
        over = f" against {in_short(history.baseline)}" if history.baseline is not None else ""
        yield (
            f"One value a night: each variant{over}, both measured in that night, so that what slows "
            "the whole host down cancels."
        )
    else:
        yield (
            "One value a night, without a baseline beside it: host and program cannot be told apart."
        )
    rule = _RULES.get(history.correction)
    many = f", allowing for {len(newest)} benchmarks ({rule})" if rule and len(newest) > 1 else ""
    yield (
        f"A shaded interval holds at least one change, with a risk of {100 * history.risk:g} % "
        f"over all places{many}; sizes, at least to at most, allow for the place being chosen."
    )
    if history.gate is not None:
        since = f" since {shown(history.since)}" if history.since else ""
        yield f"Gate {shown(history.gate)}{since}: {history.outcome}."
    alone = alarm_alone(history)
    if alone is not None:
        yield f"{alone}."


def _row(one: Benchmark, places: Places) -> Values:
    newest = one.newest
    last = newest.segments[-1] if newest.segments else None
    return {
        "name": one.name,
        "anchor": one.anchor,
        "nights": sum(len(series.values) for series in one.series),
        "now": _now(newest),
        "sorted_by": None if last is None else (last.metric_value or last.speedup),
        "since": "" if last is None else _night(newest, last.first_value, places),
        "changes": _changes(newest),
        "style": _style(newest.intervals[-1]) if newest.intervals else "",
        "gate": newest.outcome or "",
    }


# --- The strips: what stands at each.


def _strips(history: History, benchmarks: Sequence[Benchmark], places: Places) -> dict[str, Any]:
    others = [one for one in benchmarks if not one.changed]
    return {
        "reading": list(_reading(history, benchmarks, places)),
        "changed": [_strip(one, history, places) for one in benchmarks if one.changed],
        "others": [_strip(one, history, places) for one in others],
        "folded": len(others) if len(others) > _OPEN else 0,
    }


def _reading(history: History, benchmarks: Sequence[Benchmark], places: Places) -> Iterator[str]:
    """Say how the strips are read: only of what is there."""
    series = [series for one in benchmarks for series in one.series]
    yield "Dot: a night. Line: the mean between two changes."
    if any(one.intervals for one in series):
        yield (
            "Shaded: nights that hold a change, orange where it became worse, blue where better; "
            "broken line: the best place in them."
        )
    if any(one.ends is not None for one in series):
        yield "Thick line: another series begins, and nothing is compared across it."
    if history.host_intervals:
        yield "Grey bar below: nights in which the baseline itself, and so the host, changed."
    if history.host_changes:
        yield "Stroke below: from here on the record of the host says otherwise."
    if places.missing:
        yield "Open stripe: a night that is missing."
    if places.cut:
        yield f"{counted(places.cut, 'missing night')} more are not drawn."


def _strip(one: Benchmark, history: History, places: Places) -> Values:
    newest = one.newest
    rows = [_change(series, found, places) for series in one.series for found in series.intervals]
    return {
        "name": one.name,
        "anchor": one.anchor,
        "picture": picture(one, history, places),
        "now": _now(newest),
        "against": in_short(newest.baseline) if newest.paired and newest.baseline else None,
        "changes": _changes(newest),
        "gate": newest.outcome or "",
        "rows": rows,
        "commits": any(row["commits"] for row in rows),
        "ends": [
            (
                _night(series, -1, places),
                in_short(series.changed or f"{series.ends} changed", _TEXT),
            )
            for series in one.series[:-1]
        ],
        "hosts": list(_hosts(one, history, places)),
    }


def _change(series: SeriesHistory, one: HistoryInterval, places: Places) -> Mapping[str, Any]:
    """Give the evidence of a change: where, how much, whose, and how to go on."""
    found = _difference(series, one)
    command = commits = ""
    if one.good is not None and one.bad is not None:
        found_by = ("fairtrial", "bisect", one.good[:12], one.bad[:12])
        commits = f"{shown(one.good[:_SHA])}..{shown(one.bad[:_SHA])}"
        command = command_line((*found_by, "--benchmark", series.benchmark))
    return {
        "first": _night(series, one.first_value, places),
        "last": _night(series, one.last_value, places),
        "gap": f"; {counted(one.missing, 'night')} missing" if one.missing else "",
        "place": _night(series, one.place_value, places),
        "text": found.ranged(),
        "style": _style(one),
        "words": one.words,
        "environment": [in_short(text, _TEXT) for text in one.environment],
        "p": bare_pvalue(one.pvalue),
        "pvalue": one.pvalue,
        "commits": commits,
        "command": command,
    }


def _hosts(one: Benchmark, history: History, places: Places) -> Iterator[str]:
    """Say where the host changed, in sentences."""
    days = {
        value.trial: places.name(value.started_at, value.trial)
        for series in one.series
        for value in series.values
    }
    for found in history.host_intervals:
        mine = {(series.benchmark, series.baseline) for series in one.series}
        if (found.benchmark, found.baseline) in mine and {found.first, found.last} <= days.keys():
            series = one.newest
            step = _difference(series, found)
            why = f": {in_short('; '.join(found.environment), _TEXT)}" if found.environment else ""
            yield (
                f"Between {shown(days[found.first])} and {shown(days[found.last])} "
                f"{in_short(found.baseline)} itself {step.ranged()}{why}."
            )


# --- A benchmark: its series one after the other, its numbers and words.


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
            name=f"{benchmark} · {variant}" if several else benchmark,
            anchor=f"strip-{number}",
            series=tuple(series),
        )
        for number, ((benchmark, variant), series) in enumerate(groups.items(), 1)
    )


def _ratio(series: SeriesHistory, speedup: float) -> float:
    """Give how much of the metric there is for one of the baseline's."""
    return speedup if series.better == "higher" else 1 / speedup


def _written(series: SeriesHistory, speedup: float | None, value: float | None) -> str:
    """Write a level: against the baseline in per cent, or in the metric's unit; "" where unknown."""
    if value is not None:
        return figures.quantity(value, series.unit).replace(" ", "\N{NO-BREAK SPACE}")
    if speedup is None:
        return ""
    ratio = _ratio(series, speedup)
    if not 0.5 < ratio < 2:
        return f"{significant(ratio)}×"
    return f"{100 * (ratio - 1):+.1f}\N{NO-BREAK SPACE}%".replace("-", "\N{MINUS SIGN}")


def _difference(series: SeriesHistory, one: HistoryInterval | HostInterval) -> Difference:
    """Give what changed, later nights against earlier ones."""
    return Difference.of(one.step, metric=series.metric, unit=series.unit, better=series.better)


def _changes(series: SeriesHistory) -> str:
    """Count what changed: ``2 slower, 1 faster``, ``none``; or that there are too few nights."""
    if not series.enough:
        return f"too few nights ({len(series.values)})"
    timed = figures.timed(series.unit)
    slower = sum(one.step.speedup < 1 for one in series.intervals)
    faster = len(series.intervals) - slower
    found = [
        f"{count} {word}"
        for count, word in (
            (slower, figures.outcome_word("slower", timed=timed)),
            (faster, figures.outcome_word("faster", timed=timed)),
        )
        if count
    ]
    return ", ".join(found) or "none"


def _night(series: SeriesHistory, number: int, places: Places) -> str:
    """Give what a night of a series is called, as it may be shown."""
    value = series.values[number]
    return shown(places.name(value.started_at, value.trial))


def _now(series: SeriesHistory) -> str:
    """Write the newest level; "" without one."""
    last = series.segments[-1:]
    return _written(series, last[0].speedup, last[0].metric_value) if last else ""


def _style(one: HistoryInterval) -> str:
    return "slower" if one.step.speedup < 1 else "faster"


# --- Where nights stand beside each other: one place for each, and empty ones for nights without a trial.


Begun = tuple[str, str]  # when a trial began, "" where nobody knows, and its name

_MOST = 30  # empty places in a row that are drawn


@dataclass(frozen=True, slots=True)
class Places:
    """The places of a page's axis, which all strips share.

    Attributes
    ----------
    of : mapping
        The place of each trial, from 0, by when it began and its name.
    names : tuple of str
        What each place is called: its day, such as ``2026-11-03``; with the time where a day has several
        nights (``11-03 14:05``), the trial's name where neither tells it; "" of a night without a trial.
    missing : tuple of int
        The places of nights without a trial.
    cut : int
        Nights without a trial that are not drawn, since there are too many in a row.
    """

    of: Mapping[Begun, int]
    names: tuple[str, ...]
    missing: tuple[int, ...]
    cut: int = 0

    def __len__(self) -> int:
        return len(self.names)

    def name(self, started: str | None, trial: str) -> str:
        """Give what a night is called."""
        return self.names[self.of[started or "", trial]]

    def at(self, place: float) -> float:
        """Give the middle of a place as a share of the axis."""
        return (place + 0.5) / max(1, len(self.names))


def places_of(trials: Iterable[Begun]) -> Places:
    """Set trials beside each other by when they began, and by their names.

    Where they follow in a rhythm, as nights do, each one that is missing has an empty place.
    """
    ordered = sorted({*trials}, key=_when)
    gaps = missing_before([started or None for started, _ in ordered])
    called = _called(ordered)
    of: dict[Begun, int] = {}
    names: list[str] = []
    missing: list[int] = []
    for one, gap, name in zip(ordered, gaps, called, strict=True):
        empty = min(gap, _MOST)
        missing += range(len(names), len(names) + empty)
        of[one] = len(names) + empty
        names += [*[""] * empty, name]
    return Places(of, tuple(names), tuple(missing), sum(gaps) - len(missing))


def _called(ordered: Sequence[Begun]) -> list[str]:
    """Name nights by their days, else with the time of day, else by their trials: so that all differ."""
    moments = [moment_of(started) for started, _ in ordered]
    for form in ("%Y-%m-%d", "%m-%d %H:%M"):
        names = [
            trial if moment is None else f"{moment:{form}}"
            for moment, (_, trial) in zip(moments, ordered, strict=True)
        ]
        if len(set(names)) == len(names):
            return names
    return [trial for _, trial in ordered]


def _when(one: Begun) -> tuple[bool, float, str]:
    moment = moment_of(one[0])
    return moment is None, 0.0 if moment is None else moment.timestamp(), one[1]


# --- The picture of a benchmark: a dot a night, the levels between changes, what is shaded and why.


_HEIGHT = 104.0  # CSS pixels of the panel
_HEAD, _FOOT = 18.0, 20.0  # above it: what changed; below it: days
_LANE, _BAR = 13.0, 5.0  # of changes of the host
_APART = 20.0  # CSS pixels between two ticks
_FAR = 12.0  # times the usual distance from its level, above which a night is an outlier
_ROOM = 1.2
_LEAST = math.log(1.01)  # of the scale, above and below its middle
_WIDE = 4.0  # ends of a scale so far apart are told as multiples
_SAID = 0.45  # of the width, from one text above the panel to the next


def picture(one: Benchmark, history: History, places: Places) -> Markup:
    """Draw a benchmark's nights as wide as its place; one far beyond the others lies at the edge."""
    scale, at = scale_of(one), places.at
    top, bottom = _HEAD, _HEAD + _HEIGHT
    unit = "" if one.newest.paired else figures.unit_text(one.newest.unit) or "1"
    half = 0.5 / max(1, len(places))
    marks: list[Mark] = [plots.band(0, 1, top, bottom, "panel")]
    if missing := [(at(place) - half, at(place) + half) for place in places.missing]:
        marks.append(plots.boxes(missing, "history-missing", top=top, height=_HEIGHT))
    said: list[tuple[float, str, str]] = []
    for series in one.series:
        where = _where(series, places)
        for found in series.intervals:
            best, css = (where[found.place_value - 1] + where[found.place_value]) / 2, _style(found)
            ends = where[found.first_value], where[found.last_value]
            marks.append(plots.band(*ends, top, bottom, f"history-{css}"))
            marks.append(plots.stroke(best, top - 3, bottom, "history-best"))
            said.append((best, _size(_difference(series, found)), css))
    for y, text in _ticks(scale, unit):
        line = plots.line(0, y, 1, y, "one" if text in ("same", "1×") else "grid")
        marks += [line, plots.label(0, y + 4, text, "", anchor="end", dx=-6)]
    for before, after in pairwise(one.series):
        border = (_where(before, places)[-1] + _where(after, places)[0]) / 2
        marks.append(plots.stroke(border, top - 6, bottom + 6, "history-end"))
        said.append((border, f"{before.ends} changed", "second"))
    area = {"top": top, "height": _HEIGHT}
    points, lines = [], []
    for series in one.series:
        where = _where(series, places)
        points += [
            (where[k], scale.clipped(value))
            for k, value in enumerate(_values(series))
            if value is not None
        ]
        for part in series.segments:
            if (level := _level(series, part.speedup, part.metric_value)) is not None:
                y = scale.clipped(level)
                lines.append((where[part.first_value] - half, y, where[part.last_value] + half, y))
    if points:
        marks.append(plots.dots(points, "history-night", axis=read_out(scale, unit or "×"), **area))
    if lines:
        marks.append(plots.segments(lines, "history-level", **area))
    host = list(_of_host(one, history, places, bottom + 4))
    marks += host
    marks += _said(said)
    bottom += _LANE * bool(host)
    marks += _days(places, bottom + 15)
    return plots.plot(bottom + _FOOT, marks, _alt(one, places), css="history-plot")


def _where(series: SeriesHistory, places: Places) -> list[float]:
    """Give the place of each night as a share of the axis."""
    return [places.at(places.of[one.started_at or "", one.trial]) for one in series.values]


def _values(series: SeriesHistory) -> list[float | None]:
    """Give the ratio, or the value, of each night; None where there is none that a log axis has."""
    values = (_level(series, one.speedup, one.metric_value) for one in series.values)
    return [v if v is not None and v > 0 and math.isfinite(v) else None for v in values]


def _level(series: SeriesHistory, speedup: float | None, value: float | None) -> float | None:
    return value if value is not None or speedup is None else _ratio(series, speedup)


def scale_of(one: Benchmark) -> Scale:
    """Give the upright scale: all levels are on it, and all nights that are no outliers of theirs."""
    logs, away, levels = [], [], []
    for series in one.series:
        values = _values(series)
        for part in series.segments:
            if (level := _level(series, part.speedup, part.metric_value)) is not None:
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

    Ratios to the baseline are told in per cent of it, and where the scale is wide as multiples.
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


def _size(found: Difference) -> str:
    text = found.cell() if found.low is None else found.cell_interval()
    return text.replace("-", "\N{MINUS SIGN}")


def _said(texts: Sequence[tuple[float, str, str]]) -> Iterator[Mark]:
    """Say above the panel what changed, and where a series ends; what has no room is left out."""
    free = 0.0
    for x, text, css in sorted(texts):
        if x >= free or free == 0.0:
            free = x + _SAID
            anchor, dx = ("end", -3.0) if x > 1 - _SAID else ("start", 3.0)
            yield plots.label(x, 12, text, f"history-said {css}", anchor=anchor, dx=dx)


def _of_host(one: Benchmark, history: History, places: Places, y: float) -> Iterator[Mark]:
    """Mark below the panel where the host changed: by the baseline's own nights, and by its record."""
    for series in one.series:
        at = dict(
            zip((value.trial for value in series.values), _where(series, places), strict=True)
        )
        for found in history.host_intervals:
            mine = (found.benchmark, found.baseline) == (series.benchmark, series.baseline)
            if mine and {found.first, found.last} <= at.keys():
                yield plots.band(at[found.first], at[found.last], y, y + _BAR, "history-host")
        half = 0.5 / max(1, len(places))
        for changed in history.host_changes:
            if changed.trial in at:
                x = at[changed.trial] - half
                yield plots.stroke(x, y - 2, y + _BAR + 2, "history-record")


def _days(places: Places, y: float) -> Iterator[Mark]:
    """Write the first and the last day below their places."""
    if len(places):
        yield plots.label(places.at(0), y, places.names[0], "", anchor="start")
    if len(places) > 1:
        yield plots.label(places.at(len(places) - 1), y, places.names[-1], "", anchor="end")


def _alt(one: Benchmark, places: Places) -> str:
    """Say in words what the picture shows."""
    said = [f"{shown(one.name)}: {counted(sum(len(s.values) for s in one.series), 'night')}"]
    if len(one.series) > 1:
        said.append(f"{len(one.series)} parts that are not compared")
    changes = [
        f"between {_night(series, found.first_value, places)} and "
        f"{_night(series, found.last_value, places)} {_difference(series, found).ranged()}"
        for series in one.series
        for found in series.intervals
    ]
    said += changes or ["no change found"]
    scale = scale_of(one)
    values = [value for series in one.series for value in _values(series) if value is not None]
    if far := sum(not scale.holds(value) for value in values):
        said.append(f"{counted(far, 'night')} beyond the edge")
    return "; ".join([*said, *([f"now {now}"] if (now := _now(one.newest)) else [])])
