"""Levels of the data: hosts, sessions, blocks and processes by their ids, and iterations below a run.

Iterations of one process share its memory layout, its caches, its compiled code. A method that takes
them for independent draws finds differences where there are none: pooled, one program under two
names is told apart in 17 to 72 % of comparisons. So a run is the arithmetic mean of its process's
iterations, everywhere, unless somebody asks for the iterations.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import UsageError
from ..pages import number_format as figures
from ..pages.model import Caution, ShortSentence
from ..stats.samples import Array, Integers, read_only

Level = str  # "process" or "iteration"
Unit = Literal["host", "session"]
Ids = Mapping[str, Sequence[int] | Sequence[str] | NDArray[Any]]
Rows = tuple[NDArray[Any], ...]  # an array a benchmark


def ids_of(
    name: str, kind: str, ids: Ids | None, benchmarks: tuple[str, ...], samples: Rows
) -> Rows | None:
    """Give the ids of every benchmark's values as read-only arrays; None stays None."""
    if ids is None:
        return None
    if set(ids) != set(benchmarks):
        raise UsageError(f"{kind} must name the same benchmarks as the samples", name)
    rows = []
    for bench, values in zip(benchmarks, samples, strict=True):
        try:
            row = np.array(ids[bench])
        except (ValueError, OverflowError):  # lists within, or numbers that no array holds
            row = np.array(None)
        if row.shape != values.shape or row.dtype.kind not in "iuU":
            raise UsageError(
                f"{kind} must hold one whole number or name for each of the {len(values)} runs",
                f"{name}, benchmark {bench!r}",
            )
        rows.append(read_only(row))
    return tuple(rows)


class Processes(NamedTuple):
    """A benchmark's iterations by process, in the order in which processes appear.

    `means` of each process's iterations, for each iteration the `place` of its process there, and the place of each process's
    `first` iteration.
    """

    means: Array
    place: Integers
    first: Integers

    @classmethod
    def of(cls, values: Array, ids: NDArray[Any]) -> Processes:
        """Group iterations by the id of their process."""
        _, first, inverse = np.unique(ids, return_index=True, return_inverse=True)
        order = np.argsort(first)  # as they appear, not as they are sorted
        rank = np.empty_like(order)
        rank[order] = np.arange(order.size)
        run_of = rank[inverse.reshape(-1)]
        # added to the first value: equal iterations have exactly their value as the mean
        start = values[first[order]]
        above = np.bincount(run_of, weights=values - start[run_of])
        means = start + above / np.bincount(run_of)
        return cls(read_only(means), read_only(run_of), read_only(first[order]))


def ids_of_runs(
    name: str, kind: str, ids: Rows | None, benchmarks: tuple[str, ...], runs: Sequence[Processes]
) -> Rows | None:
    """Give the ids of processes, from those of their iterations."""
    if ids is None:
        return None
    for bench, row, one in zip(benchmarks, ids, runs, strict=True):
        if (row[one.first][one.place] != row).any():
            raise UsageError(
                f"a process has values in two {kind}",
                f"{name}, benchmark {bench!r}",
                f"give processes of different {kind} different ids",
            )
    return tuple(read_only(row[one.first]) for row, one in zip(ids, runs, strict=True))


POOLED = Caution(
    "iterations-pooled",
    "iterations of one process are taken as independent runs (level iteration): they are not, "
    "and one program under two names is then told apart far too often",
    short=ShortSentence.of("words come far too easily: iterations of a process count as runs"),
)


def level_caution(runs: Sequence[int], iterations: Sequence[int]) -> Iterator[Caution]:
    """Say that runs are means of iterations."""
    if sum(iterations) != sum(runs):
        told = figures.span((i / r for r, i in zip(runs, iterations, strict=True)), ".3g")
        yield Caution(
            "process-means",
            f"a run is the mean of its process's iterations ({told} each); --level iteration pools "
            "them",
        )
