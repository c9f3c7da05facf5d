"""One number a line: the runs of one benchmark, such as a sample of the Speedup-Test."""

from __future__ import annotations

from ..opening import Opened
from .bare_table import dress_of, read

__all__ = ["knows", "read"]


def knows(opened: Opened) -> bool:
    """Tell by what `bare_table` finds."""
    return dress_of(opened) == "numbers"
