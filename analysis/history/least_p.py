"""The law of the least p over all windows of a series without a change, simulated once for each length.

A series with more values than a length that was simulated is held against the next larger one, which is on the safe
side: more windows have a smaller least p. ``tests/calibration/make_least_p_table.py`` makes the table.
"""

from __future__ import annotations

import bisect
import functools
import json
from typing import NamedTuple

from ..registry import shipped

LENGTHS = (8, 10, 13, 16, 20, 26, 32, 40, 50, 65, 80, 100, 130, 160, 200, 260, 330, 400)
TABLE = "analysis/history/least_p.json"


class LeastP(NamedTuple):
    """The law at one length: a share of at most `shares[i]` of series have a least p of `values[i]` or less."""

    shares: tuple[float, ...]
    values: tuple[float, ...]

    def threshold(self, risk: float) -> float:
        """Give the largest known p that at most a share `risk` of series without a change come to."""
        place = bisect.bisect_right(self.shares, risk * (1 + 1e-9))
        return self.values[place - 1] if place else 0.0

    def risk_of(self, least: float) -> float:
        """Give the share of series without a change whose least p is this one or less; never too small."""
        place = bisect.bisect_left(self.values, least)
        # values that are alike belong to the smallest share at which they are all below
        return self.shares[place] if place < len(self.shares) else 1.0


@functools.cache
def _table() -> dict[int, LeastP]:
    stored = json.loads(shipped(TABLE).read_text(encoding="utf-8"))
    shares = tuple(stored["shares"])
    return {int(n): LeastP(shares, tuple(values)) for n, values in stored["least_p"].items()}


def law_of(count: int) -> LeastP:
    """Give the law for a series of so many values, from 1 to 400."""
    return _table()[LENGTHS[bisect.bisect_left(LENGTHS, count)]]


def least_share() -> float:
    """Give the smallest share that was simulated: at a risk below it no p counts."""
    return min(law.shares[0] for law in _table().values())
