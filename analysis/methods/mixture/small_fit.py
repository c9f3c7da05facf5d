"""All candidate mixtures of one small sample, as the compiled kernel fits them, by numpy alone.

Loading the kernels takes a third of a second, and compiling them for the first time many; some hundred
values are fitted sooner than that. The candidates go through EM side by side. The arithmetic is the kernel's,
operation by operation and in its order, so that the numbers are the same to the last digit where the processor
multiplies and adds with one rounding (others round the kernel's numbers in between).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...stats.samples import Array, Flags, Integers
from .model import (
    CANCELLED,
    CLOSING,
    FLOOR,
    FOUND,
    LANES,
    LEAST_MEMBERSHIP,
    LEAST_SCALED,
    LEAST_VARIANCE,
    LN2,
    LN2_HIGH,
    LN2_LOW,
    LOG_2PI,
    MOST_ITERATIONS,
    STATE,
    TINY,
    TOLERANCE,
    most_levels,
)

if TYPE_CHECKING:
    from .fit import ScaledValues

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
    power = np.rint(t * (1 / LN2))
    r = multiply_add(power, -LN2_LOW, t - power * LN2_HIGH)
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
    for count in range(max(levels, k + 1), most_levels(x.size, k) + 1):
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
    rows = np.zeros((*terms.shape[:-1], -(-terms.shape[-1] // LANES) * LANES))
    rows[..., : terms.shape[-1]] = terms
    left = rows.reshape(*terms.shape[:-1], -1, LANES).sum(axis=-2)
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
        goes_on = ((members > LEAST_MEMBERSHIP) & wide) | ~self.used
        new = self._replace(weights=members / self.n, means=self.centres + d, variances=variances)
        return new, goes_on.all(axis=1)

    def expected(self) -> tuple[_Rows, Array]:
        """Give the sums for the parameters, and the rows' log-likelihoods."""
        ratio = np.where(self.used, self.weights * self.weights / self.variances, 1.0)
        height = 0.5 * (_logs(ratio) - LOG_2PI)
        slope = np.where(self.used, -0.5 / self.variances, 0.0)
        means = np.where(self.used, self.means, 0.0)
        d = self.x[:, None] - means[..., None]
        e, used = np.zeros_like(d), self.used
        t = multiply_add(slope[used, None], d[used] * d[used], height[used, None])
        e[used] = exponential(np.where(t > FLOOR, t, FLOOR))
        total = np.zeros_like(self.x)
        for column in range(e.shape[1]):
            total += e[:, column]
        likelihoods = np.zeros(len(e))
        for row, i in np.argwhere(self.inside & (total < TINY)):
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
        lanes = np.ones((len(total), -(-total.shape[1] // LANES) * LANES))
        lanes[:, : total.shape[1]] = 2.0 * mantissas
        product = lanes.reshape(len(total), -1, LANES).prod(axis=1)
        while product.shape[1] > 1:
            product = product[:, ::2] * product[:, 1::2]
        likelihoods += _logs(product[:, 0]) + (exponents - 1).sum(axis=1) * LN2
        r = e * np.where(self.inside, 1.0 / total, 0.0)[:, None]
        new = self._replace(centres=means, sums=_summed(r, self.x, means))
        size, one, two = new.sums.transpose(1, 0, 2)
        moved = np.where(self.used & (size > 0.0), one / size, 0.0)
        far = moved * moved > CANCELLED * (two / size - moved * moved)
        if far.any():
            # a mean moved far: d^2 would cancel, so the moments are taken around its new place
            centres = np.where(far, means + moved, means)
            new = self._replace(centres=centres, sums=_summed(r, self.x, centres))
        return new, likelihoods


@np.errstate(
    all="ignore"
)  # columns that a row does not have; a candidate that fails says so itself
def fit_sorted(samples: Sequence[ScaledValues], most: int) -> list[Fitted]:
    """Fit all candidates to each sample from the quantile start, of at most `TILE` values each.

    Gives what the kernel of this name writes: the BIC table, the state and what was found.
    """
    ready = [_scaled(sample.values, sample.floor, most) for sample in samples]
    rows = _start(ready, most)
    before = np.full(len(rows.kind), np.inf)
    ended: list[tuple[int, int, int, float, int, _Rows]] = []
    for iteration in range(1, MOST_ITERATIONS):
        rows, goes_on = rows.maximised()
        rows, before = rows.only(goes_on), before[goes_on]
        if not len(before):
            break
        rows, likelihoods = rows.expected()
        likelihoods -= np.array([ready[i].shift for i in rows.sample])
        goes_on = np.abs(before - likelihoods) / (1.0 + np.abs(likelihoods)) > TOLERANCE
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
    least = 0.0 if floor > 0.0 else max(LEAST_VARIANCE / unit / unit, LEAST_SCALED)
    shift = n * (power * math.log(2.0))
    table, state = np.full((2, most), np.nan), np.full((STATE, most), np.nan)
    found = np.zeros(FOUND)
    ((centre, _, one, two),) = _moments(x.tolist(), [0, n])
    d = one / n
    raw = (two - one * d) / n
    variance = max(raw, lowest)
    if variance > 0.0:
        likelihood = -0.5 * n * (LOG_2PI + math.log(variance) + raw / variance) - shift
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
    for at, one in ((3, row), (0, closed if distance > CLOSING and done[0] else row)):
        state[at : at + 2, :k] = one.weights[0, :k], one.means[0, :k]
        state[at + 2, :k] = np.sqrt(one.variances[0, :k])
