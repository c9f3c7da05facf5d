"""Judges one series of nights: its values, its segments, its intervals with their causes, and the gate."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass

from ...pages.condition import Condition
from ..changes import ChangeInterval, Changes
from ..nights.model import NightSeries
from .causes import HostRecords, cause_of, overlaps
from .gate import Gated, gated
from .result import HistoryInterval, Segment, SeriesHistory, SeriesValue
from .since import Since


@dataclass(frozen=True, slots=True, kw_only=True)
class Judge:
    """What is asked of every series; `gates`: How many share the risk at the gate."""

    risk: float
    horizon: int
    condition: Condition | None
    since: Since | None
    gates: int
    records: HostRecords


@dataclass(frozen=True, slots=True, kw_only=True)
class Searched:
    """A series with its changes at `level`; `baseline`: The intervals of its baseline's own series."""

    series: NightSeries
    found: Changes
    level: float
    adjusted: float | None
    baseline: tuple[ChangeInterval, ...]


def judged_series(judge: Judge, one: Searched) -> SeriesHistory:
    """Judge a series."""
    series, found = one.series, one.found
    first_new = None if judge.since is None else judge.since.first_new(series)
    segments = tuple(_segments(series, found))
    at_gate: Gated | None = None
    if judge.condition is not None and series.ended is None:
        moves = judge.since is not None and judge.since.moves
        at_gate = gated(
            found,
            judge.condition,
            since=None if moves else first_new,
            risk=judge.risk,
            horizon=judge.horizon,
            series=judge.gates,
            cut=[night.cut for night in series.nights],
        )
        if moves and first_new == len(series.nights) and at_gate.outcome != "proven":
            at_gate = at_gate._replace(outcome="undecided", reason="no-night")  # who measures?
    intervals = tuple(
        _interval(judge, one, k, (segments[k], segments[k + 1]), first_new)
        for k in range(len(found.intervals))
    )
    return SeriesHistory(
        benchmark=series.benchmark,
        variant=series.variant,
        paired=series.paired,
        metric=series.metric,
        unit=series.unit,
        better=series.better,
        campaign=series.campaign,
        baseline=series.baseline if series.paired else None,
        begins=series.nights[0].trial,
        ends=series.ended,
        changed=series.changed,
        values=tuple(_values(series)),
        autocorrelation=found.autocorrelation,
        inflation=found.inflation,
        level=one.level,
        least_p=found.least_p,
        p_star=found.p_star,
        pvalue=found.pvalue,
        pvalue_adjusted=one.adjusted,
        intervals=intervals,
        segments=segments,
        alarm=None if at_gate is None else at_gate.alarm,
        against=None if at_gate is None else at_gate.against,
        reference=None if at_gate is None else _segment(series, found, *at_gate.reference),
        drift=None if at_gate is None else at_gate.drift,
        outcome=None if at_gate is None else at_gate.outcome,
        reason=None if at_gate is None else at_gate.reason,
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
            trial=night.trial,
            path=night.path,
            started_at=night.started_at,
            log=night.log,
            speedup=_speedup(series, night.log),
            metric_value=_metric_value(series, night.log),
            sessions=night.sessions,
            program_sha256=night.program_sha256,
            commit=night.commit,
            missing=missing,
        )


def _segments(series: NightSeries, found: Changes) -> Iterator[Segment]:
    for ends in itertools.pairwise((0, *found.places, len(series.nights))):
        if (one := _segment(series, found, *ends)) is not None:
            yield one


def _segment(series: NightSeries, found: Changes, first: int, end: int) -> Segment | None:
    if first >= end:
        return None
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


def _interval(
    judge: Judge,
    searched: Searched,
    k: int,
    sides: tuple[Segment, Segment],
    first_new: int | None,
) -> HistoryInterval:
    series, found = searched.series, searched.found
    one, nights = found.intervals[k], series.nights
    begin, end = one.first - 1, one.last
    environment = judge.records.inside(series, begin, end)
    theirs = any(overlaps(one, other) for other in searched.baseline)
    good, bad = nights[begin].commit, nights[end].commit
    known = good is not None and bad is not None and good != bad
    return HistoryInterval(
        first=nights[begin].trial,
        last=nights[end].trial,
        first_value=begin,
        last_value=end,
        pvalue=one.pvalue,
        place=nights[found.places[k]].trial,
        place_value=found.places[k],
        speedup_before=sides[0].speedup,
        speedup_behind=sides[1].speedup,
        step=found.steps[k],
        missing=sum(series.missing[one.first : end + 1]),
        cause=cause_of(paired=series.paired, environment=environment, baseline_changed=theirs),
        environment=environment,
        baseline_changed=theirs,
        good=good if known else None,
        bad=bad if known else None,
        new=None if first_new is None else end >= first_new,
    )
