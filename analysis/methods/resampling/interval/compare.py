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

from ....data import Centre, Mean, PerformanceMatrix, check_means, match, speedup_of, suite_mean
from ....errors import InsufficientDataError, UsageError
from ....report import figures
from ....stats import counted, door, read_only
from ..cautions import pair_cautions, unit_cautions
from ..units import Unit, exchangeable_units
from .cautions import (
    coverage_caution,
    data_cautions,
    draw_cautions,
    mixes_sessions,
    scope_cautions,
    unit_spread,
)
from .coverage import KnownCoverage, known_coverage
from .draws import Comparison, compare, draw, strata_sizes
from .ends import interval_ends, ratios_of, tails_of
from .larger import larger_units
from .result import INTERVALS, SIDES, BootstrapInterval, Interval, Sides

__all__ = ["bootstrap_speedup"]


@door
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
        "session" where both sides have five or more sessions in common, else "block" where block
        ids are known on both sides, else "run", as the randomization test does.

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
    replicates = ratios_of(ratio, drawn.shifts)
    tails = tails_of(confidence, sides)
    low, high = interval_ends(
        interval, comparison, drawn, ratio=ratio, replicates=replicates, tails=tails
    )
    known = _known(comparison, interval, centre=centre, confidence=confidence, sides=sides)
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
        timed=figures.timed(a.unit),
        replicates=read_only(replicates),
        cautions=(
            *pair_cautions(pair),
            coverage_caution(
                known,
                units,
                interval=interval,
                sides=sides,
                confidence=confidence,
                medians=centre == "median",
            ),
            *data_cautions(
                comparison, interval, flat=float(replicates.min()) == float(replicates.max())
            ),
            *draw_cautions(
                resamples, drawn.redrawn, tail=min(tail for tail in tails if tail is not None)
            ),
            *unit_cautions(pair, units),
            *scope_cautions(units, interval),
            *unit_spread(units, larger_units(pair, units, mean=mean, centre=centre)),
        ),
    )


def _known(
    comparison: Comparison, interval: Interval, *, centre: Centre, confidence: float, sides: Sides
) -> KnownCoverage | None:
    if mixes_sessions(comparison.units):
        return None  # the simulated units are independent, and these are not
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


def _validate(
    mean: str, centre: str, interval: str, *, sides: str, confidence: float, resamples: int
) -> None:
    check_means(mean, centre)
    for name, value, known in (("interval", interval, INTERVALS), ("sides", sides, SIDES)):
        if value not in known:
            raise UsageError(f"{name} must be one of {', '.join(known)}, not {value!r}")
    if not 0.5 < confidence < 1:
        raise UsageError(f"confidence must lie between 0.5 and 1, not {confidence!r}")
    counted("resamples", resamples, least=2)
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
