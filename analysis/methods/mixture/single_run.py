"""What a single run may bring: four metrics of mixtures (section 6), and the share by ranks.

========= ==================================== ================================================
I1        `mean_difference`                    E|X - Y|
I2        `probability_faster`                 P[X < Y + shift]
I3        `probability_fastest`                P[X1 < min(X2, ..., Xr)]
I4        `variability_level`                  the number of the density's local maxima
========= ==================================== ================================================

X, Y, ... are single runs, independent of each other; smaller is faster. The printed estimator of I2
has mu_i - mu'_j where its derivation has mu'_j - mu_i, and the integral of I3 has 1 - G where G was
set to the product of survival functions: here the derivations hold.

Mixtures of logarithms (`scale` "log") are compared with mixtures of logarithms, everywhere in closed
form but for I2 with a shift, which is integrated. Two scales in one call are refused.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ...errors import AnalysisError, UsageError
from ...pages import number_format as figures
from ...pages.model import Page, Value, cautions_of, page, table_of
from ...pages.result import Result
from ...stats.arguments import between, checks_arguments, numbers
from ...stats.samples import Array
from .fit import FEW_VALUES
from .model import Mixture
from .refits import FittedSample

_TAIL = 5  # resamples beyond each end that an interval should rest on

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
    low: float = math.nan
    high: float = math.nan
    confidence: float
    replicates: int = 0
    failed: int = 0
    references: tuple[str, ...] = _HALVES

    def ends(self, form: str = ".3f") -> str:
        """Write the interval behind a figure, such as `` [0.1, 0.2]``; nothing where there is none."""
        return f" [{self.low:{form}}, {self.high:{form}}]" if self.replicates else ""

    def screen(self) -> Page:
        """Set the metric in one line."""
        text = f"{self.metric}: {self.estimate:.6g}"
        if self.replicates:
            ends, count = self.ends(".6g"), self.replicates
            text += f", {100 * self.confidence:g} % interval{ends} from {count} resamples"
        return page(self, self.metric, text)


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

    def screen(self) -> Page:
        """Set the share in one sentence."""
        return page(
            self,
            "Share of faster runs",
            f"one run is faster than one of the other in {self.estimate:.3f} of {self.pairs} pairs "
            f"of runs, {figures.counted(self.ties, 'tie')} counted half{within(self)}",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class FasterEstimate(Result):
    """P[X < Y + shift] twice: from the mixtures (I2) and from the ranks, without any model."""

    method: ClassVar[str] = "faster-estimate"

    shift: float
    mixture: MetricInterval
    ranks: RankShare
    references: tuple[str, ...] = (*_HALVES, *_RANKS)

    def screen(self) -> Page:
        """Set both estimates under each other."""

        def decimals(value: float) -> Value:
            return Value("", None) if math.isnan(value) else Value(f"{value:.4f}", value)

        table = table_of(
            "one-run-is-faster",
            (("mixtures (I2)", self.mixture), ("ranks, U/(nm)", self.ranks)),
            ("<P[one run is faster]", lambda both: both[0]),
            ("estimate", lambda both: decimals(both[1].estimate)),
            ("low", lambda both: decimals(both[1].low)),
            ("high", lambda both: decimals(both[1].high)),
        )
        less = "" if self.shift == 0 else f" by more than {-self.shift:g}"
        if self.shift > 0:
            less = f", or slower by less than {self.shift:g}"
        chances = f"{self.mixture.estimate:.3f}{within(self.mixture)}"
        text = f"one run is faster than one of the other{less} with probability {chances}"
        return page(self, "Which of two runs is faster", text, table)


def chance(value: float) -> str:
    """Write a probability; what is not 0 or 1 is never shown as such."""
    if value > 0.9995:
        return "> 0.999"
    return "< 0.001" if value < 0.0005 else f"{value:.3f}"


def within(found: MetricInterval | RankShare) -> str:
    """Write the interval of a probability in words; nothing where there is none."""
    ends = f"{found.low:.3f} to {found.high:.3f}"
    return "" if math.isnan(found.low) else f" ({100 * found.confidence:g} % interval {ends})"


_TIED = 1e-10  # relative: rounding must not break a tie


@checks_arguments
def rank_share(
    x: ArrayLike, y: ArrayLike, *, shift: float = 0.0, confidence: float = 0.95
) -> RankShare:
    """Estimate P[X < Y + shift] + P[X = Y + shift] / 2 by the Mann-Whitney statistic U / (n m).

    Parameters
    ----------
    x, y : array_like
        Finite values, n and m of them, at least one each.
    shift : float
        In the unit of the values.
    confidence : float
        Of Newcombe's score interval, which holds near 0 and 1 too.

    Raises
    ------
    UsageError
        If the shift is not finite or the confidence is out of range.
    InsufficientDataError, AnalysisError
        If a sample is empty or a value is not finite.
    """
    from scipy.special import ndtri

    if not math.isfinite(shift):
        raise UsageError(f"the shift must be a finite number, and is {shift}")
    between("the confidence", confidence)
    a, b = (np.sort(numbers(side, "the values")) for side in (x, y))
    if a.size == 0 or b.size == 0:
        raise UsageError("the share of faster runs needs values on both sides")
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        raise AnalysisError("a value is not finite", fix="leave out failed runs")
    b = b + shift
    slack = _TIED * max(float(np.abs(a).max()), float(np.abs(b).max()))
    below = np.searchsorted(a, b - slack, side="left")
    upto = np.searchsorted(a, b + slack, side="right")
    ties = int((upto - below).sum())
    pairs = a.size * b.size
    share = (float(below.sum()) + ties / 2) / pairs
    z = float(ndtri(0.5 + confidence / 2))
    low, high = _newcombe(share, a.size, b.size, z)
    return RankShare(
        estimate=share, low=low, high=high, confidence=confidence, pairs=pairs, ties=ties
    )


def _newcombe(share: float, m: int, n: int, z: float) -> tuple[float, float]:
    """Give the t with (share - t)^2 = z^2 V(t), V the Hanley-McNeil variance with both sizes alike."""
    from scipy.optimize import brentq

    size = (m + n) / 2 - 1

    def spread(t: float) -> float:
        """Give z^2 V(t) / (1 - t)."""
        return z * z * t * (1 + size * ((1 - t) / (2 - t) + t / (1 + t))) / (m * n)

    def excess(t: float) -> float:
        return (share - t) ** 2 - (1 - t) * spread(t)

    if share == 0:
        low, high = _newcombe(1.0, m, n, z)
        return 1 - high, 1 - low
    if share == 1:  # 1 is a root too, and not the one
        return float(brentq(lambda t: 1 - t - spread(t), 0, 1)), 1.0
    return float(brentq(excess, 0, share)), float(brentq(excess, share, 1))


_NODES, _GAUSS = np.polynomial.legendre.leggauss(20)
# Ends of the pieces, in standard deviations from each mean. The first reach leaves out less than
# 1e-18; results below _TINY are integrated again as far as a normal tail is a number.
_NEAR = np.linspace(-9, 9, 13)
_FAR = np.linspace(-38, 38, 51)
_TINY = 1e-5


@checks_arguments
def mean_difference(x: Mixture, y: Mixture) -> float:
    """Give I1 = E|X - Y|, the mean distance between a run of X and a run of Y (section 6.1).

    It has no sign, and it is not |E[X] - E[Y]|: two equal mixtures have one above 0.

    Parameters
    ----------
    x, y : Mixture
        Of the same scale.

    Returns
    -------
    float
        In the unit of the values; infinite when mixtures of logarithms exceed the largest number.

    Raises
    ------
    UsageError
        If one mixture is of values and the other of logarithms.
    """
    log = _is_log((x, y))
    weights = np.multiply.outer(x.weights, y.weights)
    apart = np.subtract.outer(x.means, y.means)
    spread = np.hypot.outer(x.sds, y.sds)
    if log:
        return _mean_difference_of_logs(x, y, weights, apart, spread)
    from scipy.special import erf

    with np.errstate(over="ignore"):
        z = apart / spread
        tail = spread * math.sqrt(2 / math.pi) * np.exp(-0.5 * z * z)
    folded = apart * erf(z / math.sqrt(2)) + tail
    return float((weights * folded).sum())


def _mean_difference_of_logs(
    x: Mixture, y: Mixture, weights: Array, apart: Array, spread: Array
) -> float:
    """Give E|e^S - e^T|: E[e^S; S > T] is E[e^S] times the chance under a mean larger by a variance."""
    from scipy.special import erf

    with np.errstate(over="ignore", invalid="ignore"):
        a = np.exp(x.means + 0.5 * x.sds**2)[:, None]
        b = np.exp(y.means + 0.5 * y.sds**2)[None, :]
        above = erf((apart + x.sds[:, None] ** 2) / spread / math.sqrt(2))
        below = erf((y.sds[None, :] ** 2 - apart) / spread / math.sqrt(2))
        total = float((weights * (a * above + b * below)).sum())
    return math.inf if math.isnan(total) else max(total, 0.0)


@checks_arguments
def probability_faster(x: Mixture, y: Mixture, *, shift: float = 0.0) -> float:
    """Give I2 = P[X < Y + shift], the chance that a run of X is faster than one of Y (section 6.2).

    Parameters
    ----------
    x, y : Mixture
        Of the same scale.
    shift : float
        In the unit of the values. Below 0 it asks for a run of X that is faster by more than
        -shift; above 0 it forgives X so much.

    Returns
    -------
    float
        A probability. At shift 0 it and the one with x and y exchanged sum to 1.

    Raises
    ------
    UsageError
        If the shift is not finite, or one mixture is of values and the other of logarithms.
    """
    if not math.isfinite(shift):
        raise UsageError(f"the shift must be a finite number, and is {shift}")
    if _is_log((x, y)) and shift != 0:
        return _faster_by_logs(x, y, shift)
    from scipy.special import ndtr

    with np.errstate(over="ignore"):
        z = (shift - np.subtract.outer(x.means, y.means)) / np.hypot.outer(x.sds, y.sds)
    return min(float(x.weights @ ndtr(z) @ y.weights), 1.0)


def _faster_by_logs(x: Mixture, y: Mixture, shift: float) -> float:
    """Integrate P[S < ln(e^t + shift)] over t = ln Y."""
    from scipy.special import ndtr

    def chance(t: Array) -> Array:
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            moved = np.exp(t) + shift
            # ln(e^t + shift) = t + ln(1 + shift e^-t), exact where the shift is small
            s = np.where(moved > 0, t + np.log1p(shift * np.exp(-t)), -np.inf)
            s = np.where(np.isfinite(t) & (s == np.inf), np.log(np.abs(shift)), s)
        return np.asarray(ndtr((s[:, None] - x.means) / x.sds) @ x.weights)

    def pieces(steps: Array) -> Array:
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            where = np.exp(x.means[:, None] + x.sds[:, None] * steps).ravel() - shift
            ends = np.log(where[where > 0])
            kink = np.log([-shift] if shift < 0 else [])
            # the integrand bends where the shift is as large as the value
            bend = math.log(abs(shift)) + np.linspace(-4, 4, 17)
        return np.concatenate((ends, kink, bend))

    return _expected(y, chance, pieces)


@checks_arguments
def probability_fastest(first: Mixture, *others: Mixture) -> float:
    """Give I3 = P[X1 < min(X2, ..., Xr)], the chance that a run of `first` beats all (section 6.3).

    Parameters
    ----------
    first : Mixture
        The variant in question.
    *others : Mixture
        The variants that it runs against, one run each, independent; of the same scale.

    Returns
    -------
    float
        The integral of f_1 times the product of the others' survival functions, by Gauss-Legendre
        quadrature on pieces around the means of all components. Over the choice of the first, the
        results sum to 1.

    Raises
    ------
    UsageError
        If there are no others, or one mixture is of values and another of logarithms.
    """
    if not others:
        raise UsageError("the chance to be the fastest needs at least one other mixture")
    _is_log((first, *others))
    from scipy.special import ndtr

    def all_slower(x: Array) -> Array:
        product = np.ones(x.size)
        for other in others:
            product *= ndtr((other.means - x[:, None]) / other.sds) @ other.weights
        return product

    def pieces(steps: Array) -> Array:
        return np.concatenate(
            [(one.means[:, None] + one.sds[:, None] * steps).ravel() for one in others]
        )

    return _expected(first, all_slower, pieces)


@checks_arguments
def variability_level(x: Mixture) -> int:
    """Give I4, the number of local maxima of the density (section 6.4).

    It is read off the fitted curve. Skew alone makes it exceed 1 in most samples, so by itself it
    is no evidence that the program behaves in several ways: see `mode_evidence`.
    """
    return x.modes().size


def _is_log(mixtures: tuple[Mixture, ...]) -> bool:
    scales = {mixture.scale for mixture in mixtures}
    if len(scales) > 1:
        raise UsageError(
            "mixtures of values and mixtures of logarithms cannot be compared",
            fix="fit them all on the same scale",
        )
    return scales == {"log"}


def _expected(
    mixture: Mixture, value: Callable[[Array], Array], pieces: Callable[[Array], Array]
) -> float:
    """Give E[value(T)], T of the mixture (on its own scale), for values in [0, 1].

    Each component is integrated in its own z, so that a narrow one keeps its digits far from 0.
    `pieces` gives the places between which `value` is smooth, for steps in standard deviations.
    """
    with np.errstate(over="ignore"):
        total = _integral(mixture, value, pieces(_NEAR), _NEAR)
        if total < _TINY:
            total = _integral(mixture, value, pieces(_FAR), _FAR)
    return min(total, 1.0)


def _integral(
    mixture: Mixture, value: Callable[[Array], Array], places: Array, steps: Array
) -> float:
    total = 0.0
    for weight, mean, sd in zip(mixture.weights, mixture.means, mixture.sds, strict=True):
        ends = (places - mean) / sd
        ends = ends[np.abs(ends) < steps[-1]]
        ends = np.unique(np.concatenate((ends, steps)))
        half = 0.5 * np.diff(ends)[:, None]
        z = 0.5 * (ends[1:] + ends[:-1])[:, None] + half * _NODES
        density = half * _GAUSS * np.exp(-0.5 * z * z) / math.sqrt(2 * math.pi)
        total += weight * float((density.ravel() * value((mean + sd * z).ravel())).sum())
    return total


@checks_arguments
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
    between("the confidence", confidence)
    count = min(len(sample.replicates) for sample in samples)
    estimate = float(metric(*(sample.mixture for sample in samples)))
    if not count:  # nothing was resampled
        return MetricInterval(metric=name, estimate=estimate, confidence=confidence)
    found = np.array(
        [metric(*row) for row in zip(*(s.replicates[:count] for s in samples), strict=True)]
    )
    # the inverse of the empirical distribution: works for infinite values too
    tail = (1 - confidence) / 2
    low, high = np.quantile(found, [tail, 1 - tail], method="inverted_cdf")
    failed = sum(sample.failed for sample in samples)
    least = min(sample.values.size for sample in samples)
    few = count * (1 - confidence) / 2 < _TAIL
    return MetricInterval(
        metric=name,
        estimate=estimate,
        low=float(low),
        high=float(high),
        confidence=confidence,
        replicates=count,
        failed=failed,
        cautions=cautions_of(
            {
                "few-resamples": few
                and f"{count} resamples are few for {100 * confidence:g} %: "
                f"take {math.ceil(2 * _TAIL / (1 - confidence) - 1e-9)} or more",
                "resamples-left-out": failed > 0.05 * (count + failed)
                and f"{failed} resamples could not be fitted; the interval belongs to the others",
                "interval-too-narrow": least < FEW_VALUES
                and f"with {least} values the interval is too narrow: percentiles of resamples "
                "know no value beyond the smallest and largest seen",
            }
        ),
    )


@checks_arguments
def faster_estimate(
    x: FittedSample, y: FittedSample, *, shift: float = 0.0, confidence: float = 0.95
) -> FasterEstimate:
    """Estimate P[X < Y + shift] by I2 with its interval, and also by ranks.

    Raises
    ------
    UsageError
        As `probability_faster` and `metric_interval`.
    """
    chance = partial(probability_faster, shift=shift)
    mixture = metric_interval(chance, x, y, name="I2", confidence=confidence)
    ranks = rank_share(x.values, y.values, shift=shift, confidence=confidence)
    return FasterEstimate(
        shift=shift,
        mixture=mixture,
        ranks=ranks,
        cautions=(
            *mixture.cautions,
            *cautions_of(
                {
                    "mixtures-against-ranks": mixture.replicates > 0
                    and not ranks.low <= mixture.estimate <= ranks.high
                    and "mixtures and ranks disagree: the interval of the ranks does not contain "
                    "I2, so the mixtures do not describe these values well",
                    "no-overlap": mixture.high - mixture.low < 1e-6
                    and "the samples do not overlap, so resampling shows no spread: the interval "
                    "of the ranks is the honest one",
                }
            ),
        ),
    )
