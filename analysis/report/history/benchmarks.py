"""A benchmark of a history as the page has it: its series one after the other, its strip, its numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...pages import number_format as figures
from ...pages.difference import Difference
from ...pages.number_format import counted, significant
from ...words import shown
from .strip import Level, Part, Shade, Strip, beyond

if TYPE_CHECKING:
    from ...history.judged.result import History, HistoryInterval, Segment, SeriesHistory
    from .places import Places

__all__ = ["Benchmark", "benchmarks_of", "said_of_changes", "strip_of", "written"]


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
            (slower, figures.said("slower", timed=timed)),
            (faster, figures.said("faster", timed=timed)),
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
