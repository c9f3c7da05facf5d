"""A wide CSV: a row for each benchmark, a column for each run (``run1``, ``run2``, ...)."""

from __future__ import annotations

from ..opening import Opened
from .bare_table import dress_of, read

__all__ = ["knows", "read"]


def knows(opened: Opened) -> bool:
    """Tell by what `bare_table` finds."""
    return dress_of(opened) == "wide-csv"
