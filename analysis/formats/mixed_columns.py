"""A table of systems with columns of several kinds: numbers, and texts that name levels."""

from __future__ import annotations

import datetime
import decimal as decimals
import math
import numbers as number_kinds
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data import Decimal, number_in
from ..errors import AnalysisError, UsageError
from ..report import Caution, figures

__all__ = [
    "UNKNOWN",
    "MixedTable",
    "TableColumn",
    "column_of_cells",
    "column_of_texts",
    "mixed_table",
]

UNKNOWN = frozenset({"", "NA", "N/A", "NaN", "nan", "null", "NULL", "<NA>"})  # beside numbers
_MOSTLY = 0.9  # share of numbers, from which texts among them are worth a word
_DAY_S = 86400.0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TableColumn:
    """One column.

    Attributes
    ----------
    name : str
        Its heading.
    values : read-only array of float, shape (rows,)
        Its numbers, nan where unknown; where the column names levels, their places in `levels`.
    levels : tuple of str or None
        The texts in the order of their first rows; None in a column of numbers.
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

    Attributes
    ----------
    columns : mapping of str to TableColumn
        By their headings, in their order.
    rows : int
        How many.
    source : str
        The file; "" where there is none.
    first_line : int or None
        The line of the first row, where the file is a text with one line a row.
    cautions : tuple of Caution
        What to know of how it was read.
    """

    columns: Mapping[str, TableColumn]
    rows: int
    source: str = ""
    first_line: int | None = None
    cautions: tuple[Caution, ...] = ()

    def place(self, row: int) -> str:
        """Say where a row stands."""
        line = None if self.first_line is None else self.first_line + row
        if line is not None:
            return f"{self.source}:{line}"
        return f"{self.source}, row {row + 1}" if self.source else f"row {row + 1}"

    def column(self, name: str, said: str) -> TableColumn:
        """Give a column by its heading.

        Parameters
        ----------
        name : str
            The heading.
        said : str
            What it was wanted for, such as ``the response``.

        Raises
        ------
        UsageError
            If there is none; the message names those that there are, the most similar one first.
        """
        if name in self.columns:
            return self.columns[name]
        from difflib import get_close_matches

        folded = {known.lower(): known for known in self.columns}
        near = get_close_matches(name.lower(), folded, n=1, cutoff=0.6)
        guess = f"did you mean {folded[near[0]]!r}? " if near else ""
        raise UsageError(
            f"there is no column {name!r}, named as {said}",
            self.source or None,
            f"{guess}The columns: {figures.listed(list(self.columns), 12)}",
        )


def mixed_table(table: object) -> MixedTable:
    """Make a table of what a program holds.

    Parameters
    ----------
    table : MixedTable, mapping, pandas.DataFrame, pyarrow.Table
        Columns by their headings, all of one length. A column of real numbers holds numbers, with
        None and nan where one is unknown; dates become days since 1970. In any other one each
        value's text is a level, truth values too; None and nan are unknown.

    Raises
    ------
    UsageError
        If it is no such thing.
    AnalysisError
        If the columns differ in length, or a number is infinite.
    """
    if isinstance(table, MixedTable):
        return table
    if hasattr(table, "to_pydict"):
        table = table.to_pydict()
    items = getattr(table, "items", None)
    if not callable(items) or isinstance(table, type):
        raise UsageError(
            f"a table is a mapping of headings to columns, not a {type(table).__name__}",
            fix="write {'score': [...], 'mhz': [...]}, or read a file with read_mixed_table",
        )
    columns: dict[str, TableColumn] = {}
    for name, cells in items():
        given = cells.tolist() if hasattr(cells, "tolist") else cells
        if not isinstance(name, str) or not isinstance(given, Sequence) or isinstance(given, str):
            raise UsageError(
                f"a table is a mapping of texts to lists, and {name!r} leads to a "
                f"{type(cells).__name__}"
            )
        columns[name] = column_of_cells(name, given)
    return _whole(columns)


def _whole(columns: dict[str, TableColumn]) -> MixedTable:
    lengths = {len(column.values) for column in columns.values()}
    if len(lengths) != 1:
        said = ", ".join(f"{c.name!r} has {len(c.values)}" for c in list(columns.values())[:4])
        raise AnalysisError(
            f"the columns differ in length: {said}" if columns else "the table has no columns"
        )
    return MixedTable(columns=columns, rows=lengths.pop())


def column_of_cells(name: str, cells: Sequence[Any]) -> TableColumn:
    """Make a column of values of any type; errors as for `mixed_table`."""
    unknown = [_is_unknown(cell) for cell in cells]
    there = [cell for cell, no in zip(cells, unknown, strict=True) if not no]
    if there and all(isinstance(cell, (datetime.date, datetime.datetime)) for cell in there):
        days = [math.nan if no else _days(c) for c, no in zip(cells, unknown, strict=True)]
        return TableColumn(name=name, values=_frozen(days))
    if all(map(_is_number, there)):
        try:
            found = [math.nan if no else float(c) for c, no in zip(cells, unknown, strict=True)]
        except OverflowError:
            found = [math.inf]
        if any(map(math.isinf, found)):
            raise AnalysisError(
                f"the column {name!r} holds a number that is not finite",
                fix="leave the cell empty (None) where the number is unknown",
            )
        return TableColumn(name=name, values=_frozen(found))
    return _levels(name, ["" if no else _text(c) for c, no in zip(cells, unknown, strict=True)])


def column_of_texts(
    name: str, texts: Sequence[str], *, decimal: Decimal | None = None
) -> tuple[TableColumn, int | None]:
    """Make a column of the texts of a file.

    Where every cell that holds something is a finite number it is a column of numbers; an empty
    cell, ``NA``, ``nan`` and ``null`` are unknown there. Otherwise each text is a level, and only an
    empty cell is unknown: ``NA`` and ``None`` may mean something.

    Returns
    -------
    TableColumn
    int or None
        Where nearly all cells are numbers, and it is no column of numbers: the row of the first
        that is none.
    """
    values, wrong = np.full(len(texts), np.nan), []
    unknown = 0
    for row, text in enumerate(texts):
        if text in UNKNOWN:
            unknown += 1
        elif (number := _number(text, decimal)) is None:
            wrong.append(row)
        else:
            values[row] = number
    if not wrong:
        return TableColumn(name=name, values=_frozen(values)), None
    mostly = len(wrong) <= (1 - _MOSTLY) * (len(texts) - unknown)
    return _levels(name, texts), wrong[0] if mostly else None


def _number(text: str, decimal: Decimal | None) -> float | None:
    value = number_in(text, decimal)
    return value if value is not None and math.isfinite(value) else None


def _levels(name: str, texts: Sequence[str]) -> TableColumn:
    places: dict[str, int] = {}
    codes = [math.nan if not t else float(places.setdefault(t, len(places))) for t in texts]
    return TableColumn(name=name, values=_frozen(codes), levels=tuple(places))


def _frozen(values: Sequence[float] | NDArray[np.float64]) -> NDArray[np.float64]:
    array = np.array(values, dtype=np.float64)
    array.flags.writeable = False
    return array


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
    if isinstance(cell, bool | np.bool_):
        return "true" if cell else "false"
    return str(cell)
