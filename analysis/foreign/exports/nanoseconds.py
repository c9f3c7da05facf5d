"""Seconds as the nanoseconds that give them back, as far as there are such."""

from __future__ import annotations

import math
from collections.abc import Iterator

from ...errors import UsageError
from ..cells import Loss

__all__ = ["Nanoseconds"]


class Nanoseconds:
    """Gives nanoseconds, and counts the values that no number of nanoseconds gives back exactly."""

    def __init__(self) -> None:
        self.rounded = 0

    def of(self, seconds: float) -> float:
        """Give the number that, divided by 1e9, is `seconds` again, or the nearest.

        Raises
        ------
        UsageError
            If there is no number of so many nanoseconds.
        """
        near = seconds * 1e9
        if near == math.inf:
            raise UsageError(
                f"{seconds:.3g} s are too many for nanoseconds",
                fix="write a table, such as --to long-csv",
            )
        for tried in (near, math.nextafter(near, 0), math.nextafter(near, math.inf)):
            if tried / 1e9 == seconds:
                return tried
        self.rounded += 1
        return near

    def lost(self) -> Iterator[Loss]:
        """Say how many values were rounded."""
        if self.rounded:
            told = "1 value" if self.rounded == 1 else f"{self.rounded} values"
            yield Loss(
                code="values-rounded",
                text=f"the last binary digit of {told}: the file's times are nanoseconds",
            )
