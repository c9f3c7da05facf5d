"""Parquet: a long table, its columns named as those of a long CSV. Needs the library pyarrow."""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from ...errors import UsageError
from ..cells import ForeignFile
from ..columns import long_mapping
from ..long_tables import Coded, LongTable, all_numbers, float_of, long_file, role_places
from ..opening import Opened, most_of
from ..parsing import fail

__all__ = ["knows", "read"]

_MAGIC = b"PAR1"
_KEYS = 1024  # texts of a column that may be a key of some cells
_WORD = 8  # bytes of a number, or of what stands for a text
_TABLE = 1_000_000  # numbers up to here are looked up, not sorted
_Whole = np.ndarray[Any, np.dtype[np.signedinteger[Any]]]


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
        whole: Any = parquet.ParquetFile(io.BytesIO(opened.data))
        _require_room(opened, whole.metadata)
        # a text that stands in a million rows is kept once
        kinds = [(one.name, one.type) for one in whole.schema_arrow]
        texts = [name for name, kind in kinds if pyarrow.types.is_string(kind)]
        table: Any = parquet.ParquetFile(io.BytesIO(opened.data), read_dictionary=texts).read()
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        raise fail(opened, f"it is no Parquet file: {error}", "copy the file again") from None
    headings = [str(name) for name in table.column_names]
    found = long_mapping(opened, headings)
    groups, keys = _grouped([_coded(table.column(place)) for place in role_places(found)])
    rest = {place: _coded(table.column(place)) for place in found.rest}
    return long_file(
        "parquet",
        LongTable(
            opened=opened,
            headings=headings,
            found=found,
            groups=groups,
            keys=keys,
            values={place: _floats(table.column(place)) for place, _, _ in found.values},
            process=None if found.process is None else _coded(table.column(found.process)),
            block=None if found.block is None else _coded(table.column(found.block)),
            rest={place: one for place, one in rest.items() if len(one.texts) <= _KEYS + len(keys)},
            numeric=[place for place, one in rest.items() if all_numbers(one.texts)],
            line_of=lambda row: f"row {row + 1}",
            text_of=lambda row, place: _text(table.column(place)[row].as_py()),
        ),
    )


def _require_room(opened: Opened, told: Any) -> None:  # noqa: ANN401 - pyarrow's
    """Refuse a few bytes that say they are billions of rows: the format packs by itself."""
    pages = sum(told.row_group(k).total_byte_size for k in range(told.num_row_groups))
    if max(pages, told.num_rows * told.num_columns * _WORD) > most_of(len(opened.data)):
        raise fail(
            opened,
            f"the file holds too much: {told.num_rows:,} rows of {told.num_columns} columns in "
            f"{len(opened.data):,} bytes",
            "split it, or leave out columns that are the same in all rows",
        )


def _text(value: object) -> str:
    if isinstance(value, bytes):  # older writers do not mark texts as such
        return value.decode("utf-8", "backslashreplace")
    return "" if value is None else str(value)


def _coded(column: Any) -> Coded:  # noqa: ANN401 - pyarrow's
    """Give each text of a column a number; null is an empty one."""
    import pyarrow

    whole = column.combine_chunks()
    if not pyarrow.types.is_dictionary(whole.type):
        try:
            whole = whole.dictionary_encode()
        except pyarrow.ArrowException:  # nested types have none
            whole = pyarrow.array([_text(one) for one in column.to_pylist()]).dictionary_encode()
    texts = [_text(one) for one in whole.dictionary.to_pylist()]
    codes = whole.indices.fill_null(len(texts)).to_numpy(zero_copy_only=False)
    return Coded(codes.astype(np.int64), [*texts, ""])


def _grouped(columns: list[Coded]) -> tuple[_Whole, list[tuple[str, ...]]]:
    """Give the group of each row, and the texts of each group, in the order of their first rows."""
    groups, first = np.zeros(len(columns[0].codes), np.int64), np.zeros(1, np.int64)
    for column in columns:
        groups, first = _numbered(groups * len(column.texts) + column.codes)
    keys = [tuple(column.texts[column.codes[row]] for column in columns) for row in first.tolist()]
    return groups, keys


def _numbered(codes: _Whole) -> tuple[_Whole, _Whole]:
    """Give what is different numbers in the order of its first rows, and these rows."""
    count = len(codes)
    if count and codes.max() >= max(_TABLE, count):
        _, codes = np.unique(codes, return_inverse=True)
    first = np.full(int(codes.max(initial=-1)) + 1, count)
    first[codes[::-1]] = np.arange(count)[::-1]  # of several writes the last one stays
    there = np.flatnonzero(first < count)
    there = there[np.argsort(first[there])]
    number = np.empty_like(first)
    number[there] = np.arange(len(there))
    return number[codes], first[there]


def _floats(column: Any) -> np.ndarray[Any, np.dtype[np.float64]]:  # noqa: ANN401 - pyarrow's
    import pyarrow

    kind = column.type
    if pyarrow.types.is_floating(kind) or pyarrow.types.is_integer(kind):
        plain: np.ndarray[Any, Any] = column.to_numpy()
        return plain.astype(np.float64)
    coded = _coded(column)
    return np.array([float_of(text) for text in coded.texts], np.float64)[coded.codes]
