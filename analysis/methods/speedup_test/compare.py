"""The Speedup-Test: whether the speedup of the mean, or of the median, is significant.

References
----------
.. [1] S. Touati, J. Worms, S. Briais, "The Speedup Test", technical report inria-00443839v2, 2010.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...data import Match, PerformanceMatrix, match
from ...errors import AnalysisError, UsageError
from .batch import SamplePair, judge
from .cautions import collective, figures, general, sessions
from .proportion import proportion
from .result import Decision, SpeedupSuite, SpeedupTest, Step
from .suite import Weights, suite_figures

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["Decision", "SpeedupSuite", "SpeedupTest", "Step", "speedup_test", "speedup_test_suite"]

Confidence = float | Mapping[str, float | None] | None
_PROPORTION = 0.95  # section 6.2.4: where no confidence is asked for


def speedup_test(
    baseline_values: ArrayLike,
    candidate_values: ArrayLike,
    *,
    confidence: float | None = 0.95,
    compatible: bool = False,
) -> SpeedupTest:
    """Test the speedup of the mean and of the median time on one benchmark (sections 4.1 and 4.2).

    For the mean: Shapiro's and Wilk's test on each sample of at most 30 runs, the F test, then
    Student's or Welch's t. For the median: the Kolmogorov-Smirnov test on the samples less their
    medians (which must pass unless both have more than 30 runs), then the rank-sum test. All at one
    risk, 1 - `confidence`.

    H0 for the mean: mean(baseline) <= mean(candidate). H0 for the median: the baseline's times do not
    tend to be larger. Both one-sided: "significant" always means that the candidate is faster.

    Parameters
    ----------
    baseline_values, candidate_values : array_like
        Positive times of independent runs, in one unit; lower is better. One run or more each.
    confidence : float or None
        The level asked for, between 0 and 1. None searches for the highest level above 0.50 in steps
        of 0.01 at which a speedup can be declared (section 6.2.2): see the cautions.
    compatible : bool
        Search by the bisection that prints the report's own levels (0.83 where the scan finds 0.84).

    Returns
    -------
    SpeedupTest

    Raises
    ------
    UsageError
        If the confidence does not lie between 0 and 1.
    AnalysisError
        If a value is not a positive finite number, or two lie more than a factor of 1e300 apart.
    InsufficientDataError
        If a side has no runs.
    """
    _check_confidence(confidence)
    x, y = (
        PerformanceMatrix.from_samples(side, {"the runs": values}, better="lower").samples[0]
        for side, values in (("baseline", baseline_values), ("candidate", candidate_values))
    )
    pair = SamplePair(name=None, baseline=x, candidate=y, confidence=confidence)
    (test,) = judge([pair], compatible=compatible)
    cautions = (*test.cautions, *general([test]), *sessions())
    return replace(test, cautions=cautions)


def speedup_test_suite(
    baseline: PerformanceMatrix,
    candidate: PerformanceMatrix,
    *,
    confidence: Confidence = 0.95,
    weights: Weights = "equal",
    precision: float = 0.05,
    proportion_confidence: float | None = None,
    compatible: bool = False,
) -> SpeedupSuite:
    """Test every benchmark of a suite, and give the figures of the suite (sections 3.2, 5 and 6).

    Parameters
    ----------
    baseline, candidate : PerformanceMatrix
        The runs of both variants. Values of which more is better (rates) are judged by their
        reciprocals, the times of one unit of work; a caution says so.
    confidence : float, None or mapping
        As in `speedup_test`; a mapping holds it for each benchmark.
    weights : {"equal", "fraction"} or mapping
        Of the overall gain and speedup: equal, by the baseline's time, or a positive coefficient
        for each benchmark.
    precision : float
        The half-width of the interval for which the number of benchmarks is computed.
    proportion_confidence : float, optional
        Of the proportion's interval; by default `confidence` when it is one number, else 0.95
        (section 6.2.4).
    compatible : bool
        As in `speedup_test`.

    Returns
    -------
    SpeedupSuite

    Raises
    ------
    UsageError
        If an argument is out of its range, or a mapping lacks a benchmark.
    AnalysisError
        If the two have no benchmark in common, or differ in direction or unit; if times, or times and
        weights, lie so far apart that no ratio can be given.
    """
    both = match(candidate, baseline)
    tests = judge(_pairs(both, confidence), compatible=compatible)
    if proportion_confidence is None:
        proportion_confidence = _PROPORTION
        if confidence is not None and not isinstance(confidence, Mapping):
            proportion_confidence = float(confidence)
    shares = [
        proportion(
            sum(decision.significant is True for decision in decisions),
            len(tests),
            confidence=proportion_confidence,
            precision=precision,
        )
        for decisions in ([t.mean for t in tests], [t.median for t in tests])
    ]
    sums = suite_figures(tests, both.candidate.benchmarks, weights)
    return SpeedupSuite(
        baseline=both.baseline.name,
        candidate=both.candidate.name,
        benchmarks=tests,
        weighting=sums.weighting,
        coefficients=sums.coefficients,
        weights=sums.weights,
        gain=sums.gain,
        speedup=sums.speedup,
        gain_accelerated=sums.gain_accelerated,
        speedup_accelerated=sums.speedup_accelerated,
        proportion_mean=shares[0],
        proportion_median=shares[1],
        cautions=(
            *_about_data(both),
            *collective(tests),
            *general(tests),
            *sessions(both.baseline, both.candidate),
            *figures(sums.weighting),
        ),
    )


def _pairs(both: Match, confidence: Confidence) -> list[SamplePair]:
    names = both.candidate.benchmarks
    levels = _levels(confidence, names)
    inverted = both.candidate.better == "higher"
    return [
        SamplePair(
            name=name,
            baseline=_reciprocals(x, name) if inverted else x,
            candidate=_reciprocals(y, name) if inverted else y,
            confidence=levels[name],
        )
        for name, x, y in zip(names, both.baseline.samples, both.candidate.samples, strict=True)
    ]


def _reciprocals(rates: NDArray[np.float64], name: str) -> NDArray[np.float64]:
    with np.errstate(over="ignore"):
        times = 1 / rates
    if not np.isfinite(times).all():
        raise AnalysisError(
            f"{float(rates.min()):.3g} is too small a rate: its reciprocal is no number",
            name,
            "give the rates in a smaller unit",
        )
    return times


def _about_data(both: Match) -> list[str]:
    """Say what became of the data before any test."""
    cautions = []
    if both.candidate.better == "higher":
        cautions.append(
            f"more is better here ({both.candidate.unit}), so the reciprocals were judged as times: the "
            "mean is the harmonic mean of the values"
        )
    known = dict.fromkeys((*both.baseline.cautions, *both.candidate.cautions))
    return [*cautions, *both.cautions, *known]


def _levels(confidence: Confidence, names: tuple[str, ...]) -> dict[str, float | None]:
    if not isinstance(confidence, Mapping):
        _check_confidence(confidence)
        return dict.fromkeys(names, confidence)
    missing = [name for name in names if name not in confidence]
    if missing:
        raise UsageError(
            f"there is no confidence for {', '.join(map(repr, missing[:6]))}",
            fix="give a number between 0 and 1, or None to search, for each benchmark",
        )
    for name in names:
        _check_confidence(confidence[name], name)
    return {name: confidence[name] for name in names}


def _check_confidence(confidence: float | None, where: str | None = None) -> None:
    if confidence is not None and not 0 < confidence < 1:
        raise UsageError(
            f"confidence must lie between 0 and 1, not {confidence!r}",
            where,
            "such as 0.95; None searches for the highest",
        )
