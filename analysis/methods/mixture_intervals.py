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
from numpy.typing import ArrayLike, NDArray

from .. import typeset
from ..errors import AnalysisError, UsageError
from .mixture_metrics import probability_faster
from .mixture_mode_tests import checked
from .mixture_model import Mixture
from .mixture_rank_share import REFERENCES as RANK_REFERENCES
from .mixture_rank_share import RankShare, checked_confidence, rank_share

__all__ = [
    "FasterEstimate",
    "Fit",
    "FittedSample",
    "MetricInterval",
    "faster_estimate",
    "fitted_sample",
    "metric_interval",
]

Array = NDArray[np.float64]
Fit = Callable[[Array], Mixture]
_FEW = 20
_FAILED = 0.05
REFERENCES = (
    "J. Shao, C. F. J. Wu, A general theory for jackknife variance estimation, Annals of "
    "Statistics 17, 1989 (deleting half of the values)",
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FittedSample:
    """Values, their mixture, and the mixtures of the resamples; `failed` could not be fitted."""

    values: Array
    mixture: Mixture
    replicates: tuple[Mixture, ...]
    failed: int


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
        return "\n".join([*typeset.wrapped(head), *typeset.numbered(self.cautions)])


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
        lines = [*typeset.wrapped(head), "", *typeset.grid(rows, "<>>>")]
        return "\n".join([*lines, *typeset.numbered(self.cautions)])


def fitted_sample(
    values: ArrayLike,
    mixture: Mixture,
    *,
    fit: Fit | None = None,
    resamples: int = 500,
    rng: np.random.Generator,
) -> FittedSample:
    """Fit mixtures to resamples of the values, once, for any number of intervals.

    Parameters
    ----------
    values : array_like
        At least 4 values, not all equal: those that `mixture` was fitted to.
    mixture : Mixture
        Their fit.
    fit : callable, optional
        From an array of values to a `Mixture`; it may raise `AnalysisError`. By default
        `fit_mixture` on the scale of `mixture`, with up to 9 components.
    resamples : int
        How many.
    rng : numpy.random.Generator
        Where the resamples come from.

    Raises
    ------
    UsageError
        If `resamples` is less than 1.
    InsufficientDataError, AnalysisError
        If there are too few values, one is not finite, all are equal, or no resample can be fitted.
    """
    if resamples < 1:
        raise UsageError(f"resamples must be 1 or more, not {resamples}")
    x = checked(values)
    x.flags.writeable = False
    refit = fit if fit is not None else _default_fit(mixture)
    replicates = []
    for _ in range(resamples):
        try:
            replicates.append(refit(_half(x, rng)))
        except AnalysisError:  # counted and reported
            continue
    if not replicates:
        raise AnalysisError(
            f"none of {resamples} resamples of these {x.size} values can be fitted",
            fix="measure more runs, or with a finer clock",
        )
    return FittedSample(
        values=x,
        mixture=mixture,
        replicates=tuple(replicates),
        failed=resamples - len(replicates),
    )


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


def _default_fit(mixture: Mixture) -> Fit:
    from .mixture import fit_mixture

    scale = mixture.scale
    return lambda values: fit_mixture(values, scale=scale)


def _half(x: Array, rng: np.random.Generator) -> Array:
    """Draw half of the values (rounded up), none twice."""
    half: Array = x[rng.permutation(x.size)[: (x.size + 1) // 2]]
    return half
