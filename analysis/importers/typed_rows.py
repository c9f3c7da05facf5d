"""Long tables whose cells have types: JSON objects, SQLite and Parquet."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

from ..data.matrix_file import Dress, TextTable, read_text
from ..data.opening import Opened, most_of, open_foreign
from ..errors import AnalysisError
from ..pages.model import Caution
from .headings import is_long, long_mapping
from .long_table import Coded, LongTable, all_numbers, float_of, long_file, role_places
from .parsing import ForeignCell, ForeignFile, cautions_of

# --- Bare numbers: one list, rows of runs, a wide CSV, or the sample files of the Speedup-Test.
#
# ``Name,Sample1,Sample2,ConfLevel,Coef`` (Touati, Worms and Briais, *The Speedup Test*, 2010, section
# 6.2.1): Sample1 holds the times of the initial program, Sample2 those of the optimised one, one a line,
# in seconds. Relative paths start at the configuration's folder, else at the current one.


_LOOKED_AT = 20  # lines
_CUT = 65536  # characters of the beginning: its last line may be cut off there


def knows_matrix(opened: Opened) -> bool:
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


def read_matrix(opened: Opened) -> ForeignFile:
    """Give a cell for each benchmark; lines of one number each are one, called ``values``."""
    found = _table(opened, opened.text())
    cells = tuple(
        ForeignCell(
            benchmark=name,
            metric="value",
            unit="",
            better=None,
            processes=(tuple(opened.value(value, f"{cell.line}") for cell, value in row),),
            keys={} if found.dress == "numbers" else {"benchmark": name},
        )
        for name, row in found.samples.items()
    )
    return ForeignFile(
        format=found.dress,
        cells=cells,
        losses=cautions_of(
            {
                "no-unit": "the file has neither unit nor direction",
                "processes-unknown": "the file does not say which values are from one process: each "
                "is taken as a run",
                "no-sessions": "on which occasion a run was made is not in the file",
            }
        ),
        notes=tuple(Caution(one.code, one.text) for one in found.cautions),
    )


def _table(opened: Opened, text: str) -> TextTable:
    if text.lstrip()[:1] in ("{", "[", "<"):
        raise opened.fail("it begins as JSON or XML", "name its format with --format")
    return read_text(text, opened.source, layout=opened.layout, decimal=opened.decimal)


def knows_numbers(opened: Opened) -> bool:
    """Tell by what `bare_table` finds."""
    return dress_of(opened) == "numbers"


def knows_wide_csv(opened: Opened) -> bool:
    """Tell by what `bare_table` finds."""
    return dress_of(opened) == "wide-csv"


_HEADINGS = re.compile(r'^\s*"?Name"?\s*,\s*"?Sample1"?\s*,\s*"?Sample2"?\s*,', re.IGNORECASE)
_SIDES = (("Sample1", "initial"), ("Sample2", "optimised"))


def knows_speedup_test(opened: Opened) -> bool:
    """Tell by the line of headings."""
    return not opened.is_folder and _HEADINGS.match(opened.head()) is not None


def read_speedup_test(opened: Opened) -> ForeignFile:
    """Give two cells for each benchmark: the initial program, then the optimised one."""
    cells = list(_cells(opened))
    if not cells:
        raise opened.fail("the configuration names no benchmark", "is the file whole?")
    return ForeignFile(
        cells=tuple(cells),
        variant_rule="the side (initial or optimised)",
        losses=cautions_of(
            {
                "processes-unknown": "the file does not say which values are from one processs: each "
                "is taken as a run",
                "no-sessions": "on which occasion a run was made is not in the files",
                "failed-unknown": "failed runs are not in the files",
            }
        ),
        notes=cautions_of(
            {
                "settings-left-out": any(cell.keys.get("settings") for cell in cells)
                and "confidence levels and coefficients are not values: 'fairtrial speedup-test' "
                "reads them from the configuration"
            }
        ),
    )


def _cells(opened: Opened) -> Iterator[ForeignCell]:
    reader = csv.reader(io.StringIO(opened.text()), skipinitialspace=True)
    for k, row in enumerate(opened.rows(reader)):
        if k == 0 or not row or not any(cell.strip() for cell in row):
            continue
        at = f"{reader.line_num}"
        if len(row) != 5:
            raise opened.fail(
                f"the line has {len(row)} fields",
                "write Name,Sample1,Sample2,ConfLevel,Coef; the last two may be empty",
                at=at,
            )
        settings = " ".join(cell for cell in row[3:] if cell.strip() not in ("", "NA"))
        for place, (column, variant) in enumerate(_SIDES, 1):
            beside = _sample(opened, row[place].strip())
            yield ForeignCell(
                benchmark=row[0].strip(),
                variant=variant,
                processes=(numbers_of(beside),),
                known=False,
                keys={"Name": row[0].strip(), column: row[place].strip(), "settings": settings},
            )


def _sample(opened: Opened, name: str) -> Opened:
    path = Path(opened.source).parent / name
    if os.path.lexists(path) or path.is_absolute():  # Path.exists() raises on a name too long
        return open_foreign(str(path), decimal=opened.decimal)
    return open_foreign(os.path.join(".", name), decimal=opened.decimal)  # noqa: PTH118 - a Path would make - of ./-


def numbers_of(opened: Opened) -> tuple[float, ...]:
    """Read a file with one number a line; ``#`` begins a comment."""
    found = read_text(opened.text(), opened.source, decimal=opened.decimal)
    if found.dress != "numbers":
        raise opened.fail("it is not a list of numbers", "write one number a line")
    (row,) = found.samples.values()
    return tuple(opened.value(value, f"{cell.line}") for cell, value in row)


# one number a line, or a benchmark a line, is such a matrix too
read_numbers = read_wide_csv = read_matrix


def file_of_rows(
    opened: Opened, headings: Sequence[str], rows: Iterable[Sequence[object]]
) -> ForeignFile:
    """Read rows as those of a long CSV."""
    found = long_mapping(opened, headings)
    columns = list(zip(*(map(_rows_text, row) for row in rows), strict=True))
    if not columns:
        raise opened.fail("the table has no rows", "is the file whole?")
    keys: dict[tuple[str, ...], int] = {}
    named = zip(*(columns[place] for place in role_places(found)), strict=True)
    groups = [keys.setdefault(key, len(keys)) for key in named]
    return long_file(
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
            process=None if found.process is None else _rows_coded(columns[found.process]),
            block=None if found.block is None else _rows_coded(columns[found.block]),
            rest={place: _rows_coded(columns[place]) for place in found.rest},
            numeric=[place for place in found.rest if all_numbers(columns[place])],
            line_of=lambda row: f"row {row + 1}",
            text_of=lambda row, place: columns[place][row],
        ),
    )


def _rows_coded(texts: Sequence[str]) -> Coded:
    numbers: dict[str, int] = {}
    codes = [numbers.setdefault(text, len(numbers)) for text in texts]
    return Coded(np.array(codes, np.int64), list(numbers))


def _rows_text(cell: object) -> str:
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, bytes):  # a data base may hold texts as such
        return cell.decode("utf-8", "backslashreplace")
    return repr(cell) if isinstance(cell, float) else str(cell)


def knows_json(opened: Opened) -> bool:
    """Tell by the keys of the first object, which holds no other."""
    if opened.is_folder:
        return False
    head = opened.head().lstrip("\ufeff").lstrip()
    return head.startswith("[") and is_long(_keys(head[1:].lstrip()))


def _keys(text: str) -> list[str]:
    try:
        first, _ = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return []
    return list(first) if isinstance(first, dict) and _is_flat(first) else []


def _is_flat(one: dict[str, object]) -> bool:
    return not any(isinstance(value, (dict, list)) for value in one.values())


def read_json(opened: Opened) -> ForeignFile:
    """Give a cell for each benchmark, variant, session and metric."""
    data = opened.json()
    if not isinstance(data, list) or not data or not isinstance(data[0], dict):
        raise opened.fail("it is not a list of objects", "write one object for each value")
    headings = list(data[0])
    for k, one in enumerate(data):
        if not isinstance(one, dict) or one.keys() != data[0].keys() or not _is_flat(one):
            raise opened.fail(
                "the object has other keys than the first, or holds another",
                "write the same plain keys for each value, null where one is unknown",
                at=f"[{k}]",
            )
    return file_of_rows(opened, headings, ([one[key] for key in headings] for one in data))


_SQLITE_MAGIC = b"SQLite format 3\0"
_OURS = "runs"
_LONGEST = 64 * 1024**2  # bytes of a cell
_VERSIONS = slice(18, 20)  # of the file's format: 2 with a journal of its own, else 1


def knows_sqlite(opened: Opened) -> bool:
    """Tell by the first bytes."""
    return opened.data.startswith(_SQLITE_MAGIC)


def read_sqlite(opened: Opened) -> ForeignFile:
    """Give a cell for each benchmark, variant, session and metric."""
    if not knows_sqlite(opened):
        raise opened.fail(
            "it is not a complete database: "
            + ("it is empty" if not opened.data else "it begins otherwise"),
            "copy it again, or name its format with --format",
        )
    _require_whole(opened)
    with closing(sqlite3.connect(":memory:")) as base:
        try:
            base.deserialize(_without_journal(opened.data))
            base.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST)
            base.execute("PRAGMA trusted_schema = OFF")
            tables = [
                name
                for (name,) in base.execute(
                    "SELECT name FROM sqlite_master WHERE type = 'table' "
                    "AND name NOT LIKE 'sqlite%' AND sql NOT LIKE 'CREATE VIRTUAL%'"
                )
            ]
            ours = next((name for name in tables if name.lower() == _OURS), None)
            if len(tables) != 1 and ours is None:
                raise opened.fail(
                    f"there are {len(tables)} tables, and none is {_OURS!r}",
                    f"name the one that holds the runs {_OURS!r}",
                )
            quoted = (ours or tables[0]).replace('"', '""')
            rows = base.execute(f'SELECT * FROM "{quoted}"')  # noqa: S608 - quoted
            headings = [column[0] for column in rows.description]
            return file_of_rows(opened, headings, _bounded(opened, rows))
        except (sqlite3.Error, UnicodeError, OverflowError, MemoryError) as error:
            raise opened.fail(f"it is not a complete database: {error}", "copy it again") from None


def _bounded(opened: Opened, rows: Iterable[tuple[object, ...]]) -> Iterator[tuple[object, ...]]:
    """Give the rows while they fit: computed columns, and defaults, take no room in the file."""
    left = most_of(len(opened.data))
    for row in rows:
        left -= sum(len(cell) for cell in row if isinstance(cell, (str, bytes)))
        if left < 0:
            raise opened.fail(
                "the table holds too much for so small a file: its columns are computed",
                "copy the values into a table of their own",
            )
        yield row


def _require_whole(opened: Opened) -> None:
    """Refuse a data base whose last rows stand in a journal that a reader of the file does not see."""
    if opened.path is None:
        return
    for ending in ("-wal", "-journal"):
        journal = opened.path.with_name(opened.path.name + ending)
        try:
            there = journal.stat().st_size > 0
        except OSError:
            continue
        if there:
            raise opened.fail(
                f"its last changes are in {journal.name} next to it, not in the file",
                "let its program end, or put them in: sqlite3 FILE 'PRAGMA wal_checkpoint(TRUNCATE)'",
            )


def _without_journal(data: bytes) -> bytes:
    """Give a data base in memory, where no journal can be; a checkpointed one needs none."""
    if data[_VERSIONS] == b"\x02\x02":
        return data[:18] + b"\x01\x01" + data[20:]
    return data


_PARQUET_MAGIC = b"PAR1"
_KEYS = 1024  # texts of a column that may be a key of some cells
_WORD = 8  # bytes of a number, or of what stands for a text
_TABLE = 1_000_000  # numbers up to here are looked up, not sorted
_Whole = np.ndarray[Any, np.dtype[np.signedinteger[Any]]]


def knows_parquet(opened: Opened) -> bool:
    """Tell by the first bytes."""
    return opened.data.startswith(_PARQUET_MAGIC)


def read_parquet(opened: Opened) -> ForeignFile:
    """Give a cell for each benchmark, variant, session and metric."""
    with opened.parquet() as parquet_file:
        import pyarrow

        whole = parquet_file()
        _require_room(opened, whole.metadata)
        # a text that stands in a million rows is kept once
        kinds = [(one.name, one.type) for one in whole.schema_arrow]
        texts = [name for name, kind in kinds if pyarrow.types.is_string(kind)]
        table: Any = parquet_file(read_dictionary=texts).read()
    headings = [str(name) for name in table.column_names]
    found = long_mapping(opened, headings)
    groups, keys = _grouped([_parquet_coded(table.column(place)) for place in role_places(found)])
    rest = {place: _parquet_coded(table.column(place)) for place in found.rest}
    return long_file(
        LongTable(
            opened=opened,
            headings=headings,
            found=found,
            groups=groups,
            keys=keys,
            values={place: _floats(table.column(place)) for place, _, _ in found.values},
            process=None if found.process is None else _parquet_coded(table.column(found.process)),
            block=None if found.block is None else _parquet_coded(table.column(found.block)),
            rest={place: one for place, one in rest.items() if len(one.texts) <= _KEYS + len(keys)},
            numeric=[place for place, one in rest.items() if all_numbers(one.texts)],
            line_of=lambda row: f"row {row + 1}",
            text_of=lambda row, place: _parquet_text(table.column(place)[row].as_py()),
        ),
    )


def _require_room(opened: Opened, told: Any) -> None:  # noqa: ANN401 - pyarrow's
    """Refuse a few bytes that say they are billions of rows: the format packs by itself."""
    pages = sum(told.row_group(k).total_byte_size for k in range(told.num_row_groups))
    if max(pages, told.num_rows * told.num_columns * _WORD) > most_of(len(opened.data)):
        raise opened.fail(
            f"the file holds too much: {told.num_rows:,} rows of {told.num_columns} columns in "
            f"{len(opened.data):,} bytes",
            "split it, or leave out columns that are the same in all rows",
        )


def _parquet_text(value: object) -> str:
    if isinstance(value, bytes):  # older writers do not mark texts as such
        return value.decode("utf-8", "backslashreplace")
    return "" if value is None else str(value)


def _parquet_coded(column: Any) -> Coded:  # noqa: ANN401 - pyarrow's
    """Give each text of a column a number; null is an empty one."""
    import pyarrow

    whole = column.combine_chunks()
    if not pyarrow.types.is_dictionary(whole.type):
        try:
            whole = whole.dictionary_encode()
        except pyarrow.ArrowException:  # nested types have none
            whole = pyarrow.array(
                [_parquet_text(one) for one in column.to_pylist()]
            ).dictionary_encode()
    texts = [_parquet_text(one) for one in whole.dictionary.to_pylist()]
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
    coded = _parquet_coded(column)
    return np.array([float_of(text) for text in coded.texts], np.float64)[coded.codes]
