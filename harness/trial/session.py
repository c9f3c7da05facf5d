"""The loop: plan x launcher x checks -> store. Stop rules, signals, sessions, resume."""

from __future__ import annotations

import contextlib
import gc
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from analysis.errors import FairtrialError, StoreError
from analysis.record.trial_files import Finding, GivenUp, PlannedRun, SessionEnd, TrialStatus

from ..host.checks import check_between
from ..launch.client import LauncherClient, sink_of
from ..launch.exchange import more_files
from ..launch.matching import Interrupted
from .context import AfterSession, EnvironmentRecorder, SessionLauncher, TrialContext
from .ending import RUN_CAP, Ending
from .gives_up import KEY, NeverOk, finding_of_given_up, finding_of_never_ok
from .measure import CapReached, ClockWatch, Measurer
from .metering import SessionEnergy
from .run_files import OutputAgreement
from .stopping import Earlier, SessionRules, finding_of

if TYPE_CHECKING:
    from analysis.record.run_numbers import Measurement

_SYNC_S = 1.0
_BLOCK_SYNC_S = 0.1  # blocks of very short runs would else sync after every few runs
_LOOK_S = 30.0


class TrialRun:
    """One trial under way: executes the sessions that are left of an open store."""

    def __init__(self, context: TrialContext, after_session: AfterSession | None = None) -> None:
        self._context = context
        self._after_session = after_session
        self._campaign, self._store = context.campaign, context.store
        self._prepared, self._interrupts = context.prepared, context.interrupts
        cap = self._campaign.protocol.max_time_s
        context.deadline = None if cap is None else time.monotonic() + cap
        self._energy = SessionEnergy(context)
        self._sessions_planned = {run.session for run in self._store.planned()}
        self._executed_before = self._store.executed
        self._clock = ClockWatch()
        self._agreement = (
            OutputAgreement.of_trial(self._store.path)
            if self._store.rows.outcomes
            else OutputAgreement()
        )
        self._environments = EnvironmentRecorder(context)
        self._earlier = Earlier.of_trial(self._store, self._campaign)
        self._never_ok: NeverOk | None = None

    def execute(self) -> Ending:
        """Execute what is left, and close the trial whatever happens."""
        try:
            self._sessions()
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
            what = f"the trial had to stop: {error.strerror}"
            raise StoreError(what, where, more_files(error.errno)) from error
        return self._end("complete", None)

    def _sessions(self) -> None:
        self._look_at_first_tries()
        for session in range(1, (sessions := self._store.manifest.sessions) + 1):
            if self._session(session):
                if self._after_session is not None:
                    self._after_session(self._context, session)
                if session < sessions and not self._context.builds.of_sessions:
                    self._rest(self._campaign.protocol.pause_s)

    def _look_at_first_tries(self) -> None:
        """Take up what the stored rows say of cells that cannot succeed."""
        store = self._store
        if self._campaign.protocol.never_ok == "go_on":  # since it was resumed, maybe
            kept = tuple(one for one in store.manifest.given_up if not one.never_ok)
            if kept != store.manifest.given_up:
                store.update(given_up=kept)
                self._context.watcher.total_changed(store.manifest.needed)
            return
        with self._interrupts.at_once():
            self._never_ok = NeverOk(self._campaign, store)
        self._leave_out(self._never_ok.unrecorded())
        self._end_if_in_vain()

    def _leave_out(self, records: Sequence[GivenUp]) -> None:
        """Record that the trial goes on without cells that cannot succeed, and say so once of each."""
        if not records:
            return
        store, watcher = self._store, self._context.watcher
        store.sync()
        said = {(one.benchmark, one.variant) for one in store.manifest.given_up if one.never_ok}
        first = {(one.benchmark, one.variant): one for one in reversed(records)}
        found = [finding_of_never_ok(one) for cell, one in first.items() if cell not in said]
        store.append_findings("during", found, 1)
        store.update(given_up=(*store.manifest.given_up, *records))
        watcher.findings(found)
        watcher.total_changed(store.manifest.needed)

    def _end_if_in_vain(self) -> None:
        whole = (
            self._store.rows.counted >= self._store.manifest.planned
        )  # it comes to its end by itself
        why = None if self._never_ok is None or whole else self._never_ok.end()
        if why is not None:
            raise CapReached(KEY, why)

    def _close(self, reason: str) -> None:
        """Close a trial that has to stop, as well as its disk allows."""
        with contextlib.suppress(FairtrialError):
            self._end("stopped", reason)
        self._store.release()

    def _end(
        self, status: TrialStatus, reason: str | None, cap: CapReached | None = None
    ) -> Ending:
        store = self._store
        self._context.watcher.end()
        store.free_reserve()
        with contextlib.suppress(StoreError):  # a disk that is full does not keep the trial open
            self._context.finish(status)
        self._context.commands.close()
        must_raise = cap.key if cap is not None and self._stays(cap) else None
        damage = store.damage() if status == "complete" else None
        if damage is not None:
            store.finish("stopped", damage.what)
            raise damage
        store.finish(status, reason, must_raise)
        return Ending.of(
            store.path,
            store.manifest,
            store.rows,
            status=status,
            reason=reason,
            disturbances=store.rows.disturbances.counts,
            capped=cap is not None,
            unmeasured=0 if cap is None else self._unmeasured(),
            must_raise=must_raise,
        )

    def _stays(self, cap: CapReached) -> bool:
        """Tell whether the trial would come to the same cap again, without a run, if it went on."""
        return (
            cap.key in {"protocol.max_runs", KEY} or self._store.executed == self._executed_before
        )

    def _unmeasured(self) -> int:
        done = self._store.rows.outcomes
        counted = {
            (run.session, run.benchmark, run.variant)
            for run in self._store.planned()
            if not run.warmup and done.get(run.position) == "ok"
        }
        return self._store.manifest.sessions * len(self._campaign.cells) - len(counted)

    def _session(self, session: int) -> bool:
        """Execute what is left of a session; tell whether there was anything."""
        context, prepared = self._context, self._prepared
        with self._interrupts.at_once():  # a long plan takes a while
            rules = SessionRules(self._campaign, self._store, session, self._earlier)
            unsaid = rules.unsaid
        context.note("during", unsaid, session)
        for one in rules.hopeless.unrecorded:
            self._give_up(one)
        if (end := rules.end()) is not None:
            self._session_ended(end)  # a kill came between its last run and this record
            return False
        with self._interrupts.at_once():
            left = rules.is_left()
        if not left:
            return False
        self._interrupts.check()
        segment = self._environments.next_segment(session)
        if session not in self._sessions_planned:
            self._store.append_plan(rules.runs)
        if context.builds.of_sessions:  # the machine settles after them
            self._check_time(f"the builds of session {session}")
            context.builds.build_for(session, segment)
            self._rest(self._campaign.protocol.pause_s)
            self._interrupts.check()
        context.services.choose_ports()
        self._environments.record(session, segment)
        gaps = prepared.probe()
        self._interrupts.check()  # a signal may have come while it was looked
        before, started = prepared.host.counters(prepared.measured), time.monotonic()
        found = prepared.look(gaps)
        context.note("before", found, session)
        prepared.require(found)
        try:  # a setup that fails half-way is cleaned up too
            context.set_up(session)
            with (
                context.with_services(session),
                self._launcher(session) as launcher,
                self._energy.around(session, segment),
            ):
                self._runs(rules, segment, launcher)
            if (end := rules.end()) is not None:
                self._session_ended(end)
        finally:
            self._store.sync()
            context.clean_up(session)
            context.commands.sweep()
            elapsed = time.monotonic() - started
            after = prepared.host.counters(prepared.measured)
            moved = check_between(before, after, elapsed, cpus=prepared.measured)
            context.note("after", (*moved, *rules.findings()), session)
        return True

    def _give_up(self, one: GivenUp) -> None:
        """Record that a session goes on without a cell, and say so."""
        store, watcher = self._store, self._context.watcher
        store.sync()
        finding = finding_of_given_up(one)
        store.append_findings("during", [finding], one.session)
        store.update(given_up=(*store.manifest.given_up, one))
        watcher.findings([finding])
        watcher.total_changed(store.manifest.needed)

    def _session_ended(self, end: SessionEnd) -> None:
        store = self._store
        store.sync()
        store.append_findings("after", [finding_of(end)], end.session)
        store.update(session_ends=(*store.manifest.session_ends, end))
        self._context.watcher.session_ended(end, store.manifest.needed)

    def _launcher(self, session: int) -> contextlib.closing[SessionLauncher]:
        isolation, cpus = self._campaign.isolation, self._prepared.cpus.targets
        settings = self._prepared.launching
        [sink_of(cell.stdout) for cell in self._campaign.cells]  # before it starts
        launcher = SessionLauncher(
            lambda: LauncherClient(isolation, cpus, self._interrupts, **settings),
            lambda found: self._look((found,), session),
        )
        return contextlib.closing(launcher)

    def _runs(self, rules: SessionRules, segment: int, launcher: SessionLauncher) -> None:
        context, store, session = self._context, self._store, rules.session
        measurer = Measurer(context, launcher, self._energy, segment)
        host, cpus = self._prepared.host, self._prepared.measured
        before, looked = host.counters(cpus), time.monotonic()
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
                    store.sync(older_than_s=_BLOCK_SYNC_S)
                    if time.monotonic() - looked >= _LOOK_S:
                        after, now = host.counters(cpus), time.monotonic()
                        self._look(check_between(before, after, now - looked, cpus=cpus), session)
                        before, looked = after, now
                    self._look(self._clock.findings(), session)
                self._check_caps(run)
                self._rest(self._campaign.protocol.cooldown_s)
                context.watcher.run_started(run)
                cell = self._campaign.cell(run.benchmark, run.variant)
                store.sync(older_than_s=0.0 if cell.before or cell.after else _SYNC_S)
                measurement = measurer.measure(run)
                store.append_measurement(measurement)
                launcher.executed(measurement.position)
                self._note(measurement)
                given_up, in_vain = rules.add(run, measurement)
                context.watcher.run_done(measurement)
                if given_up is not None:
                    self._give_up(given_up)
                if in_vain is not None:
                    context.note("during", [in_vain], session)
                if self._never_ok is not None and self._never_ok.decides(run):
                    never = self._never_ok.add(run, measurement)
                    self._leave_out(never)
                    if never:
                        rules.leave_out(run.benchmark, run.variant)
                    self._end_if_in_vain()
            launcher.hold()
            self._look(self._clock.findings(), session)
        finally:
            context.note("after", measurer.close(), session)

    def _note(self, run: Measurement) -> None:
        """Look whether a run wrote what its cell did before, and which arguments no run writes."""
        differs = self._agreement.add(run.benchmark, run.variant, run.outcome, run.stdout_sha256)
        if differs is not None:
            self._context.note("during", [differs], run.session)
        arguments = self._environments.arguments
        if arguments.executed(run.benchmark, run.variant):
            self._store.update(arguments=arguments.known)

    def _look(self, findings: Sequence[Finding], session: int) -> None:
        """Record what a look during the session found, unless all is well."""
        worse = [finding for finding in findings if finding.status in {"warn", "fail"}]
        self._store.append_findings("during", worse, session)

    def _check_caps(self, run: PlannedRun) -> None:
        protocol = self._campaign.protocol
        if protocol.max_runs is not None and self._store.executed >= protocol.max_runs:
            what = f"{RUN_CAP} of {protocol.max_runs} runs was reached"
            raise CapReached("protocol.max_runs", what)
        self._check_time(f"run {run.position}")

    def _check_time(self, what: str) -> None:
        deadline, cap = self._context.deadline, self._campaign.protocol.max_time_s
        if deadline is not None and time.monotonic() >= deadline:
            raise CapReached(
                "protocol.max_time", f"the time cap of {cap:g} s was reached before {what}"
            )

    def _rest(self, seconds: float) -> None:
        if self._context.deadline is not None:
            seconds = min(seconds, self._context.deadline - time.monotonic())
        if seconds > 0:
            self._store.sync()
            self._interrupts.sleep(seconds)
