"""What is read in addition to a trial's times: counted events, the energy of runs, their cgroups."""

from __future__ import annotations

import contextlib
import math
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from analysis.record.trial_files import (
    ENERGY,
    NET_ENERGY,
    RESOLUTION_S,
    STEADY,
    Finding,
    IdlePower,
    When,
    is_steady,
    warning,
)

from ..campaign.model import Campaign, Isolation
from ..errors import HostError, counted
from ..host.cgroups import NoGroupsError, RunGroups
from ..host.facts import DELEGATED, missing_for
from ..host.state import CounterLook, HostState, Tree
from ..launch.client import LauncherClient
from ..launch.exchange import Execution
from ..launch.matching import Interrupts

if TYPE_CHECKING:
    from ..host.activity import Host
    from ..host.counters import CounterPlan, CounterTally
    from .writer import Store

# --- The energy of the processor's packages, by powercap, while runs last and while none does. A
# counter begins again at 0 behind its range: it is read every 30 s, and what is not certain is None.


@dataclass(slots=True)
class EnergyCounter:
    """A counter of energy that only grows; one count of it is `joules`.

    Behind the largest count, `range`, it begins again at 0; None for one that never does. `read` gives
    the count now, None when it cannot be read any more.
    """

    name: str
    joules: float
    range: int | None
    read: Callable[[], int | None]
    count: int | None = None
    since: float = 0.0  # when the count was seen first
    total: int = 0  # of a span
    moved: bool = False

    def note(self, at: float) -> int | None:
        """Read the count, and keep since when it has been that."""
        count = self.read()
        if count != self.count:
            self.count, self.since = count, at
        return count


_EVERY_S = 30.0
# More than any package takes. A counter that was set back (the host slept) would seem to take more,
# and one that nobody has read for long may have wrapped twice.
_MOST_W = 1000.0
_STEP_S = 0.01  # at an end that much of what was used before may show, or not yet show


class Spent(NamedTuple):
    """The energy of a span; `joules` is None where it is not known, and `why` says why."""

    joules: float | None
    seconds: float
    why: str | None = None


class EnergyMeter:
    """Measures the energy of all packages, span after span."""

    def __init__(self, counters: Sequence[EnergyCounter] = ()) -> None:
        self._counters = tuple(counters)
        self._begun = self._read_at = 0.0
        self._why: str | None = None

    @property
    def available(self) -> bool:
        """Whether there is anything to read."""
        return bool(self._counters)

    @property
    def metrics(self) -> Mapping[str, Mapping[str, str]]:
        """Declare the metrics, as a trial's manifest does; none where there is nothing to read."""
        if not self.available:
            return {}
        return {
            name: {"unit": "J", "better": "lower", "source": "powercap"}
            for name in (ENERGY, NET_ENERGY)
        }

    def begin(self) -> None:
        """Begin a span."""
        self._why = None
        # the clock first, as at the end: what a read takes is then in neither of the two
        self._begun = self._read_at = time.monotonic()
        for counter in self._counters:
            counter.total = 0
            if counter.note(self._read_at) is None:
                self._unknown(f"the energy of {counter.name} cannot be read any more")

    def tick(self) -> None:
        """Read within a span, if it is time: to be called a few times a minute, or more often."""
        if time.monotonic() - self._read_at >= _EVERY_S:
            self._take()

    def end(self) -> Spent:
        """End the span."""
        self._take()
        seconds = self._read_at - self._begun
        for counter in self._counters:
            counter.moved |= counter.total > 0
            # of a short span 0 is what a counter says that moves once a millisecond: if it ever does,
            # and has not stood through the spans before it too
            still = self._read_at - counter.since >= RESOLUTION_S
            if counter.total == 0 and (still or not counter.moved):
                self._unknown(
                    f"the energy counter of {counter.name} stands still: a virtual machine, most likely"
                )
        joules = None
        if self._why is None:
            joules = sum(counter.total * counter.joules for counter in self._counters)
        return Spent(joules=joules, seconds=seconds, why=self._why)

    def _take(self) -> None:
        before, self._read_at = self._read_at, time.monotonic()
        passed = self._read_at - before
        for counter in self._counters:
            old, new = counter.count, counter.note(self._read_at)
            if old is None or new is None:
                self._unknown(f"the energy of {counter.name} cannot be read any more")
                continue
            used = new - old
            most = _MOST_W * (passed + _STEP_S) / counter.joules
            if used < 0 and counter.range is not None:
                used += counter.range
            if counter.range is not None and most >= counter.range:
                self._unknown(
                    f"the energy counter of {counter.name} was not read for {passed:.0f} s: it may "
                    "have begun again at 0 more than once"
                )
            elif not 0 <= used <= most:
                self._unknown(f"the energy counter of {counter.name} was set back")
            else:
                counter.total += used

    def _unknown(self, why: str) -> None:
        self._why = self._why or why


def open_energy(host: Host, state: HostState) -> EnergyMeter:
    """Open the counters of all packages; of no package alone, the energy would be a part of it."""
    zones = state.energy or ()
    if zones and all(zone.readable for zone in zones):
        counted = [
            EnergyCounter(
                zone.name or zone.path, 1e-6, zone.range_uj, partial(host.energy_uj, zone.path)
            )
            for zone in zones
        ]
        return EnergyMeter(counted)
    return EnergyMeter()


IDLE_S = 10.0
_PARTS = 10  # whose differences tell how well the mean is known


def measure_idle(meter: EnergyMeter, sleep: Callable[[float], None]) -> dict[str, float] | str:
    """Measure the idle power for `IDLE_S` seconds, as `IdlePower` has it; give why it is not known otherwise.

    The standard error is that of the mean of ten parts of a second each.
    """
    powers, joules, seconds = [], 0.0, 0.0
    for _ in range(_PARTS):
        meter.begin()
        sleep(IDLE_S / _PARTS)
        part = meter.end()
        if part.joules is None:
            return part.why or "the energy is not known"
        powers.append(part.joules / part.seconds)
        joules += part.joules
        seconds += part.seconds
    error = statistics.stdev(powers) / math.sqrt(_PARTS)
    return {"watts": joules / seconds, "error_w": error, "seconds": seconds}


# --- What of this a campaign asks for.

# What the doctor tries when no campaign says what is wanted.
_USUAL = ("instructions", "cycles", "task-clock", "page-faults")


def counter_plan(
    campaign: Campaign | None, host: Host, state: HostState, cpus: tuple[int, ...] | None
) -> CounterPlan | None:
    """Find the events of a campaign on a host."""
    counting = campaign.counters if campaign else None
    if campaign is not None and counting is None:
        return None
    from ..host.counters import plan_of

    events = [(name, None) for name in _USUAL]
    wanted = events if counting is None else [(one.name, one.raw) for one in counting.events]
    share = counting is not None and counting.multiplex == "allow"
    return plan_of(wanted, Tree(host.root), cpus, share=share, virtual=state.virtual)


def look_at_counters(
    campaign: Campaign | None, host: Host, state: HostState, cpus: tuple[int, ...] | None
) -> CounterLook | None:
    """See which events could be counted here, through a launcher that executes nothing."""
    if host.root != Path("/"):
        return None
    plan = counter_plan(campaign, host, state, cpus)
    if plan is None:
        return None
    from ..host.counters import look_of

    if plan.message is None:
        return look_of(plan, None, asked=campaign is not None)
    launcher = LauncherClient(
        Isolation(containment="none"), cpus, Interrupts(), counters=plan.message
    )
    launcher.close()
    return look_of(plan, launcher.counters, asked=campaign is not None)


def counters_of(
    tally: CounterTally, done: Execution, *, wanted: bool
) -> dict[str, tuple[float, ...]]:
    """Give the metrics that the counters of one run are, if it was `wanted` that it is counted."""
    if done.counters is None:
        if wanted:
            tally.unread()
        return {}
    numbers = done.numbers
    spent = numbers["user_s"] + numbers["system_s"]
    return tally.metrics(done.counters, cpu_s=spent, spawn_ns=numbers["spawn_ns"])


_WITH_VERSION_1 = (
    "; on a host whose controllers are cgroups of version 1, start the kernel with "
    "systemd.unified_cgroup_hierarchy=1"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Grouping:
    """Whether each run has a cgroup of its own; `problem` says why it has none, or no controller.

    A run is `spawned` in its group, or else comes into it with the launcher.
    """

    groups: RunGroups | None = None
    spawned: bool = False
    problem: str | None = None

    @property
    def controllers(self) -> tuple[str, ...] | None:
        """Those that the runs' groups have; None without groups."""
        return None if self.groups is None else self.groups.controllers

    def findings(self) -> Iterator[Finding]:
        """Say what was tried and could not be had."""
        if self.problem is not None:
            yield Finding(
                check="containment",
                status="unknown",
                what=f"{self.problem}; what all processes of a run use together is not known",
                where="isolation.containment = auto",
                fix=DELEGATED,
                reason="memory and processor time then cover only the program and the children that it "
                "waited for",
            )

    def to_dict(self) -> dict[str, Any] | None:
        """Give what the environment record says of it; None without groups."""
        if self.groups is None:
            return None
        return {
            "controllers": " ".join(self.groups.controllers) or "none",
            "entry": "spawned" if self.spawned else "moved",
        }

    def close(self) -> None:
        """Remove the groups."""
        if self.groups is not None:
            self.groups.close()


def group_runs(host: Host, isolation: Isolation) -> Grouping:
    """Make the place of the runs' cgroups, and move this process into a group next to them.

    With ``containment: none`` only limits of all processes together ask for it.
    """
    asked = missing_for(isolation.limits, ())
    if isolation.containment == "none" and asked is None:
        return Grouping()
    own = host.own_group()
    try:
        groups = RunGroups(own, host.root)
    except NoGroupsError as refused:
        if asked is not None:
            raise _cannot_hold(asked, str(refused)) from None
        # the check `cgroup` tells of what can be seen from outside
        return Grouping(problem=str(refused) if own is not None and own.writable else None)
    missing = missing_for(isolation.limits, groups.controllers)
    if missing is not None:
        groups.close()
        if groups.withheld:
            raise _cannot_hold(missing, groups.withheld)
        why = f"the kernel offers no controller '{missing}' here"
        raise _cannot_hold(missing, why, _WITH_VERSION_1)
    return Grouping(groups=groups, problem=groups.withheld)


def _cannot_hold(limit: str, why: str, or_else: str = "") -> HostError:
    what = f"the limit '{limit}' cannot be held: {why}"
    return HostError(what, f"isolation.limits.{limit}", f"{DELEGATED}{or_else}; or drop the limit")


_LATE = f"the time cap comes before {IDLE_S:.0f} s have passed"
_REASON = (
    "the packages' energy is the machine's: what it uses without the program is no part of a run"
)


@dataclass(slots=True)
class SessionEnergy:
    """Measures energy around and in sessions, where the campaign asks for it; `sleep`, `say` and `note` are the trial's."""

    meter: EnergyMeter
    sleep: Callable[[float], None]
    say: Callable[[str], None]
    note: Callable[[str, Sequence[Finding], int], None]
    _idle: IdlePower | None = field(init=False, default=None)
    _works: bool = field(init=False, default=False)
    _unknown: Counter[str] = field(init=False, default_factory=Counter)
    _said: bool = field(init=False, default=False)

    @contextlib.contextmanager
    def around(
        self, store: Store, session: int, segment: int, deadline: float | None
    ) -> Iterator[None]:
        """Measure the idle power before and after the runs of a session's segment, as far as `deadline` leaves time."""
        if not self.meter.available:
            yield
            return
        measure = partial(self._measure_idle, store, deadline, session, segment)
        before = measure("before")
        self._idle = before if isinstance(before, IdlePower) else None
        # counters that are gone, or stand still, are found here: then no run is asked
        self._works = self._idle is not None or before == _LATE
        if isinstance(before, str):
            lost = f"{NET_ENERGY} is" if self._works else f"{ENERGY} and {NET_ENERGY} are"
            what = f"{lost} not known of the runs of session {session}: {before}"
            self._tell(session, "before", what)
        try:
            yield
        finally:
            self._works = False
            for why, runs in self._unknown.items():
                of = f"the energy of {counted(runs, 'run')} of session {session}"
                self._tell(session, "after", f"{of} is not known: {why}")
            self._unknown.clear()
        if self._idle is None:
            return
        after = measure("after")
        if isinstance(after, str):
            what = f"the idle power after the runs of session {session} is not known: {after}"
            self._tell(session, "after", what)
        elif not is_steady(self._idle, after):
            what = (
                f"the machine used {self._idle.watts:.2f} W idle before the runs of session {session} "
                f"and {after.watts:.2f} W after them, more than {STEADY:.0%} apart: its {NET_ENERGY} "
                "is not judged"
            )
            fix = (
                f"end what else runs, let the machine settle, and measure again; or judge {ENERGY}"
            )
            self._tell(session, "after", what, fix)

    def begin(self) -> None:
        """Begin a run."""
        if self._works:
            self.meter.begin()

    def tick(self) -> None:
        """Look, while a run lasts, whether the counters have to be read."""
        if self._works:
            self.meter.tick()

    def end(self) -> Spent | None:
        """End a run; give what was used meanwhile, None where nobody reads it."""
        return self.meter.end() if self._works else None

    def metrics(self, spent: Spent | None, wall_ns: int) -> Mapping[str, tuple[float, ...]]:
        """Give the metrics of a run that took so long, without those that are not known."""
        if spent is None:
            return {}
        if spent.joules is None:
            self._unknown[spent.why or "the counters do not say"] += 1
            return {}
        if self._idle is None:
            return {ENERGY: (spent.joules,)}
        net = spent.joules - self._idle.watts * wall_ns / 1e9
        return {ENERGY: (spent.joules,), NET_ENERGY: (net,)}

    def _measure_idle(
        self, store: Store, deadline: float | None, session: int, segment: int, when: When
    ) -> IdlePower | str:
        if deadline is not None and time.monotonic() + IDLE_S > deadline:
            return _LATE
        if not self._said:
            self._said = True
            self.say(
                f"energy  before and after each session {IDLE_S:.0f} s pass without a run, to know what "
                "the machine uses then"
            )
        store.sync()  # not while it is measured
        found = measure_idle(self.meter, self.sleep)
        if isinstance(found, str):
            return found
        idle = IdlePower(session=session, segment=segment, when=when, **found)
        store.update(idle_power=(*store.manifest.idle_power, idle))
        return idle

    def _tell(
        self, session: int, when: When, what: str, fix: str = "docs/energy.md says what can be done"
    ) -> None:
        self.note(when, [warning("energy", what, "energy", fix, _REASON)], session)
