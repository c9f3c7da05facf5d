"""Judges many nights: changes of each series at the level that is left to it, their causes, and the gate."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Final

import numpy as np

from ..announcing import doing
from ..errors import InsufficientDataError, UsageError
from ..pages.model import merged
from ..pages.result import parse_condition
from ..stats.arguments import counted
from ..stats.multiplicity import Correction, adjusted, check_correction
from .changes import RISKS, Changes, LookedAt, changes_at, looked_at
from .judged import History, HistoryInterval, HostInterval, HostRecords, SeriesHistory, next_of
from .night_values import Night, Nights, NightSeries, moment_of
from .one_series import Judge, Since, judged_series, place_of, since_of
from .sentences import cautions_of

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


def usual_correction(benchmarks: int) -> Correction:
    """Give "holm" for fewer than 20 benchmarks, else "bh"."""
    return "bh" if benchmarks >= MANY else "holm"


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
    told = tuple(None if np.isnan(p) else float(p) for p in raised)
    return level, told


_Key = tuple[str, tuple[str, ...]]  # a baseline's own series: its benchmark and nights


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
) -> History:
    """Judge what was read of many nights.

    Parameters
    ----------
    nights : Nights
        At least one series.
    risk : float
        That any interval holds no change (the share of named series that have one, with "bh"), and of a
        false alarm in `horizon` nights; from 0.001 to 0.2.
    correction : {"holm", "bh", "none"}, optional
        How the number of series is allowed for; by default "holm" below 20 benchmarks, else "bh".
    since : str, optional
        A date, a time, the name of a trial, or "yesterday": nights from then on are new.
    gate : str, optional
        A condition such as ``slower>2%``, of the newest nights against those before.
    horizon : int
        Nights in which a false alarm may come with the risk.
    independent : bool
        Do not allow for neighbours that resemble each other.
    now : datetime, optional
        What time it is, for "yesterday".
    asked : sequence of str
        The words behind ``fairtrial history``, for the commands that may follow.

    Returns
    -------
    History

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
        correction = usual_correction(len({one.benchmark for one in nights.series}))
    check_correction(correction)
    seen = _looked_at_all([one.logs for one in nights.series], corrected=not independent)
    level, raised = levels_of([one.pvalue for one in seen], risk, correction)
    own = _own_series(nights.series, risk, correction, corrected=not independent)
    newest = sum(one.ended is None for one in nights.series)
    judge = Judge(
        risk=risk,
        horizon=horizon,
        condition=condition,
        since=new,
        gates=1 if correction == "none" else max(newest, 1),
        records=HostRecords(),
    )
    found = [changes_at(one, level) for one in seen]
    judged = tuple(
        judged_series(
            judge,
            one,
            changed,
            adjusted=p,
            baseline=own[_key(one)][1].intervals if _key(one) in own else (),
        )
        for one, changed, p in zip(nights.series, found, raised, strict=True)
    )
    held_back = tuple(_held_back(judged, found, level))
    last = nights.series[-1]
    every = _all_nights(nights.series)
    history = History(
        place=nights.place,
        host=nights.hosts,
        campaign=last.campaign,
        metric=last.metric,
        unit=last.unit,
        better=last.better,
        baseline=last.baseline if last.paired else None,
        first_at=every[0].started_at,
        last_at=every[-1].started_at,
        nights=len(every),
        missing=max(sum(one.missing) for one in nights.series),
        risk=float(risk),
        correction=correction,
        independent=independent,
        gate=None if condition is None else condition.text,
        since=since,
        horizon=horizon,
        series=judged,
        host_intervals=tuple(_host_intervals(judge, own, judged, nights.series)),
        host_changes=judge.records.along(nights.series),
        left_out=nights.left_out,
        cut=nights.cut,
        cautions=merged(
            cautions_of(
                nights,
                judged,
                found,
                level,
                correction,
                held_back=held_back,
                no_night_since=since
                if condition is None and _none_new(new, nights.series)
                else None,
            )
        ),
    )
    return next_of(history, asked, held_back=bool(held_back))


def _looked_at_all(logs: Sequence[Sequence[float]], *, corrected: bool) -> list[LookedAt]:
    found = []
    for k, one in enumerate(logs):
        doing("comparing nights", k, len(logs), "series")
        found.append(looked_at(np.asarray(one, dtype=np.float64), corrected=corrected))
    return found


def _held_back(
    judged: Sequence[SeriesHistory], found: Sequence[Changes], level: float
) -> Iterator[SeriesHistory]:
    """Give the series that have no interval because neighbouring nights resemble each other."""
    for one, changed in zip(judged, found, strict=True):
        if changed.inflation <= 1.0 or changed.intervals:
            continue
        if changes_at(looked_at(changed.values, corrected=False), level).intervals:
            yield one


def _none_new(since: Since | None, series: Sequence[NightSeries]) -> bool:
    return since is not None and all(since.first_new(one) == len(one.nights) for one in series)


def _key(series: NightSeries) -> _Key:
    return series.benchmark, tuple(night.trial for night in series.nights)


def _own_series(
    series: Sequence[NightSeries], risk: float, correction: Correction, *, corrected: bool
) -> dict[_Key, tuple[NightSeries, Changes]]:
    """Look for changes of the baselines themselves; they are a family of their own."""
    firsts = {_key(one): one for one in reversed(series) if one.paired and one.baseline_logs}
    seen = _looked_at_all([one.baseline_logs or () for one in firsts.values()], corrected=corrected)
    level, _ = levels_of([one.pvalue for one in seen], risk, correction)
    return {
        key: (one, changes_at(looked, level))
        for (key, one), looked in zip(firsts.items(), seen, strict=True)
    }


def _all_nights(series: Sequence[NightSeries]) -> list[Night]:
    """Give each trial's night once, in the order of time."""
    found = {(night.trial, night.path): night for one in series for night in one.nights}
    begin = datetime.min.replace(tzinfo=UTC)
    return sorted(
        found.values(), key=lambda night: (moment_of(night.started_at) or begin, night.trial)
    )


def _host_intervals(
    judge: Judge,
    own: Mapping[_Key, tuple[NightSeries, Changes]],
    judged: Sequence[SeriesHistory],
    given: Sequence[NightSeries],
) -> Iterator[HostInterval]:
    paired: dict[_Key, list[HistoryInterval]] = {}
    for series, judged_one in zip(given, judged, strict=True):
        paired.setdefault(_key(series), []).extend(judged_one.intervals)
    for key, (series, found) in own.items():
        for k in range(len(found.intervals)):
            one, about = place_of(judge, series, found, k)
            both = any(one.first <= x.last_value and x.first_value < one.last for x in paired[key])
            yield HostInterval(
                benchmark=series.benchmark,
                baseline=series.baseline or "",
                cause="both" if both else "host",
                **about,
            )
