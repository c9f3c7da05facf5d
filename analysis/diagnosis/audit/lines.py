"""The cells of a diagnosis one by one: what was counted, and what could not be tested."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from ..runs import CellTests, Description, RunTable, Series
from .result import CellLine, FarRun, Untested

__all__ = ["cell_lines", "far_runs", "untested"]

_LEAST = 10
_LARGEST = 700.0  # of a logarithm


def cell_lines(
    table: RunTable, series: Series, figures: Description, tests: Sequence[CellTests]
) -> Iterator[CellLine]:
    """Give a line for each cell, in the order of benchmarks and variants."""
    far = figures.far.sum(axis=(1, 2)).tolist()
    columns = {test.code: test.pvalues.tolist() for test in tests}
    rows = zip(
        series.benchmark.tolist(),
        series.variant.tolist(),
        series.runs.tolist(),
        (series.counts > 0).sum(axis=1).tolist(),
        figures.spread.tolist(),
        figures.session_sd.tolist(),
        figures.lag_1.tolist(),
        figures.effective.tolist(),
        figures.ties.tolist(),
        figures.resolution.tolist(),
        strict=True,
    )
    for k, (b, v, runs, sessions, spread, session_sd, lag_1, effective, ties, step) in enumerate(
        rows
    ):
        yield CellLine(
            benchmark=table.benchmarks[b],
            variant=table.variants[v],
            runs=runs,
            sessions=sessions,
            spread=_relative(spread),
            session_sd=_relative(session_sd),
            lag_1=_known(lag_1),
            effective=_known(effective),
            ties=ties,
            resolution=_known(step),
            far=far[k],
            pvalues={code: _known(column[k]) for code, column in columns.items()},
        )


def untested(table: RunTable, series: Series) -> Iterator[Untested]:
    """Name the cells with fewer than 10 runs."""
    for cell in np.flatnonzero(series.runs < _LEAST).tolist():
        yield Untested(
            benchmark=table.benchmarks[series.benchmark[cell]],
            variant=table.variants[series.variant[cell]],
            runs=int(series.runs[cell]),
        )


def far_runs(table: RunTable, series: Series, figures: Description) -> Iterator[FarRun]:
    """Give the far runs, the farthest from its session's median first."""
    logs = table.logs
    found: list[tuple[float, int, FarRun]] = []
    for cell, session, place in np.argwhere(figures.far).tolist():
        row = series.row[cell, session]
        apart = float(logs[row[place]] - np.median(logs[row[row >= 0]]))
        one = FarRun(
            benchmark=table.benchmarks[series.benchmark[cell]],
            variant=table.variants[series.variant[cell]],
            session=table.sessions[session],
            run=place + 1,
            ratio=math.exp(apart) if apart < _LARGEST else None,
        )
        found.append((-abs(apart), len(found), one))
    for _, _, one in sorted(found):
        yield one


def _known(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _relative(sd: float) -> float | None:
    """Turn a standard deviation of logs into a relative one."""
    return math.expm1(sd) if math.isfinite(sd) and sd < _LARGEST else None
