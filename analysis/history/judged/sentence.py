"""The answer of `history` in one sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...pages.condition import parse_condition
from ...pages.number_format import counted, listed
from ..alarm import NEWEST
from .cautions import NO_NIGHT
from .labels import difference, label_of, name_of, said, sized
from .next_commands import newest_changes
from .since import YESTERDAY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..changes import Step
    from .result import History, Outcome, SeriesHistory

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
    return listed([name_of(one, several=several) for one in some], _NAMED)


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
                f"{names} {said(first, first.against)} {told.link} before{also}, {against}, but its newest nights do "
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
    return f"{names} {said(first, first.against)} {told.link} before{also}{rests}: {what}"


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
        told = said(first, first.drift)
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
