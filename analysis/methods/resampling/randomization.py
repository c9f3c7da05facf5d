"""The randomization test of the ratio of two suite means.

[1]_, section 3: pool the runs of both systems, reassign them at random, compute the ratio of means
over the suite each time, and see where the observed ratio lies. The choice of what is reassigned is
not in the paper and decides whether the test holds its level: see `analysis.methods.resampling.assignments`.

References
----------
.. [1] S. Irving, B. Li, S. Chen, L. Peng, W. Zhang, L. Duan, "Computer comparisons in the presence
   of performance variation", Frontiers of Computer Science, 2018, section 3.
.. [2] B. Phipson, G. K. Smyth, "Permutation p-values should never be zero", Statistical
   Applications in Genetics and Molecular Biology 9(1), 2010.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any, ClassVar, Literal, get_args

import numpy as np

from ...data.matrix import PerformanceMatrix
from ...data.pair import Centre, Mean, check_means
from ...errors import AnalysisError
from ...pages import number_format as figures
from ...pages.model import Caution, Page, Table, Value, cautions_of, facts, page
from ...pages.result import Result
from ...stats.arguments import checks_arguments, chosen, counted, stream
from ...stats.samples import Array, read_only
from ...stats.workers import Budget
from ...words import apart
from . import assignments as what_moves
from .assignments import ResamplingQuestion, Unit, Units

Alternative = Literal["candidate", "baseline", "two-sided"]

RANDOMIZATION_REFERENCES = (
    "S. Irving et al., Computer comparisons in the presence of performance variation, Frontiers of "
    "Computer Science 2018, section 3",
    "B. Phipson, G. K. Smyth, Permutation p-values should never be zero, Statistical Applications "
    "in Genetics and Molecular Biology 9(1), 2010",
)

_QUANTILES = {"q025": 0.025, "q25": 0.25, "median": 0.5, "q75": 0.75, "q975": 0.975}
_EXTREME = {"candidate": "so high", "baseline": "so low", "two-sided": "so far from 1"}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RandomizationTest(Result):
    """What the randomization test says about a candidate against a baseline.

    `ratio`: Of the suite means; above 1 the candidate is better. `pvalue`: Of `alternative`. (k +
    1) / (N + 1) for N random assignments, k / N for all N of them, where k of them are at least as
    extreme as the observed one; two-sided twice the smaller tail, at most 1. `pvalue_candidate`,
    `pvalue_baseline`: Of the two one-sided alternatives. `pvalue_error`: Standard error of `pvalue`
    from drawing at random; 0 when `exact`. `smallest_pvalue`: The smallest that this number of assignments
    can give. `null`: The ratio, oriented as `ratio`, under each of `resamples` assignments,
    read-only; JSON gives its quantiles. `exact`: Whether it holds every assignment. `assignments`:
    How many there are; None when there are more than 2^53; `log10_assignments` their decimal
    logarithm. `unit`, `unit_words`, `unit_counts`: What was reassigned together: "run", "block" or
    "session"; in words; and how many of them hold which variants (empty for runs).
    `runs_candidate`, `runs_baseline`: The runs of each benchmark.
    """

    method: ClassVar[str] = "randomization-test"
    unlisted: ClassVar[frozenset[str]] = frozenset({"null", "timed"})
    derived: ClassVar[tuple[str, ...]] = ("pvalue_of",)

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
    null: Array
    timed: bool
    benchmarks: tuple[str, ...]
    runs_candidate: tuple[int, ...]
    runs_baseline: tuple[int, ...]
    references: tuple[str, ...] = RANDOMIZATION_REFERENCES

    @property
    def conclusion(self) -> str:
        """What the test says, in one sentence."""
        ours, theirs = apart((self.candidate, self.baseline), 32)
        n = len(self.benchmarks)
        over = f"these {n} benchmarks" if n > 1 else "this benchmark"
        good = "fast" if self.timed else "good"
        sure = "" if self.exact else f" (± {figures.significant(self.pvalue_error, 1)})"
        p = f"p {figures.pvalue(self.pvalue)}{sure}, {self.alternative_words}"
        return (
            f"{ours} is {figures.significant(self.ratio, 4)} times as {good} as {theirs} over {over}, "
            f"by {self.mean} means; chance alone gives a ratio {_EXTREME[self.alternative]} with {p}"
        )

    @property
    def pvalue_of(self) -> str:
        """What `pvalue` belongs to."""
        return "two-sided" if self.alternative == "two-sided" else f"{self.alternative} better"

    @property
    def alternative_words(self) -> str:
        """Whether p is of one side or of both."""
        return "two-sided" if self.alternative == "two-sided" else "one-sided"

    def details(self) -> Table:
        """Tell what was reassigned, how often, and what chance gives."""
        both = (("candidate", self.pvalue_candidate), ("baseline", self.pvalue_baseline))
        one_sided = (f"{side} better {figures.pvalue(p).removeprefix('= ')}" for side, p in both)
        smallest = f"{figures.significant(self.smallest_pvalue)}, {self.alternative_words}"
        ends = np.quantile(self.null, [0.025, 0.975]).tolist()
        low, high = (figures.significant(end, 4) for end in ends)
        drawn = f"all {self.resamples:,} (exact)"
        if not self.exact:
            there = f"about 10^{self.log10_assignments:.0f}"
            there = there if self.assignments is None else f"{self.assignments:,}"
            drawn = f"{self.resamples:,} drawn at random of {there}"
        return facts(
            "test",
            ("reassigned", self.unit_words),
            ("", self.unit_counts),
            ("assignments", Value(drawn, self.resamples)),
            ("p, one-sided", ", ".join(one_sided)),
            ("smallest p", Value(smallest, self.smallest_pvalue)),
            ("by chance", f"95 % of the ratios lie in {low} to {high}"),
        )

    def body(self) -> dict[str, Any]:
        """Give the fields, and `null` by its count and quantiles."""
        quantiles = np.quantile(self.null, list(_QUANTILES.values())).tolist()
        null = {
            "count": len(self.null),
            "minimum": float(self.null.min()),
            **dict(zip(_QUANTILES, quantiles, strict=True)),
            "maximum": float(self.null.max()),
        }
        return {**Result.body(self), "null": null}

    def screen(self) -> Page:
        """Set the conclusion and its details."""
        title = f"randomization test: {self.candidate} against {self.baseline}"
        return page(self, title, self.conclusion, self.details())


_APART = "look for values that are not measurements: they lie too far apart"
_TABLE = 5000  # splits of one benchmark that are listed once and then looked up
_COUNTABLE = 2**53  # larger numbers of assignments are given by their logarithm
BUDGET = Budget(5_000_000)  # runs x assignments


def loops(runs: what_moves.PooledRuns, assignments: int) -> ModuleType:
    """Give the module to go through `assignments` with: that of numpy alone, or the compiled one."""
    if BUDGET.allows(runs.values.size * assignments):
        return what_moves
    from . import kernel

    return kernel


@dataclass(frozen=True, slots=True, eq=False)
class Reassigned:
    """Logarithms of candidate mean over baseline mean, of the values as stored.

    `observed` is the one of the labels as they are; `logs` has one for each assignment: all of them
    when `exact`, otherwise random ones. `assignments` is how many there are, None for more than
    2^53 (when units lack benchmarks and the assignments were drawn, at most their number), and
    `log10_assignments` their decimal logarithm. `partial` says that some would leave a benchmark
    without runs on one side, and do not take part.
    """

    observed: float
    logs: Array
    exact: bool
    assignments: int | None
    log10_assignments: float
    partial: bool


@dataclass(frozen=True, slots=True, eq=False)
class _Suite:
    """Both sides' values, ready to be summed: see `_suite`."""

    ours: list[Array]
    theirs: list[Array]
    names: tuple[str, ...]
    mean: Mean
    median: bool
    outer: int

    def logs(self, a: Array, b: Array) -> Array:
        """Turn both sides' sums over benchmarks into logarithms of ratios, in place."""
        with np.errstate(all="ignore"):
            if self.mean == "geometric":
                a -= b
                a /= len(self.names)
            else:
                np.divide(a, b, out=a) if self.mean == "arithmetic" else np.divide(b, a, out=a)
                np.log(a, out=a)
        if not np.isfinite(a).all():
            what = f"ratios of {self.mean} means leave the range of numbers"
            raise AnalysisError(what, fix=_APART)
        return a


def _suite(question: ResamplingQuestion) -> _Suite:
    a, b = question.pair.candidate, question.pair.baseline
    mean, centre = question.mean, question.centre
    pooled = [np.concatenate(pair) for pair in zip(a.samples, b.samples, strict=True)]
    # A common factor of both sides cancels in the ratio. The middle of the range on the log scale
    # keeps sums and reciprocals of values from 1e-300 to 1e300 inside the range of numbers.
    scales = [math.sqrt(x.min()) * math.sqrt(x.max()) for x in pooled]
    if mean != "geometric":
        scales = [math.sqrt(min(scales)) * math.sqrt(max(scales))] * len(scales)

    def ready(rows: tuple[Array, ...]) -> list[Array]:
        with np.errstate(all="ignore"):  # what overflows here is refused as a ratio
            if centre != "runs" or mean == "arithmetic":
                return [x / scale for x, scale in zip(rows, scales, strict=True)]
            if mean == "harmonic":
                return [scale / x for x, scale in zip(rows, scales, strict=True)]
            return [_log_ratio(x, scale) for x, scale in zip(rows, scales, strict=True)]

    outer = what_moves.IDENTITY
    if centre != "runs" and mean != "arithmetic":
        outer = what_moves.LOGARITHM if mean == "geometric" else what_moves.RECIPROCAL
    sides = ready(a.samples), ready(b.samples)
    return _Suite(*sides, a.benchmarks, mean, centre == "median", outer)


def _log_ratio(values: Array, scale: float) -> Array:
    """Give log(values / scale) to full precision, however far apart they are."""
    fraction, exponent = np.frexp(values)
    scale_fraction, scale_exponent = math.frexp(scale)
    return np.asarray(np.log(fraction / scale_fraction) + (exponent - scale_exponent) * math.log(2))


@np.errstate(all="ignore")
def _observed(suite: _Suite) -> float:
    sums = []
    for rows in (suite.ours, suite.theirs):
        centres = np.array([np.median(x) if suite.median else x.mean() for x in rows])
        if suite.outer != what_moves.IDENTITY:
            centres = np.log(centres) if suite.outer == what_moves.LOGARITHM else 1 / centres
        sums.append(np.array([centres.sum()]))
    return float(suite.logs(*sums)[0])


# ---- how many assignments there are

_Count = tuple[int | None, float]  # None where it is too large to be of use; its decimal logarithm
_LOG2 = math.log10(2)


def _choices(total: int, size: int) -> _Count:
    """Count the choices of `size` from `total`; the number itself takes long to find when huge."""
    log = math.lgamma(total + 1) - math.lgamma(size + 1) - math.lgamma(total - size + 1)
    log10 = log / math.log(10)
    return (math.comb(total, size) if log10 < 20 else None), log10


def _product(counts: list[_Count]) -> _Count:
    product = 1
    for count, _ in counts:
        if count is None or product * count > _COUNTABLE:
            return None, sum(log10 for _, log10 in counts)
        product *= count
    return product, math.log10(product)


# ---- each benchmark on its own


def _by_benchmark(suite: _Suite, _units: Units, resamples: int, root: int) -> Reassigned:
    pools = []
    for pair in zip(suite.ours, suite.theirs, strict=True):
        x = np.sort(np.concatenate(pair))
        ends = np.array([0, x.size])
        pools.append(what_moves.PooledRuns(x, np.arange(x.size), ends, suite.median, suite.outer))
    sizes = [len(x) for x in suite.ours]
    splits = [_choices(len(pool.values), k) for pool, k in zip(pools, sizes, strict=True)]
    assignments, log10 = _product(splits)
    exact = assignments is not None and assignments <= resamples

    def table(i: int) -> tuple[Array, Array]:
        a, b = (np.empty(math.comb(len(pools[i].values), sizes[i])) for _ in range(2))
        loops(pools[i], a.size).all_splits(pools[i], sizes[i], a, b)
        return a, b

    a, b = (np.zeros(1 if exact else resamples) for _ in range(2))
    for i, name in enumerate(suite.names):
        if exact:
            a, b = (np.add.outer(s, t).ravel() for s, t in zip((a, b), table(i), strict=True))
            continue
        # a stream of its own: another benchmark more or less changes no draw of this one
        draws, count = stream(root, name), splits[i][0]
        if count is not None and count <= _TABLE:
            drawn = draws.integers(0, count, resamples, dtype=np.uint16)
            ours, theirs = table(i)
            a += ours[drawn]
            b += theirs[drawn]
        else:
            loops(pools[i], resamples).add_shuffled(draws, pools[i], sizes[i], a, b)
    logs = suite.logs(a, b)
    return Reassigned(_observed(suite), logs, exact, assignments, log10, partial=False)


# ---- whole units


def _jointly(suite: _Suite, units: Units, resamples: int, root: int) -> Reassigned:
    runs, design = _all_runs(suite, units)
    n, labels = len(runs.starts) - 1, design.pool + 2 * design.pairs
    lengths = np.diff(runs.starts)
    places = np.repeat(np.arange(n), lengths) * labels + runs.owner
    counts = np.bincount(places, minlength=n * labels).reshape(n, labels)  # of benchmark and label
    even = bool((counts == counts[:, :1]).all())
    if even and not suite.median and suite.outer == what_moves.IDENTITY:
        # summed over the benchmarks beforehand: where no unit lacks a run, the mean stays the same
        weighted = runs.values * np.repeat(1 / counts[:, 0], lengths)
        sums = np.bincount(runs.owner, weighted, minlength=labels).astype(np.float64)
        runs = runs._replace(values=sums, owner=np.arange(labels), starts=np.array([0, labels]))
    pooled: _Count = _choices(design.pool, design.size)
    assignments, log10 = _product([pooled, *[(2, _LOG2)] * design.pairs])
    size = resamples if assignments is None else min(assignments, resamples)
    exact = size == assignments
    a, b = np.empty(size), np.empty(size)
    all_of = loops(runs, size)
    if exact:
        done = all_of.joint_all(runs, design, a, b)
        partial, assignments, log10 = done < len(a), done, math.log10(done)
    else:
        done = all_of.joint_shuffled(stream(root, "units"), runs, design, a, b)
        partial = not bool((counts > 0).all())
        if done < resamples:
            drawn = what_moves.TRIES * resamples
            many = f"of {drawn:,} random reassignments only {done:,} gave every benchmark"
            what = f"too many {units.noun}s lack benchmarks: {many} runs on both sides"
            fix = "leave out the benchmarks that failed most, or take unit='run'"
            raise AnalysisError(what, fix=fix)
    logs = suite.logs(a[:done], b[:done])
    return Reassigned(_observed(suite), logs, exact, assignments, log10, partial)


def _all_runs(suite: _Suite, units: Units) -> tuple[what_moves.PooledRuns, what_moves.Exchange]:
    pooled = np.flatnonzero(units.sides != 2)
    paired = np.flatnonzero(units.sides == 2)
    place = np.empty((2, len(units.sides)), dtype=np.int64)  # side x unit -> label
    place[:, pooled] = np.arange(len(pooled))
    place[0, paired] = len(pooled) + 2 * np.arange(len(paired))
    place[1, paired] = place[0, paired] + 1
    values, owner = [], []
    each = zip(suite.ours, suite.theirs, units.candidate, units.baseline, strict=True)
    for ours, theirs, our_units, their_units in each:
        pool = np.concatenate([ours, theirs])
        order = np.argsort(pool, kind="stable")
        values.append(pool[order])
        owner.append(np.concatenate([place[0, our_units], place[1, their_units]])[order])
    starts = np.cumsum([0, *(len(row) for row in values)])
    all_values, owners = np.concatenate(values), np.concatenate(owner)
    runs = what_moves.PooledRuns(all_values, owners, starts, suite.median, suite.outer)
    return runs, what_moves.Exchange(len(pooled), units.only_candidate, len(paired))


_LEVEL = 0.05  # the smallest possible p is compared with it


def assignment_cautions(
    result: RandomizationTest, units: Units, *, constant: bool, partial: bool
) -> tuple[Caution, ...]:
    """Say what the assignments can show, and which of them took part."""
    count, alone = result.resamples, units.only_candidate + units.only_baseline
    single = constant and not result.exact and count == 1
    more = f"take more than {count:,} resamples"
    remedy = f"measure more {units.noun}s" if result.exact else more
    among = units.only_candidate and units.only_baseline
    texts = {
        "one-assignment": single and "one assignment says nothing: take more resamples",
        "ratio-constant": constant
        and not single
        and "every assignment gives the same ratio: these values cannot show a difference",
        "too-few-assignments": not constant
        and result.smallest_pvalue > _LEVEL
        and f"with {count:,} assignment{'s' * (count > 1)} no p below "
        f"{figures.significant(result.smallest_pvalue)} is possible, so a level of "
        f"{_LEVEL:g} cannot be reached: {remedy}",
        "units-of-one-side": units.both
        and alone > 0
        and f"{alone} of {len(units.sides)} {units.noun}s hold one variant only: they are "
        f"{'reassigned among themselves' if among else 'left as they are'}, and the others swap "
        "their labels within",
        "assignments-left-out": partial
        and f"some {units.noun}s lack benchmarks: assignments that would leave a benchmark without "
        "runs on one side take no part",
        "benchmarks-apart": units.unit == "run"
        and len(result.benchmarks) > 1
        and "reassigning each benchmark on its own has rejected 45 % of comparisons without any "
        "difference (public Go data, level 5 %, 100 benchmarks from 36 processes); whole "
        "rounds 5 %",
    }
    return cautions_of(texts)


TOLERANCE = 1e-12  # ratios within this of each other, relatively, are equal


@checks_arguments
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
        If the matrices do not go together, a ratio leaves the range of numbers, or units lack too
        many benchmarks to be reassigned.

    Notes
    -----
    Hypothesis: the labels of the units are exchangeable, as when the variants do not differ on any
    of these benchmarks. Against it: the candidate's, the baseline's, or either suite mean is the
    better one ([1]_, H1a to H1c). p is (k + 1) / (N + 1) for random assignments ([2]_; the paper's
    k / N can be 0), so that the observed one counts. Ratios within 1e-12 of the observed one,
    relatively, count as equal to it. Assignments that would leave a benchmark without runs on one
    side take no part; which ones do depends on the pooled data only, so the test keeps its level.
    """
    check_means(mean, centre)
    chosen("alternative", alternative, get_args(Alternative))
    counted("resamples", resamples)
    question = what_moves.ask(candidate, baseline, unit, mean, centre)
    units, ratio = question.units, question.ratio
    suite, root = _suite(question), int(rng.integers(2**63))
    joint = units.unit != "run"
    done = (_jointly if joint else _by_benchmark)(suite, units, resamples, root)
    observed = done.observed
    if question.pair.candidate.better == "lower":
        np.negative(done.logs, out=done.logs)
        observed = -observed
    lowest, highest = float(done.logs.min()), float(done.logs.max())
    tails = _tails(done, observed, observed)
    least = max(1 / (len(done.logs) + 1), 10**-done.log10_assignments)
    smallest = {"candidate": least, "baseline": least}
    if done.exact:  # ties at the end count
        smallest = _tails(done, highest, lowest)
    pvalue = _of(alternative, tails)
    null = _ratios(done.logs)
    result = RandomizationTest(
        **question.answered(),
        ratio=ratio,
        pvalue=pvalue,
        pvalue_candidate=tails["candidate"],
        pvalue_baseline=tails["baseline"],
        pvalue_error=0.0 if done.exact else _error(pvalue, len(null), alternative),
        smallest_pvalue=_of(alternative, smallest),
        alternative=alternative,
        unit_words=units.words + (", labels swapped within" if units.both else ""),
        exact=done.exact,
        resamples=len(null),
        assignments=done.assignments,
        log10_assignments=done.log10_assignments,
        null=null,
    )
    constant = highest - lowest <= TOLERANCE
    cautions = (
        *question.pair.known(),
        *assignment_cautions(result, units, constant=constant, partial=done.partial),
        *what_moves.unit_cautions(question.pair, units),
    )
    return replace(result, cautions=cautions)


def _ratios(logs: Array) -> Array:
    with np.errstate(all="ignore"):
        null: Array = np.exp(logs, out=logs)
    if not (np.isfinite(null) & (null > 0)).all():
        what = "the ratio leaves the range of numbers when labels are reassigned"
        raise AnalysisError(what, fix=_APART)
    return read_only(null)


def _tails(done: Reassigned, high: float, low: float) -> dict[str, float]:
    """Give the share of assignments that reach `high`, and of those that reach `low`."""
    size, own = len(done.logs), int(not done.exact)
    counts = int((done.logs >= high - TOLERANCE).sum()), int((done.logs <= low + TOLERANCE).sum())
    ours, theirs = ((count + own) / (size + own) for count in counts)
    return {"candidate": ours, "baseline": theirs}


def _of(alternative: Alternative, tails: dict[str, float]) -> float:
    if alternative == "two-sided":
        return min(1.0, 2 * min(tails.values()))
    return tails[alternative]


def _error(pvalue: float, size: int, alternative: Alternative) -> float:
    if alternative == "two-sided":
        return 2 * _error(pvalue / 2, size, "candidate")
    return math.sqrt(pvalue * (1 - pvalue) / size)
