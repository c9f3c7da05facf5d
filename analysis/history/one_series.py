"""Judges one series of nights: its values, its segments, its intervals with their causes, and the gate."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final, NamedTuple

import numpy as np

from ..errors import UsageError
from ..pages.result import Condition
from .alarm import (
    FEWEST,
    NEWEST,
    NIGHTS,
    Alarm,
    Direction,
    alarm_of,
    banerjee_half,
    begin_of_reference,
    half_of,
)
from .changes import ChangeInterval, Changes, Step, step_of
from .judged import (
    History,
    HistoryInterval,
    HostRecords,
    Outcome,
    Segment,
    SeriesHistory,
    SeriesValue,
    overlaps,
)
from .night_values import Nights, NightSeries, moment_of

# --- The gate on many nights: whether the newest are slower than those before by more than is allowed.


_LEVEL = 0.95

_OUTCOMES: dict[str, Outcome]
_OUTCOMES = {"proven": "proven", "ruled-out": "passed", "undecided": "undecided"}
_OUTCOMES_OF_GAIN: dict[str, Outcome]
_OUTCOMES_OF_GAIN = {"proven": "passed", "ruled-out": "proven", "undecided": "undecided"}


class Gated(NamedTuple):
    """What the gate says of one series.

    `against`: The newest nights, those that decided or up to 8, against the reference; None where either side
    has none. `reference`: The number of its first value, and that behind its last. `drift`: The newest 8 against the
    first 8 of the series, where that withholds the answer. `reason`: Why it is undecided, else None.
    """

    alarm: Alarm
    against: Step | None
    reference: tuple[int, int]
    drift: Step | None
    outcome: Outcome
    reason: str | None


def gated(
    found: Changes,
    asked: Condition,
    *,
    since: int | None,
    risk: float,
    horizon: int,
    series: int,
    cut: Sequence[tuple[bool, bool]],
) -> Gated:
    """Hold the newest nights of a series against those before; of a `since`, those since a change eight before it.

    ``slower>2%`` is proven by an alarm, and passes where the mean of the newest nights lies within the limit.
    ``faster<5%`` is passed by an alarm of being faster by more, and proven where the mean shows that it is not.
    What a longer time of runs that were `cut`, of the candidate's or the baseline's, would overturn is undecided.
    """
    gain = asked.kind == "faster"
    direction: Direction = "faster" if gain else "slower"
    count = found.values.size if since is None else since
    begins = begin_of_reference([one.last for one in found.intervals], count)
    alarm = alarm_of(
        np.asarray(found.values),
        1.0 / asked.limit,
        begins=begins,
        since=since,
        risk=risk,
        inflation=found.inflation,
        horizon=horizon,
        series=series,
        direction=direction,
    )
    outcome = (_OUTCOMES_OF_GAIN if gain else _OUTCOMES)[alarm.word]
    first_new = max(begins, found.values.size - NEWEST) if since is None else since
    span = (begins, first_new)
    reference = found.values[slice(*span)]
    new = found.values[first_new:][-(alarm.nights or NEWEST) :]
    reason: str | None = None
    if outcome == "undecided":
        few = reference.size < FEWEST
        between = alarm.reason or "between"
        reason = "few-nights" if few else "few-new" if new.size < NIGHTS[0] else between
    later, before = cut[first_new:], cut[slice(*span)]
    longer = any(one for one, _ in later) or any(base for _, base in before)
    shorter = any(base for _, base in later) or any(one for one, _ in before)
    if (outcome == "passed" and longer) or (outcome == "proven" and shorter):
        outcome, reason = "undecided", "cut-off"
    against = drift = None
    if reference.size and new.size:
        half = (
            half_of(reference, new, found.inflation) if min(reference.size, new.size) > 1 else 0.0
        )
        against = step_of(reference, new, half, _LEVEL)
    if reason == "drift":
        first, newest = found.values[:NEWEST], found.values[-NEWEST:]
        drift = step_of(first, newest, banerjee_half(first, newest), _LEVEL)
    return Gated(alarm, against, span, drift, outcome, reason)


# --- From which night on nights are new: what ``--since`` means in each series, and what is
# gone from the newest one.


YESTERDAY: Final = "yesterday"
_EARLIEST = datetime.min.replace(tzinfo=UTC)
_LEAST = 2  # nights with a value, of the 8 before the newest, that a benchmark must have to be gone


@dataclass(frozen=True, slots=True, kw_only=True)
class Since:
    """`text`: As asked. `moment`: What begins then or later is new; None where only `trials` tell it.

    `trials`: The new ones by name, of a series without times. `moves`: Whether the reference of an alarm is
    what it is without ``--since``, because "yesterday" is another day tomorrow.
    """

    text: str
    moment: datetime | None
    trials: frozenset[str]
    moves: bool

    def first_new(self, series: NightSeries) -> int:
        """Give the number of the first value that is new; that of all values where none is."""
        for k, night in enumerate(series.nights):
            began = moment_of(night.started_at)
            dated = self.moment is not None and began is not None
            if began >= self.moment if dated else night.trial in self.trials:  # type: ignore[operator]
                return k
        return len(series.nights)


def since_of(text: str, series: Iterable[NightSeries], now: datetime) -> Since:
    """Read ``--since``: a date or time (UTC without a zone), the name of a trial, or ``yesterday``.

    Raises
    ------
    UsageError
        If it is none of these.
    """
    known, moves = frozenset[str](), text == YESTERDAY
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    moment = midnight - timedelta(days=1) if moves else moment_of(text)
    if moment is not None:
        return Since(text=text, moment=moment, trials=known, moves=moves)
    name = text.rstrip("/").rpartition("/")[2]
    for one in series:
        for k, night in enumerate(one.nights):
            if night.trial in (name, text) or night.path == text:
                known = frozenset(later.trial for later in one.nights[k:])
                moment = moment_of(night.started_at)
                return Since(text=text, moment=moment, trials=known, moves=False)
    raise UsageError(
        "this is neither a date nor one of the trials",
        text,
        "write --since 2026-11-01, --since yesterday, or the name of a trial",
    )


def with_gone(
    history: History, nights: Nights, *, since: str | None, allowed: Sequence[str]
) -> History:
    """Name what is gone in `history`, if it has a gate; a fixed `since` behind the end of a series accepts that.

    `allowed` names benchmarks that may be gone; "" is all.
    """
    if history.gate is None or "" in allowed:
        return history
    new = None if since is None else since_of(since, nights.series, datetime.now(UTC))
    going_on = [one for one in nights.series if one.ended is None]
    gone: dict[str, None] = {}
    for one in going_on:
        together = [other for other in going_on if other.campaign == one.campaign]
        nights_of = (night for other in together for night in other.nights)
        begun = {night.trial: moment_of(night.started_at) or _EARLIEST for night in nights_of}
        order = sorted(begun, key=begun.__getitem__)
        mine = {night.trial for night in one.nights}
        before = mine.intersection(order[-1 - NEWEST : -1])
        accepted = new is not None and not new.moves and new.first_new(one) == len(one.nights)
        if order[-1] not in mine and len(before) >= _LEAST and not accepted:
            gone[one.benchmark] = None
    return replace(history, gone=tuple(name for name in gone if name not in allowed))


@dataclass(frozen=True, slots=True, kw_only=True)
class Judge:
    """What is asked of every series; `gates`: How many share the risk at the gate."""

    risk: float
    horizon: int
    condition: Condition | None
    since: Since | None
    gates: int
    records: HostRecords


_OF_NIGHTS = ("benchmark", "variant", "paired", "metric", "unit", "better", "campaign", "changed")
_OF_NIGHT = ("trial", "path", "started_at", "log", "sessions", "program_sha256", "commit")
_OF_CHANGES = ("autocorrelation", "inflation", "least_p", "p_star", "pvalue")


def judged_series(
    judge: Judge,
    series: NightSeries,
    found: Changes,
    *,
    adjusted: float | None,
    baseline: Sequence[ChangeInterval],
) -> SeriesHistory:
    """Judge a series with its changes; `baseline`: The intervals of its baseline's own series."""
    first_new = None if judge.since is None else judge.since.first_new(series)
    ends = itertools.pairwise((0, *found.places, len(series.nights)))
    segments = tuple(_segment(series, found, *one) for one in ends)
    at_gate: dict[str, Any] = {}
    if judge.condition is not None and series.ended is None:
        moves = judge.since is not None and judge.since.moves
        told = gated(
            found,
            judge.condition,
            since=None if moves else first_new,
            risk=judge.risk,
            horizon=judge.horizon,
            series=judge.gates,
            cut=[night.cut for night in series.nights],
        )
        if moves and first_new == len(series.nights) and told.outcome != "proven":
            told = told._replace(outcome="undecided", reason="no-night")  # who measures?
        begin, end = told.reference
        reference = _segment(series, found, begin, end) if begin < end else None
        at_gate = told._asdict() | {"reference": reference}
    return SeriesHistory(
        **{name: getattr(series, name) for name in _OF_NIGHTS},
        **{name: getattr(found, name) for name in _OF_CHANGES},
        baseline=series.baseline if series.paired else None,
        begins=series.nights[0].trial,
        ends=series.ended,
        values=tuple(_values(series)),
        level=found.risk,
        pvalue_adjusted=adjusted,
        intervals=tuple(
            _interval(judge, series, found, k, sides=sides, baseline=baseline, first_new=first_new)
            for k, sides in enumerate(itertools.pairwise(segments))
        ),
        segments=segments,
        **at_gate,
    )


def _speedup(series: NightSeries, log: float) -> float | None:
    return math.exp(-log) if series.paired else None


def _metric_value(series: NightSeries, log: float) -> float | None:
    """Give the metric itself: logs are turned so that larger is slower."""
    if series.paired:
        return None
    return math.exp(-log if series.better == "higher" else log)


def _values(series: NightSeries) -> Iterator[SeriesValue]:
    for night, missing in zip(series.nights, series.missing, strict=True):
        yield SeriesValue(
            **{name: getattr(night, name) for name in _OF_NIGHT},
            speedup=_speedup(series, night.log),
            metric_value=_metric_value(series, night.log),
            missing=missing,
        )


def _segment(series: NightSeries, found: Changes, first: int, end: int) -> Segment:
    mean = float(found.values[first:end].mean())
    return Segment(
        first=series.nights[first].trial,
        last=series.nights[end - 1].trial,
        first_value=first,
        last_value=end - 1,
        nights=end - first,
        speedup=_speedup(series, mean),
        metric_value=_metric_value(series, mean),
    )


def place_of(
    judge: Judge, series: NightSeries, found: Changes, k: int
) -> tuple[ChangeInterval, dict[str, Any]]:
    """Give an interval, and what is said of every one: its nights, its step, and what its host did."""
    one, nights = found.intervals[k], series.nights
    begin, end, place = one.first - 1, one.last, found.places[k]
    return one, {
        "first": nights[begin].trial,
        "last": nights[end].trial,
        "first_value": begin,
        "last_value": end,
        "pvalue": one.pvalue,
        "place": nights[place].trial,
        "place_value": place,
        "step": found.steps[k],
        "missing": sum(series.missing[one.first : end + 1]),
        "environment": judge.records.inside(series, begin, end),
    }


def _interval(
    judge: Judge,
    series: NightSeries,
    found: Changes,
    k: int,
    *,
    sides: tuple[Segment, Segment],
    baseline: Sequence[ChangeInterval],
    first_new: int | None,
) -> HistoryInterval:
    one, about = place_of(judge, series, found, k)
    theirs = any(overlaps(one, other) for other in baseline)
    good, bad = (series.nights[night].commit for night in (one.first - 1, one.last))
    known = good is not None and bad is not None and good != bad
    host = bool(about["environment"])
    return HistoryInterval(
        **about,
        speedup_before=sides[0].speedup,
        speedup_behind=sides[1].speedup,
        cause=("both" if host or theirs else "program") if series.paired else "host-or-program",
        baseline_changed=theirs,
        good=good if known else None,
        bad=bad if known else None,
        new=None if first_new is None else one.last >= first_new,
    )
