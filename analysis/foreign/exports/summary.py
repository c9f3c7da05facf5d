"""Summaries that other tools keep beside their values: of a list of numbers, as those tools define them."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

__all__ = ["deviation", "quartiles"]


def deviation(values: Sequence[float]) -> float | None:
    """Give the standard deviation with n - 1; None of one value."""
    return statistics.stdev(values) if len(values) > 1 else None


def quartiles(values: Sequence[float]) -> tuple[float, float, float]:
    """Give the quartiles: medians of the halves, the middle value in neither."""
    ordered = sorted(values)
    half = len(ordered) // 2
    middle = statistics.median(ordered)
    if not half:
        return middle, middle, middle
    return statistics.median(ordered[:half]), middle, statistics.median(ordered[-half:])
