"""A long table whose cells are no text: the rows of JSON objects, or of a data base."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from ..cells import ForeignFile
from ..columns import long_mapping
from ..long_tables import Coded, LongTable, all_numbers, float_of, long_file, role_places
from ..opening import Opened
from ..parsing import fail

__all__ = ["file_of_rows"]


def file_of_rows(
    opened: Opened, name: str, headings: Sequence[str], rows: Iterable[Sequence[object]]
) -> ForeignFile:
    """Read rows as those of a long CSV.

    Raises
    ------
    AnalysisError
        If the headings name no benchmark or no value, a value is none, or there is no row.
    """
    found = long_mapping(opened, headings)
    columns = list(zip(*(map(_text, row) for row in rows), strict=True))
    if not columns:
        raise fail(opened, "the table has no rows", "is the file whole?")
    keys: dict[tuple[str, ...], int] = {}
    named = zip(*(columns[place] for place in role_places(found)), strict=True)
    groups = [keys.setdefault(key, len(keys)) for key in named]
    return long_file(
        name,
        LongTable(
            opened=opened,
            headings=list(headings),
            found=found,
            groups=np.array(groups, np.int64),
            keys=list(keys),
            values={
                place: np.array([float_of(text) for text in columns[place]], np.float64)
                for place, _, _ in found.values
            },
            process=None if found.process is None else _coded(columns[found.process]),
            block=None if found.block is None else _coded(columns[found.block]),
            rest={place: _coded(columns[place]) for place in found.rest},
            numeric=[place for place in found.rest if all_numbers(columns[place])],
            line_of=lambda row: f"row {row + 1}",
            text_of=lambda row, place: columns[place][row],
        ),
    )


def _coded(texts: Sequence[str]) -> Coded:
    numbers: dict[str, int] = {}
    codes = [numbers.setdefault(text, len(numbers)) for text in texts]
    return Coded(np.array(codes, np.int64), list(numbers))


def _text(cell: object) -> str:
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, bytes):  # a data base may hold texts as such
        return cell.decode("utf-8", "backslashreplace")
    return repr(cell) if isinstance(cell, float) else str(cell)
