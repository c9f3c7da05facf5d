"""The loop: plan x launcher x checks -> store. Stop rules, signals, sessions, resume."""

from __future__ import annotations

import contextlib
import gc
import time
from collections.abc import Iterator, Mapping
from itertools import chain, count
from pathlib import Path
from typing import Any

from analysis.record import Finding, Measurement, PlannedRun, SessionEnd, TrialStatus
from analysis.version import VERSION

from ..campaign import Campaign, Cell, Command
from ..checks import check_between
from ..environment import capture, diff
from ..errors import FairtrialError, StoreError
from ..host import format_cpus
from ..launch import CommandFailedError, Interrupted, Interrupts, LauncherClient, SideCommands
from ..store import Store, utc_now
from .clockwatch import ClockWatch
from .ending import RUN_CAP, Ending
from .measure import CapReached, Measurer, Setting
from .order import plan_session
from .preparation import Prepared
from .resumption import still_to_do
from .session_stop import SessionStop, finding_of, stored_runs
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
    ) -> None:
        self._campaign = campaign
        self._store = store
        self._prepared = prepared
        self._environment = environment
        self._executables = executables
        self._commands = commands
        self._interrupts = interrupts
        self._watcher = watcher
        self._measured = prepared.measured
        cap = campaign.protocol.max_time_s
        self._deadline = None if cap is None else time.monotonic() + cap
        earlier = store.environments()
        self._last_environment = earlier[-1] if earlier else None
        self._segments = {record["session"]: record.get("segment", 0) for record in earlier}
        self._sessions_planned = {run.session for run in store.planned()}
        self._threaded: set[tuple[str, str]] = set()
        self._clock = ClockWatch()
        self._earlier: Mapping[int, list[Measurement]] = {}
        if campaign.protocol.stop is not None and store.done:
            ended = (end.session for end in store.manifest.session_ends)
            self._earlier = stored_runs(store.path, ended)

    def execute(self) -> Ending:
        """Execute what is left, and close the trial whatever happens.

        Raises
        ------
        FairtrialError
            If the trial had to stop; it is closed and kept.
        """
        sessions = self._store.manifest.sessions
        try:
            for session in range(1, sessions + 1):
                if self._session(session) and session < sessions:
                    self._rest(self._campaign.protocol.pause_s)
        except Interrupted as stop:
            self._interrupts.acknowledge()
            return self._end("interrupted", f"signal {stop.number}")
        except CapReached as cap:
            return self._end("stopped", str(cap))
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

    def _end(self, status: TrialStatus, reason: str | None) -> Ending:
        self._watcher.end()
        self._store.free_reserve()
        with contextlib.suppress(StoreError):  # a disk that is full does not keep the trial open
            self._hook("finish", self._campaign.hooks.finish, {"FAIRTRIAL_STATUS": status})
        self._commands.close()
        self._store.finish(status, reason)
        outcomes = [what for position, what in self._store.done.items() if position >= 0]
        return Ending(
            trial=self._store.path,
            status=status,
            reason=reason,
            done=len(outcomes),
            planned=self._store.manifest.needed,
            failed=sum(1 for what in outcomes if what != "ok"),
            session_ends=self._store.manifest.session_ends,
        )

    def _session(self, session: int) -> bool:
        """Execute what is left of a session; tell whether there was anything."""
        runs = list(plan_session(self._campaign, self._store.manifest.seed, session))
        left = still_to_do(runs, self._store.done)
        stop = self._stop(session)
        if stop is not None and (end := stop.end()) is not None:
            self._session_ended(end)  # a kill came between its last run and this record
            return False
        if not left or self._has_ended(session):
            return False
        self._interrupts.check()
        segment = self._segments.get(session, -1) + 1
        if session not in self._sessions_planned:
            self._store.append_plan(runs)
        self._record_environment(session, segment)
        host = self._prepared.host
        before, started = host.counters(self._measured), time.monotonic()
        found = self._prepared.look()
        self._store.append_findings("before", found, session)
        self._watcher.findings(found)
        self._prepared.require(found)
        try:  # a setup that fails half-way is cleaned up too
            self._hook_or_fail("setup", self._campaign.hooks.setup, session)
            with self._launcher() as launcher:
                self._runs(left, segment, launcher, stop)
            if stop is not None and (end := stop.end()) is not None:
                self._session_ended(end)
        finally:
            self._store.sync()
            self._hook("cleanup", self._campaign.hooks.cleanup, {"FAIRTRIAL_SESSION": str(session)})
            self._commands.sweep()
            elapsed = time.monotonic() - started
            after = host.counters(self._measured)
            found = check_between(before, after, elapsed, cpus=self._measured)
            self._store.append_findings("after", found, session)
            self._watcher.findings(found)
        return True

    def _stop(self, session: int) -> SessionStop | None:
        """Make what applies the stopping rule to a session, with its stored runs.

        None without a rule, and for a session that has ended: that stays as it was recorded.
        """
        rule = self._campaign.protocol.stop
        if rule is None or self._has_ended(session):
            return None
        stop = SessionStop(rule, self._campaign, session)
        for measurement in self._earlier.get(session, ()):
            stop.add(measurement)
        return stop

    def _has_ended(self, session: int) -> bool:
        return any(end.session == session for end in self._store.manifest.session_ends)

    def _session_ended(self, end: SessionEnd) -> None:
        """Record why a session needs no more runs, and say so."""
        self._store.sync()
        self._store.append_findings("after", [finding_of(end)], end.session)
        self._store.update(session_ends=(*self._store.manifest.session_ends, end))
        self._watcher.session_ended(end, self._store.manifest.needed)

    @contextlib.contextmanager
    def _launcher(self) -> Iterator[LauncherClient]:
        cpus = self._prepared.cpus.targets
        launcher = LauncherClient(self._campaign.isolation, cpus, self._interrupts)
        try:
            yield launcher
        finally:
            launcher.close()

    def _runs(
        self,
        left: list[PlannedRun],
        segment: int,
        launcher: LauncherClient,
        stop: SessionStop | None,
    ) -> None:
        measurer = Measurer(
            Setting(
                campaign=self._campaign,
                seed=self._store.manifest.seed,
                segment=segment,
                launcher=launcher,
                commands=self._commands,
                host=self._prepared.host,
                cpus=self._prepared.cpus.targets,
                environment=self._environment,
                executables=self._executables,
                outputs=self._store.path / "outputs",
                deadline=self._deadline,
                on_threads=self._found_threads,
                on_tick=self._watcher.tick,
            )
        )
        host = self._prepared.host
        before, looked = host.counters(self._measured), time.monotonic()
        block = left[0].block
        gc.freeze()  # what is loaded by now stays: no collection between two runs looks at it
        try:
            for run in left:
                self._interrupts.check()
                if run.block != block and stop is not None and stop.end() is not None:
                    break
                self._check_caps(run)
                if run.block != block:
                    block = run.block
                    self._store.sync(older_than_s=_BLOCK_SYNC_S)
                    if time.monotonic() - looked >= _LOOK_S:
                        after, now = host.counters(self._measured), time.monotonic()
                        self._look(check_between(before, after, now - looked, cpus=self._measured))
                        before, looked = after, now
                    self._look(self._clock.findings())
                self._rest(self._campaign.protocol.cooldown_s)
                self._watcher.run_started(run)
                cell = self._campaign.cell(run.benchmark, run.variant)
                self._store.sync(older_than_s=0.0 if cell.before or cell.after else _SYNC_S)
                measurement = measurer.measure(run)
                self._store.append_measurement(measurement)
                if stop is not None:
                    stop.add(measurement)
                self._watcher.run_done(measurement)
            self._look(self._clock.findings())
        finally:
            measurer.close()

    def _look(self, findings: tuple[Finding, ...]) -> None:
        """Record what a look during the session found, unless all is well."""
        worse = [finding for finding in findings if finding.status in {"warn", "fail"}]
        if worse:
            self._store.append_findings("during", worse)

    def _check_caps(self, run: PlannedRun) -> None:
        protocol = self._campaign.protocol
        if protocol.max_runs is not None and self._store.counted >= protocol.max_runs:
            raise CapReached(f"{RUN_CAP} of {protocol.max_runs} runs was reached")
        if self._deadline is not None and time.monotonic() >= self._deadline:
            raise CapReached(
                f"the time cap of {protocol.max_time_s:g} s was reached before run {run.position}"
            )

    def _rest(self, seconds: float) -> None:
        if self._deadline is not None:
            seconds = min(seconds, self._deadline - time.monotonic())
        if seconds > 0:
            self._store.sync()
            self._interrupts.sleep(seconds)

    def _record_environment(self, session: int, segment: int) -> None:
        """Store the environment, and say what has changed since the last session."""
        record = describe(self._prepared, self._executables, self._environment)
        before = self._last_environment
        head = {"session": session, "segment": segment, "at": utc_now()}
        self._store.append_environment(head | record)
        self._last_environment = record
        changes = diff(before, record) if before else ()
        said = [(change.what, change.key) for change in changes if change.kind != "variables"]
        variables = [change.key for change in changes if change.kind == "variables"]
        if variables:
            names = ", ".join(key.partition(".")[2] for key in variables)
            said.append((f"environment variables changed: {names}", "variables"))
        found = [
            Finding(
                check="environment",
                status="warn",
                what=what,
                where=where,
                reason="sessions under other conditions are not samples of the same thing",
            )
            for what, where in said
        ]
        self._store.append_findings("before", found, session)
        self._watcher.findings(found)

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

    def _hook_or_fail(self, name: str, commands: tuple[Command, ...], session: int) -> None:
        extra = {"FAIRTRIAL_SESSION": str(session)}
        for number, command in enumerate(commands, 1):
            self._execute_hook(name, number, command, extra)

    def _hook(self, name: str, commands: tuple[Command, ...], extra: Mapping[str, str]) -> None:
        """Execute hooks that come last: a failure is a finding, the measurements stand."""
        with self._interrupts.set_aside():
            for number, command in enumerate(commands, 1):
                try:
                    self._execute_hook(name, number, command, extra)
                except (CommandFailedError, Interrupted) as error:
                    what = error.what if isinstance(error, CommandFailedError) else "interrupted"
                    finding = Finding(check="hook", status="warn", what=f"hook '{name}': {what}")
                    self._store.append_findings("after", [finding])
                    self._watcher.findings((finding,))

    def _execute_hook(
        self, name: str, number: int, command: Command, extra: Mapping[str, str]
    ) -> None:
        self._commands.execute(
            f"hook '{name}'",
            command,
            cwd=self._campaign.source.parent,
            env=self._hook_environment(extra),
            log=self._log(name, extra.get("FAIRTRIAL_SESSION"), number),
            timeout_s=self._campaign.hooks.timeout_s,
        )

    def _log(self, name: str, session: str | None, number: int) -> Path:
        """Name a hook's log; a session that is resumed adds logs and overwrites none."""
        stem = name if session is None else f"{name}-session{session}"
        folder = self._store.path / "outputs"
        repeats = chain([""], (f"-again{n}" for n in count(1)))
        paths = (folder / f"{stem}{again}-{number}.log" for again in repeats)
        return next(path for path in paths if not path.exists())

    def _hook_environment(self, extra: Mapping[str, str]) -> dict[str, str]:
        trial = {"FAIRTRIAL_TRIAL": str(self._store.path.resolve())}
        return {**self._environment, **trial, **extra}


def describe(
    prepared: Prepared,
    executables: Mapping[tuple[str, str], Path],
    environment: Mapping[str, str],
) -> dict[str, Any]:
    """Capture the environment of a session, as JSON types."""
    record = capture(
        prepared.host,
        targets={
            f"{benchmark}/{variant}": path for (benchmark, variant), path in executables.items()
        },
        variables=environment,
        tool_version=VERSION,
    )
    # fairtrial has moved itself off the measured CPUs by now; what it may use is meant here
    record["process"]["affinity"] = format_cpus(prepared.state.usable)
    return {"containment": prepared.containment} | record
