"""A long CSV: a row for each value, columns that say which benchmark, variant, session and run.

The separator is what a line ``sep=;`` says, else a comma, a semicolon, a tab or a bar, whichever the line of headings has
most, else blanks. Where it is no comma, the commas of a column of values are the decimal sign, if they can be nothing else.
"""

from __future__ import annotations

import csv
import io
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np

from ..data.number_text import commas_of, headed, two_readings
from ..data.opening import Opened
from ..errors import AnalysisError
from .cell_roles import Coded
from .headings import SAMPLE, ColumnRoles, float_of, is_long, long_mapping
from .long_table import LongTable, Real, long_file
from .parsing import ForeignFile, parted
from .typed_rows import CUT, LOOKED_AT, dress_of

_NEWLINE = "\n"
_SEPARATORS = ",;\t|"
_DISTINCT = 1024  # texts of a column that may be a key of some cells
_ROWS, _CHARACTERS = 4096, 65536  # at once: few enough to stay in the processor's cache


def knows_long_csv(opened: Opened) -> bool:
    """Tell by headings of which one is a value's, and by the first cells below them."""
    if opened.is_folder:
        return False
    head = opened.head()
    if len(head) >= CUT:
        head = head.rpartition("\n")[0]
    text, start, separator, headings = _headings(opened, head)
    if not headings or headings[0].lstrip()[:1] in ("{", "[", "<"):
        return False
    try:
        columns = _first_cells(opened, text, start, separator, len(headings))
        return is_long(opened, headings, columns, bare=dress_of(opened, text) is not None)
    except AnalysisError:
        return False


def _headings(opened: Opened, text: str) -> tuple[str, int, str, list[str]]:
    """Give the text, where its headings begin, its separator, and they; a line ``sep=;`` may say which.

    Cells between blanks stand between tabs from here on.
    """
    text, start, found = headed(text), 0, ""
    while text.startswith(("#", "\n"), start):
        start = text.find("\n", start) + 1 or len(text)
    if match := re.compile(r'"?sep=(.)"?\n').match(text, start):
        start, found = match.end(), match[1]
    first = text[start : text.find("\n", start) if "\n" in text[start:] else None]
    separator = found or max(_SEPARATORS, key=first.count)
    if separator not in first and len(first.split()) > 1:
        lines = text[start:].split("\n")
        if len({len(line.split()) for line in lines[:LOOKED_AT] if line.strip()}) == 1:
            text = text[:start] + "\n".join("\t".join(line.split()) for line in lines)
            separator, first = "\t", "\t".join(first.split())
    named = next(opened.rows(csv.reader([first.lstrip(" ")], delimiter=separator)), [])
    return text, start, separator, [*map(str.strip, named)]


def _first_cells(
    opened: Opened, text: str, start: int, separator: str, width: int
) -> list[list[str]]:
    part = text[start : start + CUT]
    rows = csv.reader(io.StringIO(part, newline="\n"), delimiter=separator)
    some = [row for row in islice(opened.rows(rows), 1, SAMPLE) if len(row) == width]
    return [list(column) for column in zip(*some, strict=True)] or [[] for _ in range(width)]


def read_long_csv(opened: Opened) -> ForeignFile:
    """Give a cell for each benchmark, variant, session and metric."""
    text, start, separator, headings = _headings(opened, opened.text())
    columns = _first_cells(opened, text, start, separator, len(headings))
    found = long_mapping(opened, headings, columns, at=f"{text.count(_NEWLINE, 0, start) + 1}")
    rows = _CsvRows(opened, text, start, separator, len(headings))
    return long_file(_coded(rows, headings, found))


class _CsvRows:
    """The rows behind the headings; blank lines are none.

    `plain`: Whether no cell stands in quotes: then lines are split, which takes a third of csv's
    time, and each text of the first column has a newline before it.
    """

    def __init__(self, opened: Opened, text: str, start: int, separator: str, width: int) -> None:
        self.opened, self.separator, self.width = opened, separator, width
        self._text, self._start, self._before = text, start, text.count("\n", 0, start)
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
        rows = self.opened.rows(self._reader(), before=self._before)
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
        reader, before = self._reader(), self._before
        for row in self.opened.rows(reader, before=before):
            if row:
                yield before + reader.line_num, row

    def at(self, number: int) -> tuple[int, list[str]]:
        """Give a row by its number, with its line."""
        return next(islice(iter(self), number, None))

    def _short(self) -> AnalysisError:
        line, row = next((k, row) for k, row in self if len(row) != self.width)
        what = f"the line has {len(row)} cells, the headings {self.width}"
        return self.opened.fail(what, "is the file cut off, or a text not in quotes?", at=f"{line}")


class _Numbers(dict[Any, int]):
    """Gives everything that it has not seen the next number."""

    def __missing__(self, key: object) -> int:
        number = self[key] = len(self)
        return number


def _coded(rows: _CsvRows, headings: Sequence[str], found: ColumnRoles) -> LongTable:
    """Give each text of a column a number, a part of the rows at a time: no row is kept."""
    values = {place for place, _, _ in found.values}
    known = {place: _Numbers() for place in range(len(headings)) if place not in values}
    parts: defaultdict[int, list[np.ndarray[Any, Any]]] = defaultdict(list)
    units: dict[int, set[str]] = {place: set() for place in values}
    total = 0
    for count, columns in rows.chunks():
        total += count
        for place in values:
            parts[place].append(_floats(columns[place], count, units[place]))
        most = max(_DISTINCT, total // 4, *(len(known[k]) for k in found.benchmark))
        for place, numbers in list(known.items()):
            codes = np.fromiter(map(numbers.__getitem__, columns[place]), np.int32, count)
            parts[place].append(codes.astype(np.int16) if len(numbers) < 2**15 else codes)
            if len(numbers) > most and place in found.rest and place not in found.stated:
                del known[place], parts[place]  # neither a key nor a factor
    whole = {place: np.concatenate(column) for place, column in parts.items()}
    for place, name, _ in found.values:
        column = whole.setdefault(place, np.zeros(0))
        if np.isinf(column).any() or (len(column) and rows.opened.decimal == "comma"):
            whole[place] = _with_commas(rows, place, name, column, units[place])
    nothing = np.zeros(0, np.int16)
    return LongTable(
        opened=rows.opened,
        headings=headings,
        found=found,
        columns={
            place: Coded(whole.get(place, nothing), [*map(str.strip, numbers)])
            for place, numbers in known.items()
        },
        values={place: whole[place] for place, _, _ in found.values},
        units=units,
        line_of=lambda row: f"{rows.at(row)[0]}",
        text_of=lambda row, place: rows.at(row)[1][place],
    )


def _floats(texts: Sequence[str], count: int, units: set[str]) -> Real:
    """Give the numbers, NaN for what is none: only rows that count are asked for it later."""
    try:
        found = np.fromiter(map(float, texts), np.float64, count)
    except ValueError:
        pass
    else:
        joined = "".join(texts)
        if joined.isascii() and "_" not in joined and found.all() and np.isfinite(found).all():
            units.add("")
            return found  # a 0 may be a number that is too small
    return np.array([float_of(text, units) for text in texts], np.float64)


def _with_commas(rows: _CsvRows, place: int, name: str, plain: Real, units: set[str]) -> Real:
    """Read a column again of which some cells are no plain numbers: they may have decimal commas."""
    found = rows.opened.decimal
    if found is None and rows.separator == ",":
        return plain  # a comma in quotes: the cell is refused where it counts
    texts = [(line, row[place].strip()) for line, row in rows]
    units.clear()
    commas = commas_of((parted(text)[0] for _, text in texts), found)
    if commas.decimal is None:
        line = next(line for line, text in texts if parted(text)[0] == commas.example)
        what = f"{commas.example!r} in the column {name!r} may be {two_readings(commas.example)}"
        fix = "say which with --decimal comma or --decimal point"
        raise rows.opened.fail(what, fix, at=f"{line}")
    return np.array([float_of(text, units, commas.decimal) for _, text in texts], np.float64)
