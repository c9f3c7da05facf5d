"""Runs that are executed again: disturbed ones by the campaign's rule, and tries of which nothing is kept.

What is repeated follows from the plan and the stored rows alone, so that a resumed session goes on alike.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from analysis.record.run_numbers import MOST_REPEATS, Measurement
from analysis.record.shapes import records_of
from analysis.record.trial_files import (
    FINDINGS,
    MEASUREMENTS,
    Finding,
    PlannedRun,
    RowShape,
    warning,
)

if TYPE_CHECKING:
    from ..campaign.model import Campaign
    from ..launch.exchange import Standstill


def finding_of_standstill(run: PlannedRun, stood: Standstill, *, again: bool) -> Finding:
    """Say what stood still while a run was under way, and whether it is executed again."""
    what = "discarded and executed again" if again else "given up: so it was in each earlier try"
    return warning(
        "suspended",
        f"{run.benchmark} / {run.variant}, position {run.position}: {stood}; the run is {what}",
        "SIGCONT, the launcher's state, waits and clocks of the runner",
        "let nobody stop a trial: no batch system, no debugger, and not the program itself",
        "a program that stood still, or whose end was noticed late, has no wall time",
    )


_IN_A_ROW = 4  # rows of a cell, repeats and one warm-up included, that were all disturbed
_NAMED = 3
_CHECK = "disturbed"

_Row = Measurement | RowShape


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatedRun(PlannedRun):
    """A planned run that is executed again: `repeats` is its position, its own is negative."""

    repeats: int


def repeats_of(run: PlannedRun) -> int | None:
    """Give the position of the run that this one repeats, None for one of the plan."""
    return run.repeats if isinstance(run, RepeatedRun) else None


class Repeats:
    """The disturbed runs of one session, and what their repeats came to.

    A run that was disturbed and ended ok is repeated at the end of its block (in sequential order:
    of its cell's runs), at most twice, until one of its rows is undisturbed; a block is repeated at
    most once its length. All variants of a benchmark are treated alike, else what one is spared would
    make it look faster. So its runs are kept as they are from where it is unknown of one of them, warm-ups
    included, whether it was disturbed, and from where four runs of a cell in a row were, repeats included.
    """

    def __init__(self, campaign: Campaign, rows: Iterable[_Row] = ()) -> None:
        self._sequential = campaign.protocol.order == "sequential"
        self._rows: dict[int, list[bool | None]] = {}  # of the runs that were disturbed
        self._unknown: set[str] = set()
        self._in_a_row: Counter[tuple[str, str]] = Counter()
        self._kept: set[str] = set()
        self.in_vain: list[Finding] = []
        for row in rows:
            self.add(row)

    def add(self, row: _Row) -> Finding | None:
        """Count a row; give the finding that a benchmark is repeated no more, where it says so."""
        if row.warmup and row.position < 0:
            return None  # a resumed session's own: had nobody broken it off, it would not be there
        if row.outcome == "ok" and row.disturbed is None:
            self._unknown.add(row.benchmark)
        if row.repeats is not None:
            self._rows.setdefault(row.repeats, [True]).append(row.disturbed)
        elif row.disturbed and row.outcome == "ok" and not row.warmup:
            self._rows[row.position] = [True]
        cell = row.benchmark, row.variant
        before = 0 if row.warmup else self._in_a_row[cell]  # the last warm-up counts
        self._in_a_row[cell] = before + 1 if row.disturbed else 0
        if self._in_a_row[cell] < _IN_A_ROW or row.benchmark in self._kept:
            return None
        self._kept.add(row.benchmark)
        self.in_vain.append(_in_vain(row))
        return self.in_vain[-1]

    def finding(self) -> Finding | None:
        """Say of which benchmarks nothing was repeated because it is not known; None without any."""
        if not self._unknown:
            return None
        names = sorted(self._unknown)
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        return warning(
            _CHECK,
            f"whether runs of {', '.join(names[:_NAMED])}{more} were disturbed is not known: they "
            "are kept as they are",
            "protocol.disturbed",
            reason=(
                "of programs with threads or processes of their own, and on some kernels, nobody can "
                "tell how long they waited for a CPU"
            ),
        )

    def stretch_of(self, run: PlannedRun) -> object:
        """Name what a run is repeated at the end of: its block, or in sequential order its cell's runs."""
        return (
            (run.block > 0, run.benchmark, run.variant)
            if self._sequential and not run.warmup
            else run.block
        )

    def disturbed(self, run: PlannedRun) -> bool:
        """Tell whether a planned run was."""
        return run.position in self._rows

    def _keeps(self, run: PlannedRun) -> bool:
        return run.benchmark in self._unknown or run.benchmark in self._kept

    def due(
        self, disturbed: Iterable[PlannedRun], length: int, without: Callable[[PlannedRun], bool]
    ) -> Iterator[PlannedRun]:
        """Give the runs to repeat, each as it was planned, while their rows are added."""
        runs = list(disturbed)
        left = length - sum(len(self._rows[run.position]) - 1 for run in runs)
        for times in range(1, MOST_REPEATS + 1):
            for run in runs:
                rows = self._rows[run.position]
                if len(rows) != times or False in rows or self._keeps(run) or without(run):
                    continue
                if left <= 0:
                    return
                left -= 1
                yield run


def still_to_do(
    runs: Iterable[PlannedRun],
    done: Mapping[int, str],
    repeats: Repeats | None = None,
    without: Callable[[PlannedRun], bool] = lambda _: False,
) -> Iterator[PlannedRun]:
    """Give the runs of a session that are left, with its warm-ups repeated if it was broken off.

    A warm-up that was done already stands in no plan when it is repeated, nor does a run that was
    disturbed: each gets a negative position of its own.
    """
    if all(run.position in done for run in runs) and (
        repeats is None or not repeats_left(runs, done, repeats, without)
    ):
        return
    fresh = -min(0, min(done, default=0))
    # else nothing was done of it, or it has no warm-ups
    for run in [run for run in runs if run.warmup and run.position in done]:
        fresh += 1
        yield replace(run, position=-fresh)
    if repeats is None:
        yield from (run for run in runs if run.position not in done)
        return
    for _, stretch in groupby(runs, key=repeats.stretch_of):
        disturbed, length = [], 0
        for run in stretch:
            if run.position not in done:
                yield run
            length += run.position in done  # its cell may have been given up
            if repeats.disturbed(run):
                disturbed.append(run)
        for run in repeats.due(disturbed, length, without):
            fresh += 1
            yield RepeatedRun(**run.to_dict() | {"position": -fresh}, repeats=run.position)


def repeats_left(
    runs: Iterable[PlannedRun],
    done: Mapping[int, str],
    repeats: Repeats,
    without: Callable[[PlannedRun], bool] = lambda _: False,
) -> bool:
    """Tell whether runs of a session are still to be repeated."""
    for _, stretch in groupby(runs, key=repeats.stretch_of):
        disturbed, length = [], 0
        for run in stretch:
            length += run.position in done
            if repeats.disturbed(run):
                disturbed.append(run)
        if next(repeats.due(disturbed, length, without), None) is not None:
            return True
    return False


def stored_repeats(trial: Path, campaign: Campaign) -> dict[int, Repeats]:
    """Read what became of the disturbed runs of a trial's sessions; the store has checked the lines."""
    found: dict[int, Repeats] = defaultdict(lambda: Repeats(campaign))
    for row, _ in records_of(trial / MEASUREMENTS, RowShape):
        found[row.session].add(row)
    return dict(found)


def said_of_repeats(trial: Path) -> frozenset[tuple[int | None, str]]:
    """Read what findings say of repeats: the session and the words of each."""
    found = (row for _, row in records_of(trial / FINDINGS, Finding))
    return frozenset((row.get("session"), row["what"]) for row in found if row["check"] == _CHECK)


def _in_vain(row: _Row) -> Finding:
    return warning(
        _CHECK,
        f"{row.benchmark} / {row.variant}: {_IN_A_ROW} runs in a row were disturbed, repeats included; in "
        f"session {row.session} the runs of {row.benchmark} are not repeated any more",
        "protocol.disturbed",
        "find out what it waits for: fairtrial doctor --probe 2s; a program whose own processes "
        "share its CPU needs more CPUs",
        "what is never undisturbed takes time, and a variant that alone is spared the waiting "
        "would look faster than it is",
    )
