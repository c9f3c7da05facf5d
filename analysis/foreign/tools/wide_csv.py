"""A wide CSV: a row for each benchmark, a column for each run (``run1``, ``run2``, ...)."""

from __future__ import annotations

import csv
import io
import re

from ..cells import BARE, ForeignCell, ForeignFile
from ..opening import Opened
from ..parsing import fail, number_or_text, rows_in, value_of

__all__ = ["knows", "read"]

_RUN = re.compile(
    r"^(run|rep|repetition|r|sample|trial|value|time|x|v)?[ _\-#]*\d+$", re.IGNORECASE
)


def knows(opened: Opened) -> bool:
    """Tell by headings that number runs, behind one that does not."""
    if opened.is_folder:
        return False
    return _headings(opened.head()) is not None


def _headings(text: str) -> tuple[list[str], str] | None:
    line = next((one for one in text.split("\n") if one.strip() and one[0] != "#"), "")
    if len(line) > csv.field_size_limit():
        return None
    separator = max(",;\t", key=line.count)
    cells = next(csv.reader([line], delimiter=separator), [])
    if len(cells) < 2 or _RUN.match(cells[0].strip()) or not re.search(r"[A-Za-z]", cells[0]):
        return None
    return (cells, separator) if all(_RUN.match(cell.strip()) for cell in cells[1:]) else None


def read(opened: Opened) -> ForeignFile:
    """Give a cell for each row; empty cells at its end are runs that were not made.

    Raises
    ------
    AnalysisError
        If a value is no number; the message names the line.
    """
    text = opened.text()
    found = _headings(text)
    if found is None:
        raise fail(opened, "no headings number the runs", "write benchmark,run1,run2,...", at="1")
    _, separator = found
    cells, seen = [], False
    reader = csv.reader(io.StringIO(text), delimiter=separator)
    for row in rows_in(opened, reader):
        if not row or row[0].startswith("#"):
            continue
        if not seen:
            seen = True
            continue
        at = f"{reader.line_num}"
        texts = [cell.strip() for cell in row[1:]]
        if separator != ",":
            texts = [cell.replace(",", ".") for cell in texts]
        while texts and not texts[-1]:
            texts.pop()
        values = tuple(value_of(opened, number_or_text(cell), at) for cell in texts)
        if values:
            cells.append(
                ForeignCell(
                    benchmark=row[0],
                    metric="value",
                    unit="",
                    better=None,
                    processes=(values,),
                    keys={"benchmark": row[0]},
                )
            )
    if not cells:
        raise fail(opened, "there is no row of values", "is the file whole?")
    return ForeignFile(
        format="wide-csv",
        source=opened.source,
        cells=tuple(cells),
        losses=BARE,
    )
