"""Bare numbers, and rows whose cells have types: JSON, SQLite and Parquet."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import sqlite3
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ..data.matrix import PerformanceMatrix
from ..data.matrix_file import Dress, MatrixTable, TextTable, read_text, table_in
from ..data.opening import Opened, most_of, open_foreign
from ..errors import AnalysisError, UsageError
from ..pages.model import Caution
from ..record.json_paths import JsonPathError, Place, beside, places, root
from .cell_roles import Coded
from .headings import SAMPLE, is_long, long_mapping
from .long_table import Columns, Real, long_file
from .parsing import ForeignCell, ForeignFile, float_of, foreign_file, within

# --- Bare numbers: one list, rows of runs, a wide CSV, or the sample files of the Speedup-Test.


LOOKED_AT = 20  # lines
CUT = 65536  # characters of the beginning: its last line may be cut off there


def dress_of(opened: Opened, head: str | None = None) -> Dress | None:
    """Tell how a text begins as bare numbers do; None where it holds none, or where the file's own names its columns."""
    if opened.is_folder:
        return None
    if (data := opened.structure()) is not None:
        return "matrix" if _are_runs(data) else None
    text = "\n".join((head or opened.head()).split("\n")[:LOOKED_AT])
    try:
        found = _bare(opened, text.rpartition("\n")[0] if len(text) >= CUT else text)
    except AnalysisError as error:
        ambiguous = "--decimal" in (error.fix or "") or "--layout" in (error.fix or "")
        return "matrix" if ambiguous else None
    return found.dress


def read_matrix(opened: Opened) -> ForeignFile:
    """Give a cell for each benchmark; lines of one number each are one, called ``values``."""
    if _are_runs(data := opened.structure()):
        table = table_in(opened.text(), opened.source, opened.layout, None)
        if isinstance(within(data, "samples"), dict):
            return _stored(opened, table)
        samples, dress, cautions = table.samples, "matrix", table.cautions
    else:
        found = _bare(opened, opened.text())
        dress, cautions, rows = found.dress, found.cautions, found.samples.items()
        samples = {name: [opened.value(v, f"{cell.line}") for cell, v in row] for name, row in rows}
    cells = tuple(
        ForeignCell(
            benchmark=name,
            metric="value",
            unit="",
            better=None,
            processes=(tuple(row),),
            keys={} if dress == "numbers" else {"benchmark": name},
        )
        for name, row in samples.items()
    )
    notes = [Caution(one.code, one.text) for one in cautions]
    return foreign_file("numbers", cells, notes=notes, format=dress)


def _stored(opened: Opened, table: MatrixTable) -> ForeignFile:
    """Read what `PerformanceMatrix.to_dict` wrote, a row for each value and for each run that failed."""
    PerformanceMatrix.of_table(table, opened.source, better=None, unit="", name="values")
    own = {"session": table.sessions, "block": table.blocks, "run": table.processes}
    ids = {role: of for role, of in own.items() if of is not None}
    lost, rows = table.failed, list[dict[str, Any]]()
    for name in dict.fromkeys((*table.samples, *(lost or {}))):
        about = {"benchmark": name, "variant": table.name, "metric": table.metric}
        about |= {"unit": table.unit, "better": table.better, "outcome": "ok" if lost else None}
        for k, value in enumerate(table.samples.get(name, ())):
            of_run = {role: of[name][k] for role, of in ids.items()}
            rows.append({**about, **of_run, "value": value})
        failed = (lost or {}).get(name, 0)
        for session, count in (failed if isinstance(failed, dict) else {None: failed}).items():
            rows += [{**about, "session": session, "outcome": "failed"}] * count
    heads = [*dict.fromkeys(key for row in rows for key in row if row[key] not in (None, ""))]
    found = file_of_rows(opened, heads, ([row.get(key) for key in heads] for row in rows))
    return replace(found, notes=(*found.notes, *(Caution(c.code, c.text) for c in table.cautions)))


def _are_runs(data: object) -> bool:
    """Tell whether JSON holds a list for each benchmark, most of whose parts are numbers; or such below ``samples``."""
    samples = within(data, "samples")
    data = samples if isinstance(samples, dict) else data
    rows = data.values() if isinstance(data, dict) else data if isinstance(data, list) else ()
    lists = [row if isinstance(row, list) else [] for row in rows]
    most = (2 * sum(type(run) in (int, float) for run in row) > len(row) for row in lists)
    return lists != [] and all(most)


def _bare(opened: Opened, text: str) -> TextTable:
    if text.lstrip()[:1] in ("{", "[", "<"):
        raise opened.fail("it begins as JSON or XML", "name its format with --format")
    return read_text(text, opened.source, layout=opened.layout, decimal=opened.decimal)


_SIDES = (("Sample1", "initial"), ("Sample2", "optimised"))


def read_speedup_test(opened: Opened) -> ForeignFile:
    """Give two cells for each benchmark: the initial program, then the optimised one."""
    cells = list(_cells(opened))
    opened.require(cells != [], "the configuration names no benchmark", "is the file whole?", at="")
    holding = {"settings-left-out": any(cell.keys.get("settings") for cell in cells)}
    rule = "the side (initial or optimised)"
    return foreign_file("speedup-test", cells, holding, variant_rule=rule)


def _cells(opened: Opened) -> Iterator[ForeignCell]:
    reader = csv.reader(io.StringIO(opened.text()), skipinitialspace=True)
    for k, row in enumerate(opened.rows(reader)):
        if k == 0 or not row or not any(cell.strip() for cell in row):
            continue
        fix = "write Name,Sample1,Sample2,ConfLevel,Coef; the last two may be empty"
        what = f"the line has {len(row)} fields"
        opened.require(len(row) == 5, what, fix, at=f"{reader.line_num}")
        name, *samples = (cell.strip() for cell in row[:3])
        settings = " ".join(cell for cell in row[3:] if cell.strip() not in ("", "NA"))
        for (column, variant), sample in zip(_SIDES, samples, strict=True):
            path = Path(opened.source).parent / sample
            # Path.exists() raises on a name too long
            there = os.path.lexists(path) or path.is_absolute()
            place = str(path) if there else os.path.join(".", sample)  # noqa: PTH118 - a Path would make - of ./-
            yield ForeignCell(
                benchmark=name,
                variant=variant,
                processes=(numbers_of(open_foreign(place, decimal=opened.decimal)),),
                keys={"Name": name, column: sample, "settings": settings},
            )


def numbers_of(opened: Opened) -> tuple[float, ...]:
    """Read a file with one number a line; ``#`` begins a comment."""
    found = read_text(opened.text(), opened.source, decimal=opened.decimal)
    if found.dress != "numbers":
        raise opened.fail("it is not a list of numbers", "write one number a line")
    (row,) = found.samples.values()
    return tuple(opened.value(value, f"{cell.line}") for cell, value in row)


# one number a line, or a benchmark a line, is such a matrix too
read_numbers = read_wide_csv = read_matrix
_DRESSES: tuple[Dress, ...] = ("numbers", "wide-csv", "matrix")
knows_numbers, knows_wide_csv, knows_matrix = (
    lambda opened, dress=dress: dress_of(opened) == dress for dress in _DRESSES
)


# --- Rows whose cells have types.


def file_of_rows(
    opened: Opened,
    headings: Sequence[str],
    rows: Iterable[Sequence[object]],
    wheres: Sequence[str] = (),
) -> ForeignFile:
    """Read rows as those of a long CSV."""
    columns = list(zip(*(map(_text, row) for row in rows), strict=True))
    first = [column[:SAMPLE] for column in columns] or [()] * len(headings)
    if not columns:
        long_mapping(opened, headings, first)
        raise opened.fail("the table has no rows", "is the file whole?")
    return long_file(Columns(opened, headings, first, "", columns, wheres))


def _text(cell: object) -> str:
    if isinstance(cell, bytes):  # data bases, and older writers of Parquet, hold texts as such
        return cell.decode("utf-8", "backslashreplace")
    return "" if cell is None else str(cell).lower() if isinstance(cell, bool) else str(cell)


def knows_json(opened: Opened) -> bool:
    """Tell by the keys of the first object, which holds no list: of a list of such, or on a line of its own; or of columns."""
    head = "" if opened.is_folder else opened.head().lstrip("\ufeff").lstrip()
    first: object = next(iter(_rows_of_columns(opened.structure())), {})
    try:
        lines = head.startswith("{") and not isinstance(opened.structure(), dict)
        if not first and head[:1] in ("[", "{"):
            first, _ = json.JSONDecoder().raw_decode(head[not lines :].lstrip())
    except (ValueError, RecursionError):
        return False
    flat = (_flat(first) if isinstance(first, dict) else None) or {}
    return bool(flat) and is_long(opened, list(flat), [[_text(one)] for one in flat.values()])


def _flat(one: Mapping[str, object]) -> dict[str, object] | None:
    """Give the plain values of an object, those of objects in it behind a dot; None where it holds a list."""
    found = {name: value for name, _, value in _leaves(one)}
    return None if any(isinstance(value, list) for value in found.values()) else found


def read_json(opened: Opened) -> ForeignFile:
    """Give a cell for each benchmark, variant, session and metric: of objects in a list, or one on each line."""
    plain = all("[" not in path and "." not in path for path in opened.columns.values())
    data = (plain and _rows_of_columns(opened.structure())) or opened.documents()
    every = data if isinstance(data, list) else [None]
    rows = [_flat(one) if isinstance(one, dict) else None for one in every]
    if opened.columns and not (plain and all(rows)):
        return _by_paths(opened, data)
    fix = "write one object for each value, or say where they are: --columns 'benchmark=results[*].name, value=results[*].times'"
    good = isinstance(data, list) and data != [] and isinstance(data[0], dict)
    opened.require(good, "it is not a list of objects", fix, at="")
    if None in rows:
        fix = "write plain keys for each value, or say where values are: --columns 'benchmark=[*].name, value=[*].times'"
        raise opened.fail("it is no object, or holds a list", fix, at=f"[{rows.index(None)}]")
    headings = list(dict.fromkeys(key for row in rows for key in row or ()))
    cells = ([(row or {}).get(key) for key in headings] for row in rows)
    return file_of_rows(opened, headings, cells)


def _rows_of_columns(data: Any) -> list[dict[str, object]]:  # noqa: ANN401 - any JSON
    """Give the rows of an object of columns, lists or objects of as many plain values, as pandas writes them."""
    columns = [*data.values()] if isinstance(data, dict) else []
    alike = (isinstance(one, dict) and one.keys() == columns[0].keys() for one in columns)
    if columns and all(alike):
        columns = [[*one.values()] for one in columns]
    if len(columns) < 2 or not all(isinstance(one, list) for one in columns):
        return []
    plain = all(not isinstance(cell, (list, dict)) for one in columns for cell in one)
    same = plain and len({*map(len, columns)}) == 1
    return [dict(zip(data, row, strict=True)) for row in zip(*columns, strict=True)] if same else []


_KEY = re.compile(r'\["((?:[^"\\]|\\.)*)"\]|([^.\[\]@^$|\s][^.\[\]|]*)')
_Cells = dict[str, object]  # the cells of a row, by heading


def _by_paths(opened: Opened, data: Any) -> ForeignFile:  # noqa: ANN401 - any JSON
    """Read what ``--columns`` says by paths: a row for each number at those of `value`.

    Of a list each path without ``[`` is one of each entry. Columns too are the plain values of each ``[*]`` on the
    way to a value, and the keys of objects there: whatever may tell rows apart.
    """
    stated: dict[str, list[str]] = {}
    literal: dict[str, str] = {}
    for role, text in opened.columns.items():
        parts = [part.strip() for part in text.split("+")]
        if role in ("unit", "metric", "better") and not re.search(r"[.\[@]", text):
            literal[role] = text  # one that is no key is a text, as that of a column
        each = "[*]." if isinstance(data, list) and "[" not in text else ""
        stated[role] = [part if part[:1] in "'[$" else each + part for part in parts]
    if "value" not in stated:
        what = "no path of values is given"
        raise UsageError(what, "--columns", "say value=PATH, such as results[*].times")
    called = _headings(stated)
    rows: list[_Cells] = []
    wheres: list[str] = []
    names: dict[str, dict[str, None]] = {role: {} for role in stated}
    found: dict[str, list[Place]] = {}
    for path in stated["value"]:
        with _stating(opened, "value", path):
            found[path] = places(root(data), path, entries=True)
    valued = {place.where for some in found.values() for place in some}
    for path, some in found.items():
        for place in some:
            row: _Cells = {}
            taken: list[Place] = []
            for role, paths in stated.items():
                for one in paths if role != "value" else ():
                    said = _stating(opened, role, one)  # a text need not lead anywhere
                    with suppress(JsonPathError) if role in literal else said:
                        at = beside(place, path, one)
                        if len(at) != 1 or isinstance(at[0].value, (list, dict)):
                            what = f"it leads to {len(at)} values at {place.where}, or to a list"
                            raise JsonPathError(what)
                        taken.append(at[0])
                        row[key := called[role, one]] = at[0].value
                        names[role][key] = None
            row |= dict(_on_the_way(place, path, taken, valued, row))
            names["value"][called["value", path]] = None
            for k, (where, number, run) in enumerate(_numbers(place.value, place.where)):
                own = {key: one[k] if isinstance(one, list) else one for key, one in row.items()}
                rows.append({**own, called["value", path]: number, **({"run": run} if run else {})})
                wheres.append(where)
    headings = list(dict.fromkeys(key for row in rows for key in row))
    columns = {role: "+".join(keys) or literal.get(role, "") for role, keys in names.items()}
    called_so = replace(opened, columns={role: text for role, text in columns.items() if text})
    cells = ([row.get(key) for key in headings] for row in rows)
    return file_of_rows(called_so, headings, cells, wheres)


def _headings(stated: Mapping[str, Sequence[str]]) -> dict[tuple[str, str], str]:
    """Name the column of each path by its last key, or by its role; by all keys where two paths end alike."""
    last: dict[tuple[str, str], str] = {}
    for role, path in ((role, path) for role, several in stated.items() for path in several):
        keys = (one or two for one, two in reversed(_KEY.findall(path.partition(" | ")[0])))
        last[role, path] = next((key for key in keys if key not in "*"), role)
    ends = Counter({path: name for (_, path), name in last.items()}.values())
    return {
        one: name if ends[name] == 1 else re.sub(r"\[(\*|\d+)\]\.?", ".", one[1]).strip(".")
        for one, name in last.items()
    }


def _on_the_way(
    place: Place, path: str, taken: Sequence[Place], valued: Set[str], known: Collection[str]
) -> Iterator[tuple[str, object]]:
    """Give the plain values of each ``[*]`` on the way to a place, nearest first, and the keys of objects.

    Without what has a role. A value whose name is `known`, and a key, are called by their path.
    """
    there, keys = {one.where for one in taken}, {(one.where, one.value) for one in taken}
    entries, seen = place.entries[1:] or place.entries, {*known}
    parts = path.split("[*]")
    apart: str | None = None
    for k in reversed(range(len(entries))):
        entry, whole = entries[k], "".join(f"{part}[*]" for part in parts[: k + 1])
        for name, where, value in _leaves(entry.value, entry.where, apart):
            if where in there or where in valued:
                continue
            if not isinstance(value, list) or _goes_with(value, place.value):
                yield name if name not in seen else f"{whole}.{name}", value
                seen.add(name)
        apart = None
        if isinstance(entry.key, str) and entry.where:
            # an object of entries, whose values are not those of what holds it
            apart = entry.where.removesuffix(entry.key).removesuffix(".")
            if (entry.where, entry.key) not in keys:
                yield f"{whole}.@", entry.key


def _goes_with(one: list[object], runs: object) -> bool:
    """Tell whether a list holds a number of each run of another, such as its exit code."""
    if not isinstance(runs, list) or len(one) != len(runs):
        return False
    numbers = all(isinstance(number, (int, float, type(None))) for number in one)
    return numbers and not any(isinstance(run, list) for run in runs)


def _leaves(
    one: object, at: str = "", apart: str | None = None, before: str = ""
) -> Iterator[tuple[str, str, object]]:
    """Give name, place and value of all in an object but objects, in whose place what is in them stands."""
    for key, value in one.items() if isinstance(one, dict) and at != apart else ():
        where = f"{at}.{key}" if at else key
        if isinstance(value, dict):
            yield from _leaves(value, where, apart, f"{before}{key}.")
        else:
            yield f"{before}{key}", where, value


@contextmanager
def _stating(opened: Opened, role: str, path: str) -> Iterator[None]:
    try:
        yield
    except JsonPathError as error:
        raise UsageError(f"--columns {role}={path}: {error}", opened.source) from None


def _numbers(value: object, where: str) -> Iterator[tuple[str, object, str]]:
    """Give each number with its place, and the process of one that stands in a list of lists."""
    if not isinstance(value, list):
        yield where, value, ""
        return
    for k, one in enumerate(value):
        at = f"{where}[{k}]"
        if isinstance(one, list):
            yield from ((f"{at}[{j}]", inner, at) for j, inner in enumerate(one))
        else:
            yield at, one, ""


_TABLES = """SELECT name FROM sqlite_master WHERE type = 'table'
AND name NOT LIKE 'sqlite%' AND sql NOT LIKE 'CREATE VIRTUAL%'"""
_OURS = "runs"
_LONGEST = 64 * 1024**2  # bytes of a cell
_VERSIONS = slice(18, 20)  # of the file's format: 2 with a journal of its own, else 1


def read_sqlite(opened: Opened) -> ForeignFile:
    """Give a cell for each benchmark, variant, session and metric."""
    how = "it begins otherwise" if opened.data else "it is empty"
    fix = "copy it again, or name its format with --format"
    what = f"it is not a complete database: {how}"
    opened.require(opened.data.startswith(b"SQLite format 3\0"), what, fix, at="")
    _require_whole(opened)
    with closing(sqlite3.connect(":memory:")) as base:
        try:
            data = opened.data
            # no journal in memory; a checkpointed one needs none
            if data[_VERSIONS] == b"\x02\x02":
                data = data[:18] + b"\x01\x01" + data[20:]
            base.deserialize(data)
            base.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST)
            base.execute("PRAGMA trusted_schema = OFF")
            tables = [name for (name,) in base.execute(_TABLES)]
            ours = next((name for name in tables if name.lower() == _OURS), None)
            what = f"there are {len(tables)} tables, and none is {_OURS!r}"
            fix = f"name the one that holds the runs {_OURS!r}"
            opened.require(len(tables) == 1 or ours is not None, what, fix, at="")
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
            what = "the table holds too much for so small a file: its columns are computed"
            raise opened.fail(what, "copy the values into a table of their own")
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
        what = f"its last changes are in {journal.name} next to it, not in the file"
        fix = "let its program end, or put them in: sqlite3 FILE 'PRAGMA wal_checkpoint(TRUNCATE)'"
        opened.require(not there, what, fix, at="")


_WORD = 8  # bytes of a number, or of what stands for a text


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
    first = [[*map(_text, column.slice(0, SAMPLE).to_pylist())] for column in table.columns]
    return long_file(_ParquetColumns(opened, headings, first, "", table.columns))


def _require_room(opened: Opened, found: Any) -> None:  # noqa: ANN401 - pyarrow's
    """Refuse a few bytes that say they are billions of rows: the format packs by itself."""
    pages = sum(found.row_group(k).total_byte_size for k in range(found.num_row_groups))
    room = max(pages, found.num_rows * found.num_columns * _WORD) <= most_of(len(opened.data))
    held = f"{found.num_rows:,} rows of {found.num_columns} columns in {len(opened.data):,} bytes"
    fix = "split it, or leave out columns that are the same in all rows"
    opened.require(room, f"the file holds too much: {held}", fix, at="")


class _ParquetColumns(Columns):  # pyarrow's
    def coded(self, place: int) -> Coded:
        """Give each text of a column a number; null is an empty one."""
        import pyarrow

        whole = self.columns[place].combine_chunks()
        if not pyarrow.types.is_dictionary(whole.type):
            try:
                whole = whole.dictionary_encode()
            except pyarrow.ArrowException:  # nested types have none
                texts = [*map(_text, whole.to_pylist())]
                whole = pyarrow.array(texts).dictionary_encode()
        texts = [*map(_text, whole.dictionary.to_pylist())]
        codes = whole.indices.fill_null(len(texts)).to_numpy(zero_copy_only=False)
        return Coded(codes.astype(np.int64), [*texts, ""])

    def floats(self, place: int, units: set[str]) -> Real:
        """Give a column of numbers, from texts too."""
        import pyarrow

        column = self.columns[place]
        if pyarrow.types.is_floating(column.type) or pyarrow.types.is_integer(column.type):
            plain: Real = column.to_numpy().astype(np.float64)
            return np.where(np.isnan(plain) & ~column.is_null().to_numpy(), np.inf, plain)
        coded = self.coded(place)
        return np.array([float_of(text, units) for text in coded.texts], np.float64)[coded.codes]

    def text_of(self, row: int, place: int) -> str:
        return _text(self.columns[place][row].as_py())
