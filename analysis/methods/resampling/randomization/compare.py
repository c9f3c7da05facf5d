"""The randomization test of the ratio of two suite means.

[1]_, section 3: pool the runs of both systems, reassign them at random, compute the ratio of means
over the suite each time, and see where the observed ratio lies. The choice of what is reassigned is
not in the paper and decides whether the test holds its level: see `analysis.methods.resampling.units`.

References
----------
.. [1] S. Irving, B. Li, S. Chen, L. Peng, W. Zhang, L. Duan, "Computer comparisons in the presence
   of performance variation", Frontiers of Computer Science, 2018, section 3.
.. [2] B. Phipson, G. K. Smyth, "Permutation p-values should never be zero", Statistical
   Applications in Genetics and Molecular Biology 9(1), 2010.
"""

from __future__ import annotations

import math
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from ....data import Centre, Mean, PerformanceMatrix, check_means, match, speedup_of, suite_mean
from ....errors import AnalysisError, UsageError
from ....report import figures
from ....stats import counted, door
from ..cautions import pair_cautions, unit_cautions
from ..units import Unit, exchangeable_units
from .cautions import assignment_cautions
from .null import Reassigned, reassigned
from .result import Alternative, RandomizationTest

__all__ = ["randomization_test"]

TOLERANCE = 1e-12  # ratios within this of each other, relatively, are equal


@door
def randomization_test(
    candidate: PerformanceMatrix,
    baseline: PerformanceMatrix,
    *,
    mean: Mean = "geometric",
    centre: Centre = "runs",
    alternative: Alternative = "two-sided",
    unit: Unit | None = None,
    resamples: int = 10_000,
    rng: np.random.Generator,
) -> RandomizationTest:
    """Test the ratio of two suite means by reassigning the labels.

    Parameters
    ----------
    candidate, baseline : PerformanceMatrix
        The runs of both; benchmarks that only one of them has are left out and named.
    mean : {"geometric", "harmonic", "arithmetic"}
        The mean over the benchmarks, of the values as stored.
    centre : {"runs", "mean", "median"}
        What stands for one benchmark: see `suite_mean`.
    alternative : {"candidate", "baseline", "two-sided"}
        Who is better if the hypothesis is wrong.
    unit : {"run", "block", "session"}, optional
        What is reassigned together. "run": each benchmark's runs on their own, as published.
        "block": whole rounds, jointly over the benchmarks; rounds that hold one variant are pooled
        and reassigned, rounds that hold both swap the labels within. "session": the same with
        sessions. None: "session" when both sides have five or more sessions in common, otherwise
        "block" when block ids are known on both sides, otherwise "run".
    resamples : int
        Random assignments to draw, 1 to 10,000,000. When there are no more assignments than this,
        all are listed and the test is exact.
    rng : numpy.random.Generator
        The source of randomness; one number is drawn from it.

    Returns
    -------
    RandomizationTest

    Raises
    ------
    UsageError
        If an argument is unknown or out of range, or `unit` needs ids that are not there.
    AnalysisError
        If the matrices do not go together, a ratio leaves the range of numbers, or units lack so
        many benchmarks that they cannot be reassigned.

    Notes
    -----
    Hypothesis: the labels of the units are exchangeable, as when the variants do not differ on any
    of these benchmarks. Against it: the candidate's, the baseline's, or either suite mean is the
    better one ([1]_, H1a to H1c). p is (k + 1) / (N + 1) for random assignments ([2]_; the paper's
    k / N can be 0), so that the observed one counts. Ratios within 1e-12 of the observed one,
    relatively, count as equal to it. Assignments that would leave a benchmark without runs on one
    side take no part; which ones do depends on the pooled data only, so the test keeps its level.
    """
    _validate(mean, centre, alternative, resamples)
    pair = match(candidate, baseline)
    a, b = pair.candidate, pair.baseline
    units = exchangeable_units(a, b, unit)
    ratio = speedup_of(
        suite_mean(a, mean=mean, centre=centre), suite_mean(b, mean=mean, centre=centre), a.better
    )
    done = reassigned(a, b, units, mean=mean, centre=centre, resamples=resamples, rng=rng)
    if a.better == "lower":
        np.negative(done.logs, out=done.logs)
    observed = -done.observed if a.better == "lower" else done.observed
    lowest, highest = float(done.logs.min()), float(done.logs.max())
    tails = {
        "candidate": _tail(done, int((done.logs >= observed - TOLERANCE).sum())),
        "baseline": _tail(done, int((done.logs <= observed + TOLERANCE).sum())),
    }
    pvalue = _of(alternative, tails)
    smallest = _of(alternative, _smallest(done, lowest, highest))
    null = _ratios(done.logs)
    return RandomizationTest(
        candidate=a.name,
        baseline=b.name,
        ratio=ratio,
        pvalue=pvalue,
        pvalue_candidate=tails["candidate"],
        pvalue_baseline=tails["baseline"],
        pvalue_error=0.0 if done.exact else _error(pvalue, len(null), alternative),
        smallest_pvalue=smallest,
        alternative=alternative,
        mean=mean,
        centre=centre,
        unit=units.unit,
        unit_words=units.words + (", labels swapped within" if units.both else ""),
        unit_counts=units.counts,
        exact=done.exact,
        resamples=len(null),
        assignments=done.assignments,
        log10_assignments=done.log10_assignments,
        null=null,
        timed=figures.timed(a.unit),
        benchmarks=a.benchmarks,
        runs_candidate=a.runs,
        runs_baseline=b.runs,
        cautions=(
            *pair_cautions(pair),
            *assignment_cautions(
                units,
                done,
                benchmarks=len(a.benchmarks),
                smallest=smallest,
                constant=highest - lowest <= TOLERANCE,
            ),
            *unit_cautions(pair, units),
        ),
    )


def _validate(mean: str, centre: str, alternative: str, resamples: int) -> None:
    check_means(mean, centre)
    if alternative not in get_args(Alternative):
        raise UsageError(
            f"alternative must be 'candidate', 'baseline' or 'two-sided', not {alternative!r}"
        )
    counted("resamples", resamples)


def _ratios(logs: NDArray[np.float64]) -> NDArray[np.float64]:
    with np.errstate(all="ignore"):
        null: NDArray[np.float64] = np.exp(logs, out=logs)
    if not (np.isfinite(null) & (null > 0)).all():
        raise AnalysisError(
            "the ratio leaves the range of numbers when labels are reassigned",
            fix="look for values that are no measurements: they lie too far apart",
        )
    null.flags.writeable = False
    return null


def _tail(done: Reassigned, count: int) -> float:
    size = len(done.logs)
    return count / size if done.exact else (count + 1) / (size + 1)


def _of(alternative: Alternative, tails: dict[str, float]) -> float:
    if alternative == "two-sided":
        return min(1.0, 2 * min(tails.values()))
    return tails[alternative]


def _smallest(done: Reassigned, lowest: float, highest: float) -> dict[str, float]:
    """Give the smallest p of each side: with all assignments listed, ties at the end count."""
    if not done.exact:
        least = max(1 / (len(done.logs) + 1), 10**-done.log10_assignments)
        return {"candidate": least, "baseline": least}
    return {
        "candidate": _tail(done, int((done.logs >= highest - TOLERANCE).sum())),
        "baseline": _tail(done, int((done.logs <= lowest + TOLERANCE).sum())),
    }


def _error(pvalue: float, size: int, alternative: Alternative) -> float:
    if alternative == "two-sided":
        return 2 * _error(pvalue / 2, size, "candidate")
    return math.sqrt(pvalue * (1 - pvalue) / size)
