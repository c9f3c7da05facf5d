"""What is looked at before the first run: host, CPUs, checks, space, permissions; what a trial is measured with, and who hears of it."""

from __future__ import annotations

import contextlib
import dataclasses
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from analysis.errors import StoreError
from analysis.record.run_numbers import Measurement
from analysis.record.trial_files import Finding, PlannedRun, SessionEnd, warning
from analysis.version import VERSION

from ..campaign.cells import SessionBuilds, layout_seed
from ..campaign.model import LAYOUT_SEED, Campaign, Cell, Command, filled
from ..errors import HostError, size
from ..host.activity import Host
from ..host.checks import check_before, fatal_findings
from ..host.executables import VariantCommit, describe_inputs
from ..host.placement import CpuPlan
from ..host.snapshot import capture
from ..host.state import CounterLook, GapLook, HostState, format_cpus
from ..host.variables import VariableKey
from ..launch.client import LauncherClient
from ..launch.commands import SideCommands
from ..launch.matching import Interrupts, Matching
from ..launch.running import RunningServices
from .folder import cpus_in_use
from .metering import (
    IDLE_S,
    EnergyMeter,
    Grouping,
    SessionEnergy,
    counter_plan,
    group_runs,
    open_energy,
)
from .plan import free_space, look_at_cpus, planned_runs, room_needed, situation_of
from .run_files import declared_inputs

if TYPE_CHECKING:
    from ..host.counters import CounterPlan, CounterTally
    from .writer import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A host that is fit to measure a campaign, and what was found on it before the trial.

    `counters` is what launchers are asked to count and `events` what became of that; both are None
    for a campaign that counts nothing.
    """

    campaign: Campaign
    folder: Path
    needed_bytes: int
    strict: bool
    host: Host
    state: HostState
    cpus: CpuPlan
    free_bytes: int
    containment: str
    counters: CounterPlan | None
    events: CounterLook | None
    energy: EnergyMeter
    grouping: Grouping
    findings: tuple[Finding, ...]

    @property
    def measured(self) -> tuple[int, ...]:
        """The CPUs whose state matters: the targets', or all when they are not pinned."""
        return self.cpus.targets or self.state.usable

    @property
    def launching(self) -> dict[str, Any]:
        """What a session's launcher gets in addition to settings and CPUs."""
        return {
            "counters": None if self.counters is None else self.counters.message,
            "stays": stays(self.campaign, self.cpus, self.state),
            "groups": self.grouping.groups,
        }

    def tally(self) -> CounterTally | None:
        """Make what turns a session's counters into metrics; None where nothing is counted."""
        if self.counters is None or self.events is None:
            return None
        from ..host.counters import CounterTally

        return CounterTally(self.counters, self.events)

    def probe(self) -> GapLook:
        """Look how much of the targets' CPUs others take: the one thing here that takes time."""
        seconds = self.campaign.checks.probe_s
        if not seconds:
            return GapLook(problem="not looked for: checks.probe = 0s")
        cpus = self.cpus.targets
        return look_at_cpus(self.campaign, self.host, cpus, seconds, ours=self.cpus.reserved)

    def look(self, gaps: GapLook | None = None) -> tuple[Finding, ...]:
        """Check the host as it is now; without `gaps` nothing is said of them."""
        situation = situation_of(
            self.campaign,
            self.host,
            self.measured,
            self.folder,
            needed_bytes=self.needed_bytes,
            gaps=gaps,
            groups=self.grouping.controllers,
            events=self.events,
        )
        own = _own_findings(self.cpus, self.containment, self.campaign)
        return (*check_before(situation), *own, *self.grouping.findings())

    def describe(
        self,
        executables: Mapping[tuple[str, str], Path],
        environment: Mapping[str, str],
        key: VariableKey | None = None,
        commits: Mapping[str, VariantCommit] | None = None,
    ) -> dict[str, Any]:
        """Capture the environment of a session, as JSON types; `commits` are those of the variants."""
        known = {name: one.to_dict() for name, one in (commits or {}).items()}
        builds = SessionBuilds.of(self.campaign)
        record = capture(
            self.host,
            targets={f"{bench}/{variant}": path for (bench, variant), path in executables.items()},
            variables=environment,
            tool_version=VERSION,
            key=key,
            commits={f"{b}/{v}": known[v] for b, v in executables if v in known},
            of_session={
                path: partial(builds.made, variant=v)
                for (_, v), path in executables.items()
                if v in builds.places
            },
        )
        # fairtrial has moved itself off the measured CPUs by now; what it may use is meant here
        record["process"]["affinity"] = format_cpus(self.state.usable)
        record["process"]["cgroup"] = self.grouping.to_dict()
        events = {} if self.events is None else {"counters": self.events.to_dict()}
        return {"containment": self.containment} | record | events | {"inputs": self.inputs()}

    def inputs(self) -> dict[str, Any]:
        """Describe the files that the campaign names as inputs, as JSON types."""
        declared = (path for cell in self.campaign.cells for _, path in declared_inputs(cell))
        return describe_inputs(declared, self.campaign.source.parent)

    def require(self, findings: tuple[Finding, ...]) -> None:
        """Stop where a required check says so."""
        fatal = fatal_findings(findings, self.campaign.checks.require, strict=self.strict)
        if fatal:
            first = fatal[0]
            others = f" (and {len(fatal) - 1} more)" if len(fatal) > 1 else ""
            what = f"required check '{first.check}': {first.what}{others}"
            raise HostError(what, first.where, first.fix)


def stays(campaign: Campaign, cpus: CpuPlan, state: HostState) -> bool:
    """Tell whether a session's launcher stays awake for the next run: where it takes the CPU from nobody.

    It is the same for all runs of a session, so that no variant is measured another way than the
    others. Not where fairtrial itself may run on the targets' CPUs or on their cores,
    nor where that is unknown: it would wait for the launcher. Not in the real-time class: a busy
    launcher would use up the share of time that the kernel leaves to it. Not where something is
    executed or waited for between the runs, on battery, or under a quota of processor time.
    """
    if cpus.targets is None or set(cpus.reserved) & set(cpus.housekeeping):
        return False
    if any(cpu.siblings is None for cpu in state.topology.only(cpus.targets)):
        return False
    if campaign.isolation.scheduling == "fifo" or campaign.protocol.cooldown_s > 0:
        return False
    if any(cell.before or cell.after for cell in campaign.cells):
        return False
    if any(service.each == "run" for service in campaign.services):
        return False
    return not state.draining and state.quota_cpus is None


@contextlib.contextmanager
def on_housekeeping_cpus(prepared: Prepared) -> Iterator[None]:
    """Keep fairtrial itself off the measured CPUs while the block lasts."""
    before = os.sched_getaffinity(0)
    if prepared.cpus.targets is not None:
        os.sched_setaffinity(0, prepared.cpus.housekeeping)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def prepare(
    campaign: Campaign,
    folder: Path,
    sessions: int,
    interrupts: Interrupts,
    cpus: CpuPlan,
    *,
    strict: bool,
    kept_bytes: int = 0,
) -> Prepared:
    """Look at the host before anything of the trial is executed or written."""
    host = Host()
    state = host.read()
    state = host.read(cpus.targets or state.usable)
    free = free_space(folder)
    needed = room_needed(campaign, sessions, kept_bytes=kept_bytes)
    plan = counter_plan(campaign, host, state, cpus.targets)
    message = None if plan is None else plan.message
    with contextlib.ExitStack() as undo:
        grouping = group_runs(host, campaign.isolation)
        undo.callback(grouping.close)
        launcher = LauncherClient(  # are the settings permitted?
            campaign.isolation, cpus.targets, interrupts, counters=message, groups=grouping.groups
        )
        launcher.close()
        events = None
        if plan is not None:
            from ..host.counters import look_of

            events = look_of(plan, None if message is None else launcher.counters)
        energy = open_energy(host, state) if campaign.energy else EnergyMeter()
        prepared = Prepared(
            campaign=campaign,
            folder=folder,
            needed_bytes=needed,
            strict=strict,
            host=host,
            state=state,
            cpus=cpus,
            free_bytes=free,
            containment=launcher.containment,
            grouping=dataclasses.replace(grouping, spawned=launcher.spawns_into_groups),
            counters=plan,
            events=events,
            energy=energy,
            findings=(),
        )
        # who requires it wants to know before anything is built; sessions look for themselves
        gaps = prepared.probe() if "gaps" in campaign.checks.require else None
        prepared = dataclasses.replace(prepared, findings=prepared.look(gaps))
        prepared.require(prepared.findings)
        if free < needed:
            raise StoreError(
                f"{size(free)} are free, and this trial may need {size(needed)}",
                str(folder),
                "free some space, choose another folder with --dir DIR, or lower "
                "isolation.kept_outputs, the most that is kept of what runs write",
            )
        undo.pop_all()  # from now on who asked for all this closes it
    return prepared


def _own_findings(cpus: CpuPlan, containment: str, campaign: Campaign) -> Iterator[Finding]:
    """Say what the kernel does not know: containment, how the CPUs were chosen, other trials."""
    for caution in cpus.cautions:
        yield warning(
            "cpus",
            caution,
            f"isolation.cpus = {campaign.isolation.cpus}",
            reason="where a target runs decides what disturbs it",
        )
    if cpus.targets is not None and len(cpus.targets) == 1 and not campaign.protocol.warmup:
        yield Finding(
            check="threads",
            status="unknown",
            what="without warm-up runs nothing shows whether a target has threads",
            where=f"protocol.warmup = {campaign.protocol.warmup}",
            reason="threads that share one CPU wait for each other",
        )
    if containment == "none":
        yield warning(
            "containment",
            "no PID namespace: if fairtrial and its launcher are both killed with -9 at "
            "the same instant, a target may live on",
            f"isolation.containment = {campaign.isolation.containment}",
            "execute as root, or allow user namespaces (sysctl user.max_user_namespaces)"
            if campaign.isolation.containment == "auto"
            else "write 'containment: auto'",
            "a target that lives on would disturb every later measurement",
        )
    held = cpus_in_use()  # by us too, once the trial has begun; who else holds ours stops it anyway
    others = None if held is None else tuple(cpu for cpu in held if cpu not in cpus.reserved)
    if others is None or others:
        yield Finding(
            check="other-trials",
            status="unknown" if others is None else "warn",
            what="the kernel does not show whether other trials measure on this host"
            if others is None
            else f"another trial measures on CPU {', '.join(map(str, others))} of this host",
            where="/proc/net/unix",
            fix=None if others is None else "let it finish first",
            reason="trials share caches, memory and the power budget, whatever their CPUs",
        )


def idle_seconds(campaign: Campaign, sessions: int, *, energy: bool = True) -> float:
    """Give the seconds without a run that energy asks for; none where there is none (`energy`)."""
    return 2 * IDLE_S * sessions if campaign.energy and energy else 0.0


def has_energy(campaign: Campaign, host: Host, state: HostState) -> bool:
    """Tell whether a campaign asks for energy, and its counters can be opened on this host."""
    return campaign.energy and open_energy(host, state).available


def expected_seconds(
    campaign: Campaign, sessions: int, known_s: Mapping[str, float], *, energy: bool = True
) -> float | None:
    """Estimate how long the runs take, from an earlier trial's seconds per run of each cell."""
    protocol = campaign.protocol
    total = protocol.cooldown_s * planned_runs(campaign, sessions)
    total += idle_seconds(campaign, sessions, energy=energy)
    for cell in campaign.cells:
        seconds = known_s.get(f"{cell.benchmark}/{cell.variant}")
        if seconds is None:
            return None
        total += seconds * protocol.passes(sessions)
    built = any(build.each == "session" for build in campaign.builds)  # then it settles after each
    return total + protocol.pause_s * (sessions if built else sessions - 1)


class Watcher(Protocol):
    """Follows a trial; nothing that it does may disturb a run, or raise."""

    def say(self, text: str) -> None:
        """Hear of something in words, such as a build that begins."""

    def opened(self, trial: Path, campaign: Campaign, prepared: Prepared) -> None:
        """Hear where the trial is stored, what is executed and on which host."""

    def begin(self, total: int, done: int, sessions: int) -> None:
        """Hear that sessions begin: planned runs in all, those that are there already."""

    def findings(self, findings: Iterable[Finding]) -> None:
        """Hear what was found on the host, good or bad."""

    def run_started(self, run: PlannedRun) -> None:
        """Hear which run comes next."""

    def tick(self) -> None:
        """Take the time to look, a few times a second, while a run lasts."""

    def run_done(self, measurement: Measurement) -> None:
        """Hear what came out."""

    def session_ended(self, end: SessionEnd, total: int) -> None:
        """Hear why a session under a stopping rule ended; `total` runs are now the most."""

    def total_changed(self, total: int) -> None:
        """Hear that `total` runs are now the most, because a cell was given up."""

    def end(self) -> None:
        """Hear that no run follows."""


@dataclass(slots=True, kw_only=True)
class TrialContext:
    """What a trial is measured with, from the first look at the host until it is closed.

    Targets, hooks and builds start from `environment`. The `store` is there once the trial is open,
    the `executables` of its cells once they are built, the variants' `commits` once they are asked for;
    `services` stand during sessions or runs; no run may pass `deadline`, a monotonic time.
    """

    campaign: Campaign
    prepared: Prepared
    environment: Mapping[str, str]
    commands: SideCommands
    interrupts: Interrupts
    watcher: Watcher
    store: Store = field(init=False)
    executables: Mapping[tuple[str, str], Path] = field(default_factory=dict)
    services: RunningServices = field(init=False)
    energy: SessionEnergy = field(init=False)
    deadline: float | None = None
    commits: Mapping[str, VariantCommit] | None = field(init=False, default=None)
    _threaded: set[tuple[str, str]] = field(init=False, default_factory=set)

    def __post_init__(self) -> None:
        cpus = self.prepared.cpus
        sleep, say = self.interrupts.sleep, self.watcher.say
        self.energy = SessionEnergy(self.prepared.energy, sleep, say, self.note)
        self.services = RunningServices(
            self.campaign,
            environment=self.environment,
            cpus=cpus.services,
            pinned=cpus.targets is not None,
            commands=self.commands,
            interrupts=self.interrupts,
            groups=self.prepared.grouping.groups,
        )

    def note(self, when: str, findings: Sequence[Finding], session: int | None = None) -> None:
        """Record findings in the trial, and tell who watches it."""
        self.store.append_findings(when, findings, session)
        self.watcher.findings(findings)

    def note_threads(self, cell: Cell, threads: int) -> None:
        """Note, once for a cell, that its target has threads that share one CPU."""
        key = (cell.benchmark, cell.variant)
        if key in self._threaded:
            return
        self._threaded.add(key)
        found = warning(
            "threads",
            f"{cell.benchmark} / {cell.variant} has {threads} threads, pinned to one CPU",
            f"isolation.cpus = {self.campaign.isolation.cpus}",
            "name as many CPUs as it has threads, such as 'cpus: [2, 3]'",
            "threads that share one CPU wait for each other: the time is not the program's",
        )
        self.note("during", [found])

    def look(self, findings: Sequence[Finding], session: int) -> None:
        """Record what a look during the session found, unless all is well."""
        worse = [finding for finding in findings if finding.status in {"warn", "fail"}]
        self.store.append_findings("during", worse, session)

    def cell_of(self, benchmark: str, variant: str, session: int) -> Cell:
        """Give a cell as a session executes it, with the seed of its layout."""
        cell = self.campaign.cell(benchmark, variant)
        if not any(LAYOUT_SEED in text for text in cell.env.values()):
            return cell
        return filled(cell, {LAYOUT_SEED: str(self.seed_of(variant, session))})

    def seed_of(self, variant: str, session: int) -> int:
        """Give the seed of a variant's layout in a session."""
        manifest = self.store.manifest
        return layout_seed(manifest.seed, session, variant, manifest.node)

    def matching(self) -> Matching:
        """Give what reads the outputs of programs, up to the limit of the campaign."""
        return Matching(self.interrupts, limit_bytes=self.campaign.isolation.output_limit_bytes)

    def hook(self, name: str, command: Command, log: Path, variables: Mapping[str, str]) -> float:
        """Execute one hook with its output in `log`; give its duration in seconds."""
        trial = {"FAIRTRIAL_TRIAL": str(self.store.path.resolve())}
        done = self.commands.execute(
            f"hook '{name}'",
            command,
            cwd=self.campaign.source.parent,
            env={**self.environment, **trial, **variables},
            log=log,
            timeout_s=self.campaign.hooks.timeout_s,
        )
        return done.wall_ns / 1e9
