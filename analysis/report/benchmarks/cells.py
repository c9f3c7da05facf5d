"""The runs of one benchmark and variant, with session and block, whatever the source knows of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from ...data.matrix import PerformanceMatrix
    from ..subject import Subject

__all__ = ["Cell", "Failed", "cells_of", "failed_of"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Cell:
    """One variant's runs of a benchmark.

    Attributes
    ----------
    values : array of float, shape (n,)
        In the order in which they were measured.
    labels : tuple of str
        The sessions; one, "", where they are not known.
    session : array of int, shape (n,)
        The place of each run's session in `labels`.
    block : array of int, shape (n,), or None
        Equal for runs of one block; None where blocks are not known.
    """

    values: Floats
    labels: tuple[str, ...]
    session: Integers
    block: Integers | None

    def of(self, place: int) -> Floats:
        """Give the runs of one session."""
        found: Floats = self.values[self.session == place]
        return found

    @property
    def by_session(self) -> tuple[Floats, ...]:
        """The runs of each session."""
        return tuple(self.of(k) for k in range(len(self.labels)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """A measured run that failed: its session's label, and its block as `Cell.block` has it."""

    session: str
    block: int


def cells_of(subject: Subject) -> Mapping[str, Mapping[str, Cell]]:
    """Give all cells: benchmark -> variant -> cell, the baseline first."""
    found: dict[str, dict[str, Cell]] = {}
    for name, matrix in subject.matrices.items():
        for one in (matrix, matrix.with_zeros):
            if one is not None:
                for k, bench in enumerate(one.benchmarks):
                    found.setdefault(bench, {})[name] = _cell(one, k)
    return found


def failed_of(subject: Subject) -> Mapping[tuple[str, str], tuple[Failed, ...]]:
    """Give the failed measured runs of each benchmark and variant; none where no trial says so."""
    found: dict[tuple[str, str], list[Failed]] = {}
    if subject.trial is None:
        return {}
    trial = subject.trial
    most = int(trial.block.max()) + 1 if len(trial) else 1
    blocks = dict(zip(trial.position.tolist(), trial.block.tolist(), strict=True))
    for run in trial.failures():
        if not run.warmup:
            block = run.session * most + blocks.get(run.position, 0)
            found.setdefault((run.benchmark, run.variant), []).append(
                Failed(session=str(run.session), block=block)
            )
    return {key: tuple(runs) for key, runs in found.items()}


def _cell(matrix: PerformanceMatrix, k: int) -> Cell:
    values = matrix.samples[k]
    labels, session = _numbered(None if matrix.sessions is None else matrix.sessions[k], values)
    block = None
    if matrix.blocks is not None:
        given = matrix.blocks[k]
        whole = given.dtype.kind in "iu"
        block = given.astype(np.int64) if whole else np.array(list(_places(given.tolist())))
    return Cell(values=values, labels=labels, session=session, block=block)


def _numbered(given: NDArray[Any] | None, values: Floats) -> tuple[tuple[str, ...], Integers]:
    """Give sessions their numbers: whole ones in their order, names as they are first met."""
    if given is None:
        return ("",), np.zeros(values.size, dtype=np.int64)
    if given.dtype.kind in "iu":
        labels, session = np.unique(given, return_inverse=True)
        return tuple(map(str, labels.tolist())), session.reshape(-1).astype(np.int64)
    names = given.tolist()
    return tuple(dict.fromkeys(names)), np.array(list(_places(names)), dtype=np.int64)


def _places(names: list[str]) -> Iterator[int]:
    places = {name: k for k, name in enumerate(dict.fromkeys(names))}
    return (places[name] for name in names)
