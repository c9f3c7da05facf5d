"""The Speedup-Test: whether the speedup of the mean, or of the median, is significant.

Pairs of samples of equal sizes are judged together.

References
----------
.. [1] S. Touati, J. Worms, S. Briais, "The Speedup Test", technical report inria-00443839v2, 2010,
   sections 3.2 (equations 1 to 3) and 6.2.3.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import wraps
from typing import Any, ParamSpec, TypeVar, get_args

import numpy as np
from numpy.typing import ArrayLike

from ...data.matrix import PerformanceMatrix
from ...data.pair import Match, match
from ...errors import AnalysisError, SidesWarning, UsageError
from ...stats.arguments import checks_arguments
from ...stats.samples import Array
from . import result
from .protocol import decide
from .result import CENTRES, Decision, SpeedupSuite, SpeedupTest, Weighting

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")
_warned: list[str] = []  # functions, once a process


def sides_by_name(function: Callable[_Arguments, _Result]) -> Callable[_Arguments, _Result]:
    """Warn once a process when the sides are given by their places."""

    @wraps(function)
    def checked(*args: _Arguments.args, **named: _Arguments.kwargs) -> _Result:
        if args and function.__name__ not in _warned:
            _warned.append(function.__name__)
            warnings.warn(
                f"{function.__name__} takes the baseline first, every other method the candidate; "
                f"write {function.__name__}(baseline=old, candidate=new)",
                SidesWarning,
                stacklevel=2,
            )
        return function(*args, **named)

    return checked


Weights = Weighting | Mapping[str, float]


_FIGURES = ["coefficients", "weights", "gain", "speedup", "gain_accelerated", "speedup_accelerated"]


def suite_figures(
    tests: Sequence[SpeedupTest], names: Sequence[str], weights: Weights
) -> dict[str, Any]:
    """Sum up the benchmarks: the fields of `SpeedupSuite` that are mappings, and `weighting`."""
    weighting, given = _coefficients(names, weights)
    done: dict[str, dict[result.Centre, Any]] = {name: {} for name in _FIGURES}
    for centre in CENTRES:
        before, after = _scaled(*np.array([test.times(centre) for test in tests]).T)
        coefficients = before / before.sum() if weighting == "fraction" else np.array(given)
        (share,) = _scaled(coefficients)
        share = share / share.sum()
        old, new = share * before, share * after
        # no test belongs to the minimum; section 6.3.2 calls a program accelerated when the speedup
        # of its mean or of its median is significant
        chosen = np.array(
            [t.accelerated if centre == "min" else t.of(centre).significant is True for t in tests]
        )
        values = (
            dict(zip(names, coefficients.tolist(), strict=True)),
            dict(zip(names, share.tolist(), strict=True)),
            *_overall(old, new),
            *(_overall(old[chosen], new[chosen]) if chosen.any() else (None, None)),
        )
        for name, value in zip(_FIGURES, values, strict=True):
            done[name][centre] = value
    return {"weighting": weighting, **done}


def _scaled(*sides: Array) -> list[Array]:
    """Scale all sides by one power of two, which is exact, so that no sum of them overflows."""
    exponent = -np.frexp(max(float(side.max()) for side in sides))[1]
    return [np.ldexp(side, exponent) for side in sides]


def _overall(old: Array, new: Array) -> tuple[float, float]:
    """Give gain (equation 2) and speedup (equation 3) of weighted times."""
    with np.errstate(all="ignore"):
        gain, speedup = 1 - new.sum() / old.sum(), old.sum() / new.sum()
    if not (np.isfinite(gain) and np.isfinite(speedup) and speedup > 0):
        what = "times and weights of these benchmarks lie too far apart for an overall gain and"
        fix = "look for a wrong value, for different units, and for a weight near zero"
        raise AnalysisError(f"{what} speedup", fix=fix)
    return float(gain), float(speedup)


def _coefficients(names: Sequence[str], weights: Weights) -> tuple[Weighting, list[float]]:
    if isinstance(weights, str):
        if weights not in ("equal", "fraction"):
            what = f"weights must be 'equal', 'fraction' or a mapping, not {weights!r}"
            known = f"known weightings: {', '.join(get_args(Weighting))}; 'custom' is a mapping of"
            raise UsageError(what, fix=f"{known} benchmarks to coefficients")
        return weights, [1.0] * len(names)
    _check_each("weight", names, weights, "give a positive number for each benchmark")
    given = [float(weights[name]) for name in names]
    for name, value in zip(names, given, strict=True):
        if not 0 < value < float("inf"):
            fix = "weights are positive finite numbers"
            raise UsageError(f"the weight of {name!r} is {value!r}", fix=fix)
    return "custom", given


Confidence = float | Mapping[str, float | None] | None
_APART = 1e300  # a factor between two times beyond which no ratio or scale can be trusted to exist


@checks_arguments
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
    (test,) = _judge([(None, x, y, confidence)], compatible=compatible)
    return replace(test, cautions=(*test.cautions, *result.general_cautions([test])))


@sides_by_name
@checks_arguments
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

    Write ``speedup_test_suite(baseline=old, candidate=new)``: by their places the baseline comes
    first, unlike in every other method, and a `SidesWarning` says so once a process.

    Parameters
    ----------
    baseline, candidate : PerformanceMatrix
        The runs of both variants. Rates, where more is better, are judged by their
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
    tests = _judge(_pairs(both, confidence), compatible=compatible)
    if proportion_confidence is None:
        proportion_confidence = 0.95  # section 6.2.4: where no confidence is asked for
        if confidence is not None and not isinstance(confidence, Mapping):
            proportion_confidence = float(confidence)
    shares = [
        result.proportion(
            sum(test.of(centre).significant is True for test in tests),
            len(tests),
            confidence=proportion_confidence,
            precision=precision,
        )
        for centre in result.TESTED
    ]
    sums = suite_figures(tests, both.candidate.benchmarks, weights)
    return SpeedupSuite(
        baseline=both.baseline.name,
        candidate=both.candidate.name,
        benchmarks=tests,
        **sums,
        proportion_mean=shares[0],
        proportion_median=shares[1],
        cautions=(
            *result.data_cautions(both),
            *result.suite_cautions(tests),
            *result.general_cautions(tests, (both.baseline, both.candidate), sums["weighting"]),
        ),
    )


# a benchmark's name, the times of both sides, baseline first, and the level asked for (None: search)
_SamplePair = tuple[str | None, Array, Array, float | None]


def _pairs(both: Match, confidence: Confidence) -> list[_SamplePair]:
    names = both.candidate.benchmarks
    levels = _levels(confidence, names)
    times = _reciprocals if both.candidate.better == "higher" else lambda values, _name: values
    return [
        (name, times(x, name), times(y, name), levels[name])
        for name, x, y in zip(names, both.baseline.samples, both.candidate.samples, strict=True)
    ]


def _reciprocals(rates: Array, name: str) -> Array:
    with np.errstate(over="ignore"):
        times = 1 / rates
    if not np.isfinite(times).all():
        what = f"{float(rates.min()):.3g} is too small a rate: its reciprocal is no number"
        raise AnalysisError(what, name, "give the rates in a smaller unit")
    return times


def _levels(confidence: Confidence, names: tuple[str, ...]) -> dict[str, float | None]:
    if not isinstance(confidence, Mapping):
        _check_confidence(confidence)
        return dict.fromkeys(names, confidence)
    fix = "give a number between 0 and 1, or None to search, for each benchmark"
    _check_each("confidence", names, confidence, fix)
    for name in names:
        _check_confidence(confidence[name], name)
    return {name: confidence[name] for name in names}


def _check_each(what: str, names: Sequence[str], given: Mapping[str, Any], fix: str) -> None:
    if missing := [name for name in names if name not in given]:
        raise UsageError(f"there is no {what} for {', '.join(map(repr, missing[:6]))}", fix=fix)


def _check_confidence(confidence: float | None, where: str | None = None) -> None:
    if confidence is not None and not 0 < confidence < 1:
        what = f"confidence must lie between 0 and 1, not {confidence!r}"
        raise UsageError(what, where, "such as 0.95; None searches for the highest")


# ---- pairs in, results out


def _judge(pairs: Sequence[_SamplePair], *, compatible: bool) -> tuple[SpeedupTest, ...]:
    groups: dict[tuple[int, int], list[int]] = {}
    for k, (_, before, after, _) in enumerate(pairs):
        groups.setdefault((before.size, after.size), []).append(k)
    results: dict[int, SpeedupTest] = {}
    for where in groups.values():
        names, *sides, levels = zip(*(pairs[k] for k in where), strict=True)
        x, y = map(np.stack, sides)
        _check_range(names, np.concatenate([x, y], axis=1))
        decided = decide(x, y, levels, compatible=compatible)
        each = zip(where, names, _centres(x), _centres(y), decided, levels, strict=True)
        sizes = {"runs_baseline": x.shape[1], "runs_candidate": y.shape[1]}
        results |= {k: _result(sizes, *one) for k, *one in each}
    return tuple(results[k] for k in range(len(pairs)))


def _check_range(names: Sequence[str | None], rows: Array) -> None:
    apart = rows.max(axis=1) * (1 / _APART) > rows.min(axis=1)
    if apart.any():
        first = int(apart.argmax())
        low, high = float(rows[first].min()), float(rows[first].max())
        what = f"its times lie too far apart to be compared: {low:.3g} and {high:.3g}"
        fix = "look for a wrong value, or for different units of the two sides"
        raise AnalysisError(what, names[first], fix)


def _centres(rows: Array) -> list[tuple[float, ...]]:
    """Give minimum, mean and median of each row, in a scale that cannot overflow."""
    exponent = np.frexp(rows.max(axis=1))[1]
    scaled = np.ldexp(rows, -exponent[:, None])
    columns = (scaled.min(axis=1), scaled.mean(axis=1), np.median(scaled, axis=1))
    return list(zip(*(np.ldexp(column, exponent).tolist() for column in columns), strict=True))


def _result(  # noqa: PLR0917 - the columns of `_judge`
    sizes: Mapping[str, int],
    name: str | None,
    before: Sequence[float],
    after: Sequence[float],
    decided: tuple[Decision, Decision],
    level: float | None,
) -> SpeedupTest:
    figures: dict[str, Any] = {}
    for centre, old, new in zip(CENTRES, before, after, strict=True):
        word = result.WORDS[centre]
        figures |= {f"{word}_baseline": old, f"{word}_candidate": new}
        figures[f"speedup_{centre}"] = old / new
    mean, median = decided
    said = result.benchmark_cautions(mean, median)
    known = {**sizes, **figures, "mean": mean, "median": median}
    return SpeedupTest(name=name, **known, required=level, cautions=said)
