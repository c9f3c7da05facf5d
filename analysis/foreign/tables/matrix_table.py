"""A bare matrix of scores or times, as HPT's: a row for each benchmark, with or without names."""

from __future__ import annotations

import re

from ..cells import BARE, ForeignCell, ForeignFile
from ..opening import Opened
from ..parsing import fail, value_of

__all__ = ["knows", "read"]

_SPLIT = re.compile(r"[,;\t]|\s+")
_NUMBER = re.compile(r"[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?")


def knows(opened: Opened) -> bool:
    """Tell by lines of which all cells but a first name are numbers, two or more of them."""
    if opened.is_folder:
        return False
    lines = [one for one in opened.head().split("\n")[:20] if one.strip() and one[0] != "#"]
    return bool(lines) and all(_row(line) is not None for line in lines)


def _row(line: str) -> tuple[str | None, list[str]] | None:
    cells = [cell.strip().strip('"') for cell in _SPLIT.split(line.strip()) if cell.strip()]
    if len(cells) < 2:
        return None
    name = None if _NUMBER.fullmatch(cells[0]) else cells.pop(0)
    if len(cells) < 2 or not all(_NUMBER.fullmatch(cell) for cell in cells):
        return None
    return name, cells


def read(opened: Opened) -> ForeignFile:
    """Give a cell for each row.

    Raises
    ------
    AnalysisError
        If a line holds something else than numbers behind a name.
    """
    cells: list[ForeignCell] = []
    for number, line in enumerate(opened.text().split("\n"), 1):
        if not line.strip() or line.startswith("#"):
            continue
        row = _row(line)
        if row is None:
            raise fail(
                opened,
                "the line is no row of two or more numbers",
                "write NAME,run,run,... on each line",
                at=f"{number}",
            )
        name, texts = row
        cells.append(
            ForeignCell(
                benchmark=name or str(len(cells) + 1),
                metric="value",
                unit="",
                better=None,
                processes=(tuple(value_of(opened, float(text), f"{number}") for text in texts),),
            )
        )
    if not cells:
        raise fail(opened, "the file holds no values", "is it whole?")
    return ForeignFile(
        format="matrix",
        source=opened.source,
        cells=tuple(cells),
        losses=BARE,
    )
