"""A comparison at one sitting: its sessions are planned when they begin, and one looks between them.

A session is a new launcher and a few runs of each command, nothing else: the host is looked at, and the
programs are hashed, once a sitting. Its looks stand in the manifest (`looks_plan`), so that a sitting on
another day goes on in the same list.
"""

from __future__ import annotations

import math
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from analysis.errors import StoreError, UsageError
from analysis.record.manifest import bisection_of_trial, read_manifest
from analysis.record.run_numbers import Measurement, limit_of
from analysis.record.shapes import records_of
from analysis.record.trial_files import (
    CAMPAIGN,
    LOOKS,
    MEASUREMENTS,
    OPEN_LOOKS,
    OUTPUTS,
    LooksPlan,
    Manifest,
    PlannedRun,
    StoppedBecause,
    TrialStatus,
    looked_after,
)

from ..campaign.model import Campaign
from ..campaign.resolve import load_campaign
from ..host.checks import check_between
from ..host.state import GapLook
from ..launch.commands import hashes
from .builds import target_drift
from .ending import Ending, way_on_of
from .execution import AS_BEGUN, Options, defaults_of, opened_new, readied, reopened
from .folder import is_written_now, written_by_another
from .measure import CapReached
from .plan import PlannedSession, planned_runs
from .preparation import Watcher
from .progress import trials_in
from .run_files import kept_bytes
from .session import TrialRun
from .stopping import SessionRules

if TYPE_CHECKING:
    from analysis.plan.compare_looks import Look


# --- The sessions of one sitting of a comparison: what each needs, its looks, and why it ends.


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


class Sitting:
    """The loop of one sitting: plans its sessions one by one, and looks between them.

    `whole` sessions of the trial have all their runs, of all its sittings; `measured_s` are the seconds of measuring
    of this one, `look` its last look.
    """

    def __init__(self, trial: TrialRun, plan: SittingPlan, listener: SittingWatcher) -> None:
        self._trial, self._plan, self._listener = trial, plan, listener
        self._store = trial.store
        self._values = Values.of_trial(self._store.path)
        self._first_failed: Counter[str] = Counter()
        self._held: set[str] = set()  # variants with an ok run in this sitting
        self._because: StoppedBecause | None = None
        self._begun: int | None = None  # the sitting's first session, once the host was looked at
        self.look: Look | None = None
        self.measured_s = 0.0
        done, planned, left = self._store.rows.outcomes, 0, set()
        for run in self._store.planned():
            planned = max(planned, run.session)
            if run.position not in done:
                left.add(run.session)
        self.whole = min(left) - 1 if left else planned

    @property
    def looks_plan(self) -> LooksPlan:
        """The looks as the manifest has them."""
        plan = self._store.manifest.looks_plan
        assert plan is not None, "a comparison is made with it"
        return plan

    # --- the sitting ---------------------------------------------------------------------------

    def sessions(self) -> None:
        """Measure sessions until the looks, or a cap, say that they are enough."""
        trial, first = self._trial, self.whole + 1
        segment = trial.next_segment(first)
        self._store.end_sitting(max(trial.planned, default=1))  # one that was killed
        self._begin(first, segment)
        sessions = 0
        while (because := self._over(sessions)) is None:
            self._one(self.whole + 1, segment if not sessions else 0)
            sessions += 1
            self.whole += 1
            trial.ended(self.whole)
            if self.whole in self.looks_plan.looks and self.looks_plan.rule == "repeated":
                self._look_now(final=False)
        self._because = because
        # between two looks the last one stands in the place of the next
        if because not in {"decided", "equivalent"} and self._move_look(self.whole):
            look = self._look_now(final=True)
            if self.looks_plan.rule == "repeated":
                self._because = look.stop or because

    def _begin(self, session: int, segment: int) -> None:
        """Look at the host once, before the first run."""
        trial, prepared = self._trial, self._trial.prepared
        trial.interrupts.check()
        gaps: list[GapLook] = []
        looking = threading.Thread(target=lambda: gaps.append(prepared.probe()))
        looking.start()
        cpus = prepared.cpus
        if cpus.targets is None or set(cpus.reserved) & set(cpus.housekeeping):
            looking.join()  # else what is described meanwhile takes no CPU that is looked at
        try:
            trial.record_environment(session, segment, sitting=True)
        finally:
            looking.join()
        trial.interrupts.check()
        self._begun = session
        self._counters = prepared.host.counters(prepared.measured), time.monotonic()
        # whoever tried the commands looked for threads; without warm-ups the check says nobody did
        found = tuple(one for one in prepared.look(*gaps) if one.check != "threads")
        trial.note("before", found, session)
        prepared.require(found)
        for cell in trial.campaign.cells if len(cpus.targets or ()) == 1 else ():
            if cell.variant in self._plan.threads:
                trial.note_threads(cell, self._plan.threads[cell.variant])
        trial.set_up(session)

    def _one(self, session: int, segment: int) -> None:
        """Measure what is left of a session, or a new one: a new launcher and its runs, nothing else."""
        trial, store, manifest = self._trial, self._store, self._store.manifest
        trial.interrupts.check()
        rules = SessionRules(trial.campaign, store, session, trial.earlier)
        if session not in trial.planned:
            store.append_plan(rules.runs)
            trial.planned.add(session)
            planned = planned_runs(trial.campaign, session, manifest.left)
            if planned != manifest.planned:
                store.update(sessions=session, planned=planned)
                self._listener.total_changed(planned)
        if not self.measured_s:
            rules.warm = tuple(self._warm_up(session))
        began = time.monotonic()
        try:
            trial.measure(rules, segment)
        finally:
            self.measured_s += time.monotonic() - began
            store.sync()
            found = rules.findings()
            if found:
                trial.note("after", found, session)

    def _warm_up(self, session: int) -> Iterator[PlannedRun]:
        """Give one warm-up of each command that may be cold: a sitting behind another begins later.

        At a first sitting somebody has tried the commands. Each has a negative position of its own.
        """
        done, campaign = self._store.rows.outcomes, self._trial.campaign
        warmups, manifest = campaign.protocol.warmups, self._store.manifest
        if not done or warmups(session) > warmups(session - 1):
            return
        least = min(0, *done)
        for run in PlannedSession(campaign, manifest.seed, session, None, manifest.left):
            if run.block == 1 and self._values.mean_s(run.variant) <= WARM_S:
                least -= 1
                yield replace(run, position=least, block=0, warmup=True)

    def _over(self, sessions: int) -> StoppedBecause | None:
        """Tell why no further session is measured, None where one is."""
        sitting, plan, look = self._plan, self.looks_plan, self.look
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

    def _look_now(self, *, final: bool) -> Look:
        from analysis.plan.compare_looks import look_at

        self.look = look = look_at(
            self._values.upto(self.whole),
            self.looks_plan,
            baseline=self._trial.campaign.baseline,
            final=final,
            least_sessions=self._plan.least_sessions,
        )
        if look.leave and not final:
            left = dict(self.looks_plan.left) | dict.fromkeys(look.leave, self.whole)
            self._store.update(looks_plan=replace(self.looks_plan, left=left))
        self._listener.looked(look, self._values.runs, self.measured_s)
        return look

    def _move_look(self, sessions: int) -> bool:
        """Note a look after `sessions` sessions; tell whether they are enough for one."""
        plan = self.looks_plan
        if plan.rule == "planned":
            return self.whole >= max(2, plan.looks[0])
        if sessions < plan.looks[0]:
            return False
        moved = looked_after(plan, sessions)
        if moved != plan:
            self._store.update(looks_plan=moved)
        return True

    # --- what a trial tells its loop ------------------------------------------------------------

    def add(self, row: Measurement) -> None:
        """Count a row.

        Raises CapReached if each of the first runs of a command has failed.
        """
        self._values.add(row)
        if row.warmup or row.repeats is not None or row.variant in self._held:
            return
        if row.outcome == "ok":
            self._held.add(row.variant)
            return
        self._first_failed[row.variant] += 1
        if self._first_failed[row.variant] >= IN_A_ROW:
            what = f"the first {IN_A_ROW} runs of {row.variant} failed, the last one: {row.outcome}"
            raise CapReached("failures", what)

    def end(self, status: TrialStatus, cap: CapReached | None) -> None:
        """Look at host and programs once more, and say why the sitting ended, and with which session."""
        trial, store = self._trial, self._store
        if status == "interrupted" or cap is not None:
            self._because = "interrupted" if cap is None else "failures"
            self._move_look(store.manifest.sessions)  # who judges it takes what there is
        if self._begun is not None:
            store.sync()
            trial.clean_up(self._begun)
            prepared, (before, started) = trial.prepared, self._counters
            after, elapsed = prepared.host.counters(prepared.measured), time.monotonic() - started
            moved = list(check_between(before, after, elapsed, cpus=prepared.measured))
            moved += target_drift(store.manifest.targets, hashes(trial.executables.values()))
            trial.note("after", moved, self._begun)
            store.end_sitting(max(trial.planned, default=self._begun))
        if self._because is not None:
            store.update(looks_plan=replace(self.looks_plan, stopped_because=self._because))


SESSION_S = 0.1  # so long each command runs in a session, the slowest at least
MOST_RUNS = 20  # of a command in a session
SHORT_S = 1.0  # a session that takes less is one of at least six
LEAST_SESSIONS, LEAST_LONG_SESSIONS = 6, 3
CAP_S = 20.0  # of measuring, for two commands
OPEN_CAP_S = 300.0  # who gives more time than this gets the list of looks that is open
NAME = "compare"  # of the campaign of a comparison


@dataclass(frozen=True, slots=True, kw_only=True)
class SittingPlan:
    """How a comparison is measured: its looks, `runs` of each command in a session, and when it ends.

    It ends when `cap_s` seconds of measuring are over, but not before `least_sessions`, nor behind
    `most_sessions`. `noted` says where numbers that were asked for were rounded, in words. `threads`
    holds how many threads a command had when it was tried, by variant, where it was more than one.
    """

    looks_plan: LooksPlan
    runs: int
    cap_s: float
    least_sessions: int = LEAST_SESSIONS
    most_sessions: int | None = None
    noted: tuple[str, ...] = ()
    threads: Mapping[str, int] = field(default_factory=dict)


def plan_sitting(
    seconds: Sequence[float],
    *,
    runs: int | None = None,
    sessions: int | None = None,
    least_runs: int | None = None,
    most_runs: int | None = None,
    for_s: float | None = None,
    open_list: bool = False,
    margin: float = 0.01,
    threads: Mapping[str, int] | None = None,
) -> SittingPlan:
    """Plan a sitting for commands whose tries took `seconds`.

    Parameters
    ----------
    seconds : sequence of float
        Of one run of each command, the baseline's first.
    runs : int, optional
        Of each command in all (``-r``): one look behind them, and no stopping. With `sessions` it
        counts the runs of each session.
    sessions : int, optional
        Their number: one look behind them.
    least_runs, most_runs : int, optional
        Of each command in all (``-m``, ``-M``).
    for_s : float, optional
        The cap, in seconds of measuring.
    open_list : bool
        Whether looks go on beyond 108 sessions.
    margin : float
        The largest difference that counts as none.

    Raises
    ------
    UsageError
        If options contradict each other.
    """
    commands = len(seconds)
    each = min(max(1, math.ceil(SESSION_S / max(*seconds, 1e-4))), MOST_RUNS)
    if most_runs is not None:
        each = min(each, max(1, most_runs // LEAST_SESSIONS))
    noted: tuple[str, ...] = ()
    number = None
    if runs is not None or sessions is not None:
        # what says when to stop has nothing to say of what is measured whole
        caps = {"--for": for_s, "-m": least_runs, "-M": most_runs, "--open": open_list or None}
        given = ", ".join(name for name, value in caps.items() if value is not None)
        if given:
            named = "--sessions" if runs is None else "--runs"
            what = f"{named} and {given} cannot be combined"
            raise UsageError(what, None, f"leave out {named}, or {given}")
        each, number = runs or each, sessions
        if number is None:
            number = min(each, LEAST_SESSIONS)
            each = math.ceil(each / number)
            if each * number != runs:
                noted = (
                    f"--runs {runs}: measured as {number} sessions of {each}, {each * number} runs",
                )
    if least_runs is not None and most_runs is not None and least_runs > most_runs:
        what = f"at least {least_runs} runs are more than at most {most_runs}"
        raise UsageError(what, "-m, -M", "give -m a number up to that of -M")
    listed = OPEN_LOOKS if open_list or (for_s or 0.0) > OPEN_CAP_S else LOOKS
    least, most = least_and_most(sum(seconds) * each, each, least_runs, most_runs)
    return SittingPlan(
        looks_plan=LooksPlan(
            rule="repeated" if number is None else "planned",
            looks=listed if number is None else (number,),
            candidates=max(1, commands - 1),
            open=number is None and listed is OPEN_LOOKS,
            margin=margin,
        ),
        runs=each,
        cap_s=math.inf if number is not None else for_s or CAP_S * commands / 2,
        least_sessions=least if number is None else number,
        most_sessions=most if number is None else number,
        noted=noted,
        threads=threads or {},
    )


def least_and_most(
    session_s: float, each: int, least_runs: int | None, most_runs: int | None
) -> tuple[int, int | None]:
    """Give the fewest and the most sessions, where one of `each` runs a command takes `session_s`."""
    least = LEAST_SESSIONS if session_s < SHORT_S else LEAST_LONG_SESSIONS
    least = max(least, math.ceil((least_runs or 0) / each))
    most = None if most_runs is None else max(1, most_runs // each)
    return (least if most is None else min(least, most)), most


class SittingWatcher(Watcher, Protocol):
    """Follows a sitting as a trial is followed, and hears of its looks."""

    def looked(self, look: Any, runs: int, elapsed_s: float) -> None:  # noqa: ANN401 - until looks land
        """Hear what a look found, after `runs` measured runs and `elapsed_s` of measuring."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SittingEnding:
    """How a sitting ended: the trial's `ending`, its looks as they are stored now, and the last look.

    `sessions` counts the trial's whole sessions, of all its sittings; `measured_s` are the seconds of
    measuring of this one. `look` is None where there was none.
    """

    ending: Ending
    looks_plan: LooksPlan
    look: Any = None
    sessions: int = 0
    measured_s: float = 0.0


def measure(
    campaign: Campaign, sitting: SittingPlan, options: Options, watcher: SittingWatcher
) -> SittingEnding:
    """Measure a new comparison; `campaign` has one benchmark, and `sitting.runs` runs a session."""
    plan = sitting.looks_plan
    with readied(campaign, options, plan.looks[-1], watcher) as trial:
        return _sat(trial, sitting, watcher, opened_new(trial, options, 1, plan))


def _sat(
    trial: TrialRun, plan: SittingPlan, watcher: SittingWatcher, ended: Ending | None
) -> SittingEnding:
    if ended is not None:
        return SittingEnding(ending=ended, looks_plan=plan.looks_plan)
    trial.loop = loop = Sitting(trial, plan, watcher)
    return SittingEnding(
        ending=trial.execute(),
        looks_plan=loop.looks_plan,
        look=loop.look,
        sessions=loop.whole,
        measured_s=loop.measured_s,
    )


def comparison_to_resume(folder: Path, named: Path | None) -> Path:
    """Give the comparison to go on with: the one that was named, else the newest in the folder.

    Raises StoreError if its looks are over, or it planned one look only; the fix says what to do;
    UsageError if there is none.
    """
    path = named
    if path is None:
        found = [one for one in trials_in(folder, NAME).found if one[1].looks_plan is not None]
        if not found:
            what = "there is no comparison to go on with"
            fix = "name its folder (--resume TRIAL), or leave out --resume to measure a new one"
            raise UsageError(what, str(folder), fix)
        path = found[0][0]
    _goes_on(path, read_manifest(path))
    return path


def _goes_on(path: Path, manifest: Manifest) -> LooksPlan:
    """Refuse what is no comparison, or has had all its looks; give the plan of the looks."""
    plan = manifest.looks_plan
    if plan is None or bisection_of_trial(path) is not None:
        what = "this trial was not measured by 'fairtrial compare'"
        raise StoreError(what, str(path), way_on_of(manifest, path))
    if manifest.origin != "measured":
        what = f"this trial is {manifest.origin}: nothing can be measured into it"
        raise StoreError(what, str(path), "measure a new comparison")
    if is_written_now(path):
        raise written_by_another(path)
    anew = "measure anew, without --resume"
    if plan.rule == "planned":
        raise StoreError(
            "its number of runs was chosen beforehand (-r, or --sessions), and one look at the end "
            "spent its whole risk of 5 %: more runs would not keep it",
            str(path),
            f"{anew} and without -r, which goes on until the answer is certain",
        )
    if manifest.sessions >= plan.looks[-1] and manifest.status == "complete":
        raise StoreError(
            f"no more looks: it was looked at after {plan.looks[-1]} sessions, the last of its list",
            str(path),
            f"{anew}; with --open the list has 1,024",
        )
    return plan


def resume_sitting(
    path: Path,
    options: Options,
    watcher: SittingWatcher,
    *,
    for_s: float | None = None,
    least_runs: int | None = None,
    most_runs: int | None = None,
) -> SittingEnding:
    """Go on with a comparison in its list of looks, with a new cap; drift is refused as by ``run``."""
    manifest = read_manifest(path)
    plan = _goes_on(path, manifest)
    known = defaults_of(path, manifest)
    campaign = load_campaign(path / CAMPAIGN, seed=manifest.seed, **known)
    options = replace(options, folder=path.parent, name=path.name)
    kept = kept_bytes(path / OUTPUTS)
    with readied(campaign, options, plan.looks[-1], watcher, kept) as trial:
        ended = reopened(trial, path, manifest, options)
        store = trial.store
        each = manifest.runs
        least, most = least_and_most(Values.of_trial(path).seconds(), each, least_runs, most_runs)
        sitting = SittingPlan(
            looks_plan=plan,
            runs=each,
            cap_s=for_s or CAP_S * len(campaign.variants) / 2,
            least_sessions=least,
            most_sessions=most,
        )
        if ended is None:
            store.update(**AS_BEGUN, looks_plan=replace(plan, stopped_because=None))
            watcher.opened(store.path, campaign, trial.prepared)
        return _sat(trial, sitting, watcher, ended)
