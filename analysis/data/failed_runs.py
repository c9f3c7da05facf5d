"""Runs that failed: how many of each benchmark, in which sessions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..errors import AnalysisError, UsageError
from ..stats.arguments import counted

if TYPE_CHECKING:
    from .matrix import PerformanceMatrix


Failed = Mapping[str, int | Mapping[Any, int]]
Rows = tuple[NDArray[Any], ...]
_Told = TypeVar("_Told")


class Failures(NamedTuple):
    """How many runs of each benchmark failed; `by_session` where that is known, without zeros."""

    totals: Mapping[str, int]
    by_session: Mapping[str, Mapping[Any, int]]


class FailureCounts(NamedTuple):
    """One benchmark's runs of one variant by session: how many failed, and how many there were."""

    failed: tuple[int, ...]
    runs: tuple[int, ...]


def failures_of(name: str, failed: Failed | None, sessions: Rows | None) -> Failures:
    """Read what a caller says of failed runs."""
    totals: dict[str, int] = {}
    by_session: dict[str, dict[Any, int]] = {}
    for bench, told in (failed or {}).items():
        if not isinstance(told, Mapping):
            totals[bench] = counted(f"failed[{bench!r}]", told, least=0)
            continue
        counts = {
            _session(name, bench, label, sessions): counted(
                f"failed[{bench!r}][{label!r}]", n, least=0
            )
            for label, n in told.items()
        }
        totals[bench] = sum(counts.values())
        by_session[bench] = {label: n for label, n in counts.items() if n}
    return Failures(totals, by_session)


def failures_of_rows(benchmarks: Sequence[str], sessions: Sequence[int]) -> Failures:
    """Count failed runs, each with its benchmark and its session."""
    totals: Counter[str] = Counter(benchmarks)
    by_session: dict[str, Counter[int]] = {bench: Counter() for bench in totals}
    for bench, session in zip(benchmarks, sessions, strict=True):
        by_session[bench][session] += 1
    return Failures(totals, by_session)


def failures_to_json(matrix: PerformanceMatrix) -> dict[str, int | dict[str, int]]:
    """Give what `failures_from_json` takes back: an object by session, or a count where none are known."""
    return {
        bench: {str(label): n for label, n in matrix.failed_by_session[bench].items()}
        if bench in matrix.failed_by_session
        else total
        for bench, total in matrix.failed.items()
    }


def failures_from_json(given: object, sessions: object, where: str) -> dict[str, Any]:
    """Read the failures of a matrix file; the ids of its sessions tell whether they are numbers."""
    rows = sessions.values() if isinstance(sessions, dict) else ()
    numbered = any(isinstance(one, int) for row in rows for one in row)

    def count(n: object) -> int:
        if type(n) is not int or n < 0:
            raise ValueError(n)
        return n

    def of(told: object) -> int | dict[int | str, int]:
        if not isinstance(told, dict):
            return count(told)
        return {int(label) if numbered else label: count(n) for label, n in told.items()}

    try:
        if not isinstance(given, dict):
            raise TypeError(given)
        return {bench: of(told) for bench, told in given.items()}
    except (TypeError, ValueError):
        raise AnalysisError(
            "'failed' must hold how many runs of each benchmark failed, or an object of how many in each "
            "session",
            where,
        ) from None


def _session(name: str, bench: str, label: object, sessions: Rows | None) -> int | str:
    where = f"{name}, benchmark {bench!r}"
    if sessions is None:
        raise UsageError(
            "the sessions of failed runs are named, those of the others are not",
            where,
            "give sessions= too, or only how many runs failed",
        )
    kinds = {row.dtype.kind == "U" for row in sessions}
    if isinstance(label, str) and True in kinds:
        return str(label)
    if isinstance(label, (int, np.integer)) and not isinstance(label, bool) and False in kinds:
        return int(label)
    raise UsageError(
        f"{label!r} is not the id of a session of these runs",
        where,
        "name sessions of failed runs as those of the others: by whole numbers, or by names",
    )


def cells_of(matrix: PerformanceMatrix, bench: str) -> FailureCounts | None:
    """Give a benchmark's runs by session, in the order of the sessions' ids.

    A matrix that does not know its sessions has one. Without any run there is no cell.
    """
    total = matrix.failed.get(bench, 0)
    lost = matrix.failed_by_session.get(bench)
    if total and lost is None:
        return None
    k = matrix.benchmarks.index(bench) if bench in matrix.benchmarks else None
    if matrix.sessions is None:
        return (
            FailureCounts((0,), (len(matrix.samples[k]),))
            if k is not None
            else FailureCounts((), ())
        )
    good: dict[Any, int] = {}
    if k is not None:
        labels, counts = np.unique(matrix.sessions[k], return_counts=True)
        good = dict(zip(labels.tolist(), counts.tolist(), strict=True))
    failed = lost or {}
    everywhere = sorted({*good, *failed}, key=lambda one: (isinstance(one, str), one))
    return FailureCounts(
        tuple(failed.get(one, 0) for one in everywhere),
        tuple(good.get(one, 0) + failed.get(one, 0) for one in everywhere),
    )


def of_some(failures: Mapping[str, _Told], benchmarks: Iterable[str]) -> dict[str, _Told]:
    """Give what is told of these benchmarks."""
    return {bench: failures[bench] for bench in benchmarks if bench in failures}
