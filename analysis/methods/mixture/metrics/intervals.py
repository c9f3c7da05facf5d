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

import numpy as np

from ....errors import UsageError
from ....stats import door
from ..model.mixture import Mixture
from ..refits import FittedSample
from .cautions import faster_cautions, interval_cautions
from .rank_share import checked_confidence, rank_share
from .result import FasterEstimate, MetricInterval
from .single_run import probability_faster

__all__ = ["estimated", "faster_estimate", "metric_interval"]


@door
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
        cautions=tuple(interval_cautions(confidence, count, failed=failed, least=least)),
    )


def estimated(
    metric: Callable[..., float],
    *fits: tuple[Mixture, FittedSample | None],
    name: str,
    confidence: float = 0.95,
) -> MetricInterval:
    """Give a metric of mixtures; without an interval (nan) where one has no resamples."""
    samples = [sample for _, sample in fits if sample is not None]
    if len(samples) == len(fits):
        return metric_interval(metric, *samples, name=name, confidence=confidence)
    return MetricInterval(
        metric=name,
        estimate=float(metric(*(mixture for mixture, _ in fits))),
        low=math.nan,
        high=math.nan,
        confidence=confidence,
        replicates=0,
        failed=0,
    )


@door
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
    return FasterEstimate(
        shift=shift,
        mixture=mixture,
        ranks=ranks,
        cautions=(*mixture.cautions, *faster_cautions(mixture, ranks)),
    )
