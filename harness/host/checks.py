"""The host checks: each a pure function of what `harness.host.reader.Host` read -> `Finding`.

A check stands with its reason in a table at the end of its file. Here are the questions that a session asks:
what is found before, what happened in between, and what of that must stop the trial.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from . import cpu_checks as cpu, kernel_checks as kernel, power_checks as power
from .state import (
    PARANOID,
    Check,
    CountedEvent,
    HostCounters,
    Interval,
    MissingEvent,
    Situation,
    check,
    found,
    read,
)

if TYPE_CHECKING:
    from analysis.record.trial_files import CheckStatus, Finding


@check(
    "what the processor counts tells why a run took its time; a machine may not show it, and a kernel "
    "may not permit it"
)
def counters(situation: Situation) -> Finding:
    """Check that the events that are wanted can be counted."""
    look = situation.events
    if look is None:
        return found("unknown", "nobody looked whether events can be counted")
    if not look.missing:
        where = None if look.paranoid is None else read(PARANOID, look.paranoid)
        return found("ok", _counted(look.counted), where)
    # what is missing, for each reason once; a campaign that wants it cannot have it
    reasons: dict[str, list[MissingEvent]] = {}
    for one in look.missing:
        reasons.setdefault(one.what, []).append(one)
    told = [f"{_names(group)}: {what}" for what, group in reasons.items()]
    if look.counted:
        told.append(_counted(look.counted))
    fixes = dict.fromkeys(group[0].fix for group in reasons.values() if group[0].fix)
    status: CheckStatus = "fail" if look.wanted else "unknown"
    return found(status, "; ".join(told), look.missing[0].where, "; ".join(fixes) or None)


def _counted(events: Iterable[CountedEvent]) -> str:
    whole = [one for one in events if not one.user_only]
    part = [one for one in events if one.user_only]
    kinds = (("counted", whole), ("counted without what the kernel does", part))
    return "; ".join(f"{how}: {_names(some)}" for how, some in kinds if some)


def _names(events: Iterable[CountedEvent | MissingEvent]) -> str:
    return ", ".join(one.name for one in events)


CHECKS: tuple[Check, ...] = (*power.CHECKS, *cpu.CHECKS, counters, *kernel.CHECKS)
CHECK_NAMES: tuple[str, ...] = tuple(check.name for check in CHECKS)
# Fails only where nothing can hold a limit of the campaign, and a limit is never ignored.
_LIMITS = "cgroup"


def check_before(situation: Situation) -> tuple[Finding, ...]:
    """Check a host that is about to measure, or that `fairtrial doctor` looks at."""
    return tuple(_named(check, check.before(situation)) for check in CHECKS)


def check_between(
    before: HostCounters, after: HostCounters, elapsed_s: float, *, cpus: tuple[int, ...]
) -> tuple[Finding, ...]:
    """Check what happened on the host from `before` to `after`, `elapsed_s` seconds later.

    Both must have been read for `cpus`. Only checks of what can happen take part.
    """
    interval = Interval(before=before, after=after, elapsed_s=elapsed_s, cpus=cpus)
    return tuple(
        _named(check, check.between(interval)) for check in CHECKS if check.between is not None
    )


def _named(check: Check, found: Finding) -> Finding:
    return replace(found, check=check.name, reason=check.reason)


def fatal_findings(
    findings: tuple[Finding, ...], required: Collection[str] | None, *, strict: bool
) -> tuple[Finding, ...]:
    """Give the findings that must stop the trial.

    A "fail" of a required check stops always, and so does one of the check `cgroup`: a limit that
    nothing here can hold. With `strict`, a "warn" of a required check stops
    too, and so does an "unknown": who requires a check strictly cannot go on without its answer.
    When `required` is None (``doctor`` without a campaign) every check counts as required for
    "fail" and "warn", and "unknown" never stops.
    """
    stopping = {"fail", "warn"} if strict else {"fail"}
    if strict and required is not None:
        stopping.add("unknown")
    names = CHECK_NAMES if required is None else required
    return tuple(
        f
        for f in findings
        if (f.check in names and f.status in stopping)
        or (f.check == _LIMITS and f.status == "fail")
    )
