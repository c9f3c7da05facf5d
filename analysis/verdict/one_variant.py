"""One variant by itself: its geometric mean, and the interval that its sessions give.

Logs of the session means are independent draws of what a session gives, every session weighing the
same; Student's t on them is the interval. One session has its blocks instead, and speaks of itself
only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..data.matrix import PerformanceMatrix

_ROUNDING = 1e-12  # logs that differ by less are equal


@dataclass(frozen=True, slots=True, kw_only=True)
class VariantSummary:
    """One variant on one benchmark."""

    variant: str
    benchmark: str
    mean: float
    low: float | None
    high: float | None
    unit: str
    sessions: int
    runs: int
    minimum: float
    median: float
    maximum: float
    spread: float | None


def alone(matrix: PerformanceMatrix, confidence: float) -> tuple[VariantSummary, ...]:
    """Give each benchmark's interval of one variant, values in the matrix's unit."""
    return tuple(_one(matrix, k, confidence) for k in range(len(matrix.benchmarks)))


def _one(matrix: PerformanceMatrix, k: int, confidence: float) -> VariantSummary:
    values = matrix.samples[k]
    logs = np.log(values)
    sessions = np.zeros(values.size) if matrix.sessions is None else matrix.sessions[k]
    means, inside = _means(logs, sessions)
    unit, drawn = "session", means
    if means.size == 1:
        unit, drawn = "run", logs
        if matrix.blocks is not None:
            unit, drawn = "block", _means(logs, matrix.blocks[k])[0]
    centre = float(means.mean())
    half = _half_width(drawn, confidence)
    return VariantSummary(
        variant=matrix.name,
        benchmark=matrix.benchmarks[k],
        mean=float(np.exp(centre)),
        low=None if half is None else float(np.exp(centre - half)),
        high=None if half is None else float(np.exp(centre + half)),
        unit=unit,
        sessions=means.size,
        runs=values.size,
        minimum=float(values.min()),
        median=float(np.median(values)),
        maximum=float(values.max()),
        spread=inside,
    )


def _means(
    logs: NDArray[np.float64], groups: NDArray[Any]
) -> tuple[NDArray[np.float64], float | None]:
    """Give each group's mean, and the relative standard deviation inside of groups."""
    _, where, counts = np.unique(groups, return_inverse=True, return_counts=True)
    means = np.bincount(where, weights=logs) / counts
    free = logs.size - counts.size
    if free < 1:
        return means, None
    variance = float(np.sum((logs - means[where]) ** 2)) / free
    return means, float(np.expm1(np.sqrt(variance)))


def _half_width(drawn: NDArray[np.float64], confidence: float) -> float | None:
    from scipy.special import stdtrit

    if drawn.size < 2:
        return None
    sd = float(drawn.std(ddof=1))
    if sd < _ROUNDING:
        return 0.0
    t = -float(stdtrit(drawn.size - 1, (1 - confidence) / 2))
    return t * sd / float(np.sqrt(drawn.size))
