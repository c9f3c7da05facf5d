"""How long each variant's runs took: what a table shows beside the judged difference.

A mean is the one that a verdict rests on: of the logarithms, within each session and then over sessions, so
that the ratio of two means is the speedup. What may be 0, such as the kernel's account of short runs, has
arithmetic means instead, by sessions too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..data.cut_runs import cut_rows

if TYPE_CHECKING:
    from ..data.trial import Trial

Cell = tuple[str, str]  # benchmark and variant
_Floats = NDArray[np.float64]
_Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class VariantTimes:
    """The times of one variant on one benchmark; what the trial does not know is None.

    `mean`: Geometric mean of the sessions' geometric means of wall time, in seconds. `spread`: Relative
    standard deviation of the runs within a session, exp(sd of logs) - 1; None where no session has two runs.
    `user`, `system`: Processor time of a run, arithmetic mean of the sessions' means, in seconds. `minimum`,
    `maximum`: Of the runs' wall times, in seconds. `max_rss`: Peak memory of a run, likewise a mean, in bytes.
    `runs`, `sessions`: Runs that count, and sessions that have any. `failed`: Runs that failed, without
    warm-ups; `cut`: of these, those that their time limit ended, which count with it.
    """

    mean: float | None
    spread: float | None
    user: float | None
    system: float | None
    minimum: float | None
    maximum: float | None
    max_rss: float | None
    runs: int
    sessions: int
    failed: int
    cut: int = 0


def times_of(trial: Trial) -> dict[Cell, VariantTimes]:
    """Give the times of each benchmark's variants, in the trial's order.

    A variant without any run of a benchmark, successful or not, is left out. Warm-ups, failed runs, the
    replaced rows of repeated runs, and runs that are there for their counters alone go into no mean.
    """
    failed = trial.candidates & (trial.outcome != 0) & ~trial.apart("wall")
    cut, _, limits = cut_rows(trial, "wall")
    used = trial.judged("wall") | cut
    found: dict[Cell, VariantTimes] = {}
    for cell, rows, lost in _cells(trial, used, failed):
        numbers = {
            name: trial.numbers[name][rows]
            for name in ("wall_ns", "user_s", "system_s", "max_rss_bytes")
        }
        sessions = trial.session[rows]
        walls = np.where(cut[rows], limits[rows], numbers["wall_ns"] / 1e9)
        mean, spread = _geometric(walls, sessions)
        known = walls[np.isfinite(walls)]
        found[cell] = VariantTimes(
            mean=mean,
            spread=spread,
            user=_arithmetic(numbers["user_s"], sessions),
            system=_arithmetic(numbers["system_s"], sessions),
            minimum=float(known.min()) if known.size else None,
            maximum=float(known.max()) if known.size else None,
            max_rss=_arithmetic(numbers["max_rss_bytes"], sessions),
            runs=int((~cut[rows]).sum()),
            sessions=int(np.unique(sessions).size),
            failed=lost,
            cut=int(cut[rows].sum()),
        )
    return found


def means_of(trial: Trial, metric: str) -> dict[Cell, float]:
    """Give the mean of another metric, such as a counter: arithmetic, by sessions, in the metric's unit.

    Cells without a value are left out.

    Raises
    ------
    UsageError
        If the trial has no such metric.
    """
    values, used = trial.values(metric), trial.judged(metric)
    nothing = np.zeros_like(used)
    found: dict[Cell, float] = {}
    for cell, rows, _ in _cells(trial, used, nothing):
        mean = _arithmetic(values[rows], trial.session[rows])
        if mean is not None:
            found[cell] = mean
    return found


def session_seconds(trial: Trial, sessions: int) -> float:
    """Add up how many seconds the first sessions took, each from its first run's start to its last one's end."""
    total = 0.0
    for session in range(1, sessions + 1):
        rows = trial.session == session
        if rows.any():
            ends = trial.start_ns[rows] + np.nan_to_num(trial.numbers["wall_ns"][rows])
            total += float(ends.max() - trial.start_ns[rows].min()) / 1e9
    return total


def _cells(
    trial: Trial, used: NDArray[np.bool_], failed: NDArray[np.bool_]
) -> list[tuple[Cell, _Integers, int]]:
    """Give the rows of each cell that count, and how many failed, where there is any of them."""
    width = len(trial.manifest.variants)
    where = trial.benchmark * width + trial.variant
    lost = np.bincount(where[failed], minlength=len(trial.manifest.benchmarks) * width)
    rows = np.flatnonzero(used)
    rows = rows[np.argsort(where[rows], kind="stable")]
    ends = np.searchsorted(where[rows], np.arange(lost.size + 1))
    found = []
    for number in range(lost.size):
        mine = rows[ends[number] : ends[number + 1]]
        if mine.size or lost[number]:
            names = (
                trial.manifest.benchmarks[number // width],
                trial.manifest.variants[number % width],
            )
            found.append((names, mine, int(lost[number])))
    return found


def _geometric(values: _Floats, sessions: _Integers) -> tuple[float | None, float | None]:
    """Give the geometric mean over sessions, and the relative spread within them; None where unknown."""
    if not values.size or not np.isfinite(values).all():
        return None, None
    if not (values > 0).all():
        return _arithmetic(values, sessions), None
    logs = np.log(values)
    _, where, counts = np.unique(sessions, return_inverse=True, return_counts=True)
    means = np.bincount(where, weights=logs) / counts
    free = logs.size - counts.size
    if free < 1:
        return float(np.exp(means.mean())), None
    variance = float(np.sum((logs - means[where]) ** 2)) / free
    return float(np.exp(means.mean())), float(np.expm1(np.sqrt(variance)))


def _arithmetic(values: _Floats, sessions: _Integers) -> float | None:
    """Give the mean of the sessions' means; None where some value is unknown, or there is none."""
    if not values.size or not np.isfinite(values).all():
        return None
    _, where, counts = np.unique(sessions, return_inverse=True, return_counts=True)
    return float((np.bincount(where, weights=values) / counts).mean())
