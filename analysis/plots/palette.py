"""The colours of all pictures: blue is faster than the baseline, orange slower, ink neither.

Colour says one thing only, and never alone: the word stands beside it. Text has a contrast of at
least 4.5 with the page, marks 3; simulated protan, deutan and tritan sight keeps blue and orange
apart, and either from ink and from the baseline's grey.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal

__all__ = ["COLOURS", "DARK", "DASHES", "LIGHT", "PRINT", "Palette", "style_of"]

# Okabe and Ito's, for several curves in one picture: readers with any common colour blindness tell
# them apart, and the dashes do so in grey
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
DASHES: tuple[tuple[float, ...], ...] = ((), (5, 2), (1, 1.3), (6, 2, 1, 2), (3, 1), (8, 3))

Style = Literal["faster", "slower", "neither", "baseline"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Palette:
    """What each role looks like on one kind of page, as ``#rrggbb``."""

    page: str
    panel: str
    ink: str
    second: str
    faster: str
    slower: str
    baseline: str
    one: str  # the line of no difference
    margin: str
    grid: str

    def css(self) -> str:
        """Give the colours as custom properties, such as ``--faster:#0a5c9e``."""
        return ";".join(f"--{field.name}:{getattr(self, field.name)}" for field in fields(self))


LIGHT = Palette(
    page="#fffefb",
    panel="#f6f4ee",
    ink="#1a1a18",
    second="#5b5a55",
    faster="#0a5c9e",
    slower="#b0430a",
    baseline="#6f6c64",
    one="#8f8b80",
    margin="#e6e1d3",
    grid="#dedbd3",
)
DARK = Palette(
    page="#16181b",
    panel="#1e2125",
    ink="#ebe9e3",
    second="#aaa89f",
    faster="#72b8f5",
    slower="#f59b61",
    baseline="#98968f",
    one="#7d8087",
    margin="#353a40",
    grid="#33363b",
)
PRINT = Palette(
    page="#ffffff",
    panel="#f4f4f4",
    ink="#000000",
    second="#444444",
    faster="#0a4f8a",
    slower="#9c3a06",
    baseline="#666666",
    one="#777777",
    margin="#dddddd",
    grid="#cccccc",
)


def style_of(word: str | None) -> Style:
    """Give the role that a word is drawn in; None is the baseline's own.

    Both ``faster`` and its sister ``better`` of metrics that are no time are blue.
    """
    if word is None:
        return "baseline"
    if word in ("faster", "better"):
        return "faster"
    return "slower" if word in ("slower", "worse") else "neither"
