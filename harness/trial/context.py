"""What a trial is measured with: host, programs and store; the launcher of a session, and its environment."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analysis.record.environment import diff, findings_of, segments_of
from analysis.record.manifest import utc_now
from analysis.record.trial_files import OUTPUTS, Finding

from ..campaign.cells import layout_seed, needs_layout_seed, with_layout_seed
from ..host.commits import VariantCommit, commits_of_programs
from ..host.variables import VariableKey, variable_key
from ..launch.commands import CommandFailedError, SideCommands, unused_log
from ..launch.matching import Interrupted, Interrupts
from ..launch.running import RunningServices
from .builds import TrialBuilds
from .run_files import ArgumentFiles, set_aside

if TYPE_CHECKING:
    from ..campaign.model import Campaign, Cell, Command
    from ..host.placement import CpuPlan
    from ..host.state import HostState
    from ..launch.client import LauncherClient
    from .preparation import Prepared, Watcher
    from .writer import Store


@dataclass(slots=True, kw_only=True)
class TrialContext:
    """What a trial is measured with, from the first look at the host until it is closed.

    Targets, hooks and builds start from `environment`. The `store` is there once the trial is open,
    the `executables` of its cells once the `builds` have made them; `services` stand during sessions or runs; no run may pass `deadline`, a monotonic time.
    """

    campaign: Campaign
    prepared: Prepared
    environment: Mapping[str, str]
    commands: SideCommands
    interrupts: Interrupts
    watcher: Watcher
    store: Store = field(init=False)
    executables: Mapping[tuple[str, str], Path] = field(default_factory=dict)
    builds: TrialBuilds = field(init=False)
    services: RunningServices = field(init=False)
    deadline: float | None = None
    _commits: Mapping[str, VariantCommit] | None = field(init=False, default=None)
    _threaded: set[tuple[str, str]] = field(init=False, default_factory=set)

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
        finding = Finding(
            check="threads",
            status="warn",
            what=f"{cell.benchmark} / {cell.variant} has {threads} threads, pinned to one CPU",
            where=f"isolation.cpus = {self.campaign.isolation.cpus}",
            fix="name as many CPUs as it has threads, such as 'cpus: [2, 3]'",
            reason="threads that share one CPU wait for each other: the time is not the program's",
        )
        self.note("during", [finding])

    def __post_init__(self) -> None:
        self.builds = TrialBuilds(self)
        cpus = self.prepared.cpus
        self.services = RunningServices(
            self.campaign,
            environment=self.environment,
            cpus=cpus.services,
            pinned=cpus.targets is not None,
            commands=self.commands,
            interrupts=self.interrupts,
            groups=self.prepared.grouping.groups,
        )

    def find_programs(self, *, of_sessions: bool = True) -> None:
        """Find what the cells execute; without `of_sessions` what no session builds for itself."""
        self.executables = self.builds.programs(of_sessions=of_sessions)
        self._commits = None

    def cell_of(self, benchmark: str, variant: str, session: int) -> Cell:
        """Give a cell as a session executes it, with the seed of its layout."""
        cell = self.campaign.cell(benchmark, variant)
        if not needs_layout_seed(cell):
            return cell
        return with_layout_seed(cell, self.seed_of(variant, session))

    def seed_of(self, variant: str, session: int) -> int:
        """Give the seed of a variant's layout in a session."""
        manifest = self.store.manifest
        return layout_seed(manifest.seed, session, variant, manifest.node)

    def commits(self) -> Mapping[str, VariantCommit]:
        """Give the commit of each variant: what the campaign says, else what git does, asked once."""
        if self._commits is None:
            given = self.campaign.commit
            self._commits = {
                variant: VariantCommit(commit=text) for variant, text in given.items()
            } or commits_of_programs(self.executables)
        return self._commits

    def described_services(self) -> dict[str, Any]:
        """Say what each service is, and beside whom it runs, as an environment record has it."""
        return {
            label: {**about, "beside": _beside(self.prepared.cpus, label)}
            for label, about in self.services.described().items()
        }

    def set_aside_files(self) -> None:
        """Give another name to what lies in the place of the metrics' files."""
        found = set_aside(self.campaign, self.executables, self.store.path)
        if found is not None:
            self.note("before", [found])

    def hook(self, name: str, command: Command, log: Path, variables: Mapping[str, str]) -> float:
        """Execute one hook with its output in `log`; give its duration in seconds."""
        trial = {"FAIRTRIAL_TRIAL": str(self.store.path.resolve())}
        return self.commands.execute(
            f"hook '{name}'",
            command,
            cwd=self.campaign.source.parent,
            env={**self.environment, **trial, **variables},
            log=log,
            timeout_s=self.campaign.hooks.timeout_s,
        )

    def set_up(self, session: int) -> None:
        """Execute the hooks before a session."""
        for number, command in enumerate(self.campaign.hooks.setup, 1):
            log = self._log(f"setup-session{session}", number)
            self.hook("setup", command, log, {"FAIRTRIAL_SESSION": str(session)})

    @contextlib.contextmanager
    def with_services(self, session: int) -> Iterator[None]:
        """Have the services of a session stand while the block lasts."""
        if not self.campaign.services:
            yield
            return

        def tell(what: str) -> None:
            reason = "a service that begins anew has lost what it had in memory: runs before and behind it may differ"
            where = "services"
            self.note(
                "during",
                [Finding(check="services", status="warn", what=what, where=where, reason=reason)],
                session,
            )

        with self.services.standing(session, self.store.path / OUTPUTS, tell):
            yield

    def clean_up(self, session: int) -> None:
        """Execute the hooks that end a session, whatever has become of it."""
        variables = {"FAIRTRIAL_SESSION": str(session)}
        hooks = self.campaign.hooks.cleanup
        self._last_hooks("cleanup", hooks, f"cleanup-session{session}", variables)

    def finish(self, status: str) -> None:
        """Execute the hooks that end the trial."""
        variables = {"FAIRTRIAL_STATUS": status}
        self._last_hooks("finish", self.campaign.hooks.finish, "finish", variables)

    def _last_hooks(
        self, name: str, commands: Iterable[Command], stem: str, variables: Mapping[str, str]
    ) -> None:
        """Execute hooks that come last: a failure is a finding, the measurements stand."""
        with self.interrupts.set_aside():
            for number, command in enumerate(commands, 1):
                try:
                    self.hook(name, command, self._log(stem, number), variables)
                except (CommandFailedError, Interrupted) as error:
                    what = "interrupted"
                    if isinstance(error, CommandFailedError):  # what it wrote stays in its log
                        what = error.what.splitlines()[0]
                    finding = Finding(check="hook", status="warn", what=f"hook '{name}': {what}")
                    self.note("after", (finding,))

    def _log(self, stem: str, number: int) -> Path:
        return unused_log(self.store.path / OUTPUTS, stem, number)


# Hears of a session that has just ended, before the pause behind it.
AfterSession = Callable[[TrialContext, int], object]


class SessionLauncher:
    """Hands runs to a launcher; `renew` replaces one that died."""

    def __init__(self, make: Callable[[], LauncherClient], tell: Callable[[Finding], None]) -> None:
        self._make = make
        self.tell = tell
        self.client = make()
        self._placement = self.client.placement
        self._rows: list[int] = []  # executed since it was last looked at

    def renew(self, what: str) -> None:
        """Start a new launcher in place of one that died, and say so."""
        self.client.close()
        self.tell(
            Finding(
                check="launcher",
                status="warn",
                what=what,
                reason="the run may have killed it: it is executed once more, under a new launcher",
            )
        )
        self.client = self._make()

    def executed(self, position: int) -> None:
        """Note a run whose row stands: what is found next touches it."""
        self._rows.append(position)

    def hold(self) -> None:
        """Look whether it still runs where and how it did at its start: once a block.

        A program with the rights for it may change its launcher, and all later ones inherit that. What was
        changed is put back; where that is not permitted a new launcher takes its place. The rows since
        the last look are named.
        """
        rows, self._rows = self._rows, []
        before, now = self._placement, self.client.placement
        if before is None or now is None or now == before or not rows:
            return
        self.client.place(before)
        what = "it was put back"
        if self.client.placement != before:
            self.client.close()
            self.client = self._make()
            what = "a new launcher took its place"
            if (found := self.client.placement) != before:
                self._placement = found  # said once
                what = "it cannot be put back, and stays"
        self.tell(
            Finding(
                check="placement",
                status="warn",
                what=f"the launcher was changed while it measured: {before.changes(now)}; {what}. Runs of the "
                f"rows from position {rows[0]} to {rows[-1]} may have inherited that, whatever the rows say",
                where="affinity, nice and scheduling of the launcher, looked at once a block",
                fix="find out which program changes its parent; measure those rows again",
                reason="a program inherits where it runs, and how it is scheduled, from its launcher",
            )
        )

    def close(self) -> None:
        """End the launcher; it sweeps before it exits."""
        self.client.close()


def stays(campaign: Campaign, cpus: CpuPlan, state: HostState) -> bool:
    """Tell whether a session's launcher stays awake for the next run: where it takes the CPU from nobody.

    It is the same for all runs of a session, so that no variant is measured another way than the
    others. Not where fairtrial itself may run on the targets' CPUs or beside them on their cores,
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


class EnvironmentRecorder:
    """Records the environments of a trial's sessions; follows the `arguments` that are files."""

    def __init__(self, context: TrialContext) -> None:
        self._context = context
        self.arguments = ArgumentFiles(context.campaign, context.store.manifest.arguments)
        self._key = variable_key(os.environ)
        self._unsaid = tuple(_without_key(self._key))
        earlier = context.store.environments()
        self._last = earlier[-1] if earlier else None
        most = context.store.manifest.sessions
        self._segments = segments_of(earlier, most)

    def next_segment(self, session: int) -> int:
        """Give 0, or how many times the session will have been resumed."""
        return self._segments.get(session, -1) + 1

    def record(self, session: int, segment: int, *, sitting: bool = False) -> None:
        """Store the environment, of a session or of a whole sitting; note what has changed since the last."""
        context, store = self._context, self._context.store
        record = context.prepared.describe(
            context.executables, context.environment, self._key, context.commits()
        )
        before, self._last = self._last, record
        head: dict[str, Any] = {"session": session, "segment": segment, "at": utc_now()}
        if context.campaign.services:
            record["services"] = context.described_services()
        if sitting:
            head["sessions"] = [session, None]  # its last one is not known before it ends
        store.append_environment(head | record)
        found = [*findings_of(diff(before, record) if before else ()), *self._unsaid]
        if before is None:
            found += _refused_by_git(context.commits())
        self._unsaid = ()  # once is enough
        changed = self.arguments.look()
        if changed:
            store.update(arguments=self.arguments.known)
            found += changed
        context.note("before", found, session)


def _refused_by_git(commits: Mapping[str, VariantCommit]) -> Iterator[Finding]:
    refused: dict[tuple[str | None, str], list[str]] = {}
    for variant, one in commits.items():
        if one.fix is not None:
            refused.setdefault((one.unknown, one.fix), []).append(variant)
    for (why, fix), variants in refused.items():
        yield Finding(
            check="commit",
            status="warn",
            what=f"the commit of {', '.join(variants)} is unknown: {why}",
            fix=fix,
            reason="a history names the commits behind a change, and orders nights by them",
        )


def _beside(cpus: CpuPlan, label: str) -> str | None:
    """Tell with whom a service shares a CPU: the runs, fairtrial, or nobody."""
    own = set(cpus.services.get(label, ()))
    if cpus.targets is None or own & set(cpus.targets):
        return "runs"
    return "fairtrial" if own & set(cpus.housekeeping) else None


def _without_key(key: VariableKey) -> Iterator[Finding]:
    if key.problem is not None:
        yield Finding(
            check="variables",
            status="warn",
            what="a change in variables whose values are not stored will not be noticed: the key of "
            f"their hashes cannot be used, {key.problem}",
            where=key.where,
            fix=key.fix,
            reason="a variable may change how fast a program is",
        )
