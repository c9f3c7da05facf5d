"""The runs of two identical variants, block by block: what labels are swapped in."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data import PerformanceMatrix
from ..errors import InsufficientDataError

__all__ = ["Pairs", "pairs_of"]

Array = NDArray[np.float64]
Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Pairs:
    """Runs of two variants side by side: each block that holds both, benchmark by benchmark.

    Attributes
    ----------
    benchmarks : tuple of str
        Those with two blocks at least.
    ours, theirs : tuple of float arrays
        The values of either variant, one entry a block; a block with several runs of a cell gives
        their geometric mean.
    group : tuple of int arrays
        In the same shape: the number of the session, from 0. In a trial of one session that of the
        block: what labels are swapped in is a group.
    block : tuple of int arrays
        Likewise the number of the block, over all benchmarks together.
    groups : int
        How many sessions there are, or blocks of the one session.
    whole : bool
        Whether groups are sessions.
    higher : bool
        Whether higher values are better.
    left_out : int
        Runs without a partner in their block.
    """

    benchmarks: tuple[str, ...]
    ours: tuple[Array, ...]
    theirs: tuple[Array, ...]
    group: tuple[Numbers, ...]
    block: tuple[Numbers, ...]
    groups: int
    whole: bool
    higher: bool = False
    left_out: int = 0

    @property
    def sessions(self) -> int:
        """How many sessions the runs stem from."""
        return self.groups if self.whole else 1

    def logs(self) -> list[tuple[Array, Array]]:
        """Give the logarithms of both sides of each benchmark."""
        return [(np.log(x), np.log(y)) for x, y in zip(self.ours, self.theirs, strict=True)]

    def differences(self) -> list[Array]:
        """Give for each benchmark the mean log difference of each session that it has, in order."""
        return [
            np.array([(x - y)[group == k].mean() for k in np.unique(group)])
            for (x, y), group in zip(self.logs(), self.group, strict=True)
        ]

    def without(self, group: int) -> Pairs:
        """Give the same pairs without a group; groups keep their numbers."""
        kept = [g != group for g in self.group]
        enough = [k for k, keep in enumerate(kept) if keep.sum() > 1]

        def cut(rows: tuple[NDArray[Any], ...]) -> tuple[NDArray[Any], ...]:
            return tuple(rows[k][kept[k]] for k in enough)

        return replace(
            self,
            benchmarks=tuple(self.benchmarks[k] for k in enough),
            ours=cut(self.ours),
            theirs=cut(self.theirs),
            group=cut(self.group),
            block=cut(self.block),
        )


def pairs_of(candidate: PerformanceMatrix, baseline: PerformanceMatrix) -> Pairs:
    """Put the runs of two variants of one trial side by side.

    Parameters
    ----------
    candidate, baseline : PerformanceMatrix
        Of one trial, with blocks and sessions.

    Raises
    ------
    InsufficientDataError
        If no benchmark has two blocks with a run that counts of both.
    """
    found: list[tuple[str, list[tuple[Any, Any, float, float]]]] = []
    left_out = 0
    for bench in candidate.benchmarks:
        if bench not in baseline.benchmarks:
            continue
        ours, theirs = _cells(candidate, bench), _cells(baseline, bench)
        shared = [key for key in ours if key in theirs]
        left_out += sum(len(row) for key, row in ours.items() if key not in theirs)
        left_out += sum(len(row) for key, row in theirs.items() if key not in ours)
        if len(shared) > 1:
            rows = [(*key, _centre(ours[key]), _centre(theirs[key])) for key in sorted(shared)]
            found.append((bench, rows))
    if not found:
        raise InsufficientDataError(
            f"no benchmark has two blocks with runs of both {candidate.name!r} and {baseline.name!r}",
            candidate.trial,
            "measure more blocks: 'protocol: {sessions: 6, runs: 8}'",
            n=0,
            needed=2,
        )
    sessions = sorted({row[0] for _, rows in found for row in rows})
    blocks = sorted({row[:2] for _, rows in found for row in rows})
    whole = len(sessions) > 1
    block_number = {key: k for k, key in enumerate(blocks)}
    session_number = {key: k for k, key in enumerate(sessions)}
    numbers = [np.array([block_number[row[:2]] for row in rows]) for _, rows in found]
    return Pairs(
        benchmarks=tuple(bench for bench, _ in found),
        ours=tuple(np.array([row[2] for row in rows]) for _, rows in found),
        theirs=tuple(np.array([row[3] for row in rows]) for _, rows in found),
        group=tuple(
            np.array([session_number[row[0]] for row in rows]) if whole else own
            for own, (_, rows) in zip(numbers, found, strict=True)
        ),
        block=tuple(numbers),
        groups=len(sessions) if whole else len(blocks),
        whole=whole,
        higher=candidate.better == "higher",
        left_out=left_out,
    )


def _cells(matrix: PerformanceMatrix, bench: str) -> dict[tuple[Any, Any], list[float]]:
    where = matrix.benchmarks.index(bench)
    assert matrix.sessions is not None  # a trial knows them
    sessions = matrix.sessions[where].tolist()
    blocks = _places(sessions) if matrix.blocks is None else matrix.blocks[where].tolist()
    rows: dict[tuple[Any, Any], list[float]] = defaultdict(list)
    for session, block, value in zip(sessions, blocks, matrix.samples[where].tolist(), strict=True):
        rows[session, block].append(value)
    return rows


def _places(sessions: list[Any]) -> list[int]:
    """Give each run its place within its session: imported runs know no blocks."""
    seen: dict[Any, int] = defaultdict(int)
    places = []
    for session in sessions:
        seen[session] += 1
        places.append(seen[session])
    return places


def _centre(values: list[float]) -> float:
    return values[0] if len(values) == 1 else float(np.exp(np.mean(np.log(values))))
