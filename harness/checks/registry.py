"""The host checks: each a pure function of what `harness.host.Host` read -> `Finding`.

A check stands with its reason in the table at the end of `power`, `cpu`, `kernel` or `counters`. Here are the
three questions that a session asks of all of them: what is found before, what happened in between,
and what of that must stop the trial. fairtrial changes no host setting: a finding names the command.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from analysis.record import Finding

from ..host import Counters
from . import counters, cpu, kernel, power
from .situation import Check, Interval, Situation

__all__ = ["CHECKS", "CHECK_NAMES", "check_before", "check_between", "fatal_findings"]

CHECKS: tuple[Check, ...] = (*power.CHECKS, *cpu.CHECKS, *counters.CHECKS, *kernel.CHECKS)
CHECK_NAMES: tuple[str, ...] = tuple(check.name for check in CHECKS)
# Fails only where nothing can hold a limit of the campaign, and a limit is never ignored.
_LIMITS = "cgroup"


def check_before(situation: Situation) -> tuple[Finding, ...]:
    """Check a host that is about to measure, or that `fairtrial doctor` looks at.

    Returns
    -------
    tuple of Finding
        One for each check, in the order of `CHECK_NAMES`.
    """
    return tuple(replace(check.before(situation), reason=check.reason) for check in CHECKS)


def check_between(
    before: Counters, after: Counters, elapsed_s: float, *, cpus: tuple[int, ...]
) -> tuple[Finding, ...]:
    """Check what happened on the host from `before` to `after`, `elapsed_s` seconds later.

    Both must have been read for `cpus`. Only checks of what can happen take part.
    """
    interval = Interval(before=before, after=after, elapsed_s=elapsed_s, cpus=cpus)
    return tuple(
        replace(check.between(interval), reason=check.reason)
        for check in CHECKS
        if check.between is not None
    )


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
    stopping = {"fail"}
    if strict:
        stopping.add("warn")
        if required is not None:
            stopping.add("unknown")
    names = CHECK_NAMES if required is None else required
    return tuple(
        f
        for f in findings
        if (f.check in names and f.status in stopping)
        or (f.check == _LIMITS and f.status == "fail")
    )
