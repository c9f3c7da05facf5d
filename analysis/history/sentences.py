"""The answer of `history` in one sentence."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Final, Protocol

from ..pages.difference import Difference
from ..pages.model import Caution, merged
from ..pages.number_format import counted, listed
from ..pages.result import parse_condition
from ..stats.multiplicity import Correction
from ..words import apart, shorten, shown
from .alarm import NEWEST
from .changes import FEWEST, Changes, Step, least_share
from .judged import SeriesHistory, newest_changes
from .night_values import Nights, moment_of
from .one_series import YESTERDAY

if TYPE_CHECKING:
    from .judged import History, Outcome

# --- How nights, series and steps are named in words.


_DATE, _MINUTE, _SECOND = 10, 16, 19  # where these end in a time of RFC 3339
_NAME = 28  # columns of a benchmark's name
_TRIAL = 24  # and of a trial's


class _Measured(Protocol):
    @property
    def metric(self) -> str: ...

    @property
    def unit(self) -> str: ...

    @property
    def better(self) -> str: ...


class _Named(Protocol):
    @property
    def benchmark(self) -> str: ...

    @property
    def variant(self) -> str: ...


class _Dated(Protocol):
    @property
    def trial(self) -> str: ...

    @property
    def started_at(self) -> str | None: ...


def label_of(values: Sequence[_Dated]) -> Callable[[int], str]:
    """Give what names a night: its date, of several in a day the time too, else its trial.

    Where all are of one day the time stands alone; where two began in one second, or a time is unknown, the
    trials stand.
    """
    starts = [one.started_at for one in values]
    if all(moment_of(start) is not None for start in starts):
        texts = [str(start) for start in starts]
        one_day = len({text[:_DATE] for text in texts}) == 1
        forms: tuple[Callable[[str], str], ...] = (
            lambda text: text[:_DATE],
            lambda text: _clock(text, _MINUTE, one_day=one_day),
            lambda text: _clock(text, _SECOND, one_day=one_day),
        )
        for form in forms:
            labels = [form(text) for text in texts]
            if len(set(labels)) == len(labels):
                return lambda k: labels[k]
    return lambda k: shorten(shown(values[k].trial), _TRIAL)


def _clock(started_at: str, end: int, *, one_day: bool) -> str:
    time = started_at[_DATE + 1 : end]
    return time if one_day else f"{started_at[:_DATE]} {time}"


def span_of(first_at: str, last_at: str) -> str:
    """Name the dates of the first and the last night; of one day its date and both times."""
    if first_at[:_DATE] != last_at[:_DATE]:
        return f"{first_at[:_DATE]} .. {last_at[:_DATE]}"
    if first_at[:_MINUTE] == last_at[:_MINUTE]:
        return first_at[:_DATE]
    times = (text[_DATE + 1 : _MINUTE] for text in (first_at, last_at))
    return f"{first_at[:_DATE]}, {' .. '.join(times)}"


def short_names_of(series: Iterable[_Named], *, several: bool, width: int = _NAME) -> list[str]:
    """Name series that stand beside each other: their benchmarks, and their variants where there are several."""
    return apart([one.benchmark + f" ({one.variant})" * several for one in series], width)


def difference(series: _Measured, step: Step) -> Difference:
    """Give a step in the unit of the metric."""
    return Difference.of(step, metric=series.metric, unit=series.unit, better=series.better)


def sized(series: _Measured, step: Step, than: str = "") -> str:
    """Say the size of a change by its interval: ``takes 4 to 6 % more time``; no size at a chosen place stands alone."""
    return difference(series, step).ranged(than)


def difference_text(series: _Measured, step: Step) -> str:
    """Say how the later nights differ: ``takes 5 % more time (4 to 6 %)``."""
    found = difference(series, step)
    ends = found.interval()
    return f"{found.phrase()} ({ends})" if ends else found.phrase()


# --- What a reader should know before trusting what many nights say.


NO_NIGHT: Final = "no-night-since"
_NAMED_IN_CAUTIONS = 3
_DATE_ENDS = 10  # where it ends in a time of RFC 3339
_Said = Callable[[Sequence[SeriesHistory]], str]
_HASH = re.compile(r"\b(?:[0-9a-f]{64}|[0-9a-f]{40})\b")


def cautions_of(
    nights: Nights,
    judged: Sequence[SeriesHistory],
    found: Sequence[Changes],
    level: float,
    correction: Correction,
    *,
    held_back: Sequence[SeriesHistory] = (),
    no_night_since: str | None = None,
) -> tuple[Caution, ...]:
    """Give them, what weighs most first. `no_night_since`: ``--since``, where no night is new."""
    said = _naming(judged)
    return merged(
        _plain(judged),
        _held_back(held_back, said),
        _alike(
            [pair for pair in zip(judged, found, strict=True) if pair[0] not in held_back], said
        ),
        _gate(judged, said),
        _no_night(no_night_since),
        _fewest(judged, said),
        _together(judged, correction),
        _too_many(judged, level),
        nights.cautions,
        _ended(judged, said),
    )


def names_of(series: Sequence[SeriesHistory]) -> tuple[str, ...]:
    """Name the benchmarks of some series, each once."""
    return tuple(dict.fromkeys(one.benchmark for one in series))


def _naming(judged: Sequence[SeriesHistory]) -> _Said:
    """Give what names some series as the screen does: by their variants too, where several go on."""
    several = len({one.variant for one in judged if one.ends is None}) > 1
    return lambda some: listed(
        list(dict.fromkeys(short_names_of(some, several=several))), _NAMED_IN_CAUTIONS
    )


def _plain(judged: Sequence[SeriesHistory]) -> Iterator[Caution]:
    some = [one for one in judged if not one.paired]
    if some:
        yield Caution(
            "no-baseline",
            "host and program cannot be told apart: the values are not paired with a baseline of the same "
            "night, so a host that drifts is a change",
            names_of(some) if len(some) < len(judged) else (),
        )


def _held_back(some: Sequence[SeriesHistory], said: _Said) -> Iterator[Caution]:
    if some:
        told = "it has" if len(some) == 1 else "they have"
        yield Caution(
            "held-back",
            f"{said(some)}: neighbouring nights resemble each other, and p-values are corrected for it; "
            f"where nights are independent {told} an interval (--independent)",
            names_of(some),
        )


def _alike(pairs: Sequence[tuple[SeriesHistory, Changes]], said: _Said) -> Iterator[Caution]:
    some = [
        (one, changed)
        for one, changed in pairs
        if any(caution.code == "neighbours-alike" for caution in changed.cautions)
    ]
    if len(some) == 1:
        one, changed = some[0]
        text = next(c.text for c in changed.cautions if c.code == "neighbours-alike")
        yield Caution("neighbours-alike", f"{said([one])}: {text}", (one.benchmark,))
    elif some:
        alike = [one for one, _ in some]
        yield Caution(
            "neighbours-alike",
            f"{said(alike)}: neighbouring nights resemble each other, and an interval may hold no change "
            "more often than the risk says",
            names_of(alike),
        )


def _gate(judged: Sequence[SeriesHistory], said: _Said) -> Iterator[Caution]:
    few = [one for one in judged if one.reason == "few-nights"]
    if few:
        yield Caution(
            "few-of-reference",
            f"{said(few)}: fewer than {FEWEST} nights of reference, no alarm is possible yet",
            names_of(few),
        )
    late = [one for one in judged if one.reason == "no-night"]
    if late:
        yield Caution(
            NO_NIGHT,
            f"{said(late)}: no night began since yesterday, so nothing is decided; is the nightly job at work?",
            names_of(late),
        )
    new = [one for one in judged if one.reason == "few-new"]
    if new:
        yield Caution(
            "few-new-nights",
            f"{said(new)}: fewer than 2 nights are new, which decide nothing",
            names_of(new),
        )


def _no_night(since: str | None) -> Iterator[Caution]:
    if since is not None:
        yield Caution(
            NO_NIGHT, f"no night began since {shown(since)}, so no change can be in the new ones"
        )


def _fewest(judged: Sequence[SeriesHistory], said: _Said) -> Iterator[Caution]:
    few = [one for one in judged if not one.enough]
    if few and len(few) < len(judged):
        yield Caution(
            "too-few-nights",
            f"{said(few)}: fewer than {FEWEST} nights, so no change is looked for",
            names_of(few),
        )


def _together(judged: Sequence[SeriesHistory], correction: Correction) -> Iterator[Caution]:
    changed = [one for one in judged if one.intervals]
    if correction == "bh" and changed:
        yield Caution(
            "share-of-false",
            f"of {len(changed)} series that are named some may be false: "
            "their share is bounded on average, where benchmarks are independent (--correction holm)",
        )
    if correction == "none" and len(judged) > 1:
        yield Caution(
            "uncorrected",
            f"each of {len(judged)} series has the risk for itself: a false interval somewhere is likelier",
        )


def _too_many(judged: Sequence[SeriesHistory], level: float) -> Iterator[Caution]:
    if level < least_share():
        yield Caution(
            "too-many-series",
            f"{len(judged)} series leave each a level below {least_share():g}, of which no law is known: no interval "
            "can be told (--correction bh, or --benchmark)",
        )


def _ended(judged: Sequence[SeriesHistory], said: _Said) -> Iterator[Caution]:
    pairs = [(one, after) for one, after in pairwise(judged) if one.ends is not None]
    if not pairs:
        return
    last, after = max(pairs, key=lambda pair: pair[1].values[0].started_at or "")
    ended = [one for one, _ in pairs]
    night = (after.values[0].started_at or "")[:_DATE_ENDS]
    often = "" if len({one.begins for _, one in pairs}) == 1 else ", the last"
    when = f"{often} on {night}" if night else ""
    where = f" ({short_hashes(shown(last.changed))})" if last.changed else ""
    before = sum(len(one.intervals) for one in ended)
    told = f"; before it {counted(before, 'change')} (--json has all)" if before else ""
    yield Caution(
        "series-ended",
        f"{said(ended)}: a new series began{when}{where}{told}",
        names_of(ended),
    )


def short_hashes(text: str) -> str:
    """Shorten whole hashes in a sentence to 7 signs."""
    return _HASH.sub(lambda found: found.group()[:7], text)


LABELS: dict[Outcome, str] = {"passed": "PASS", "proven": "STOP", "undecided": "OPEN"}
_NAMED = 2


def sentence_of(history: History) -> str:
    """Say what the gate says of the newest nights, or without one what changed."""
    return _changed(history) if history.outcome is None else _at_gate(history, history.outcome)


def several_variants(history: History) -> bool:
    """Tell whether series have to be named by their variant too."""
    return len({one.variant for one in history.newest}) > 1


def _names(history: History, some: Sequence[SeriesHistory]) -> str:
    several = several_variants(history)
    return listed(short_names_of(some, several=several), _NAMED)


def _noun(history: History) -> str:
    return "series" if several_variants(history) else "benchmarks"


def _looked_through(history: History) -> str:
    """Count the nights of the series that go on: those before a change of the campaign or baseline are another series."""
    most = max(len(one.values) for one in history.newest)
    if most < history.nights and any(one.ends is not None for one in history.series):
        return f"the newest {counted(most, 'night')}"
    return counted(history.nights, "night")


def _changed(history: History) -> str:
    newest = history.newest
    if not any(one.enough for one in newest):
        most = max((len(one.values) for one in newest), default=0)
        return f"{counted(most, 'night')}: 8 are needed before a change can be told"
    many, nights = len(newest), _looked_through(history)
    changes = newest_changes(history)
    if history.since is not None:
        changes = [pair for pair in changes if pair[1].new]
    if any(one.code == NO_NIGHT for one in history.cautions):
        latest = "" if history.last_at is None else f", the newest is {history.last_at[:10]}"
        return f"no night since {history.since}{latest}"
    if not changes:
        when = nights if history.since is None else f"the nights since {history.since}"
        subject = (
            f"{_names(history, newest)} shows no change"
            if many == 1
            else f"none of {many} {_noun(history)} shows a change"
        )
        return f"{subject} in {when}"
    series, one = changes[0]
    label = label_of(series.values)
    last = (
        f"{_names(history, [series])} {sized(series, one.step, 'before')}, from {label(one.place_value)} on"
        f"{'' if series.paired else ', by host or program'}"
    )
    changed = len({id(one) for one, _ in changes})
    if many == 1:
        return last if len(changes) == 1 else f"{len(changes)} changes in {nights}; {last}"
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
    also = f", and {len(some) - 1} more" if len(some) > 1 else ""
    if first.against is None:
        return f"{names}: nothing is decided"
    told = difference(first, first.against)
    wanted = f"the wanted gain of {limit}"
    if outcome == "undecided":
        what = wanted if gain else limit
        if _beyond(first.against, asked.limit, gain=gain):
            return (
                f"{names} {difference_text(first, first.against)} {told.link} before{also}, {against}, but its newest nights do "
                f"not all lie beyond {limit}: {what} is neither proven nor ruled out"
            )
        between = told.between() or "an unknown amount"
        return f"{names} {told.verb} {between} than before{also}, {against}: {what} is neither proven nor ruled out"
    if gain:
        what = f"{wanted} is {'' if outcome == 'passed' else 'not '}there"
    else:
        what = (
            f"within the {limit} allowed"
            if outcome == "passed"
            else f"more than the {limit} allowed"
        )
    rests = ""
    if first.alarm is not None:
        rests = f", by {counted(first.alarm.nights, 'newest night')} {against}"
    return (
        f"{names} {difference_text(first, first.against)} {told.link} before{also}{rests}: {what}"
    )


def _why_open(history: History, some: Sequence[SeriesHistory], limit: str) -> str:
    """Say why nothing is decided of some series with one reason, which their intervals are not."""
    first, names, against = some[0], _names(history, some), _against(some)
    if first.reason == "no-night":
        newest = label_of(first.values)(len(first.values) - 1)
        return f"{names}: no night since {history.since}, the newest is {newest}"
    if first.reason == "cut-off":
        return f"{names}: runs that were stopped at their limit could overturn the answer {against}"
    if first.reason == "few-new":
        return f"{names}: fewer than 2 nights are new {against}, which decide nothing"
    if first.reason == "nights-depend":
        alike = f"(r {first.autocorrelation or 0:.2f})"
        return f"{names}: within {limit} {against}, but neighbouring nights resemble each other too much to rely on it {alike}"
    if first.reason == "drift" and first.drift is not None:
        told = difference_text(first, first.drift)
        return f"{names}: within {limit} {against}, but {told} than the first 8 nights; --since NIGHT accepts what came before"
    held = first.alarm.reference if first.alarm is not None else 0
    newest = "" if _fixed(history) else " before the newest 8"
    return f"{names}: {counted(held, 'night')} of reference{newest}{_span(first)}, and 8 are needed"


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
    if not some:
        return None
    return (
        f"{_names(history, some)}: an alarm before any interval; further nights tell where it began"
    )


def _fixed(history: History) -> bool:
    """Tell whether the reference is what came before a night that was named."""
    return history.since not in (None, YESTERDAY)


def _beyond(step: Step, limit: float, *, gain: bool) -> bool:
    """Tell whether the whole interval of a step lies where the newest nights should be, each of them."""
    if step.low is None or step.high is None:
        return False
    return step.low > limit if gain else step.high < limit
