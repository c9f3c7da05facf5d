"""Bootstrap draws of two sides: within each variant and benchmark, or whole units jointly.

All is done on deviations from what was observed, on the log scale of the suite mean: a resample
that equals the sample gives exactly 0, and no scale of the values can overflow. A centre is that
of one benchmark; "runs" means that runs are averaged as the suite is (logarithms for the
geometric mean, reciprocals for the harmonic one).

Everything is the deviation of the log ratio from the observed one, oriented so that above 0 favours
the candidate. Draws come in chunks of fixed size, so memory stays bounded and the size of a chunk
changes no number.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...errors import AnalysisError
from ...stats.arguments import stream
from ...stats.samples import Array, Flags, Integers

if TYPE_CHECKING:
    from ...data.matrix import PerformanceMatrix
    from ...data.pair import Centre, Mean
    from .assignments import ResamplingQuestion, Units


_FAR = 1e300  # values further from their side's smallest one weigh nothing in a harmonic mean


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SideDeviations:
    """One variant's runs as deviations from the centres of their benchmarks.

    `values` are z, the runs of each benchmark in the form that is averaged (logarithms if `logs`),
    `centres` are c, their means or `medians`, and `deviations` are z - c, exactly 0 where z do not
    vary. With a `geometric` suite mean, log M = mean of log c (of c where z are logarithms). If not,
    log M = sign * log S but for a constant, with S the sum of u = c ** power.
    """

    values: tuple[Array, ...]
    deviations: tuple[Array, ...]
    centres: Array
    medians: bool
    logs: bool
    geometric: bool
    power: int
    sign: int

    def shift(self, moved: Array, widths: Array | None = None, only: int | None = None) -> Array:
        """Give log M* - log M when the centres move."""
        c = self.centres[:, None] if only is None else self.centres[only]
        n = self.centres.size
        if self.logs:
            logs = moved if widths is None else moved * widths[:, None]
            return np.asarray(logs.sum(axis=0) / n)
        if not self.geometric and self.power == 1 and widths is None:
            steps = moved.sum(axis=0)
        else:
            logs = np.log1p(np.maximum(moved / c, np.nextafter(-1, 0)))
            if widths is not None:
                logs *= widths[:, None]
            if self.geometric:
                return np.asarray(logs.sum(axis=0) / n)
            steps = (c**self.power * np.expm1(self.power * logs)).sum(axis=0)
        relative = steps / (self.centres**self.power).sum()
        return np.asarray(self.sign * np.log1p(np.maximum(relative, np.nextafter(-1, 0))))

    def gradient(self, moved: Array) -> Array:
        """Give the derivatives of log M* by each centre, shape (n, resamples), there."""
        n = self.centres.size
        if self.logs:
            return np.full_like(moved, 1 / n)
        c = self.centres[:, None] + moved
        if self.geometric:
            return np.asarray(1 / (n * c))
        return np.asarray(
            self.sign * self.power * c ** (self.power - 1) / (c**self.power).sum(axis=0)
        )

    def without_each(self, benchmark: int) -> Array:
        """Give c* - c of one benchmark without each of its runs, shape (m,); m is at least 2."""
        z = self.values[benchmark]
        m = z.size
        if not self.medians:
            return np.asarray(-self.deviations[benchmark] / (m - 1))
        ordered = np.sort(z)
        rank = np.empty(m, dtype=np.intp)
        rank[np.argsort(z, kind="stable")] = np.arange(m)
        low, high = (m - 2) // 2, (m - 1) // 2
        left = ordered[low + (rank <= low)]
        right = ordered[high + (rank <= high)]
        return np.asarray((left + right) / 2 - self.centres[benchmark])


def side_of(matrix: PerformanceMatrix, mean: Mean, centre: Centre) -> SideDeviations:
    """Bring the runs of one variant into the form that is averaged, free of their unit."""
    logs = mean == "geometric" and centre == "runs"
    if logs:
        values = [np.log(x) for x in matrix.samples]
    elif mean == "geometric":
        values = [x / x.max() for x in matrix.samples]
    elif mean == "arithmetic":
        largest = max(float(x.max()) for x in matrix.samples)
        values = [x / largest for x in matrix.samples]
    else:
        least = min(float(x.min()) for x in matrix.samples)
        with np.errstate(over="ignore", under="ignore"):
            if centre == "runs":
                values = [least / x for x in matrix.samples]
            else:
                values = [np.minimum(x / least, _FAR) for x in matrix.samples]
    middle = np.median if centre == "median" else np.mean
    centres = np.array([middle(z) for z in values], dtype=np.float64)
    each = zip(values, centres, strict=True)
    apart = (np.zeros_like(z) if z.min() == z.max() else z - c for z, c in each)
    return SideDeviations(
        values=tuple(values),
        deviations=tuple(apart),
        centres=centres,
        medians=centre == "median",
        logs=logs,
        geometric=mean == "geometric",
        power=-1 if mean == "harmonic" and centre != "runs" else 1,
        sign=-1 if mean == "harmonic" else 1,
    )


def weighted_medians(z: Array, weights: NDArray[Any]) -> Array:
    """Give the median of each row's resample of z; weights (rows, m) tell how often each is in."""
    order = np.argsort(z, kind="stable")
    ordered = z[order]
    upto = np.cumsum(weights[:, order], axis=1)
    total = upto[:, -1:]
    low = (upto <= (total - 1) // 2).sum(axis=1)
    high = (upto <= total // 2).sum(axis=1)
    return np.asarray((ordered[low] + ordered[high]) / 2)


_CHUNK = 4096  # resamples
_CELLS = 1 << 20  # units x resamples, where units are drawn
_ROUNDING = 1e-12  # a variance this small against its sum of squares is rounding
_Widths = Sequence[Array | None]  # by how much the deviations of each side are widened


@dataclass(frozen=True, slots=True, eq=False)
class DeviationPair:
    """Both sides of a question, as deviations."""

    question: ResamplingQuestion
    candidate: SideDeviations
    baseline: SideDeviations

    @property
    def units(self) -> Units:
        """What is drawn."""
        return self.question.units

    @property
    def sides(self) -> tuple[tuple[SideDeviations, int], ...]:
        """Both sides with the sign of their log mean in the log ratio."""
        sign = 1 if self.question.pair.candidate.better == "higher" else -1
        return (self.candidate, sign), (self.baseline, -sign)


@dataclass(frozen=True, slots=True, eq=False)
class Draws:
    """The bootstrap replicates.

    `shifts` holds log ratio* - log ratio; `errors` their standard errors, where asked for;
    `redrawn` how many resamples of units were drawn anew because a benchmark had no run in them.
    """

    shifts: Array
    errors: Array | None
    redrawn: int


def compare(question: ResamplingQuestion) -> DeviationPair:
    """Bring both sides of a question into the form that is averaged."""
    sides = (question.pair.candidate, question.pair.baseline)
    return DeviationPair(question, *(side_of(m, question.mean, question.centre) for m in sides))


def strata_sizes(comparison: DeviationPair) -> tuple[Array, Array]:
    """Give the number of units in the stratum of each benchmark, for both sides."""
    units = comparison.units
    n = comparison.candidate.centres.size
    if units.unit == "run":
        ours, theirs = ([z.size for z in side.values] for side, _ in comparison.sides)
    elif units.both:
        ours = theirs = [units.sides.size] * n
    else:
        ours, theirs = [units.only_candidate] * n, [units.only_baseline] * n
    return np.array(ours, dtype=np.float64), np.array(theirs, dtype=np.float64)


@np.errstate(all="ignore")  # who uses the numbers looks whether they are finite
def draw(
    comparison: DeviationPair,
    root: int,
    resamples: int,
    *,
    widened: bool = False,
    errors: bool = False,
) -> Draws:
    """Draw the replicates."""
    widths: _Widths = [None, None]
    if widened:
        widths = [np.sqrt(sizes / (sizes - 1)) for sizes in strata_sizes(comparison)]
    shifts = np.zeros(resamples)
    variances = np.zeros(resamples) if errors else None
    if comparison.units.unit == "run":
        redrawn = 0
        names, labels = comparison.question.pair.candidate.benchmarks, ("candidate", "baseline")
        for (side, sign), width, label in zip(comparison.sides, widths, labels, strict=True):
            streams = [stream(root, "bootstrap", label, bench) for bench in names]
            moves = _moves_of_means(side, streams, resamples, errors=errors)
            if side.medians:
                moves = _moves_of_medians(side, streams, resamples)
            for part, moved, spread in moves:
                shifts[part] += sign * side.shift(moved, width)
                if variances is not None:
                    variances[part] += (side.gradient(moved) ** 2 * spread).sum(axis=0)
    else:
        redrawn = _draw_units(comparison, root, shifts, variances, widths)
    return Draws(shifts, None if variances is None else np.sqrt(variances), redrawn)


def _parts(resamples: int, size: int) -> Iterator[slice]:
    for start in range(0, resamples, size):
        yield slice(start, min(start + size, resamples))


def _moves_of_means(
    side: SideDeviations, streams: Iterable[np.random.Generator], resamples: int, *, errors: bool
) -> Iterator[tuple[slice, Array, Array]]:
    """Draw runs within each benchmark of a side, in parts: c* - c and, if asked for, the squared standard errors of c*."""
    from .kernel import resampled_means, resampled_spreads

    states = [rng.integers(2**64, size=4, dtype=np.uint64) for rng in streams]
    for part in _parts(resamples, _CHUNK):
        moved = np.zeros((len(states), part.stop - part.start))
        spread = np.zeros_like(moved) if errors else np.empty(0)
        for i, (d, state) in enumerate(zip(side.deviations, states, strict=True)):
            if not d.any():
                continue
            if not errors:
                resampled_means(d, state, moved[i])
                continue
            resampled_spreads(d, state, moved[i], spread[i])
            rest = spread[i] - moved[i] ** 2
            rest[rest <= _ROUNDING * spread[i]] = 0.0
            spread[i] = rest / (d.size - 1)
        yield part, moved, spread


def _moves_of_medians(
    side: SideDeviations, streams: Iterable[np.random.Generator], resamples: int
) -> Iterator[tuple[slice, Array, Array]]:
    """Draw medians by their exact law, without drawing the runs."""
    drawn = [(np.sort(z), rng.spawn(2)) for z, rng in zip(side.values, streams, strict=True)]
    for part in _parts(resamples, _CHUNK):
        size = part.stop - part.start
        moved = np.empty((len(drawn), size))
        for i, (ordered, (first, second)) in enumerate(drawn):
            m = ordered.size
            k = (m + 1) // 2
            u = first.beta(k, m - k + 1, size)
            low = high = ordered[np.minimum((m * u).astype(np.intp), m - 1)]
            if m % 2 == 0:
                v = 1 - (1 - u) * second.random(size) ** (1 / (m - k))
                high = ordered[np.minimum((m * v).astype(np.intp), m - 1)]
            moved[i] = (low + high) / 2 - side.centres[i]
        yield part, moved, np.empty(0)


def _draw_units(
    comparison: DeviationPair,
    root: int,
    shifts: Array,
    variances: Array | None,
    widths: _Widths,
) -> int:
    """Draw whole units, each with all its runs of all benchmarks; fill in, count the redrawn."""
    units = comparison.units
    count = units.sides.size
    sources = _unit_sources(comparison)
    groups = units.strata
    streams = [stream(root, "bootstrap", units.unit, str(k)) for k in range(len(groups))]
    redrawn = 0
    for part in _parts(shifts.size, max(64, _CELLS // count)):
        weights = np.zeros((part.stop - part.start, count))
        redo = np.arange(weights.shape[0])
        for _ in range(1000):
            for group, rng in zip(groups, streams, strict=True):
                size = group.size
                drawn = rng.multinomial(size, np.full(size, 1 / size), redo.size)
                weights[np.ix_(redo, group)] = drawn
            redo = redo[~np.all([s.complete(weights[redo]) for s in sources], axis=0)]
            redrawn += redo.size
            if redo.size == 0:
                break
        else:
            what = f"hardly any resample of whole {units.noun}s holds every benchmark on both sides"
            fix = "leave out the benchmarks with runs in few of them, or take unit 'run'"
            raise AnalysisError(what, fix=fix)
        effects = []
        for source, (side, sign), width in zip(sources, comparison.sides, widths, strict=True):
            moved = source.moved(weights)
            shifts[part] += sign * side.shift(moved, width)
            if variances is not None:
                effects.append(sign * source.effects(weights, moved))
        if variances is not None:
            total = effects[0] + effects[1]  # a unit of one side only has no effect on the other
            for group in groups:
                w, e = weights[:, group], total[:, group]
                m = group.size
                mean = (w * e).sum(axis=1, keepdims=True) / m
                square = (w * e**2).sum(axis=1) / m
                rest = (w * (e - mean) ** 2).sum(axis=1) / m
                rest[rest <= _ROUNDING * square] = 0.0
                variances[part] += rest / (m - 1)
    return redrawn


def _unit_sources(comparison: DeviationPair) -> list[_UnitSource]:
    units, sizes = comparison.units, strata_sizes(comparison)
    each = zip(comparison.sides, (units.candidate, units.baseline), sizes, strict=True)
    return [_UnitSource(side, where, units.sides.size, int(n[0])) for (side, _), where, n in each]


class _UnitSource:
    """Moves of one side's centres when whole units are drawn."""

    def __init__(
        self, side: SideDeviations, where: tuple[Integers, ...], count: int, m: int
    ) -> None:
        self._side, self._where, self._m = side, where, m
        pairs = list(zip(where, side.deviations, strict=True))
        # the sums of deviations and the numbers of runs, each (n, count), by unit
        self._sums = np.array([np.bincount(k, weights=d, minlength=count) for k, d in pairs])
        self._numbers = np.array([np.bincount(k, minlength=count) for k, _ in pairs], np.float64)

    def complete(self, weights: Array) -> Flags:
        """Tell which resamples hold a run of every benchmark; weights are (resamples, units)."""
        return np.asarray((weights @ self._numbers.T > 0.5).all(axis=1))

    def moved(self, weights: Array) -> Array:
        """Give c* - c, (n, resamples)."""
        if not self._side.medians:
            return np.asarray((self._sums @ weights.T) / (self._numbers @ weights.T))
        moved = np.empty((len(self._where), weights.shape[0]))
        for i, (z, where) in enumerate(zip(self._side.values, self._where, strict=True)):
            step = max(1, _CELLS // z.size)
            for part in _parts(weights.shape[0], step):
                moved[i, part] = weighted_medians(z, weights[part][:, where].astype(np.int64))
        moved -= self._side.centres[:, None]
        return moved

    def effects(self, weights: Array, moved: Array) -> Array:
        """Give each unit's effect on log M*, (resamples, units): the delta method's summands."""
        slope = self._m * self._side.gradient(moved) / (self._numbers @ weights.T)
        return np.asarray(slope.T @ self._sums - (slope * moved).T @ self._numbers)


@np.errstate(all="ignore")  # who uses the numbers looks whether they are finite
def jackknife(comparison: DeviationPair) -> list[Array]:
    """Give the shifts of the log ratio without each unit, one array for each stratum."""
    units = comparison.units
    if units.unit == "run":
        return [
            sign * side.shift(side.without_each(i)[None, :], only=i)
            for side, sign in comparison.sides
            for i in range(side.centres.size)
        ]
    count = units.sides.size
    total = np.zeros(count)
    sources = _unit_sources(comparison)
    for part in _parts(count, max(64, _CELLS // count)):
        weights = np.ones((part.stop - part.start, count))
        weights[np.arange(weights.shape[0]), np.arange(part.start, part.stop)] = 0
        for source, (side, sign) in zip(sources, comparison.sides, strict=True):
            if not source.complete(weights).all():
                what = f"the acceleration of BCa leaves out each {units.noun} in turn, and one"
                what = f"{what} {units.noun} holds all runs of a benchmark"
                fix = "leave that benchmark out, or take another interval"
                raise AnalysisError(what, fix=fix)
            total[part] += sign * side.shift(source.moved(weights))
    return [total[group] for group in units.strata]


@np.errstate(all="ignore")  # who uses the numbers looks whether they are finite
def standard_error(comparison: DeviationPair) -> float:
    """Give the standard error of the log ratio by the delta method; not for medians."""
    units = comparison.units
    if units.unit == "run":
        variance = 0.0
        for side, _ in comparison.sides:
            slope = side.gradient(np.zeros((side.centres.size, 1)))[:, 0]
            spread = [float((d**2).sum()) / (d.size * (d.size - 1)) for d in side.deviations]
            variance += float((slope**2 * spread).sum())
        return float(np.sqrt(variance))
    ones = np.ones((1, units.sides.size))
    total = np.zeros(units.sides.size)
    for source, (side, sign) in zip(_unit_sources(comparison), comparison.sides, strict=True):
        total += sign * source.effects(ones, np.zeros((side.centres.size, 1)))[0]
    parts = [float(total[group].var(ddof=1)) / group.size for group in units.strata]
    return float(np.sqrt(sum(parts)))
