"""What is read beside a trial's times: counted events, the energy of runs, their cgroups."""

from __future__ import annotations

import contextlib
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analysis.record.trial_files import (
    ENERGY,
    NET_ENERGY,
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
from ..host.energy import IDLE_S, Spent, measure_idle
from ..host.facts import DELEGATED, missing_for
from ..host.state import CounterLook, HostState, Tree
from ..launch.client import LauncherClient
from ..launch.exchange import Execution
from ..launch.matching import Interrupts

if TYPE_CHECKING:
    from ..host.activity import Host
    from ..host.counters import CounterPlan, CounterTally
    from .session import TrialRun

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
                reason="memory and processor time are told of the program and the children that it "
                "waited for alone",
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
    """Make the place of the runs' cgroups, and move this process into a group beside them.

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


class SessionEnergy:
    """Measures energy around and in sessions, where the campaign asks for it and it can be had."""

    def __init__(self, trial: TrialRun) -> None:
        self._trial, self._meter = trial, trial.prepared.energy
        self._idle: IdlePower | None = None
        self._works = False
        self._unknown: Counter[str] = Counter()
        self._said = False

    @contextlib.contextmanager
    def around(self, session: int, segment: int) -> Iterator[None]:
        """Measure the idle power before and after the runs of a session's segment."""
        if not self._meter.available:
            yield
            return
        before = self._measure_idle(session, segment, "before")
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
            self._tell_unknown(session)
        if self._idle is None:
            return
        after = self._measure_idle(session, segment, "after")
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
            self._meter.begin()

    def tick(self) -> None:
        """Look, while a run lasts, whether the counters have to be read."""
        if self._works:
            self._meter.tick()

    def end(self) -> Spent | None:
        """End a run; give what was used meanwhile, None where nobody reads it."""
        return self._meter.end() if self._works else None

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

    def _measure_idle(self, session: int, segment: int, when: When) -> IdlePower | str:
        """Measure and store the idle power; give why it is not known otherwise."""
        trial = self._trial
        if trial.deadline is not None and time.monotonic() + IDLE_S > trial.deadline:
            return _LATE
        if not self._said:
            self._said = True
            trial.watcher.say(
                f"energy  before and after each session {IDLE_S:.0f} s pass without a run, to know what "
                "the machine uses then"
            )
        trial.store.sync()  # not while it is measured
        found = measure_idle(self._meter, trial.interrupts.sleep)
        if isinstance(found, str):
            return found
        idle = IdlePower(session=session, segment=segment, when=when, **found._asdict())
        trial.store.update(idle_power=(*trial.store.manifest.idle_power, idle))
        return idle

    def _tell_unknown(self, session: int) -> None:
        for why, runs in self._unknown.items():
            what = f"the energy of {counted(runs, 'run')} of session {session} is not known: {why}"
            self._tell(session, "after", what)
        self._unknown.clear()

    def _tell(
        self, session: int, when: When, what: str, fix: str = "docs/energy.md says what can be done"
    ) -> None:
        self._trial.note(when, [warning("energy", what, "energy", fix, _REASON)], session)
