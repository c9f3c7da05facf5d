"""Files with a table of systems: CSV and Parquet, packed or not."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from ..data import Decimal, commas_of, is_numeric, two_readings
from ..errors import AnalysisError, UsageError
from ..foreign import Opened, open_foreign
from ..report import Caution, figures
from .mixed_columns import UNKNOWN, MixedTable, TableColumn, column_of_texts, mixed_table

__all__ = ["read_mixed_table"]

MOST_CELLS = 20_000_000  # as objects in memory: some 2 GB
_PARQUET = b"PAR1"
_SHORT = 30


def read_mixed_table(source: str, decimal: Decimal | None = None) -> MixedTable:
    """Read a table with headings and a row for each system.

    A CSV has its cells between commas, semicolons or tabs, whichever the headings hold most;
    without commas there a comma is the decimal sign, if it can be nothing else. The file may be packed (.gz, .bz2, .xz, .zst);
    ``-`` is the standard input.

    Parameters
    ----------
    source : str
        The file.
    decimal : {"comma", "point"}, optional
        The decimal sign of a CSV.

    Raises
    ------
    UsageError
        If it cannot be read, or a library for it is missing.
    AnalysisError
        If it is no such table, or a column of numbers may be read in two ways; the message says where.
    """
    opened = open_foreign(source, decimal=decimal)
    if opened.is_folder:
        raise UsageError("this is a folder, not a table", source, "name a .csv or .parquet file")
    if opened.data.startswith(_PARQUET):
        return _of_parquet(opened)
    return _of_csv(opened)


def _of_csv(opened: Opened) -> MixedTable:
    text = opened.text()
    rows = _rows(opened, text)
    first, headings, separator = next(rows)
    _check_headings(headings, f"{opened.source}:{first}")
    columns: list[list[str]] = [[] for _ in headings]
    start, count, straight = first + 1, 0, True
    for line, cells, _ in rows:
        if len(cells) != len(headings):
            raise AnalysisError(
                f"this line has {len(cells)} cells, and there are {len(headings)} headings",
                f"{opened.source}:{line}",
                "put a text that holds the separator between quotes; leave an unknown cell empty",
            )
        straight = straight and line == start + count
        count += 1
        _check_size(count * len(headings), opened.source)
        for column, cell in zip(columns, cells, strict=True):
            column.append(cell.strip())
    if not count:
        raise AnalysisError("the table has headings and no rows", opened.source)
    found: dict[str, TableColumn] = {}
    cautions = []
    for name, texts in zip(headings, columns, strict=True):
        found[name], odd = column_of_texts(
            name, texts, decimal=_sign(opened, name, texts, separator)
        )
        if odd is not None:
            where = f"line {start + odd}" if straight else f"row {odd + 1}"
            cautions.append(
                Caution(
                    "numbers-as-levels",
                    f"the column {figures.shorten(name, _SHORT)!r} holds numbers nearly everywhere, "
                    f"and {figures.shorten(texts[odd], _SHORT)!r} ({where}): its cells were taken "
                    "as levels. Leave a cell empty where the number is unknown",
                    (name,),
                )
            )
        texts.clear()
    return MixedTable(
        columns=found,
        rows=count,
        source=opened.source,
        first_line=start if straight else None,
        cautions=tuple(cautions),
    )


def _sign(opened: Opened, name: str, texts: list[str], separator: str) -> Decimal | None:
    """Tell the decimal sign of a column; nothing of one that holds other texts."""
    if opened.decimal is not None or separator == ",":
        return opened.decimal
    commas = commas_of(texts)
    if commas.decimal is None and all(is_numeric(text) or text in UNKNOWN for text in texts):
        raise AnalysisError(
            f"{commas.example!r} in the column {name!r} may be {two_readings(commas.example)}",
            opened.source,
            "say which with --decimal comma or --decimal point (decimal= in Python)",
        )
    return "comma" if commas.decimal == "comma" else None


def _rows(opened: Opened, text: str) -> Iterator[tuple[int, list[str], str]]:
    """Give the rows that hold something: the line's number, the cells, and what parts them."""
    head = next((line for line in text.split("\n") if line.strip()), "")
    if not head:
        raise AnalysisError("the file is empty", opened.source)
    separator = max(",;\t", key=head.count)
    if separator not in head:
        raise AnalysisError(
            "the first line holds one heading only: a response and a covariate are two columns",
            f"{opened.source}:1",
            "part the headings by commas, semicolons or tabs",
        )
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    while True:
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise AnalysisError(
                f"it is no CSV: {error}", f"{opened.source}:{reader.line_num}", "is a quote open?"
            ) from None
        if cells:
            yield reader.line_num, cells, separator


def _check_size(cells: int, source: str) -> None:
    if cells > MOST_CELLS:
        raise AnalysisError(
            f"the table has more than {MOST_CELLS:,} cells", source, "take fewer columns or rows"
        )


def _check_headings(headings: list[str], where: str) -> None:
    headings[:] = [heading.strip() for heading in headings]
    counts = Counter(headings)
    for place, name in enumerate(headings, 1):
        if not name:
            raise AnalysisError(
                f"the heading of column {place} is empty",
                where,
                "give it a name; pandas leaves the index out with to_csv(..., index=False)",
            )
        if counts[name] > 1:
            raise AnalysisError(
                f"the heading {name!r} stands there {counts[name]} times",
                where,
                "give each column a name of its own",
            )


def _of_parquet(opened: Opened) -> MixedTable:
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
        file: Any = parquet.ParquetFile(io.BytesIO(opened.data))
        # before it is read: a few bytes may say that they are billions of rows
        _check_size(file.metadata.num_rows * file.metadata.num_columns, opened.source)
        table: Any = file.read()
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        raise AnalysisError(
            f"it is no Parquet file: {error}", opened.source, "copy the file again"
        ) from None
    headings = [str(name) for name in table.column_names]
    if not headings or not table.num_rows:
        raise AnalysisError("the table has no rows", opened.source)
    _check_headings(headings, opened.source)
    try:
        found = mixed_table(
            {name: table.column(place).to_pylist() for place, name in enumerate(headings)}
        )
    except (pyarrow.ArrowException, ValueError) as error:  # such as dates beyond all calendars
        raise AnalysisError(f"a column cannot be read: {error}", opened.source) from None
    return replace(found, source=opened.source)
