"""Whole numbers that fits and tests are asked with, and how large they may be."""

from __future__ import annotations

__all__ = [
    "MOST_COMPONENTS",
    "MOST_STARTS",
]

MOST_COMPONENTS = 64
MOST_STARTS = 10_000
