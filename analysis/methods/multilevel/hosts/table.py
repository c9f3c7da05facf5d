"""What the verdicts of several hosts hold, as tables with a row a host and a column a benchmark."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..design import PAIRS
from ..estimates import Estimates
from ..result import BenchmarkLine, Multilevel
from ..suite import suite_of_differences

__all__ = ["HostTable", "table_of"]

Floats = NDArray[np.float64]
_NAN = math.nan


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class HostTable:
    """Tables of the shape (hosts, benchmarks), on the log scale; nan where a host has no value.

    `lines` are the hosts' own, None where a host has none. `common` tells which benchmarks all hosts
    have; `suite` is each host's mean over these, arrays of shape (hosts,).
    """

    hosts: tuple[str, ...]
    benchmarks: tuple[str, ...]
    lines: tuple[tuple[BenchmarkLine | None, ...], ...]
    each: Estimates
    common: NDArray[np.bool_]
    suite: Estimates

    def of(self, k: int) -> list[BenchmarkLine]:
        """Give the lines of the benchmark in column `k`."""
        return [line for row in self.lines if (line := row[k]) is not None]


def table_of(results: Mapping[str, Multilevel], weights: Mapping[str, float] | None) -> HostTable:
    """Put the results of hosts side by side.

    Parameters
    ----------
    results : mapping of str to Multilevel
        Each host's own.
    weights : mapping of str to float, optional
        Of benchmarks; those not named weigh 1.
    """
    names = tuple(dict.fromkeys(line.name for one in results.values() for line in one.benchmarks))
    rows = []
    for one in results.values():
        there = {line.name: line for line in one.benchmarks}
        rows.append(tuple(there.get(name) for name in names))
    estimate = _column(rows, lambda line: None if line.speedup is None else math.log(line.speedup))
    common: NDArray[np.bool_] = np.asarray(~np.isnan(estimate).any(axis=0))
    given = weights or {}
    share = np.where(common, [float(given.get(name, 1.0)) for name in names], 0.0)
    return HostTable(
        hosts=tuple(results),
        benchmarks=names,
        lines=tuple(rows),
        each=Estimates(
            estimate=estimate,
            error=_column(rows, lambda line: line.error),
            freedom=_column(rows, lambda line: line.freedom),
            values=_column(rows, lambda line: float(line.sessions), 0.0).astype(np.int64),
        ),
        common=common,
        suite=_suites(tuple(results.values()), rows, estimate, share),
    )


def _column(
    rows: Sequence[Sequence[BenchmarkLine | None]],
    of: Callable[[BenchmarkLine], float | None],
    absent: float = _NAN,
) -> Floats:
    def value(line: BenchmarkLine | None) -> float:
        found = None if line is None else of(line)
        return absent if found is None else found

    return np.array([[value(line) for line in row] for row in rows], dtype=np.float64)


def _suites(
    results: Sequence[Multilevel],
    rows: Sequence[Sequence[BenchmarkLine | None]],
    estimate: Floats,
    share: Floats,
) -> Estimates:
    """Give each host's mean over the common benchmarks, with its error by the host's own sessions."""
    total = share.sum()
    some = share > 0
    errors, freedoms = [], []
    for one, row in zip(results, rows, strict=True):
        used = [line for line, yes in zip(row, some.tolist(), strict=True) if yes and line]
        own = sum(line.speedup is not None for line in one.benchmarks)
        error, freedom = _NAN, _NAN
        if len(used) == 1:
            error, freedom = _pair(used[0].error, used[0].freedom)
        elif one.these is not None and own == len(used):
            error, freedom = _pair(one.these.error, one.these.freedom)
        elif used and one.design in PAIRS:  # a benchmark that another host lacks is left out
            found = suite_of_differences(_differences(used), share[some])
            error, freedom = float(found.error), float(found.freedom)
        errors.append(error)
        freedoms.append(freedom)
    means = np.where(some, estimate, 0.0) @ share / total if total > 0 else np.full(len(rows), _NAN)
    return Estimates(
        estimate=means,
        error=np.array(errors),
        freedom=np.array(freedoms),
        values=np.array([one.sessions for one in results]),
    )


def _pair(error: float | None, freedom: float | None) -> tuple[float, float]:
    return (_NAN, _NAN) if error is None or freedom is None else (error, freedom)


def _differences(lines: Sequence[BenchmarkLine]) -> Floats:
    """Give the sessions' differences of some benchmarks, shape (sessions, benchmarks)."""
    ids = list(dict.fromkeys(name for line in lines for name in line.session_ids))
    place = {name: k for k, name in enumerate(ids)}
    found = np.full((len(ids), len(lines)), np.nan)
    for k, line in enumerate(lines):
        found[[place[name] for name in line.session_ids], k] = line.differences
    return found
