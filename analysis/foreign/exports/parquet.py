"""Parquet: the long table, with types. Needs the library pyarrow."""

from __future__ import annotations

from ...errors import UsageError
from .leaving import Leaving
from .rows import HEADINGS, rows_of
from .written import Written

__all__ = ["write"]


def write(leaving: Leaving) -> Written:
    """Make the file.

    Raises
    ------
    UsageError
        If pyarrow is not installed.
    """
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        raise UsageError(
            "writing Parquet needs the library pyarrow, which is not installed",
            fix="pip install 'fairtrial[parquet]', or write --to sqlite or long-csv",
        ) from None
    kinds = (
        pa.string(), pa.string(), pa.string(), pa.int64(), pa.int64(), pa.int64(), pa.string(),
        pa.float64(), pa.string(), pa.string(), pa.bool_(), pa.bool_(),
    )  # fmt: skip
    columns = [list(column) for column in zip(*rows_of(leaving), strict=True)]
    place = HEADINGS.index("session")
    columns[place] = [None if one is None else str(one) for one in columns[place]]
    table = pa.table(
        [pa.array(column, kind) for column, kind in zip(columns, kinds, strict=True)],
        names=list(HEADINGS),
    )
    sink = pa.BufferOutputStream()
    parquet.write_table(table, sink)
    return Written(data=sink.getvalue().to_pybytes())
