"""One sample of values: its clock's step, its density, its lag plot.

References
----------
.. [1] B. W. Silverman, "Density estimation for statistics and data analysis", 1986, sections 2.4
   and 3.4.2.
"""

from __future__ import annotations

import math
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..registry import put_off

# `scipy.special` touches whatever numpy has, and never uses these: a third of what it takes to import
put_off("numpy.f2py", "numpy.testing")

Array = NDArray[np.float64]
Integers = NDArray[np.int64]
Indices = NDArray[np.intp]
Flags = NDArray[np.bool_]
Scalar = TypeVar("Scalar", bound=np.generic)


def read_only(array: NDArray[Scalar]) -> NDArray[Scalar]:
    """Give the array itself, which can be written to no longer."""
    array.flags.writeable = False
    return array


def median(values: Array, axis: int | None = None) -> Any:  # noqa: ANN401 - as numpy
    """Give `numpy.median` of finite values; two middle values whose sum overflows count by halves."""
    with np.errstate(over="ignore"):
        found = np.median(values, axis=axis)
    if np.isfinite(found).all():
        return found
    return np.where(np.isfinite(found), found, 2 * np.median(values / 2, axis=axis))


_DIGITS = 13  # with this number of significant digits, decimals still stand out from rounding
_DECIMAL = 0.01  # distance from a whole number that rounding may cause there
_EPSILON = 2.0**-52
_CLEAR = 64  # a step this many rounding errors wide is no accident
_WHOLE = 0.02  # of a step: how far a gap may be from a whole number of steps


def clock_step(values: Array) -> float | None:
    """Give the greatest step that divides all differences of the values.

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
    size = math.ldexp(0.5, math.frexp(float(gaps.max()))[1])  # exact, and no sum leaves the range
    step = size * float(gaps / size @ counts / (counts @ counts))
    off = np.abs(gaps - counts * step).max()
    return step if off <= min(_WHOLE * step, error) else None


_DRAW = 20261128


def off_ticks(values: Array) -> Array:
    """Spread the readings of a coarse clock over its ticks, the same way each time.

    Medians of absolute steps between ties are 0, or a tick. Where at most half of the values (shape (n,)) are
    distinct, each moves by half of their least difference at most; none that is positive becomes 0.
    """
    gaps = np.diff(np.sort(values))
    gaps = gaps[gaps > _CLEAR * _EPSILON * np.abs(values).max(initial=0.0)]
    if not gaps.size or 2 * (gaps.size + 1) > values.size:
        return values
    moved = values + gaps.min() * (np.random.default_rng(_DRAW).random(values.size) - 0.5)
    return np.where((values > 0) & (moved <= 0), values, moved)


_QUARTILES = 1.34  # interquartile range of a normal law, in standard deviations
_REACH = 40.0  # standard deviations beyond which a normal curve is 0 in doubles


def bandwidth_of(values: Array) -> float:
    """Give the width of each normal curve: 0.9 min(sd, IQR / 1.34) n^(-1/5) ([1]_, equation 3.31).

    `values` (shape (n,)): In the unit in which the density is drawn: logs of times, for example.
    Gives float: 0 where all values are equal, or there are fewer than two; the standard deviation
    alone counts where half of the values are equal.
    """
    if values.size < 2:
        return 0.0
    sd = float(values.std(ddof=1))
    low, high = np.quantile(values, [0.25, 0.75])
    spread = float(high - low) / _QUARTILES
    narrow = min(sd, spread) if spread > 0 else sd
    return 0.9 * narrow * math.pow(values.size, -1 / 5)


def kernel_density(values: Array, at: Array, bandwidth: float) -> Array:
    """Give the density at some places ([1]_, section 2.4).

    `values` (shape (n,)): The sample. `at` (shape (k,)): Where, in the values' unit. `bandwidth`:
    The standard deviation of each normal curve, above 0. Gives array of float, shape (k,): Per unit
    of the values; its integral is 1.
    """
    apart = np.clip((at[:, None] - values[None, :]) / bandwidth, -_REACH, _REACH)
    height = np.exp(-0.5 * apart**2).mean(axis=1) / (bandwidth * math.sqrt(2 * math.pi))
    return np.asarray(height)
