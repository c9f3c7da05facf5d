"""Rules that tell two kinds of runs apart by one covariate, and the best of them.

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

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

__all__ = ["Places", "Rule", "Shape", "best_rule", "largest_j", "places_of"]

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Shape = Literal["arc", "threshold", "levels"]
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Places:
    """The values of a covariate, put in order once for all labellings.

    Attributes
    ----------
    shape : {"arc", "threshold", "levels"}
        Which rules there are.
    period : float or None
        Of a circle.
    known : array of int
        The runs whose value is known, by value.
    starts : array of int
        Where in `known` each different value begins.
    different : array of float
        The different values, ascending.
    """

    shape: Shape
    period: float | None
    known: NDArray[np.intp]
    starts: NDArray[np.intp]
    different: Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A set of values of a covariate.

    Attributes
    ----------
    shape : {"arc", "threshold", "levels"}
        What kind of set.
    first, last : float or None
        The outermost observed values inside; of an arc `first` may be the larger one: it then goes
        through 0. None on the open side of a threshold.
    low, high : float or None
        The borders, halfway to the next value outside.
    levels : tuple of float
        Of a category.
    period : float or None
        Of a circle.
    """

    shape: Shape
    first: float | None = None
    last: float | None = None
    low: float | None = None
    high: float | None = None
    levels: tuple[float, ...] = ()
    period: float | None = None

    def names(self, values: Floats) -> Flags:
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


def places_of(values: Floats, shape: Shape, period: float | None = None) -> Places:
    """Put the values of a covariate in order; unknown ones (nan) are left out.

    Parameters
    ----------
    values : array of float, shape (n,)
        One a run.
    shape : {"arc", "threshold", "levels"}
        Which rules are looked for.
    period : float, optional
        Of an arc; values are taken modulo it.
    """
    taken = values if shape != "arc" or period is None else np.mod(values, period)
    known = np.flatnonzero(np.isfinite(taken))
    known = known[np.argsort(taken[known], kind="stable")]
    different, starts = np.unique(taken[known], return_index=True)
    return Places(
        shape=shape,
        period=period if shape == "arc" else None,
        known=known,
        starts=starts,
        different=different,
    )


def _sums(places: Places, inside: Flags, outside: Flags) -> Floats:
    """Give the share of the runs inside that have each value or less, less that of those outside.

    The last column is 0, and all are where one side has no runs.
    """
    ends = np.append(places.starts[1:], places.known.size) - 1
    mine = np.cumsum(inside[:, places.known], axis=1, dtype=np.int32)[:, ends]
    if (inside ^ outside).all():
        others = (ends + 1).astype(np.int32) - mine
    else:
        others = np.cumsum(outside[:, places.known], axis=1, dtype=np.int32)[:, ends]
    found: Floats = mine / np.maximum(mine[:, -1:], 1) - others / np.maximum(others[:, -1:], 1)
    found[(mine[:, -1] == 0) | (others[:, -1] == 0)] = 0.0
    return found


def largest_j(places: Places, inside: Flags, outside: Flags) -> Floats:
    """Give the J of the best rule for each of several labellings.

    Parameters
    ----------
    places : Places
        The covariate.
    inside, outside : array of bool, shape (k, n)
        For each labelling, which runs are to be named and which not; a run may be neither.

    Returns
    -------
    array of float, shape (k,)
        0 (no rule is worth anything) to 1 (one tells all of them apart).
    """
    if places.different.size < 2:
        return np.zeros(inside.shape[0])
    sums = _sums(places, inside, outside)
    if places.shape == "levels":
        found: Floats = np.maximum(np.diff(sums, axis=1, prepend=0.0), 0.0).sum(axis=1)
    elif places.shape == "threshold":
        found = np.abs(sums[:, :-1]).max(axis=1)
    else:
        found = np.maximum(sums.max(axis=1), 0.0) - np.minimum(sums.min(axis=1), 0.0)
    return found


def best_rule(places: Places, inside: Flags, outside: Flags) -> Rule | None:
    """Find the rule with the largest J; None where no rule names some runs and not others.

    Parameters
    ----------
    places : Places
        The covariate.
    inside, outside : array of bool, shape (n,)
        Which runs are to be named, and which not.
    """
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


def _arc(places: Places, before: Floats) -> Rule:
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
