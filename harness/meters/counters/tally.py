"""What the counters of a session's runs gave: a row's metrics, and what is strange about them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from analysis.record import Finding

from .events import EVENTS
from .look import CounterLook
from .plan import CounterPlan
from .resolving import Resolved

_REASON = "a counter that is not what it says would be judged as a property of the program"
_NS = 1e9
_WHOLE = 0.9999  # of the time: the two are read one after the other

Moved = tuple[int, int, int]  # the value, and for how many ns it was enabled and counted


@dataclass(slots=True)
class _Seen:
    """What was seen of one event in the runs that were counted."""

    runs: int = 0
    unread: int = 0  # no answer, or never on the processor
    shared: int = 0  # there for a part of the time
    least: float = 1.0  # of the shares of time
    zeros: int = 0


class CounterTally:
    """Makes metrics of what a launcher read, run after run.

    Parameters
    ----------
    plan : CounterPlan
        What the launcher was asked for; its answers have the order of ``plan.resolved``.
    look : CounterLook
        Which of that could be had when the trial began: only these are metrics of the trial.
    """

    def __init__(self, plan: CounterPlan, look: CounterLook) -> None:
        had = {one.name for one in look.counted}
        self._events = [event if event.name in had else None for event in plan.resolved]
        self._share = plan.share
        self._seen = {name: _Seen() for name in had}

    def metrics(self, moved: Sequence[Moved | None] | None) -> dict[str, tuple[float, ...]]:
        """Give the metrics of one run, without those that are not known.

        Where an event had a counter for a part of the time it is scaled up to the whole, value x
        enabled / counted, if events may share; otherwise it is not known.
        """
        found: dict[str, tuple[float, ...]] = {}
        if moved is None:
            return found
        for event, one in zip(self._events, moved, strict=True):
            value = None if event is None else self._value(event, one)
            if event is not None and value is not None:
                found[event.name] = (value / _NS if event.unit == "s" else value,)
        return found

    def _value(self, event: Resolved, moved: Moved | None) -> float | None:
        seen = self._seen[event.name]
        seen.runs += 1
        if moved is None or moved[2] <= 0:
            seen.unread += 1
            return None
        value, enabled, running = moved
        if running < enabled * _WHOLE:
            seen.shared += 1
            seen.least = min(seen.least, running / enabled)
            if not self._share:
                return None
        if value == 0:
            seen.zeros += 1
            if event.name in EVENTS and EVENTS[event.name].never_zero:
                return None
        return value if running >= enabled * _WHOLE else value * enabled / running

    def findings(self) -> tuple[Finding, ...]:
        """Say what was strange: events that were not counted, shared a counter, or never moved."""
        return tuple(one for event in self._events if event is not None for one in self._of(event))

    def _of(self, event: Resolved) -> Iterator[Finding]:
        seen, name = self._seen[event.name], event.name
        if seen.unread:
            yield _finding(
                f"{name} was not counted in {seen.unread} of {seen.runs} runs: these rows are without it",
                "see what else counts on this host: perf, a profiler, another trial",
            )
        if seen.shared and not self._share:
            yield _finding(
                f"{name} had a counter for a part of the time only in {seen.shared} of {seen.runs} runs "
                f"(least: {seen.least:.0%}): these rows are without it",
                "stop what else counts on this host, count fewer events, or write 'multiplex: allow'",
            )
        elif seen.shared:
            yield _finding(
                f"{name} had a counter for a part of the time only in {seen.shared} of {seen.runs} runs "
                f"(least: {seen.least:.0%}): its values there are scaled up, and estimates",
                "count fewer events",
            )
        if seen.zeros and seen.zeros == seen.runs and not event.may_be_still:
            yield _finding(
                f"{name} read 0 in all {seen.runs} runs: it does not seem to be counted on this machine",
                "compare with 'perf stat'; a virtual machine may show counters that never move",
            )


def _finding(what: str, fix: str) -> Finding:
    return Finding(
        check="counters", status="warn", what=what, where="counters", fix=fix, reason=_REASON
    )
