"""The session values of a trial's variants: a table of logs for each benchmark, and one of their mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ...errors import InsufficientDataError
from ...methods.multilevel.exact import exact_values
from ...pages.model import Caution, merged
from ...stats.samples import Array

if TYPE_CHECKING:
    from ...data.matrix import PerformanceMatrix
    from ...data.trial import Trial

SUITE = "suite"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SessionTable:
    """Mean logs of runs, larger = slower: sessions x variants, without gaps.

    `left_out` are variants that lack a value in more than half of the sessions, `sessions_left_out` how many
    sessions lack one of the others; `exact` tells whether all runs are counts, `cut` whether
    their time limit ended some, so that nothing is decided.
    """

    name: str
    variants: tuple[str, ...]
    sessions: tuple[int, ...]
    logs: Array
    left_out: tuple[str, ...]
    sessions_left_out: int
    exact: bool = False
    cut: bool = False


def session_tables(
    trial: Trial, variants: Sequence[str], metric: str, benchmarks: Sequence[str]
) -> tuple[list[SessionTable], tuple[Caution, ...]]:
    """Give the tables of benchmarks, the suite's last where there are several, and what was said of the runs."""
    sides: dict[str, PerformanceMatrix] = {}
    for name in variants:
        try:
            sides[name] = trial.matrix(name, metric)
        except InsufficientDataError:
            continue  # it is left out of every table, which says so
    sign = -1.0 if trial.metric(metric).better == "higher" else 1.0
    sessions = [int(one) for one in np.unique(trial.session[trial.measured])]
    cells = {
        bench: np.stack([sign * _column(sides.get(name), bench, sessions) for name in variants], 1)
        for bench in benchmarks
    }
    if len(benchmarks) > 1:
        cells[SUITE] = np.mean([*cells.values()], axis=0)
    cut = {bench for side in sides.values() for bench in side.cut or ()} & {*benchmarks}
    tables = []
    for bench, logs in cells.items():
        those = benchmarks if bench == SUITE else (bench,)
        runs = [side.values(x) for side in sides.values() for x in those if x in side.benchmarks]
        exact = exact_values(trial.metric(metric).unit, *runs)
        whole = _whole(bench, logs, variants, sessions)
        tables.append(replace(whole, exact=exact, cut=not cut.isdisjoint(those)))
    told = f"runs were stopped at their limit: {', '.join(sorted(cut))} undecided"
    cautions = merged(*(side.cautions for side in sides.values()))
    return tables, (*cautions, *([Caution("cut-off", told)] if cut else ()))


def _column(side: PerformanceMatrix | None, bench: str, sessions: Sequence[int]) -> Array:
    """Give the mean log of a benchmark's runs in each session, nan where there is none."""
    found = np.full(len(sessions), np.nan)
    if side is None or bench not in side.benchmarks or side.sessions is None:
        return found
    place = side.benchmarks.index(bench)
    logs, ids = np.log(side.samples[place]), side.sessions[place]
    for row, session in enumerate(sessions):
        if (mine := ids == session).any():
            found[row] = logs[mine].mean()
    return found


def _whole(
    name: str, cells: Array, variants: Sequence[str], sessions: Sequence[int]
) -> SessionTable:
    there = ~np.isnan(cells)
    kept = 2 * there.sum(axis=0) >= max(1, int(there.any(axis=1).sum()))
    rows = np.asarray(there[:, kept].all(axis=1) & there.any(axis=1))
    return SessionTable(
        name=name,
        variants=tuple(v for v, yes in zip(variants, kept, strict=True) if yes),
        sessions=tuple(s for s, yes in zip(sessions, rows, strict=True) if yes),
        logs=cells[rows][:, kept],
        left_out=tuple(v for v, yes in zip(variants, kept, strict=True) if not yes),
        sessions_left_out=int((there.any(axis=1) & ~rows).sum()),
    )
