"""The page of a history: the answer and its table, a strip for each benchmark, all values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...announcing import doing
from ...history.judged.sentence import alarm_alone, measured
from ...pages.difference import Difference
from ...pages.number_format import bare_pvalue, counted, listed
from ...words import command_line, shown
from ..chapter import Chapter
from ..model import Report
from ..names import in_short, kicker, metric_said, names_of
from ..shell import html_page
from .benchmarks import (
    Benchmark,
    benchmarks_of,
    difference,
    night,
    notes_of,
    said_of_changes,
    strip_of,
    written,
)
from .places import Places, places_of
from .strip import picture
from .values import values_chapter

if TYPE_CHECKING:
    from ...history.judged.result import History, HistoryInterval, SeriesHistory

__all__ = ["history_html"]

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
