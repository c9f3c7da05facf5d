"""What many nights say in words: the answer, its cautions, and its page."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

from ..pages.difference import Difference
from ..pages.model import (
    Block,
    Caution,
    Page,
    Table,
    Value,
    cautions_of as rows_of,
    columns_of,
    first_notes,
    page_of,
    section,
    table_of,
    value_of,
)
from ..pages.number_format import bare_pvalue, counted, listed, quantity, timed
from ..pages.result import parse_condition
from ..stats.multiplicity import Correction
from ..words import apart, shorten, shown
from .alarm import NEWEST
from .changes import FEWEST, Changes, least_share
from .judged import (
    YESTERDAY,
    History,
    HistoryInterval,
    HostInterval,
    Outcome,
    Segment,
    SeriesHistory,
    newest_changes,
    short_commit,
)
from .night_values import Night, Nights, moment_of

# --- How nights, series and steps are named in words.


_DATE, _MINUTE, _SECOND = 10, 16, 19  # where these end in a time of RFC 3339
_NAME = 28  # columns of a benchmark's name
_HASH = re.compile(r"\b(?:[0-9a-f]{64}|[0-9a-f]{40})\b")


def label_of(values: Sequence[Night]) -> Callable[[int], str]:
    """Give what names a night: its date, of several in a day the time too, else its trial.

    Where all are of one day the time stands alone; where two began in one second, or a time is unknown, the
    trials stand.
    """
    starts = [one.started_at or "" for one in values]
    if all(moment_of(start) is not None for start in starts):
        days = [text[:_DATE] for text in starts]
        begin = _DATE + 1 if len({*days}) == 1 else 0
        for end in (_DATE, _MINUTE, _SECOND):
            times = [f"{text[:_DATE]} {text[_DATE + 1 : end]}"[begin:] for text in starts]
            labels = days if end == _DATE else times
            if len({*labels}) == len(labels):
                return labels.__getitem__
    return lambda k: shorten(shown(values[k].trial), 24)


def span_of(first_at: str, last_at: str) -> str:
    """Name the dates of the first and the last night; of one day its date and both times."""
    if first_at[:_DATE] != last_at[:_DATE]:
        return f"{first_at[:_DATE]} .. {last_at[:_DATE]}"
    if first_at[:_MINUTE] == last_at[:_MINUTE]:
        return first_at[:_DATE]
    times = (text[_DATE + 1 : _MINUTE] for text in (first_at, last_at))
    return f"{first_at[:_DATE]}, {' .. '.join(times)}"


def short_hashes(text: str) -> str:
    """Shorten whole hashes in a sentence to 7 signs."""
    return _HASH.sub(lambda found: found.group()[:7], text)


def _called(
    series: Sequence[SeriesHistory], some: Sequence[SeriesHistory], width: int = _NAME
) -> list[str]:
    """Name some of all series beside each other, by their variants too where several of them go on."""
    several = len({one.variant for one in series if one.ends is None}) > 1
    return apart([one.benchmark + f" ({one.variant})" * several for one in some], width)


# --- What a reader should know before trusting what many nights say.


NO_NIGHT: Final = "no-night-since"
_ALIKE = "neighbours-alike"
# why the gate decides nothing of a series -> a caution's code and sentence
_AT_GATE = {
    "few-nights": (
        "few-of-reference",
        f"fewer than {FEWEST} nights of reference, no alarm is possible yet",
    ),
    "no-night": (
        NO_NIGHT,
        "no night began since yesterday, so nothing is decided; is the nightly job at work?",
    ),
    "few-new": ("few-new-nights", "fewer than 2 nights are new, which decide nothing"),
}


def cautions_of(
    nights: Nights,
    judged: Sequence[SeriesHistory],
    found: Sequence[Changes],
    level: float,
    correction: Correction,
    *,
    held_back: Sequence[SeriesHistory] = (),
    no_night_since: str | None = None,
) -> Iterator[Caution]:
    """Give them, what weighs most first. `no_night_since`: ``--since``, where no night is new."""

    def of(code: str, some: Sequence[SeriesHistory], text: str) -> Iterator[Caution]:
        if some:
            names = listed([*dict.fromkeys(_called(judged, some))], 3)
            benchmarks = tuple(dict.fromkeys(one.benchmark for one in some))
            yield Caution(code, f"{names}: {text}", benchmarks)

    plain = [one for one in judged if not one.paired]
    if plain:
        yield Caution(
            "no-baseline",
            "host and program cannot be separated: the values are not paired with a baseline of the same "
            "night, so a host that drifts is a change",
            tuple({one.benchmark: None for one in plain}) if len(plain) < len(judged) else (),
        )
    words = "it has" if len(held_back) == 1 else "they have"
    text = (
        "neighbouring nights resemble each other, and p-values are corrected for it; where nights are independent "
        f"{words} an interval (--independent)"
    )
    yield from of("held-back", held_back, text)
    alike = [
        (one, caution.text)
        for one, changed in zip(judged, found, strict=True)
        for caution in changed.cautions
        if caution.code == _ALIKE and one not in held_back
    ]
    many = "neighbouring nights resemble each other, and an interval may hold no change more often than the risk says"
    yield from of(_ALIKE, [one for one, _ in alike], alike[0][1] if len(alike) == 1 else many)
    for reason, (code, text) in _AT_GATE.items():
        yield from of(code, [one for one in judged if one.reason == reason], text)
    if no_night_since is not None:
        text = f"no night began since {shown(no_night_since)}, so no change can be in the new ones"
        yield Caution(NO_NIGHT, text)
    few = [one for one in judged if not one.enough]
    if len(few) < len(judged):
        yield from of(
            "too-few-nights", few, f"fewer than {FEWEST} nights, so no change is looked for"
        )
    named, least = sum(bool(one.intervals) for one in judged), least_share()
    of_all = {
        "share-of-false": correction == "bh"
        and named > 0
        and f"of {named} series that are named some may be false: "
        "their share is bounded on average, where benchmarks are independent (--correction holm)",
        "uncorrected": correction == "none"
        and len(judged) > 1
        and f"each of {len(judged)} series has the risk for itself: a false interval somewhere is likelier",
        "too-many-series": level < least
        and f"{len(judged)} series leave each a level below {least:g}, of which no law is known: no interval "
        "can be told (--correction bh, or --benchmark)",
    }
    yield from (*rows_of(of_all), *nights.cautions)
    pairs = [(one, after) for one, after in pairwise(judged) if one.ends is not None]
    if pairs:
        yield from of("series-ended", [one for one, _ in pairs], _ended(pairs))


def _ended(pairs: Sequence[tuple[SeriesHistory, SeriesHistory]]) -> str:
    """Say when and why the last of new series began, and what changed before it."""
    ended, after = max(pairs, key=lambda pair: pair[1].values[0].started_at or "")
    begun = after.values[0].started_at
    often = "" if len({one.begins for _, one in pairs}) == 1 else ", the last"
    when = f"{often} on {begun[:_DATE]}" if begun else ""
    where = f" ({short_hashes(shown(ended.changed))})" if ended.changed else ""
    before = sum(len(one.intervals) for one, _ in pairs)
    text = f"; before it {counted(before, 'change')} (--json has all)" if before else ""
    return f"a new series began{when}{where}{text}"


# --- The answer in one sentence.


LABELS: dict[Outcome, str] = {"passed": "PASS", "proven": "STOP", "undecided": "OPEN"}


def _names(history: History, some: Sequence[SeriesHistory]) -> str:
    return listed(_called(history.series, some), 2)


def _noun(history: History) -> str:
    return "series" if len({one.variant for one in history.newest}) > 1 else "benchmarks"


def sentence_of(history: History) -> str:
    """Say what the gate says of the newest nights, or without one what changed."""
    if history.outcome is not None:
        return _at_gate(history, history.outcome)
    newest = history.newest
    many, most = len(newest), max((len(one.values) for one in newest), default=0)
    if not any(one.enough for one in newest):
        return f"{counted(most, 'night')}: {FEWEST} are needed before a change can be told"
    # nights before a change of the campaign or baseline are another series
    fewer = most < history.nights and any(one.ends is not None for one in history.series)
    nights = "the newest " * fewer + counted(most if fewer else history.nights, "night")
    changes = newest_changes(history)
    if history.since is not None:
        changes = [pair for pair in changes if pair[1].new]
    if any(one.code == NO_NIGHT for one in history.cautions):
        latest = "" if history.last_at is None else f", the newest is {history.last_at[:_DATE]}"
        return f"no night since {history.since}{latest}"
    if not changes:
        when = nights if history.since is None else f"the nights since {history.since}"
        if many == 1:
            return f"{_names(history, newest)} shows no change in {when}"
        return f"none of {many} {_noun(history)} shows a change in {when}"
    series, one = changes[0]
    last = (
        f"{_names(history, [series])} {series.difference(one.step).ranged('before')}, "
        f"from {label_of(series.values)(one.place_value)} on{'' if series.paired else ', by host or program'}"
    )
    if many == 1:
        return last if len(changes) == 1 else f"{len(changes)} changes in {nights}; {last}"
    changed = len({id(one) for one, _ in changes})
    return f"{changed} of {many} {_noun(history)} changed in {nights}: {last}"


def _at_gate(history: History, outcome: Outcome) -> str:
    asked = parse_condition(history.gate or "")
    limit, gain = f"{asked.percent:.12g} %", asked.kind == "faster"
    some = [one for one in history.newest if one.outcome == outcome]
    if outcome == "undecided" and history.gone:
        was = "was" if len(history.gone) == 1 else "were"
        return (
            f"{listed(history.gone, 8)} {was} measured in the nights before, and not in the newest "
            "(--allow-missing, or --since behind the end, accepts that)"
        )
    if not some:
        return "no series goes on: nothing is decided"
    first, many = some[0], len(history.newest)
    if outcome == "undecided" and first.reason != "between":
        return _why_open(history, [one for one in some if one.reason == first.reason], limit)
    against = _against(some)
    if outcome == "passed" and many > 1:
        what = f"have the wanted gain of {limit}" if gain else f"are within the {limit} allowed"
        return f"all {many} {_noun(history)} {what} {against}"
    names = _names(history, [first])
    if first.against is None:
        return f"{names}: nothing is decided"
    also = f", and {len(some) - 1} more" if len(some) > 1 else ""
    step, found = first.against, first.difference(first.against)
    whole = f"{found.clause()} {found.link} before{also}"
    wanted = f"the wanted gain of {limit}"
    if outcome == "undecided":
        what = f"{wanted if gain else limit} is neither proven nor ruled out"
        low, high = (asked.limit if end is None else end for end in (step.low, step.high))
        if low > asked.limit if gain else high < asked.limit:
            return f"{names} {whole}, {against}, but its newest nights do not all lie beyond {limit}: {what}"
        between = found.between() or "an unknown amount"
        return f"{names} {found.verb} {between} than before{also}, {against}: {what}"
    if gain:
        what = f"{wanted} is {'' if outcome == 'passed' else 'not '}there"
    else:
        what = f"{'within' if outcome == 'passed' else 'more than'} the {limit} allowed"
    newest = counted(0 if first.alarm is None else first.alarm.nights, "newest night")
    rests = "" if first.alarm is None else f", by {newest} {against}"
    return f"{names} {whole}{rests}: {what}"


def _why_open(history: History, some: Sequence[SeriesHistory], limit: str) -> str:
    """Say why nothing is decided of some series with one reason, which their intervals are not."""
    first, against = some[0], _against(some)
    within = f"within {limit} {against}, but"
    label, alike = label_of(first.values), f"(r {first.autocorrelation or 0:.2f})"
    found = {
        "no-night": f"no night since {history.since}, the newest is {label(len(first.values) - 1)}",
        "cut-off": f"runs that were stopped at their limit could overturn the answer {against}",
        "few-new": f"fewer than 2 nights are new {against}, which decide nothing",
        "nights-depend": f"{within} neighbouring nights resemble each other too much to rely on it {alike}",
    }.get(first.reason or "")
    if first.reason == "drift" and first.drift is not None:
        drift = first.difference(first.drift).clause()
        found = f"{within} {drift} than the first 8 nights; --since NIGHT accepts what came before"
    if found is None:
        held = first.alarm.reference if first.alarm is not None else 0
        newest = " before the newest 8" if history.since in (None, YESTERDAY) else ""
        found = f"{counted(held, 'night')} of reference{newest}{_span(first)}, and 8 are needed"
    return f"{_names(history, some)}: {found}"


def _against(some: Sequence[SeriesHistory]) -> str:
    """Name the nights of reference; of several series that with most, and how many the others have."""
    held = [(one.reference.nights, one) for one in some if one.reference is not None]
    if not held:
        return "without any before"
    least = min(nights for nights, _ in held)
    most, widest = max(held, key=lambda pair: pair[0])
    many = counted(most, "night") if least == most else f"{least} to {most} nights"
    return f"against {many}{_span(widest)}"


def _span(one: SeriesHistory) -> str:
    """Give the dates of the nights of reference in brackets; "" where there are none."""
    label, held = label_of(one.values), one.reference
    return "" if held is None else f" ({label(held.first_value)} to {label(held.last_value)})"


def measured(history: History) -> str:
    """Name what was measured: the campaign, or each tool whose files are series that go on; else the place."""
    names = dict.fromkeys(one.campaign for one in history.newest if one.campaign)
    return listed(list(names), 2) or history.campaign or history.place


def alarm_alone(history: History) -> str | None:
    """Say that an alarm is newer than any interval: fewer nights are enough for it than for a place; else None."""
    some = [
        one
        for one in history.newest
        if one.alarm is not None
        and one.alarm.word == "proven"
        and all(each.last_value <= len(one.values) - NEWEST for each in one.intervals)
    ]
    text = "an alarm before any interval; further nights tell where it began"
    return f"{_names(history, some)}: {text}" if some else None


# --- The page: the answer, a line for each benchmark, and each change with what caused it.


_LINES = 8  # benchmarks on the screen
_CHANGES = 4  # changes on the screen
_HOSTS = 2  # and of the baseline itself
_RULES = {
    "one": "{risk} risk that any does not",
    "holm": "{risk} risk that any does not (Holm)",
    "bh": "of the benchmarks named, {risk} may have one that does not, on average (Benjamini-Hochberg)",
    "none": "{risk} risk in each benchmark (uncorrected)",
}


@page_of.register(History)
def _page(history: History) -> Page:
    label = "" if history.outcome is None else f"{LABELS[history.outcome]}  "
    # those that changed, or stop the gate, have a line before others
    weight = {"proven": 0, "undecided": 2, "passed": 3, None: 3}
    ordered = sorted(history.newest, key=lambda one: (weight[one.outcome], not one.intervals))
    kept = {id(one) for one in ordered[:_LINES]}
    lines, hidden = [one for one in history.newest if id(one) in kept], []
    if rest := ordered[_LINES:]:
        changed = sum(bool(one.intervals) for one in rest) or "none"
        hidden = [f"and {len(rest)} more, {changed} of them changed (--json has all)"]
    changes = newest_changes(history)
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
    if history.first_at is not None and history.last_at is not None:
        when = f" {span_of(history.first_at, history.last_at)}"
    missing = f", {history.missing} missing" if history.missing else ""
    parts = [
        shorten(shown(measured(history)), 40),
        f"{counted(history.nights, 'night')}{when}{missing}",
        listed([shorten(shown(name), 24) for name in history.host], 2),
        shorten(shown(history.metric), 28),
        "" if history.baseline is None else f"baseline {shorten(shown(history.baseline), 28)}",
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
    base = shorten(shown(next(iter(bases)) or "baseline"), 16) if len(bases) == 1 else ""
    return table_of(
        "benchmarks",
        zip(_called(history.series, lines), lines, strict=True),
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
        columns=columns_of("<", *_called(history.series, columns, width=12)),
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
    names = _called(history.series, [one for one, _ in changes])
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
        ends = (shorten(shown(short_commit(name, 7)), 24) for name in (one.good, one.bad))
        parts.append(f"commits {'..'.join(ends)}")
    return "; ".join(parts)


def _listed(environment: Sequence[str], *, whole: bool = False) -> str:
    if whole:
        return "; ".join(shorten(shown(text), 160) for text in environment)
    more = f", and {len(environment) - 1} more" if len(environment) > 1 else ""
    return f"{shorten(shown(environment[0]), 60)}{more}"


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
        f"{shorten(shown(one.baseline), 24)} itself {series.difference(one.step).ranged()} on "
        f"{shorten(shown(one.benchmark), 24)}, between {_between(series, one)}: {one.words}{what}{holds}"
    )
