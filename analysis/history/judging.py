"""Judges many nights: changes of each series at the level that is left to it, their causes, and the gate."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final, NamedTuple

import numpy as np

from ..announcing import doing
from ..errors import InsufficientDataError, UsageError
from ..pages.result import Condition, parse_condition
from ..record.environment import Change, diff
from ..stats.arguments import counted
from ..stats.multiplicity import Correction, adjusted, check_correction
from .changes import (
    FEWEST,
    NEWEST,
    NIGHTS,
    RISKS,
    Changes,
    Direction,
    alarm_of,
    banerjee_half,
    begin_of_reference,
    changes_at,
    half_of,
    looked_at,
    step_of,
)
from .judged import (
    YESTERDAY,
    Cause,
    History,
    HistoryInterval,
    HostChange,
    HostInterval,
    Outcome,
    Segment,
    SeriesHistory,
    next_of,
)
from .night_values import Night, Nights, NightSeries, moment_of
from .sentences import cautions_of

# --- From which night on nights are new, by ``--since``; and what is gone from the newest one.


_LEAST = 2  # nights with a value, of the 8 before the newest, that a benchmark must have to be gone


class Since(NamedTuple):
    """What begins at `moment` or later is new, or, of a series without times, the `trials` of these names.

    `moves`: Whether the reference of an alarm is what it is without ``--since``, because "yesterday" is another day
    tomorrow.
    """

    moment: datetime | None
    trials: frozenset[str] = frozenset()
    moves: bool = False

    def first_new(self, series: NightSeries) -> int:
        """Give the number of the first value that is new; that of all values where none is."""
        for k, night in enumerate(series.values):
            began = moment_of(night.started_at)
            dated = self.moment is not None and began is not None
            if began >= self.moment if dated else night.trial in self.trials:  # type: ignore[operator]
                return k
        return len(series.values)


def since_of(text: str, series: Iterable[NightSeries], now: datetime) -> Since:
    """Read ``--since``: a date or time (UTC without a zone), the name of a trial, or ``yesterday``.

    Raises UsageError if it is none of these.
    """
    if text == YESTERDAY:
        midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
        return Since(midnight - timedelta(days=1), moves=True)
    if (moment := moment_of(text)) is not None:
        return Since(moment)
    name = text.rstrip("/").rpartition("/")[2]
    for one in series:
        for k, night in enumerate(one.values):
            if night.trial in (name, text) or night.path == text:
                known = frozenset(later.trial for later in one.values[k:])
                return Since(moment_of(night.started_at), known)
    raise UsageError(
        "this is neither a date nor one of the trials",
        text,
        "write --since 2026-11-01, --since yesterday, or the name of a trial",
    )


def _order(night: Night) -> tuple[int, str, str]:
    return night.number, night.started_at or "", night.trial


def _gone(series: Sequence[NightSeries], since: Since | None) -> tuple[dict[str, None], set[int]]:
    """Name the benchmarks that the newest night of their campaign lacks, and the series (by id) that are over.

    These have no value in that night and the 8 before, or a fixed `since` behind their end accepts that they lack.
    """
    going_on = [one for one in series if one.ends is None]
    gone: dict[str, None] = {}
    over: set[int] = set()
    for one in going_on:
        together = [other for other in going_on if other.campaign == one.campaign]
        begun = {night.trial: _order(night) for other in together for night in other.values}
        *before, newest = sorted(begun, key=begun.__getitem__)[-1 - NEWEST :]
        mine = {night.trial for night in one.values}
        held = len(mine.intersection(before))
        accepted = since is not None and not since.moves and since.first_new(one) == len(one.values)
        if newest not in mine and (accepted or not held):
            over.add(id(one))
        elif newest not in mine and held >= _LEAST:
            gone[one.benchmark] = None
    return gone, over


# --- What the host did meanwhile, by the records of neighbouring trials.


def host_changes(earlier: Night, later: Night) -> tuple[Change, ...]:
    """Compare the hosts of two nights of a series, and the baseline's own programs on them.

    Of a fleet each change names its host. Where one of both has no record nothing is said.
    """
    a, b = earlier.host_facts, later.host_facts
    if not a or not b or a == b:
        return ()
    if "hosts" not in a or "hosts" not in b:
        return diff(a, b)
    return tuple(
        replace(change, what=f"on {host}: {change.what}")
        for host, record in a["hosts"].items()
        if record and (other := b["hosts"].get(host))
        for change in diff(record, other)
    )


class HostRecords(dict[tuple[str, ...], tuple[str, ...]]):
    """How the records of the host differ between neighbouring trials, a sentence each; each pair is compared once."""

    def between(self, old: Night, new: Night) -> tuple[str, ...]:
        """Say how two nights differ; nothing where one of them has no record."""
        pair = (old.trial, old.path, new.trial, new.path)
        if pair not in self:
            self[pair] = tuple(one.what for one in host_changes(old, new))
        return self[pair]

    def along(self, series: Sequence[NightSeries]) -> Iterator[HostChange]:
        """Give all changes of the host, in the order of time."""
        found: dict[str, tuple[str | None, dict[str, None]]] = {}
        for one in series:
            for old, new in itertools.pairwise(one.values):
                if what := self.between(old, new):
                    found.setdefault(new.trial, (new.started_at, {}))[1].update(dict.fromkeys(what))
        for trial in sorted(found, key=lambda trial: (found[trial][0] or "", trial)):
            start, texts = found[trial]
            yield HostChange(trial=trial, started_at=start, what=tuple(texts))


# --- A series judged, with its changes, their causes, and the gate.


_LEVEL = 0.95  # of what the newest nights are against those before
_OUTCOMES: dict[str, dict[str, Outcome]] = {
    "slower": {"proven": "proven", "ruled-out": "passed", "undecided": "undecided"},
    "faster": {"proven": "passed", "ruled-out": "proven", "undecided": "undecided"},
}
_OF_CHANGES = ("autocorrelation", "inflation", "least_p", "p_star", "pvalue")


@dataclass(frozen=True, slots=True, kw_only=True)
class Judge:
    """What is asked of every series; `gates`: How many share the risk at the gate; `over`: The ids of those not at it."""

    risk: float
    horizon: int
    condition: Condition | None
    since: Since | None
    gates: int
    over: Container[int]
    records: HostRecords

    def series(
        self, series: NightSeries, found: Changes, adjusted: float | None, baseline: Changes | None
    ) -> SeriesHistory:
        """Judge a series with its changes; `baseline`: Those of its baseline's own series."""
        nights, missing = series.values, series.missing
        first_new = None if self.since is None else self.since.first_new(series)
        ends = itertools.pairwise((0, *found.places, len(nights)))
        segments = tuple(_segment(series, found, *one) for one in ends)
        theirs = () if baseline is None else baseline.intervals

        def interval(k: int) -> HistoryInterval:
            one, about = found.intervals[k], self.place(series, found, k)
            changed = any(one.first <= x.last and x.first <= one.last for x in theirs)
            good, bad = (nights[night].commit for night in (one.first - 1, one.last))
            known = good is not None and bad is not None and good != bad
            both: Cause = "both" if about["environment"] or changed else "program"
            return HistoryInterval(
                **about,
                speedup_before=segments[k].speedup,
                speedup_behind=segments[k + 1].speedup,
                cause=both if series.paired else "host-or-program",
                baseline_changed=changed,
                good=good if known else None,
                bad=bad if known else None,
                new=None if first_new is None else one.last >= first_new,
            )

        own: dict[str, Any] = {one.name: getattr(series, one.name) for one in fields(NightSeries)}
        own |= {name: getattr(found, name) for name in _OF_CHANGES}
        own["baseline"] = series.baseline if series.paired else None
        own["begins"] = nights[0].trial
        own["values"] = tuple(
            replace(night, **_level(series, night.log), missing=gap)
            for night, gap in zip(nights, missing, strict=True)
        )
        return SeriesHistory(
            **own,
            level=found.risk,
            pvalue_adjusted=adjusted,
            intervals=tuple(map(interval, range(len(found.intervals)))),
            segments=segments,
            **self._at_gate(series, found, first_new),
        )

    def _at_gate(
        self, series: NightSeries, found: Changes, first_new: int | None
    ) -> dict[str, Any]:
        """Hold the newest nights of a series against those before; of a `since`, those since a change eight before it.

        ``slower>2%`` is proven by an alarm, and passes where the mean of the newest nights lies within the limit.
        ``faster<5%`` is passed by an alarm of being faster by more, and proven where the mean shows that it is not.
        What a longer time of runs that were cut, of the candidate's or the baseline's, would overturn is undecided.
        """
        if self.condition is None or series.ends is not None or id(series) in self.over:
            return {}
        moves = self.since is not None and self.since.moves
        since, values = None if moves else first_new, found.values
        count = values.size if since is None else since
        begin = begin_of_reference([one.last for one in found.intervals], count)
        way: Direction = "faster" if self.condition.kind == "faster" else "slower"
        alarm = alarm_of(
            found,
            1.0 / self.condition.limit,
            begins=begin,
            since=since,
            risk=self.risk,
            horizon=self.horizon,
            series=self.gates,
            direction=way,
        )
        outcome = _OUTCOMES[way][alarm.word]
        end = max(begin, values.size - NEWEST) if since is None else since
        reference, new = values[begin:end], values[end:][-(alarm.nights or NEWEST) :]
        reason: str | None = None
        if outcome == "undecided":
            few = "few-new" if new.size < NIGHTS[0] else alarm.reason or "between"
            reason = "few-nights" if reference.size < FEWEST else few
        # runs that a time limit ended, each of (candidate, baseline), in the nights of reference and in the new ones
        then, now = (
            [one.cut for one in part] for part in (series.values[begin:end], series.values[end:])
        )
        longer = any(one for one, _ in now) or any(base for _, base in then)
        shorter = any(base for _, base in now) or any(one for one, _ in then)
        if (outcome == "passed" and longer) or (outcome == "proven" and shorter):
            outcome, reason = "undecided", "cut-off"
        against = drift = None
        if reference.size and new.size:
            both = min(reference.size, new.size) > 1
            half = half_of(reference, new, found.inflation) if both else 0.0
            against = step_of(reference, new, half, _LEVEL)
        if reason == "drift":
            first, newest = values[:NEWEST], values[-NEWEST:]
            drift = step_of(first, newest, banerjee_half(first, newest), _LEVEL)
        if moves and first_new == values.size and outcome != "proven":
            outcome, reason = "undecided", "no-night"  # who measures?
        return {
            "alarm": alarm,
            "against": against,
            "reference": _segment(series, found, begin, end) if begin < end else None,
            "drift": drift,
            "outcome": outcome,
            "reason": reason,
        }

    def place(self, series: NightSeries, found: Changes, k: int) -> dict[str, Any]:
        """Give what is said of every interval: its nights, its step, and what its host did."""
        one, nights, place = found.intervals[k], series.values, found.places[k]
        begin, end = one.first - 1, one.last
        inside = itertools.pairwise(nights[begin : end + 1])
        environment = (what for pair in inside for what in self.records.between(*pair))
        return {
            "first": nights[begin].trial,
            "last": nights[end].trial,
            "first_value": begin,
            "last_value": end,
            "pvalue": one.pvalue,
            "place": nights[place].trial,
            "place_value": place,
            "step": found.steps[k],
            "missing": sum(series.missing[one.first : end + 1]),
            "environment": tuple(dict.fromkeys(environment)),
        }


def _level(series: NightSeries, log: float) -> dict[str, Any]:
    """Give the speedup of a paired value, else the metric itself: logs are turned so that larger is slower."""
    if series.paired:
        return {"speedup": math.exp(-log), "metric_value": None}
    value = math.exp(-log if series.better == "higher" else log)
    return {"speedup": None, "metric_value": value}


def _segment(series: NightSeries, found: Changes, first: int, end: int) -> Segment:
    return Segment(
        first=series.values[first].trial,
        last=series.values[end - 1].trial,
        first_value=first,
        last_value=end - 1,
        nights=end - first,
        **_level(series, float(found.values[first:end].mean())),
    )


# --- At which level each of several series is searched for intervals.
#
# An interval is false where it holds no change. A series with a change somewhere still has nights without one,
# and so it may have a false interval too: stepping down as Holm does, from one series to the next at a larger
# level, would let all of them together err more often than the risk says. So with "holm" every series is searched
# at risk / series, which holds for any dependence between series; its adjusted p-value, which says whether the
# series changed at all, is Holm's ([1]_). With "bh" the series that step up are searched at the level that the
# last of them came to, risk times their number / series ([2]_, [3]_): of the series that are named, the expected
# share with a false interval is at most the risk, where series are independent.
#
# References
# ----------
# .. [1] S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of
#    Statistics 6, 1979.
# .. [2] Y. Benjamini, Y. Hochberg, "Controlling the false discovery rate", Journal of the Royal
#    Statistical Society B 57, 1995.
# .. [3] Y. Benjamini, D. Yekutieli, "False discovery rate-adjusted multiple confidence intervals for
#    selected parameters", Journal of the American Statistical Association 100, 2005.


MANY: Final = 20  # benchmarks from which on the share of false ones is bounded


def levels_of(
    pvalues: Sequence[float | None], risk: float, correction: Correction
) -> tuple[float, tuple[float | None, ...]]:
    """Give the level at which all series are searched, and their adjusted p-values.

    `pvalues`: Of each series, None where it has too few nights, and is no member of the family.
    """
    given = np.array([np.nan if p is None else p for p in pvalues], dtype=np.float64)
    members = int(np.count_nonzero(~np.isnan(given)))
    raised = adjusted(given, correction)
    if members == 0 or correction == "none":
        level = risk
    elif correction == "holm":
        level = risk / members
    else:
        # what rounds up to the risk is named, as `adjusted` has it
        level = risk * max(int(np.count_nonzero(raised <= risk)), 1) / members
    found = tuple(None if np.isnan(p) else float(p) for p in raised)
    return level, found


def judge_nights(
    nights: Nights,
    *,
    risk: float = 0.05,
    correction: Correction | None = None,
    since: str | None = None,
    gate: str | None = None,
    horizon: int = 100,
    independent: bool = False,
    now: datetime | None = None,
    asked: Sequence[str] = (),
    allow_missing: Sequence[str] = (),
) -> History:
    """Judge what was read of many nights.

    `risk`: That any interval holds no change (the share of named series that have one, with "bh"), and of a false alarm
    in `horizon` nights; from 0.001 to 0.2. `correction`: How the number of series is allowed for; by default "holm" below
    20 benchmarks, else "bh". `since`: A date, a time, the name of a trial, or "yesterday": nights from then on are new;
    `now`: what time it is, for "yesterday". `gate`: A condition such as ``slower>2%``, of the newest nights against those
    before. `independent`: Do not allow for neighbours that resemble each other. `asked`: The words behind ``fairtrial
    history``, for the commands that may follow. `allow_missing`: Benchmarks without a value in the newest night that a
    gate may pass; "" is all.

    Raises
    ------
    InsufficientDataError
        If there is no series.
    UsageError
        If an argument is outside of its range, or `since` names nothing.
    """
    if not nights.series:
        raise InsufficientDataError(
            "no trial has a value",
            nights.place,
            "name trials, or the folder that holds them",
            n=0,
            needed=1,
        )
    if not RISKS[0] <= risk <= RISKS[1]:
        raise UsageError(
            f"risk must lie between {RISKS[0]} and {RISKS[1]}, not {risk!r}", fix="0.05 is usual"
        )
    horizon = counted("horizon", horizon, most=1_000_000)
    condition = None if gate is None else parse_condition(gate)
    new = None if since is None else since_of(since, nights.series, now or datetime.now(UTC))
    if correction is None:
        many = len({one.benchmark for one in nights.series}) >= MANY
        correction = "bh" if many else "holm"
    check_correction(correction)
    look = functools.partial(_changes_of, risk=risk, correction=correction, independent=independent)
    found, level, raised = look([one.logs for one in nights.series])
    # the baselines' own changes are a family of their own
    firsts = {_key(one): one for one in reversed(nights.series) if one.paired and one.baseline_logs}
    theirs, _, _ = look([one.baseline_logs or () for one in firsts.values()])
    own = dict(zip(firsts, theirs, strict=True))
    gone, over = _gone(nights.series, new)
    newest = sum(one.ends is None and id(one) not in over for one in nights.series)
    judge = Judge(
        risk=risk,
        horizon=horizon,
        condition=condition,
        since=new,
        gates=1 if correction == "none" else max(newest, 1),
        over=over,
        records=HostRecords(),
    )
    judged = tuple(
        judge.series(one, changed, p, own.get(_key(one)))
        for one, changed, p in zip(nights.series, found, raised, strict=True)
    )
    every = {(night.trial, night.path): night for one in nights.series for night in one.values}
    ordered = sorted(every.values(), key=_order)
    named = condition is not None and "" not in allow_missing
    about = ("campaign", "metric", "unit", "better", "baseline")
    history = History(
        place=nights.place,
        host=nights.hosts,
        **{name: getattr(judged[-1], name) for name in about},
        first_at=ordered[0].started_at,
        last_at=ordered[-1].started_at,
        nights=len(every),
        missing=max(sum(one.missing) for one in nights.series),
        risk=float(risk),
        correction=correction,
        independent=independent,
        gate=None if condition is None else condition.text,
        since=since,
        horizon=horizon,
        series=judged,
        host_intervals=tuple(_host_intervals(judge, firsts, own, judged)),
        host_changes=tuple(judge.records.along(nights.series)),
        left_out=nights.left_out,
        gone=tuple(name for name in gone if named and name not in allow_missing),
        cut=nights.cut,
    )
    # without an interval because neighbouring nights resemble each other
    held_back = [
        one
        for one, changed in zip(judged, found, strict=True)
        if changed.inflation > 1.0
        and not changed.intervals
        and changes_at(looked_at(changed.values, corrected=False), level).intervals
    ]
    none_new = new and all(new.first_new(one) == len(one.values) for one in nights.series)
    unmet = since if none_new and condition is None else None
    cautions = cautions_of(nights, history, found, level, held_back=held_back, no_night_since=unmet)
    history = replace(history, cautions=cautions)
    return replace(history, following=next_of(history, asked, held_back=bool(held_back)))


def _changes_of(
    logs: Sequence[Sequence[float]], risk: float, correction: Correction, *, independent: bool
) -> tuple[list[Changes], float, tuple[float | None, ...]]:
    """Look for the changes of a family of series: these, at which level, and the adjusted p-values."""
    seen = []
    for k, one in enumerate(logs):
        doing("comparing nights", k, len(logs), "series")
        seen.append(looked_at(np.asarray(one, dtype=np.float64), corrected=not independent))
    level, raised = levels_of([one.pvalue for one in seen], risk, correction)
    return [changes_at(one, level) for one in seen], level, raised


def _key(series: NightSeries) -> tuple[str, ...]:
    """Name a baseline's own series: its benchmark and nights."""
    return series.benchmark, *(night.trial for night in series.values)


def _host_intervals(
    judge: Judge,
    firsts: Mapping[tuple[str, ...], NightSeries],
    own: Mapping[tuple[str, ...], Changes],
    judged: Sequence[SeriesHistory],
) -> Iterator[HostInterval]:
    for key, series in firsts.items():
        paired = [each for one in judged if _key(one) == key for each in one.intervals]
        for k, one in enumerate(own[key].intervals):
            both = any(one.first <= x.last_value and x.first_value < one.last for x in paired)
            yield HostInterval(
                benchmark=series.benchmark,
                baseline=series.baseline or "",
                cause="both" if both else "host",
                **judge.place(series, own[key], k),
            )
