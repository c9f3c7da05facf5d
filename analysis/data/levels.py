"""Levels of the data: ids of blocks, sessions and processes, and iterations below a run.

Iterations of one process share its memory layout, its caches, its compiled code. A method that takes
them for independent draws finds differences where there are none: pooled, one program under two
names is told apart in 17 to 72 % of comparisons. So a run is the arithmetic mean of its process's
iterations, everywhere, unless somebody asks for the iterations.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from ..errors import UsageError
from ..pages import number_format as figures
from ..pages.model import Caution, ShortSentence
from ..stats.samples import Array, read_only

# --- What a hypervisor took from each CPU of the host during each run: columns beside the
# numbers of the runs.


MOST_CPUS: Final = 16  # those that lost most; of a host with hundreds, the others say little more
_KEY: Final = "cpu_steal_s"  # of a row


def column_of(cpu: int) -> str:
    """Name the column of a CPU.

    >>> column_of(3)
    'cpu_steal_s.3'
    """
    return f"{_KEY}.{cpu}"


def cpu_of(column: str) -> int | None:
    """Give the CPU of such a column, None of any other name.

    >>> cpu_of("cpu_steal_s.3"), cpu_of("steal_s")
    (3, None)
    """
    key, _, cpu = column.partition(".")
    return int(cpu) if key == _KEY and cpu.isdigit() else None


class CpuSteal:
    """Grows while rows are read; most of them lost nothing."""

    def __init__(self) -> None:
        self._known = array("b")
        self._rows, self._cpus, self._seconds = array("q"), array("q"), array("d")

    def add(self, record: Mapping[str, Any]) -> None:
        """Take what the next row says; raises ValueError or TypeError where it has another shape."""
        given = record.get(_KEY)
        if given:
            row = len(self._known)
            for cpu, seconds in given.items():
                if not math.isfinite(seconds) or not cpu.isdigit():
                    raise ValueError(f"{_KEY} of CPU {cpu} is {seconds!r}, and no finite number")
                self._rows.append(row)
                self._cpus.append(int(cpu))
                self._seconds.append(seconds)
        self._known.append(given is not None)

    def columns(self) -> dict[str, Array]:
        """Give a column, read-only, of each CPU that lost something; nan where nobody knows it."""
        unknown = np.frombuffer(self._known, dtype=np.int8) == 0
        rows, cpus = (np.frombuffer(part, dtype=np.int64) for part in (self._rows, self._cpus))
        seconds = np.frombuffer(self._seconds, dtype=np.float64)
        numbers, place = np.unique(cpus, return_inverse=True)
        lost = np.bincount(place, np.abs(seconds), numbers.size)
        found = {}
        for k in np.sort(np.argsort(-lost, kind="stable")[:MOST_CPUS]).tolist():
            column = np.where(unknown, np.nan, 0.0)
            column[rows[place == k]] = seconds[place == k]
            found[column_of(int(numbers[k]))] = read_only(column)
        return found


Unit = Literal["host", "session"]


Ids = Mapping[str, Sequence[int] | Sequence[str] | NDArray[Any]]


def ids_of(
    name: str,
    kind: str,
    ids: Ids | None,
    benchmarks: tuple[str, ...],
    samples: tuple[NDArray[np.float64], ...],
) -> tuple[NDArray[Any], ...] | None:
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


def ids_of_runs(
    name: str,
    kind: str,
    ids: tuple[NDArray[Any], ...] | None,
    benchmarks: tuple[str, ...],
    grouped: tuple[Processes, ...],
) -> tuple[NDArray[Any], ...] | None:
    """Give the ids of processes, from those of their iterations."""
    if ids is None:
        return None
    rows = []
    for bench, row, (_, place, first) in zip(benchmarks, ids, grouped, strict=True):
        of_run = row[first]
        if (of_run[place] != row).any():
            raise UsageError(
                f"a process has values in two {kind}",
                f"{name}, benchmark {bench!r}",
                f"give processes of different {kind} different ids",
            )
        rows.append(read_only(of_run))
    return tuple(rows)


def ids_of_iterations(
    ids: tuple[NDArray[Any], ...] | None, run_of: tuple[NDArray[np.int64], ...]
) -> tuple[NDArray[Any], ...] | None:
    """Give each iteration the id of its run."""
    if ids is None:
        return None
    return tuple(read_only(row[where]) for row, where in zip(ids, run_of, strict=True))


Level = str  # "process" or "iteration"
Floats = NDArray[np.float64]
# the mean of each process's iterations, in the order in which processes appear, for each iteration the
# place of its process there, and the place of each process's first iteration
Processes = tuple[Floats, NDArray[np.int64], NDArray[np.int64]]


def of_processes(values: Floats, ids: NDArray[Any]) -> Processes:
    """Group iterations by process: their means, the place of each one's process, and of its first one."""
    _, first, inverse = np.unique(ids, return_index=True, return_inverse=True)
    order = np.argsort(first)  # as they appear, not as they are sorted
    rank = np.empty_like(order)
    rank[order] = np.arange(order.size)
    run_of = rank[inverse.reshape(-1)]
    counts = np.bincount(run_of)
    # added to the first value: equal iterations have exactly their value as the mean
    start = values[first[order]]
    means = start + np.bincount(run_of, weights=values - start[run_of]) / counts
    return read_only(means), read_only(run_of), read_only(first[order])


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
