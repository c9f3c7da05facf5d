"""Ids of blocks, sessions and processes: one whole number or name for each value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import UsageError
from ..stats import read_only
from .levels import Processes

__all__ = ["Ids", "ids_of", "ids_of_iterations", "ids_of_runs"]

Ids = Mapping[str, Sequence[int] | Sequence[str] | NDArray[Any]]


def ids_of(
    name: str,
    kind: str,
    ids: Ids | None,
    benchmarks: tuple[str, ...],
    samples: tuple[NDArray[np.float64], ...],
) -> tuple[NDArray[Any], ...] | None:
    """Give the ids of every benchmark's values as read-only arrays; None stays None.

    Raises
    ------
    UsageError
        If they name other benchmarks, or are not one whole number or name for each value.
    """
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
    """Give the ids of processes, from those of their iterations.

    Raises
    ------
    UsageError
        If the iterations of a process have different ones.
    """
    if ids is None:
        return None
    rows = []
    for bench, row, one in zip(benchmarks, ids, grouped, strict=True):
        of_run = row[one.first]
        if (of_run[one.run_of] != row).any():
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
