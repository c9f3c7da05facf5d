"""Bootstrap draws of two sides: within each variant and benchmark, or whole units jointly.

Everything is the deviation of the log ratio from the observed one, oriented so that above 0 favours
the candidate. Draws come in chunks of fixed size, so memory stays bounded and the size of a chunk
changes no number.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ....data import Centre, Mean, PerformanceMatrix
from ....errors import AnalysisError
from ....record import Better
from ....stats import stream
from ..units import Units
from .strata import Side, side_of, unit_sums, weighted_medians

__all__ = ["Comparison", "Draws", "compare", "draw", "jackknife", "standard_error", "strata_sizes"]

Array = NDArray[np.float64]

_CHUNK = 4096  # resamples
_CELLS = 1 << 20  # units x resamples, where units are drawn
_ROUNDING = 1e-12  # a variance this small beside its sum of squares is rounding
_TRIES = 1000


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Comparison:
    """Both sides and their units; `sign` turns log M_candidate - log M_baseline to our side."""

    benchmarks: tuple[str, ...]
    candidate: Side
    baseline: Side
    units: Units
    sign: int

    @property
    def sides(self) -> tuple[tuple[Side, int], ...]:
        """Both sides with the sign of their log mean in the log ratio."""
        return (self.candidate, self.sign), (self.baseline, -self.sign)

    @property
    def joint(self) -> bool:
        """Whether one draw of units serves both sides, because units hold both variants."""
        return self.units.both > 0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Draws:
    """The bootstrap replicates.

    `shifts` holds log ratio* - log ratio; `errors` their standard errors, where asked for;
    `redrawn` how many resamples of units were drawn anew because a benchmark had no run in them.
    """

    shifts: Array
    errors: Array | None
    redrawn: int


def compare(
    candidate: PerformanceMatrix,
    baseline: PerformanceMatrix,
    units: Units,
    *,
    mean: Mean,
    centre: Centre,
) -> Comparison:
    """Make a comparison of two matched matrices."""
    better: Better = candidate.better
    return Comparison(
        benchmarks=candidate.benchmarks,
        candidate=side_of(candidate, mean, centre),
        baseline=side_of(baseline, mean, centre),
        units=units,
        sign=1 if better == "higher" else -1,
    )


def strata_sizes(comparison: Comparison) -> tuple[Array, Array]:
    """Give the number of units in the stratum of each benchmark, for both sides."""
    units = comparison.units
    n = len(comparison.benchmarks)
    if units.unit == "run":
        ours, theirs = ([z.size for z in side.values] for side, _ in comparison.sides)
    elif comparison.joint:
        ours = theirs = [units.sides.size] * n
    else:
        ours, theirs = [units.only_candidate] * n, [units.only_baseline] * n
    return np.array(ours, dtype=np.float64), np.array(theirs, dtype=np.float64)


@np.errstate(all="ignore")  # who uses the numbers looks whether they are finite
def draw(
    comparison: Comparison,
    root: int,
    resamples: int,
    *,
    widened: bool = False,
    errors: bool = False,
) -> Draws:
    """Draw the replicates.

    Parameters
    ----------
    comparison : Comparison
        What to resample.
    root : int
        The root of the random streams.
    resamples : int
        How many.
    widened : bool
        Widen each centre's deviation by sqrt(m / (m - 1)), m the units of its stratum.
    errors : bool
        Also give the standard error of each replicate's log ratio, by the delta method; not for
        medians.
    """
    widths: tuple[Array | None, Array | None] = (None, None)
    if widened:
        ours, theirs = strata_sizes(comparison)
        widths = np.sqrt(ours / (ours - 1)), np.sqrt(theirs / (theirs - 1))
    shifts = np.zeros(resamples)
    variances = np.zeros(resamples) if errors else None
    if comparison.units.unit == "run":
        redrawn = 0
        labels: tuple[Literal["candidate", "baseline"], ...] = ("candidate", "baseline")
        for (side, sign), width, label in zip(comparison.sides, widths, labels, strict=True):
            source = _RunSource(side, comparison.benchmarks, root, label)
            for part in _parts(resamples, _CHUNK):
                moved, spread = source.chunk(part.stop - part.start, errors=errors)
                shifts[part] += sign * side.shift(moved, width)
                if variances is not None:
                    variances[part] += (side.gradient(moved) ** 2 * spread).sum(axis=0)
    else:
        redrawn = _draw_units(comparison, root, shifts, variances, widths)
    return Draws(
        shifts=shifts,
        errors=None if variances is None else np.sqrt(variances),
        redrawn=redrawn,
    )


def _parts(resamples: int, size: int) -> Iterator[slice]:
    for start in range(0, resamples, size):
        yield slice(start, min(start + size, resamples))


class _RunSource:
    """Moves of the centres when runs are drawn within each benchmark of one side.

    Each benchmark has streams of its own, found by its name.
    """

    def __init__(self, side: Side, benchmarks: tuple[str, ...], root: int, label: str) -> None:
        self._side = side
        generators = [stream(root, "bootstrap", label, bench) for bench in benchmarks]
        if side.medians:
            self._generators = [rng.spawn(2) for rng in generators]
            self._ordered = [np.sort(z) for z in side.values]
        else:
            self._deviations = side.deviations
            self._states = [rng.integers(2**64, size=4, dtype=np.uint64) for rng in generators]

    def chunk(self, size: int, *, errors: bool) -> tuple[Array, Array]:
        """Give c* - c and, if asked for, the squared standard errors of c*, both (n, size)."""
        if self._side.medians:
            return self._medians(size), np.empty(0)
        from .kernel import resampled_means, resampled_spreads

        moved = np.zeros((len(self._deviations), size))
        spread = np.zeros_like(moved) if errors else np.empty(0)
        for i, (d, state) in enumerate(zip(self._deviations, self._states, strict=True)):
            if not d.any():
                continue
            if not errors:
                resampled_means(d, state, moved[i])
                continue
            resampled_spreads(d, state, moved[i], spread[i])
            rest = spread[i] - moved[i] ** 2
            rest[rest <= _ROUNDING * spread[i]] = 0.0
            spread[i] = rest / (d.size - 1)
        return moved, spread

    def _medians(self, size: int) -> Array:
        """Draw medians by their exact law, without drawing the runs.

        The k-th smallest of m draws from m values is the value number floor(m U) with U the k-th
        smallest of m uniform numbers, which is Beta(k, m - k + 1); for even m the next one is
        1 - (1 - U) V ** (1 / (m - k)).
        """
        moved = np.empty((len(self._ordered), size))
        for i, (ordered, pair) in enumerate(zip(self._ordered, self._generators, strict=True)):
            m = ordered.size
            k = (m + 1) // 2
            u = pair[0].beta(k, m - k + 1, size)
            low = ordered[np.minimum((m * u).astype(np.intp), m - 1)]
            if m % 2:
                moved[i] = low - self._side.centres[i]
                continue
            v = 1 - (1 - u) * pair[1].random(size) ** (1 / (m - k))
            high = ordered[np.minimum((m * v).astype(np.intp), m - 1)]
            moved[i] = (low + high) / 2 - self._side.centres[i]
        return moved


def _draw_units(
    comparison: Comparison,
    root: int,
    shifts: Array,
    variances: Array | None,
    widths: tuple[Array | None, Array | None],
) -> int:
    """Draw whole units, each with all its runs of all benchmarks; fill in, count the redrawn."""
    units = comparison.units
    count = units.sides.size
    sources = _unit_sources(comparison)
    groups = _unit_groups(comparison)
    streams = [stream(root, "bootstrap", units.unit, str(k)) for k in range(len(groups))]
    redrawn = 0
    for part in _parts(shifts.size, max(64, _CELLS // count)):
        weights = np.zeros((part.stop - part.start, count))
        redo = np.arange(weights.shape[0])
        for _ in range(_TRIES):
            for group, rng in zip(groups, streams, strict=True):
                size = group.size
                drawn = rng.multinomial(size, np.full(size, 1 / size), redo.size)
                weights[np.ix_(redo, group)] = drawn
            redo = redo[~np.all([s.complete(weights[redo]) for s in sources], axis=0)]
            redrawn += redo.size
            if redo.size == 0:
                break
        else:
            raise AnalysisError(
                f"hardly any resample of whole {units.noun}s holds every benchmark on both sides",
                fix="leave out the benchmarks with runs in few of them, or take unit 'run'",
            )
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


def _unit_groups(comparison: Comparison) -> list[NDArray[np.intp]]:
    """Give the strata of units: all together where some hold both variants, else by side."""
    sides = comparison.units.sides
    if comparison.joint:
        return [np.arange(sides.size)]
    return [np.flatnonzero(sides == 0), np.flatnonzero(sides == 1)]


def _unit_sources(comparison: Comparison) -> list[_UnitSource]:
    units = comparison.units
    return [
        _UnitSource(side, where, units.sides.size, int(size[0]))
        for (side, _), where, size in zip(
            comparison.sides,
            (units.candidate, units.baseline),
            strata_sizes(comparison),
            strict=True,
        )
    ]


class _UnitSource:
    """Moves of one side's centres when whole units are drawn."""

    def __init__(
        self, side: Side, where: tuple[NDArray[np.int64], ...], count: int, m: int
    ) -> None:
        self._side = side
        self._where = where
        self._m = m
        self._sums, self._numbers = unit_sums(side, where, count)

    def complete(self, weights: Array) -> NDArray[np.bool_]:
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
def jackknife(comparison: Comparison) -> list[Array]:
    """Give the shifts of the log ratio without each unit, one array for each stratum."""
    units = comparison.units
    if units.unit == "run":
        return [
            sign * side.shift(side.without_each(i)[None, :], only=i)
            for side, sign in comparison.sides
            for i in range(len(comparison.benchmarks))
        ]
    count = units.sides.size
    total = np.zeros(count)
    sources = _unit_sources(comparison)
    for part in _parts(count, max(64, _CELLS // count)):
        weights = np.ones((part.stop - part.start, count))
        weights[np.arange(weights.shape[0]), np.arange(part.start, part.stop)] = 0
        for source, (side, sign) in zip(sources, comparison.sides, strict=True):
            if not source.complete(weights).all():
                raise AnalysisError(
                    f"the acceleration of BCa leaves out each {units.noun} in turn, and one "
                    f"{units.noun} holds all runs of a benchmark",
                    fix="leave that benchmark out, or take another interval",
                )
            total[part] += sign * side.shift(source.moved(weights))
    return [total[group] for group in _unit_groups(comparison)]


@np.errstate(all="ignore")  # who uses the numbers looks whether they are finite
def standard_error(comparison: Comparison) -> float:
    """Give the standard error of the log ratio by the delta method; not for medians.

    Every stratum needs 2 units.
    """
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
    groups = _unit_groups(comparison)
    parts = [float(total[group].var(ddof=1)) / group.size for group in groups]
    return float(np.sqrt(sum(parts)))
