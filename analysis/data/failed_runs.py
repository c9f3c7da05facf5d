"""Runs that failed, of each benchmark and in which sessions; and what those that a time limit ended tell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from ..errors import AnalysisError, UsageError
from ..stats.arguments import counted

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..stats.samples import Array

Failed = Mapping[str, int | Mapping[Any, int]]
_Told = TypeVar("_Told")


class Failures(NamedTuple):
    """How many runs of each benchmark failed; `by_session` where that is known, without zeros."""

    totals: Mapping[str, int]
    by_session: Mapping[str, Mapping[Any, int]]


class CutOff(NamedTuple):
    """A benchmark's failed runs that their time limit ended: how many, and the least of their limits.

    `bounds`: Lower bounds of their values, with the ids of `sessions` and `blocks`; None where there are none.
    `known`: False of runs that failed, nobody knows why.
    """

    runs: int
    limit_s: float | None = None
    bounds: Array | None = None
    sessions: Any = None
    blocks: Any = None
    known: bool = True


def failures_of(
    name: str, failed: Failed | None, sessions: tuple[NDArray[Any], ...] | None
) -> Failures:
    """Read what a caller says of failed runs."""
    kinds = {row.dtype.kind == "U" for row in sessions or ()}
    totals: dict[str, int] = {}
    by_session: dict[str, dict[Any, int]] = {}
    for bench, told in (failed or {}).items():
        if not isinstance(told, Mapping):
            totals[bench] = counted(f"failed[{bench!r}]", told, least=0)
            continue
        where = f"{name}, benchmark {bench!r}"
        if sessions is None:
            raise UsageError(
                "the sessions of failed runs are named, those of the others are not",
                where,
                "give sessions= too, or only how many runs failed",
            )
        counts: dict[int | str, int] = {}
        for label, n in told.items():
            number = isinstance(label, (int, np.integer)) and not isinstance(label, bool)
            if not (isinstance(label, str) and True in kinds) and not (number and False in kinds):
                raise UsageError(
                    f"{label!r} is not the id of a session of these runs",
                    where,
                    "name sessions of failed runs as those of the others: by whole numbers, or by names",
                )
            known = counted(f"failed[{bench!r}][{label!r}]", n, least=0)
            counts[int(label) if number else str(label)] = known
        totals[bench] = sum(counts.values())
        by_session[bench] = {label: n for label, n in counts.items() if n}
    return Failures(totals, by_session)


def failures_of_rows(benchmarks: Sequence[str], sessions: Sequence[int]) -> Failures:
    """Count failed runs, each with its benchmark and its session."""
    by_session: dict[str, Counter[int]] = {bench: Counter() for bench in benchmarks}
    for bench, session in zip(benchmarks, sessions, strict=True):
        by_session[bench][session] += 1
    return Failures(Counter(benchmarks), by_session)


def failures_from_json(given: object, sessions: object, where: str) -> dict[str, Any]:
    """Read the failures of a matrix file; the ids of its sessions tell whether they are numbers."""
    rows = sessions.values() if isinstance(sessions, dict) else ()
    numbered = any(isinstance(one, int) for row in rows for one in row)

    def count(n: object) -> int:
        if type(n) is not int or n < 0:
            raise ValueError(n)
        return n

    try:
        if not isinstance(given, dict):
            raise TypeError(given)
        return {
            bench: {int(label) if numbered else label: count(n) for label, n in told.items()}
            if isinstance(told, dict)
            else count(told)
            for bench, told in given.items()
        }
    except (TypeError, ValueError):
        raise AnalysisError(
            "'failed' must hold how many runs of each benchmark failed, or an object of how many in each "
            "session",
            where,
        ) from None


def of_some(failures: Mapping[str, _Told], benchmarks: Iterable[str]) -> dict[str, _Told]:
    """Give what is told of these benchmarks."""
    return {bench: failures[bench] for bench in benchmarks if bench in failures}
