"""The Speedup-Test: whether the speedup of the mean, or of the median, is significant, by its two protocols.

Each p-value is computed once for a pair, for all pairs of equal sizes together. What a level decides is
then a matter of comparing these numbers with its risk, so that the search costs nothing.

References
----------
.. [1] S. Touati, J. Worms, S. Briais, "The Speedup Test", technical report inria-00443839v2, 2010,
   sections 3.2 (equations 1 to 3), 4.1 and 4.2 (figures 1 and 2), 6.2.2 and 6.2.3.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import wraps
from typing import Any, NamedTuple, ParamSpec, TypeVar, get_args

import numpy as np
from numpy.typing import ArrayLike

from ...data.matrix import PerformanceMatrix
from ...data.pair import Match, match
from ...errors import AnalysisError, SidesWarning, UsageError
from ...stats import classical
from ...stats.arguments import checks_arguments
from ...stats.samples import Array, Flags
from . import result
from .result import CENTRES, LARGE, Decision, SpeedupSuite, SpeedupTest, Step, Weighting

P_TOLERANCE = 1e-12  # a p of exactly the risk must be accepted whatever its last digits

_NO_LESS_MEAN = "the candidate's mean time is not below the baseline's"
_HYPOTHESES = {
    result.SHAPIRO: "the times are normally distributed",
    result.F_TEST: "both sides have the same variance",
    result.STUDENT: _NO_LESS_MEAN,
    result.WELCH: _NO_LESS_MEAN,
    result.KOLMOGOROV: "the times less their medians have the same distribution on both sides",
    result.WILCOXON: "the candidate's times do not tend to be below the baseline's",
}

_MORE, _APPROXIMATE = f"more than {LARGE} runs", "its risk is approximate"


def mean_path(tests: _Evidence, k: int, risk: float) -> tuple[list[Step], int | None]:
    """Give the steps of the protocol for the mean of the k-th pair (figure 1), and the runs it asks for."""
    steps: list[Step] = []
    needed: list[int] = []
    sides: tuple[result.Side, result.Side] = ("baseline", "candidate")
    for side, runs, normal in zip(sides, tests.sizes, tests.normal, strict=True):
        more, follows = _normality(runs, float(normal.pvalue[k]), risk)
        if more is not None:
            needed.append(more)
        steps.append(_step(result.SHAPIRO, normal, k, risk, follows, side))
    if needed:
        return steps, max(needed)
    pooled = bool(tests.f.pvalue[k] > risk + P_TOLERANCE)
    if math.isnan(tests.f.pvalue[k]):
        follows = "all times of a side are equal: Welch's t-test"
    elif pooled:
        follows = "variances taken as equal: Student's t-test"
    else:
        follows = "variances differ: Welch's t-test"
    fisher = _step(result.F_TEST, tests.f, k, risk, follows)
    if fisher.statistic is not None:
        n, m = tests.sizes
        low, high = classical.variance_ratio(fisher.statistic, (n - 1, m - 1), confidence=1 - risk)
        fisher = replace(fisher, low=low, high=high)
    steps.append(fisher)
    name, last = (result.STUDENT, tests.student) if pooled else (result.WELCH, tests.welch)
    if math.isnan(last.pvalue[k]):
        follows = "the times do not differ by more than rounding: cannot conclude"
    else:
        follows = _verdict("mean", last, k, risk)
    return [*steps, _step(name, last, k, risk, follows)], None


def median_path(tests: _Evidence, k: int, risk: float) -> tuple[list[Step], int | None]:
    """Give the steps of the protocol for the median (figure 2), and the runs that it asks for."""
    one_shape = tests.ks.pvalue[k] > risk + P_TOLERANCE
    small = min(tests.sizes) <= LARGE
    if one_shape:
        follows = "the two may differ by a shift only"
    elif small:
        follows = f"the shapes differ: cannot conclude; {_MORE} are needed on both sides"
    else:
        follows = f"the shapes differ, but with {_MORE} the rank-sum test is used; {_APPROXIMATE}"
    first = _step(result.KOLMOGOROV, tests.ks, k, risk, follows)
    if small and not one_shape:
        return [first], LARGE + 1
    follows = _verdict("median", tests.rank_sum, k, risk)
    return [first, _step(result.WILCOXON, tests.rank_sum, k, risk, follows)], None


def _normality(runs: int, p: float, risk: float) -> tuple[int | None, str]:
    """Give the runs that are needed for want of normality, and the consequence in words."""
    if runs > LARGE:
        if p > risk + P_TOLERANCE:
            return None, f"not required with {_MORE}, and no departure is seen"
        if p <= risk + P_TOLERANCE:
            return None, f"not required with {_MORE}: the t-test is used; {_APPROXIMATE}"
        if runs > classical.MOST:
            return None, f"not required with {_MORE}; no law is known beyond {classical.MOST}"
        return None, f"all values are equal; not required with {_MORE}"
    if runs < classical.LEAST:
        return classical.LEAST, f"it needs {classical.LEAST} runs, so cannot conclude"
    if math.isnan(p):
        return LARGE + 1, f"all values are equal, so cannot conclude; {_MORE} are needed"
    if p > risk + P_TOLERANCE:
        return None, "taken as normal"
    return LARGE + 1, f"not normal: cannot conclude; {_MORE} are needed"


def _verdict(centre: str, last: classical.PairTests, k: int, risk: float) -> str:
    word = "is" if last.pvalue[k] <= risk + P_TOLERANCE else "is not"
    return f"the speedup of the {centre} {word} significant"


def _step(  # noqa: PLR0917 - what is read at a step, in the order of a sentence
    test: str,
    found: classical.PairTests,
    k: int,
    risk: float,
    consequence: str,
    sample: result.Side | None = None,
) -> Step:
    p = float(found.pvalue[k])
    known = not math.isnan(p)
    rejected: result.Outcome = "rejected" if p <= risk + P_TOLERANCE else "not rejected"
    return Step(
        test=test,
        hypothesis=_HYPOTHESES[test],
        sample=sample,
        statistic=float(found.statistic[k]) if known else None,
        pvalue=p if known else None,
        risk=risk,
        outcome=rejected if known else "not tested",
        consequence=consequence,
    )


# The levels of the search in hundredths, the highest first: above 0.50, in steps of 0.01.
LEVELS = tuple(range(99, 50, -1))


def risk_of(confidence: float) -> float:
    """Give 1 - confidence as written: 0.05 for 0.95, not 0.050000000000000044."""
    return float(1 - Decimal(repr(float(confidence))))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Evidence:
    """Every statistic of a batch of pairs; rows are pairs."""

    sizes: tuple[int, int]
    normal: tuple[classical.PairTests, classical.PairTests]
    f: classical.PairTests
    student: classical.PairTests
    welch: classical.PairTests
    ks: classical.PairTests
    rank_sum: classical.PairTests

    def mean_at(self, risk: Array) -> tuple[Flags, Array]:
        """Tell where the checks hold at a risk, and give the p of the t-test it leads to."""
        holds = np.ones(np.broadcast_shapes(risk.shape, self.f.pvalue.shape), dtype=np.bool_)
        for size, normal in zip(self.sizes, self.normal, strict=True):
            if size <= LARGE:
                holds &= normal.pvalue > risk + P_TOLERANCE
        pooled = self.f.pvalue > risk + P_TOLERANCE
        pvalue = np.where(pooled, self.student.pvalue, self.welch.pvalue)
        return holds & ~np.isnan(pvalue), pvalue

    def median_at(self, risk: Array) -> tuple[Flags, Array]:
        """Tell where the checks hold at a risk, and give the p of the rank-sum test."""
        shape = np.broadcast_shapes(risk.shape, self.ks.pvalue.shape)
        holds = np.ones(shape, dtype=np.bool_)
        if min(self.sizes) <= LARGE:
            holds &= self.ks.pvalue > risk + P_TOLERANCE
        return holds, np.broadcast_to(self.rank_sum.pvalue, shape)


def decide(
    x: Array, y: Array, confidences: Sequence[float | None], *, compatible: bool
) -> list[tuple[Decision, Decision]]:
    """Judge pairs of samples of equal sizes, by mean and by median."""
    evidence, swapped = _evidence(x, y)
    found: list[list[Decision]] = []
    for path, *judges in (
        (mean_path, evidence.mean_at, swapped.mean_at),
        (median_path, evidence.median_at, swapped.median_at),
    ):
        ours, theirs = (_decided(one, confidences, compatible=compatible) for one in judges)
        ways = (path(evidence, k, one.risk) for k, one in enumerate(ours))
        found.append(list(map(_decision, ways, ours, theirs, confidences)))
    means, medians = found
    return list(zip(means, medians, strict=True))


def _evidence(x: Array, y: Array) -> list[_Evidence]:
    """Test pairs, then with the sides swapped: only the one-sided tests look at their order."""
    unknown = np.full(len(x), np.nan)
    missing = classical.PairTests(unknown, unknown)

    def normal(rows: Array) -> classical.PairTests:
        known = classical.LEAST <= rows.shape[1] <= classical.MOST
        return classical.shapiro_wilk(rows) if known else missing

    few = min(x.shape[1], y.shape[1]) < 2  # no variance
    f, ks = missing if few else classical.f_test(x, y), classical.ks_centred(x, y)
    sides = (x, normal(x)), (y, normal(y))
    return [
        _Evidence(
            sizes=(a.shape[1], b.shape[1]),
            normal=(normal_a, normal_b),
            f=f,
            student=missing if few else classical.student(a, b),
            welch=missing if few else classical.welch(a, b),
            ks=ks,
            rank_sum=classical.rank_sum(a, b),
        )
        for (a, normal_a), (b, normal_b) in (sides, sides[::-1])
    ]


_Judge = Callable[[Array], tuple[Flags, Array]]


class _Found(NamedTuple):
    """What is decided of one pair: the level, the risk that the steps are taken at, and p."""

    level: float | None
    risk: float
    pvalue: float | None


def _decided(
    judge: _Judge, confidences: Sequence[float | None], *, compatible: bool
) -> list[_Found]:
    """Decide at the levels asked for, and search where none is."""
    risks = np.array([0.5 if c is None else risk_of(c) for c in confidences])
    fixed = zip(risks.tolist(), *(column.tolist() for column in judge(risks)), strict=True)
    sought: list[_Found] = []
    if None in confidences:
        sought = (_bisect if compatible else _scan)(judge, len(confidences))
    return [
        sought[k] if confidence is None else _Found(confidence, risk, p if holds else None)
        for k, (confidence, (risk, holds, p)) in enumerate(zip(confidences, fixed, strict=True))
    ]


def _decision(
    way: tuple[list[Step], int | None], ours: _Found, theirs: _Found, asked: float | None
) -> Decision:
    """Put together the way to a decision, what it is, and what it would be with the sides swapped."""
    searched = asked is None

    def significant(one: _Found) -> bool | None:
        if searched:
            return one.level is not None
        return None if one.pvalue is None else one.pvalue <= one.risk + P_TOLERANCE

    return Decision(
        significant=significant(ours),
        confidence=ours.level,
        pvalue=ours.pvalue,
        steps=tuple(way[0]),
        needed_runs=way[1],
        searched=searched,
        swapped=result.Swapped(
            significant=significant(theirs), confidence=theirs.level, pvalue=theirs.pvalue
        ),
    )


def _scan(judge: _Judge, count: int) -> list[_Found]:
    """Go down from 0.99 to 0.51 and stop at the first level at which everything holds."""
    risks = np.array([(100 - level) / 100 for level in LEVELS])
    holds, pvalue = judge(risks[:, None])
    good = holds & (pvalue <= risks[:, None] + P_TOLERANCE)
    best = good.argmax(axis=0)
    found, some = good.any(axis=0), holds.any(axis=0)
    # without a level, p is given at the lowest one whose checks hold
    at = np.where(found, best, len(LEVELS) - 1 - holds[::-1].argmax(axis=0))
    text = pvalue[at, np.arange(count)]
    columns = (column.tolist() for column in (best, found, text, some))
    return [
        _Found(
            LEVELS[k] / 100 if done else None,
            float(risks[k if done else -1]),
            p if known else None,
        )
        for k, done, p, known in zip(*columns, strict=True)
    ]


def _bisect(judge: _Judge, count: int) -> list[_Found]:
    """Halve [0.5, 1] eight times and cut the lower end to two decimals."""
    low, high = np.full(count, 0.5), np.ones(count)
    for _ in range(8):  # of [0.5, 1] by the bisection that prints the report's 0.83
        middle = (low + high) / 2
        holds, pvalue = judge(1 - middle)
        good = holds & (pvalue <= 1 - middle + P_TOLERANCE)
        low, high = np.where(good, middle, low), np.where(good, high, middle)
    hundredths = np.floor(100 * low).astype(np.int64)
    found = hundredths >= LEVELS[-1]
    without = _scan(judge, count)
    _, pvalue = judge(1 - low)
    return [
        _Found(whole / 100, risk, p) if done else _Found(None, other.risk, other.pvalue)
        for whole, done, risk, p, other in zip(
            *(column.tolist() for column in (hundredths, found, 1 - low, pvalue)),
            without,
            strict=True,
        )
    ]


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
        If an argument is out of its range, or a mapping lacks a benchmark or has another one.
    AnalysisError
        If the two have no benchmark in common, or differ in direction or unit; if times, or times and
        weights, lie so far apart that no ratio can be given.
    """
    both = match(candidate, baseline)
    known = {*candidate.benchmarks, *baseline.benchmarks}
    for what, given in (("weight", weights), ("confidence", confidence)):
        if isinstance(given, Mapping) and (extra := sorted({*given} - known)):
            fix = f"known: {', '.join(sorted(known)[:6])}"
            raise UsageError(f"there is no benchmark {extra[0]!r} for a {what}", fix=fix)
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
        for k, name, before, after, (mean, median), level in each:
            figures: dict[str, Any] = {}
            for centre, old, new in zip(CENTRES, before, after, strict=True):
                word = result.WORDS[centre]
                figures |= {f"{word}_baseline": old, f"{word}_candidate": new}
                figures[f"speedup_{centre}"] = old / new
            results[k] = SpeedupTest(
                name=name,
                runs_baseline=x.shape[1],
                runs_candidate=y.shape[1],
                **figures,
                mean=mean,
                median=median,
                required=level,
                cautions=result.benchmark_cautions(mean, median),
            )
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
