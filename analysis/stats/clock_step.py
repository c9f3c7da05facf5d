"""The step of the clock behind values: the greatest of which all differences are multiples."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

__all__ = ["clock_step"]

Array = NDArray[np.float64]

_DIGITS = 13  # decimals of so many significant digits still stand out from rounding
_DECIMAL = 0.01  # distance from a whole number that rounding may cause there
_EPSILON = 2.0**-52
_CLEAR = 64  # a step this many rounding errors wide is no accident
_WHOLE = 0.02  # of a step: how far a gap may be from a whole number of steps


def clock_step(values: Array) -> float | None:
    """Give the greatest step of which all differences of the values are whole multiples.

    Decimal readings are recognised exactly; others (a clock of 1/3 ns, say) within rounding. It is
    the clock's step or a multiple of it: few readings may miss a finer step. None when the values
    have no common step wider than rounding, or are all equal.
    """
    distinct = np.unique(values)
    if distinct.size < 2:
        return None
    return _decimal_step(distinct) or _common_step(distinct)


def _decimal_step(distinct: Array) -> float | None:
    largest = float(np.abs(distinct).max())
    digits = _DIGITS - math.ceil(math.log10(largest))
    if not -300 < digits < 300:
        return None
    # 10.0**digits is exact up to 22; a negative power would not be, so divide instead
    scaled = distinct * 10.0**digits if digits >= 0 else distinct / 10.0**-digits
    whole = np.rint(scaled)
    if np.abs(scaled - whole).max() > _DECIMAL:
        return None
    step = math.gcd(*(int(gap) for gap in np.diff(whole)))
    if step == 0:
        return None
    return step / 10.0**digits if digits >= 0 else step * 10.0**-digits


def _common_step(distinct: Array) -> float | None:
    """Take Euclid's greatest common divisor of the gaps, in floating point, and prove it."""
    gaps = np.diff(distinct)
    error = _CLEAR * _EPSILON * float(np.abs(distinct).max())
    step = float(gaps.min())
    for gap in np.sort(gaps):
        a, b = float(gap), step
        while b > error:
            a, b = b, abs(math.remainder(a, b))
        step = a
    if step <= error:
        return None
    counts = np.rint(gaps / step)
    step = float(gaps @ counts / (counts @ counts))
    off = np.abs(gaps - counts * step).max()
    return step if off <= min(_WHOLE * step, error) else None
