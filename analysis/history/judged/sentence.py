"""The answer of `history` in one sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .result import History


def sentence_of(history: History) -> str:
    """Say how many series changed."""
    changed = sum(bool(one.intervals) for one in history.newest)
    return f"{changed} of {len(history.newest)} series changed"
