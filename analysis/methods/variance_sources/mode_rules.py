"""Rules that tell two kinds of runs apart by one covariate; other orders of labels.

A factor that was drawn for each run may be held against any order of the labels. Of an observed one only
the whole session is turned, so that neighbours stay neighbours: labels and covariate keep the dependence
that each has in itself, and lose only that between them.

A rule names a set of the covariate's values: an arc of a circle, all from a threshold on or up to one, or
some levels of a category. What it is worth is Youden's J, the share of the runs inside that it names less
the share of those outside [1]_. The largest J over all arcs is Kuiper's statistic, over all thresholds
Kolmogorov's and Smirnov's, over all sets of levels the total variation distance: so the best rule is
found from counts alone, for many labellings at a time.

References
----------
.. [1] W. J. Youden, "Index for rating diagnostic tests", Cancer 3, 1950.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ...stats.samples import Array, Flags, Indices, Integers

Labels = NDArray[np.int8]
_NOTHING = 1e-9  # of the spread: what rounding leaves of a straight line


def within(sessions: Integers) -> tuple[Indices, ...]:
    """Give the runs of each session, in their order."""
    return tuple(np.flatnonzero(sessions == one) for one in dict.fromkeys(sessions.tolist()))


def permuted(
    labels: Labels, sessions: Sequence[Indices], count: int, rng: np.random.Generator
) -> Labels:
    """Give `count` orders of the labels, each drawn from all orders within the sessions."""
    found = np.empty((count, labels.size), dtype=np.int8)
    for runs in sessions:
        places = np.argsort(rng.random((count, runs.size)), axis=1)
        found[:, runs] = labels[runs][places]
    return found


def turned(
    labels: Labels, sessions: Sequence[Indices], count: int, rng: np.random.Generator
) -> Labels:
    """Give `count` orders in which each session was turned by a number of runs drawn for it."""
    found = np.empty((count, labels.size), dtype=np.int8)
    for runs in sessions:
        by = rng.integers(runs.size, size=(count, 1))
        found[:, runs] = labels[runs][(np.arange(runs.size) + by) % runs.size]
    return found


def detrended(values: Array, sessions: Sequence[Indices]) -> Array:
    """Take the straight line out of each session, and leave its mean; unknown values stay nan."""
    found = values.copy()
    for runs in sessions:
        known = np.isfinite(values[runs])
        if known.sum() < 3:
            continue
        x = np.flatnonzero(known) - np.flatnonzero(known).mean()
        y = values[runs][known] - values[runs][known].mean()
        rest = y - x * (x @ y) / (x @ x)
        if np.abs(rest).max() <= _NOTHING * np.abs(values[runs][known]).max():
            rest = np.zeros_like(rest)
        found[runs[known]] = values[runs][known].mean() + rest
    return found


Shape = Literal["arc", "threshold", "levels"]
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OrderedValues:
    """The values of a covariate, put in order once for all labellings.

    `known` are the runs whose value is known, by value; each of the `different` values, ascending, begins
    at one of `starts` in it. `period` is that of a circle.
    """

    shape: Shape
    period: float | None
    known: Indices
    starts: Indices
    different: Array


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A set of values of a covariate.

    `first` and `last` are the outermost observed values inside, None on the open side of a threshold; of an
    arc `first` may be the larger one: it then goes through 0. `low` and `high` are the borders, halfway to
    the next value outside; `levels` those of a category, `period` that of a circle.
    """

    shape: Shape
    first: float | None = None
    last: float | None = None
    low: float | None = None
    high: float | None = None
    levels: tuple[float, ...] = ()
    period: float | None = None

    def names(self, values: Array) -> Flags:
        """Tell which values are in the set; an unknown one (nan) never is."""
        if self.shape == "levels":
            return np.isin(values, self.levels)
        with np.errstate(invalid="ignore"):
            if self.shape == "threshold":
                low = -np.inf if self.low is None else self.low
                high = np.inf if self.high is None else self.high
                inside: Flags = (values >= low) & (values < high)
            else:
                low, high, period = self.low or 0.0, self.high or 0.0, self.period or 1.0
                inside = np.mod(values - low, period) < np.mod(high - low, period)
        return inside


def places_of(values: Array, shape: Shape, period: float | None = None) -> OrderedValues:
    """Put the values of a covariate in order; unknown ones (nan) are left out."""
    taken = values if shape != "arc" or period is None else np.mod(values, period)
    known = np.flatnonzero(np.isfinite(taken))
    known = known[np.argsort(taken[known], kind="stable")]
    different, starts = np.unique(taken[known], return_index=True)
    return OrderedValues(
        shape=shape,
        period=period if shape == "arc" else None,
        known=known,
        starts=starts,
        different=different,
    )


def _sums(places: OrderedValues, inside: Flags, outside: Flags) -> Array:
    """Give the share of the runs inside that have each value or less, less that of those outside."""
    ends = np.append(places.starts[1:], places.known.size) - 1
    mine = np.cumsum(inside[:, places.known], axis=1, dtype=np.int32)[:, ends]
    if (inside ^ outside).all():
        others = (ends + 1).astype(np.int32) - mine
    else:
        others = np.cumsum(outside[:, places.known], axis=1, dtype=np.int32)[:, ends]
    found: Array = mine / np.maximum(mine[:, -1:], 1) - others / np.maximum(others[:, -1:], 1)
    found[(mine[:, -1] == 0) | (others[:, -1] == 0)] = 0.0
    return found


def largest_j(places: OrderedValues, inside: Flags, outside: Flags) -> Array:
    """Give the J of the best rule for each of several labellings."""
    if places.different.size < 2:
        return np.zeros(inside.shape[0])
    sums = _sums(places, inside, outside)
    if places.shape == "levels":
        return np.asarray(np.maximum(np.diff(sums, axis=1, prepend=0.0), 0.0).sum(axis=1))
    if places.shape == "threshold":
        return np.asarray(np.abs(sums[:, :-1]).max(axis=1))
    return np.asarray(np.maximum(sums.max(axis=1), 0.0) - np.minimum(sums.min(axis=1), 0.0))


def best_rule(places: OrderedValues, inside: Flags, outside: Flags) -> Rule | None:
    """Find the rule with the largest J; None where no rule names some runs and not others."""
    values = places.different
    if values.size < 2:
        return None
    sums = _sums(places, inside[None], outside[None])[0]
    if places.shape == "levels":
        levels = tuple(values[np.diff(sums, prepend=0.0) > _ROUNDING].tolist())
        return Rule(shape="levels", levels=levels) if levels else None
    sums = sums[:-1]
    if not np.abs(sums).max() > _ROUNDING:
        return None
    if places.shape == "threshold":
        at = int(np.abs(sums).argmax())
        border = float(values[at] + values[at + 1]) / 2
        if sums[at] > 0:
            return Rule(shape="threshold", last=float(values[at]), high=border)
        return Rule(shape="threshold", first=float(values[at + 1]), low=border)
    return _arc(places, np.concatenate(([0.0], sums)))


def _arc(places: OrderedValues, before: Array) -> Rule:
    """Give the arc from the least to the largest sum of what lies before each value."""
    values, n = places.different, places.different.size
    period = places.period or 1.0
    first, after = int(before.argmin()), int(before.argmax())
    last = (after - 1) % n

    def border(at: int) -> float:
        """Halfway between a value and the one before it on the circle."""
        left, right = float(values[at - 1]), float(values[at])
        gap = (right - left) % period or period
        return (right - gap / 2) % period

    return Rule(
        shape="arc",
        first=float(values[first]),
        last=float(values[last]),
        low=border(first),
        high=border((last + 1) % n),
        period=period,
    )
