"""Where matrices that are compared come from: one variant twice, or two trials, and their ids."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..report import Caution, figures
from .matrix import PerformanceMatrix

__all__ = ["apart", "own_session", "pair_cautions", "session_order", "set_apart", "trial_cautions"]

_NAME = 40  # columns for a variant's name in a sentence


def apart(a: PerformanceMatrix, b: PerformanceMatrix) -> bool:
    """Tell whether two matrices are known to stem from different trials."""
    return a.trial is not None and b.trial is not None and a.trial != b.trial


def pair_cautions(a: PerformanceMatrix, b: PerformanceMatrix) -> Iterator[Caution]:
    """Say where two sides that are compared are the same runs, or of different trials."""
    if a.name == b.name and a.trial == b.trial and _same_runs(a, b):
        yield Caution(
            "one-variant-twice",
            f"{figures.shorten(a.name, _NAME)!r} is compared with itself: both sides hold the same "
            "runs, and nothing can differ",
            (a.name,),
        )
    yield from trial_cautions((a, b))


def trial_cautions(matrices: Sequence[PerformanceMatrix]) -> Iterator[Caution]:
    """Say where sources that are compared stem from different trials."""
    trials = list(dict.fromkeys(m.trial for m in matrices if m.trial is not None))
    if len(trials) < 2:
        return
    names = [Path(trial).name for trial in trials]
    told = names if len(set(names)) == len(names) else trials
    yield Caution(
        "two-trials",
        f"the sides stem from {len(trials)} trials ({figures.listed(told)}): whatever else differed "
        "between them, such as the time of day or the machine's state, counts as a difference "
        "between the variants. Compare variants within one trial",
        tuple(told),
    )


def _same_runs(a: PerformanceMatrix, b: PerformanceMatrix) -> bool:
    return a.benchmarks == b.benchmarks and all(
        np.array_equal(x, y) for x, y in zip(a.samples, b.samples, strict=True)
    )


def set_apart(matrix: PerformanceMatrix, trial: str) -> PerformanceMatrix:
    """Mark a matrix's block and session ids as those of one trial.

    Trials number their sessions and blocks from 1 on, so two of them share ids by accident. `match`
    does this where it knows the trials; of other sources do it to both sides, with different names.

    Parameters
    ----------
    matrix : PerformanceMatrix
        The matrix; it is not changed.
    trial : str
        A name that the other trial does not have.
    """

    def marked(rows: tuple[NDArray[Any], ...] | None) -> tuple[NDArray[Any], ...] | None:
        if rows is None:
            return None
        done = tuple(np.array([f"{trial}/{label}" for label in row.tolist()]) for row in rows)
        for row in done:
            row.flags.writeable = False
        return done

    order = session_order(matrix)
    return replace(
        matrix,
        blocks=marked(matrix.blocks),
        sessions=marked(matrix.sessions),
        session_order=tuple(f"{trial}/{label}" for label in order),
        failed_by_session={
            bench: {f"{trial}/{label}": n for label, n in counts.items()}
            for bench, counts in matrix.failed_by_session.items()
        },
    )


def session_order(matrix: PerformanceMatrix) -> tuple[Any, ...]:
    """Give the ids of a matrix's sessions in the order of time; empty where that is unknown."""
    if matrix.session_order is not None or matrix.sessions is None:
        return matrix.session_order or ()
    if any(row.dtype.kind == "U" for row in matrix.sessions):
        return ()  # names tell no order
    return tuple(np.unique(np.concatenate(matrix.sessions)).tolist())


def own_session(matrix: PerformanceMatrix, name: str) -> PerformanceMatrix:
    """Give a matrix without session ids a session of its own; one with ids stays as it is.

    Nobody knows whether the runs of two files that say nothing of sessions were measured in one.

    Parameters
    ----------
    matrix : PerformanceMatrix
        The matrix; it is not changed.
    name : str
        What the session is called, such as the file: another source must have another name.
    """
    if matrix.sessions is not None:
        return matrix
    rows = tuple(np.full(len(values), name) for values in matrix.samples)
    for row in rows:
        row.flags.writeable = False
    return replace(matrix, sessions=rows)
