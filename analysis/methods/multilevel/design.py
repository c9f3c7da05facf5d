"""Runs as flat columns, and the design that their sessions and blocks make possible."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ...data import PerformanceMatrix, Unit

__all__ = ["PAIRS", "Design", "Layout", "Side", "layout_of"]

Design = Literal[
    "paired", "separate", "one session, blocks", "one session, runs", "confounded", "hosts"
]
PAIRS: tuple[Design, ...] = ("paired", "one session, blocks")  # both sides have the same rows
Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Rows = tuple[NDArray[Any], ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Side:
    """The runs of one variant, an entry a run; `benchmark`, `session` and `block` are numbers from 0."""

    values: Floats
    benchmark: Codes
    session: Codes
    block: Codes

    @property
    def sessions(self) -> Codes:
        """The sessions that hold a run of it, in their order."""
        return np.unique(self.session)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Layout:
    """Both sides in one numbering of sessions and blocks.

    Attributes
    ----------
    design : Design
        What is compared with what; decided once, over all benchmarks.
    ours, theirs : Side
        The candidate's and the baseline's runs.
    labels : tuple of str
        The sessions' ids by their number.
    blocks : bool
        Whether blocks are known on both sides. Without, each session counts as one block.
    benchmarks : int
        How many.
    outermost : {"session", "host"}
        What the sessions are; hosts only where both sides' are.
    """

    design: Design
    ours: Side
    theirs: Side
    labels: tuple[str, ...]
    blocks: bool
    benchmarks: int
    outermost: Unit

    @property
    def common(self) -> Codes:
        """The sessions that hold runs of both sides."""
        return np.intersect1d(self.ours.session, self.theirs.session)


def layout_of(candidate: PerformanceMatrix, baseline: PerformanceMatrix) -> Layout:
    """Give the sessions and blocks of both sides one numbering, and decide the design.

    Sessions are the same where their ids are; where neither side knows any, both share one, unless
    they are known to stem from different trials. Blocks are known by session and block id together.

    Parameters
    ----------
    candidate, baseline : PerformanceMatrix
        As `analysis.data.match` gives them.
    """
    sizes = np.array([len(row) for row in (*candidate.samples, *baseline.samples)])
    sessions, labels = _numbered(*_sessions(candidate, baseline))
    blocks = candidate.blocks is not None and baseline.blocks is not None
    number, count = sessions, len(labels)
    if candidate.blocks is not None and baseline.blocks is not None:
        within, named = _numbered(candidate.blocks, baseline.blocks)
        pairs = sessions * len(named) + within
        found, number = np.unique(pairs, return_inverse=True)
        count = len(found)
    n = len(candidate.benchmarks)
    benchmark = np.repeat(np.tile(np.arange(n), 2), sizes)
    values = np.concatenate([*candidate.samples, *baseline.samples])
    first = int(sizes[:n].sum())
    ours, theirs = (
        Side(
            values=values[part],
            benchmark=benchmark[part],
            session=sessions[part],
            block=number[part],
        )
        for part in (slice(None, first), slice(first, None))
    )
    return Layout(
        design=_design(ours, theirs, blocks=blocks, count=count),
        ours=ours,
        theirs=theirs,
        labels=labels,
        blocks=blocks,
        benchmarks=n,
        outermost=candidate.outermost if candidate.outermost == baseline.outermost else "session",
    )


def _design(ours: Side, theirs: Side, *, blocks: bool, count: int) -> Design:
    a, b = ours.sessions, theirs.sessions
    common = np.intersect1d(a, b).size
    if common >= 2:
        return "paired"
    if a.size >= 2 and b.size >= 2:
        return "separate"
    if a.size == b.size == common == 1:
        if blocks and _several_blocks(ours, theirs, count):
            return "one session, blocks"
        return "one session, runs"
    return "confounded"


def _several_blocks(ours: Side, theirs: Side, count: int) -> bool:
    """Tell whether any benchmark has two blocks that hold both sides."""
    cells = [np.unique(side.benchmark * count + side.block) for side in (ours, theirs)]
    shared = np.intersect1d(cells[0], cells[1], assume_unique=True) // count
    return bool(shared.size) and int(np.bincount(shared).max()) >= 2


def _sessions(candidate: PerformanceMatrix, baseline: PerformanceMatrix) -> tuple[Rows, Rows]:
    """Give the session ids of both sides; a side without any is one session."""
    a, b = candidate.sessions, baseline.sessions
    if a is not None and b is not None:
        return a, b
    trials = (candidate.trial, baseline.trial)
    apart = None not in trials and trials[0] != trials[1]
    names = ("1", "2") if apart else ("1", "1")
    ours, theirs = (
        # what no id of the other side can be by accident
        tuple(np.full(len(row), f"unknown/{name}") for row in matrix.samples)
        if rows is None
        else rows
        for matrix, rows, name in ((candidate, a, names[0]), (baseline, b, names[1]))
    )
    return ours, theirs


def _numbered(ours: Rows, theirs: Rows) -> tuple[Codes, tuple[str, ...]]:
    """Give ids numbers over both sides; a number and a name never are the same id."""
    rows = [*ours, *theirs]
    if len({row.dtype.kind for row in rows}) > 1:
        rows = [
            np.array(
                [str(label) if isinstance(label, int) else f"'{label}'" for label in row.tolist()]
            )
            for row in rows
        ]
    found, number = np.unique(np.concatenate(rows), return_inverse=True)
    return number, tuple(str(label) for label in found.tolist())
