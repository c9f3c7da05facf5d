"""Logarithms with the benchmark, session and block of each: of one variant, or of a difference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...data import PerformanceMatrix
from ..pair import sign_of

__all__ = ["Observations", "differences", "values_of"]

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
_ROUNDING = 1e-12  # logs nearer to each other are one value


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Observations:
    """One logarithm for each benchmark and block, in the order of benchmark, session and block.

    Attributes
    ----------
    names : tuple of str
        The benchmarks.
    values : float array, shape (n,)
        Of a difference: log of candidate over baseline, above 0 where the candidate is better.
    benchmark, session, block : int arrays, shape (n,)
        Codes from 0 on; a block belongs to one session.
    blocks_known : bool
        Whether the sources said which runs share a block; else the k-th runs of a session do.
    """

    names: tuple[str, ...]
    values: Floats
    benchmark: Codes
    session: Codes
    block: Codes
    blocks_known: bool

    @property
    def sessions(self) -> int:
        """How many sessions there are."""
        return int(np.unique(self.session).size)

    def of(self, benchmark: int) -> tuple[Floats, Codes]:
        """Give the values of one benchmark, and their sessions."""
        mine = self.benchmark == benchmark
        return self.values[mine], self.session[mine]

    def only(self, kept: Sequence[int]) -> Observations:
        """Give the observations of these benchmarks."""
        mine = np.isin(self.benchmark, kept)
        codes = np.searchsorted(kept, self.benchmark[mine])
        return _numbered(
            tuple(self.names[k] for k in kept),
            (self.values[mine], codes, self.session[mine], self.block[mine]),
            known=self.blocks_known,
        )

    def suite(self) -> tuple[Floats, Codes]:
        """Give the mean over all benchmarks in each block that has them all, and its session."""
        blocks, place = np.unique(self.block, return_inverse=True)
        counts = np.bincount(place, minlength=blocks.size)
        sums = np.bincount(place, weights=self.values, minlength=blocks.size)
        session = np.zeros(blocks.size, dtype=np.int64)
        session[place] = self.session
        whole = counts == len(self.names)
        return sums[whole] / len(self.names), session[whole]


def values_of(matrix: PerformanceMatrix) -> Observations:
    """Take one variant's runs, the mean of those of one block.

    Parameters
    ----------
    matrix : PerformanceMatrix
        Where it does not say the sessions, all runs are of one.
    """
    side = _coded((matrix,))[0]
    return _gathered(matrix.benchmarks, side.key, side.value, side)


def differences(candidate: PerformanceMatrix, baseline: PerformanceMatrix) -> Observations:
    """Take the log ratio in each block that both sides have.

    Parameters
    ----------
    candidate, baseline : PerformanceMatrix
        The same benchmarks in the same order. A session is common to both where its id is;
        without ids on both sides all runs are of one session.
    """
    ours, theirs = _coded((candidate, baseline))
    keys, here, there = np.intersect1d(
        ours.key, theirs.key, assume_unique=True, return_indices=True
    )
    ratio = sign_of(candidate) * (ours.value[here] - theirs.value[there])
    ratio[np.abs(ratio) < _ROUNDING] = 0.0
    return _gathered(candidate.benchmarks, keys, ratio, ours)


@dataclass(frozen=True, slots=True, eq=False)
class _Side:
    """The mean log of each cell's block, by a key of benchmark, session and block."""

    key: Codes
    value: Floats
    layout: tuple[int, int]  # how many sessions and blocks the keys count with
    blocks_known: bool


def _coded(matrices: Sequence[PerformanceMatrix]) -> list[_Side]:
    """Give sessions and blocks the same numbers on all sides."""
    sessions = _codes([matrix.sessions for matrix in matrices], matrices)
    known = all(matrix.blocks is not None for matrix in matrices)
    benchmarks = [
        np.repeat(np.arange(len(matrix.benchmarks)), matrix.runs).astype(np.int64)
        for matrix in matrices
    ]
    if known:
        blocks = _codes([matrix.blocks for matrix in matrices], matrices)
    else:
        blocks = [_turns(b, s) for b, s in zip(benchmarks, sessions, strict=True)]
    layout = (
        1 + max(int(row.max()) for row in sessions),
        1 + max(int(row.max()) for row in blocks),
    )
    sides = []
    for matrix, bench, session, block in zip(matrices, benchmarks, sessions, blocks, strict=True):
        key = (bench * layout[0] + session) * layout[1] + block
        found, place, counts = np.unique(key, return_inverse=True, return_counts=True)
        logs = np.log(np.concatenate(matrix.samples))
        value = np.bincount(place, weights=logs) / counts
        sides.append(_Side(found, value, layout, known))
    return sides


def _codes(
    rows: Sequence[tuple[NDArray[Any], ...] | None], matrices: Sequence[PerformanceMatrix]
) -> list[Codes]:
    """Turn labels into numbers; sides without labels share one."""
    flat = [
        np.full(sum(matrix.runs), "-") if row is None else np.concatenate(row)
        for row, matrix in zip(rows, matrices, strict=True)
    ]
    if len({labels.dtype.kind for labels in flat}) > 1:
        flat = [labels.astype(np.str_) for labels in flat]
    codes = np.unique(np.concatenate(flat), return_inverse=True)[1].astype(np.int64)
    return np.split(codes, np.cumsum([labels.size for labels in flat])[:-1])


def _turns(benchmark: Codes, session: Codes) -> Codes:
    """Count the runs of each benchmark within its session."""
    order = np.lexsort((np.arange(benchmark.size), session, benchmark))
    cell = benchmark[order] * (int(session.max()) + 1) + session[order]
    first = np.flatnonzero(np.r_[True, np.diff(cell) != 0])
    turns = np.empty(benchmark.size, dtype=np.int64)
    sizes = np.diff(np.r_[first, benchmark.size])
    turns[order] = np.arange(benchmark.size) - np.repeat(first, sizes)
    return turns


def _gathered(names: tuple[str, ...], key: Codes, value: Floats, side: _Side) -> Observations:
    rest, block = np.divmod(key, side.layout[1])
    benchmark, session = np.divmod(rest, side.layout[0])
    columns = (value, benchmark, session, session * side.layout[1] + block)
    return _numbered(names, columns, known=side.blocks_known)


def _numbered(
    names: tuple[str, ...], columns: tuple[Floats, Codes, Codes, Codes], *, known: bool
) -> Observations:
    value, benchmark, session, block = columns
    return Observations(
        names=names,
        values=value,
        benchmark=benchmark.astype(np.int64),
        session=np.unique(session, return_inverse=True)[1].astype(np.int64),
        block=np.unique(block, return_inverse=True)[1].astype(np.int64),
        blocks_known=known,
    )
