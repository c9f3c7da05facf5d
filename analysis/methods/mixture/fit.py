"""Fit Gaussian mixtures to one sample: checked values, and the model that BIC chooses.

The candidates are K = 1 .. 9 components with one variance ("E") or a variance each ("V"), fitted
by EM from a start without randomness (sections 3 and 4.1). The numerical conventions are
those of the R package mclust 6.0.0, so the result is its result.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from ...errors import AnalysisError, InsufficientDataError, UsageError
from ...pages.model import Caution, cautions_of
from ...stats.arguments import checks_arguments, chosen, counted, numbers
from ...stats.samples import Array, Flags, Integers, clock_step
from ...stats.workers import Budget
from . import model as shared
from .model import EmState, Mixture, Scale

_Made = TypeVar("_Made")
MOST_COMPONENTS = 64
MOST_STARTS = 10_000
# values x the square of the largest K: 400 values with five components, ten times as many uncompiled
BUDGET = Budget(10_000, 100_000, "fit_sorted")


LEAST = 4  # the dip of fewer values is the same for every sample
_LARGEST, _LEAST_RANGE = 1e150, 1e-150  # squares stay finite, and above 0
_SAME = 1e-9  # neighbours closer than this share of the range are one reading of the clock


def ordered_values(values: ArrayLike, least: int, purpose: str) -> Array:
    """Give the values sorted; their squares are finite."""
    x = np.sort(numbers(values, "the values"))
    if x.size < least:
        text = f"{purpose} needs at least {least} values, and there are {x.size}"
        raise InsufficientDataError(text, n=x.size, needed=least)
    if not (np.abs(x) <= _LARGEST).all():
        raise AnalysisError(
            f"a value is not finite, or exceeds {_LARGEST:g}", fix="leave out failed runs"
        )
    return x


def checked(values: ArrayLike, least: int = LEAST) -> Array:
    """Give the values sorted, as the tests of modes need them."""
    x = ordered_values(values, least, "evidence about modes")
    if x[0] == x[-1]:
        raise AnalysisError(
            f"all {x.size} values are equal: there is nothing to tell modes by",
            fix="measure with a finer clock",
        )
    if x[-1] - x[0] < _LEAST_RANGE:
        raise AnalysisError(
            f"the values lie within {_LEAST_RANGE:g} of each other", fix="choose a smaller unit"
        )
    return x


def spread_ties(ordered: Array, tick: float | None = None) -> tuple[Array, float | None]:
    """Spread values that share a clock reading evenly over the clock's tick."""
    gaps = np.diff(ordered)
    new = gaps > _SAME * (ordered[-1] - ordered[0])
    if new.all():
        return ordered, None
    step = float(gaps[new].min()) if tick is None else tick
    group = np.concatenate(([0], np.cumsum(new)))
    count = np.bincount(group)
    first = np.concatenate(([0], np.cumsum(count)[:-1]))
    place = (np.arange(ordered.size) - first[group] + 0.5) / count[group] - 0.5
    moved = np.where(count[group] > 1, ordered[first[group]] + step * place, ordered)
    return np.sort(moved), step


class ScaledValues(NamedTuple):
    """Checked values on the scale of the fit: `values` sorted, `floor` the least variance."""

    values: Array
    floor: float


def prepared(
    values: ArrayLike,
    *,
    variance_floor: float = 0.0,
    resolution: float | None = None,
    scale: Scale = "linear",
) -> ScaledValues:
    """Check a sample and put it on the scale of the fit, as `fit_mixture` does first."""
    check_floor_and_scale(variance_floor, resolution, scale)
    x = numbers(values, "the values to be fitted")
    if x.size < 2:
        text = f"a mixture needs at least 2 values, and there are {x.size}"
        raise InsufficientDataError(text, n=x.size, needed=2)
    if not np.isfinite(x).all():
        raise AnalysisError("a value to be fitted is not finite", fix="leave out failed runs")
    x.sort()
    floor = variance_floor
    if scale == "log" and x[0] <= 0:
        raise AnalysisError(
            f"the log scale needs positive values, and the smallest is {x[0]:.6g}",
            fix='take scale="linear"',
        )
    if resolution is not None:
        step = resolution / float(np.median(x)) if scale == "log" else resolution
        floor = step * step / 12
    if scale == "log":
        x = np.log(x)
    if max(abs(x[0]), abs(x[-1])) > _LARGEST:
        raise AnalysisError(f"a value exceeds {_LARGEST:g} in size", fix="choose a larger unit")
    if x[0] == x[-1] and floor == 0:
        raise AnalysisError(
            f"all {x.size} values are equal: no Gaussian has so little spread",
            fix="measure with a finer clock, or give the clock's step as resolution",
        )
    return ScaledValues(x, floor)


def check_floor_and_scale(variance_floor: float, resolution: float | None, scale: str) -> None:
    """Refuse what is no floor, no step of a clock, or no scale."""
    chosen("scale", scale, ("linear", "log"))
    if not (math.isfinite(variance_floor) and variance_floor >= 0):
        raise UsageError(f"variance_floor must be a number from 0 on, not {variance_floor!r}")
    if resolution is not None and not (math.isfinite(resolution) and resolution > 0):
        raise UsageError(f"resolution must be a positive number, not {resolution!r}")
    if resolution is not None and variance_floor:
        raise UsageError("variance_floor and resolution both set the floor", fix="give one of them")


# --- All candidates of one small sample by numpy alone.
#
# Loading the kernels takes a third of a second, and compiling them for the first time many; some hundred
# values are fitted sooner than that. The candidates go through EM side by side. The arithmetic is the kernel's,
# operation by operation and in its order, so that the numbers are the same to the last digit where the processor
# multiplies and adds with one rounding (others round the kernel's numbers in between).


Fitted = tuple[Array, Array, Array]  # the BIC table, the state, and what was found

_SPLIT = 2.0**27 + 1
_TERMS = np.array([1 / math.factorial(k) for k in range(13)])
_ODD, _EVEN = _TERMS[3:12:2, None, None], _TERMS[2:11:2, None, None]


def multiply_add(a: Any, b: Any, c: Any) -> Array:  # noqa: ANN401 - arrays or numbers
    """Give a * b + c, rounded once: the product's and the sum's rounding errors are added at the end."""
    product = a * b
    a_high, b_high = a * _SPLIT, b * _SPLIT
    a_high, b_high = a_high - (a_high - a), b_high - (b_high - b)
    a_low, b_low = a - a_high, b - b_high
    lost = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
    total = product + c
    part = total - product
    left = (product - (total - part)) + (c - part)
    return np.asarray(total + (left + lost))


def exponential(t: Array) -> Array:
    """Give exp(t), t a table of numbers from -700 to 700, by the kernel's polynomial."""
    power = np.rint(t * (1 / shared.LN2))
    r = multiply_add(power, -shared.LN2_LOW, t - power * shared.LN2_HIGH)
    r2 = r * r
    r4 = r2 * r2
    pairs = multiply_add(_ODD, r, _EVEN)
    first, second, third = multiply_add(pairs[::2], r2, np.stack([1.0 + r, *pairs[1::2]]))
    third = multiply_add(_TERMS[12], r4, third)
    p = multiply_add(multiply_add(third, r4, second), r4, first)
    return np.asarray(np.ldexp(p, power.astype(np.int32)))


def _logs(values: Array) -> Array:
    """Take logarithms one by one: numpy's differ from the kernel's in the last digit."""
    return np.array([math.log(v) if v > 0 else -math.inf for v in values.ravel()]).reshape(
        values.shape
    )


def _classes(x: Array, k: int, levels: int) -> tuple[list[int], int] | None:
    """Divide the sorted values at quantiles as `quantile_start` does: where classes begin; levels."""
    for count in range(max(levels, k + 1), shared.most_levels(x.size, k) + 1):
        share = np.arange(count) * (1.0 / (count - 1))
        share[-1] = 1.0
        index = (x.size - 1) * share + 1.0
        low = np.floor(index).astype(np.intp)
        h = index - low
        below, above = x[low - 1], x[np.minimum(low, x.size - 1)]
        cuts = np.where((h > 0) & (above != below), (1.0 - h) * below + h * above, below)
        cuts = cuts[np.concatenate([[True], cuts[1:] != cuts[:-1]])]
        if cuts.size > k:
            break
    else:
        return None
    narrowest = np.argsort(np.diff(cuts), kind="stable")[: cuts.size - k - 1]
    inner = np.delete(cuts, narrowest)[1:k]  # the outer two are beyond all values
    return [0, *np.searchsorted(x, inner).tolist(), x.size], count


def _moments(x: list[float], begins: list[int]) -> Iterator[tuple[float, float, float, float]]:
    """Give each class's mean, its size, and its sums of d and of d^2, d from the mean."""
    for start, stop in pairwise(begins):
        first = x[start] if stop > start else 0.0
        total = 0.0
        for value in x[start:stop]:
            total += value - first
        centre = first + total / (stop - start) if stop > start else 0.0
        one = two = 0.0
        for value in x[start:stop]:
            one += value - centre
            two += (value - centre) * (value - centre)
        yield centre, stop - start, one, two


def _lanes(terms: Array) -> Array:
    """Add up the last axis as the kernel does: every eighth value, then these in pairs."""
    rows = np.zeros((*terms.shape[:-1], -(-terms.shape[-1] // shared.LANES) * shared.LANES))
    rows[..., : terms.shape[-1]] = terms
    left = rows.reshape(*terms.shape[:-1], -1, shared.LANES).sum(axis=-2)
    while left.shape[-1] > 1:
        left = left[..., ::2] + left[..., 1::2]
    return np.asarray(left[..., 0])


def _summed(r: Array, x: Array, centres: Array) -> Array:
    """Sum r, r d and r d^2 of each row and component."""
    d = x[:, None] - centres[..., None]
    return np.stack([_lanes(r), _lanes(r * d), _lanes(r * d * d)], axis=1)


class _Sample(NamedTuple):
    """One sample on the scale of the kernel, and what its fit has found so far."""

    x: Array
    unit: float
    least: float
    lowest: float
    shift: float
    table: Array
    state: Array
    found: Array


class _Rows(NamedTuple):
    """Candidates on their way through EM, side by side: one row each, a column for each component.

    `sample` and `kind` say whose candidate a row is, and whether its variances vary; `used` which
    columns it has, `inside` where its values x end. `sums` are those of memberships r, of r d and
    of r d^2 with d from `centres`.
    """

    sample: Integers
    kind: Integers
    x: Array
    inside: Flags
    limits: Array
    used: Flags
    centres: Array
    sums: Array
    weights: Array
    means: Array
    variances: Array

    def only(self, rows: Any) -> _Rows:  # noqa: ANN401 - whatever indexes rows
        """Leave the others out."""
        return _Rows(*(part[rows] for part in self))

    @property
    def n(self) -> Integers:
        """How many values each row has, as a column."""
        return np.asarray(self.inside.sum(axis=1, keepdims=True))

    def maximised(self, *, closing: bool = False) -> tuple[_Rows, Flags]:
        """Turn sums into parameters; tell which rows go on. Nothing limits the `closing` step."""
        members, first, second = self.sums.transpose(1, 0, 2)
        d = first / members
        squares = np.where(self.used, second - first * d, 0.0)
        pooled = np.zeros((len(squares), 1))
        for column in range(squares.shape[1]):
            pooled += squares[:, column : column + 1]
        variances = np.where(self.kind[:, None] == 1, squares / members, pooled / self.n)
        least, lowest = self.limits.T[..., None]
        wide = (lowest > 0.0) | (variances > (0.0 if closing else least))
        variances = np.where((lowest > 0.0) & ~(variances > lowest), lowest, variances)
        goes_on = ((members > shared.LEAST_MEMBERSHIP) & wide) | ~self.used
        new = self._replace(weights=members / self.n, means=self.centres + d, variances=variances)
        return new, goes_on.all(axis=1)

    def expected(self) -> tuple[_Rows, Array]:
        """Give the sums for the parameters, and the rows' log-likelihoods."""
        ratio = np.where(self.used, self.weights * self.weights / self.variances, 1.0)
        height = 0.5 * (_logs(ratio) - shared.LOG_2PI)
        slope = np.where(self.used, -0.5 / self.variances, 0.0)
        means = np.where(self.used, self.means, 0.0)
        d = self.x[:, None] - means[..., None]
        e, used = np.zeros_like(d), self.used
        t = multiply_add(slope[used, None], d[used] * d[used], height[used, None])
        e[used] = exponential(np.where(t > shared.FLOOR, t, shared.FLOOR))
        total = np.zeros_like(self.x)
        for column in range(e.shape[1]):
            total += e[:, column]
        likelihoods = np.zeros(len(e))
        for row, i in np.argwhere(self.inside & (total < shared.TINY)):
            # densities that would vanish are taken relative to the largest
            logs = height[row] + slope[row] * (d[row, :, i] * d[row, :, i])
            largest = logs[self.used[row]].max()
            likelihoods[row] += largest
            total[row, i] = 0.0
            for k in np.flatnonzero(self.used[row]):
                e[row, k, i] = math.exp(logs[k] - largest)
                total[row, i] += e[row, k, i]
        total[~self.inside] = 1.0
        mantissas, exponents = np.frexp(total)
        lanes = np.ones((len(total), -(-total.shape[1] // shared.LANES) * shared.LANES))
        lanes[:, : total.shape[1]] = 2.0 * mantissas
        product = lanes.reshape(len(total), -1, shared.LANES).prod(axis=1)
        while product.shape[1] > 1:
            product = product[:, ::2] * product[:, 1::2]
        likelihoods += _logs(product[:, 0]) + (exponents - 1).sum(axis=1) * shared.LN2
        r = e * np.where(self.inside, 1.0 / total, 0.0)[:, None]
        new = self._replace(centres=means, sums=_summed(r, self.x, means))
        size, one, two = new.sums.transpose(1, 0, 2)
        moved = np.where(self.used & (size > 0.0), one / size, 0.0)
        far = moved * moved > shared.CANCELLED * (two / size - moved * moved)
        if far.any():
            # a mean moved far: d^2 would cancel, so the moments are taken around its new place
            centres = np.where(far, means + moved, means)
            new = self._replace(centres=centres, sums=_summed(r, self.x, centres))
        return new, likelihoods


# columns that a row does not have; a candidate that fails says so itself
@np.errstate(all="ignore")
def fit_sorted(samples: Sequence[ScaledValues], most: int) -> list[Fitted]:
    """Fit all candidates to each sample from the quantile start, of at most `TILE` values each.

    Gives what the kernel of this name writes: the BIC table, the state and what was found.
    """
    ready = [_scaled(sample.values, sample.floor, most) for sample in samples]
    rows = _start(ready, most)
    before = np.full(len(rows.kind), np.inf)
    ended: list[tuple[int, int, int, float, int, _Rows]] = []
    for iteration in range(1, shared.MOST_ITERATIONS):
        rows, goes_on = rows.maximised()
        rows, before = rows.only(goes_on), before[goes_on]
        if not len(before):
            break
        rows, likelihoods = rows.expected()
        likelihoods -= np.array([ready[i].shift for i in rows.sample])
        goes_on = np.abs(before - likelihoods) / (1.0 + np.abs(likelihoods)) > shared.TOLERANCE
        for at in np.flatnonzero(~goes_on):
            row = rows.only([at])
            key = int(row.sample[0]), int(row.used.sum()), int(row.kind[0])
            ended.append((*key, float(likelihoods[at]), iteration, row))
        rows, before = rows.only(goes_on), likelihoods[goes_on]
    for i, k, kind, likelihood, iteration, row in sorted(ended, key=lambda one: one[:3]):
        one = ready[i]
        bic = 2.0 * likelihood - (3 * k - 1 if kind else 2 * k) * math.log(one.x.size)
        if not -math.inf < bic < math.inf:
            continue
        one.table[kind, k - 1] = bic
        if one.found[0] == 0.0 or bic > one.found[3]:
            lifted = one.lowest > 0.0 and (row.variances[0, :k] <= one.lowest).sum()
            one.found[:] = k, kind, likelihood, bic, iteration, lifted
            _keep(row, k, one.state)
    for one in ready:
        one.state[[1, 2, 4, 5]] *= one.unit
    return [(one.table, one.state, one.found) for one in ready]


def _scaled(values: Array, floor: float, most: int) -> _Sample:
    """Bring sorted values to a unit of a power of 2, and fit the first candidate: one Gaussian."""
    n = values.size
    power = max(-1000, min(1000, math.frexp(values[-1] / 2 - values[0] / 2)[1]))
    unit = math.ldexp(1.0, power)
    x, lowest = values / unit, floor / unit / unit
    least = 0.0 if floor > 0.0 else max(shared.LEAST_VARIANCE / unit / unit, shared.LEAST_SCALED)
    shift = n * (power * math.log(2.0))
    table, state = np.full((2, most), np.nan), np.full((shared.STATE, most), np.nan)
    found = np.zeros(shared.FOUND)
    ((centre, _, one, two),) = _moments(x.tolist(), [0, n])
    d = one / n
    raw = (two - one * d) / n
    variance = max(raw, lowest)
    if variance > 0.0:
        likelihood = -0.5 * n * (shared.LOG_2PI + math.log(variance) + raw / variance) - shift
        bic = 2.0 * likelihood - 2.0 * math.log(n)
        table[:, 0] = bic
        found[:] = 1.0, 0.0, likelihood, bic, 0.0, lowest > 0.0 and variance <= lowest
        state[:, 0] = [1.0, centre + d, math.sqrt(variance)] * 2
    return _Sample(x, unit, least, lowest, shift, table, state, found)


def _start(samples: Sequence[_Sample], most: int) -> _Rows:
    """Give all candidates from two components on, with the sums of the classes they start from."""
    begun: list[tuple[int, int, Array]] = []
    for i, one in enumerate(samples):
        levels, values = 0, one.x.tolist()
        for k in range(2, min(most, one.x.size) + 1) if values[0] < values[-1] else ():
            classes = _classes(one.x, k, levels)
            if classes is None:
                break
            levels = classes[1]
            moments = np.array([*_moments(values, classes[0])]).T
            begun += [(i, kind, moments) for kind in (0, 1)]
    count, longest = len(begun), max(one.x.size for one in samples)
    x, inside = np.zeros((count, longest)), np.zeros((count, longest), dtype=bool)
    sums, used = np.zeros((count, 4, most)), np.zeros((count, most), dtype=bool)
    for at, (i, _, moments) in enumerate(begun):
        x[at, : samples[i].x.size], inside[at, : samples[i].x.size] = samples[i].x, True
        sums[at, :, : moments.shape[1]], used[at, : moments.shape[1]] = moments, True
    limits = np.array([(samples[i].least, samples[i].lowest) for i, _, _ in begun])
    owner, kinds = (np.array([one[at] for one in begun], dtype=np.intp) for at in (0, 1))
    none = np.empty(used.shape)
    limits = limits.reshape(count, 2)
    return _Rows(owner, kinds, x, inside, limits, used, sums[:, 0], sums[:, 1:], none, none, none)


def _keep(row: _Rows, k: int, state: Array) -> None:
    """Write a candidate's state before and after mclust's closing M-step."""
    closed, done = row.maximised(closing=True)
    distance = 0.0
    for apart in (row.weights - row.sums[:, 0] / row.n)[0, :k].tolist():
        distance += apart * apart
    state[:] = np.nan
    for at, one in ((3, row), (0, closed if distance > shared.CLOSING and done[0] else row)):
        state[at : at + 2, :k] = one.weights[0, :k], one.means[0, :k]
        state[at + 2, :k] = np.sqrt(one.variances[0, :k])


FEW_VALUES = 20  # below, the number of components is hardly determined
_UNIT_LIMIT = 2.0**-26  # the square root of mclust's limit on a variance


def fit_cautions(
    sample: ScaledValues, table: Array, k: int, floored: int, further: int
) -> tuple[Caution, ...]:
    """Say what limits a fit of `k` components, `floored` of them at the least variance."""
    x, floor = sample
    n, most = x.size, table.shape[1]
    distinct = int(np.count_nonzero(np.diff(x))) + 1
    lost = int(np.isnan(table[:, : min(most, n)]).sum())
    single = distinct > 2 and lost == 2 * min(most, n) - 2  # nothing but one Gaussian is left
    narrow = floor == 0 and lost > 0 and (single or bool(x[-1] - x[0] < 2 * _UNIT_LIMIT))
    return cautions_of(
        {
            "few-values": n < FEW_VALUES and f"{n} values hardly determine a number of components",
            "components-at-limit": at_limit(k, most, n),
            "many-ties": distinct < n * 0.5
            and f"only {distinct} of {n} values are distinct: components may describe the clock's "
            "steps instead of the program",
            "spread-too-small": narrow
            and "the spread is so small in this unit that only one Gaussian is allowed (variances "
            "up to 2.2e-16 are refused): fit in a smaller unit, or give the clock's step as resolution",
            "candidates-discarded": not narrow and discarded(lost, 2 * min(most, n)),
            "variance-at-floor": floored > 0
            and f"{floored} of {k} components have the least variance allowed: see the floor",
            "start-of-some": n > shared.START_VALUES
            and f"the start takes {shared.START_VALUES} evenly spaced order statistics of {n} values; "
            "mclust draws them at random, so its result may differ",
            "starts-without-floor": further > 0
            and floor == 0
            and "many starts without a floor favour components that sit on a few tied values",
        }
    )


def at_limit(k: int, most: int, n: int) -> str | bool:
    """Say that a fit of n values has as many components as were tried."""
    return k == most < n and f"the best K is the largest that was tried, {most}: try more"


def discarded(lost: int, tried: int) -> str | bool:
    """Say how many candidates have no fit."""
    why = "(an empty class or a vanishing variance)"
    return lost > 0 and f"{lost} of {tried} candidates were discarded {why}"


_READING = 1.0 + 1e-6  # steps within which two values are one reading: rounding may part them
_CHANCE = 1e-4  # that readings anywhere stand so close to a grid


def coarser_grid(values: ArrayLike, resolution: float) -> tuple[Caution, ...]:
    """Say when tied values stand on a coarser grid than the step that was given for the clock."""
    x = np.sort(np.asarray(values, dtype=float))
    found = _rough_grid(x, resolution)
    step, count = found or (clock_step(x), np.unique(x).size)
    if step is None or step < 2 * resolution or count == x.size:
        return ()
    width, some = (f"{step:.2g}", "some ") if found else (f"{step:.6g}", "")
    return cautions_of(
        {
            "grid-coarser": f"the values stand {some}{width} apart ({count} readings for {x.size} "
            f"values), on a coarser grid than the resolution of {resolution:g}: components may be "
            f"its steps; try a resolution of {width}"
        }
    )


def _rough_grid(x: Array, resolution: float) -> tuple[float, int] | None:
    """Give the step and the readings of a grid that is blurred by less than the resolution.

    Values within `resolution` of their neighbour are one reading: a grid of 0.2 printed with two digits
    shows 93.41 and 93.42. A grid is one where readings are half as many as values at most, none is
    wider than two resolutions, and readings at random places would hardly be as close to multiples
    of one width: the chance is the share of places so close, to the power of the readings that are free.
    """
    group = np.concatenate(([0], np.cumsum(np.diff(x) > resolution * _READING)))
    count = int(group[-1]) + 1
    if not 3 <= count <= 0.5 * x.size:
        return None
    first = np.searchsorted(group, np.arange(count))
    last = np.append(first[1:], x.size) - 1
    centres = np.bincount(group, x - x[0]) / np.bincount(group)
    gaps = np.diff(centres)
    places = np.concatenate(([0.0], np.cumsum(np.rint(gaps / gaps.min()))))
    step, start = (float(one) for one in np.polyfit(places, centres, 1))
    away = max(float(np.abs(start + step * places - centres).max()), resolution / 2)
    known = (2 * away / step) ** (count - 2) <= _CHANCE
    return (step, count) if known and (x[last] - x[first]).max() <= 2 * resolution else None


REFERENCES = (
    *shared.REFERENCES,
    "L. Scrucca et al., mclust 5, The R Journal 8(1), 2016 (conventions of the fit)",
)


@checks_arguments
def fit_mixture(
    values: ArrayLike,
    *,
    max_components: int = 9,
    starts: int = 1,
    variance_floor: float = 0.0,
    resolution: float | None = None,
    scale: Scale = "linear",
    rng: np.random.Generator | None = None,
) -> Mixture:
    """Fit mixtures of 1 to `max_components` Gaussians and take the one with the best BIC.

    With its defaults the fit is mclust's: quantile start, EM until the log-likelihood changes by
    at most 1e-5 of itself, candidates discarded whose variance vanishes, BIC = 2 L - p ln n with
    p = 2K (E) or 3K - 1 (V), equal BIC to the smaller K and then to E, and one closing M-step
    (whose state before it is kept in `Mixture.em`). Above 2,000 values mclust draws 2,000 at
    random for its start; here the start takes 2,000 evenly spaced order statistics.

    Parameters
    ----------
    values : array_like, shape (n,)
        At least 2 finite values, not all equal, in any unit. The stop rule and the limit on the
        variance are not invariant to the unit: parameters may change in their fourth digit.
    max_components : int
        The largest K, 1 to 64; never more than n.
    starts : int
        How many starts each candidate has. The first is the quantile start; further ones choose
        their centres at random (as k-means++ does) and need `rng`. The best likelihood counts.
    variance_floor : float
        The least variance of a component, in squared units (of ln x on the log scale). 0 keeps
        mclust's rule. With a floor no candidate is discarded for its variance.
    resolution : float, optional
        The step of the clock, in the values' unit: sets the floor to resolution^2 / 12, the
        variance of rounding. On the log scale the step is taken relative to the median. A caution
        tells when the values stand on a coarser grid: no floor below that grid mends it.
    scale : {"linear", "log"}
        "log" fits the logarithms of the values, which must be positive; likelihood and BIC are
        then those of the logarithms.
    rng : numpy.random.Generator, optional
        Where further starts come from.

    Returns
    -------
    Mixture
        The best candidate, the BIC table of all, and cautions.

    Raises
    ------
    UsageError
        If an argument is out of its range, or `starts` above 1 comes without `rng`.
    InsufficientDataError
        With fewer than 2 values.
    AnalysisError
        If a value is not finite, not positive on the log scale, or too large; if all are equal
        and there is no floor; if no candidate can be fitted.
    """
    most = counted("max_components", max_components, most=MOST_COMPONENTS)
    further = counted("starts", starts, most=MOST_STARTS) - 1
    if further and rng is None:
        raise UsageError("further starts are random and need rng, a numpy Generator")
    sample = prepared(values, variance_floor=variance_floor, resolution=resolution, scale=scale)
    draws = np.empty((0, 1, 1))
    if further and rng is not None:
        draws = rng.random((further, most, most))
    coarse = () if resolution is None else coarser_grid(values, resolution)
    few = not further and BUDGET.uncompiled and _are_few([sample], most)
    fitted = fit_sorted([sample], most)[0] if few else _compiled(sample, most, draws)
    return _mixture(sample, fitted, scale, further, coarse)


def fit_each(samples: Sequence[ArrayLike], max_components: int) -> list[Mixture | None]:
    """Fit each sample as `fit_mixture` does with its other defaults; None where that refuses.

    Few values are fitted without the kernels, whose first use takes longer, to the same numbers.
    """
    ready = [_or_none(prepared, values) for values in samples]
    here = [sample for sample in ready if sample is not None]
    if here and _are_few(here, max_components):
        fits = fit_sorted(here, max_components)
    else:
        fits = [_compiled(sample, max_components, np.empty((0, 1, 1))) for sample in here]
    left = iter(fits)
    return [None if one is None else _or_none(_mixture, one, next(left)) for one in ready]


def _are_few(samples: Sequence[ScaledValues], most: int) -> bool:
    sizes = [sample.values.size for sample in samples]
    return max(sizes) <= shared.TILE and BUDGET.allows(sum(sizes) * most**2)


def _or_none(make: Callable[..., _Made], *args: object) -> _Made | None:
    try:
        return make(*args)
    except AnalysisError:
        return None


def _compiled(sample: ScaledValues, most: int, draws: Array) -> Fitted:
    from .fit_kernel import fitted

    room = fitted(sample.values, sample.floor, most, draws)
    return room.table, room.state, room.found


def _mixture(
    sample: ScaledValues,
    fitted: Fitted,
    scale: Scale = "linear",
    further: int = 0,
    more: tuple[Caution, ...] = (),
) -> Mixture:
    x, (table, state, found) = sample.values, fitted
    k, varying = int(found[0]), found[1] > 0
    if k == 0 or not (state[2, :k] > 0).all():
        raise AnalysisError(
            f"no mixture fits these {x.size} values: their spread is lost in rounding",
            fix="subtract a constant, or give the values with more digits",
        )
    weights, means, sds = state[:3, :k]
    before = EmState(weights=state[3, :k], means=state[4, :k], sds=state[5, :k])
    return Mixture(
        weights=weights,
        means=means,
        sds=sds,
        equal_variance=not varying,
        log_likelihood=float(found[2]),
        bic=float(found[3]),
        bic_table={"E": tuple(table[0].tolist()), "V": tuple(table[1].tolist())},
        n=x.size,
        iterations=int(found[4]) if k > 1 else None,
        scale=scale,
        em=before,
        cautions=(*fit_cautions(sample, table, k, int(found[5]), further), *more),
        references=REFERENCES,
    )
