"""Rows of tables: bare numbers, a long CSV, JSON objects, SQLite and Parquet."""

from __future__ import annotations

import csv
import gc
import io
import json
import os
import re
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from ..data.matrix_file import Dress, TextTable, read_text
from ..data.number_text import commas_of, two_readings
from ..data.opening import Opened, most_of, open_foreign
from ..errors import AnalysisError
from ..pages.model import Caution
from .columns import Coded
from .headings import ColumnRoles, is_long, long_mapping
from .long_table import LongTable, float_of, long_file
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
        found = _bare(opened, head)
    except AnalysisError as error:
        ambiguous = "--decimal" in (error.fix or "") or "--layout" in (error.fix or "")
        return "matrix" if ambiguous else None
    named = "columns-as-runs" in {one.code for one in found.cautions}
    return None if named else found.dress


def read_matrix(opened: Opened) -> ForeignFile:
    """Give a cell for each benchmark; lines of one number each are one, called ``values``."""
    found = _bare(opened, opened.text())
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


def _bare(opened: Opened, text: str) -> TextTable:
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


# --- A long CSV: a row for each value, columns that say which benchmark, variant, session and run.
#
# The separator is a comma, a semicolon, a tab or a bar, whichever the line of headings has most. Where it
# is no comma, the commas of a column of values are the decimal sign, if they can be nothing else.


_NEWLINE = "\n"
_SEPARATORS = ",;\t|"
_DISTINCT = 1024  # texts of a column that may be a key of some cells
_ROWS, _CHARACTERS = 4096, 65536  # at once: few enough to stay in the processor's cache


def knows_long_csv(opened: Opened) -> bool:
    """Tell by headings of which one is a benchmark's and one a value's."""
    if opened.is_folder:
        return False
    line = next((one for one in opened.head().split("\n") if one.strip() and one[0] != "#"), "")
    if line.lstrip()[:1] in ("{", "[", "<") or not line:
        return False
    return is_long(next(csv.reader([line], delimiter=_separator(line)), []))


def read_long_csv(opened: Opened) -> ForeignFile:
    """Give a cell for each benchmark, variant, session and metric."""
    with _no_collections():
        return long_file(_table(opened))


@contextmanager
def _no_collections() -> Iterator[None]:
    """Rows are made and dropped by the million, none of them in a cycle."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def _table(opened: Opened) -> LongTable:
    text = opened.text()
    start = 0
    while text.startswith("#", start):
        start = text.find("\n", start) + 1 or len(text)
    first = text[start : text.find("\n", start) if "\n" in text[start:] else None]
    separator = _separator(first)
    headings = next(opened.rows(csv.reader([first], delimiter=separator)), [])
    found = long_mapping(opened, headings, at=f"{text.count(_NEWLINE, 0, start) + 1}")
    rows = _CsvRows(opened, text, start, separator, len(headings))
    return _coded(rows, headings, found)


class _CsvRows:
    """The rows behind the headings; blank lines are none.

    `plain`: Whether no cell stands in quotes: then lines are split, which takes a third of csv's
    time, and each text of the first column has a newline before it.
    """

    def __init__(self, opened: Opened, text: str, start: int, separator: str, width: int) -> None:
        self.opened, self.separator, self.width = opened, separator, width
        self._text, self._start = text, start
        self.plain = '"' not in text and "\0" not in text and width > 1

    def chunks(self) -> Iterator[tuple[int, Sequence[Sequence[str]]]]:
        """Give columns of so many rows at once."""
        return self._split() if self.plain else self._parsed()

    def _split(self) -> Iterator[tuple[int, Sequence[Sequence[str]]]]:
        text, separator, width = self._text, self.separator, self.width
        end = text.find("\n", self._start)
        while 0 <= end < len(text) - 1:
            start, end = end, text.find("\n", end + _CHARACTERS)
            part = text[start : end if end >= 0 else len(text)].rstrip("\n")
            count = part.count("\n")
            cells = part.replace("\n", f"{separator}\n").split(separator)
            # every newline begins a cell: if all of them are in the first column no line is short
            if len(cells) != count * width + 1 or "".join(cells[1::width]).count("\n") != count:
                rows = [line.split(separator) for line in part.split("\n") if line]
                if any(len(row) != width for row in rows):
                    raise self._short()
                if rows:
                    first, *others = zip(*rows, strict=True)
                    yield len(rows), ([f"\n{one}" for one in first], *others)
            elif count:
                yield count, [cells[1 + k :: width] for k in range(width)]

    def _parsed(self) -> Iterator[tuple[int, Sequence[Sequence[str]]]]:
        width = {self.width}
        rows = self.opened.rows(self._reader(), before=self._before())
        while chunk := list(islice(rows, _ROWS)):
            if set(map(len, chunk)) != width:
                chunk = [row for row in chunk if row]
                if any(len(row) != self.width for row in chunk):
                    raise self._short()
            if chunk:
                yield len(chunk), list(zip(*chunk, strict=True))

    def _reader(self) -> Any:  # noqa: ANN401 - csv gives its readers no public name
        lines = io.StringIO(self._text, newline="\n")
        lines.seek(self._start)
        reader = csv.reader(lines, delimiter=self.separator)
        next(reader, None)
        return reader

    def __iter__(self) -> Iterator[tuple[int, list[str]]]:
        """Give each row with its line, slowly."""
        reader, before = self._reader(), self._before()
        for row in self.opened.rows(reader, before=before):
            if row:
                yield before + reader.line_num, row

    def _before(self) -> int:
        return self._text.count("\n", 0, self._start)

    def at(self, number: int) -> tuple[int, list[str]]:
        """Give a row by its number, with its line."""
        return next(islice(iter(self), number, None))

    def _short(self) -> AnalysisError:
        line, row = next((k, row) for k, row in self if len(row) != self.width)
        return self.opened.fail(
            f"the line has {len(row)} cells, the headings {self.width}",
            "is the file cut off, or a text not in quotes?",
            at=f"{line}",
        )


class _Numbers(dict[Any, int]):
    """Gives everything that it has not seen the next number."""

    def __missing__(self, key: object) -> int:
        number = self[key] = len(self)
        return number


def _coded(rows: _CsvRows, headings: Sequence[str], found: ColumnRoles) -> LongTable:
    """Give each text of a column a number, a part of the rows at a time: no row is kept."""
    values = {place for place, _, _ in found.values}
    texts = {place: _Numbers() for place in range(len(headings)) if place not in values}
    parts: defaultdict[int, list[np.ndarray[Any, Any]]] = defaultdict(list)
    total = 0
    for count, columns in rows.chunks():
        total += count
        for place in values:
            parts[place].append(_floats(columns[place], count))
        most = max(_DISTINCT, total // 4, *(len(texts[k]) for k in found.benchmark))
        for place, numbers in list(texts.items()):
            parts[place].append(_codes(numbers, columns[place], count))
            if len(numbers) > most and place in found.rest and place not in found.stated:
                del texts[place], parts[place]  # neither a key nor a factor
    whole = {place: np.concatenate(column) for place, column in parts.items()}
    for place, name, _ in found.values:
        column = whole.setdefault(place, np.zeros(0))
        if np.isinf(column).any() or (len(column) and rows.opened.decimal == "comma"):
            whole[place] = _with_commas(rows, place, name, column)
    nothing = np.zeros(0, np.int16)
    return LongTable(
        opened=rows.opened,
        headings=headings,
        found=found,
        columns={
            place: Coded(whole.get(place, nothing), [text.removeprefix("\n") for text in numbers])
            for place, numbers in texts.items()
        },
        values={place: whole[place] for place, _, _ in found.values},
        line_of=lambda row: f"{rows.at(row)[0]}",
        text_of=lambda row, place: rows.at(row)[1][place],
    )


def _codes(
    numbers: _Numbers, texts: Sequence[str], count: int
) -> np.ndarray[Any, np.dtype[np.signedinteger[Any]]]:
    found = np.fromiter(map(numbers.__getitem__, texts), np.int32, count)
    return found.astype(np.int16) if len(numbers) < 2**15 else found


def _floats(texts: Sequence[str], count: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Give the numbers, NaN for what is none: only rows that count are asked for it later."""
    try:
        found = np.fromiter(map(float, texts), np.float64, count)
    except ValueError:
        pass
    else:
        joined = "".join(texts)
        if joined.isascii() and "_" not in joined and found.all() and not np.isnan(found).any():
            return found  # a 0 may be a number that is too small
    return np.array([float_of(text) for text in texts], np.float64)


def _with_commas(
    rows: _CsvRows, place: int, name: str, plain: np.ndarray[Any, np.dtype[np.float64]]
) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Read a column again of which some cells are no plain numbers: they may have decimal commas."""
    said = rows.opened.decimal
    if said is None and rows.separator == ",":
        return plain  # a comma in quotes: the cell is refused where it counts
    texts = [(line, row[place].strip()) for line, row in rows]
    commas = commas_of((text for _, text in texts), said)
    if commas.decimal is None:
        line = next(line for line, text in texts if text == commas.example)
        raise rows.opened.fail(
            f"{commas.example!r} in the column {name!r} may be {two_readings(commas.example)}",
            "say which with --decimal comma or --decimal point",
            at=f"{line}",
        )
    return np.array([float_of(text, commas.decimal) for _, text in texts], np.float64)


def _separator(line: str) -> str:
    return max(_SEPARATORS, key=line.count)


# --- Rows whose cells have types.


def file_of_rows(
    opened: Opened, headings: Sequence[str], rows: Iterable[Sequence[object]]
) -> ForeignFile:
    """Read rows as those of a long CSV."""
    found = long_mapping(opened, headings)
    columns = list(zip(*(map(_rows_text, row) for row in rows), strict=True))
    if not columns:
        raise opened.fail("the table has no rows", "is the file whole?")
    values = {place for place, _, _ in found.values}
    return long_file(
        LongTable(
            opened=opened,
            headings=list(headings),
            found=found,
            columns={k: _rows_coded(one) for k, one in enumerate(columns) if k not in values},
            values={
                place: np.array([float_of(text) for text in columns[place]], np.float64)
                for place, _, _ in found.values
            },
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
_WORD = 8  # bytes of a number, or of what stands for a text


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
    values = {place for place, _, _ in found.values}
    return long_file(
        LongTable(
            opened=opened,
            headings=headings,
            found=found,
            columns={
                k: _parquet_coded(table.column(k)) for k in range(len(headings)) if k not in values
            },
            values={place: _parquet_floats(table.column(place)) for place, _, _ in found.values},
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


def _parquet_floats(column: Any) -> np.ndarray[Any, np.dtype[np.float64]]:  # noqa: ANN401 - pyarrow's
    import pyarrow

    kind = column.type
    if pyarrow.types.is_floating(kind) or pyarrow.types.is_integer(kind):
        plain: np.ndarray[Any, Any] = column.to_numpy().astype(np.float64)
        return np.where(np.isnan(plain) & ~column.is_null().to_numpy(), np.inf, plain)
    coded = _parquet_coded(column)
    return np.array([float_of(text) for text in coded.texts], np.float64)[coded.codes]
