"""A long CSV: a row for each value, columns that say which benchmark, variant, session and run.

The separator is what a line ``sep=;`` says, else a comma, a semicolon, a tab or a bar, whichever the line of headings has
most, else blanks. Where it is no comma, the commas of a column of values are the decimal sign, if they can be nothing else.

Lines of a large file without quotes are parted by pyarrow, where it is: it rounds numbers as Python does. Whatever it
refuses, or may take otherwise, Python reads.
"""

from __future__ import annotations

import csv
import io
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from itertools import accumulate, islice, pairwise
from typing import Any

import numpy as np

from ..data.number_text import commas_of, headed, two_readings
from ..data.opening import Opened
from ..errors import AnalysisError
from .cell_roles import Coded
from .headings import SAMPLE, ColumnRoles, is_long
from .long_table import Columns, Real, Units, long_file
from .parsing import ForeignFile, float_of, parted
from .typed_rows import CUT, LOOKED_AT, dress_of

_SEPARATORS = ",;\t|"
_parted = partial(csv.reader, skipinitialspace=True)
_LARGE = 4 * 1024**2  # characters of a file for which pyarrow is worth its import
_DISTINCT = 1024  # texts of a column that may be a key of some cells
_ROWS, _CHARACTERS, _PARTS = 4096, 65536, 4  # at once: few enough to stay in the processor's cache


def knows_long_csv(opened: Opened) -> bool:
    """Tell by headings, one of them a value's, and by the first cells below them."""
    if opened.is_folder:
        return False
    head = opened.head()
    if len(head) >= CUT:
        head = head.rpartition("\n")[0]
    table = CsvColumns(opened, head)
    if not table.headings or table.headings[0].lstrip()[:1] in ("{", "[", "<"):
        return False
    try:
        bare = dress_of(opened, table.text) is not None
        return is_long(opened, table.headings, table.first_cells(), bare=bare)
    except AnalysisError:
        return False


def read_long_csv(opened: Opened) -> ForeignFile:
    """Give a cell for each benchmark, variant, session and metric."""
    table = CsvColumns(opened, opened.text())
    table.first = table.first_cells()
    return long_file(table)


class CsvColumns(Columns):
    """The rows behind the headings; blank lines are none. Cells between blanks stand between tabs from here on."""

    def __init__(self, opened: Opened, text: str) -> None:
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
        named: list[str] = next(opened.rows(_parted([first], delimiter=separator)), [])
        self.text, self.start, self.separator = text, start, separator
        self.before = text.count("\n", 0, start)
        super().__init__(opened, [*map(str.strip, named)], (), f"{self.before + 1}")

    def first_cells(self) -> list[list[str]]:
        """Give the first cells of each column."""
        part, width = self.text[self.start : self.start + CUT], len(self.headings)
        rows = _parted(io.StringIO(part, newline="\n"), delimiter=self.separator)
        some = [row for row in islice(self.opened.rows(rows), 1, SAMPLE) if len(row) == width]
        return [list(column) for column in zip(*some, strict=True)] or [[] for _ in range(width)]

    def line_of(self, row: int) -> str:
        """Say at which line a row ends."""
        return f"{self._at(row)[0]}"

    def text_of(self, row: int, place: int) -> str:
        """Give the text of a cell."""
        return self._at(row)[1][place]

    def _at(self, row: int) -> tuple[int, list[str]]:
        return next(islice(self._rows(), row, None))

    def _reader(self) -> Any:  # noqa: ANN401 - csv gives its readers no public name
        lines = io.StringIO(self.text, newline="\n")
        lines.seek(self.start)
        reader = _parted(lines, delimiter=self.separator)
        next(reader, None)
        return reader

    def _rows(self) -> Iterator[tuple[int, list[str]]]:
        """Give each row with its line, slowly."""
        reader = self._reader()
        for row in self.opened.rows(reader, before=self.before):
            if row:
                yield self.before + reader.line_num, row

    def _parts(self, values: Collection[int]) -> Iterator[tuple[list[int], Sequence[Any]]]:
        """Give the columns of some rows at once, lists of texts or pyarrow's arrays of them, behind places in them."""
        text, separator, width = self.text, self.separator, len(self.headings)
        if '"' in text or "\0" in text or width < 2:
            rows = self.opened.rows(self._reader(), before=self.before)
            while chunk := list(islice(rows, _ROWS)):
                yield from self._columns(chunk)
            return
        fast = _arrow(separator, width, values) if len(text) > _LARGE else None
        end, last = text.find("\n", self.start), len(text.rstrip("\n"))
        while 0 <= end < last:
            ends = [end]
            while len(ends) <= _PARTS and 0 <= end < last:
                end = text.find("\n", end + _CHARACTERS)
                ends.append(end if 0 <= end < last else last)
            lines = [*accumulate(text.count("\n", *two) for two in pairwise(ends))]
            columns = fast(text[ends[0] + 1 : ends[-1]]) if fast is not None else None
            if columns is not None and len(columns[0]) == lines[-1]:
                yield lines, columns
                continue
            for start, stop in pairwise(ends):
                part = filter(None, text[start + 1 : stop].split("\n"))
                yield from self._columns([line.split(separator) for line in part])

    def _columns(
        self, rows: list[list[str]]
    ) -> Iterator[tuple[list[int], Sequence[Sequence[str]]]]:
        width = len(self.headings)
        if {*map(len, rows)} != {width}:
            rows = [*filter(None, rows)]
        if any(len(row) != width for row in rows):
            line, row = next((k, row) for k, row in self._rows() if len(row) != width)
            what = f"the line has {len(row)} cells, the headings {width}"
            fix = "is the file cut off, or a text not in quotes?"
            raise self.opened.fail(what, fix, at=f"{line}")
        if rows:
            yield [len(rows)], list(zip(*rows, strict=True))

    def read(self, found: ColumnRoles) -> tuple[dict[int, Coded], dict[int, Real], Units]:
        """Give each text of a column a number, a part of the rows at a time: no row is kept."""
        units: Units = {place: set() for place, _, _ in found.values}
        known = {place: _Numbers() for place in range(len(self.headings)) if place not in units}
        parts: defaultdict[int, list[np.ndarray[Any, Any]]] = defaultdict(list)
        keys, total = {*found.rest} - found.stated, 0
        for ends, columns in self._parts(units):
            before = {place: len(numbers) for place, numbers in known.items()}
            codes = {place: _codes(columns[place], numbers) for place, numbers in known.items()}
            for place, own in units.items():
                parts[place].append(_floats(columns[place], own))
            for place, numbers in list(known.items()):
                few = codes[place].astype(np.int16) if len(numbers) < 2**15 else codes[place]
                parts[place].append(few)
                if place not in keys or len(numbers) <= _DISTINCT:
                    continue
                for start, end in pairwise((0, *ends)):
                    seen, *names = (
                        max(before[k], int(codes[k][:to].max(initial=-1)) + 1)
                        for k, to in ((place, end), *((k, start) for k in found.benchmark))
                    )
                    if seen > max(_DISTINCT, (total + end) // 4, *names):
                        del known[place], parts[place]  # neither a key nor a factor
                        break
            total += ends[-1]
        whole = {place: np.concatenate(column) for place, column in parts.items()}
        values = {place: whole.get(place, np.zeros(0)) for place in units}
        for place, name, _ in found.values:
            column = values[place]
            if np.isinf(column).any() or (len(column) and self.opened.decimal == "comma"):
                values[place] = self._with_commas(place, name, column, units[place])
        nothing = np.zeros(0, np.int16)
        texts = {k: Coded(whole.get(k, nothing), [*map(str.strip, of)]) for k, of in known.items()}
        return texts, values, units

    def _with_commas(self, place: int, name: str, plain: Real, units: set[str]) -> Real:
        """Read a column again where some cells are no plain numbers: they may have decimal commas."""
        found = self.opened.decimal
        if found is None and self.separator == ",":
            return plain  # a comma in quotes: the cell is refused where it counts
        texts = [(line, row[place].strip()) for line, row in self._rows()]
        units.clear()
        commas = commas_of((parted(text)[0] for _, text in texts), found)
        if commas.decimal is None:
            line = next(line for line, text in texts if parted(text)[0] == commas.example)
            readings = two_readings(commas.example)
            what = f"{commas.example!r} in the column {name!r} may be {readings}"
            fix = "say which with --decimal comma or --decimal point"
            raise self.opened.fail(what, fix, at=f"{line}")
        return np.array([float_of(text, units, commas.decimal) for _, text in texts], np.float64)


class _Numbers(dict[Any, int]):
    """Gives everything that it has not seen the next number."""

    def __missing__(self, key: object) -> int:
        number = self[key] = len(self)
        return number


def _arrow(
    separator: str, width: int, values: Collection[int]
) -> Callable[[str], list[Any] | None] | None:
    """Give what parts lines into columns, None those with another number of cells; None without pyarrow."""
    try:
        import pyarrow
        from pyarrow import csv as arrow_csv
    except ImportError:
        return None
    text = pyarrow.string()
    coded = pyarrow.dictionary(pyarrow.int32(), text)
    kinds = {f"{k}": text if k in values else coded for k in range(width)}
    how = (
        arrow_csv.ReadOptions(column_names=[*kinds], use_threads=False, block_size=1 << 30),
        arrow_csv.ParseOptions(delimiter=separator, quote_char=False),
        arrow_csv.ConvertOptions(column_types=kinds, null_values=[]),
    )

    def columns_of(part: str) -> list[Any] | None:
        if part.startswith("\ufeff"):  # which would be left out
            return None
        try:
            table = arrow_csv.read_csv(pyarrow.BufferReader(part.encode()), *how)
        except (pyarrow.ArrowException, ValueError):
            return None
        return [column.combine_chunks() for column in table.columns]

    return columns_of if separator.isascii() else None


def _codes(column: Any, numbers: _Numbers) -> np.ndarray[Any, np.dtype[np.int32]]:  # noqa: ANN401 - pyarrow's
    if isinstance(column, (list, tuple)):
        return np.fromiter(map(numbers.__getitem__, column), np.int32, len(column))
    own = np.fromiter(map(numbers.__getitem__, column.dictionary.to_pylist()), np.int32)
    codes: np.ndarray[Any, np.dtype[np.int32]] = own[column.indices.to_numpy()]
    return codes


def _floats(column: Any, units: set[str]) -> Real:  # noqa: ANN401 - pyarrow's
    """Give the numbers, NaN for what is none: only rows that count are asked for it later."""
    found = None
    try:
        if isinstance(column, (list, tuple)):
            found = np.fromiter(map(float, column), np.float64, len(column))
            joined = "".join(column)
            found = found if joined.isascii() and "_" not in joined else None
        else:
            found = column.cast("float64").to_numpy()
    except ValueError:  # pyarrow's too
        pass
    if found is not None and found.all() and np.isfinite(found).all():
        units.add("")
        return found  # a 0 may be a number that is too small
    texts = column if isinstance(column, (list, tuple)) else column.to_pylist()
    return np.array([float_of(text, units) for text in texts], np.float64)
