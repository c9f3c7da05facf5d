"""The runs themselves, as briefly as they can be written without losing a digit."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .result import RawRuns

if TYPE_CHECKING:
    from ...data.matrix import PerformanceMatrix
    from ...data.trial import Trial
    from ..subject import Subject

__all__ = ["raw_runs", "whole_numbers"]

Floats = NDArray[np.float64]

_FACTORS = (1, 1_000, 1_000_000, 1_000_000_000)
_OCCASIONS = {"candidate", "baseline"}  # what `sessions_apart` calls the session of a file
_EXACT = 2.0**53  # below it each whole number is a float


def raw_runs(subject: Subject) -> RawRuns:
    """Give the runs that count of what was judged: in the order of execution where it is known."""
    variants = tuple(subject.matrices)
    if subject.trial is not None:
        return _of_trial(subject, subject.trial, variants)
    return _of_matrices(subject, variants)


def whole_numbers(values: Floats) -> tuple[tuple[float, ...], int]:
    """Write values as whole numbers to be divided, if that gives the very same floats.

    Parameters
    ----------
    values : array, shape (n,)
        Finite numbers, such as seconds that were counted in nanoseconds.

    Returns
    -------
    (tuple of float, int)
        The numbers and what each is to be divided by; the values themselves and 1 where no power of
        a thousand will do.
    """
    for factor in _FACTORS:
        with np.errstate(over="ignore"):
            scaled = np.rint(values * factor)
        if (np.abs(scaled) < _EXACT).all() and (scaled / factor == values).all():
            return tuple(int(number) for number in scaled.tolist()), factor
    return tuple(values.tolist()), 1


def _of_trial(subject: Subject, trial: Trial, variants: Sequence[str]) -> RawRuns:
    manifest = trial.manifest
    values = trial.values(subject.verdict.metric)
    benchmarks = tuple(name for name in manifest.benchmarks if name in set(subject.order))
    ours = [manifest.variants.index(name) for name in variants]
    theirs = [manifest.benchmarks.index(name) for name in benchmarks]
    rows = np.flatnonzero(
        trial.measured
        & np.isfinite(values)
        & np.isin(trial.variant, ours)
        & np.isin(trial.benchmark, theirs)
    )
    rows = rows[np.argsort(trial.planned_position[rows], kind="stable")]
    return _runs(
        subject,
        variants,
        benchmarks,
        order="execution",
        values=values[rows],
        variant=_numbered(trial.variant[rows], ours),
        benchmark=_numbered(trial.benchmark[rows], theirs),
        sessions=trial.session[rows].tolist(),
        blocks=trial.block[rows].tolist(),
    )


def _of_matrices(subject: Subject, variants: Sequence[str]) -> RawRuns:
    benchmarks = tuple(
        name
        for name in subject.order
        if any(name in _names(matrix) for matrix in subject.matrices.values())
    )
    values: list[Floats] = []
    variant: list[int] = []
    benchmark: list[int] = []
    sessions: list[Any] = []
    blocks: list[Any] = []
    for k, matrix in enumerate(subject.matrices.values()):
        for j, name in enumerate(benchmarks):
            if name not in _names(matrix):
                continue
            side = (
                matrix if name in matrix.benchmarks or not matrix.with_zeros else matrix.with_zeros
            )
            place = side.benchmarks.index(name)
            values.append(side.samples[place])
            variant += [k] * len(values[-1])
            benchmark += [j] * len(values[-1])
            known = None if _made_up(side) else side.sessions
            sessions += _ids(known, place, len(values[-1]))
            blocks += _ids(side.blocks, place, len(values[-1]))
    return _runs(
        subject,
        variants,
        benchmarks,
        order="as read",
        values=np.concatenate(values) if values else np.array([]),
        variant=variant,
        benchmark=benchmark,
        sessions=sessions if set(sessions) - {None} else None,
        blocks=blocks if set(blocks) - {None} else None,
    )


def _made_up(matrix: PerformanceMatrix) -> bool:
    """Whether a file's runs only got a session so that they count as an occasion of their own."""
    if matrix.trial is not None or matrix.sessions is None:
        return False
    found = {str(key) for ids in matrix.sessions for key in ids.tolist()}
    return len(found) == 1 and found <= _OCCASIONS


def _ids(ids: Sequence[NDArray[Any]] | None, place: int, count: int) -> list[Any]:
    return [None] * count if ids is None else list(ids[place].tolist())


def _names(matrix: PerformanceMatrix) -> set[str]:
    zeros = () if matrix.with_zeros is None else matrix.with_zeros.benchmarks
    return {*matrix.benchmarks, *zeros}


def _runs(
    subject: Subject,
    variants: Sequence[str],
    benchmarks: Sequence[str],
    *,
    order: str,
    values: Floats,
    variant: Sequence[int],
    benchmark: Sequence[int],
    sessions: Sequence[Any] | None,
    blocks: Sequence[Any] | None,
) -> RawRuns:
    numbers, factor = whole_numbers(values)
    return RawRuns(
        metric=subject.verdict.metric,
        unit=subject.verdict.unit,
        better=subject.verdict.better,
        order=order,
        divide_by=factor,
        variants=tuple(variants),
        benchmarks=tuple(benchmarks),
        variant=tuple(variant),
        benchmark=tuple(benchmark),
        sessions=None if sessions is None else _lengths(sessions),
        blocks=None if blocks is None else _lengths(blocks),
        values=numbers,
    )


def _numbered(codes: NDArray[np.int64], names: Sequence[int]) -> list[int]:
    place = {code: k for k, code in enumerate(names)}
    return [place[code] for code in codes.tolist()]


def _lengths(ids: Iterable[int | str | None]) -> tuple[tuple[int | str | None, int], ...]:
    """Give each id once, with how many in sequence have it."""
    return tuple((key, len(list(group))) for key, group in itertools.groupby(ids))
