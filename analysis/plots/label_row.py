"""Labels beside each other in rows: none touches another at the width they are placed for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from .labels import text_width

__all__ = ["InRow", "RowLabel", "in_rows"]

_GAP = 8.0  # CSS pixels between two labels


@dataclass(frozen=True, slots=True)
class RowLabel:
    """A text that belongs to a place of the axis.

    Attributes
    ----------
    at : float
        A share of the width.
    text : str
        What it says.
    dx : float
        CSS pixels between the place and the text's nearer end.
    bold : bool
        Whether it is set bold.
    """

    at: float
    text: str
    dx: float = 0.0
    bold: bool = False


@dataclass(frozen=True, slots=True)
class InRow:
    """Where a label stands: on which side of its place, and in which row (0 is the first)."""

    label: RowLabel
    anchor: Literal["start", "middle", "end"]
    row: int


def in_rows(
    labels: Sequence[RowLabel],
    width: float,
    *,
    rows: int = 1,
    left: float = 0.0,
    right: float = 0.0,
    centred: bool = False,
) -> tuple[InRow, ...]:
    """Choose the labels that have room; the first of `labels` matter most, the others are dropped.

    Parameters
    ----------
    labels : sequence of RowLabel
        The most important first.
    width : float
        Of the picture, in CSS pixels.
    rows : int
        How many may stand above each other.
    left, right : float
        Free room beside the picture, in CSS pixels.
    centred : bool
        Whether a text stands around its place; otherwise behind it, or before it where there is no
        room behind.
    """
    taken: list[list[tuple[float, float]]] = [[] for _ in range(rows)]
    found = []
    for label in labels:
        size = text_width(label.text, bold=label.bold)
        x = label.at * width
        sides: tuple[tuple[Literal["start", "middle", "end"], float], ...]
        if centred:
            sides = (("middle", x - size / 2),)
        else:
            sides = (("start", x + label.dx), ("end", x - label.dx - size))
        for row, (anchor, start) in ((r, side) for r in range(rows) for side in sides):
            if start < -left or start + size > width + right:
                continue
            if all(start - _GAP >= b or start + size + _GAP <= a for a, b in taken[row]):
                taken[row].append((start, start + size))
                found.append(InRow(label, anchor, row))
                break
    return tuple(found)
