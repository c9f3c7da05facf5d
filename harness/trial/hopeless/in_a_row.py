"""Cells whose measured runs fail one after the other: the session goes on without them, the next one tries again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from analysis.record.trial_files import Finding, GivenUp, PlannedRun

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
    return Finding(
        check="given-up",
        status="warn",
        what=f"{one.benchmark} / {one.variant}: {one.why}; session {one.session} goes on without it",
        where="protocol.give_up",
        fix="look at its outputs in the trial, mend it, and measure again",
        reason="runs that fail take time and measure nothing",
    )
