"""Bare numbers, as `analysis.data.read_text` reads them: one list, rows of runs, or a wide CSV."""

from __future__ import annotations

from ...data import Dress, TextTable, read_text
from ...errors import AnalysisError
from ..cells import BARE, ForeignCell, ForeignFile, Loss
from ..opening import Opened
from ..parsing import fail, value_of

__all__ = ["dress_of", "knows", "read"]

_LOOKED_AT = 20  # lines
_CUT = 65536  # characters of the beginning: its last line may be cut off there


def knows(opened: Opened) -> bool:
    """Tell by lines of numbers, or of a name and numbers behind it."""
    return dress_of(opened) == "matrix"


def dress_of(opened: Opened) -> Dress | None:
    """Tell how the beginning holds bare numbers; None where it holds none, or names its columns."""
    if opened.is_folder:
        return None
    head = "\n".join(opened.head().split("\n")[:_LOOKED_AT])
    if len(head) >= _CUT:
        head = head.rpartition("\n")[0]
    try:
        found = _table(opened, head)
    except AnalysisError as error:
        ambiguous = "--decimal" in (error.fix or "") or "--layout" in (error.fix or "")
        return "matrix" if ambiguous else None
    named = "columns-as-runs" in {one.code for one in found.cautions}
    return None if named else found.dress


def read(opened: Opened) -> ForeignFile:
    """Give a cell for each benchmark; lines of one number each are one, called ``values``.

    Raises
    ------
    AnalysisError
        If a line holds something else than numbers behind a name, or may be read in two ways.
    """
    found = _table(opened, opened.text())
    cells = tuple(
        ForeignCell(
            benchmark=name,
            metric="value",
            unit="",
            better=None,
            processes=(tuple(value_of(opened, value, f"{cell.line}") for cell, value in row),),
            keys={} if found.dress == "numbers" else {"benchmark": name},
        )
        for name, row in found.samples.items()
    )
    return ForeignFile(
        format=found.dress,
        source=opened.source,
        cells=cells,
        losses=BARE,
        notes=tuple(Loss(code=one.code, text=one.text) for one in found.cautions),
    )


def _table(opened: Opened, text: str) -> TextTable:
    if text.lstrip()[:1] in ("{", "[", "<"):
        raise fail(opened, "it begins as JSON or XML", "name its format with --format")
    return read_text(text, opened.source, layout=opened.layout, decimal=opened.decimal)
