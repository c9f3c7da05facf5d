"""How times are written beside each other: one unit a row, and as many digits as its mean deserves."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ...pages.difference import Difference
from ...pages.number_format import significant

if TYPE_CHECKING:
    from ..result import Verdict

_UNITS = (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9))
_ROUND = 0.9995  # of a unit: what rounds to 1.00 of it


class RowUnit(NamedTuple):
    """The unit of a row, how many seconds it is, and the decimals of all numbers in the row."""

    name: str
    factor: float
    decimals: int

    def number(self, seconds: float | None) -> str:
        """Write a time without its unit; ``-`` where it is unknown."""
        return "-" if seconds is None else f"{seconds / self.factor:.{self.decimals}f}"

    def time(self, seconds: float | None) -> str:
        """Write a time with its unit."""
        return "-" if seconds is None else f"{self.number(seconds)} {self.name}"

    def range(self, low: float | None, high: float | None) -> str:
        """Write ``91 … 124 ms``."""
        if low is None or high is None:
            return "-"
        return f"{self.number(low)} … {self.number(high)} {self.name}"


def row_unit(mean: float | None, wanted: str | None = None) -> RowUnit:
    """Choose the unit of a row by its mean, or take the one that is wanted: ``s``, ``ms`` or ``us``."""
    wanted = "µs" if wanted == "us" else wanted
    value = 0.0 if mean is None else mean
    for name, factor in _UNITS:
        if name == wanted or (wanted is None and value >= _ROUND * factor):
            break
    number = value / factor
    if number >= 20 or not number:
        return RowUnit(name, factor, 0)
    if number >= 2:
        return RowUnit(name, factor, 1)
    return RowUnit(name, factor, 2 if number >= 0.2 else 4)


def time_text(seconds: float) -> str:
    """Write a measured time by itself, such as ``100 ms`` or ``8.13 ms``."""
    unit = row_unit(seconds)
    return f"{significant(seconds / unit.factor, 3)} {unit.name}"


def seconds_text(seconds: float) -> str:
    """Write how long one measured: ``1.2 s``, ``20 s``, ``4.5 min``."""
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    if seconds < 120:
        return f"{seconds:.0f} s"
    minutes = seconds / 60
    return f"{minutes:.1f} min" if minutes < 9.95 else f"{minutes:.0f} min"


def interval_of_times(verdict: Verdict) -> str:
    """Give the interval of one command's time in its unit: ``97 to 103``; "" where there is none."""
    if not verdict.alone or verdict.alone[0].low is None or verdict.alone[0].high is None:
        return ""
    one = verdict.alone[0]
    assert one.low is not None
    assert one.high is not None
    factor = row_unit(one.mean).factor
    if Difference(1.0, one.low, one.high).too_few:
        return "too few to say between what and what"
    width = (one.high - one.low) / factor
    decimals = 0 if width >= 9.5 else 1 if width >= 0.95 else 2 if width >= 0.095 else 3
    return f"{one.low / factor:.{decimals}f} to {one.high / factor:.{decimals}f}"
