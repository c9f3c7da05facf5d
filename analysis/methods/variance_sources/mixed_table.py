"""Tables of systems with columns of several kinds: numbers, and texts that name levels."""

from __future__ import annotations

import csv
import datetime
import decimal as decimals
import io
import math
import numbers as number_kinds
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...data.number_text import SAY, Decimal, commas_of, is_numeric, number_in, two_readings
from ...data.opening import Opened, open_foreign
from ...errors import AnalysisError, UsageError
from ...pages import number_format as figures
from ...pages.model import Caution
from ...stats.samples import read_only
from ...words import Name

UNKNOWN = frozenset({"", "NA", "N/A", "NaN", "nan", "null", "NULL", "<NA>"})  # among numbers
_MOSTLY = 0.9  # share of numbers, from which texts among them are worth a word
_DAY_S = 86400.0
MOST_FLAGS = 100  # that are covariates, as published
MOST_CELLS = 20_000_000  # as objects in memory: some 2 GB
_PARQUET = b"PAR1"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TableColumn:
    """One column.

    `name`: Its heading. `values`: Its numbers, nan where unknown; where the column names levels,
    their places in `levels`. `levels`: The texts in the order of their first rows; None in a column
    of numbers.
    """

    name: str
    values: NDArray[np.float64]
    levels: tuple[str, ...] | None = None

    @property
    def numeric(self) -> bool:
        """Whether it holds numbers."""
        return self.levels is None

    @property
    def known(self) -> NDArray[np.bool_]:
        """In which rows something stands."""
        return ~np.isnan(self.values)

    def text(self, row: int) -> str:
        """Write a cell, "" where nothing stands."""
        value = float(self.values[row])
        if math.isnan(value):
            return ""
        return f"{value:.12g}" if self.levels is None else self.levels[int(value)]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MixedTable:
    """Columns of one length.

    `columns`: By their headings, in their order. `rows`: How many. `source`: The file; "" where
    there is none. `first_line`: The line of the first row, where the file is a text with one line a
    row. `cautions`: What to know of how it was read.
    """

    columns: Mapping[str, TableColumn]
    rows: int
    source: str = ""
    first_line: int | None = None
    cautions: tuple[Caution, ...] = ()

    def place(self, row: int) -> str:
        """Say where a row stands."""
        if self.first_line is not None:
            return f"{self.source}:{self.first_line + row}"
        return f"{self.source}, row {row + 1}" if self.source else f"row {row + 1}"

    def column(self, name: str, text: str) -> TableColumn:
        """Give a column by its heading."""
        if name in self.columns:
            return self.columns[name]
        from difflib import get_close_matches

        folded = {known.lower(): known for known in self.columns}
        near = get_close_matches(name.lower(), folded, n=1, cutoff=0.6)
        guess = f"did you mean {folded[near[0]]!r}? " if near else ""
        fix = f"{guess}The columns: {figures.listed(list(self.columns), 12)}"
        raise UsageError(f"there is no column {name!r}, named as {text}", self.source or None, fix)


def mixed_table(table: object) -> MixedTable:
    """Make a table of what a program holds."""
    if isinstance(table, MixedTable):
        return table
    if hasattr(table, "to_pydict"):
        table = table.to_pydict()
    items = getattr(table, "items", None)
    if not callable(items) or isinstance(table, type):
        what = f"a table is a mapping of headings to columns, not a {type(table).__name__}"
        fix = "write {'score': [...], 'mhz': [...]}, or read a file with read_mixed_table"
        raise UsageError(what, fix=fix)
    columns: dict[str, TableColumn] = {}
    for name, cells in items():
        given = cells.tolist() if hasattr(cells, "tolist") else cells
        if not isinstance(name, str) or not isinstance(given, Sequence) or isinstance(given, str):
            leads = f"{name!r} leads to a {type(cells).__name__}"
            raise UsageError(f"a table is a mapping of texts to lists, and {leads}")
        columns[name] = _of_cells(name, given)
    lengths = {len(column.values) for column in columns.values()}
    if len(lengths) != 1:
        text = ", ".join(f"{c.name!r} has {len(c.values)}" for c in list(columns.values())[:4])
        what = f"the columns differ in length: {text}" if columns else "the table has no columns"
        raise AnalysisError(what)
    return MixedTable(columns=columns, rows=lengths.pop())


def _of_cells(name: str, cells: Sequence[Any]) -> TableColumn:
    known = [None if _is_unknown(cell) else cell for cell in cells]
    there = [cell for cell in known if cell is not None]
    number: Callable[[Any], float] = float
    if there and all(isinstance(cell, datetime.date) for cell in there):
        number = _days
    elif not all(map(_is_number, there)):
        return _levels(name, ["" if cell is None else _text(cell) for cell in known])
    try:
        found = [math.nan if cell is None else number(cell) for cell in known]
    except OverflowError:
        found = [math.inf]
    if any(map(math.isinf, found)):
        what = f"the column {name!r} holds a number that is not finite"
        raise AnalysisError(what, fix="leave the cell empty (None) where the number is unknown")
    return TableColumn(name=name, values=read_only(np.array(found, dtype=np.float64)))


def _is_number(cell: object) -> bool:
    if isinstance(cell, bool | np.bool_):
        return False
    return isinstance(cell, number_kinds.Real | decimals.Decimal)


def _is_unknown(cell: object) -> bool:
    if cell is None or type(cell).__name__ in ("NAType", "NaTType"):  # pandas has its own
        return True
    return isinstance(cell, float | np.floating) and math.isnan(cell)


def _days(when: datetime.date | datetime.datetime) -> float:
    if isinstance(when, datetime.datetime):
        moment = when if when.tzinfo else when.replace(tzinfo=datetime.UTC)
        return moment.timestamp() / _DAY_S
    return float(when.toordinal() - datetime.date(1970, 1, 1).toordinal())


def _text(cell: object) -> str:
    return str(cell).lower() if isinstance(cell, bool | np.bool_) else str(cell)


def _levels(name: str, texts: Sequence[str]) -> TableColumn:
    places: dict[str, int] = {}
    codes = [math.nan if not t else float(places.setdefault(t, len(places))) for t in texts]
    return TableColumn(name=name, values=read_only(np.array(codes)), levels=tuple(places))


def _of_texts(
    name: str, texts: Sequence[str], decimal: Decimal | None
) -> tuple[TableColumn, int | None]:
    """Make a column of the texts of a file, and give the row of the first text among many numbers.

    Where every cell that holds something is a finite number it is a column of numbers; an empty
    cell, ``NA``, ``nan`` and ``null`` are unknown there. Otherwise each text is a level, and only an
    empty cell is unknown: ``NA`` and ``None`` may mean something.
    """
    values, wrong = np.full(len(texts), np.nan), []
    unknown = sum(text in UNKNOWN for text in texts)
    for row, text in enumerate(texts):
        if text not in UNKNOWN:
            number = number_in(text, decimal)
            if number is None or not math.isfinite(number):
                wrong.append(row)
            else:
                values[row] = number
    if not wrong:
        return TableColumn(name=name, values=read_only(values)), None
    mostly = len(wrong) <= (1 - _MOSTLY) * (len(texts) - unknown)
    return _levels(name, texts), wrong[0] if mostly else None


def flag_columns(
    table: MixedTable, names: Sequence[str], rows: NDArray[np.intp], most: int = MOST_FLAGS
) -> tuple[list[TableColumn], tuple[Caution, ...]]:
    """Split columns of texts such as ``-O3 -ipo`` at blanks, and make a column of each flag.

    It is 1 where one of the columns holds the flag, 0 where none does, and unknown where all are empty.
    Of the flags that some of `rows` have and others have not, the `most` common ones are taken.
    """
    if not names:
        return [], ()
    each: list[dict[str, None] | None] = [None] * table.rows
    for name in names:
        column = table.column(name, "one of flags")
        if column.levels is None:
            what = f"the column {name!r} holds numbers, and no flags"
            raise AnalysisError(what, table.source or None, "it is a covariate without --flags")
        parts = [dict.fromkeys(level.split()) for level in column.levels]
        for row in np.flatnonzero(column.known).tolist():
            each[row] = (each[row] or {}) | parts[int(column.values[row])]
    known = [found for row in rows.tolist() if (found := each[row]) is not None]
    counts = Counter(flag for found in known for flag in found)
    differ = [flag for flag, count in counts.most_common() if count < len(known)]
    if not differ:
        what = f"all rows have the same flags in {figures.listed(list(map(repr, names)), 4)}"
        raise AnalysisError(what, table.source or None, "leave --flags out")
    columns = []
    for flag in differ[:most]:
        heading = f"{flag} ({names[0]})" if flag in table.columns else flag
        values = np.array([math.nan if found is None else float(flag in found) for found in each])
        columns.append(TableColumn(name=heading, values=read_only(values)))
    reasons = []
    if len(differ) > most:
        reasons.append(f"the most common; {len(differ) - most:,} rarer ones were left out")
    if len(counts) > len(differ):
        reasons.append(f"in all rows, so that they tell nothing: {len(counts) - len(differ):,}")
    text = f"of {len(counts):,} flags {len(columns):,} are covariates: {'; '.join(reasons)}"
    return columns, (Caution("flags-left-out", text, tuple(names)),) if reasons else ()


def read_mixed_table(source: str, decimal: Decimal | None = None) -> MixedTable:
    """Read a table with headings and a row for each system.

    A CSV has its cells between commas, semicolons or tabs, whichever the headings hold most;
    without commas there a comma is the decimal sign, if it can be nothing else. The file may be packed (.gz, .bz2, .xz, .zst);
    ``-`` is the standard input.
    """
    opened = open_foreign(source, decimal=decimal)
    if opened.is_folder:
        raise UsageError("this is a folder, not a table", source, "name a .csv or .parquet file")
    return _of_parquet(opened) if opened.data.startswith(_PARQUET) else _of_csv(opened)


def _of_csv(opened: Opened) -> MixedTable:
    text = opened.text()
    head = next((line for line in text.split("\n") if line.strip()), "")
    if not head:
        raise AnalysisError("the file is empty", opened.source)
    separator = max(",;\t", key=head.count)
    opened.require(
        separator in head,
        "the first line holds one heading only: a response and a covariate are two columns",
        "part the headings by commas, semicolons or tabs",
        at="1",
    )
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    rows = ((reader.line_num, cells) for cells in opened.rows(reader) if cells)
    first, headings = next(rows)
    headings = _checked(headings, f"{opened.source}:{first}")
    columns: list[list[str]] = [[] for _ in headings]
    start, count, straight = first + 1, 0, True
    for line, cells in rows:
        opened.require(
            len(cells) == len(headings),
            f"this line has {len(cells)} cells, and there are {len(headings)} headings",
            "put a text that holds the separator between quotes; leave an unknown cell empty",
            at=f"{line}",
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
        found[name], odd = _of_texts(name, texts, _sign(opened, name, texts, separator))
        if odd is not None:
            where = f"line {start + odd}" if straight else f"row {odd + 1}"
            what = (
                f"the column '{Name(name):.30}' holds numbers nearly everywhere, "
                f"and '{Name(texts[odd]):.30}' ({where}): its cells were taken "
                "as levels. Leave a cell empty where the number is unknown"
            )
            cautions.append(Caution("numbers-as-levels", what, (name,)))
        texts.clear()
    line_of_first = start if straight else None
    return MixedTable(
        columns=found, rows=count, source=opened.source, first_line=line_of_first,
        cautions=tuple(cautions),
    )  # fmt: skip


def _sign(opened: Opened, name: str, texts: list[str], separator: str) -> Decimal | None:
    """Tell the decimal sign of a column; nothing of one that holds other texts."""
    if opened.decimal is not None or separator == ",":
        return opened.decimal
    commas = commas_of(texts)
    if commas.decimal is None and all(is_numeric(text) or text in UNKNOWN for text in texts):
        what = f"{commas.example!r} in the column {name!r} may be {two_readings(commas.example)}"
        raise AnalysisError(what, opened.source, SAY)
    return "comma" if commas.decimal == "comma" else None


def _check_size(cells: int, source: str) -> None:
    if cells > MOST_CELLS:
        what = f"the table has more than {MOST_CELLS:,} cells"
        raise AnalysisError(what, source, "take fewer columns or rows")


def _checked(headings: Iterable[str], where: str) -> list[str]:
    names = [heading.strip() for heading in headings]
    counts = Counter(names)
    for place, name in enumerate(names, 1):
        if not name:
            what = f"the heading of column {place} is empty"
            fix = "give it a name; pandas leaves the index out with to_csv(..., index=False)"
            raise AnalysisError(what, where, fix)
        if counts[name] > 1:
            what = f"the heading {name!r} stands there {counts[name]} times"
            raise AnalysisError(what, where, "give each column a name of its own")
    return names


def _of_parquet(opened: Opened) -> MixedTable:
    with opened.parquet() as parquet_file:
        file = parquet_file()
        # before it is read: a few bytes may say that they are billions of rows
        _check_size(file.metadata.num_rows * file.metadata.num_columns, opened.source)
        table: Any = file.read()
    import pyarrow

    if not table.column_names or not table.num_rows:
        raise AnalysisError("the table has no rows", opened.source)
    headings = _checked(map(str, table.column_names), opened.source)
    cells = (table.column(place).to_pylist() for place in range(len(headings)))
    try:
        found = mixed_table(dict(zip(headings, cells, strict=True)))
    except (pyarrow.ArrowException, ValueError) as error:  # such as dates beyond all calendars
        raise AnalysisError(f"a column cannot be read: {error}", opened.source) from None
    return replace(found, source=opened.source)
