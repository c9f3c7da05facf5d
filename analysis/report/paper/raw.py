"""The runs themselves, as briefly as they can be written without losing a digit."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from ...data.matrix import PerformanceMatrix
    from ...data.trial import Trial
    from ..subject import Subject

__all__ = ["raw_runs", "whole_numbers"]

Floats = NDArray[np.float64]

_FACTORS = (1, 1_000, 1_000_000, 1_000_000_000)
_OCCASIONS = {"candidate", "baseline"}  # what `sessions_apart` calls the session of a file
_EXACT = 2.0**53  # below it each whole number is a float


def raw_runs(subject: Subject) -> dict[str, Any]:
    """Give the runs that count of what was judged: in the order of execution where it is known.

    Of each run ``values`` holds a number to be divided by ``divide_by``, ``variant`` and ``benchmark`` the
    places of its names; ``sessions`` and ``blocks`` hold ids, each with how many runs in sequence have it,
    or are None where they are not known.
    """
    verdict, trial = subject.verdict, subject.trial
    found = _of_matrices(subject) if trial is None else _of_trial(subject, trial)
    benchmarks, values, variant, benchmark, sessions, blocks = found
    numbers, factor = whole_numbers(values)
    return {
        "metric": verdict.metric,
        "unit": verdict.unit,
        "better": verdict.better,
        "order": "as read" if trial is None else "execution",
        "divide_by": factor,
        "variants": list(subject.matrices),
        "benchmarks": benchmarks,
        "variant": variant,
        "benchmark": benchmark,
        "sessions": _lengths(sessions),
        "blocks": _lengths(blocks),
        "values": numbers,
    }


def whole_numbers(values: Floats) -> tuple[list[float], int]:
    """Write values as whole numbers to be divided, if that gives the very same floats.

    Parameters
    ----------
    values : array, shape (n,)
        Finite numbers, such as seconds that were counted in nanoseconds.

    Returns
    -------
    (list of float, int)
        The numbers and what each is to be divided by; the values themselves and 1 where no power of
        a thousand will do.
    """
    for factor in _FACTORS:
        with np.errstate(over="ignore"):
            scaled = np.rint(values * factor)
        if (np.abs(scaled) < _EXACT).all() and (scaled / factor == values).all():
            return [int(number) for number in scaled.tolist()], factor
    return values.tolist(), 1


Found = tuple[list[str], Floats, list[Any], list[Any], list[Any], list[Any]]


def _of_trial(subject: Subject, trial: Trial) -> Found:
    manifest, values = trial.manifest, trial.values(subject.verdict.metric)
    benchmarks = [name for name in manifest.benchmarks if name in set(subject.order)]
    ours = [manifest.variants.index(name) for name in subject.matrices]
    theirs = [manifest.benchmarks.index(name) for name in benchmarks]
    counts = trial.measured & np.isfinite(values)
    counts &= np.isin(trial.variant, ours) & np.isin(trial.benchmark, theirs)
    rows = np.flatnonzero(counts)
    rows = rows[np.argsort(trial.planned_position[rows], kind="stable")]
    return (
        benchmarks,
        values[rows],
        [ours.index(code) for code in trial.variant[rows].tolist()],
        [theirs.index(code) for code in trial.benchmark[rows].tolist()],
        trial.session[rows].tolist(),
        trial.block[rows].tolist(),
    )


def _of_matrices(subject: Subject) -> Found:
    matrices = list(subject.matrices.values())
    there = {name for matrix in matrices for side in _sides(matrix) for name in side.benchmarks}
    benchmarks = [name for name in subject.order if name in there]
    values: list[Floats] = []
    variant: list[int] = []
    benchmark: list[int] = []
    sessions: list[Any] = []
    blocks: list[Any] = []
    for k, matrix in enumerate(matrices):
        for j, name in enumerate(benchmarks):
            side = next((one for one in _sides(matrix) if name in one.benchmarks), None)
            if side is None:
                continue
            place = side.benchmarks.index(name)
            values.append(side.samples[place])
            count = len(values[-1])
            variant += [k] * count
            benchmark += [j] * count
            real = None if _made_up(side) else side.sessions
            for told, ids in ((sessions, real), (blocks, side.blocks)):
                told.extend([None] * count if ids is None else ids[place].tolist())
    joined = np.concatenate(values) if values else np.array([])
    return benchmarks, joined, variant, benchmark, sessions, blocks


def _sides(matrix: PerformanceMatrix) -> Iterator[PerformanceMatrix]:
    """Give the matrix, and then that of the benchmarks that have zeros."""
    yield matrix
    if matrix.with_zeros is not None:
        yield matrix.with_zeros


def _made_up(matrix: PerformanceMatrix) -> bool:
    """Whether a file's runs only got a session so that they count as an occasion of their own."""
    if matrix.trial is not None or matrix.sessions is None:
        return False
    found = {str(key) for ids in matrix.sessions for key in ids.tolist()}
    return len(found) == 1 and found <= _OCCASIONS


def _lengths(ids: Sequence[Any]) -> list[tuple[Any, int]] | None:
    """Give each id once, with how many in sequence have it; None where none is known."""
    if ids and all(key is None for key in ids):
        return None
    return [(key, len(list(group))) for key, group in itertools.groupby(ids)]
