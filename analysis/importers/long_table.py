"""A long table, coded: numbers in place of texts, so that a million rows are grouped at once."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..data.matrix_file import VALUES
from ..data.number_text import NUMBER, Decimal, number_in
from ..data.opening import Opened
from ..data.trial_cautions import HOSTS, READ_AS, UNREAD
from ..pages import number_format as figures
from ..pages.model import Caution
from ..record.run_numbers import Better, limit_of
from .cell_roles import Coded, Truth, Whole, grouped, settled
from .headings import (
    CUT,
    FAILED,
    SUMMARY,
    TOTALS,
    ColumnRoles,
    direction_in,
    is_cut,
    is_good,
    is_guess,
    is_setting,
    is_warmup,
    plain_heading,
)
from .parsing import (
    ForeignCell,
    ForeignFile,
    all_numbers,
    foreign_file,
    in_base_unit,
    parted,
)

Real = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True, slots=True)
class ProcessSplit:
    """How the values of a cell fall into processes.

    `order` puts one process after the other (None: they stand so), `ends` tells where each one ends,
    and `codes` which one it is. All empty where processes are unknown.
    """

    order: Whole | None = None
    ends: Sequence[int] = ()
    codes: Sequence[int] = ()

    def each(self, of_rows: Whole) -> tuple[int, ...] | None:
        """Give what holds of each process, of the rows where there are none; None where it changes."""
        if not self.ends:
            return tuple(of_rows.tolist())
        ordered = of_rows if self.order is None else of_rows[self.order]
        starts = np.array([0, *self.ends[:-1]])
        found = ordered[starts]
        if (np.repeat(found, np.diff([*starts, len(ordered)])) != ordered).any():
            return None
        return tuple(found.tolist())


def parts_of(codes: Whole) -> ProcessSplit:
    """Part values by the numbers of their processes, in the order in which these appear."""
    if not len(codes):
        return ProcessSplit()
    order, steps = None, np.diff(codes)
    if (steps < 0).any():
        _, first, number = np.unique(codes, return_index=True, return_inverse=True)
        order = np.argsort(first[number], kind="stable")
        codes, steps = codes[order], np.diff(first[number][order])
    starts = np.flatnonzero(steps) + 1
    ends = [*starts.tolist(), len(codes)]
    return ProcessSplit(order, ends, [int(codes[0]), *codes[starts].tolist()])


def processes_of(values: Real, parts: ProcessSplit) -> tuple[tuple[float, ...], ...]:
    """Give the values of each process in an inner tuple."""
    if not len(values):
        return ()
    if not parts.ends:
        return (tuple(values.tolist()),)
    ordered = (values if parts.order is None else values[parts.order]).tolist()
    pairs = zip([0, *parts.ends], parts.ends, strict=False)
    return tuple([tuple(ordered[start:end]) for start, end in pairs])


@dataclass(slots=True, eq=False)
class LongTable:
    """What a reader makes of its rows.

    `opened`, `headings`, `found`: The file, and which of its columns is what. `columns`: The columns of texts, by
    place; one of `found.rest` with very many texts may be missing. `values`: By the place of the column; NaN where a
    cell is empty, infinity where it is no number. `units`: What stands behind the numbers of such a column: "" for
    nothing, else they are in that unit. `line_of`: Says where the row of this number stands, as messages name it.
    `text_of`: Gives the text of a cell by row and place.
    """

    opened: Opened
    headings: Sequence[str]
    found: ColumnRoles
    columns: dict[int, Coded]
    values: dict[int, Real]
    units: Mapping[int, set[str]]
    line_of: Callable[[int], str]
    text_of: Callable[[int, int], str]
    there: Truth = field(init=False)
    differing: list[int] = field(init=False, default_factory=list)
    missing: int = field(init=False, default=0)
    width: int = field(init=False, default=1)
    groups: Whole = field(init=False)
    keys: Sequence[tuple[str, ...]] = field(init=False)

    def __post_init__(self) -> None:
        """Find the roles that only the cells tell, and the groups of rows with the same texts."""
        if self.found.runs:
            self._give_each_run_a_row()
        self._take_words_for_outcomes()
        self.there = np.logical_or.reduce([~np.isnan(one) for one in self.values.values()])
        self.headings = headings = [*self.headings]
        self.found = found = settled(self.found, headings, self.columns, self.there)
        self._give_each_kind_one_unit()
        known = [self.columns[place] for place in (*found.naming, *found.fates)]
        self.groups, first = grouped(known, len(self.there))
        self.keys = [
            tuple(column.texts[column.codes[row]] for column in known) for row in first.tolist()
        ]

    def _give_each_run_a_row(self) -> None:
        groups = {places[0]: places for places in self.found.runs}
        later = {k for places in groups.values() for k in places[1:]}
        self.width = width = max(map(len, groups.values()))
        runs = {k: groups.get(k, (k,)) for k in self.values if k not in later}
        values: dict[int, Real] = {}
        for place, places in runs.items():
            whole = np.full((len(self.values[place]), width), np.nan)
            whole[:, : len(places)] = np.stack([self.values[k] for k in places], axis=1)
            values[place] = whole.ravel()
        line_of, text_of, units = self.line_of, self.text_of, self.units
        self.line_of = lambda row: line_of(row // width)
        self.text_of = lambda row, k: text_of(row // width, groups.get(k, [k] * width)[row % width])
        self.values = values
        self.units = {k: set().union(*(units[j] for j in places)) for k, places in runs.items()}
        self.columns = {
            k: Coded(np.repeat(one.codes, width), one.texts) for k, one in self.columns.items()
        }
        taken = tuple(one for one in self.found.values if one[0] in values)
        self.found = replace(self.found, values=taken)
        if sides := self.found.sides:
            codes = np.tile(np.arange(width), len(self.values[taken[0][0]]) // width)
            self.columns[len(self.headings)] = Coded(codes, sides)
            self.found = replace(self.found, variant=(len(self.headings),))
            self.headings = [*self.headings, "variant"]

    def _take_words_for_outcomes(self) -> None:
        """Take words in the place of values, such as ``timeout``, for a column of what became of the runs."""
        fates = np.zeros(len(next(iter(self.values.values()))), np.int8)
        for place, column in self.values.items():
            words = (column == FAILED) + 2 * (column == CUT)
            if words.any():
                name, fates = self.headings[place], np.maximum(fates, words)
                self.values[place] = np.where(words > 0, np.nan, column)
        if fates.any():
            self.columns[len(self.headings)] = Coded(fates, ("ok", "failed", "timeout"))
            self.found = replace(self.found, ok=(*self.found.ok, len(self.headings)))
            self.headings = [*self.headings, name]

    def _give_each_kind_one_unit(self) -> None:
        """Have rows in several units of times, or of sizes, say seconds, or bytes: they may be of one benchmark."""
        column, plain = self.coded("unit"), [k for k, _, unit in self.found.values if not unit]
        if self.found.unit is None or column is None or not plain:
            return
        known = [in_base_unit(text) for text in column.texts]
        used = {in_base_unit(text) for text in column.among()}
        if len(used) == len({unit for _, unit in used}):
            return
        self.columns[self.found.unit] = Coded(column.codes, [unit for _, unit in known])
        for place in plain:
            self.values[place] = values = self.values[place].copy()
            for code, (factor, _) in enumerate(known):
                mine = column.codes == code
                values[mine] = _in_base(values[mine], factor)

    @property
    def rest(self) -> dict[int, Coded]:
        """The columns that are keys where a cell has one text of them."""
        return {k: self.columns[k] for k in self.found.rest if k in self.columns}

    @property
    def settings(self) -> dict[str, str]:
        """The columns of settings and of texts that hold the same in all rows."""
        found = self.found
        texts = {k: column.among() for k, column in self.rest.items()}
        same = {k: of[0].strip() for k, of in texts.items() if len(of) == 1 and of[0].strip()}
        return {
            self.headings[k].strip(): text
            for k, text in same.items()
            if k not in (found.time, found.commit, found.host)
            and (is_setting(self.headings[k]) or not all_numbers([text]))
        }

    def coded(self, role: str) -> Coded | None:
        """Give the column of a role that one column has, or a text for all rows."""
        place = getattr(self.found, role)
        if role in self.found.literal:
            return Coded(np.zeros(len(self.there), np.int8), [self.found.literal[role]])
        return None if place is None else self.columns[place]

    def cells(self) -> Iterator[ForeignCell]:
        """Give a cell for each benchmark, variant, session, unit, metric and direction."""
        merged, of_group, fate = self._merged()
        counts = np.bincount(self.groups, minlength=len(self.keys))
        failed = np.bincount((out := self._failed_runs(of_group, fate))[0], minlength=len(merged))
        cut = self._cut_runs(*out)
        warmups = np.bincount(of_group[fate == 2], counts[fate == 2], len(merged))
        rows = self._sorted(of_group, fate)
        mine = np.bincount(of_group[self.groups[rows]], minlength=len(merged))
        ends = np.cumsum(mine)
        values = {place: column[rows] for place, column in self.values.items()}
        self._check(values, rows)
        column = self.coded("process")
        process = None if column is None else column.codes[rows]
        called = None if column is None else column.texts.__getitem__
        self._check_names(rows)
        blocks, block_of = self._blocks(rows, [row for runs in cut.values() for row, _ in runs])
        same = {place: _same(one.codes[rows], ends, mine) for place, one in self.rest.items()}
        self.differing = [place for place, constant in same.items() if not constant[mine > 0].all()]
        without = ((fate == 0)[self.groups] & ~self.there).reshape(-1, self.width)
        self.missing = int(np.count_nonzero(without.all(axis=1)))
        rest = self.rest
        for number, (names, own_keys) in enumerate(merged.items()):
            bench, variant, session, unit, metric, better = names
            start, end = int(ends[number] - mine[number]), int(ends[number])
            if start == end and not failed[number] and not warmups[number]:
                continue  # rows without any value
            keys = dict(own_keys)
            for place in (k for k, constant in same.items() if constant[number]):
                keys[self.headings[place]] = rest[place].texts[rest[place].codes[rows[start]]]
            for place, name, in_heading in self.found.values:
                factor, base, direction = self._unit_of(place, unit, in_heading)
                # where some headings have a unit, what a row names is of those that have none
                own = not in_heading or all(unit for _, _, unit in self.found.values)
                text = direction_in(self.headings, self.found, better) if own else None
                what, fix = "", "leave the unit in one place"
                if in_heading and unit and in_base_unit(unit) != in_base_unit(in_heading):
                    says = f"the heading {name!r} says {in_heading!r}"
                    what = f"the row's unit is {unit!r}, and {says}"
                elif better.strip() and text is None:
                    heading, fix = self.headings[self.found.better or 0], "write lower or higher"
                    what = f"{better!r} in the column {heading!r} says no direction"
                if what and own and start < end:
                    raise self.opened.fail(what, fix, at=self.line_of(int(rows[start])))
                there = start + np.flatnonzero(~np.isnan(values[place][start:end]))
                parts = ProcessSplit() if process is None else parts_of(process[there])
                yield ForeignCell(
                    benchmark=bench,
                    variant=variant or None,
                    metric=((self.found.literal.get("metric") or metric) if own else "") or name,
                    unit=base,
                    better=text or direction,
                    processes=processes_of(_in_base(values[place][there], factor), parts),
                    known=process is not None,
                    labels=None if called is None else tuple(map(called, parts.codes)),
                    blocks=None if blocks is None else parts.each(blocks[there]),
                    warmups=int(warmups[number]) if self.found.warmup is not None else None,
                    failed=int(failed[number]) if self.found.ok else None,
                    cut=tuple(
                        (bound if limit and 0 < bound < math.inf else None, limit, block_of(row))
                        for row, limit in cut.get(number, ())
                        for bound in _in_base(self.values[place][row : row + 1], factor).tolist()
                    ),
                    session=session or None,
                    keys=keys,
                )

    def _unit_of(self, place: int, text: str, heading: str) -> tuple[float, str, Better | None]:
        """Give factor, unit and direction of values: of their cells, else of their heading, else of the row."""
        factor, unit = in_base_unit(self.found.literal.get("unit") or heading or text)
        units = self.units.get(place, set())
        if units - {""}:
            listed = " and ".join(sorted(one or "none" for one in units))
            what = f"the cells of the column {self.headings[place]!r} have several units: {listed}"
            fix = "give each of them its unit, of one kind"
            self.opened.require(len(units) == 1, what, fix, at="")
            factor, unit = 1.0, next(iter(units))
        return factor, unit, "lower" if unit == "s" else None

    def _blocks(self, rows: Whole, cut: list[int]) -> tuple[Whole | None, Callable[[int], int]]:
        """Give rows the numbers of their blocks, None where one of them has none; and what gives that of a cut run's."""
        column = self.coded("block")
        if column is None:
            return None, lambda _row: 0
        codes, names = column.codes, column.texts
        known = [codes[row] for row in cut if names[codes[row]].strip()]
        used = np.unique([*np.unique(codes[rows]), *known]).astype(int).tolist()
        texts = [names[code].strip() for code in used]
        if not texts or "" in texts:
            return None, lambda _row: 0
        whole = all(one.isascii() and one.isdecimal() and len(one) < 10 for one in texts)
        own = [int(text) for text in texts] if whole else []
        numbers = own if own and min(own) > 0 else range(1, len(used) + 1)
        place = np.zeros(len(names), np.int64)
        place[used] = numbers
        return place[codes[rows]], lambda row: int(place[codes[row]])

    def _failed_runs(self, of_group: Whole, fate: Whole) -> tuple[Whole, Whole]:
        """Give the cells of failed runs and their rows; where iterations have a column the first of each process."""
        out = np.flatnonzero(fate[self.groups] == 1)
        cell = of_group[self.groups[out]]
        column = self.coded("process")
        if column is None or (self.found.iteration is None and self.width == 1):
            return cell, out
        runs = np.stack([cell, column.codes[out]])
        runs, first = np.unique(runs, axis=1, return_index=True)
        return runs[0], out[first]

    def _cut_runs(self, cells: Whole, rows: Whole) -> dict[int, list[tuple[int, float | None]]]:
        """Give by cell the rows of runs that a time limit ended, each with the limit."""
        first, names = len(self.found.naming), [self.headings[place] for place in self.found.ok]
        limits = {
            k: limit_of(text, math.nan)
            for k in np.unique(self.groups[rows]).tolist()
            for name, text in zip(names, self.keys[k][first:], strict=False)
            if is_cut(text)
            or (re.search("timed?_?out", plain_heading(name)) and not is_good(name, text))
        }
        found: dict[int, list[tuple[int, float | None]]] = {}
        for cell, row in zip(cells.tolist(), rows.tolist(), strict=True):
            if (limit := limits.get(int(self.groups[row]))) is not None:
                found.setdefault(cell, []).append((row, None if math.isnan(limit) else limit))
        return found

    def _sorted(self, of_group: Whole, fate: Whole) -> Whole:
        """Give the rows that count, cell by cell, in the order of the file."""
        if of_group.size and of_group.max() < 2**15:
            of_group = of_group.astype(np.int16)  # numpy sorts these without comparing
        if not fate.any() and self.there.all():
            return np.argsort(of_group[self.groups], kind="stable")
        rows = np.flatnonzero((fate == 0)[self.groups] & self.there)
        return rows[np.argsort(of_group[self.groups[rows]], kind="stable")]

    def _merged(self) -> tuple[dict[tuple[str, ...], dict[str, str]], Whole, Whole]:
        """Put groups together that differ in what became of their runs only.

        Gives the cells' names with their keys, the cell of each group, and its fate: 0 counts, 1 failed, 2 warm-up,
        3 is empty.
        """
        found = self.found
        fate = np.zeros(len(self.keys), np.int64)
        valued = np.bincount(self.groups[self.there], minlength=len(self.keys))
        named = []
        for k, key in enumerate(self.keys):
            known = dict(zip((*found.naming, *found.fates), key, strict=True))
            named.append(self._named(known))
            if not valued[k] and not any(one.strip() for one in key):
                fate[k] = 3
            elif found.warmup is not None and self._tells(k, found.warmup, known[found.warmup]):
                fate[k] = 2
            else:
                fate[k] = not all([self._tells(k, place, known[place]) for place in found.ok])
        cells = [name for name, _ in named]
        if (fate == 1).any():
            cells = _completed(cells, fate)
        numbers: dict[tuple[str, ...], int] = {}
        of_group = [numbers.setdefault(cell, len(numbers)) for cell in cells]
        keys = dict(zip(reversed(cells), (keys for _, keys in reversed(named)), strict=True))
        return {cell: keys[cell] for cell in numbers}, np.array(of_group, np.int64), fate

    def _named(self, text: Mapping[int, str]) -> tuple[tuple[str, ...], dict[str, str]]:
        """Give benchmark, variant, session, unit, metric and direction of a group, and the keys that are its names."""
        found, names = self.found, []
        keys = {
            self.headings[place]: text[place]
            for place in (*found.benchmark, *found.variant, *found.factors, *found.of_variant)
        }
        pairs = ((found.benchmark, found.factors), (found.variant, found.of_variant))
        for places, factors in pairs:
            own = [" / ".join(text[place] for place in places)] if places else []
            texts = ((self.headings[k].strip(), text[k].strip()) for k in factors)
            own += (f"{heading}={cell}" for heading, cell in texts if cell)
            names.append(" ".join(own))
            if len(places) == 1:
                keys[self.headings[places[0]]] = names[-1]
        single = (found.session, found.unit, found.metric, found.better)
        rest = ("" if place is None else text[place] for place in single)
        return (names[0] or VALUES, names[1], *rest), keys

    def _tells(self, group: int, place: int, text: str) -> bool:
        """Tell whether a run is good, or a warm-up; a word that says neither is refused."""
        what, word = "whether the run is good or failed", "ok"
        found = is_good(self.headings[place], text)
        if place == self.found.warmup:
            what, word, found = "whether the run is a warm-up", "yes", is_warmup(text)
        if found is not None:
            return found
        heading = self.headings[place].strip()
        raise self.opened.fail(
            f"{text!r} in the column {heading!r} does not say {what}",
            f"write {word!r} or its opposite in every row, or leave it aside: --columns 'ignored={heading}'",
            at=self.line_of(int(np.flatnonzero(self.groups == group)[0])),
        )

    def _check(self, values: dict[int, Real], rows: Whole) -> None:
        for place, name, _ in self.found.values:
            taken = values[place]
            odd = (taken < 0) | (taken == np.inf)
            if not odd.any():
                continue
            row = int(rows[odd].min())
            runs = next((runs for runs in self.found.runs if runs[0] == place), None)
            heading = self.headings[runs[row % self.width]] if runs else name
            text, at = self.text_of(row, place).strip(), self.line_of(row)
            value = float(self.values[place][row])
            number = number_in(text, self.opened.decimal)
            if value == np.inf and (number is None or math.isfinite(number)):
                small = NUMBER.fullmatch(text) is not None and number_in(text) is None
                why = "too small for a number of 64 bits" if small else "no number"
                signs: tuple[Decimal, ...] = ("comma", "point")
                known = [one for one in signs if number_in(parted(text)[0], one) is not None]
                fix = f"say --decimal {' or --decimal '.join(known)}"
                fix = fix if known else "mend it, or take the row out"
                raise self.opened.fail(f"{text!r} in the column {heading!r} is {why}", fix, at=at)
            self.opened.value(math.nan if text.lower().lstrip("+-") == "nan" else value, at)

    def _check_names(self, rows: Whole) -> None:
        """Refuse a run, or a benchmark beside others, without a name, and a mean among the runs: they would be one, or one more."""
        found = self.found
        names = found.benchmark if len(found.benchmark) == 1 else ()
        for place in (k for k in (found.process, found.iteration, *names) if k is not None):
            column, named = self.columns[place], place in names
            texts = [text.strip().lower() for text in column.texts]
            bad, words = {""} if place != found.iteration else set(), {*texts} & {*SUMMARY}
            bad |= words if words and not named and all_numbers({*texts} - words) else set()
            odd = np.array([one in bad for one in texts], np.bool_)
            wrong = rows[odd[column.codes[rows]]]
            if wrong.size and not (named and wrong.size == rows.size):
                row, told = int(wrong.min()), "write the name" if named else "number the runs"
                text = self.text_of(row, place).strip()
                what = f"the column {self.headings[place]!r} {f'holds {text!r}' if text else 'is empty'}"
                fix = f"{told} in every row, or take the row out"
                raise self.opened.fail(what, fix, at=self.line_of(row))

    def notes(self) -> Iterator[Caution]:
        """Say what was guessed, which columns name several hosts or are not read, and how many rows have no value."""
        found = self.found
        column = self.coded("host")
        hosts = tuple(filter(None, map(str.strip, column.among() if column else ())))
        if found.host is not None and len(hosts) > 1:
            heading = self.headings[found.host]
            fix = f"each is an occasion of its own: if it is a variant say --columns 'variant={heading}'"
            if found.session in found.stated:
                fix = "their runs are taken as those of one: give each host a file"
            named = f"{len(hosts)} hosts ({figures.listed(hosts, 3)})"
            yield Caution(HOSTS, f"the column {heading!r} names {named}, and {fix}")
        if found.factors or found.of_variant or found.runs or is_guess(found, self.headings):
            yield Caution(READ_AS, self.reading())
        if apart := self._ignored():
            named = figures.listed(tuple(self.headings[k] for k in apart), 6)
            text = f"not read, though runs of one benchmark may differ in it: {named}"
            yield Caution(UNREAD, text)
        if self.missing:
            text = f"{figures.counted(self.missing, 'row')} without a value: left out, and not counted as failed"
            yield Caution("values-missing", text)

    def _ignored(self) -> list[int]:
        """Give the columns that are no keys, and what values may be totals of."""
        found, rest = self.found, self.rest
        keys = (found.host, found.time)
        return [
            k
            for k in found.rest
            if k not in keys
            and (self.headings[k].strip() or (k in rest and not all_numbers(rest[k].texts)))
            and (k not in rest or k in self.differing or plain_heading(self.headings[k]) in TOTALS)
        ]

    def reading(self) -> str:
        """Say as what each column was read."""
        found = self.found
        texts = {
            place: "".join(self.units.get(place, ())) or unit for place, _, unit in found.values
        }
        units = {place: f" [{unit}]" if unit else "" for place, unit in texts.items()}
        runs = {k: units.pop(places[0], "") for places in found.runs for k in places}
        inner = "run" if found.process is None else "iteration"
        inner = "variant" if found.sides else inner
        literal = {name.replace("process", "run"): text for name, text in found.literal.items()}
        roles: dict[str, Iterable[int | None]] = {
            "benchmark": found.benchmark, "variant": () if found.sides else found.variant, "value": units, "metric": [found.metric],
            "unit": [found.unit], "better": [found.better], "session": [found.session], "block": [found.block],
            "run": [found.process], "iteration": [found.iteration], inner: runs, "outcome": found.ok, "warmup": [found.warmup],
            "time": [found.time], "commit": [found.commit], "host": [found.host],
            "factor": (*found.factors, *found.of_variant),
        }  # fmt: skip
        behind = runs | units
        parts = []
        for role, places in roles.items():
            there = [self.headings[k].strip() + behind.get(k, "") for k in places if k is not None]
            if there or role in literal:
                words = f"'{literal[role]}'" if role in literal else "+".join(there)
                parts.append(f"{role}={words}")
        rest = self._ignored()
        ignored = f"; {figures.counted(len(rest), 'column')} ignored" if rest else ""
        return f"read as: {', '.join(parts)}{ignored}"


def long_file(table: LongTable) -> ForeignFile:
    """Put together what a long table holds, and what it cannot tell."""
    cells, found = tuple(table.cells()), table.found
    table.opened.require(cells != (), "there is no row of values", "is the file whole?", at="")
    alone = "process" in found.literal
    holding = {
        "processes-unknown": found.process is None and not alone,
        "one-process": alone,
        "no-sessions": found.session is None,
        "failed-unknown": not found.ok,
    }
    named = [f"the column {table.headings[k]!r}" for k in found.variant]
    return foreign_file(
        "tables",
        cells,
        holding,
        notes=table.notes(),
        read_as=table.reading(),
        settings=table.settings,
        variant_rule=named[0] if named else "the file's name",
    )


def _completed(cells: Sequence[tuple[str, ...]], fate: Whole) -> list[tuple[str, ...]]:
    """Give runs that do not count the unit, metric and direction of those that do.

    A failed run has no value, so its row may leave them empty: it is no cell of its own.
    """
    good = [cell for cell, one in zip(cells, fate, strict=True) if not one]
    found: dict[tuple[str, ...], list[tuple[str, ...]]] = {}
    for cell in dict.fromkeys(good):
        found.setdefault(cell[:3], []).append(cell[3:])
    anywhere = dict.fromkeys(cell[3:] for cell in good)

    def filled(cell: tuple[str, ...]) -> tuple[str, ...]:
        for like in (*found.get(cell[:3], ()), *anywhere):
            if all(mine in ("", its) for mine, its in zip(cell[3:], like, strict=True)):
                return (*cell[:3], *like)
        return cell

    pairs = zip(cells, fate, strict=True)
    return [filled(cell) if one and not all(cell[3:]) else cell for cell, one in pairs]


def _same(codes: Whole, ends: Whole, counts: Whole) -> Truth:
    """Tell for each cell whether all its rows have one text; false where it has none."""
    some = counts > 0
    result = some.copy()
    if some.any():
        starts = (ends - counts)[some]
        result[some] = np.minimum.reduceat(codes, starts) == np.maximum.reduceat(codes, starts)
    return result


def _in_base(values: Real, factor: float) -> Real:
    """Give values in seconds or bytes; what is too large for that is infinite, and refused."""
    if factor < 1:  # by the whole number, so that 9 ms are 0.009 s
        return values / round(1 / factor)
    with np.errstate(over="ignore"):
        return values * factor
