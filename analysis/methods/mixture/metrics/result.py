"""What is said of single runs: a metric with its interval, and a share counted by ranks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ....report import Result

__all__ = ["FasterEstimate", "MetricInterval", "RankShare"]

_HALVES = (
    "J. Shao, C. F. J. Wu, A general theory for jackknife variance estimation, Annals of "
    "Statistics 17, 1989 (deleting half of the values)",
)
_RANKS = (
    "H. B. Mann, D. R. Whitney, Annals of Mathematical Statistics 18, 1947",
    "R. G. Newcombe, Statistics in Medicine 25, 2006, method 5",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricInterval(Result):
    """A metric of fitted mixtures with its percentile interval over resamples.

    `confidence` is nominal: with few values the interval covers less often (a caution says so).
    `replicates` resamples went into it, `failed` could not be fitted. Without replicates the ends
    are nan: nothing was resampled.
    """

    method: ClassVar[str] = "metric-interval"

    metric: str
    estimate: float
    low: float
    high: float
    confidence: float
    replicates: int
    failed: int
    references: tuple[str, ...] = _HALVES


@dataclass(frozen=True, slots=True, kw_only=True)
class RankShare(Result):
    """U / (n m): the share of pairs of runs in which X is faster, ties counted half."""

    method: ClassVar[str] = "rank-share"

    estimate: float
    low: float
    high: float
    confidence: float
    pairs: int
    ties: int
    references: tuple[str, ...] = _RANKS


@dataclass(frozen=True, slots=True, kw_only=True)
class FasterEstimate(Result):
    """P[X < Y + shift] twice: from the mixtures (I2) and from the ranks, without any model."""

    method: ClassVar[str] = "faster-estimate"

    shift: float
    mixture: MetricInterval
    ranks: RankShare
    references: tuple[str, ...] = (*_HALVES, *_RANKS)
