"""A long table whose cells are no text: the rows of JSON objects, or of a data base."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..cells import ForeignFile
from ..columns import mapped
from ..opening import Opened
from ..parsing import fail
from ..tools.long_csv import cells_of_groups, long_file

__all__ = ["file_of_rows", "is_long"]


def is_long(headings: Sequence[str]) -> bool:
    """Tell whether the headings name a benchmark and a value."""
    found = mapped(headings)
    return found is not None and found.benchmark is not None


def file_of_rows(
    opened: Opened, name: str, headings: Sequence[str], rows: Iterable[Sequence[object]]
) -> ForeignFile:
    """Read rows as those of a long CSV.

    Raises
    ------
    AnalysisError
        If the headings name no benchmark or no value, a value is none, or there is no row.
    """
    found = mapped(headings)
    if found is None or found.benchmark is None:
        raise fail(
            opened,
            "no column names a benchmark and a value",
            "name the columns benchmark, variant, session, run, value (or time_ms, ...)",
        )
    roles = (
        found.benchmark, found.variant, found.session, found.unit_column, found.metric_column,
        found.better_column, found.ok, found.warmup,
    )  # fmt: skip
    places = [place for place in roles if place is not None]
    groups: dict[tuple[str, ...], list[list[str]]] = {}
    for row in rows:
        texts = [_text(cell) for cell in row]
        groups.setdefault(tuple([texts[place] for place in places]), []).append(texts)
    cells = tuple(cells_of_groups(opened, groups, found, list(headings)))
    if not cells:
        raise fail(opened, "the table has no rows", "is the file whole?")
    return long_file(opened, name, found, list(headings), cells)


def _text(cell: object) -> str:
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    return repr(cell) if isinstance(cell, float) else str(cell)
