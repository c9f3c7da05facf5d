"""Counts that grow with the run: what is more than their growth, and more than a division by time.

A count c of a run that took w may go with w as c = rate x w, whatever made it long: it accumulates. It may
not grow at all, as the page faults of a start: then its rate c / w falls with w. Neither shows that the count
has to do with the run's length. A rate and a count that both go with it, in one direction, do.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..covariates import Covariate
from .cells import Cell
from .columns import columns_of
from .orders import Directions, Fits, Shifts

__all__ = ["Witnesses", "beside_its_count", "witnesses"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Witnesses:
    """A rate and its count, each over its mean: so they differ by the logarithm of the run's time."""

    rate: Directions
    count: Directions


def witnesses(covariate: Covariate, cell: Cell, shifts: Shifts) -> Witnesses | None:
    """Prepare a rate and its count; None where the count is constant: its rate is only the run's time."""
    if covariate.count is None:
        return None
    count = replace(covariate, values=covariate.count, count=None)
    if columns_of(count, cell.rows) is None:
        return None
    found = [_over_mean(one, cell, shifts) for one in (covariate, count)]
    if found[0] is None or found[1] is None:
        return None
    return Witnesses(rate=found[0], count=found[1])


def _over_mean(covariate: Covariate, cell: Cell, shifts: Shifts) -> Directions | None:
    values = covariate.values[cell.rows]
    known = np.isfinite(values)
    column = np.where(known, values, 0.0) / float(values[known].mean())
    return shifts.prepared(column[:, None], known)


def beside_its_count(both: Witnesses, rate: Fits, count: Fits) -> Fits:
    """Give the smaller of the two shares where both go with the runs in one direction, else 0.

    In other orders the runs are those of a count that only accumulates (its rate is as it was, and the
    count follows the runs), or of one that does not grow (the count is as it was, and its rate follows):
    the one of both that makes larger shares. To first order in the logarithms, a rate r and the runs y give the
    count r + y, and a count c the rate c - y.
    """
    of_rate = _signed(both.rate, rate.along) / rate.length
    of_count = _signed(both.count, count.along) / count.length
    found = float(_common(of_rate, of_count)[0])
    grows = _drawn(both.rate, rate, 1.0)
    stays = _drawn(both.count, count, -1.0)
    larger = max((grows, stays), key=lambda shares: int((shares >= found).sum()))
    return replace(rate, found=found, drawn=larger)


def _signed(one: Directions, values: Floats) -> Floats:
    """Turn values along a direction so that more of the column is positive."""
    found: Floats = values * float(np.sign(one.back[0, 0]))
    return found


def _drawn(one: Directions, fits: Fits, sign: float) -> Floats:
    """Give the common share of one witness in other orders, and of the other, which follows the runs."""
    own = _signed(one, fits.signed)
    size = 1 / abs(float(one.back[0, 0]))
    product = own * size * fits.lengths
    squares = size**2 + 2 * sign * product + fits.lengths**2
    with np.errstate(divide="ignore", invalid="ignore"):
        other = (product + sign * fits.lengths**2) / (fits.lengths * np.sqrt(squares))
    return _common(own, np.nan_to_num(other))


def _common(a: Floats, b: Floats) -> Floats:
    found: Floats = np.where(a * b > 0, np.minimum(np.abs(a), np.abs(b)) ** 2, 0.0)
    return found
