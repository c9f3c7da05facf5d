"""The check of the counters of processor and kernel: which events can be had, and why not others."""

from __future__ import annotations

from collections.abc import Iterable

from analysis.record import Finding

from ..meters.counters import PARANOID, CountedEvent, CounterLook, MissingEvent
from .situation import Check, Situation, found, read


def counters(situation: Situation) -> Finding:
    """Check that the events that are wanted can be counted."""
    look = situation.events
    if look is None:
        return found("counters", "unknown", "nobody looked whether events can be counted")
    if look.missing:
        return _missing(look)
    return found("counters", "ok", _counted(look.counted), _where(look))


def _missing(look: CounterLook) -> Finding:
    """Name what is missing, for each reason once; a campaign that wants it cannot have it."""
    reasons: dict[str, list[MissingEvent]] = {}
    for one in look.missing:
        reasons.setdefault(one.what, []).append(one)
    told = [f"{_names(group)}: {what}" for what, group in reasons.items()]
    if look.counted:
        told.append(_counted(look.counted))
    first = look.missing[0]
    fixes = dict.fromkeys(group[0].fix for group in reasons.values() if group[0].fix)
    return found(
        "counters",
        "fail" if look.asked else "unknown",
        "; ".join(told),
        first.where,
        "; ".join(fixes) or None,
    )


def _counted(events: Iterable[CountedEvent]) -> str:
    whole = [one for one in events if not one.user_only]
    part = [one for one in events if one.user_only]
    said = []
    if whole:
        said.append(f"counted: {_names(whole)}")
    if part:
        said.append(f"counted without what the kernel does: {_names(part)}")
    return "; ".join(said)


def _names(events: Iterable[CountedEvent | MissingEvent]) -> str:
    return ", ".join(one.name for one in events)


def _where(look: CounterLook) -> str | None:
    return None if look.paranoid is None else read(PARANOID, look.paranoid)


CHECKS = (
    Check(
        name="counters",
        reason="what the processor counts tells why a run took its time; a machine may not show it, "
        "and a kernel may not permit it",
        before=counters,
    ),
)
