"""The law of a ratio of suite means when labels are reassigned: all assignments, or random ones."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ....data import Centre, Mean, PerformanceMatrix
from ....errors import AnalysisError
from ....stats import stream
from ..units import Units

if TYPE_CHECKING:
    from .kernel import Design, Runs

__all__ = ["Reassigned", "reassigned"]

Floats = NDArray[np.float64]
_TABLE = 5000  # splits of one benchmark that are listed once and then looked up
_COUNTABLE = 2**53  # larger numbers of assignments are given by their logarithm


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Reassigned:
    """Logarithms of candidate mean over baseline mean, of the values as stored.

    Attributes
    ----------
    observed : float
        The one of the labels as they are.
    logs : float array
        One for each assignment: all of them when `exact`, otherwise random ones.
    exact : bool
        Whether these are all assignments.
    assignments : int or None
        How many there are, None for more than 2^53; when units lack benchmarks and the assignments
        were drawn, at most so many.
    log10_assignments : float
        Their decimal logarithm.
    partial : bool
        Some assignments would leave a benchmark without runs on one side, and do not take part.
    """

    observed: float
    logs: Floats
    exact: bool
    assignments: int | None
    log10_assignments: float
    partial: bool


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Suite:
    """Both sides' values, ready to be summed: see `_suite`."""

    ours: list[Floats]
    theirs: list[Floats]
    names: tuple[str, ...]
    mean: Mean
    median: bool
    outer: int

    def logs(self, a: Floats, b: Floats) -> Floats:
        """Turn both sides' sums over benchmarks into logarithms of ratios, in place."""
        with np.errstate(all="ignore"):
            if self.mean == "geometric":
                a -= b
                a /= len(self.names)
            else:
                np.divide(a, b, out=a) if self.mean == "arithmetic" else np.divide(b, a, out=a)
                np.log(a, out=a)
        if not np.isfinite(a).all():
            raise AnalysisError(
                f"ratios of {self.mean} means leave the range of numbers",
                fix="look for values that are no measurements: they lie too far apart",
            )
        return a


def reassigned(
    candidate: PerformanceMatrix,
    baseline: PerformanceMatrix,
    units: Units,
    *,
    mean: Mean,
    centre: Centre,
    resamples: int,
    rng: np.random.Generator,
) -> Reassigned:
    """Give the ratio under all reassignments of the labels, or under `resamples` random ones.

    Parameters
    ----------
    candidate, baseline : PerformanceMatrix
        As `analysis.data.match` gives them.
    units : Units
        What is reassigned. Units that hold both variants swap their labels; the others are
        pooled, and as many as before go to the candidate.
    mean, centre
        As for `suite_mean`.
    resamples : int
        All assignments are listed when they are no more than this.
    rng : numpy.random.Generator
        The source of randomness; one number is drawn from it.

    Raises
    ------
    AnalysisError
        If a ratio leaves the range of numbers, or units lack so many benchmarks that hardly any
        assignment gives every benchmark runs on both sides.
    """
    suite = _suite(candidate, baseline, mean, centre)
    root = int(rng.integers(2**63))
    if units.unit == "run":
        return _by_benchmark(suite, resamples, root)
    return _jointly(suite, units, resamples, root)


# ---- the values


def _suite(a: PerformanceMatrix, b: PerformanceMatrix, mean: Mean, centre: Centre) -> _Suite:
    from .kernel import IDENTITY, LOGARITHM, RECIPROCAL

    pooled = [np.concatenate(pair) for pair in zip(a.samples, b.samples, strict=True)]
    # A common factor of both sides cancels in the ratio. The middle of the range on the log scale
    # keeps sums and reciprocals of values from 1e-300 to 1e300 inside the range of numbers.
    scales = [math.sqrt(x.min()) * math.sqrt(x.max()) for x in pooled]
    if mean != "geometric":
        scales = [math.sqrt(min(scales)) * math.sqrt(max(scales))] * len(scales)

    def ready(rows: tuple[Floats, ...]) -> list[Floats]:
        with np.errstate(all="ignore"):  # what overflows here is refused as a ratio
            if centre != "runs" or mean == "arithmetic":
                return [x / scale for x, scale in zip(rows, scales, strict=True)]
            if mean == "harmonic":
                return [scale / x for x, scale in zip(rows, scales, strict=True)]
            return [_log_ratio(x, scale) for x, scale in zip(rows, scales, strict=True)]

    outer = IDENTITY
    if centre != "runs" and mean != "arithmetic":
        outer = LOGARITHM if mean == "geometric" else RECIPROCAL
    return _Suite(
        ours=ready(a.samples),
        theirs=ready(b.samples),
        names=a.benchmarks,
        mean=mean,
        median=centre == "median",
        outer=outer,
    )


def _log_ratio(values: Floats, scale: float) -> Floats:
    """Give log(values / scale) to full precision, however far apart they are."""
    fraction, exponent = np.frexp(values)
    scale_fraction, scale_exponent = math.frexp(scale)
    logs: Floats = np.log(fraction / scale_fraction) + (exponent - scale_exponent) * math.log(2)
    return logs


def _observed(suite: _Suite) -> float:
    from .kernel import LOGARITHM, RECIPROCAL

    def total(rows: list[Floats]) -> Floats:
        with np.errstate(all="ignore"):
            centres = np.array([np.median(x) if suite.median else x.mean() for x in rows])
            if suite.outer == LOGARITHM:
                centres = np.log(centres)
            elif suite.outer == RECIPROCAL:
                centres = 1 / centres
        return np.array([centres.sum()])

    return float(suite.logs(total(suite.ours), total(suite.theirs))[0])


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


def _one_benchmark(sides: tuple[Floats, Floats], suite: _Suite) -> Runs:
    from .kernel import Runs

    values = np.sort(np.concatenate(sides))
    return Runs(
        values, np.arange(len(values)), np.array([0, len(values)]), suite.median, suite.outer
    )


def _by_benchmark(suite: _Suite, resamples: int, root: int) -> Reassigned:
    from . import kernel

    pools = [_one_benchmark(p, suite) for p in zip(suite.ours, suite.theirs, strict=True)]
    sizes = [len(x) for x in suite.ours]
    splits = [_choices(len(pool.values), k) for pool, k in zip(pools, sizes, strict=True)]
    assignments, log10 = _product(splits)
    exact = assignments is not None and assignments <= resamples

    def table(i: int) -> tuple[Floats, Floats]:
        a, b = (np.empty(math.comb(len(pools[i].values), sizes[i])) for _ in range(2))
        kernel.all_splits(pools[i], sizes[i], a, b)
        return a, b

    if exact:
        a, b = np.zeros(1), np.zeros(1)
        for i in range(len(pools)):
            a, b = (np.add.outer(s, t).ravel() for s, t in zip((a, b), table(i), strict=True))
    else:
        a, b = np.zeros(resamples), np.zeros(resamples)
        for i, name in enumerate(suite.names):
            # a stream of its own: another benchmark more or less changes no draw of this one
            draws = stream(root, name)
            count = splits[i][0]
            if count is not None and count <= _TABLE:
                drawn = draws.integers(0, count, resamples, dtype=np.uint16)
                kernel.add_drawn(drawn, *table(i), a, b)
            else:
                kernel.add_shuffled(draws, pools[i], sizes[i], a, b)
    return Reassigned(
        observed=_observed(suite),
        logs=suite.logs(a, b),
        exact=exact,
        assignments=assignments,
        log10_assignments=log10,
        partial=False,
    )


# ---- whole units


def _jointly(suite: _Suite, units: Units, resamples: int, root: int) -> Reassigned:
    from . import kernel

    runs, design = _all_runs(suite, units)
    counts = _counts(runs, design)
    even = bool((counts == counts[:, :1]).all())
    if even and not suite.median and suite.outer == kernel.IDENTITY:
        runs = _condensed(runs, counts)
    assignments, log10 = _product(
        [_choices(design.pool, design.size), *[(2, _LOG2)] * design.pairs]
    )
    size = resamples if assignments is None else min(assignments, resamples)
    exact = size == assignments
    a, b = np.empty(size), np.empty(size)
    if exact:
        done = kernel.joint_all(runs, design, a, b)
        partial, assignments, log10 = done < len(a), done, math.log10(done)
    else:
        done = kernel.joint_shuffled(stream(root, "units"), runs, design, a, b)
        partial = not bool((counts > 0).all())
        if done < resamples:
            raise AnalysisError(
                f"too many {units.noun}s lack benchmarks: of {kernel.TRIES * resamples:,} random "
                f"reassignments only {done:,} gave every benchmark runs on both sides",
                fix="leave out the benchmarks that failed most, or take unit='run'",
            )
    return Reassigned(
        observed=_observed(suite),
        logs=suite.logs(a[:done], b[:done]),
        exact=exact,
        assignments=assignments,
        log10_assignments=log10,
        partial=partial,
    )


def _all_runs(suite: _Suite, units: Units) -> tuple[Runs, Design]:
    from .kernel import Design, Runs

    pooled = np.flatnonzero(units.sides != 2)
    paired = np.flatnonzero(units.sides == 2)
    place = np.empty((2, len(units.sides)), dtype=np.int64)  # side x unit -> label
    place[:, pooled] = np.arange(len(pooled))
    place[0, paired] = len(pooled) + 2 * np.arange(len(paired))
    place[1, paired] = place[0, paired] + 1
    values, owner = [], []
    for ours, theirs, our_units, their_units in zip(
        suite.ours, suite.theirs, units.candidate, units.baseline, strict=True
    ):
        pool = np.concatenate([ours, theirs])
        order = np.argsort(pool, kind="stable")
        values.append(pool[order])
        owner.append(np.concatenate([place[0, our_units], place[1, their_units]])[order])
    starts = np.cumsum([0, *(len(row) for row in values)])
    runs = Runs(np.concatenate(values), np.concatenate(owner), starts, suite.median, suite.outer)
    return runs, Design(len(pooled), units.only_candidate, len(paired))


def _counts(runs: Runs, design: Design) -> NDArray[np.int64]:
    """Count the runs of each benchmark (row) under each label (column)."""
    n, labels = len(runs.starts) - 1, design.pool + 2 * design.pairs
    benchmark = np.repeat(np.arange(n), np.diff(runs.starts))
    return np.bincount(benchmark * labels + runs.owner, minlength=n * labels).reshape(n, labels)


def _condensed(runs: Runs, counts: NDArray[np.int64]) -> Runs:
    """Sum over the benchmarks beforehand: where no unit lacks a run, the mean stays the same."""
    weights = np.repeat(1 / counts[:, 0], np.diff(runs.starts))
    labels = counts.shape[1]
    sums = np.bincount(runs.owner, runs.values * weights, minlength=labels).astype(np.float64)
    return runs._replace(values=sums, owner=np.arange(labels), starts=np.array([0, labels]))
