"""Runs that ended by their time limit: what they used until then is a lower bound of what they would have used."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..record import service_metrics
from ..record.run_numbers import METRIC_NUMBERS, limit_of
from ..record.trial_files import ENERGY
from ..stats.arguments import counted
from .columns import OUTCOMES, Flags, Floats

if TYPE_CHECKING:
    from .matrix import PerformanceMatrix
    from .trial import Trial

_GROWING = ("counters", service_metrics.SOURCE)


class CutOff(NamedTuple):
    """A benchmark's failed runs that their time limit ended: how many, and the least of their limits.

    `bounds`: Lower bounds of their values, with the ids of `sessions` and `blocks`; None where there are none.
    `known`: False of runs that failed, nobody knows why.
    """

    runs: int
    limit_s: float | None = None
    bounds: Floats | None = None
    sessions: Any = None
    blocks: Any = None
    known: bool = True


def cut_rows(trial: Trial, metric: str) -> tuple[Flags, Floats, Floats]:
    """Find the runs that their limit ended: flags, limits and lower bounds of a metric, nan where it need not grow."""
    cut = trial.candidates & (trial.outcome == OUTCOMES.index("timeout")) & ~trial.apart(metric)
    limits, values = trial.numbers["wall_ns"] / 1e9, trial.values(metric)
    said = {one.position: one.detail for one in trial.failed} if cut.any() else {}
    for row in np.flatnonzero(cut).tolist():
        limits[row] = limit_of(said.get(int(trial.position[row])), float(limits[row]))
    about = trial.manifest.metrics.get(metric)
    if metric == "wall" and about is None:
        return cut, limits, limits
    source = None if about is None else about.get("source")
    grows = metric in METRIC_NUMBERS if about is None else source in _GROWING
    grows |= source is not None and metric == ENERGY
    return cut, limits, values if grows else np.full(len(trial), np.nan)


def cut_of_trial(trial: Trial, metric: str, mine: Flags, blocks: Any) -> dict[str, CutOff]:  # noqa: ANN401 - ids, or None
    """Give them by benchmark."""
    cut, limits, values = cut_rows(trial, metric)
    found = {}
    for k, name in enumerate(trial.manifest.benchmarks):
        if (rows := np.flatnonzero(cut & mine & (trial.benchmark == k))).size:
            limit = None if np.isnan(limits[rows]).any() else float(limits[rows].min())
            ids = (trial.session[rows], None if blocks is None else blocks[rows])
            known = (values[rows], *ids) if (values[rows] > 0).all() else ()
            found[name] = CutOff(rows.size, limit, *known)
    return found


def cut_of(matrix: PerformanceMatrix, benchmark: str) -> CutOff:
    """Give what is known of a benchmark's cut runs."""
    if matrix.cut is None:
        return CutOff(matrix.failed.get(benchmark, 0), known=False)
    return matrix.cut.get(benchmark, CutOff(0))


def given_cut(cut: Mapping[str, int] | None) -> dict[str, CutOff] | None:
    """Read what a caller says of them."""
    if cut is None:
        return None
    return {b: CutOff(n) for b, x in cut.items() if (n := counted(f"cut[{b!r}]", x, least=0))}


def with_bounds(matrix: PerformanceMatrix) -> PerformanceMatrix:
    """Put the lower bounds of cut runs beside the runs of their benchmark."""
    cut = {b: one for b, one in (matrix.cut or {}).items() if one.bounds is not None}
    if not cut.keys() & set(matrix.benchmarks):
        return matrix
    rows: dict[str, Any] = {
        field: tuple(
            np.concatenate([row, getattr(cut[bench], name)]) if bench in cut else row
            for bench, row in zip(matrix.benchmarks, getattr(matrix, field), strict=True)
        )
        for field, name in (("samples", "bounds"), ("sessions", "sessions"), ("blocks", "blocks"))
        if getattr(matrix, field) is not None
    }
    return replace(matrix, **rows, cut=None, iterations=None, run_of=None)
