"""A long table, coded: numbers in place of texts, so that a million rows are grouped at once."""

from __future__ import annotations

import csv
import gc
import io
import math
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from ..data.number_text import NUMBER, commas_of, number_in, two_readings
from ..pages import number_format as figures
from ..pages.model import Caution
from ..record.run_numbers import limit_of
from .headings import (
    HOSTS,
    TOTALS,
    ColumnRoles,
    better_said,
    holds_units,
    is_cut,
    is_good,
    is_long,
    is_warmup,
    long_mapping,
    plain_heading,
)
from .parsing import ForeignCell, ForeignFile, cautions_of, in_base_unit, several_hosts

if TYPE_CHECKING:
    from ..data.opening import Opened
    from ..errors import AnalysisError

_Whole = np.ndarray[Any, np.dtype[np.signedinteger[Any]]]
_Real = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True, slots=True)
class ProcessSplit:
    """How the values of a cell fall into processes.

    `order` puts one process after the other (None: they stand so), `ends` tells where each one ends,
    and `codes` which one it is. All empty where processes are unknown.
    """

    order: _Whole | None = None
    ends: Sequence[int] = ()
    codes: Sequence[int] = ()

    def each(self, of_rows: _Whole) -> tuple[int, ...] | None:
        """Give what holds of each process, of the rows where there are none; None where it changes."""
        if not self.ends:
            return tuple(of_rows.tolist())
        ordered = of_rows if self.order is None else of_rows[self.order]
        starts = np.array([0, *self.ends[:-1]])
        found = ordered[starts]
        if (np.repeat(found, np.diff([*starts, len(ordered)])) != ordered).any():
            return None
        return tuple(found.tolist())


def parts_of(codes: _Whole) -> ProcessSplit:
    """Part values by the numbers of their processes, in the order in which these appear."""
    if not len(codes):
        return ProcessSplit()
    order, steps = None, np.diff(codes)
    if (steps < 0).any():
        _, first, number = np.unique(codes, return_index=True, return_inverse=True)
        appeared = first[number]
        order = np.argsort(appeared, kind="stable")
        codes, steps = codes[order], np.diff(appeared[order])
    starts = np.flatnonzero(steps) + 1
    ends = [*starts.tolist(), len(codes)]
    return ProcessSplit(order, ends, [int(codes[0]), *codes[starts].tolist()])


def processes_of(values: _Real, parts: ProcessSplit) -> tuple[tuple[float, ...], ...]:
    """Give the values of each process in an inner tuple."""
    if not len(values):
        return ()
    if not parts.ends:
        return (tuple(values.tolist()),)
    ordered = (values if parts.order is None else values[parts.order]).tolist()
    if len(parts.ends) == len(ordered):
        return tuple([(value,) for value in ordered])
    return tuple(
        tuple(ordered[start:end]) for start, end in zip([0, *parts.ends], parts.ends, strict=False)
    )


def unread(table: LongTable) -> Iterator[Caution]:
    """Say which columns name several hosts, and which numbers are not read."""
    headings = {place: table.headings[place] for place in table.found.rest}
    for place, column in table.rest.items():
        hosts = tuple(dict.fromkeys(text.strip() for text in column.texts if text.strip()))
        if plain_heading(headings[place]) in HOSTS and len(hosts) > 1:
            fix = (
                "their runs are taken as those of one: give each host a file, or call the column "
                "'variant' or 'session' if it tells one of these"
            )
            yield several_hosts(f"the column {headings[place]!r} names", hosts, fix)
    plain = tuple(
        heading
        for place, heading in headings.items()
        if place in table.numeric
        and (place not in table.rest or plain_heading(heading) in TOTALS or _varies(table, place))
    )
    if plain:
        yield Caution(
            "columns-unread", f"not read, though they hold numbers: {figures.listed(plain, 6)}"
        )


def _varies(table: LongTable, place: int) -> bool:
    """Tell whether a column is no key of the groups of rows."""
    codes = table.rest[place].codes
    first = np.zeros(len(table.keys), codes.dtype)
    first[table.groups[::-1]] = codes[::-1]  # of several writes the last one stays
    return bool((first[table.groups] != codes).any())


def require_units(table: LongTable) -> None:
    """Refuse a column of units under a heading that does not say so, where values have none."""
    if table.found.unit is not None or all(unit for _, _, unit in table.found.values):
        return
    for place, column in table.rest.items():
        if holds_units(table.headings[place], column.texts):
            raise table.opened.fail(
                f"the column {table.headings[place]!r} holds units, and nothing says of what",
                "call it 'unit' if it is that of the values, else take it out",
            )


_DIGITS = 10  # of a block's number
_ROLES = (
    "benchmark", "variant", "session", "unit", "metric", "better", "ok", "warmup",
)  # fmt: skip


def role_places(found: ColumnRoles) -> list[int]:
    """Give the columns that tell cells apart."""
    return [place for name in _ROLES if (place := getattr(found, name)) is not None]


@dataclass(slots=True, eq=False)
class Coded:
    """A column of texts: the number of each row's text, and the texts by their numbers."""

    codes: _Whole
    texts: Sequence[str]


@dataclass(slots=True, eq=False)
class LongTable:
    """What a reader makes of its rows.

    `opened`, `headings`, `found`: The file, and which of its columns is what. `groups`: The group
    of each row, and the texts of each group in the order of `role_places`. `values`: By the place
    of the column; NaN where a cell is no number. `process`, `block`: The columns that name
    processes and blocks. `rest`: Further columns, by place; one that cannot be the same within
    groups may be missing. `numeric`: Those of the further columns that hold numbers, also of the
    missing ones. `line_of`: Says where the row of this number stands, as messages name it.
    `text_of`: Gives the text of a cell by row and place.
    """

    opened: Opened
    headings: Sequence[str]
    found: ColumnRoles
    groups: _Whole
    keys: Sequence[tuple[str, ...]]
    values: dict[int, _Real]
    process: Coded | None
    line_of: Callable[[int], str]
    text_of: Callable[[int, int], str]
    block: Coded | None = None
    rest: dict[int, Coded] = field(default_factory=dict)
    numeric: Collection[int] = ()

    def cells(self) -> Iterator[ForeignCell]:
        """Give a cell for each benchmark, variant, session, unit, metric and direction."""
        merged, of_group, fate = self._merged()
        counts = np.bincount(self.groups, minlength=len(self.keys))
        mine = np.bincount(of_group[fate == 0], counts[fate == 0], len(merged)).astype(np.int64)
        failed = np.bincount((out := self._failed_runs(of_group, fate))[0], minlength=len(merged))
        cut = self._cut_runs(*out)
        warmups = np.bincount(of_group[fate == 2], counts[fate == 2], len(merged))
        rows = self._sorted(of_group, fate)
        ends = np.cumsum(mine)
        values = {place: column[rows] for place, column in self.values.items()}
        self._check(values, rows)
        process = None if self.process is None else self.process.codes[rows]
        self._check_names(process, rows)
        blocks, block_of = self._blocks(rows, [row for runs in cut.values() for row, _ in runs])
        same = {place: _same(column.codes[rows], ends, mine) for place, column in self.rest.items()}
        for number, (bench, variant, session, unit, metric, better) in enumerate(merged):
            start, end = int(ends[number] - mine[number]), int(ends[number])
            named = ((self.found.benchmark, bench), (self.found.variant, variant))
            keys = {self.headings[place]: text for place, text in named if place is not None}
            for place, constant in same.items():
                if constant[number]:
                    column = self.rest[place]
                    keys[self.headings[place]] = column.texts[column.codes[rows[start]]]
            parts = ProcessSplit() if process is None else parts_of(process[start:end])
            names = None if self.process is None else self.process.texts
            labels = None if names is None else tuple(map(names.__getitem__, parts.codes))
            within = None if blocks is None else parts.each(blocks[start:end])
            for place, name, in_heading in self.found.values:
                factor, base, direction = self.found.unit_of(unit, in_heading)
                own = self.found.is_of_rows(in_heading)
                if own and start < end:
                    self._check_unit(name, in_heading, unit, int(rows[start]))
                said = better_said(self.headings, self.found, better) if own else None
                yield ForeignCell(
                    benchmark=bench,
                    variant=variant or None,
                    metric=(metric if own else "") or name,
                    unit=base,
                    better=said or direction,
                    processes=processes_of(_in_base(values[place][start:end], factor), parts),
                    known=self.found.process is not None,
                    labels=labels,
                    blocks=within,
                    warmups=int(warmups[number]) if self.found.warmup is not None else None,
                    failed=int(failed[number]) if self.found.ok is not None else None,
                    cut=tuple(
                        (self._bound(place, row, factor) if limit else None, limit, block_of(row))
                        for row, limit in cut.get(number, ())
                    ),
                    session=session or None,
                    keys=keys,
                )

    def _blocks(self, rows: _Whole, cut: list[int]) -> tuple[_Whole | None, Callable[[int], int]]:
        """Give rows the numbers of their blocks, None where one of them has none; and what gives that of a cut run's."""
        if self.block is None:
            return None, lambda _row: 0
        codes, names = self.block.codes, self.block.texts
        known = [codes[row] for row in cut if names[codes[row]].strip()]
        used = np.unique([*np.unique(codes[rows]), *known]).astype(int).tolist()
        texts = [names[code].strip() for code in used]
        if not texts or "" in texts:
            return None, lambda _row: 0
        whole = all(
            text.isascii() and text.isdecimal() and 0 < len(text) < _DIGITS for text in texts
        )
        own = [int(text) for text in texts] if whole else []
        numbers = own if own and min(own) > 0 else range(1, len(used) + 1)
        place = np.zeros(len(names), np.int64)
        place[used] = numbers
        return place[codes[rows]], lambda row: int(place[codes[row]])

    def _failed_runs(self, of_group: _Whole, fate: _Whole) -> tuple[_Whole, _Whole]:
        """Give the cells of failed runs and their rows; where iterations have a column the first of each process."""
        out = np.flatnonzero(fate[self.groups] == 1)
        cell = of_group[self.groups[out]]
        if self.process is None or self.found.iteration is None:
            return cell, out
        runs = np.stack([cell, self.process.codes[out]])
        runs, first = np.unique(runs, axis=1, return_index=True)
        return runs[0], out[first]

    def _cut_runs(self, cells: _Whole, rows: _Whole) -> dict[int, list[tuple[int, float | None]]]:
        """Give by cell the rows of runs that a time limit ended, each with the limit."""
        if self.found.ok is None:
            return {}
        role = role_places(self.found).index(self.found.ok)
        texts = {k: self.keys[k][role] for k in np.unique(self.groups[rows]).tolist()}
        limits = {k: limit_of(text, math.nan) for k, text in texts.items() if is_cut(text)}
        found: dict[int, list[tuple[int, float | None]]] = {}
        for cell, row in zip(cells.tolist(), rows.tolist(), strict=True):
            if (limit := limits.get(int(self.groups[row]))) is not None:
                found.setdefault(cell, []).append((row, None if math.isnan(limit) else limit))
        return found

    def _bound(self, place: int, row: int, factor: float) -> float | None:
        value = float(_in_base(self.values[place][row : row + 1], factor)[0])
        return value if 0 < value < math.inf else None

    def _sorted(self, of_group: _Whole, fate: _Whole) -> _Whole:
        """Give the rows that count, cell by cell, in the order of the file."""
        if not fate.any():
            return np.argsort(_narrow(of_group)[self.groups], kind="stable")
        rows = np.flatnonzero((fate == 0)[self.groups])
        order = np.argsort(_narrow(of_group)[self.groups[rows]], kind="stable")
        return rows[order]

    def _merged(self) -> tuple[list[tuple[str, ...]], _Whole, _Whole]:
        """Put groups together that differ in what became of their runs only.

        Gives the cells' names, the cell of each group, and its fate: 0 counts, 1 failed, 2 warm-up.
        """
        fate = np.zeros(len(self.keys), np.int64)
        there = [getattr(self.found, name) is not None for name in _ROLES]
        cells = []
        for k, key in enumerate(self.keys):
            given = iter(key)
            texts = [next(given) if one else None for one in there]
            ok, warmup = texts[6:]
            cells.append(tuple(text or "" for text in texts[:6]))
            if warmup is not None and self._tells(k, "warmup", warmup, is_warmup(warmup)):
                fate[k] = 2
            elif ok is not None:
                good = is_good(self.headings[self.found.ok or 0], ok)
                fate[k] = not self._tells(k, "ok", ok, good)
        if fate.any():
            cells = _completed(cells, fate)
        numbers: dict[tuple[str, ...], int] = {}
        of_group = [numbers.setdefault(cell, len(numbers)) for cell in cells]
        return list(numbers), np.array(of_group, np.int64), fate

    def _tells(self, group: int, role: str, text: str, said: bool | None) -> bool:  # noqa: FBT001 - an answer
        """Refuse a word in a column of answers that is none."""
        if said is not None:
            return said
        what, word = {
            "warmup": ("whether the run is a warm-up", "yes"),
            "ok": ("whether the run is good or failed", "ok"),
        }[role]
        heading = self.headings[getattr(self.found, role) or 0]
        raise self.opened.fail(
            f"{text!r} in the column {heading!r} does not say {what}",
            f"write {word!r} or its opposite in every row, or take the column out",
            at=self.line_of(int(np.flatnonzero(self.groups == group)[0])),
        )

    def _check(self, values: dict[int, _Real], rows: _Whole) -> None:
        for place, name, _ in self.found.values:
            taken = values[place]
            if not taken.size or (taken.min() >= 0 and taken.max() < np.inf):  # no NaN passes this
                continue
            row = int(rows[~((taken >= 0) & (taken < np.inf))].min())
            text, at = self.text_of(row, place).strip(), self.line_of(row)
            value = float(self.values[place][row])
            if np.isnan(value) and text.lower().lstrip("+-") != "nan":
                small = NUMBER.fullmatch(text) is not None and number_in(text) is None
                raise self.opened.fail(
                    f"{text!r} in the column {name!r} is "
                    + ("too small for a number of 64 bits" if small else "no number"),
                    "say --decimal comma or --decimal point"
                    if "," in text
                    else "mend it, or take the row out",
                    at=at,
                )
            self.opened.value(value, at)

    def _check_unit(self, name: str, in_heading: str, unit: str, row: int) -> None:
        if in_heading and unit and in_base_unit(unit) != in_base_unit(in_heading):
            raise self.opened.fail(
                f"the row's unit is {unit!r}, and the heading {name!r} says {in_heading!r}",
                "leave the unit in one place",
                at=self.line_of(row),
            )

    def _check_names(self, process: _Whole | None, rows: _Whole) -> None:
        """Refuse a run without a name: all such rows would be taken for one process."""
        if self.process is None or process is None or "" not in self.process.texts:
            return
        nameless = np.flatnonzero(process == list(self.process.texts).index(""))
        if nameless.size:
            raise self.opened.fail(
                f"the column {self.headings[self.found.process or 0]!r} is empty",
                "number the runs in it, or take the column out",
                at=self.line_of(int(rows[nameless].min())),
            )


def float_of(text: str) -> float:
    """Give the number that a cell is, NaN for what is none: only rows that count are asked for it."""
    value = number_in(text)
    return float("nan") if value is None else value


def all_numbers(texts: Iterable[str]) -> bool:
    """Tell whether the cells of a column that hold something hold numbers."""
    there = [text for text in texts if text.strip()]
    return bool(there) and all(number_in(text) is not None for text in there)


def long_file(table: LongTable) -> ForeignFile:
    """Put together what a long table holds, and what it cannot tell."""
    require_units(table)
    cells = tuple(table.cells())
    if not cells:
        raise table.opened.fail("there is no row of values", "is the file whole?")
    found, headings = table.found, table.headings
    return ForeignFile(
        cells=cells,
        losses=cautions_of(
            {
                "processes-unknown": found.process is None
                and "no column says which values are from one process: each counts as a run",
                "no-sessions": found.session is None
                and "no column says on which occasion a run was made",
                "failed-unknown": found.ok is None and "no column says which runs failed",
            }
        ),
        notes=tuple(unread(table)),
        variant_rule="the file's name"
        if found.variant is None
        else f"the column {headings[found.variant]!r}",
    )


def _completed(cells: Sequence[tuple[str, ...]], fate: _Whole) -> list[tuple[str, ...]]:
    """Give runs that do not count the unit, metric and direction of those that do.

    A failed run has no value, so its row may leave them empty: it is no cell of its own.
    """
    good = [cell for cell, one in zip(cells, fate, strict=True) if not one]
    found: dict[tuple[str, ...], list[tuple[str, ...]]] = {}
    for cell in dict.fromkeys(good):
        found.setdefault(cell[:3], []).append(cell[3:])
    anywhere = dict.fromkeys(cell[3:] for cell in good)
    return [
        cell
        if not one or all(cell[3:])
        else cell[:3]
        + next(
            (
                like
                for like in (*found.get(cell[:3], ()), *anywhere)
                if all(not mine or mine == its for mine, its in zip(cell[3:], like, strict=True))
            ),
            cell[3:],
        )
        for cell, one in zip(cells, fate, strict=True)
    ]


def _same(codes: _Whole, ends: _Whole, counts: _Whole) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Tell for each cell whether all its rows have one text; false where it has none."""
    result = np.zeros(len(ends), np.bool_)
    some = np.flatnonzero(counts)
    if some.size:
        starts = (ends - counts)[some]
        low = np.minimum.reduceat(codes, starts)
        result[some] = low == np.maximum.reduceat(codes, starts)
    return result


def _in_base(values: _Real, factor: float) -> _Real:
    """Give values in seconds or bytes; what is too large for that is infinite, and refused."""
    if factor < 1:  # by the whole number, so that 9 ms are 0.009 s
        return values / round(1 / factor)
    with np.errstate(over="ignore"):
        return values * factor


def _narrow(numbers: _Whole) -> _Whole:
    """Give them in 16 bits, where they fit: numpy sorts these without comparing."""
    return numbers.astype(np.int16) if numbers.size and numbers.max() < 2**15 else numbers


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
    places = role_places(found)
    groups, processes, blocks = _Numbers(), _Numbers(), _Numbers()
    rest = {place: _Numbers() for place in found.rest}
    numeric = dict.fromkeys(found.rest, True)
    parts: defaultdict[object, list[np.ndarray[Any, Any]]] = defaultdict(list)
    for count, columns in rows.chunks():
        keys = zip(*(columns[place] for place in places), strict=True)
        parts["groups"].append(_codes(groups, keys, count))
        for name, numbers, at in (
            ("process", processes, found.process),
            ("block", blocks, found.block),
        ):
            if at is not None:
                parts[name].append(_codes(numbers, columns[at], count))
        for place, _, _ in found.values:
            parts[place].append(_floats(columns[place], count))
        for place in list(rest):
            if len(parts[found.values[0][0]]) == 1:  # the first rows tell
                numeric[place] = all_numbers(columns[place])
            parts[place].append(_codes(rest[place], columns[place], count))
            if len(rest[place]) > max(_DISTINCT, len(groups)):  # not the same within each
                del rest[place], parts[place]
    whole = {name: np.concatenate(column) for name, column in parts.items()}
    nothing = np.zeros(0)

    def coded(name: object, texts: _Numbers) -> Coded | None:
        plain = [text.removeprefix("\n") for text in texts]
        return Coded(whole[name], plain) if name in whole else None

    for place, name, _ in found.values:
        odd = place in whole and np.isnan(whole[place]).any()
        if odd or (place in whole and rows.opened.decimal == "comma"):
            whole[place] = _with_commas(rows, place, name, whole[place])
    return LongTable(
        opened=rows.opened,
        headings=headings,
        found=found,
        groups=whole.get("groups", nothing.astype(np.int32)),
        keys=[tuple(text.removeprefix("\n") for text in key) for key in groups],
        values={place: whole.get(place, nothing) for place, _, _ in found.values},
        process=coded("process", processes),
        block=coded("block", blocks),
        numeric=[place for place, one in numeric.items() if one and whole],
        rest={k: one for k, texts in rest.items() if texts and (one := coded(k, texts))},
        line_of=lambda row: f"{rows.at(row)[0]}",
        text_of=lambda row, place: rows.at(row)[1][place],
    )


def _codes(numbers: _Numbers, texts: Any, count: int) -> np.ndarray[Any, np.dtype[np.int32]]:  # noqa: ANN401 - texts, or tuples of them
    return np.fromiter(map(numbers.__getitem__, texts), np.int32, count)


def _floats(texts: Sequence[str], count: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Give the numbers, NaN for what is none: only rows that count are asked for it later."""
    try:
        found = np.fromiter(map(float, texts), np.float64, count)
    except ValueError:
        pass
    else:
        joined = "".join(texts)
        if joined.isascii() and "_" not in joined and found.all():
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
    found = [number_in(text, commas.decimal) for _, text in texts]
    return np.array([math.nan if one is None else one for one in found], np.float64)


def _separator(line: str) -> str:
    return max(_SEPARATORS, key=line.count)
