"""Bootstrap intervals of the ratio of two suite means.

Runs are drawn with replacement within each variant and benchmark, or whole rounds or sessions
jointly over the benchmarks. The text of [1]_, section 4, pools both variants before it draws; that
is the law under "no difference", around 1, and not what its Table 6 shows, so it is not done here.
H is the list of replicates of the ratio, alpha the risk, as there.

References
----------
.. [1] S. Irving, B. Li, S. Chen, L. Peng, W. Zhang, L. Duan, "Computer comparisons in the presence
   of performance variation", Frontiers of Computer Science, 2018, section 4.
.. [2] B. Efron, R. J. Tibshirani, "An Introduction to the Bootstrap", 1993, chapters 12 to 14.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from ....data import Centre, Mean, PerformanceMatrix, check_means, match, speedup_of, suite_mean
from ....errors import AnalysisError, InsufficientDataError, UsageError
from ....report import figures
from ..units import Unit, exchangeable_units
from .coverage import KnownCoverage, known_coverage
from .draws import Comparison, Draws, compare, draw, jackknife, standard_error, strata_sizes
from .result import INTERVALS, SIDES, BootstrapInterval, Interval, Sides, cautions_of, larger_units

__all__ = ["BootstrapInterval", "bca_corrections", "bootstrap_speedup", "interval_ends"]

Array = NDArray[np.float64]
Tails = tuple[float | None, float | None]

_TIE = 1e-12  # of the ratio: replicates this close to the observed one are equal to it
_FAR = 1e300
_OUTLANDISH = "look for values that are no measurements"


def bootstrap_speedup(
    candidate: PerformanceMatrix,
    baseline: PerformanceMatrix,
    *,
    mean: Mean = "geometric",
    centre: Centre = "runs",
    interval: Interval = "percentile",
    confidence: float = 0.95,
    sides: Sides = "two",
    resamples: int = 10_000,
    rng: np.random.Generator,
    unit: Unit | None = None,
) -> BootstrapInterval:
    """Give a bootstrap interval of the ratio of two suite means.

    Parameters
    ----------
    candidate, baseline : PerformanceMatrix
        Matched by benchmark name; what only one of them has is left out, with a caution.
    mean : {"geometric", "harmonic", "arithmetic"}
        The mean over the benchmarks, of the values as they are stored.
    centre : {"runs", "mean", "median"}
        What stands for one benchmark: the same kind of mean over its runs, their arithmetic mean,
        or their median.
    interval : {"percentile", "corrected", "bca", "studentized"}
        "percentile", as published: quantiles of H. "corrected": the same after each centre's
        deviation is widened by sqrt(m / (m - 1)) on the log scale, m the units of its stratum,
        because a resample of m values varies too little by that factor. "bca": percentiles
        corrected for bias and acceleration [2]_. "studentized": quantiles of the log ratio's
        deviation over its standard error in each replicate; not for medians.
    confidence : float
        The nominal confidence, between 0.5 and 1.
    sides : {"two", "lower", "upper"}
        "lower" gives a lower bound only (high is inf), "upper" an upper bound (low is 0), each
        with the whole risk on its side.
    resamples : int
        How many replicates, at least 2.
    rng : numpy.random.Generator
        Source of the one root from which every benchmark's stream is derived.
    unit : {"run", "block", "session"}, optional
        What is drawn: runs within each variant and benchmark, or whole rounds or sessions with all
        their runs of all benchmarks (for both variants at once where units hold both). None takes
        "block" where block ids are known on both sides, else "run", as the randomization test does.

    Returns
    -------
    BootstrapInterval
        The ratio, both ends, the replicates, the known coverage and cautions. Quantiles
        interpolate linearly between order statistics (type 7).

    Raises
    ------
    UsageError
        If an argument is out of its range, or "studentized" meets medians.
    InsufficientDataError
        If no stratum has two units or, but for "percentile", one has fewer.
    AnalysisError
        If the matrices do not go together, or BCa does not exist for the data.
    """
    _validate(mean, centre, interval, sides=sides, confidence=confidence, resamples=resamples)
    pair = match(candidate, baseline)
    a, b = pair.candidate, pair.baseline
    units = exchangeable_units(a, b, unit)
    comparison = compare(a, b, units, mean=mean, centre=centre)
    _enough(comparison, interval)
    ratio = speedup_of(
        suite_mean(a, mean=mean, centre=centre), suite_mean(b, mean=mean, centre=centre), a.better
    )
    drawn = draw(
        comparison,
        int(rng.integers(2**63)),
        resamples,
        widened=interval == "corrected",
        errors=interval == "studentized",
    )
    replicates = _ratios(ratio, drawn.shifts)
    tails = _tails(confidence, sides)
    low, high = interval_ends(
        interval, comparison, drawn, ratio=ratio, replicates=replicates, tails=tails
    )
    known = _known(comparison, interval, centre=centre, confidence=confidence, sides=sides)
    cautions = cautions_of(
        comparison,
        known,
        interval=interval,
        confidence=confidence,
        tail=min(t for t in tails if t is not None),
        resamples=resamples,
        redrawn=drawn.redrawn,
        flat=float(replicates.min()) == float(replicates.max()),
    )
    replicates.flags.writeable = False
    return BootstrapInterval(
        candidate=a.name,
        baseline=b.name,
        ratio=ratio,
        low=low,
        high=high,
        confidence=float(confidence),
        known_coverage=None if known is None else known.coverage,
        interval=interval,
        sides=sides,
        mean=mean,
        centre=centre,
        unit=units.unit,
        units=units.words,
        unit_counts=units.counts,
        resamples=int(resamples),
        benchmarks=a.benchmarks,
        runs_candidate=a.runs,
        runs_baseline=b.runs,
        faster=a.better == "higher" or figures.is_time(a.unit),
        replicates=replicates,
        cautions=(
            *(f"{matrix.name}: {text}" for matrix in (a, b) for text in matrix.cautions),
            *pair.cautions,
            *cautions,
            *larger_units(pair, units, mean, centre),
        ),
    )


def _known(
    comparison: Comparison, interval: Interval, *, centre: Centre, confidence: float, sides: Sides
) -> KnownCoverage | None:
    single = comparison.units.unit == "run"
    return known_coverage(
        interval,
        centre=centre,
        design="runs" if single else "pairs" if comparison.joint else "units",
        benchmarks=len(comparison.benchmarks) if single else 1,
        runs=float(min(sizes.min() for sizes in strata_sizes(comparison))),
        confidence=confidence,
        two_sided=sides == "two",
    )


def interval_ends(
    interval: Interval,
    comparison: Comparison,
    drawn: Draws,
    *,
    ratio: float,
    replicates: Array,
    tails: Tails,
    corrections: tuple[float, float] | None = None,
) -> tuple[float, float]:
    """Give both ends for the risks left below and above; None leaves an end open.

    `corrections` are what `bca_corrections` gives, for those who ask for several ends.

    Raises
    ------
    AnalysisError
        If the interval does not exist for these replicates.
    """
    low_tail, high_tail = tails
    if interval == "studentized":
        return _studentized(ratio, drawn, comparison, tails)
    if interval == "bca":
        z0, a = corrections or bca_corrections(comparison, ratio=ratio, replicates=replicates)
        levels = _bca_levels(z0, a, tails)
    else:
        levels = (low_tail, None if high_tail is None else 1 - high_tail)
    low, high = levels
    return (
        0.0 if low is None else float(np.quantile(replicates, low)),
        float("inf") if high is None else float(np.quantile(replicates, high)),
    )


def bca_corrections(
    comparison: Comparison, *, ratio: float, replicates: Array
) -> tuple[float, float]:
    """Give z0 and a of BCa: the bias by the share below, the acceleration by the jackknife.

    Every stratum is jackknifed around its own mean, and weighs by its size (for equal sizes
    equation 14.15 of [2] over all strata).

    Raises
    ------
    AnalysisError
        If z0 is infinite, or a unit cannot be left out.
    """
    margin = _TIE * ratio
    below = np.count_nonzero(replicates < ratio - margin)
    equal = np.count_nonzero(np.abs(replicates - ratio) <= margin)
    share = (below + equal / 2) / replicates.size
    if share in (0, 1):
        raise AnalysisError(
            f"all {replicates.size} replicates lie on one side of the observed ratio, so BCa's "
            "correction for bias is infinite",
            fix="take another interval, or more resamples",
        )
    parts = [_ratios(ratio, shifts) / ratio for shifts in jackknife(comparison)]
    sizes = np.array([part.size for part in parts])
    starts = np.cumsum(sizes) - sizes
    left = np.concatenate(parts)
    centres = np.add.reduceat(left, starts) / sizes
    u = np.repeat((sizes - 1) / sizes, sizes) * (np.repeat(centres, sizes) - left)
    squares = float((u**2).sum())
    a = float((u**3).sum()) / (6 * squares**1.5) if squares > _TIE**2 else 0.0
    return float(ndtri(share)), a


def _bca_levels(z0: float, a: float, tails: Tails) -> Tails:
    """Give the quantiles' levels of BCa, equation 14.10 of [2]."""

    def level(tail: float, direction: int) -> float:
        z = z0 + direction * -float(ndtri(tail))
        scale = 1 - a * z
        if scale <= 0:
            raise AnalysisError(
                f"BCa does not exist at this confidence: its acceleration is {a:.3g}",
                fix="take another interval, or a lower confidence",
            )
        return float(ndtr(z0 + z / scale))

    low, high = tails
    return None if low is None else level(low, -1), None if high is None else level(high, 1)


def _studentized(
    ratio: float, drawn: Draws, comparison: Comparison, tails: Tails
) -> tuple[float, float]:
    assert drawn.errors is not None
    error = standard_error(comparison)
    if not (np.isfinite(error) and np.isfinite(drawn.errors).all()):
        raise AnalysisError("a standard error leaves the range of numbers", fix=_OUTLANDISH)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        t = drawn.shifts / drawn.errors
    t[drawn.shifts == 0] = 0.0
    t = np.clip(t, -_FAR, _FAR)
    # the largest t belongs to the lower end
    low, high = tails
    levels = (None if low is None else 1 - low, None if high is None else high)
    found = [None if level is None else float(np.quantile(t, level)) for level in levels]
    if any(q is not None and abs(q) > _FAR / 1e10 for q in found):
        sizes = strata_sizes(comparison)
        least = int(min(size.min() for size in sizes))
        raise InsufficientDataError(
            "in too many resamples no unit varies, so that the studentized end is infinite",
            fix="measure more, or take the corrected interval",
            n=least,
            needed=least + 1,
        )
    ends = [None if q is None else float(_ratios(ratio, np.array([-q * error]))[0]) for q in found]
    return (0.0 if ends[0] is None else ends[0], float("inf") if ends[1] is None else ends[1])


def _ratios(ratio: float, shifts: Array) -> Array:
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        ratios = ratio * np.exp(shifts)
    if not (np.isfinite(ratios).all() and ratios.all()):
        raise AnalysisError(
            "the replicates of the ratio leave the range of numbers",
            fix=_OUTLANDISH,
        )
    return np.asarray(ratios, dtype=np.float64)


def _tails(confidence: float, sides: Sides) -> Tails:
    risk = 1 - confidence
    if sides == "two":
        return risk / 2, risk / 2
    return (risk, None) if sides == "lower" else (None, risk)


def _validate(
    mean: str, centre: str, interval: str, *, sides: str, confidence: float, resamples: object
) -> None:
    check_means(mean, centre)
    for name, value, known in (("interval", interval, INTERVALS), ("sides", sides, SIDES)):
        if value not in known:
            raise UsageError(f"{name} must be one of {', '.join(known)}, not {value!r}")
    if not 0.5 < confidence < 1:
        raise UsageError(f"confidence must lie between 0.5 and 1, not {confidence!r}")
    if not isinstance(resamples, int | np.integer) or isinstance(resamples, bool) or resamples < 2:
        raise UsageError(f"resamples must be a whole number of at least 2, not {resamples!r}")
    if interval == "studentized" and centre == "median":
        raise UsageError(
            "a studentized interval needs a standard error, and that of a median is not known",
            fix="take centre 'runs' or 'mean', or another interval",
        )


def _enough(comparison: Comparison, interval: Interval) -> None:
    """Refuse what so few units cannot give."""
    noun = comparison.units.noun
    sizes = strata_sizes(comparison)
    most, least = (int(pick(float(pick(size)) for size in sizes)) for pick in (max, min))
    if most < 2:
        where = "only" if comparison.joint else "on each side"
        where = "on each benchmark and side" if comparison.units.unit == "run" else where
        raise InsufficientDataError(
            f"there is one {noun} {where}: resampling it tells nothing about its spread",
            fix=f"measure 3 or more {noun}s",
            n=most,
            needed=2,
        )
    if least >= 2 or interval == "percentile":
        return
    where = "one side"
    if comparison.units.unit == "run":
        single = [
            bench
            for bench, one, other in zip(comparison.benchmarks, *sizes, strict=True)
            if min(one, other) < 2
        ]
        where = f"benchmark {single[0]!r}" + (
            f" and {len(single) - 1} more" if len(single) > 1 else ""
        )
    raise InsufficientDataError(
        f"the {interval} interval needs the spread of every stratum, and there is one {noun}",
        where,
        f"measure 2 or more {noun}s there, leave it out, or take interval 'percentile'",
        n=least,
        needed=2,
    )
