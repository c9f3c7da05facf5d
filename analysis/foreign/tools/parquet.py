"""Parquet: a long table, its columns named as those of a long CSV. Needs the library pyarrow."""

from __future__ import annotations

import io
from typing import Any

from ...errors import UsageError
from ..cells import ForeignFile
from ..columns import mapped
from ..opening import Opened
from ..parsing import fail
from .long_csv import cells_of_groups, long_file

__all__ = ["knows", "read"]

_MAGIC = b"PAR1"


def knows(opened: Opened) -> bool:
    """Tell by the first bytes."""
    return opened.data.startswith(_MAGIC)


def read(opened: Opened) -> ForeignFile:
    """Give a cell for each benchmark, variant, session and metric.

    Raises
    ------
    UsageError
        If pyarrow is not installed.
    AnalysisError
        If the file is damaged, or no column holds values.
    """
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise UsageError(
            "a Parquet file needs the library pyarrow, which is not installed",
            opened.source,
            "pip install 'fairtrial[parquet]'",
        ) from None
    try:
        table: Any = parquet.read_table(io.BytesIO(opened.data))
    except (pyarrow.ArrowException, OSError) as error:
        raise fail(opened, f"it is no Parquet file: {error}", "copy the file again") from None
    headings = [str(name) for name in table.column_names]
    found = mapped(headings)
    if found is None or found.benchmark is None:
        raise fail(
            opened,
            "no column names a benchmark and a value",
            "name the columns benchmark, variant, session, run, value (or time_ms, ...)",
        )
    columns = [_texts(table.column(k)) for k in range(len(headings))]
    rows = [list(row) for row in zip(*columns, strict=True)]
    groups: dict[tuple[str, ...], list[list[str]]] = {}
    roles = (
        found.benchmark, found.variant, found.session, found.unit_column, found.metric_column,
        found.better_column, found.ok, found.warmup,
    )  # fmt: skip
    places = [place for place in roles if place is not None]
    for row in rows:
        groups.setdefault(tuple([row[place] for place in places]), []).append(row)
    cells = tuple(cells_of_groups(opened, groups, found, headings))
    if not cells:
        raise fail(opened, "the table has no rows", "is the file whole?")
    return long_file(opened, "parquet", found, headings, cells)


def _texts(column: Any) -> list[Any]:  # noqa: ANN401 - pyarrow's
    """Give a column's values: numbers as they are, everything else as text, null as ""."""
    values = column.to_pylist()
    if values and isinstance(values[0], float):
        return [float("nan") if value is None else value for value in values]
    return ["" if value is None else str(value) for value in values]
