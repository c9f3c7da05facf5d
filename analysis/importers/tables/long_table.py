"""A long table, coded: numbers in place of texts, so that a million rows are grouped at once."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ...data.number_text import NUMBER, number_in
from ...pages import number_format as figures
from ...pages.model import Caution
from ..parsing import ForeignCell, ForeignFile, cautions_of, in_base_unit, several_hosts
from .headings import (
    HOSTS,
    TOTALS,
    ColumnRoles,
    holds_units,
    is_good,
    is_warmup,
    plain_heading,
)

if TYPE_CHECKING:
    from ...data.opening import Opened
    from ...record.run_numbers import Better

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
_LOWER = ("lower", "less", "smaller", "min", "minimize", "minimise")
_HIGHER = ("higher", "more", "larger", "bigger", "max", "maximize", "maximise")
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
        failed = self._failed_runs(of_group, fate, len(merged))
        warmups = np.bincount(of_group[fate == 2], counts[fate == 2], len(merged))
        rows = self._sorted(of_group, fate)
        ends = np.cumsum(mine)
        values = {place: column[rows] for place, column in self.values.items()}
        self._check(values, rows)
        process = None if self.process is None else self.process.codes[rows]
        self._check_names(process, rows)
        blocks = self._blocks(rows)
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
                said = _better(self.headings, self.found, better) if own else None
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
                    session=session or None,
                    keys=keys,
                )

    def _blocks(self, rows: _Whole) -> _Whole | None:
        """Give rows the numbers of their blocks; None where one of them has none."""
        if self.block is None:
            return None
        used = np.unique(self.block.codes[rows]).tolist()
        texts = [self.block.texts[code].strip() for code in used]
        if not texts or "" in texts:
            return None
        whole = all(
            text.isascii() and text.isdecimal() and 0 < len(text) < _DIGITS for text in texts
        )
        own = [int(text) for text in texts] if whole else []
        numbers = own if own and min(own) > 0 else range(1, len(used) + 1)
        place = np.zeros(max(used) + 1, np.int64)
        place[used] = numbers
        return place[self.block.codes[rows]]

    def _failed_runs(self, of_group: _Whole, fate: _Whole, cells: int) -> _Whole:
        """Count failed runs: rows, but where iterations have a column of their own the processes."""
        out = np.flatnonzero(fate[self.groups] == 1)
        cell = of_group[self.groups[out]]
        if self.process is not None and self.found.iteration is not None:
            cell = np.unique(np.stack([cell, self.process.codes[out]]), axis=1)[0]
        return np.bincount(cell, minlength=cells)

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


def _better(headings: Sequence[str], found: ColumnRoles, text: str) -> Better | None:
    if found.better is None:
        return None
    plain = re.sub(r"[_ ]is[_ ]better$", "", text.strip().lower())
    if plain in _LOWER or plain in _HIGHER:
        return "lower" if plain in _LOWER else "higher"
    heading = headings[found.better].strip().lower()
    if not heading.endswith("better") or heading == "better":
        return None  # of a direction, neither yes nor no says which
    if plain not in ("true", "false", "1", "0", "yes", "no"):
        return None
    true = plain in ("true", "1", "yes")
    return "lower" if true == heading.startswith("lower") else "higher"
