"""The sessions of one sitting of a comparison: what each needs, its looks, and why it ends."""

from __future__ import annotations

import dataclasses
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from analysis.record.looks import looked_after
from analysis.record.run_numbers import Measurement, limit_of
from analysis.record.shapes import records_of
from analysis.record.trial_files import (
    MEASUREMENTS,
    LooksPlan,
    PlannedRun,
    StoppedBecause,
    TrialStatus,
)

from ..host.checks import check_between
from ..launch.commands import hashes
from .building.drift import target_drift
from .ending import Ending
from .measure import CapReached
from .plan import PlannedSession, planned_runs
from .session import TrialRun
from .stopping import SessionRules

if TYPE_CHECKING:
    from analysis.plan.compare_looks import Look

    from ..host.state import GapLook
    from .context import AfterSession, TrialContext
    from .sitting import SittingPlan, SittingWatcher

WARM_S = 10.0  # what takes longer needs no warm-up
IN_A_ROW = 3  # failed runs of a command from the beginning of a sitting: it ends


class Values:
    """What a look takes: of each variant and session the wall time of each block, as `look_at` says."""

    def __init__(self) -> None:
        self._runs: dict[str, dict[int, dict[int, float | None]]] = defaultdict(
            lambda: defaultdict(dict)
        )
        self._mended: set[int] = set()  # positions of disturbed runs with an undisturbed repeat
        self.runs = 0

    @classmethod
    def of_trial(cls, trial: Path) -> Values:
        """Read those that are stored; the store has checked the lines."""
        values = cls()
        for row, _ in records_of(trial / MEASUREMENTS, Measurement):
            values.add(row)
        return values

    def add(self, row: Measurement) -> None:
        """Count a run; of a run that was repeated its first undisturbed row is judged."""
        if row.warmup or row.counted:
            return
        if row.repeats is not None:
            if row.disturbed is not False or row.repeats in self._mended:
                return
            self._mended.add(row.repeats)
        else:
            self.runs += 1
        there = row.outcome == "ok" and row.wall_ns is not None
        value = row.wall_ns / 1e9 if there and row.wall_ns else None
        if row.outcome == "timeout" and row.wall_ns:
            value = -limit_of(row.detail, row.wall_ns / 1e9)
        self._runs[row.variant][row.session][row.block] = value

    def seconds(self) -> float:
        """Give how long the runs of a session take: one of each variant's mean session, added up."""
        total = 0.0
        for sessions in self._runs.values():
            sums = [sum(abs(run) for run in blocks.values() if run) for blocks in sessions.values()]
            total += sum(sums) / len(sums)
        return total

    def mean_s(self, variant: str) -> float:
        """Give how long a run of a variant takes; 0 where nobody knows."""
        those = self._runs[variant].values()
        runs = [abs(run) for blocks in those for run in blocks.values() if run]
        return sum(runs) / len(runs) if runs else 0.0

    def upto(self, session: int) -> dict[str, dict[int, list[float | None]]]:
        """Give those of the first sessions."""
        return {
            name: {
                number: [blocks[block] for block in sorted(blocks)]
                for number, blocks in sessions.items()
                if number <= session
            }
            for name, sessions in self._runs.items()
        }


class SittingRun(TrialRun):
    """One sitting under way: plans its sessions one by one, and looks between them."""

    def __init__(
        self,
        context: TrialContext,
        sitting: SittingPlan,
        watcher: SittingWatcher,
        after_session: AfterSession | None = None,
    ) -> None:
        super().__init__(context, after_session)
        self._sitting, self._listener = sitting, watcher
        self._values = Values.of_trial(self._store.path)
        self._first_failed: Counter[str] = Counter()
        self._held: set[str] = set()  # variants with an ok run in this sitting
        self._because: StoppedBecause | None = None
        self._begun: int | None = None  # the sitting's first session, once the host was looked at
        self.look: Look | None = None
        self.measured_s = 0.0
        self.whole = self._whole_sessions()

    @property
    def plan(self) -> LooksPlan:
        """The looks as the manifest has them."""
        plan = self._store.manifest.looks_plan
        assert plan is not None, "a comparison is made with it"
        return plan

    def _whole_sessions(self) -> int:
        """Count the sessions of which every run stands."""
        done = self._store.rows.outcomes
        left = {run.session for run in self._store.planned() if run.position not in done}
        planned = self._sessions_planned
        return min(left) - 1 if left else max(planned, default=0)

    # --- the sitting ---------------------------------------------------------------------------

    def _sessions(self) -> None:
        first = self.whole + 1
        segment = self._environments.next_segment(first)
        self._store.end_sitting(max(self._sessions_planned, default=1))  # one that was killed
        self._begin(first, segment)
        sessions = 0
        while (because := self._over(sessions)) is None:
            self._one(self.whole + 1, segment if not sessions else 0)
            sessions += 1
            self.whole += 1
            if self._after_session is not None:
                self._after_session(self._context, self.whole)
            if self.whole in self.plan.looks and self.plan.rule == "repeated":
                self._look_now(final=False)
        self._because = because
        self._last_look()

    def _begin(self, session: int, segment: int) -> None:
        """Look at the host once, before the first run."""
        context, prepared = self._context, self._prepared
        self._interrupts.check()
        gaps: list[GapLook] = []
        looking = threading.Thread(target=lambda: gaps.append(prepared.probe()))
        looking.start()
        cpus = prepared.cpus
        if cpus.targets is None or set(cpus.reserved) & set(cpus.housekeeping):
            looking.join()  # else what is described meanwhile takes no CPU that is looked at
        try:
            self._environments.record(session, segment, sitting=True)
        finally:
            looking.join()
        self._interrupts.check()
        self._begun = session
        self._counters = prepared.host.counters(prepared.measured), time.monotonic()
        # whoever tried the commands looked for threads; without warm-ups the check says nobody did
        found = tuple(one for one in prepared.look(*gaps) if one.check != "threads")
        context.note("before", found, session)
        prepared.require(found)
        for variant, threads in self._sitting.threads.items():
            for cell in self._campaign.cells:
                if cell.variant == variant and len(prepared.cpus.targets or ()) == 1:
                    context.note_threads(cell, threads)
        context.set_up(session)

    def _one(self, session: int, segment: int) -> None:
        """Measure what is left of a session, or a new one: a new launcher and its runs, nothing else."""
        self._interrupts.check()
        store, manifest = self._store, self._store.manifest
        rules = SessionRules(self._campaign, store, session, self._earlier)
        if session not in self._sessions_planned:
            store.append_plan(rules.runs)
            self._sessions_planned.add(session)
            planned = planned_runs(self._campaign, session, manifest.left)
            if planned != manifest.planned:
                store.update(sessions=session, planned=planned)
                self._listener.total_changed(planned)
        if not self.measured_s:
            rules.warm = tuple(self._warm_up(session))
        began = time.monotonic()
        try:
            with self._launcher(session) as launcher, self._energy.around(session, segment):
                self._runs(rules, segment, launcher)
        finally:
            self.measured_s += time.monotonic() - began
            store.sync()
            found = rules.findings()
            if found:
                self._context.note("after", found, session)

    def _warm_up(self, session: int) -> Iterator[PlannedRun]:
        """Give one warm-up of each command that may be cold: a sitting behind another begins later.

        At a first sitting somebody has tried the commands. Each has a negative position of its own.
        """
        done = self._store.rows.outcomes
        if not done or self._campaign.protocol.warmups(session) > self._campaign.protocol.warmups(
            session - 1
        ):
            return
        least = min(0, *done)
        for run in PlannedSession(
            self._campaign, self._store.manifest.seed, session, None, self._store.manifest.left
        ):
            if run.block == 1 and self._values.mean_s(run.variant) <= WARM_S:
                least -= 1
                yield dataclasses.replace(run, position=least, block=0, warmup=True)

    def _over(self, sessions: int) -> StoppedBecause | None:
        """Tell why no further session is measured, None where one is."""
        sitting, plan, look = self._sitting, self.plan, self.look
        if look is not None and look.stop in {"decided", "equivalent"}:
            return "equivalent" if look.stop == "equivalent" else "decided"
        if plan.rule == "planned":
            return "runs" if self.whole >= plan.looks[-1] else None
        if sitting.most_sessions is not None and self.whole >= sitting.most_sessions:
            return "runs"
        if self.whole >= plan.looks[-1]:
            return "cap"
        if self.whole < sitting.least_sessions or not sessions:
            return None
        return "cap" if self.measured_s * (1 + 0.5 / sessions) > sitting.cap_s else None

    # --- looks ---------------------------------------------------------------------------------

    def _look_now(self, *, final: bool) -> None:
        from analysis.plan.compare_looks import look_at  # numpy: not before the first runs

        self.look = look = look_at(
            self._values.upto(self.whole),
            self.plan,
            baseline=self._campaign.baseline,
            final=final,
            least_sessions=self._sitting.least_sessions,
        )
        if look.leave and not final:
            left = dict(self.plan.left) | dict.fromkeys(look.leave, self.whole)
            self._store.update(looks_plan=dataclasses.replace(self.plan, left=left))
        self._listener.looked(look, self._values.runs, self.measured_s)

    def _last_look(self) -> None:
        """Look where no session follows; between two looks this one stands in the place of the next."""
        if self._because in {"decided", "equivalent"}:
            return
        if self._move_look(self.whole):
            self._look_now(final=True)
            assert self.look is not None
            if self.plan.rule == "repeated":
                self._because = self.look.stop or self._because

    def _move_look(self, sessions: int) -> bool:
        """Note a look at so many sessions; tell whether they are enough for one."""
        plan = self.plan
        if plan.rule == "planned":
            return self.whole >= max(2, plan.looks[0])
        if sessions < plan.looks[0]:
            return False
        moved = looked_after(plan, sessions)
        if moved != plan:
            self._store.update(looks_plan=moved)
        return True

    # --- what TrialRun asks ---------------------------------------------------------------------

    def _note(self, run: Measurement) -> None:
        super()._note(run)
        self._values.add(run)
        if run.warmup or run.repeats is not None or run.variant in self._held:
            return
        if run.outcome == "ok":
            self._held.add(run.variant)
            return
        self._first_failed[run.variant] += 1
        if self._first_failed[run.variant] >= IN_A_ROW:
            what = f"the first {IN_A_ROW} runs of {run.variant} failed, the last one: {run.outcome}"
            raise CapReached("failures", what)

    def _check_caps(self, run: PlannedRun) -> None:
        """Do nothing: a sitting has a cap of its own, between sessions."""

    def _end(
        self, status: TrialStatus, reason: str | None, cap: CapReached | None = None
    ) -> Ending:
        if status == "interrupted" or cap is not None:
            self._because = "interrupted" if cap is None else "failures"
            self._move_look(self._store.manifest.sessions)  # who judges it takes what there is
        if self._begun is not None:
            self._finish_sitting(self._begun)
        if self._because is not None:
            self._store.update(
                looks_plan=dataclasses.replace(self.plan, stopped_because=self._because)
            )
        return super()._end(status, reason)

    def _finish_sitting(self, session: int) -> None:
        """Look at host and programs once more, and say which session was the sitting's last."""
        context, prepared, store = self._context, self._prepared, self._store
        store.sync()
        context.clean_up(session)
        context.commands.sweep()
        before, started = self._counters
        after, elapsed = prepared.host.counters(prepared.measured), time.monotonic() - started
        moved = list(check_between(before, after, elapsed, cpus=prepared.measured))
        moved += target_drift(store.manifest.targets, hashes(context.executables.values()))
        context.note("after", moved, session)
        store.end_sitting(max(self._sessions_planned, default=session))
