"""The loop: plan x launcher x checks -> store. Stop rules, signals, sessions, resume."""

from __future__ import annotations

import contextlib
import gc
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from analysis.record import Finding, GivenUp, Measurement, PlannedRun, SessionEnd, TrialStatus

from ..campaign import Campaign, Cell
from ..checks import check_between
from ..errors import FairtrialError, StoreError
from ..launch import Interrupted, Interrupts, LauncherClient, SideCommands
from ..store import Store
from .clockwatch import ClockWatch
from .deciding.hopeless import finding_of_given_up
from .deciding.session_rules import Earlier, SessionRules
from .deciding.session_stop import finding_of
from .ending import Ending
from .files.agreement import Agreement
from .files.inputs import ArgumentFiles
from .launchers import SessionLauncher
from .measure import CapReached, Measurer
from .metering.energy import SessionEnergy
from .preparation import Prepared
from .resuming.way_on import RUN_CAP
from .setting import Setting
from .surroundings import Surroundings
from .trial_hooks import TrialHooks
from .watcher import Watcher

_SYNC_S = 1.0
_BLOCK_SYNC_S = 0.1  # blocks of very short runs would else sync after every few runs
_LOOK_S = 30.0


class TrialRun:
    """One trial under way: executes the sessions that are left of an open store.

    Parameters
    ----------
    campaign : Campaign
        What is executed.
    store : Store
        The open trial.
    prepared : Prepared
        The host as it was found.
    environment : mapping of str to str
        The variables that every command starts from.
    executables : mapping
        (benchmark, variant) -> the file that is executed.
    commands : SideCommands
        Executes the hooks.
    interrupts : Interrupts
        Says when to stop.
    watcher : Watcher
        Who follows the trial.
    after_session : callable
        Called when a session has ended and all of it is stored.
    """

    def __init__(
        self,
        *,
        campaign: Campaign,
        store: Store,
        prepared: Prepared,
        environment: Mapping[str, str],
        executables: Mapping[tuple[str, str], Path],
        commands: SideCommands,
        interrupts: Interrupts,
        watcher: Watcher,
        after_session: Callable[[], object] = lambda: None,
    ) -> None:
        self._after_session = after_session
        self._campaign = campaign
        self._store = store
        self._prepared = prepared
        self._environment = environment
        self._executables = executables
        self._commands = commands
        self._interrupts = interrupts
        self._watcher = watcher
        self._hooks = TrialHooks(
            campaign=campaign,
            store=store,
            environment=environment,
            commands=commands,
            interrupts=interrupts,
            watcher=watcher,
        )
        self._measured = prepared.measured
        cap = campaign.protocol.max_time_s
        self._deadline = None if cap is None else time.monotonic() + cap
        self._energy = SessionEnergy(prepared.energy, store, interrupts, watcher, self._deadline)
        self._sessions_planned = {run.session for run in store.planned()}
        self._threaded: set[tuple[str, str]] = set()
        self._executed_before = store.executed
        self._clock = ClockWatch()
        self._agreement = Agreement.of_trial(store.path) if store.done else Agreement()
        self._arguments = ArgumentFiles(campaign, store.manifest.arguments)
        self._surroundings = Surroundings(
            store, prepared, executables, environment, self._arguments
        )
        self._earlier = Earlier.of_trial(store, campaign)

    def execute(self) -> Ending:
        """Execute what is left, and close the trial whatever happens.

        Raises
        ------
        FairtrialError
            If the trial had to stop; it is closed and kept.
        """
        try:
            for session in range(1, (sessions := self._store.manifest.sessions) + 1):
                if self._session(session):
                    self._after_session()
                    if session < sessions:
                        self._rest(self._campaign.protocol.pause_s)
        except Interrupted as stop:
            self._interrupts.acknowledge()
            return self._end("interrupted", f"signal {stop.number}")
        except CapReached as cap:
            return self._end("stopped", str(cap), cap)
        except FairtrialError as error:
            self._close(error.what.splitlines()[0])
            raise
        except OSError as error:
            self._close(str(error))
            where = str(error.filename or self._store.path)
            raise StoreError(f"the trial had to stop: {error.strerror}", where) from error
        return self._end("complete", None)

    def _close(self, reason: str) -> None:
        """Close a trial that has to stop, as well as its disk allows."""
        with contextlib.suppress(FairtrialError):
            self._end("stopped", reason)
        self._store.release()

    def _end(
        self, status: TrialStatus, reason: str | None, cap: CapReached | None = None
    ) -> Ending:
        self._watcher.end()
        self._store.free_reserve()
        with contextlib.suppress(StoreError):  # a disk that is full does not keep the trial open
            self._hooks.finish(status)
        self._commands.close()
        must_raise = cap.key if cap is not None and self._stays(cap) else None
        damage = self._store.damage() if status == "complete" else None
        if damage is not None:
            self._store.finish("stopped", damage.what)
            raise damage
        self._store.finish(status, reason, must_raise)
        return Ending(
            trial=self._store.path,
            status=status,
            reason=reason,
            done=self._store.counted,
            planned=self._store.manifest.needed,
            failed=self._store.failed.total(),
            failed_cells=self._store.failed,
            disturbances=self._store.disturbances,
            repeating=self._store.manifest.repeating,
            suspended=self._store.suspended,
            session_ends=self._store.manifest.session_ends,
            given_up=self._store.manifest.given_up,
            capped=cap is not None,
            unmeasured=0 if cap is None else self._unmeasured(),
            must_raise=must_raise,
        )

    def _stays(self, cap: CapReached) -> bool:
        """Tell whether the trial would come to the same cap again, without a run, if it went on."""
        return cap.key == "protocol.max_runs" or self._store.executed == self._executed_before

    def _unmeasured(self) -> int:
        """Count the cells of all planned sessions that have no run that counts."""
        done = self._store.done
        counted = {
            (run.session, run.benchmark, run.variant)
            for run in self._store.planned()
            if not run.warmup and done.get(run.position) == "ok"
        }
        return self._store.manifest.sessions * len(self._campaign.cells) - len(counted)

    def _session(self, session: int) -> bool:
        """Execute what is left of a session; tell whether there was anything."""
        with self._interrupts.at_once():  # a long plan takes a while
            rules = SessionRules(self._campaign, self._store, session, self._earlier)
            unsaid = rules.unsaid
        self._store.append_findings("during", unsaid, session)
        self._watcher.findings(unsaid)
        for one in rules.given_up_unrecorded:
            self._give_up(one)
        if (end := rules.end()) is not None:
            self._session_ended(end)  # a kill came between its last run and this record
            return False
        with self._interrupts.at_once():
            left = rules.is_left()
        if not left:
            return False
        self._interrupts.check()
        segment = self._surroundings.next_segment(session)
        if session not in self._sessions_planned:
            self._store.append_plan(rules.runs)
        self._watcher.findings(self._surroundings.record(session, segment))
        host = self._prepared.host
        gaps = self._prepared.probe()
        self._interrupts.check()  # a signal may have come while it was looked
        before, started = host.counters(self._measured), time.monotonic()
        found = self._prepared.look(gaps)
        self._store.append_findings("before", found, session)
        self._watcher.findings(found)
        self._prepared.require(found)
        try:  # a setup that fails half-way is cleaned up too
            self._hooks.setup(session)
            with self._launcher(session) as launcher, self._energy.around(session, segment):
                self._runs(rules, segment, launcher)
            if (end := rules.end()) is not None:
                self._session_ended(end)
        finally:
            self._store.sync()
            self._hooks.cleanup(session)
            self._commands.sweep()
            elapsed = time.monotonic() - started
            after = host.counters(self._measured)
            found = (
                *check_between(before, after, elapsed, cpus=self._measured),
                *rules.findings(),
            )
            self._store.append_findings("after", found, session)
            self._watcher.findings(found)
        return True

    def _give_up(self, one: GivenUp) -> None:
        """Record that a session goes on without a cell, and say so."""
        self._store.sync()
        finding = finding_of_given_up(one)
        self._store.append_findings("during", [finding], one.session)
        self._store.update(given_up=(*self._store.manifest.given_up, one))
        self._watcher.findings([finding])
        self._watcher.total_changed(self._store.manifest.needed)

    def _session_ended(self, end: SessionEnd) -> None:
        """Record why a session needs no more runs, and say so."""
        self._store.sync()
        self._store.append_findings("after", [finding_of(end)], end.session)
        self._store.update(session_ends=(*self._store.manifest.session_ends, end))
        self._watcher.session_ended(end, self._store.manifest.needed)

    @contextlib.contextmanager
    def _launcher(self, session: int) -> Iterator[SessionLauncher]:
        isolation, cpus = self._campaign.isolation, self._prepared.cpus.targets
        told = self._prepared.launching
        launcher = SessionLauncher(
            lambda: LauncherClient(isolation, cpus, self._interrupts, **told),
            lambda found: self._look((found,), session),
        )
        try:
            yield launcher
        finally:
            launcher.close()

    def _runs(
        self,
        rules: SessionRules,
        segment: int,
        launcher: SessionLauncher,
    ) -> None:
        measurer = Measurer(
            Setting(
                campaign=self._campaign,
                seed=self._store.manifest.seed,
                segment=segment,
                launcher=launcher,
                commands=self._commands,
                interrupts=self._interrupts,
                host=self._prepared.host,
                cpus=self._prepared.cpus.targets,
                environment=self._environment,
                executables=self._executables,
                outputs=self._store.path / "outputs",
                deadline=self._deadline,
                on_threads=self._found_threads,
                on_tick=self._energy.ticking(self._watcher.tick),
                tally=self._prepared.tally(),
                energy=self._energy,
            )
        )
        host = self._prepared.host
        before, looked = host.counters(self._measured), time.monotonic()
        block = None
        gc.freeze()  # what is loaded by now stays: no collection between two runs looks at it
        try:
            for run in rules.due():
                self._interrupts.check()
                if block is None:
                    block = run.block
                if run.block != block:
                    block = run.block
                    launcher.hold()
                    self._store.sync(older_than_s=_BLOCK_SYNC_S)
                    if time.monotonic() - looked >= _LOOK_S:
                        after, now = host.counters(self._measured), time.monotonic()
                        seen = check_between(before, after, now - looked, cpus=self._measured)
                        self._look(seen, rules.session)
                        before, looked = after, now
                    self._look(self._clock.findings(), rules.session)
                self._check_caps(run)
                self._rest(self._campaign.protocol.cooldown_s)
                self._watcher.run_started(run)
                cell = self._campaign.cell(run.benchmark, run.variant)
                self._store.sync(older_than_s=0.0 if cell.before or cell.after else _SYNC_S)
                measurement = measurer.measure(run)
                self._store.append_measurement(measurement)
                launcher.executed(measurement.position)
                self._note(measurement)
                given_up, in_vain = rules.add(run, measurement)
                self._watcher.run_done(measurement)
                if given_up is not None:
                    self._give_up(given_up)
                if in_vain is not None:
                    self._store.append_findings("during", [in_vain], run.session)
                    self._watcher.findings([in_vain])
            launcher.hold()
            self._look(self._clock.findings(), rules.session)
        finally:
            strange = measurer.close()
            self._store.append_findings("after", strange, rules.session)
            self._watcher.findings(strange)

    def _note(self, run: Measurement) -> None:
        """Look whether a run wrote what its cell did before, and which arguments no run writes."""
        differs = self._agreement.add(run.benchmark, run.variant, run.outcome, run.stdout_sha256)
        if differs is not None:
            self._store.append_findings("during", [differs], run.session)
            self._watcher.findings([differs])
        if self._arguments.executed(run.benchmark, run.variant):
            self._store.update(arguments=self._arguments.known)

    def _look(self, findings: tuple[Finding, ...], session: int) -> None:
        """Record what a look during the session found, unless all is well."""
        worse = [finding for finding in findings if finding.status in {"warn", "fail"}]
        self._store.append_findings("during", worse, session)

    def _check_caps(self, run: PlannedRun) -> None:
        protocol = self._campaign.protocol
        if protocol.max_runs is not None and self._store.executed >= protocol.max_runs:
            what = f"{RUN_CAP} of {protocol.max_runs} runs was reached"
            raise CapReached("protocol.max_runs", what)
        if self._deadline is not None and time.monotonic() >= self._deadline:
            raise CapReached(
                "protocol.max_time",
                f"the time cap of {protocol.max_time_s:g} s was reached before run {run.position}",
            )

    def _rest(self, seconds: float) -> None:
        if self._deadline is not None:
            seconds = min(seconds, self._deadline - time.monotonic())
        if seconds > 0:
            self._store.sync()
            self._interrupts.sleep(seconds)

    def _found_threads(self, cell: Cell, threads: int) -> None:
        key = (cell.benchmark, cell.variant)
        if key in self._threaded:
            return
        self._threaded.add(key)
        finding = Finding(
            check="threads",
            status="warn",
            what=f"{cell.benchmark} / {cell.variant} has {threads} threads, pinned to one CPU",
            where=f"isolation.cpus = {self._campaign.isolation.cpus}",
            fix="name as many CPUs as it has threads, such as 'cpus: [2, 3]'",
            reason="threads that share one CPU wait for each other: the time is not the program's",
        )
        self._store.append_findings("during", [finding])
        self._watcher.findings((finding,))
