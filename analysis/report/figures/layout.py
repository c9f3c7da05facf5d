"""A figure of a paper, and how its parts are laid out: heights by what they hold, names that fit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...pages.number_format import said
from ...plots.axes import Axes
from ...plots.layout import POINT, arranged
from ...plots.letters import wide
from ..names import shortened

if TYPE_CHECKING:
    from ...methods.multilevel.result import Multilevel
    from ...plots.paper import Picture
    from ...plots.sheet import Sheet

__all__ = [
    "Drawing", "Number", "broad", "columns_of", "counted", "few_of", "in_columns", "name_of",
    "names_of", "rows_high",
]  # fmt: skip

_TALLEST = 230.0  # mm: a page with its caption
_LONGEST, _SHORTEST = 24, 6  # characters of a name
_MOST, _ENDS = 40, 15  # rows; of more the first and the last, and those that a caution names

Number = str | float | int | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Drawing:
    """One picture.

    Attributes
    ----------
    name : str
        What its files are called, without an ending.
    title : str
        What it is; never drawn, but found by search and readers of screens.
    alt : str
        Its result in words, with its numbers of runs and its cautions: also a caption to begin with.
    picture : Picture
    columns : tuple of str
        Headings of the numbers in it.
    rows : tuple of tuple
        The numbers, unrounded, in the units that the headings name; None is unknown.
    """

    name: str
    title: str
    alt: str
    picture: Picture
    columns: tuple[str, ...]
    rows: tuple[tuple[Number, ...], ...]


def rows_high(sheet: Sheet, rows: float, each: float, around: float = 4.5) -> float:
    """Give the height in mm of so many rows, each in lines of letters, with an axis below."""
    return min(_TALLEST, (rows * each + around) * sheet.font_size * POINT)


def columns_of(sheet: Sheet, count: int, each: float) -> int:
    """Say how many panels stand beside each other, of which each needs `each` mm per point of letters."""
    return max(1, min(count, int(sheet.width / (each * sheet.font_size))))


def in_columns(
    sheet: Sheet, panels: Sequence[Axes], across: int, height: float, notes: Iterable[str] = ()
) -> Picture:
    """Set panels in rows, `across` in each."""
    rows = [list(panels[k : k + across]) for k in range(0, len(panels), across)]
    return arranged(sheet, rows, height, notes=notes)


def broad(text: str, sheet: Sheet, *, bold: bool = False) -> float:
    """Give how much of the sheet's width a text takes, in the sheet's letters."""
    return wide(text, sheet.font_size, sheet.font_family, bold=bold) * POINT / sheet.width


def names_of(
    names: Sequence[str], sheet: Sheet, share: float = 0.25, *, bold: bool = False
) -> dict[str, str]:
    """Shorten names that stand beside each other, until they take a share of the width at most."""
    found: dict[str, str] = {}
    for letters in range(_LONGEST, _SHORTEST - 1, -2):
        found = dict(shortened(list(names), letters))
        if all(broad(text, sheet, bold=bold) <= share for text in found.values()):
            break
    return found


def name_of(name: str, sheet: Sheet, share: float = 0.25) -> str:
    """Shorten one name, such as the baseline's in an axis's label."""
    return names_of([name], sheet, share)[name]


def few_of(
    every: Sequence[str], named: Iterable[str] = (), last: int = 0
) -> tuple[list[str], list[str]]:
    """Give the rows that are drawn, `last` more at the end, and a note of those that are not."""
    if len(every) <= _MOST:
        return list(every), []
    wanted = set(named)
    kept = {*every[:_ENDS], *every[-_ENDS - last :], *(wanted if len(wanted) <= _ENDS else ())}
    few = [name for name in every if name in kept]
    out = len(every) - len(few)
    return few, [f"{out} benchmarks between the first and the last are not drawn"]


def counted(result: Multilevel) -> str:
    """Count the words of a candidate: ``3 faster, 1 undecided``."""
    words = [line.outcome for line in result.benchmarks]
    return ", ".join(
        f"{words.count(word)} {said(word, timed=result.timed)}"
        for word in ("faster", "slower", "equivalent", "undecided")
        if word in words
    )
