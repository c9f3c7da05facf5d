"""Cells that cannot succeed: no run of them was ok when the first session tried each one.

What is tried is decided by the plan and the stored rows alone, so that a trial that was killed and is gone
on with decides the same. A row behind the plan, such as a warm-up that a resume repeats, decides nothing; nor
is a cell known to fail of which a try was lost with the launcher of the hooks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING

from analysis.record.run_numbers import Measurement
from analysis.record.shapes import records_of
from analysis.record.trial_files import MEASUREMENTS, Finding, GivenUp, PlannedRun, warning

from ..errors import counted
from ..launch.commands import HOOKS_LAUNCHER_DIED
from .plan import PlannedSession, planned_runs

if TYPE_CHECKING:
    from ..campaign.model import Campaign
    from .writer import Store

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
        "look at its outputs in the trial, mend it, and measure again",
        "runs that fail take time and measure nothing",
    )


KEY = "protocol.never_ok"


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
        self._read({run.position for run in tries if done.get(run.position, "ok") != "ok"})
        for run in tries:
            self._untried.setdefault((run.benchmark, run.variant), set()).add(run.position)
            if run.position in done:
                self._count(run, done[run.position])

    def _read(self, failed: set[int]) -> None:
        """Read what came of tries that an earlier process executed."""
        if failed:
            for row, _ in records_of(self._store.path / MEASUREMENTS, Measurement):
                if row.position in failed:
                    self._look_at(row)

    def _look_at(self, row: Measurement) -> None:
        self._said[row.position] = _said_of(row)
        if row.outcome == "hook-failed" and (row.detail or "").startswith(HOOKS_LAUNCHER_DIED):
            self._lost.add(row.position)

    def _tries(self) -> Iterator[PlannedRun]:
        """Give the planned runs that decide."""
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
        """The cells of which it is known by now that none of their tries was ok."""
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
            return None  # all that fail are told at once
        never = self.cells
        if self._stops and never:
            return self._told(f"{counted(len(never), 'cell')} never ok", min(never))
        for what, place in (("benchmark", 0), ("variant", 1)):
            for name in dict.fromkeys(cell[place] for cell in self._untried):
                mine = {cell for cell in self._untried if cell[place] == name}
                if mine <= never:
                    return self._told(f"no cell of {what} {name} is left", min(mine))
        return None

    def _told(self, what: str, cell: _Cell) -> str:
        return f"{what}: {cell[0]} / {cell[1]}: {self._why(cell)}"


def _said_of(row: Measurement) -> str:
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
        "mend it and begin a new trial, or write 'never_ok: go_on' to measure it all the same",
        "a cell that cannot succeed takes time and measures nothing",
    )
