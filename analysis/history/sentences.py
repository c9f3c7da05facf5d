"""The page of many nights: the answer, a line for each benchmark, each change with what caused it, and the cautions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from ..pages.model import (
    Block,
    Caution,
    Page,
    Table,
    Value,
    cautions_of as rows_of,
    columns_of,
    first_notes,
    merged,
    section,
    table_of,
    value_of,
)
from ..pages.number_format import Difference, bare_pvalue, counted, listed, quantity, timed
from ..words import Name, shorten
from .changes import FEWEST, Changes, least_share
from .judged import (
    NO_NIGHT,
    History,
    HistoryInterval,
    HostInterval,
    Outcome,
    Segment,
    SeriesHistory,
    alarm_alone,
    label_of,
    short_commit,
)
from .night_values import Night, Nights

# --- What a reader should know before trusting what many nights say.


_HASHES = re.compile(r"\b(?:[0-9a-f]{64}|[0-9a-f]{40})\b")
_ALIKE = "neighbours-alike"


def cautions_of(
    nights: Nights,
    history: History,
    found: Sequence[Changes],
    level: float,
    *,
    held_back: Sequence[SeriesHistory],
    no_night_since: str | None,
) -> tuple[Caution, ...]:
    """Give them, what weighs most first.

    `found`: The changes of each series, at `level`. `no_night_since`: ``--since``, where no night is new.
    """
    judged, correction = history.series, history.correction

    def of(some: Sequence[SeriesHistory], text: str) -> object:
        names = history.names(some, 3)
        return some and (f"{names}: {text}", *dict.fromkeys(one.benchmark for one in some))

    def open_for(reason: str, text: str) -> object:
        return of([one for one in judged if one.reason == reason], text)

    plain = [one for one in judged if not one.paired]
    apart = (
        "host and program cannot be separated: the values are not paired with a baseline of the same "
        "night, so a host that drifts is a change"
    )
    alike = [
        (one, caution.text)
        for one, changed in zip(judged, found, strict=True)
        for caution in changed.cautions
        if caution.code == _ALIKE and one not in held_back
    ]
    many = "neighbouring nights resemble each other, and an interval may hold no change more often than the risk says"
    none_yet = f"fewer than {FEWEST} nights of reference, no alarm is possible yet"
    nobody = "no night began since yesterday, so nothing is decided; is the nightly job at work?"
    unmet = no_night_since and f"no night began since {no_night_since}"
    few = [one for one in judged if not one.enough]
    named, least = sum(bool(one.intervals) for one in judged), least_share()
    before = {
        "no-baseline": of(plain, apart) if len(plain) < len(judged) else apart,
        "held-back": of(
            held_back,
            "neighbouring nights resemble each other, and p-values are corrected for it; where nights are independent "
            f"{'it has' if len(held_back) == 1 else 'they have'} an interval (--independent)",
        ),
        _ALIKE: of([one for one, _ in alike], alike[0][1] if len(alike) == 1 else many),
        "few-of-reference": open_for("few-nights", none_yet),
        NO_NIGHT: f"{unmet}, so no change can be in the new ones"
        if unmet
        else open_for("no-night", nobody),
        "few-new-nights": open_for("few-new", "fewer than 2 nights are new, which decide nothing"),
        "too-few-nights": len(few) < len(judged)
        and of(few, f"fewer than {FEWEST} nights, so no change is looked for"),
        "share-of-false": correction == "bh"
        and named > 0
        and f"some of the {named} series that are named may be false: "
        "their share is bounded on average, where benchmarks are independent (--correction holm)",
        "uncorrected": correction == "none"
        and len(judged) > 1
        and f"each of {len(judged)} series has the risk for itself: a false interval somewhere is likelier",
        "too-many-series": level < least
        and f"{len(judged)} series leave each a level below {least:g}, where no law is known: no interval "
        "can be given (--correction bh, or --benchmark)",
    }
    pairs = [(one, after) for one, after in pairwise(judged) if one.ends is not None]
    ended = pairs and of([one for one, _ in pairs], _ended(pairs))
    return merged(rows_of(before), nights.cautions, rows_of({"series-ended": ended}))


def _ended(pairs: Sequence[tuple[SeriesHistory, SeriesHistory]]) -> str:
    ended, after = max(pairs, key=lambda pair: pair[1].values[0].started_at or "")
    begun = after.values[0].started_at
    often = "" if len({one.begins for _, one in pairs}) == 1 else ", the last"
    when = f"{often} on {begun[:10]}" if begun else ""
    where = _HASHES.sub(lambda one: one.group()[:7], ended.changed or "")
    where = f" ({where})" if where else ""
    before = sum(len(one.intervals) for one, _ in pairs)
    text = f"; before it {counted(before, 'change')} (--json has all)" if before else ""
    return f"a new series began{when}{where}{text}"


# --- The page: the answer, a line for each benchmark, and each change with what caused it.


LABELS: dict[Outcome, str] = {"passed": "PASS", "proven": "STOP", "undecided": "OPEN"}
_LINES = 8  # benchmarks on the screen
_CHANGES = 4  # changes on the screen
_HOSTS = 2  # and of the baseline itself
_RULES = {
    "one": "{risk} risk that any does not",
    "holm": "{risk} risk that any does not (Holm)",
    "bh": "{risk} of the benchmarks named may have one that does not, on average (Benjamini-Hochberg)",
    "none": "{risk} risk in each benchmark (uncorrected)",
}


def screen(history: History) -> Page:
    """Set the answer of a gate, the newest point of each benchmark, changes, and what comes next."""
    label = "" if history.outcome is None else f"{LABELS[history.outcome]}  "
    # those that changed, or stop the gate, have a line before others
    weight = {"proven": 0, "undecided": 2, "passed": 3, None: 3}
    ordered = sorted(history.newest, key=lambda one: (weight[one.outcome], not one.intervals))
    kept = {id(one) for one in ordered[:_LINES]}
    lines, hidden = [one for one in history.newest if id(one) in kept], []
    if rest := ordered[_LINES:]:
        changed = sum(bool(one.intervals) for one in rest) or "none"
        hidden = [f"and {len(rest)} more, {changed} of them changed (--json has all)"]
    changes = history.changes
    hosts = sorted(history.host_intervals, key=lambda one: one.cause != "host")
    sections = (
        section(f"{label}{history.sentence}"),
        section(*heading_of(history)),
        section(benchmarks_table(history, lines), *hidden, *_values(history, lines)),
        section(
            *([changes_table(history, changes[:_CHANGES])] if changes else ()),
            *_more(len(changes) - _CHANGES, "change"),
        ),
        section(
            *(host_sentence(history, one) for one in hosts[:_HOSTS]),
            *_more(len(hosts) - _HOSTS, "change", " of baselines"),
        ),
    )
    paired = any(one.paired for one in history.series)  # else the heading says it
    cautions = (one for one in history.cautions if paired or one.code != "no-baseline")
    below: tuple[Block, ...] = (*first_notes(cautions), *history.following)
    return Page(
        title="History",
        sections=tuple(one for one in sections if one.blocks),
        following=(section(*below),) if below else (),
    )


def _more(count: int, noun: str, of: str = "") -> Iterator[str]:
    if count > 0:
        yield f"and {counted(count, noun)} more{of} (--json has all)"


def heading_of(history: History) -> Iterator[str]:
    """Say what was read: nights, hosts, metric, baseline; and what an interval promises."""
    when = ""
    if (first := history.first_at) is not None and (last := history.last_at) is not None:
        one_day, one_minute = (first[:end] == last[:end] for end in (10, 16))
        times = "" if one_minute else f", {first[11:16]} .. {last[11:16]}"
        when = f" {first[:10]}{times}" if one_day else f" {first[:10]} .. {last[:10]}"
    missing = f", {history.missing} missing" if history.missing else ""
    # the campaign, or each tool whose files are series that go on; else the place
    campaigns = listed([*dict.fromkeys(x.campaign for x in history.newest if x.campaign)], 2)
    metrics, bases = {x.metric for x in history.newest}, {x.baseline for x in history.newest}
    base = "" if history.baseline is None else f"baseline {history.baseline:.28}"
    parts = [
        f"{Name(campaigns or history.campaign or history.place):.40}",
        f"{counted(history.nights, 'night')}{when}{missing}",
        listed([f"{Name(name):.24}" for name in history.host], 2),
        counted(len(metrics), "metric") if len(metrics) > 1 else f"{history.metric:.28}",
        counted(len(bases - {None}), "baseline") if len(bases) > 1 else base,
    ]
    yield " · ".join(part for part in parts if part)
    if not any(one.paired for one in history.series):
        yield "host and program cannot be separated: no value is paired with a baseline"
    if any(one.enough for one in history.newest):
        rule = _RULES[history.correction if len(history.series) > 1 else "one"]
        some = any(one.intervals for one in history.newest)
        sizes = "; sizes allow for the place being chosen" * some
        risk = f"{100 * history.risk:g} %"
        yield f"each interval below holds a change: {rule.format(risk=risk)}{sizes}"
    if (alone := alarm_alone(history)) is not None:
        yield alone


def benchmarks_table(
    history: History, lines: Sequence[SeriesHistory], *, whole: bool = False
) -> Table:
    """Give a row for each series: its level now, since when, how often it changed; `whole`: what the gate says too."""
    bases = {one.baseline for one in history.newest if one.paired}
    base = f"{next(iter(bases)) or 'baseline':.16}" if len(bases) == 1 else ""
    return table_of(
        "benchmarks",
        zip(history.labels(lines), lines, strict=True),
        ("<", lambda row: row[0]),
        ("nights", lambda row: len(row[1].values)),
        (f"now against {base}" if base else "now", lambda row: _level(row[1], row[1].segments[-1])),
        ("<since", lambda row: label_of(row[1].values)(row[1].segments[-1].first_value)),
        ("<changes", lambda row: _counts(row[1])),
        ("<gate", lambda row: row[1].outcome or "") if whole and history.gate else None,
    )


def _values(history: History, lines: Sequence[SeriesHistory]) -> Iterator[Table]:
    """Show the values of each night, where no series has enough of them."""
    if any(one.enough for one in history.newest):
        return
    columns = lines[:5]
    rows: dict[str, list[Value]] = {}
    for k, one in enumerate(columns):
        label = label_of(one.values)
        for number, value in enumerate(one.values):
            row = rows.setdefault(label(number), [Value("-", None)] * len(columns))
            row[k] = _level(one, value)
    yield Table(
        name="nights",
        columns=columns_of("<", *history.labels(columns)),
        rows=tuple((night, *cells) for night, cells in rows.items()),
    )


def _level(one: SeriesHistory, at: Night | Segment) -> Value:
    """Give what a candidate has more or less than its baseline; of a plain series the metric itself."""
    if at.speedup is None:
        return value_of(at.metric_value, lambda metric: quantity(metric, one.unit))
    ratio = at.speedup if one.better == "higher" else 1 / at.speedup
    found = Difference(ratio, None, None, one.metric, one.unit, one.better)
    return Value(found.cell(), 100 * (ratio - 1))


def _counts(one: SeriesHistory) -> str:
    if not one.enough:
        return f"{FEWEST} nights are needed"
    faster = sum(each.step.speedup > 1 for each in one.intervals)
    slower = len(one.intervals) - faster
    better, worse = ("faster", "slower") if timed(one.unit) else ("better", "worse")
    parts = [f"{count} {word}" for count, word in ((slower, worse), (faster, better)) if count]
    return ", ".join(parts) or "none"


def changes_table(
    history: History,
    changes: Sequence[tuple[SeriesHistory, HistoryInterval]],
    *,
    whole: bool = False,
) -> Table:
    """Give a row for each change, and whose it is; `whole`: With all that is known of it, of one benchmark."""
    names = history.labels(one for one, _ in changes)
    rows = [
        (name, series, one, series.difference(one.step))
        for name, (series, one) in zip(names, changes, strict=True)
    ]
    table = table_of(
        "changes",
        rows,
        None if whole else ("<", lambda row: row[0]),
        ("<between", lambda row: _between(*row[1:3])),
        ("<at least .. at most", lambda row: row[3].cell_interval()),
        ("estimate", lambda row: Value(row[3].cell(), 100 * ((row[3].ratio or 1) - 1))),
        ("p", lambda row: Value(bare_pvalue(row[2].pvalue), row[2].pvalue)) if whole else None,
    )
    return replace(table, notes=tuple(_remark(*row[1:3], whole=whole) for row in rows))


def _between(series: SeriesHistory, one: HistoryInterval | HostInterval) -> str:
    label = label_of(series.values)
    return f"{label(one.first_value)} .. {label(one.last_value)}"


def _remark(series: SeriesHistory, one: HistoryInterval, *, whole: bool) -> str:
    parts = [f"{one.words}, most likely on {label_of(series.values)(one.place_value)}"]
    if one.environment:
        parts.append(_listed(one.environment, whole=whole))
    if one.missing:
        parts.append(f"{counted(one.missing, 'night')} missing")
    if one.good is not None and one.bad is not None:
        ends = (f"{Name(short_commit(name, 7)):.24}" for name in (one.good, one.bad))
        parts.append(f"commits {'..'.join(ends)}")
    return "; ".join(parts)


def _listed(environment: Sequence[str], *, whole: bool = False) -> str:
    if whole:
        return "; ".join(shorten(text, 160) for text in environment)
    more = f", and {len(environment) - 1} more" if len(environment) > 1 else ""
    return f"{shorten(environment[0], 60)}{more}"


def host_sentence(history: History, one: HostInterval, *, whole: bool = False) -> str:
    """Say how a baseline itself changed, where, and why."""
    series = next(
        each
        for each in history.series
        if each.benchmark == one.benchmark
        and len(each.values) > one.last_value
        and each.values[one.first_value].trial == one.first
    )
    what = f": {_listed(one.environment, whole=whole)}" if one.environment else ""
    holds = "; speedups are paired and hold" if one.cause == "host" else ""
    return (
        f"{one.baseline:.24} itself {series.difference(one.step).ranged()} on "
        f"{one.benchmark:.24}, between {_between(series, one)}: {one.words}{what}{holds}"
    )
