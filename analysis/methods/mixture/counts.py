"""Whole numbers that fits and tests are asked with, and how large they may be."""

from __future__ import annotations

import numpy as np

from ...errors import UsageError

__all__ = [
    "MOST_COMPONENTS",
    "MOST_STARTS",
    "MOST_WORKERS",
    "checked_count",
    "checked_resamples",
]

MOST_COMPONENTS = 64
MOST_STARTS = 10_000
MOST_WORKERS = 1024


def checked_count(value: int, name: str, most: int) -> int:
    """Give a whole number from 1 to `most` back.

    Raises
    ------
    UsageError
        If it is none.
    """
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise UsageError(f"{name} must be a whole number, not {value!r}")
    if not 1 <= value <= most:
        raise UsageError(f"{name} must lie between 1 and {most}, and is {value}")
    return int(value)


def checked_resamples(count: int) -> int:
    """Give a number of resamples back.

    Raises
    ------
    UsageError
        If it is less than 1.
    """
    if count < 1:
        raise UsageError(f"resamples must be 1 or more, not {count}")
    return count
