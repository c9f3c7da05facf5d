"""A trial under way, in a loop over its sessions: plan x launcher x checks -> store."""

from __future__ import annotations

import contextlib
import gc
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from analysis.errors import FairtrialError, StoreError
from analysis.record.environment import diff, findings_of, segments_of
from analysis.record.manifest import utc_now
from analysis.record.run_numbers import Measurement
from analysis.record.trial_files import (
    OUTPUTS,
    Finding,
    GivenUp,
    PlannedRun,
    SessionEnd,
    TrialStatus,
    warning,
)

from ..campaign.model import Command
from ..host.checks import check_between
from ..host.executables import VariantCommit, commits_of_programs
from ..host.placement import CpuPlan
from ..host.variables import VariableKey, variable_key
from ..launch.commands import CommandFailedError, unused_log
from ..launch.exchange import more_files
from ..launch.matching import Interrupted
from .builds import TrialBuilds
from .ending import RUN_CAP, Ending
from .measure import CapReached, ClockWatch, Measurer
from .preparation import TrialContext
from .run_files import ArgumentFiles, OutputAgreement, set_aside
from .stopping import (
    KEY,
    Earlier,
    NeverOk,
    SessionRules,
    finding_of,
    finding_of_given_up,
    finding_of_never_ok,
)

_SYNC_S = 1.0
_BLOCK_SYNC_S = 0.1  # blocks of very short runs would else sync after every few runs
_LOOK_S = 30.0


class Loop(Protocol):
    """What takes the place of the loop over planned sessions: a comparison decides after each whether one more follows."""

    def sessions(self) -> None:
        """Measure them."""

    def add(self, row: Measurement) -> None:
        """Hear of a row that is stored."""

    def end(self, status: TrialStatus, cap: CapReached | None) -> None:
        """Hear that no session follows, before the trial is closed."""


@dataclass(slots=True, kw_only=True)
class TrialRun(TrialContext):
    """A trial from its first session to its last one, with the loop over them.

    `builds` make the `executables` of its cells. `after_session` hears of a session that has just ended, before
    the pause behind it.
    """

    builds: TrialBuilds = field(init=False)
    loop: Loop | None = None
    after_session: Callable[[TrialRun, int], object] | None = None
    # while sessions are executed
    planned: set[int] = field(init=False)  # sessions in the stored plan
    earlier: Earlier = field(init=False)
    _executed_before: int = field(init=False)
    _clock: ClockWatch = field(init=False)
    _agreement: OutputAgreement = field(init=False)
    _never_ok: NeverOk | None = field(init=False, default=None)
    _arguments: ArgumentFiles = field(init=False)
    _key: VariableKey = field(init=False)
    _unwritten: Sequence[Finding] = field(init=False)
    _last: dict[str, Any] | None = field(init=False)  # environment record
    _segments: dict[int, int] = field(init=False)

    def __post_init__(self) -> None:
        TrialContext.__post_init__(self)
        self.builds = TrialBuilds(self)

    # ---- what is executed, and what is said of it

    def described_services(self) -> dict[str, Any]:
        """Say what each service is, and whom it runs next to, as an environment record has it."""
        return {
            label: {**about, "beside": _beside(self.prepared.cpus, label)}
            for label, about in self.services.described().items()
        }

    def set_aside_files(self) -> None:
        """Give another name to what lies in the place of the metrics' files."""
        found = set_aside(self.campaign, self.executables, self.store.path)
        if found is not None:
            self.note("before", [found])

    # ---- hooks

    def set_up(self, session: int) -> None:
        """Execute the hooks before a session."""
        for number, command in enumerate(self.campaign.hooks.setup, 1):
            log = unused_log(self.store.path / OUTPUTS, f"setup-session{session}", number)
            self.hook("setup", command, log, {"FAIRTRIAL_SESSION": str(session)})

    def with_services(self, session: int) -> contextlib.AbstractContextManager[None]:
        """Have the services of a session stand while the block lasts."""

        def tell(what: str) -> None:
            reason = "a service that begins anew has lost what it had in memory: runs before and behind it may differ"
            self.note("during", [warning("services", what, "services", reason=reason)], session)

        return self.services.standing(session, self.store.path / OUTPUTS, tell)

    def clean_up(self, session: int) -> None:
        """Execute the hooks that end a session, whatever has become of it, and end what hooks left."""
        variables = {"FAIRTRIAL_SESSION": str(session)}
        hooks = self.campaign.hooks.cleanup
        self._last_hooks("cleanup", hooks, f"cleanup-session{session}", variables)
        self.commands.sweep()

    def _last_hooks(
        self, name: str, commands: Iterable[Command], stem: str, variables: Mapping[str, str]
    ) -> None:
        """Execute hooks that come last: a failure is a finding, the measurements stand."""
        with self.interrupts.set_aside():
            for number, command in enumerate(commands, 1):
                try:
                    log = unused_log(self.store.path / OUTPUTS, stem, number)
                    self.hook(name, command, log, variables)
                except (CommandFailedError, Interrupted) as error:
                    what = "interrupted"
                    if isinstance(error, CommandFailedError):  # what it wrote stays in its log
                        what = error.what.splitlines()[0].removeprefix(f"hook '{name}' ")
                    self.note("after", (warning("hook", f"hook '{name}': {what}"),))

    # ---- the trial

    def execute(self) -> Ending:
        """Execute what is left of the open store, and close the trial whatever happens."""
        store, cap = self.store, self.campaign.protocol.max_time_s
        self.deadline = None if cap is None else time.monotonic() + cap
        self._take_up()
        self.watcher.begin(store.manifest.needed, store.rows.counted, store.manifest.sessions)
        try:
            self._sessions() if self.loop is None else self.loop.sessions()
        except Interrupted as stop:
            self.interrupts.acknowledge()
            return self._end("interrupted", f"signal {stop.number}")
        except CapReached as reached:
            return self._end("stopped", str(reached), reached)
        except FairtrialError as error:
            self._close(error.what.splitlines()[0])
            raise
        except OSError as error:
            self._close(str(error))
            what = f"the trial had to stop: {error.strerror}"
            where = str(error.filename or store.path)
            raise StoreError(what, where, more_files(error.errno)) from error
        return self._end("complete", None)

    def _take_up(self) -> None:
        """Read of the stored trial what its next sessions follow from."""
        store, campaign = self.store, self.campaign
        self.planned = {run.session for run in store.planned()}
        self.earlier = Earlier.of_trial(store, campaign)
        self._executed_before = store.executed
        self._clock, self._agreement = ClockWatch(), OutputAgreement()
        if store.rows.outcomes:
            self._agreement = OutputAgreement.of_trial(store.path)
        self._arguments = ArgumentFiles(campaign, store.manifest.arguments)
        self._key = variable_key(os.environ)
        self._unwritten = tuple(_without_key(self._key))
        environments = store.environments()
        self._last = environments[-1] if environments else None
        self._segments = segments_of(environments, store.manifest.sessions)

    def _sessions(self) -> None:
        self._look_at_first_tries()
        for session in range(1, (sessions := self.store.manifest.sessions) + 1):
            if self._session(session):
                self.ended(session)
                if session < sessions and not self.builds.of_sessions:
                    self._rest(self.campaign.protocol.pause_s)

    def ended(self, session: int) -> None:
        """Tell who wants to hear of it that a session has ended."""
        if self.after_session is not None:
            self.after_session(self, session)

    def _close(self, reason: str) -> None:
        """Close a trial that has to stop, as well as its disk allows."""
        with contextlib.suppress(FairtrialError):
            self._end("stopped", reason)
        self.store.release()

    def _end(
        self, status: TrialStatus, reason: str | None, cap: CapReached | None = None
    ) -> Ending:
        store = self.store
        if self.loop is not None:
            self.loop.end(status, cap)
            cap = None  # which is its own affair
        self.watcher.end()
        store.free_reserve()
        with contextlib.suppress(StoreError):  # a disk that is full does not keep the trial open
            variables = {"FAIRTRIAL_STATUS": status}
            self._last_hooks("finish", self.campaign.hooks.finish, "finish", variables)
        self.commands.close()
        must_raise = None
        # would the trial come to the same cap again, without a run, if it went on?
        if cap is not None:
            lasting = cap.key in {"protocol.max_runs", KEY}
            must_raise = cap.key if lasting or store.executed == self._executed_before else None
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

    def _unmeasured(self) -> int:
        done = self.store.rows.outcomes
        counted = {
            (run.session, run.benchmark, run.variant)
            for run in self.store.planned()
            if not run.warmup and done.get(run.position) == "ok"
        }
        return self.store.manifest.sessions * len(self.campaign.cells) - len(counted)

    # ---- cells that the trial, or a session, goes on without

    def _look_at_first_tries(self) -> None:
        """Take up what the stored rows say of cells that cannot succeed."""
        store = self.store
        if self.campaign.protocol.never_ok == "go_on":  # since it was resumed, maybe
            kept = tuple(one for one in store.manifest.given_up if not one.never_ok)
            if kept != store.manifest.given_up:
                store.update(given_up=kept)
                self.watcher.total_changed(store.manifest.needed)
            return
        with self.interrupts.at_once():
            self._never_ok = NeverOk(self.campaign, store)
        self._leave_out(self._never_ok.unrecorded())
        self._end_if_in_vain()

    def _leave_out(self, records: Sequence[GivenUp]) -> None:
        """Record that the trial goes on without cells that cannot succeed, and say so once of each."""
        if not records:
            return
        given_up = self.store.manifest.given_up
        texts = {(one.benchmark, one.variant) for one in given_up if one.never_ok}
        first = {(one.benchmark, one.variant): one for one in reversed(records)}
        found = [finding_of_never_ok(one) for cell, one in first.items() if cell not in texts]
        self._record_given_up(records, found, 1)

    def _give_up(self, one: GivenUp) -> None:
        self._record_given_up([one], [finding_of_given_up(one)], one.session)

    def _record_given_up(
        self, records: Sequence[GivenUp], found: Sequence[Finding], session: int
    ) -> None:
        store = self.store
        store.sync()
        self.note("during", found, session)
        store.update(given_up=(*store.manifest.given_up, *records))
        self.watcher.total_changed(store.manifest.needed)

    def _end_if_in_vain(self) -> None:
        rows, planned = self.store.rows, self.store.manifest.planned
        if self._never_ok is None or rows.counted >= planned:  # it comes to its end by itself
            return
        why = self._never_ok.end()
        if why is not None:
            raise CapReached(KEY, why)

    # ---- one session

    def _session(self, session: int) -> bool:
        prepared, store = self.prepared, self.store
        with self.interrupts.at_once():  # a long plan takes a while
            rules = SessionRules(self.campaign, store, session, self.earlier)
            unwritten = rules.unwritten
        self.note("during", unwritten, session)
        for one in rules.hopeless.unrecorded:
            self._give_up(one)
        if (end := rules.end()) is not None:
            self._session_ended(end)  # a kill came between its last run and this record
            return False
        with self.interrupts.at_once():
            left = rules.is_left()
        if not left:
            return False
        self.interrupts.check()
        segment = self.next_segment(session)
        if session not in self.planned:
            store.append_plan(rules.runs)
        if self.builds.of_sessions:  # the machine settles after them
            self._check_time(f"the builds of session {session}")
            self.builds.build_for(session, segment)
            self._rest(self.campaign.protocol.pause_s)
            self.interrupts.check()
        self.services.choose_ports()
        self.record_environment(session, segment)
        gaps = prepared.probe()
        self.interrupts.check()  # a signal may have come while it was looked
        before, started = prepared.host.counters(prepared.measured), time.monotonic()
        found = prepared.look(gaps)
        self.note("before", found, session)
        prepared.require(found)
        try:  # a setup that fails half-way is cleaned up too
            self.set_up(session)
            with self.with_services(session):
                self.measure(rules, segment)
            if (end := rules.end()) is not None:
                self._session_ended(end)
        finally:
            store.sync()
            self.clean_up(session)
            elapsed = time.monotonic() - started
            after = prepared.host.counters(prepared.measured)
            moved = check_between(before, after, elapsed, cpus=prepared.measured)
            self.note("after", (*moved, *rules.findings()), session)
        return True

    def _session_ended(self, end: SessionEnd) -> None:
        store = self.store
        store.sync()
        store.append_findings("after", [finding_of(end)], end.session)
        store.update(session_ends=(*store.manifest.session_ends, end))
        self.watcher.session_ended(end, store.manifest.needed)

    def measure(self, rules: SessionRules, segment: int) -> None:
        """Execute the runs of a session's segment under a launcher of their own."""
        session = rules.session
        energy = self.energy.around(self.store, session, segment, self.deadline)
        with Measurer(self, session, segment) as measurer, energy:
            try:
                self._runs(rules, measurer)
            finally:
                self.note("after", measurer.finish(), session)

    def _runs(self, rules: SessionRules, measurer: Measurer) -> None:
        store, session = self.store, rules.session
        host, cpus = self.prepared.host, self.prepared.measured
        before, looked = host.counters(cpus), time.monotonic()
        block = None
        gc.freeze()  # what is loaded by now stays: no collection between two runs looks at it
        for run in rules.due():
            self.interrupts.check()
            if block is None:
                block = run.block
            if run.block != block:
                block = run.block
                measurer.hold()
                store.sync(older_than_s=_BLOCK_SYNC_S)
                if time.monotonic() - looked >= _LOOK_S:
                    after, now = host.counters(cpus), time.monotonic()
                    self.look(check_between(before, after, now - looked, cpus=cpus), session)
                    before, looked = after, now
                self.look(self._clock.findings(), session)
            if self.loop is None:  # another loop has a cap of its own, between sessions
                self._check_caps(run)
            self._rest(self.campaign.protocol.cooldown_s)
            self.watcher.run_started(run)
            cell = self.campaign.cell(run.benchmark, run.variant)
            store.sync(older_than_s=0.0 if cell.before or cell.after else _SYNC_S)
            row = measurer.measure(run)
            store.append_measurement(row)
            measurer.stored.append(row.position)
            self._look_at(row)
            given_up, in_vain = rules.add(run, row)
            self.watcher.run_done(row)
            if given_up is not None:
                self._give_up(given_up)
            if in_vain is not None:
                self.note("during", [in_vain], session)
            if self._never_ok is not None and self._never_ok.decides(run):
                never = self._never_ok.add(run, row)
                self._leave_out(never)
                if never:
                    rules.leave_out(run.benchmark, run.variant)
                self._end_if_in_vain()
        measurer.hold()
        self.look(self._clock.findings(), session)

    def _look_at(self, row: Measurement) -> None:
        """Look whether a run wrote what its cell did before, and which arguments no run writes."""
        differs = self._agreement.add(row.benchmark, row.variant, row.outcome, row.stdout_sha256)
        if differs is not None:
            self.note("during", [differs], row.session)
        if self._arguments.executed(row.benchmark, row.variant):
            self.store.update(arguments=self._arguments.known)
        if self.loop is not None:
            self.loop.add(row)

    def _check_caps(self, run: PlannedRun) -> None:
        most = self.campaign.protocol.max_runs
        if most is not None and self.store.executed >= most:
            raise CapReached("protocol.max_runs", f"{RUN_CAP} of {most} runs was reached")
        self._check_time(f"run {run.position}")

    def _check_time(self, what: str) -> None:
        cap = self.campaign.protocol.max_time_s
        if self.deadline is not None and time.monotonic() >= self.deadline:
            text = f"the time cap of {cap:g} s was reached before {what}"
            raise CapReached("protocol.max_time", text)

    def _rest(self, seconds: float) -> None:
        if self.deadline is not None:
            seconds = min(seconds, self.deadline - time.monotonic())
        if seconds > 0:
            self.store.sync()
            self.interrupts.sleep(seconds)

    # ---- the environments of sessions

    def next_segment(self, session: int) -> int:
        """Give 0, or how many times the session will have been resumed."""
        return self._segments.get(session, -1) + 1

    def record_environment(self, session: int, segment: int, *, sitting: bool = False) -> None:
        """Store the environment, of a session or of a whole sitting; note what has changed since the last."""
        if self.commits is None:  # what the campaign says, else what git does, asked once
            given = self.campaign.commit
            self.commits = {
                variant: VariantCommit(commit=text) for variant, text in given.items()
            } or commits_of_programs(self.executables)
        known = self.executables, self.environment, self._key, self.commits
        with self.interrupts.at_once():  # large inputs are read for a while
            record = self.prepared.describe(*known)
        before, self._last = self._last, record
        head: dict[str, Any] = {"session": session, "segment": segment, "at": utc_now()}
        if self.campaign.services:
            record["services"] = self.described_services()
        if sitting:
            head["sessions"] = [session, None]  # its last one is not known before it ends
        self.store.append_environment(head | record)
        found = [*findings_of(diff(before, record) if before else ()), *self._unwritten]
        if before is None:
            found += _refused_by_git(self.commits)
        self._unwritten = ()  # once is enough
        changed = self._arguments.look()
        if changed:
            self.store.update(arguments=self._arguments.known)
            found += changed
        self.note("before", found, session)


def _refused_by_git(commits: Mapping[str, VariantCommit]) -> Iterator[Finding]:
    refused: dict[tuple[str | None, str], list[str]] = {}
    for variant, one in commits.items():
        if one.fix is not None:
            refused.setdefault((one.unknown, one.fix), []).append(variant)
    for (why, fix), variants in refused.items():
        what = f"the commit of {', '.join(variants)} is unknown: {why}"
        reason = "a history names the commits behind a change, and orders nights by them"
        yield warning("commit", what, fix=fix, reason=reason)


def _beside(cpus: CpuPlan, label: str) -> str | None:
    own = set(cpus.services.get(label, ()))
    if cpus.targets is None or own & set(cpus.targets):
        return "runs"
    return "fairtrial" if own & set(cpus.housekeeping) else None


def _without_key(key: VariableKey) -> Iterator[Finding]:
    if key.problem is not None:
        yield warning(
            "variables",
            "a change in variables whose values are not stored will not be noticed: the key of "
            f"their hashes cannot be used, {key.problem}",
            key.where,
            key.fix,
            "a variable may change how fast a program is",
        )
