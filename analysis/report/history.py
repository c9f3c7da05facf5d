"""The page of a history: the answer and its table, a strip for each benchmark, all values."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from ..announcing import doing
from ..history.night_values import missing_before, moment_of
from ..history.sentences import alarm_alone, measured
from ..pages import number_format as figures
from ..pages.difference import Difference
from ..pages.number_format import bare_pvalue, counted, listed, significant, unit_text
from ..words import command_line, shown
from .assembling import html_page
from .history_strip import Level, Part, Shade, Strip, beyond, picture
from .page import Chapter, Report
from .subject import in_short, kicker, metric_said, names_of

if TYPE_CHECKING:
    from ..history.judged import History, HistoryInterval, Segment, SeriesHistory, SeriesValue

__all__ = [
    "Begun",
    "Benchmark",
    "Places",
    "benchmarks_of",
    "history_html",
    "places_of",
    "said_of_changes",
    "strip_of",
    "values_chapter",
    "written",
]

# --- A benchmark of a history as the page has it: its series one after the other, its strip, its numbers.


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


# --- numbers and words


def ratio_of(series: SeriesHistory, speedup: float) -> float:
    """Give how much of the metric there is for one of the baseline's."""
    return speedup if series.better == "higher" else 1 / speedup


def written(series: SeriesHistory, speedup: float | None, value: float | None) -> str:
    """Write a level: against the baseline in per cent, or in the metric's unit; "" where unknown."""
    if value is not None:
        return figures.quantity(value, series.unit).replace(" ", "\N{NO-BREAK SPACE}")
    if speedup is None:
        return ""
    ratio = ratio_of(series, speedup)
    if not 0.5 < ratio < 2:
        return f"{significant(ratio)}×"
    return f"{100 * (ratio - 1):+.1f}\N{NO-BREAK SPACE}%".replace("-", "\N{MINUS SIGN}")


def difference(series: SeriesHistory, one: HistoryInterval) -> Difference:
    """Give what changed, later nights against earlier ones."""
    return Difference.of(one.step, metric=series.metric, unit=series.unit, better=series.better)


def said_of_changes(series: SeriesHistory) -> str:
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


# --- the picture


def strip_of(benchmark: Benchmark, history: History, places: Places) -> Strip:
    """Give what is drawn of a benchmark."""
    parts = tuple(_part(one, history, places) for one in benchmark.series)
    known = {place for part in parts for place, _ in part.values}
    records = tuple(
        place
        for one in history.host_changes
        if (place := places.of.get((one.started_at or "", one.trial))) in known
        and place is not None
    )
    unit = "" if benchmark.newest.paired else figures.unit_text(benchmark.newest.unit) or "1"
    return Strip(parts, places, records, unit, alt_of(benchmark, places))


def _part(series: SeriesHistory, history: History, places: Places) -> Part:
    at = [places.of[one.started_at or "", one.trial] for one in series.values]
    by_trial: Mapping[str, int] = {
        one.trial: place for one, place in zip(series.values, at, strict=True)
    }
    values = []
    for one, place in zip(series.values, at, strict=True):
        value = one.metric_value
        if value is None and one.speedup is not None:
            value = ratio_of(series, one.speedup)
        if value is not None and value > 0 and math.isfinite(value):
            values.append((place, value))
    shades = tuple(
        Shade(
            first=at[one.first_value],
            last=at[one.last_value],
            best=(at[one.place_value - 1] + at[one.place_value]) / 2,
            css="slower" if one.step.speedup < 1 else "faster",
            text=_size(difference(series, one)).replace("-", "\N{MINUS SIGN}"),
        )
        for one in series.intervals
    )
    levels = tuple(
        Level(at[one.first_value], at[one.last_value], value)
        for one in series.segments
        if (value := _level(series, one)) is not None
    )
    hosts = tuple(
        (by_trial[one.first], by_trial[one.last])
        for one in history.host_intervals
        if (one.benchmark, one.baseline) == (series.benchmark, series.baseline)
        and {one.first, one.last} <= by_trial.keys()
    )
    ended = "" if series.ends is None else f"{series.ends} changed"
    return Part(values, levels, shades, hosts, ended)


def _size(found: Difference) -> str:
    return found.cell() if found.low is None else found.cell_interval()


def _level(series: SeriesHistory, one: Segment) -> float | None:
    if one.metric_value is not None or one.speedup is None:
        return one.metric_value
    return ratio_of(series, one.speedup)


def alt_of(benchmark: Benchmark, places: Places) -> str:
    """Say in words what the picture shows."""
    nights = sum(len(one.values) for one in benchmark.series)
    said = [f"{shown(benchmark.name)}: {counted(nights, 'night')}"]
    if len(benchmark.series) > 1:
        said.append(counted(len(benchmark.series), "part") + " that are not compared")
    for series in benchmark.series:
        said += [_said(series, one, places) for one in series.intervals]
    if not any(one.intervals for one in benchmark.series):
        said.append("no change found")
    last = benchmark.newest.segments[-1:] or ()
    said += [f"now {written(benchmark.newest, one.speedup, one.metric_value)}" for one in last]
    return "; ".join(said)


def _said(series: SeriesHistory, one: HistoryInterval, places: Places) -> str:
    first, last = (night(series, k, places) for k in (one.first_value, one.last_value))
    return f"between {first} and {last} {difference(series, one).ranged()}"


def night(series: SeriesHistory, number: int, places: Places) -> str:
    """Give what a night of a series is called, as it may be shown."""
    value = series.values[number]
    return shown(places.name(value.started_at, value.trial))


def notes_of(strip: Strip) -> Iterator[str]:
    """Say what of the picture is not as it seems."""
    if far := beyond(strip):
        yield (f"{counted(far, 'night')} beyond the scale: a stroke at its edge stands for each.")


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
    months : tuple of str
        The month of each place, such as ``2026-11``; "" where it is not known.
    missing : tuple of int
        The places of nights without a trial.
    cut : int
        Nights without a trial that are not drawn, since there are too many in a row.
    """

    of: Mapping[Begun, int]
    names: tuple[str, ...]
    months: tuple[str, ...]
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
    months: list[str] = []
    missing: list[int] = []
    for one, gap, name in zip(ordered, gaps, called, strict=True):
        empty = min(gap, _MOST)
        missing += range(len(names), len(names) + empty)
        of[one] = len(names) + empty
        names += [*[""] * empty, name]
        moment = moment_of(one[0])
        months += [*[""] * empty, "" if moment is None else moment.date().isoformat()[:7]]
    return Places(of, tuple(names), tuple(months), tuple(missing), sum(gaps) - len(missing))


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


# --- All values of a history in tables: a night a row, a benchmark a column.


_BESIDE = 8  # benchmarks of a table


class _Row(NamedTuple):
    night: str
    commit: str
    cells: Sequence[str]


def values_chapter(
    benchmarks: Sequence[Benchmark], places: Places, names: Mapping[str, str]
) -> Chapter:
    """Give all values that the strips draw, in the unit of their scales."""
    groups = [benchmarks[k : k + _BESIDE] for k in range(0, len(benchmarks), _BESIDE)]
    values: dict[str, Any] = {
        "names": names,
        "tables": [
            {
                "benchmarks": [(one.name, _unit(one.newest)) for one in group],
                "commits": any(row.commit for row in rows),
                "rows": rows,
            }
            for group in groups
            for rows in [list(_rows(group, places))]
        ],
    }
    return Chapter(
        name="values",
        folder="history/values",
        anchor="values",
        title="All values",
        values=values,
        sections=tuple,
    )


def _unit(series: SeriesHistory) -> str:
    return "%" if series.paired else unit_text(series.unit)


def _rows(group: Sequence[Benchmark], places: Places) -> Iterator[_Row]:
    columns = [
        {
            places.of[value.started_at or "", value.trial]: (series, value)
            for series in one.series
            for value in series.values
        }
        for one in group
    ]
    for place in places.of.values():
        found = [column.get(place) for column in columns]
        known = [value for one in found if one is not None for value in one[1:]]
        if not known:
            continue
        commits = {value.commit for value in known}
        commit = commits.pop() if len(commits) == 1 else None
        yield _Row(
            night=shown(places.names[place]),
            commit=shown(commit[:_SHA]) if commit else "",
            cells=["" if one is None else _written(*one) for one in found],
        )


def _written(series: SeriesHistory, value: SeriesValue) -> str:
    if value.metric_value is not None:
        return significant(value.metric_value, 4)
    if value.speedup is None:
        return ""
    change = 100 * (ratio_of(series, value.speedup) - 1)
    return f"{change:+.2f}".replace("-", "\N{MINUS SIGN}")


_NAME = 28  # characters of a benchmark's name
_OPEN = 12  # benchmarks without a change whose strips are not folded
_RULES = {"holm": "Holm", "bh": "Benjamini and Hochberg"}
_GATE = {"proven": "alarm", "ruled-out": "passed", "undecided": "undecided"}
_TEXT = 160  # of a sentence about the host
_SHA = 7  # signs of a commit


def history_html(history: History) -> str:
    """Give a history as one HTML file that needs nothing else.

    Parameters
    ----------
    history : History
        What `judge_nights` gives.

    Returns
    -------
    str
        The page: the same bytes for the same history.
    """
    benchmarks = benchmarks_of(history)
    places = places_of(
        (value.started_at or "", value.trial) for one in history.series for value in one.values
    )
    names = {
        name: brief.text
        for name, brief in names_of([one.name for one in benchmarks], _NAME).items()
    }
    title = history.campaign or history.place
    chapters = [_answer(history, benchmarks, places, names)]
    if benchmarks:
        doing("drawing the strips")
        chapters.append(_strips(history, benchmarks, places, names))
        chapters.append(values_chapter(benchmarks, places, names))
    report = Report(
        title=title,
        headline=history.sentence,
        metrics=(history.metric,),
        chapters=tuple(chapters),
        names=tuple(one.name for one in benchmarks),
        cautions=history.cautions,
    )
    return html_page(report)


# --- the answer


def _answer(
    history: History,
    benchmarks: Sequence[Benchmark],
    places: Places,
    names: Mapping[str, str],
) -> Chapter:
    days = [one[:10] for one in (history.first_at, history.last_at) if one is not None]
    values: dict[str, Any] = {
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
        "names": names,
    }
    return Chapter(
        name="answer",
        folder="history/answer",
        anchor="answer",
        title="",
        values=values,
        sections=tuple,
        headline=history.sentence,
    )


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


def _row(one: Benchmark, places: Places) -> Mapping[str, Any]:
    newest = one.newest
    last = newest.segments[-1] if newest.segments else None
    since = ""
    if last is not None:
        since = night(newest, last.first_value, places)
    value = None if last is None else (last.metric_value or last.speedup)
    gate = "" if newest.outcome is None else newest.outcome
    return {
        "name": one.name,
        "anchor": one.anchor,
        "nights": sum(len(series.values) for series in one.series),
        "now": "" if last is None else written(newest, last.speedup, last.metric_value),
        "sorted_by": value,
        "since": since,
        "changes": said_of_changes(newest),
        "style": _style(newest),
        "gate": gate,
    }


def _style(series: SeriesHistory) -> str:
    """Give the role of the newest change; "" where there is none."""
    if not series.intervals:
        return ""
    return "slower" if series.intervals[-1].step.speedup < 1 else "faster"


# --- the strips


def _strips(
    history: History,
    benchmarks: Sequence[Benchmark],
    places: Places,
    names: Mapping[str, str],
) -> Chapter:
    changed = [one for one in benchmarks if one.changed]
    others = [one for one in benchmarks if not one.changed]
    folded = len(others) if len(others) > _OPEN else 0
    values: dict[str, Any] = {
        "reading": list(_reading(history, benchmarks, places)),
        "changed": [_strip(one, history, places) for one in changed],
        "others": [_strip(one, history, places) for one in others],
        "folded": folded,
        "names": names,
    }
    return Chapter(
        name="strips",
        folder="history/strips",
        anchor="strips",
        title="Night by night",
        values=values,
        sections=tuple,
    )


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


def _strip(one: Benchmark, history: History, places: Places) -> Mapping[str, Any]:
    strip = strip_of(one, history, places)
    newest = one.newest
    rows = [_change(series, found, places) for series in one.series for found in series.intervals]
    last = newest.segments[-1] if newest.segments else None
    now = "" if last is None else written(newest, last.speedup, last.metric_value)
    gate = "" if newest.alarm is None else _GATE[newest.alarm.word]
    return {
        "name": one.name,
        "anchor": one.anchor,
        "picture": picture(strip),
        "notes": list(notes_of(strip)),
        "now": now,
        "against": in_short(newest.baseline) if newest.paired and newest.baseline else None,
        "changes": said_of_changes(newest),
        "gate": gate,
        "rows": rows,
        "commits": any(row["commits"] for row in rows),
        "levels": list(_levels(one, places)),
        "ends": [
            (night(series, -1, places), in_short(series.changed or f"{series.ends} changed", _TEXT))
            for series in one.series[:-1]
        ],
        "hosts": list(_hosts(one, history, places)),
    }


def _change(series: SeriesHistory, one: HistoryInterval, places: Places) -> Mapping[str, Any]:
    """Give the evidence of a change: where, how much, whose, and how to go on."""
    found = difference(series, one)
    command = ""
    if one.good is not None and one.bad is not None:
        words = (
            "fairtrial",
            "bisect",
            one.good[:12],
            one.bad[:12],
            "--benchmark",
            series.benchmark,
        )
        command = command_line(words)
    return {
        "first": night(series, one.first_value, places),
        "last": night(series, one.last_value, places),
        "gap": f"; {counted(one.missing, 'night')} missing" if one.missing else "",
        "place": night(series, one.place_value, places),
        "text": found.ranged(),
        "style": "slower" if one.step.speedup < 1 else "faster",
        "words": one.words,
        "environment": [in_short(text, _TEXT) for text in one.environment],
        "p": bare_pvalue(one.pvalue),
        "pvalue": one.pvalue,
        "commits": ""
        if one.good is None or one.bad is None
        else f"{shown(one.good[:_SHA])}..{shown(one.bad[:_SHA])}",
        "command": command,
    }


def _levels(one: Benchmark, places: Places) -> Iterator[tuple[str, str, int, str]]:
    for series in one.series:
        for level in series.segments:
            yield (
                night(series, level.first_value, places),
                night(series, level.last_value, places),
                level.nights,
                written(series, level.speedup, level.metric_value),
            )


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
            step = Difference.of(
                found.step, metric=series.metric, unit=series.unit, better=series.better
            )
            why = f": {in_short('; '.join(found.environment), _TEXT)}" if found.environment else ""
            yield (
                f"Between {shown(days[found.first])} and {shown(days[found.last])} "
                f"{in_short(found.baseline)} itself {step.ranged()}{why}."
            )
