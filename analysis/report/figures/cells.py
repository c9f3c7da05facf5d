"""The runs of one benchmark, variant by variant, as figures draw them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import InsufficientDataError
from ...pages.number_format import quantity
from ...plots.palette import COLOURS, style_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ...data.matrix import PerformanceMatrix
    from ...methods.multilevel.result import BenchmarkLine
    from ..subject import Subject

__all__ = ["Cell", "cells_of", "line_of", "numbers_of", "told_of"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Cell:
    """One variant on one benchmark.

    Attributes
    ----------
    variant : str
    values : array of float, shape (n,)
        Its runs in the order of the trial, or of the file.
    sessions, blocks : array of shape (n,), or None
        Of each run; None where unknown.
    css : str
        The roles that it is drawn in: the baseline's, its word's of one candidate, colours and dashes
        of their own of several.
    """

    variant: str
    values: NDArray[np.float64]
    sessions: NDArray[Any] | None
    blocks: NDArray[Any] | None
    css: str

    def by_session(self) -> list[NDArray[np.float64]]:
        """Give the runs of each session, in the sessions' order; all where these are unknown."""
        if self.sessions is None:
            return [self.values]
        return [self.values[self.sessions == one] for one in np.unique(self.sessions)]


def line_of(subject: Subject, variant: str, benchmark: str) -> BenchmarkLine | None:
    """Give what the verdict says of a candidate on a benchmark."""
    for one in subject.candidates:
        if one.variant == variant and one.multilevel is not None:
            lines = (line for line in one.multilevel.benchmarks if line.name == benchmark)
            return next(lines, None)
    return None


def cells_of(subject: Subject, benchmark: str) -> tuple[Cell, ...]:
    """Give the cells of a benchmark that have runs, the baseline's first.

    Raises
    ------
    InsufficientDataError
        If no run of it counts.
    """
    found = []
    candidates = [name for name in subject.matrices if name != subject.baseline]
    for name, matrix in subject.matrices.items():
        holder = _holder(matrix, benchmark)
        if holder is None:
            continue
        k = holder.benchmarks.index(benchmark)
        css = "baseline"
        if name != subject.baseline:
            place = candidates.index(name) % len(COLOURS)
            line = line_of(subject, name, benchmark)
            css = style_of("undecided" if line is None else line.outcome)
            if len(candidates) > 1:
                css = f"c{place} d{place}"
        found.append(
            Cell(
                variant=name,
                values=holder.samples[k],
                sessions=None if holder.sessions is None else holder.sessions[k],
                blocks=None if holder.blocks is None else holder.blocks[k],
                css=css,
            )
        )
    if not found:
        raise InsufficientDataError(f"no run of {benchmark!r} counts", n=0, needed=1)
    return tuple(found)


def _holder(matrix: PerformanceMatrix, benchmark: str) -> PerformanceMatrix | None:
    """Give the matrix that has the benchmark: that of runs of 0 is kept apart."""
    if benchmark in matrix.benchmarks:
        return matrix
    zeros = matrix.with_zeros
    return zeros if zeros is not None and benchmark in zeros.benchmarks else None


def told_of(subject: Subject, benchmark: str, cells: Sequence[Cell]) -> str:
    """Say of each variant how many runs there are, where their middle is, and how far they reach."""
    unit = subject.verdict.unit
    told = [
        f"{cell.variant}: {cell.values.size} runs"
        f"{'' if cell.sessions is None else f' in {len(cell.by_session())} sessions'}, "
        f"median {quantity(float(np.median(cell.values)), unit)}, "
        f"{quantity(float(cell.values.min()), unit)} to {quantity(float(cell.values.max()), unit)}"
        for cell in cells
    ]
    return f"{subject.verdict.metric} of {benchmark}, {subject.verdict.better} is better. {'. '.join(told)}."


def numbers_of(cells: Sequence[Cell]) -> tuple[tuple[str | float | int | None, ...], ...]:
    """Give each run with its variant, session and block."""
    return tuple(
        (cell.variant, session, block, value)
        for cell in cells
        for session, block, value in zip(
            _ids(cell.sessions, cell.values), _ids(cell.blocks, cell.values), cell.values.tolist(),
            strict=True,
        )
    )  # fmt: skip


def _ids(ids: NDArray[np.generic] | None, values: NDArray[np.float64]) -> list[str | int | None]:
    return [None] * values.size if ids is None else ids.tolist()
