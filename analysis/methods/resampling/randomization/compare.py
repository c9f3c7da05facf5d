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
from dataclasses import dataclass, fields
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from ....data import (
    Centre,
    Match,
    Mean,
    PerformanceMatrix,
    check_means,
    match,
    speedup_of,
    suite_mean,
)
from ....errors import AnalysisError, UsageError
from ....report import as_text, figures
from ..units import Unit, Units, exchangeable_units
from .null import Reassigned, reassigned

__all__ = ["Alternative", "RandomizationTest", "randomization_test"]

Alternative = Literal["candidate", "baseline", "two-sided"]

TOLERANCE = 1e-12  # ratios within this of each other, relatively, are equal
MOST_RESAMPLES = 10_000_000
_LEVEL = 0.05  # the level that the cautions compare the smallest possible p with
_NAME = 32
_QUANTILES = {"q025": 0.025, "q25": 0.25, "median": 0.5, "q75": 0.75, "q975": 0.975}
_EXTREME = {"candidate": "so high", "baseline": "so low", "two-sided": "so far from 1"}
REFERENCES = (
    "S. Irving et al., Computer comparisons in the presence of performance variation, Frontiers of "
    "Computer Science 2018, section 3",
    "B. Phipson, G. K. Smyth, Permutation p-values should never be zero, Statistical Applications "
    "in Genetics and Molecular Biology 9(1), 2010",
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RandomizationTest:
    """What the randomization test says about a candidate against a baseline.

    Attributes
    ----------
    ratio : float
        Ratio of the suite means; above 1 the candidate is better.
    pvalue : float
        Of `alternative`. (k + 1) / (N + 1) for N random assignments, k / N for all N of them, where
        k of them are at least as extreme as the observed one; two-sided twice the smaller tail, at
        most 1.
    pvalue_candidate, pvalue_baseline : float
        Of the two one-sided alternatives.
    pvalue_error : float
        Standard error of `pvalue` from drawing at random; 0 when `exact`.
    smallest_pvalue : float
        The smallest `pvalue` that so many assignments can give.
    null : read-only float array
        The ratio, oriented as `ratio`, under each assignment; `to_dict` gives its quantiles.
    exact : bool
        Whether `null` holds every assignment.
    resamples : int
        How many assignments `null` holds.
    assignments : int or None
        How many there are; None when there are more than 2^53.
    log10_assignments : float
        Their decimal logarithm.
    unit, unit_words, unit_counts
        What was reassigned together: "run", "block" or "session"; in words; and how many of them
        hold which variants (empty for runs).
    runs_candidate, runs_baseline : tuple of int
        The runs of each benchmark.
    """

    candidate: str
    baseline: str
    ratio: float
    pvalue: float
    pvalue_candidate: float
    pvalue_baseline: float
    pvalue_error: float
    smallest_pvalue: float
    alternative: Alternative
    mean: Mean
    centre: Centre
    unit: Unit
    unit_words: str
    unit_counts: str
    exact: bool
    resamples: int
    assignments: int | None
    log10_assignments: float
    null: NDArray[np.float64]
    faster: bool
    benchmarks: tuple[str, ...]
    runs_candidate: tuple[int, ...]
    runs_baseline: tuple[int, ...]
    cautions: tuple[str, ...]
    references: tuple[str, ...] = REFERENCES

    @property
    def conclusion(self) -> str:
        """What the test says, in one sentence."""
        ours, theirs = (figures.shorten(x, _NAME) for x in (self.candidate, self.baseline))
        n = len(self.benchmarks)
        over = f"these {n} benchmarks" if n > 1 else "this benchmark"
        good = "fast" if self.faster else "good"
        sure = "" if self.exact else f" (± {figures.significant(self.pvalue_error, 1)})"
        return (
            f"{ours} is {figures.significant(self.ratio, 4)} times as {good} as {theirs} over "
            f"{over}, by {self.mean} means; chance alone gives a ratio {_EXTREME[self.alternative]} "
            f"with p {figures.pvalue(self.pvalue)}{sure}, {self.alternative_words}"
        )

    @property
    def alternative_words(self) -> str:
        """Whether p is of one side or of both."""
        return "two-sided" if self.alternative == "two-sided" else "one-sided"

    def to_dict(self) -> dict[str, Any]:
        """Give the result as JSON types; `null` by its count and quantiles."""
        data = {field.name: getattr(self, field.name) for field in fields(self)}
        quantiles = np.quantile(self.null, list(_QUANTILES.values())).tolist()
        data["null"] = {
            "count": len(self.null),
            "minimum": float(self.null.min()),
            **dict(zip(_QUANTILES, quantiles, strict=True)),
            "maximum": float(self.null.max()),
        }
        for key in ("benchmarks", "runs_candidate", "runs_baseline", "cautions", "references"):
            data[key] = list(data[key])
        return data

    def __str__(self) -> str:
        low, high = np.quantile(self.null, [0.025, 0.975]).tolist()
        rows = [
            ["reassigned", self.unit_words],
            *([["", self.unit_counts]] if self.unit_counts else []),
            ["assignments", self._assignments()],
            [
                "p, one-sided",
                f"candidate better {figures.pvalue(self.pvalue_candidate).removeprefix('= ')}, "
                f"baseline better {figures.pvalue(self.pvalue_baseline).removeprefix('= ')}",
            ],
            [
                "smallest p",
                f"{figures.significant(self.smallest_pvalue)}, {self.alternative_words}",
            ],
            [
                "by chance",
                f"95 % of the ratios lie in {figures.significant(low, 4)} to "
                f"{figures.significant(high, 4)}",
            ],
        ]
        lines = [*as_text.wrapped(self.conclusion), "", *as_text.grid(rows, "<<")]
        return "\n".join([*lines, *as_text.numbered(self.cautions)])

    def _assignments(self) -> str:
        if self.exact:
            return f"all {self.resamples:,} (exact)"
        there = (
            f"{self.assignments:,}"
            if self.assignments is not None
            else f"about 10^{self.log10_assignments:.0f}"
        )
        return f"{self.resamples:,} drawn at random of {there}"


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
        sessions. None: "block" when block ids are known on both sides, otherwise "run".
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
    smallest = _smallest(done, lowest, highest)
    pvalue = _of(alternative, tails)
    most = _of(alternative, smallest)
    null = _ratios(done.logs)
    return RandomizationTest(
        candidate=a.name,
        baseline=b.name,
        ratio=ratio,
        pvalue=pvalue,
        pvalue_candidate=tails["candidate"],
        pvalue_baseline=tails["baseline"],
        pvalue_error=0.0 if done.exact else _error(pvalue, len(null), alternative),
        smallest_pvalue=most,
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
        faster=a.better == "higher" or figures.is_time(a.unit),
        benchmarks=a.benchmarks,
        runs_candidate=a.runs,
        runs_baseline=b.runs,
        cautions=(
            *(f"{matrix.name}: {text}" for matrix in (a, b) for text in matrix.cautions),
            *pair.cautions,
            *_cautions(pair, units, done, most, constant=highest - lowest <= TOLERANCE),
            *units.cautions,
        ),
    )


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


def _validate(mean: str, centre: str, alternative: str, resamples: int) -> None:
    check_means(mean, centre)
    if alternative not in get_args(Alternative):
        raise UsageError(
            f"alternative must be 'candidate', 'baseline' or 'two-sided', not {alternative!r}"
        )
    if not 1 <= resamples <= MOST_RESAMPLES:
        raise UsageError(
            f"resamples must lie between 1 and {MOST_RESAMPLES:,}, and is {resamples}",
            fix="10,000 is a good start",
        )


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


def _cautions(
    pair: Match, units: Units, done: Reassigned, smallest: float, *, constant: bool
) -> list[str]:
    said = []
    if constant:
        said.append(
            "every assignment gives the same ratio: these values cannot show a difference"
            if done.exact or len(done.logs) > 1
            else "one assignment says nothing: take more resamples"
        )
    elif smallest > _LEVEL:
        few = len(done.logs)
        remedy = (
            f"measure more {units.noun}s" if done.exact else f"take more than {few:,} resamples"
        )
        said.append(
            f"with {few:,} assignment{'s' * (few > 1)} no p below {figures.significant(smallest)} "
            f"is possible, so a level of {_LEVEL:g} cannot be reached: {remedy}"
        )
    if units.both and units.only_candidate + units.only_baseline:
        alone = units.only_candidate + units.only_baseline
        how = (
            "reassigned among themselves"
            if units.only_candidate and units.only_baseline
            else "left as they are"
        )
        said.append(
            f"{alone} of {len(units.sides)} {units.noun}s hold one variant only: they are {how}, "
            "and the others swap their labels within"
        )
    if done.partial:
        said.append(
            f"some {units.noun}s lack benchmarks: assignments that would leave a benchmark without "
            "runs on one side take no part"
        )
    if units.unit == "run" and len(pair.candidate.benchmarks) > 1:
        said.append(
            "reassigning each benchmark on its own has rejected 45 % of comparisons without any "
            "difference (public Go data, level 5 %, 100 benchmarks from 36 processes); whole "
            "rounds 5 %"
        )
    return said
