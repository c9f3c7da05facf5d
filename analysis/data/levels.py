"""The levels below a run: a process measures itself in iterations, which share its fate.

Iterations of one process share its memory layout, its caches, its compiled code. A method that takes
them for independent draws finds differences where there are none: pooled, one program under two
names is told apart in 17 to 72 % of comparisons. So a run is the arithmetic mean of its process's
iterations, everywhere, unless somebody asks for the iterations.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import UsageError
from ..report import Caution
from ..stats import read_only

__all__ = [
    "Level",
    "Processes",
    "level_caution",
    "of_processes",
    "pooled_caution",
    "require_iterations",
]

Level = str  # "process" or "iteration"
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Processes:
    """One benchmark's iterations by process.

    Attributes
    ----------
    means : array of float, shape (p,)
        The arithmetic mean of each process's iterations, in the order in which processes appear.
    run_of : array of int, shape (i,)
        For each iteration the place of its process in `means`.
    first : array of int, shape (p,)
        The place of each process's first iteration.
    """

    means: Floats
    run_of: NDArray[np.int64]
    first: NDArray[np.int64]


def of_processes(values: Floats, ids: NDArray[Any]) -> Processes:
    """Group iterations by process.

    Parameters
    ----------
    values : array of float, shape (i,)
        Every iteration.
    ids : array, shape (i,)
        The process of each.
    """
    _, first, inverse = np.unique(ids, return_index=True, return_inverse=True)
    order = np.argsort(first)  # as they appear, not as they are sorted
    rank = np.empty_like(order)
    rank[order] = np.arange(order.size)
    run_of = rank[inverse.reshape(-1)]
    counts = np.bincount(run_of)
    # added to the first value: equal iterations have exactly their value as the mean
    start = values[first[order]]
    means = start + np.bincount(run_of, weights=values - start[run_of]) / counts
    return Processes(
        means=read_only(means), run_of=read_only(run_of), first=read_only(first[order])
    )


def require_iterations(level: Level, known: bool, name: str) -> None:  # noqa: FBT001 - a fact
    """Refuse a level that is none, or that a matrix of this name cannot have.

    Raises
    ------
    UsageError
        If it is neither ``process`` nor ``iteration``, or nothing is known of iterations.
    """
    if level not in ("process", "iteration"):
        raise UsageError(f"there is no level {level!r}", name, "process, or iteration")
    if level == "iteration" and not known:
        raise UsageError(
            "nothing is known of iterations within the runs",
            name,
            "leave --level out: every value is one run already",
        )


def pooled_caution() -> Caution:
    """Say that iterations were taken as runs."""
    text = (
        "iterations of one process are taken as independent runs (level iteration): they are not, "
        "and one program under two names is then told apart far too often"
    )
    return Caution("iterations-pooled", text)


def level_caution(runs: Sequence[int], iterations: Sequence[int]) -> Iterator[Caution]:
    """Say that runs are means of iterations.

    Parameters
    ----------
    runs, iterations : sequence of int
        How many runs, and how many iterations, each benchmark has.
    """
    if sum(iterations) == sum(runs):
        return
    each = [i / r for r, i in zip(runs, iterations, strict=True)]
    low, high = min(each), max(each)
    told = f"{low:.3g}" if low == high else f"{low:.3g} to {high:.3g}"
    text = (
        f"a run is the mean of its process's iterations ({told} each); --level iteration pools them"
    )
    yield Caution("process-means", text)
