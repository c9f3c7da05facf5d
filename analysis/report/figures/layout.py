"""How figures are laid out on a sheet: their height by what they hold, panels beside or below."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap
from typing import TYPE_CHECKING

from ...plots.palette import PRINT
from ..names import shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ...plots.drawing import Sheet

__all__ = ["broad", "fresh", "name_of", "names_of", "note", "panels", "rows_high"]

_POINT = 25.4 / 72  # mm
_TALLEST = 230.0  # mm: a page with its caption
_LONGEST, _SHORTEST = 24, 6  # characters of a name
_LETTER = 0.55  # mean width of a letter, in its size


def rows_high(sheet: Sheet, rows: float, each: float, around: float = 4.5) -> float:
    """Give the height in mm of so many rows, each in lines of letters, with an axis below."""
    return min(_TALLEST, (rows * each + around) * sheet.font_size * _POINT)


def fresh(sheet: Sheet, height: float) -> Figure:
    """Begin a figure of the sheet's width and a height in mm."""
    from matplotlib.figure import Figure

    return Figure(figsize=(sheet.inches, height / 25.4), layout="constrained")


def panels(
    figure: Figure, count: int, across: int, *, sharex: bool = False, sharey: bool = False
) -> list[Axes]:
    """Give so many axes, `across` in a row."""
    down = -(-count // across)
    found = figure.subplots(down, across, squeeze=False, sharex=sharex, sharey=sharey)
    every = list(found.ravel())
    for empty in every[count:]:
        empty.remove()
    return every[:count]


def note(figure: Figure, sheet: Sheet, texts: Sequence[str]) -> None:
    """Write what a reader must know below all axes: a picture travels without its page."""
    if texts:
        width, height = figure.get_size_inches()
        letters = int(0.95 * sheet.width / (_LETTER * _POINT * 0.85 * sheet.font_size))
        lines = [line for text in texts for line in wrap(text, letters)]
        # the panels keep their height
        figure.set_size_inches(width, height + len(lines) * 1.2 * 0.85 * sheet.font_size / 72)
        figure.supxlabel(
            "\n".join(lines), x=0.01, ha="left", fontsize=0.85 * sheet.font_size, color=PRINT.second
        )


def broad(text: str, sheet: Sheet, *, bold: bool = False) -> float:
    """Give how much of the sheet's width a text takes, in the sheet's letters."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    letters = FontProperties(
        family=[sheet.font_family],
        size=sheet.font_size,
        weight="bold" if bold else "normal",
    )
    width, _, _ = text_to_path.get_text_width_height_descent(text, letters, ismath=False)
    return float(width) * _POINT / sheet.width


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
