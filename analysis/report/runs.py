"""The runs of one benchmark, by variant, session and block, and what pictures show of them.

The page and the figures for papers draw the same numbers: they are computed here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..stats.classical_tests import normal_positions
from ..stats.quantiles import Shift, shift_of
from ..stats.samples import lag_pairs

if TYPE_CHECKING:
    from ..data.matrix import PerformanceMatrix
    from ..diagnose.result import FarRun
    from ..methods.multilevel.result import Multilevel
    from .subject import Subject

__all__ = [
    "Cell",
    "Failed",
    "Frame",
    "cells_of",
    "distribution",
    "failed_of",
    "far_places",
    "frame_of",
    "mean_of",
    "normal_quantiles",
    "numbers_within",
    "pairs_in_order",
    "ran_together",
    "session_means",
    "shift_between",
]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
_LEAST = 3  # runs that are held against a normal law
_ROUNDING = 1e-12  # runs whose logs differ by less are equal
_GAP, _GAPS = 0.0115, 0.06  # a gap between panels, and all of them together at most


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Cell:
    """One variant's runs of a benchmark, in the order in which they were measured."""

    values: Floats
    labels: tuple[str, ...]  # the sessions; one, "", where they are not known
    session: Integers  # the place of each run's session in `labels`
    block: NDArray[Any] | None = None  # the id of each run's block; None where blocks are not known

    def of(self, place: int) -> Floats:
        """Give the runs of one session."""
        found: Floats = self.values[self.session == place]
        return found

    @property
    def by_session(self) -> tuple[Floats, ...]:
        """The runs of each session."""
        return tuple(self.of(k) for k in range(len(self.labels)))

    @property
    def positive(self) -> bool:
        """Whether every run has a logarithm."""
        return bool(self.values.min() > 0)

    @property
    def ends(self) -> tuple[float, float]:
        """The least and the largest run."""
        return float(self.values.min()), float(self.values.max())


def mean_of(runs: Floats, *, log: bool) -> float:
    """Give the geometric mean, or the arithmetic one where the axis is linear."""
    return float(np.exp(np.log(runs).mean())) if log else float(runs.mean())


class Failed(NamedTuple):
    """A measured run that failed: its session's label, and its block as `Cell.block` has it."""

    session: str
    block: int


def cells_of(subject: Subject, benchmark: str) -> dict[str, Cell]:
    """Give each variant's runs of a benchmark, the baseline's first; of runs of 0 too."""
    return {
        name: _cell(one, one.benchmarks.index(benchmark))
        for name, matrix in subject.matrices.items()
        for one in (matrix, matrix.with_zeros)
        if one is not None and benchmark in one.benchmarks
    }


def failed_of(subject: Subject) -> Mapping[tuple[str, str], tuple[Failed, ...]]:
    """Give the failed measured runs of each benchmark and variant; none where no trial says so."""
    found: dict[tuple[str, str], tuple[Failed, ...]] = {}
    trial = subject.trial
    if trial is None:
        return found
    most = int(trial.block.max()) + 1 if len(trial) else 1
    blocks = dict(zip(trial.position.tolist(), trial.block.tolist(), strict=True))
    for run in trial.failures():
        if not run.warmup:
            failed = Failed(str(run.session), run.session * most + blocks.get(run.position, 0))
            cell = (run.benchmark, run.variant)
            found[cell] = (*found.get(cell, ()), failed)
    return found


def _cell(matrix: PerformanceMatrix, k: int) -> Cell:
    values = matrix.samples[k]
    unknown = np.full(values.size, "")
    labels, session = _numbered(unknown if matrix.sessions is None else matrix.sessions[k])
    block = None if matrix.blocks is None else matrix.blocks[k]
    return Cell(values=values, labels=labels, session=session, block=block)


def _numbered(given: NDArray[Any]) -> tuple[tuple[str, ...], Integers]:
    """Give sessions their numbers: whole ones in their order, names as they are first met."""
    if given.dtype.kind in "iu":
        labels, session = np.unique(given, return_inverse=True)
        return tuple(map(str, labels.tolist())), session.reshape(-1).astype(np.int64)
    names = given.tolist()
    places = {name: k for k, name in enumerate(dict.fromkeys(names))}
    return tuple(places), np.array([places[name] for name in names], dtype=np.int64)


def _whole(given: NDArray[Any]) -> Integers:
    """Give ids as whole numbers: names by their order."""
    return given.astype(np.int64) if given.dtype.kind in "iu" else _numbered(given)[1]


class Frame(NamedTuple):
    """Panels and places of one benchmark, as shares of a picture's width."""

    labels: tuple[str, ...]  # of the panels; one "" where sessions are not known
    spans: tuple[tuple[float, float], ...]  # the panels' edges
    together: bool  # whether variants ran in the same sessions; else a panel holds one of each
    panel: Mapping[str, Integers]  # of each session of a variant, in the order of its labels
    across: Mapping[str, Floats]  # the place of each run
    failed: Mapping[str, Sequence[float]]  # and of failed ones


def frame_of(
    cells: Mapping[str, Cell], failures: Mapping[str, Sequence[Failed]], *, together: bool = True
) -> Frame:
    """Lay out the runs of a benchmark's variants: a panel for each session, in it left to right by block.

    Sessions of one label are the same ones where variants ran `together`.
    """
    failures = {name: runs for name, runs in failures.items() if together and runs}
    labels = _labels(cells, failures, together=together)
    place = {label: k for k, label in enumerate(labels)}
    panel = {
        name: np.array([place[label] if together else k for k, label in enumerate(cell.labels)])
        for name, cell in cells.items()
    }
    gap = min(_GAP, _GAPS / len(labels))
    wide = (1 + gap) / len(labels)
    spans = tuple((k * wide, k * wide + wide - gap) for k in range(len(labels)))
    edges = np.array(spans)

    where = {name: panel[name][cell.session] for name, cell in cells.items()}
    blocks = {name: _whole(cell.block) for name, cell in cells.items() if cell.block is not None}
    lost = {
        name: np.array([(place[run.session], run.block) for run in runs])
        for name, runs in failures.items()
    }
    pairs = {name: np.column_stack((where[name], block)) for name, block in blocks.items()}
    own = [np.unique(block) for block in blocks.values()]
    overlap = bool(own) and np.unique(np.concatenate(own)).size < sum(map(np.size, own))
    every = np.concatenate([*pairs.values(), *lost.values()]) if pairs else np.empty((0, 2))
    if len(pairs) == len(cells) and (together or len(cells) == 1 or overlap):
        # a slot for each block that any variant has in a panel
        met = np.unique(every, axis=0)
        counts = np.bincount(met[:, 0], minlength=len(labels))
        first = np.cumsum(counts) - counts
        slot_of = {(p, b): k - int(first[p]) for k, (p, b) in enumerate(met.tolist())}
        slots, late = (
            {name: np.array([slot_of[p, b] for p, b in of.tolist()]) for name, of in some.items()}
            for some in (pairs, lost)
        )
    else:  # or for each run, and failed ones in the last
        found = [np.bincount(of, minlength=len(labels)) for of in where.values()]
        counts = np.maximum(1, np.max(found, axis=0))
        slots = {name: numbers_within(cell.session) for name, cell in cells.items()}
        late = {name: counts[of[:, 0]] - 1 for name, of in lost.items()}

    def within(at: Integers, slot: Integers) -> Floats:
        left, right = edges[at, 0], edges[at, 1]
        return np.asarray(left + (right - left) * (slot + 0.5) / counts[at])

    return Frame(
        labels=labels,
        spans=spans,
        together=together,
        panel=panel,
        across={name: within(where[name], slots[name]) for name in cells},
        failed={name: within(of[:, 0], late[name]).tolist() for name, of in lost.items()},
    )


def _labels(
    cells: Mapping[str, Cell], failures: Mapping[str, Sequence[Failed]], *, together: bool
) -> tuple[str, ...]:
    if not together:
        most = max(len(cell.labels) for cell in cells.values())
        return ("",) if most == 1 else tuple(str(k + 1) for k in range(most))
    met = dict.fromkeys(label for cell in cells.values() for label in cell.labels)
    met |= dict.fromkeys(run.session for runs in failures.values() for run in runs)
    return tuple(sorted(met, key=int)) if all(label.isdecimal() for label in met) else tuple(met)


def numbers_within(session: Integers) -> Integers:
    """Give each run's number within its session, from 0."""
    order = np.argsort(session, kind="stable")
    found = np.empty_like(order)
    found[order] = np.arange(order.size) - np.searchsorted(session[order], session[order])
    return found


def ran_together(subject: Subject) -> bool:
    """Tell whether variants ran in the same sessions."""
    results = (one.multilevel for one in subject.candidates)
    apart = any(one.design in ("separate", "confounded") for one in results if one is not None)
    return subject.trial is not None or not apart


# ---- what pictures show of runs


def session_means(
    cell: Cell, frame: Frame, variant: str, *, log: bool
) -> list[tuple[float, float, float]]:
    """Give each session's mean behind its panel's edges."""
    panels = frame.panel[variant].tolist()
    means = [mean_of(runs, log=log) for runs in cell.by_session]
    return [(*frame.spans[k], mean) for k, mean in zip(panels, means, strict=True)]


def far_places(cell: Cell, far: Sequence[FarRun]) -> Iterator[int]:
    """Give the places, in a cell, of runs that are far from the others of their session."""
    for run in far:
        if str(run.session) in cell.labels:
            mine = np.flatnonzero(cell.session == cell.labels.index(str(run.session)))
            if run.run <= mine.size:
                yield int(mine[run.run - 1])


def distribution(cell: Cell) -> Floats:
    """Give the runs from the least on, each with the share of runs up to it."""
    count = cell.values.size
    return np.column_stack((np.sort(cell.values), np.arange(1, count + 1) / count))


def pairs_in_order(cell: Cell) -> Floats:
    """Give each run behind the one before it in its session."""
    return lag_pairs(cell.values, cell.session)


def normal_quantiles(cell: Cell) -> Floats:
    """Give what a normal law expects, and the runs less their session's mean: of logs where possible.

    Both in standard deviations; none of too few or equal runs.
    """
    values = np.log(cell.values) if cell.positive else cell.values
    counts = np.bincount(cell.session, minlength=len(cell.labels))
    means = np.bincount(cell.session, weights=values) / np.maximum(counts, 1)
    rest = np.sort((values - means[cell.session])[counts[cell.session] > 1])
    if rest.size < _LEAST:
        return np.empty((0, 2))
    sd = float(np.sqrt((rest**2).sum() / max(1, rest.size - int((counts > 1).sum()))))
    if not sd > _ROUNDING:
        return np.empty((0, 2))
    return np.column_stack((normal_positions(rest.size), rest / sd))


def shift_between(result: Multilevel, ours: Cell, theirs: Cell) -> Shift | None:
    """Give the log speedups at quantiles; of sessions that both sides have where these are paired."""
    paired = result.design in ("paired", "hosts")
    sides = [ours.by_session, theirs.by_session]
    if paired:
        common = [label for label in ours.labels if label in theirs.labels]
        sides = [
            tuple(side.of(side.labels.index(label)) for label in common) for side in (ours, theirs)
        ]
    if result.better == "lower":
        sides.reverse()
    return shift_of(*sides, paired=paired, confidence=1 - result.look_alpha)
