"""What decides which runs of a session are executed: failures in a row, the stopping rule, repeats.

The rule's arithmetic is the judge's and needs numpy: it is imported before a session's first run.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING

from analysis.errors import StoreError
from analysis.record.run_numbers import METRIC_NUMBERS, NUMBERS, Measurement
from analysis.record.shapes import doubles, read_samples, records_of, sample_file
from analysis.record.trial_files import (
    MEASUREMENTS,
    Finding,
    GivenUp,
    PlannedRun,
    SessionEnd,
    StopRule,
    warning,
)

from ..campaign.model import Campaign
from ..errors import counted
from ..launch.commands import HOOKS_LAUNCHER_DIED, SERVICES_LAUNCHER_DIED
from .outcomes import (
    Repeats,
    recorded_repeats,
    repeats_left,
    repeats_of,
    still_to_do,
    stored_repeats,
)
from .plan import PlannedSession, planned_runs

if TYPE_CHECKING:
    from .writer import Store


# --- Cells that cannot succeed: no run of them was ok when the first session tried each one.
#
# What is tried is decided by the plan and the stored rows alone, so that a trial that was killed
# and is gone on with decides the same. A row behind the plan, such as a warm-up that a resume
# repeats, decides nothing; nor is a cell known to fail if one of its tries was lost with the launcher
# of the hooks.


# --- Cells whose measured runs fail one after the other: the session goes on without them,
# the next one tries again.


_Cell = tuple[str, str]


class Hopeless:
    """Counts the failed measured runs of each cell of a session, in a row, from plan and outcomes alone.

    The session goes on without `cells`; a kill kept those that are `unrecorded` from being recorded.
    """

    def __init__(
        self,
        most: int | None,
        runs: Iterable[PlannedRun],
        done: Mapping[int, str],
        given_up: Iterable[GivenUp],
        session: int,
    ) -> None:
        self._most = most
        self._session = session
        self._failed: Counter[_Cell] = Counter()
        self._runs: Counter[_Cell] = Counter()
        self.cells: set[_Cell] = {
            (one.benchmark, one.variant) for one in given_up if one.session == session
        }
        found: dict[_Cell, GivenUp] = {}
        for run in runs:  # those that are stored are counted again
            cell, outcome = (run.benchmark, run.variant), done.get(run.position)
            if outcome is not None and found.pop(cell, None) is not None:
                self.cells.discard(cell)  # it was executed again: the rule was another one then
            one = self.add(run, outcome)
            if one is not None:
                found[cell] = one
        self.unrecorded = tuple(found.values())

    def without(self, run: PlannedRun) -> bool:
        """Tell whether the session goes on without the cell of a run."""
        return (run.benchmark, run.variant) in self.cells

    def add(self, run: PlannedRun, outcome: str | None) -> GivenUp | None:
        """Count an executed run; give the record of the cell when it was the last that is tried."""
        if run.warmup or outcome is None or self._most is None:
            return None
        cell = (run.benchmark, run.variant)
        self._runs[cell] += 1
        self._failed[cell] = 0 if outcome == "ok" else self._failed[cell] + 1
        if self._failed[cell] < self._most or cell in self.cells:
            return None
        self.cells.add(cell)
        times = "1 run" if self._most == 1 else f"{self._most} runs in a row"
        return GivenUp(
            benchmark=run.benchmark,
            variant=run.variant,
            session=self._session,
            position=run.position,
            runs=self._runs[cell],
            why=f"{times} failed, the last one: {outcome}",
        )


def finding_of_given_up(one: GivenUp) -> Finding:
    """Make the finding that a session goes on without a cell."""
    return warning(
        "given-up",
        f"{one.benchmark} / {one.variant}: {one.why}; session {one.session} goes on without it",
        "protocol.give_up",
        "look at its outputs in the trial, correct it, and measure again",
        "runs that fail take time and measure nothing",
    )


KEY = "protocol.never_ok"
# how a detail begins where somebody killed a launcher, which tells nothing of the program
_KILLED = {
    "hook-failed": re.compile(HOOKS_LAUNCHER_DIED),
    "service-failed": re.compile(rf"[^'\n]*the service '[^'\n]+' {SERVICES_LAUNCHER_DIED}"),
}


class NeverOk:
    """Watches the first tries of each cell of a trial: its warm-ups in session 1, without them its first block."""

    def __init__(self, campaign: Campaign, store: Store) -> None:
        protocol = campaign.protocol
        self._campaign, self._store = campaign, store
        self._stops = protocol.never_ok == "stop"
        self._warm = protocol.warmups(1) > 0
        self._untried: dict[_Cell, set[int]] = {}
        # position of the last try that failed, of cells without an ok one
        self._failed: dict[_Cell, int] = {}
        self._held: set[_Cell] = set()  # that may succeed
        self._said: dict[int, str] = {}  # position -> what came of it
        self._lost: set[int] = set()  # positions of tries that tell nothing
        self._tells_early = protocol.order == "sequential" and not self._warm
        done, tries = store.rows.outcomes, tuple(self._tries())
        failed = {run.position for run in tries if done.get(run.position, "ok") != "ok"}
        for row, _ in records_of(store.path / MEASUREMENTS, Measurement) if failed else ():
            if row.position in failed:
                self._look_at(row)
        for run in tries:
            self._untried.setdefault((run.benchmark, run.variant), set()).add(run.position)
            if run.position in done:
                self._count(run, done[run.position])

    def _look_at(self, row: Measurement) -> None:
        self._said[row.position] = _outcome_text(row)
        says = _KILLED.get(row.outcome)
        if says is not None and says.match(row.detail or ""):
            self._lost.add(row.position)

    def _tries(self) -> Iterator[PlannedRun]:
        manifest, block = self._store.manifest, 0 if self._warm else 1
        runs = PlannedSession(self._campaign, manifest.seed, 1, manifest.node, manifest.left)
        if self._tells_early:  # the first block has no place of its own
            return (run for run in runs if run.block == block)
        return takewhile(lambda run: run.block == block, runs)

    def _count(self, run: PlannedRun, outcome: str) -> None:
        cell = (run.benchmark, run.variant)
        self._untried[cell].discard(run.position)
        if outcome == "ok" or run.position in self._lost:
            self._held.add(cell)
        else:
            self._failed[cell] = max(run.position, self._failed.get(cell, 0))

    def _never(self, cell: _Cell) -> bool:
        return cell not in self._held and not self._untried[cell]

    @property
    def cells(self) -> frozenset[_Cell]:
        """The cells known by now to have had no try that was ok."""
        return frozenset(cell for cell in self._untried if self._never(cell))

    def decides(self, run: PlannedRun) -> bool:
        """Tell whether a run is a first try of its cell, and none that is stored."""
        return run.position in self._untried.get((run.benchmark, run.variant), ())

    def add(self, run: PlannedRun, row: Measurement) -> tuple[GivenUp, ...]:
        """Count a run that decides; give the records of its cell when that cannot succeed."""
        cell = (run.benchmark, run.variant)
        self._look_at(row)
        self._count(run, row.outcome)
        return () if self._stops or not self._never(cell) else self.unrecorded()

    def unrecorded(self) -> tuple[GivenUp, ...]:
        """Give the records that are to be made: one for each cell and each session that goes without it.

        A kill kept them from being made, or sessions were added.
        """
        return () if self._stops else tuple(self._records())

    def _records(self) -> Iterator[GivenUp]:
        protocol, manifest = self._campaign.protocol, self._store.manifest
        needs = {end.session: end.runs for end in manifest.session_ends}
        sessions = range(1, manifest.sessions + 1)
        wanted = {(session, *cell) for cell in self.cells for session in sessions}
        wanted -= {(one.session, one.benchmark, one.variant) for one in manifest.given_up}
        if not wanted:
            return
        done = self._done(sorted({session for session, *_ in wanted}))
        for session, benchmark, variant in sorted(wanted):
            runs, warm = (done[kind, session, benchmark, variant] for kind in (False, True))
            warmups = protocol.warmups(session) - protocol.warmups(session - 1) - warm
            measured_in = session <= manifest.left.get(variant, session)
            if measured_in and (runs < needs.get(session, protocol.runs) or warmups):
                yield GivenUp(
                    benchmark=benchmark,
                    variant=variant,
                    session=session,
                    position=self._failed[benchmark, variant],
                    runs=runs,
                    why=self._why((benchmark, variant)),
                    never_ok=True,
                    warmups=warmups,
                )

    def _done(self, sessions: Sequence[int]) -> Counter[tuple[bool, int, str, str]]:
        """Count what stands of cells in these sessions: whether it is a warm-up, the session and the cell."""
        manifest, done = self._store.manifest, self._store.rows.outcomes
        found: Counter[tuple[bool, int, str, str]] = Counter()
        for session in sessions:
            if planned_runs(self._campaign, session - 1, manifest.left) > max(done, default=-1):
                break
            for run in PlannedSession(
                self._campaign, manifest.seed, session, manifest.node, manifest.left
            ):
                if run.position in done:
                    found[run.warmup, session, run.benchmark, run.variant] += 1
        return found

    def _why(self, cell: _Cell) -> str:
        tries = "warm-up" if self._warm else "first run"
        return f"no {tries} of session 1 was ok, the last one: {self._said[self._failed[cell]]}"

    def end(self) -> str | None:
        """Say why the trial ends: no cell of a variant or a benchmark is left, or one is too many."""
        if not self._tells_early and any(self._untried.values()):
            return None  # all that fail are reported at once
        never = self.cells
        if self._stops and never:
            return self._failing_text(f"{counted(len(never), 'cell')} never ok", min(never))
        for what, place in (("benchmark", 0), ("variant", 1)):
            for name in dict.fromkeys(cell[place] for cell in self._untried):
                mine = {cell for cell in self._untried if cell[place] == name}
                if mine <= never:
                    return self._failing_text(f"no cell of {what} {name} is left", min(mine))
        return None

    def _failing_text(self, what: str, cell: _Cell) -> str:
        return f"{what}: {cell[0]} / {cell[1]}: {self._why(cell)}"


def _outcome_text(row: Measurement) -> str:
    detail = " ".join((row.detail or "").split())  # of a service it has several lines
    if detail.startswith(row.outcome):  # "exit: exit code 1" says it twice
        return detail
    return f"{row.outcome}: {detail}" if detail else row.outcome


def finding_of_never_ok(one: GivenUp) -> Finding:
    """Make the finding that a trial goes on without a cell."""
    return warning(
        "never-ok",
        f"{one.benchmark} / {one.variant}: {one.why}; the trial goes on without it",
        KEY,
        "correct it and start a new trial, or write 'never_ok: go_on' to measure it all the same",
        "a cell that cannot succeed takes time and measures nothing",
    )


# --- What decides which runs of a session are executed.


class SessionStop:
    """Applies the rule to one session; make it before the session's first run.

    It looks at the first metric that the campaign's `judge` names, else at the wall time. It decides by
    the stored runs alone, so a session that was killed and resumed ends where it would have ended.
    """

    def __init__(
        self, rule: StopRule, campaign: Campaign, session: int, trial: Path | None = None
    ) -> None:
        from analysis.plan.stop_rule import RunningSuite, decide, judged_mean

        self._rule, self._trial = rule, trial
        self._metric = next(iter(campaign.judge), None)
        self._counters = campaign.counters is not None and any(
            event.name == self._metric for event in campaign.counters.events
        )
        self._campaign = campaign
        self._session = session
        self._decide = decide
        self._judged_mean = judged_mean
        rules = (rule for cell in campaign.cells for rule in cell.metrics)
        self._printed = next((rule for rule in rules if rule.name == self._metric), None)
        self._benchmarks = {name: k for k, name in enumerate(campaign.benchmarks)}
        self._variants = {name: k for k, name in enumerate(campaign.variants)}
        self._suite = RunningSuite(len(self._benchmarks), len(self._variants))
        self._runs = 0
        self._mended: set[int] = set()  # positions of disturbed runs with an undisturbed repeat
        self._spans: dict[int, tuple[int, int]] = {}  # segment -> its first start and last end

    def add(self, measurement: Measurement) -> None:
        """Count a run. Warm-ups take time; failed runs, and those without a value, are not judged."""
        if measurement.start_ns is not None and measurement.wall_ns is not None:
            ended = measurement.start_ns + measurement.wall_ns
            begun, _ = self._spans.get(measurement.segment, (measurement.start_ns, ended))
            self._spans[measurement.segment] = (begun, ended)
        if measurement.warmup:
            return
        if measurement.repeats is None:
            self._runs += 1
            self._put(measurement)
        elif measurement.disturbed is False and measurement.repeats not in self._mended:
            self._mended.add(measurement.repeats)  # the first undisturbed row is judged
            self._put(measurement)

    def _put(self, row: Measurement) -> None:
        """Take a row for the value of its run, in place of one that was disturbed."""
        if row.counted is not None and row.counted != self._counters:
            return  # there for its counters alone, or for all else
        value = self._value_of(row) if row.outcome == "ok" else None
        if value is None or not 0 < value < math.inf:  # a damaged row may say anything
            value = math.nan  # no value that counts
        if row.repeats is not None or not math.isnan(value):
            benchmark, variant = self._benchmarks[row.benchmark], self._variants[row.variant]
            self._suite.add(row.block, benchmark, variant, value)

    def _value_of(self, row: Measurement) -> float | None:
        """Give a run's value of the metric, the mean of its judged iterations; None where it has none.

        A metric that a program prints wins over one of its name that every run has, as for the judge. Where
        none is named it is the wall time.
        """
        printed = () if self._metric is None else row.metrics.get(self._metric)
        if printed:
            rule = self._printed
            warmup, better = (0, "lower") if rule is None else (rule.warmup_iterations, rule.better)
            values: Sequence[float] = printed
            if warmup and self._metric is not None and self._metric in row.samples:
                values = self._stored(row, self._metric)
                if len(values) == 1:  # their mean alone is known
                    warmup = 0
            return self._judged_mean(values, warmup, higher=better == "higher")
        number = METRIC_NUMBERS.get(self._metric or "wall")
        if number is None or (value := getattr(row, number)) is None:
            return None
        return float(value / 1e9 if NUMBERS[number].unit == "ns" else value)

    def _stored(self, row: Measurement, metric: str) -> Sequence[float]:
        """Give the values that stand in a file; their mean where they are not kept, or not to be read."""
        about = row.samples[metric]
        if self._trial is None or about.form != "values" or about.sha256 is None:
            return row.metrics[metric]
        place = self._trial / sample_file(row.position, metric, warmup=row.warmup)
        try:
            return doubles(read_samples(place, about))
        except StoreError:  # the judge reports it; a rule that looks on does not end the trial
            return row.metrics[metric]

    def give_up(self, benchmark: str, variant: str) -> None:
        """Go on without a cell."""
        self._suite.give_up(self._benchmarks[benchmark], self._variants[variant])

    def pass_over(self) -> None:
        """Count a measured run of a given-up cell, which its block goes without."""
        self._runs += 1

    def end(self) -> SessionEnd | None:
        """Decide whether the session ends here; within a block it never does."""
        blocks, begun = divmod(self._runs, len(self._campaign.cells))
        if begun or not blocks:
            return None
        end = self._decide(
            self._rule,
            self._suite,
            session=self._session,
            blocks=blocks,
            elapsed_s=sum(last - first for first, last in self._spans.values()) / 1e9,
            baseline=self._variants[self._campaign.baseline],
            benchmarks=self._campaign.benchmarks,
            variants=self._campaign.variants,
        )
        if end is None or self._metric is None:
            return end
        return replace(end, text=f"{self._metric}: {end.text}")


def finding_of(end: SessionEnd) -> Finding:
    """Make the finding that records how a session ended; a cap is a warning."""
    return Finding(
        check="stop",
        status="ok" if end.why == "width" else "warn",
        what=end.text,
        where="protocol.stop",
        reason=None if end.why == "width" else "the intervals are wider than was asked for",
    )


def stored_runs(trial: Path, ended: Iterable[int] = ()) -> dict[int, list[Measurement]]:
    """Read the measurements of sessions that have not ended; the store has checked the lines."""
    passed = frozenset(ended)
    found: dict[int, list[Measurement]] = defaultdict(list)
    for row, _ in records_of(trial / MEASUREMENTS, Measurement):
        if row.session not in passed:
            found[row.session].append(row)
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Earlier:
    """What the rules must know of the stored rows of a trial that is gone on with, by session."""

    runs: Mapping[int, list[Measurement]] = field(default_factory=dict)
    repeats: Mapping[int, Repeats] = field(default_factory=dict)
    announced: frozenset[tuple[int | None, str]] = frozenset()  # session, and what a finding said

    @classmethod
    def of_trial(cls, store: Store, campaign: Campaign) -> Earlier:
        """Read it; nothing is read where no rule needs it."""
        if not store.rows.outcomes:
            return cls()
        ended = (end.session for end in store.manifest.session_ends)
        protocol = campaign.protocol
        return cls(
            runs={} if protocol.stop is None else stored_runs(store.path, ended),
            repeats=stored_repeats(store.path, campaign) if protocol.repeating else {},
            announced=recorded_repeats(store.path) if protocol.repeating else frozenset(),
        )


class SessionRules:
    """Applies the rules of a campaign to one session, from the plan, the stored rows and each new one."""

    def __init__(self, campaign: Campaign, store: Store, session: int, earlier: Earlier) -> None:
        protocol, manifest = campaign.protocol, store.manifest
        self.session = session
        self.runs = PlannedSession(campaign, manifest.seed, session, manifest.node, manifest.left)
        self.warm: tuple[PlannedRun, ...] = ()  # warm-ups that stand in no plan, executed first
        self._done = store.rows.outcomes
        self._announced = earlier.announced
        self._ended = any(end.session == session for end in manifest.session_ends)
        self.hopeless = Hopeless(
            protocol.give_up, self.runs, store.rows.outcomes, manifest.given_up, session
        )
        self._repeats = None
        if protocol.repeating:
            self._repeats = earlier.repeats.get(session) or Repeats(campaign)
        self._stop = None
        if protocol.stop is not None and not self._ended:
            self._stop = SessionStop(protocol.stop, campaign, session, store.path)
            for measurement in earlier.runs.get(session, ()):
                self._stop.add(measurement)
            for cell in self.hopeless.cells:
                self._stop.give_up(*cell)
        self._passed = 0  # the last block with something stored
        if self._stop is not None and self._done:
            self._passed = max((r.block for r in self.runs if r.position in self._done), default=0)
            for run in self.runs:  # the rule counts what the stored blocks went without
                passed = run.position not in self._done and self.hopeless.without(run)
                if passed and not run.warmup and run.block <= self._passed:
                    self._stop.pass_over()
        if self._passed and not self.is_left():
            for _ in self.due():  # no cell is left to execute: the rule looks at blocks without any
                pass

    @property
    def unwritten(self) -> tuple[Finding, ...]:
        """What findings would say of the stored rows' repeats, which a kill kept from being recorded."""
        if self._repeats is None:
            return ()
        found = (*self._repeats.in_vain, *(() if self.is_left() else self.findings()))
        return tuple(one for one in found if (self.session, one.what) not in self._announced)

    def end(self) -> SessionEnd | None:
        """Say why the session needs no more runs, by the stopping rule; None where it goes on.

        None also of one that has ended, which stays as it was recorded, and as long as runs of its last
        block are to be repeated.
        """
        found = None if self._stop is None else self._stop.end()
        return None if found is not None and self._repeats_left() else found

    def is_left(self) -> bool:
        """Tell whether any run of the session is to be executed."""
        if self._ended:
            return False
        left = (run for run in self.runs if run.position not in self._done)
        return not all(map(self.hopeless.without, left)) or self._repeats_left()

    def _repeats_left(self) -> bool:
        rule, without = self._repeats, self.hopeless.without
        return rule is not None and repeats_left(self.runs, self._done, rule, without)

    def due(self) -> Iterator[PlannedRun]:
        """Give the runs to execute, one after the other, while `add` hears of each."""
        yield from self.warm
        block = self._passed  # what stored blocks still lack is made in any case
        for run in still_to_do(self.runs, self._done, self._repeats, self.hopeless.without):
            if run.block > block:
                if self._stop is not None and self._stop.end() is not None:
                    return
                block = run.block
            if not self.hopeless.without(run):
                yield run
            elif self._stop is not None and run.block > self._passed:
                self._stop.pass_over()

    def add(self, run: PlannedRun, row: Measurement) -> tuple[GivenUp | None, Finding | None]:
        """Count what came of a run; say whether its cell is given up, and what is repeated in vain."""
        if self._stop is not None:
            self._stop.add(row)
        in_vain = None if self._repeats is None else self._repeats.add(row)
        if repeats_of(run) is not None:  # failures in a row are those of the plan
            return None, in_vain
        given_up = self.hopeless.add(run, row.outcome)
        if given_up is not None and self._stop is not None:
            self._stop.give_up(run.benchmark, run.variant)
        return given_up, in_vain

    def leave_out(self, benchmark: str, variant: str) -> None:
        """Go on without a cell that cannot succeed."""
        self.hopeless.cells.add((benchmark, variant))
        if self._stop is not None:
            self._stop.give_up(benchmark, variant)

    def findings(self) -> tuple[Finding, ...]:
        """Say at the session's end what of it was not repeated because nobody could tell."""
        found = None if self._repeats is None else self._repeats.finding()
        return () if found is None else (found,)
