"""How far a mixture and its metrics would move with another sample: refits of resampled values.

Each resample is a random **half of the values, none drawn twice**, and is fitted anew: **number of
components and kind of variances are chosen again**. Keeping them would leave out the largest
uncertainty. The usual bootstrap draws with replacement; the values that it repeats look like
narrow components: of 40 normal values 53 % of such resamples get more than one component, against
7 % of fresh samples and 14 % of halves. For smooth metrics halves have the right spread: the mean
of n / 2 out of n values varies as the mean of n.
Intervals are percentiles of the metric over the resamples.

References
----------
.. [1] J. Shao, C. F. J. Wu, "A general theory for jackknife variance estimation", Annals of
       Statistics 17, 1989.
.. [2] D. N. Politis, J. P. Romano, M. Wolf, "Subsampling", 1999, chapter 2.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ....errors import UsageError
from ....report import as_text
from ..refits import FittedSample
from .rank_share import REFERENCES as RANK_REFERENCES, RankShare, checked_confidence, rank_share
from .single_run import probability_faster

__all__ = ["FasterEstimate", "MetricInterval", "faster_estimate", "metric_interval"]

_FEW = 20
_FAILED = 0.05
REFERENCES = (
    "J. Shao, C. F. J. Wu, A general theory for jackknife variance estimation, Annals of "
    "Statistics 17, 1989 (deleting half of the values)",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricInterval:
    """A metric of fitted mixtures with its percentile interval over resamples.

    `confidence` is nominal: with few values the interval covers less often (a caution says so).
    `replicates` resamples went into it, `failed` could not be fitted.
    """

    metric: str
    estimate: float
    low: float
    high: float
    confidence: float
    replicates: int
    failed: int
    cautions: tuple[str, ...]
    references: tuple[str, ...] = REFERENCES

    def to_dict(self) -> dict[str, Any]:
        """Give the interval as JSON types; an infinite end is null."""
        data: dict[str, Any] = {}
        for name in self.__slots__:
            value = getattr(self, name)
            if isinstance(value, tuple):
                value = list(value)
            elif isinstance(value, float) and not math.isfinite(value):
                value = None
            data[name] = value
        return data

    def __str__(self) -> str:
        head = (
            f"{self.metric}: {self.estimate:.6g}, {100 * self.confidence:g} % interval "
            f"[{self.low:.6g}, {self.high:.6g}] from {self.replicates} resamples"
        )
        return "\n".join([*as_text.wrapped(head), *as_text.numbered(self.cautions)])


@dataclass(frozen=True, slots=True, kw_only=True)
class FasterEstimate:
    """P[X < Y + shift] twice: from the mixtures (I2) and from the ranks, without any model."""

    shift: float
    mixture: MetricInterval
    ranks: RankShare
    cautions: tuple[str, ...]
    references: tuple[str, ...] = (*REFERENCES, *RANK_REFERENCES)

    def to_dict(self) -> dict[str, Any]:
        """Give both estimates as JSON types."""
        return {
            "shift": self.shift,
            "mixture": self.mixture.to_dict(),
            "ranks": self.ranks.to_dict(),
            "cautions": list(self.cautions),
            "references": list(self.references),
        }

    def __str__(self) -> str:
        less = "" if self.shift == 0 else f" by more than {-self.shift:g}"
        if self.shift > 0:
            less = f", or slower by less than {self.shift:g}"
        rows = [["P[one run is faster]", "estimate", "low", "high"]]
        rows += [
            [name, *(f"{value:.4f}" for value in (one.estimate, one.low, one.high))]
            for name, one in (("mixtures (I2)", self.mixture), ("ranks, U/(nm)", self.ranks))
        ]
        head = (
            f"one run is faster than one of the other{less} with probability "
            f"{self.mixture.estimate:.3f} ({100 * self.mixture.confidence:g} % interval "
            f"{self.mixture.low:.3f} to {self.mixture.high:.3f})"
        )
        lines = [*as_text.wrapped(head), "", *as_text.grid(rows, "<>>>")]
        return "\n".join([*lines, *as_text.numbered(self.cautions)])


def metric_interval(
    metric: Callable[..., float], *samples: FittedSample, name: str, confidence: float = 0.95
) -> MetricInterval:
    """Give a metric of one or more mixtures with its percentile interval.

    Parameters
    ----------
    metric : callable
        From as many mixtures as there are samples to a number, such as `mean_difference`,
        `probability_fastest`, `variability_level`, or ``lambda m: m.quantile(0.9)``.
    *samples : FittedSample
        Independent of each other; their resamples are paired in order.
    name : str
        What the metric is called in the result.
    confidence : float
        Between 0 and 1.

    Raises
    ------
    UsageError
        If there is no sample, or the confidence is out of range.
    """
    if not samples:
        raise UsageError("an interval needs at least one fitted sample")
    checked_confidence(confidence)
    count = min(len(sample.replicates) for sample in samples)
    found = np.array(
        [metric(*row) for row in zip(*(s.replicates[:count] for s in samples), strict=True)]
    )
    # the inverse of the empirical distribution: works for infinite values too
    tail = (1 - confidence) / 2
    low, high = np.quantile(found, [tail, 1 - tail], method="inverted_cdf")
    failed = sum(sample.failed for sample in samples)
    least = min(sample.values.size for sample in samples)
    return MetricInterval(
        metric=name,
        estimate=float(metric(*(sample.mixture for sample in samples))),
        low=float(low),
        high=float(high),
        confidence=confidence,
        replicates=count,
        failed=failed,
        cautions=tuple(_interval_cautions(confidence, count, failed, least)),
    )


def _interval_cautions(confidence: float, count: int, failed: int, least: int) -> list[str]:
    cautions = []
    if count * (1 - confidence) / 2 < 5:
        needed = math.ceil(10 / (1 - confidence) - 1e-9)
        cautions.append(
            f"{count} resamples are few for {100 * confidence:g} %: take {needed} or more"
        )
    if failed > _FAILED * (count + failed):
        cautions.append(
            f"{failed} resamples could not be fitted; the interval belongs to the others"
        )
    if least < _FEW:
        cautions.append(
            f"with {least} values the interval is too narrow: percentiles of resamples know no "
            "value beyond the smallest and largest seen"
        )
    return cautions


def faster_estimate(
    x: FittedSample, y: FittedSample, *, shift: float = 0.0, confidence: float = 0.95
) -> FasterEstimate:
    """Estimate P[X < Y + shift] by I2 with its interval, and by ranks beside it.

    Raises
    ------
    UsageError
        As `probability_faster` and `metric_interval`.
    """
    mixture = metric_interval(
        lambda a, b: probability_faster(a, b, shift=shift),
        x,
        y,
        name="I2",
        confidence=confidence,
    )
    ranks = rank_share(x.values, y.values, shift=shift, confidence=confidence)
    cautions = list(mixture.cautions)
    if not (ranks.low <= mixture.estimate <= ranks.high):
        cautions.append(
            "mixtures and ranks disagree: the interval of the ranks does not contain I2, so the "
            "mixtures do not describe these values well"
        )
    if mixture.high - mixture.low < 1e-6:
        cautions.append(
            "the samples do not overlap, so resampling shows no spread: the interval of the ranks "
            "is the honest one"
        )
    return FasterEstimate(shift=shift, mixture=mixture, ranks=ranks, cautions=tuple(cautions))
