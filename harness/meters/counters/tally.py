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
# A run that was counted from its exec on misses less of its processor time than these together: where
# processes of a run share a busy processor, the time of their events was a sixth less (their values were
# whole). Of a run that is no longer counted next to nothing is left.
_LOST_NS = 200_000
_LOST_SHARE = 0.5
_LEAST_SHARE = 0.1  # and has this much, however long its start lasted

Moved = tuple[int, int, int]  # the value, and for how many ns it was enabled and counted


@dataclass(slots=True)
class _Seen:
    """What was seen of one event in the runs that were counted."""

    runs: int = 0
    unread: int = 0  # no answer, never on the processor, or a value that cannot be
    cut: int = 0  # the kernel ended it before the run did
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

    def metrics(
        self, moved: Sequence[Moved | None] | None, *, cpu_s: float = 0.0, spawn_ns: int = 0
    ) -> dict[str, tuple[float, ...]]:
        """Give the metrics of one run, without those that are not known.

        A program that changes its user at the exec, or that may not be read, is counted no further
        for who has no rights: what was counted until then is no value. It shows in the time for which
        an event was enabled, which is that of the run on processors.

        Where an event had a counter for a part of the time it is scaled up to the whole, value x
        enabled / counted, if events may share; otherwise it is not known.

        Parameters
        ----------
        moved : sequence of (int, int, int) or None, or None
            What the launcher read.
        cpu_s : float
            Processor time of the run, in seconds.
        spawn_ns : int
            How long its start lasted, which is not counted.
        """
        spent_ns = cpu_s * _NS
        least_ns = max(spent_ns * (1 - _LOST_SHARE) - spawn_ns - _LOST_NS, spent_ns * _LEAST_SHARE)
        found: dict[str, tuple[float, ...]] = {}
        if moved is None:
            return found
        for event, one in zip(self._events, moved, strict=True):
            value = None if event is None else self._value(event, one, least_ns)
            if event is not None and value is not None:
                found[event.name] = (value / _NS if event.unit == "s" else value,)
        return found

    def unread(self) -> None:
        """Note a run that was to be counted, and of which the launcher could read no event."""
        for seen in self._seen.values():
            seen.runs += 1
            seen.unread += 1

    def _value(self, event: Resolved, moved: Moved | None, least_ns: float) -> float | None:
        seen = self._seen[event.name]
        seen.runs += 1
        # a value that went back is not what a run did: from its exec on an event only grows
        if moved is None or moved[2] <= 0 or moved[0] < 0:
            seen.unread += 1
            return None
        value, enabled, running = moved
        if enabled < least_ns:
            seen.cut += 1
            return None
        if running < enabled * _WHOLE:
            seen.shared += 1
            seen.least = min(seen.least, running / enabled)
            if not self._share:
                return None
        if value == 0:
            seen.zeros += 1
            if _always_moves(event):
                return None
        return value if running >= enabled * _WHOLE else value * enabled / running

    def findings(self) -> tuple[Finding, ...]:
        """Say what was strange: events that were not counted, shared a counter, or never moved."""
        return tuple(one for event in self._events if event is not None for one in self._of(event))

    def _of(self, event: Resolved) -> Iterator[Finding]:
        seen, name = self._seen[event.name], event.name
        still = bool(seen.zeros) and seen.zeros == seen.runs
        unread = seen.unread + (seen.zeros if _always_moves(event) and not still else 0)
        if unread:
            yield _finding(
                f"{name} was not counted in {unread} of {seen.runs} runs: these rows are without it",
                "see what else counts on this host: perf, a profiler, another trial",
            )
        if seen.cut:
            yield _finding(
                f"{name} was counted for a small part of {seen.cut} of {seen.runs} runs: these rows are without it",
                "the kernel ends it where a program changes its user (setuid), or may not be read, and you "
                "lack CAP_PERFMON: measure as root, or another program",
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
        if still and not event.may_be_still:
            yield _finding(
                f"{name} read 0 in all {seen.runs} runs: it does not seem to be counted on this machine",
                "compare with 'perf stat'; a virtual machine may show counters that never move",
            )


def _always_moves(event: Resolved) -> bool:
    return event.name in EVENTS and EVENTS[event.name].never_zero


def _finding(what: str, fix: str) -> Finding:
    return Finding(
        check="counters", status="warn", what=what, where="counters", fix=fix, reason=_REASON
    )
