"""The bars of the ranking."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...plots.marks import stroke
from ...plots.svg import plot

if TYPE_CHECKING:
    from .result import Ranks

__all__ = ["bars_plot"]

_HEIGHT = 26.0  # of a row


def bars_plot(ranks: Ranks, place: int) -> str:
    """Draw, in one variant's row, the bars that join it to its neighbours."""
    count = max(1, len(ranks.bars))
    marks = []
    for k, (first, last) in enumerate(ranks.bars):
        if first <= place <= last:
            x = (k + 0.5) / count
            top = 11 if place == first else 0
            bottom = 15 if place == last else _HEIGHT
            marks.append(stroke(x, top, bottom, "suite-bar ink"))
    return plot(_HEIGHT, marks, "")
