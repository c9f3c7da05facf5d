"""A long table from its columns to cells: roles, groups of rows, what does not count, places of mistakes.

A reader gives `Columns`: lines of a CSV, cells of JSON or of a data base, Parquet. Texts are numbers here, so that a
million rows are grouped at once.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from ..data.matrix_file import VALUES, means_among
from ..data.number_text import NUMBER, Decimal, number_in
from ..data.opening import Opened
from ..data.trial_cautions import HOSTS, READ_AS, UNREAD
from ..pages import number_format as figures
from ..pages.model import Caution
from ..record.run_numbers import Better, limit_of
from .cell_roles import Coded, Truth, Whole, grouped, settled
from .headings import (
    SUMMARY,
    TOTALS,
    ColumnRoles,
    direction_in,
    is_guess,
    is_setting,
    long_mapping,
)
from .parsing import (
    CUT,
    FAILED,
    SAY,
    ForeignCell,
    ForeignFile,
    all_numbers,
    float_of,
    foreign_file,
    hosts_in,
    in_base_unit,
    is_cut,
    is_good,
    is_quantity,
    is_warmup,
    last_word,
    parted,
    plain_heading,
)

Real = np.ndarray[Any, np.dtype[np.float64]]
Units = dict[int, set[str]]  # what stands behind the numbers of a column: "" for nothing


@dataclass(slots=True, eq=False)
class Columns:
    """A table as its reader finds it: texts in memory, if nothing else.

    `first`: The first cells of each column. `at`: The line of the headings. `wheres`: Where each row stands.
    """

    opened: Opened
    headings: Sequence[str]
    first: Sequence[Sequence[str]]
    at: str = ""
    columns: Sequence[Any] = ()
    wheres: Sequence[str] = ()

    def coded(self, place: int) -> Coded:
        """Give a column of texts."""
        numbers: dict[str, int] = {}
        codes = [numbers.setdefault(text, len(numbers)) for text in self.columns[place]]
        return Coded(np.array(codes, np.int64), list(numbers))

    def floats(self, place: int, units: set[str]) -> Real:
        """Give a column of numbers, as `float_of` takes them, and add their units."""
        return np.array([float_of(text, units) for text in self.columns[place]], np.float64)

    def text_of(self, row: int, place: int) -> str:
        """Give the text of a cell."""
        return str(self.columns[place][row])

    def line_of(self, row: int) -> str:
        """Say where a row stands, as messages name it."""
        return self.wheres[row] if self.wheres else f"row {row + 1}"

    def read(self, found: ColumnRoles) -> tuple[dict[int, Coded], dict[int, Real], Units]:
        """Give the columns of texts by place, one of `found.rest` perhaps not; those of values; and their units."""
        units: Units = {place: set() for place, _, _ in found.values}
        values = {place: self.floats(place, own) for place, own in units.items()}
        others = (k for k in range(len(self.headings)) if k not in values)
        return {k: self.coded(k) for k in others}, values, units


class LongTable:
    """The rows of a table, coded.

    `columns`: The columns of texts, by place; those that the table itself does not have come behind its own. `values`:
    By the place of the column; NaN where a cell is empty, infinity where it is no number. `units`: Of their cells.
    `width`: How many runs one row of the file has. `groups`: Of rows with the same texts, `keys`, in the columns of names and fates.
    """

    def __init__(self, source: Columns) -> None:
        self.source, self.opened, self.headings = source, source.opened, [*source.headings]
        self.found = long_mapping(source.opened, source.headings, source.first, at=source.at)
        self.columns, self.values, self.units = source.read(self.found)
        self.width, self.missing = 1, 0
        self.differing: list[int] = []
        if self.found.runs:
            self._give_each_run_a_row()
        self._take_words_for_outcomes()
        self.there: Truth = np.logical_or.reduce([~np.isnan(one) for one in self.values.values()])
        self.found = found = settled(self.found, self.headings, self.columns, self.there)
        guessed = [self.headings[k] for k in found.ok if k not in found.stated]
        ends = [last_word(heading.rstrip("0123456789")) for heading in guessed]
        if alike := [one for one, end in zip(guessed, ends, strict=True) if ends.count(end) > 1]:
            what = f"several columns say what became of a run, perhaps of different values: {', '.join(alike)}"
            value = self.headings[found.places[0]]
            fix = f"name a value and its outcome: --columns 'value={value}, outcome={alike[0]}'"
            raise self.opened.fail(what, fix, at=source.at)
        self._give_each_kind_one_unit()
        known = [self.columns[place] for place in (*found.naming, *found.fates)]
        self.groups, first = grouped(known, len(self.there))
        self.keys = [tuple(one.texts[one.codes[row]] for one in known) for row in first.tolist()]

    def _add(self, heading: str, codes: Whole, texts: Sequence[str]) -> int:
        self.columns[len(self.headings)] = Coded(codes, texts)
        self.headings.append(heading)
        return len(self.headings) - 1

    def _give_each_run_a_row(self) -> None:
        runs = {places[0]: places for places in self.found.runs}
        later = {k for places in runs.values() for k in places[1:]}
        self.width = width = max(map(len, runs.values()))
        given, units, self.values = self.values, self.units, {}
        for place in (k for k in given if k not in later):
            places = runs.get(place, (place,))
            whole = np.full((len(given[place]), width), np.nan)
            whole[:, : len(places)] = np.stack([given[k] for k in places], axis=1)
            self.values[place] = whole.ravel()
            self.units[place] = set().union(*(units[k] for k in places))
        for one in self.columns.values():
            one.codes = np.repeat(one.codes, width)
        taken = tuple(one for one in self.found.values if one[0] in self.values)
        self.found = replace(self.found, values=taken)
        if sides := self.found.sides:
            codes = np.tile(np.arange(width), len(self.values[taken[0][0]]) // width)
            self.found = replace(self.found, variant=(self._add("variant", codes, sides),))
            self._give_each_side_its_own()

    def _give_each_side_its_own(self) -> None:
        """Put columns such as ``old_status`` and ``new_status``, of sides that have rows now, in one."""
        for heading, places in self.found.beside.items():
            parts = [self.columns.pop(k) for k in places]
            begins = np.cumsum([0, *(len(one.texts) for one in parts)])
            codes = [one.codes[k :: self.width] + begins[k] for k, one in enumerate(parts)]
            texts = [text for one in parts for text in one.texts]
            place = self._add(heading, np.stack(codes, axis=1).ravel(), texts)
            rest = tuple(k for k in self.found.rest if k not in places)
            self.found = replace(self.found, rest=(*rest, place))

    def _take_words_for_outcomes(self) -> None:
        """Take words in the place of values, such as ``timeout``, for a column of what became of the runs."""
        fates = np.zeros(len(next(iter(self.values.values()))), np.int8)
        name = ""
        for place, column in self.values.items():
            words = (column == FAILED) + 2 * (column == CUT)
            if words.any():
                name, fates = self.headings[place], np.maximum(fates, words)
                self.values[place] = np.where(words > 0, np.nan, column)
        if fates.any():
            place = self._add(name, fates, ("ok", "failed", "timeout"))
            self.found = replace(self.found, ok=(*self.found.ok, place))

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
        texts = {k: [text.strip() for text in column.among()] for k, column in self.rest.items()}
        return {
            self.headings[k].strip(): of[0]
            for k, of in texts.items()
            if k not in (found.time, found.commit, found.host) and len(of) == 1 and of[0]
            if is_setting(self.headings[k]) or not all_numbers(of)
        }

    def coded(self, role: str) -> Coded | None:
        """Give the column of a role that one column has, or a text for all rows."""
        place = getattr(self.found, role)
        if role in self.found.literal:
            return Coded(np.zeros(len(self.there), np.int8), [self.found.literal[role]])
        return None if place is None else self.columns[place]

    def line_of(self, row: int) -> str:
        """Say where a row stands."""
        return self.source.line_of(row // self.width)

    def cells(self) -> Iterator[ForeignCell]:
        """Give a cell for each benchmark, variant, session, unit, metric and direction."""
        merged, of_group, fate = self._merged()
        counts = np.bincount(self.groups, minlength=len(self.keys))
        out = self._failed_runs(of_group, fate)
        failed = np.bincount(out[0], minlength=len(merged))
        cut = self._cut_runs(*out)
        warmups = np.bincount(of_group[fate == 2], counts[fate == 2], len(merged))
        rows = self._sorted(of_group, fate)
        mine = np.bincount(of_group[self.groups[rows]], minlength=len(merged))
        ends = np.cumsum(mine)
        values = {place: column[rows] for place, column in self.values.items()}
        self._check(values, rows)
        process = self.coded("process")
        codes = np.zeros(len(rows), np.int64) if process is None else process.codes[rows]
        numbers = self._iterations(rows)
        self._check_names(rows)
        blocks, block_of = self._blocks(rows, [row for runs in cut.values() for row, _ in runs])
        rest = self.rest
        same = {place: _same(one.codes[rows], ends, mine) for place, one in rest.items()}
        self.differing = [place for place, constant in same.items() if not constant[mine > 0].all()]
        without = ((fate == 0)[self.groups] & ~self.there).reshape(-1, self.width)
        self.missing = int(np.count_nonzero(without.all(axis=1)))
        for number, ((bench, variant, session, *about), own_keys) in enumerate(merged.items()):
            start, end = int(ends[number] - mine[number]), int(ends[number])
            if start == end and not failed[number] and not warmups[number]:
                continue  # rows without any value
            keys = dict(own_keys)
            for place in (k for k, constant in same.items() if constant[number]):
                keys[self.headings[place]] = rest[place].texts[rest[place].codes[rows[start]]]
            at = int(rows[start]) if start < end else None
            for place, name, in_heading in self.found.values:
                factor, meaning = self._meaning(place, name, in_heading, about, at)
                taken = start + np.flatnonzero(~np.isnan(values[place][start:end]))
                order, breaks = _parted(codes[taken], numbers[taken])
                taken = taken if order is None else taken[order]
                known = _in_base(values[place][taken], factor).tolist()
                edges = [0, *breaks, len(known)] if known else []
                labels = None
                if process is not None:
                    labels = tuple([process.texts[k] for k in codes[taken[edges[:-1]]].tolist()])
                yield ForeignCell(
                    benchmark=bench,
                    variant=variant or None,
                    **meaning,
                    processes=tuple([tuple(known[a:b]) for a, b in pairwise(edges)]),
                    known=process is not None,
                    labels=labels,
                    blocks=_each(blocks, taken, None if process is None else edges[:-1]),
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

    def _iterations(self, rows: Whole) -> Real:
        """Give the number of each row's iteration: its place where no column numbers the iterations of all."""
        column = None if self.coded("process") is None else self.coded("iteration")
        known = [] if column is None else [number_in(text) for text in column.texts]
        if column is None or None in known:
            return np.arange(len(rows), dtype=np.float64)
        return np.array(known, np.float64)[column.codes[rows]]

    def _meaning(
        self, place: int, name: str, in_heading: str, about: Sequence[str], at: int | None
    ) -> tuple[float, dict[str, Any]]:
        """Give a factor, and metric, unit and direction, of a column's values in rows that say `about` of them.

        A unit is that of the cells, else of the heading, else of the row.
        """
        unit, metric, better = about
        literal, found = self.found.literal, self.found
        factor, base = in_base_unit(literal.get("unit") or in_heading or unit)
        if (units := self.units.get(place, set())) - {""}:
            listed = " and ".join(sorted(one or "none" for one in units))
            what = f"the cells of the column {self.headings[place]!r} have several units: {listed}"
            fix = "give each of them its unit, of one kind"
            self.opened.require(len(units) == 1, what, fix, at="")
            factor, base = 1.0, next(iter(units))
        # where some headings have a unit, what a row names is of those that have none
        own = not in_heading or all(unit for _, _, unit in found.values)
        text = direction_in(self.headings, found, better) if own else None
        what, fix = "", "leave the unit in one place"
        if in_heading and unit and in_base_unit(unit) != in_base_unit(in_heading):
            what = f"the row's unit is {unit!r}, and the heading {name!r} says {in_heading!r}"
        elif better.strip() and text is None:
            heading = self.headings[found.better or 0]
            what = f"{better!r} in the column {heading!r} says no direction"
            fix = "write lower or higher"
        if what and own and at is not None:
            raise self.opened.fail(what, fix, at=self.line_of(at))
        metric = ((literal.get("metric") or metric) if own else "") or name
        direction: Better | None = "lower" if base == "s" else None
        return factor, {"metric": metric, "unit": base, "better": text or direction}

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
        place = np.zeros(len(names), np.int64)
        place[used] = own if own and min(own) > 0 else range(1, len(used) + 1)
        return place[codes[rows]], lambda row: int(place[codes[row]])

    def _failed_runs(self, of_group: Whole, fate: Whole) -> tuple[Whole, Whole]:
        """Give the cells of failed runs and their rows; where iterations have a column the first of each process."""
        out = np.flatnonzero(fate[self.groups] == 1)
        cell = of_group[self.groups[out]]
        column = self.coded("process")
        if column is None or (self.found.iteration is None and self.width == 1):
            return cell, out
        runs, first = np.unique(np.stack([cell, column.codes[out]]), axis=1, return_index=True)
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
        merged: dict[tuple[str, ...], dict[str, str]] = {}
        for cell, (_, keys) in zip(cells, named, strict=True):
            merged.setdefault(cell, keys)
        numbers = {cell: k for k, cell in enumerate(merged)}
        return merged, np.array([numbers[cell] for cell in cells], np.int64), fate

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
            odd = (values[place] < 0) | (values[place] == np.inf)
            if not odd.any():
                continue
            row = int(rows[odd].min())
            own = next((runs for runs in self.found.runs if runs[0] == place), None)
            stands = place if own is None else own[row % self.width]
            heading = name if own is None else self.headings[stands]
            text, at = self.source.text_of(row // self.width, stands).strip(), self.line_of(row)
            value = float(self.values[place][row])
            number = number_in(text, self.opened.decimal)
            if value == np.inf and (number is None or math.isfinite(number)):
                small = NUMBER.fullmatch(text) is not None and number_in(text) is None
                why = "too small for a number of 64 bits" if small else "no number"
                signs: tuple[Decimal, ...] = ("comma", "point")
                others = filter(is_quantity, self.source.first[stands])
                plain = [parted(cell)[0] for cell in (text, *others)]
                known = [s for s in signs if all(number_in(one, s) is not None for one in plain)]
                fix = f"say --decimal {' or --decimal '.join(known)}"
                fix = fix if known else "mend it, or take the row out"
                raise self.opened.fail(f"{text!r} in the column {heading!r} is {why}", fix, at=at)
            self.opened.value(math.nan if text.lower().lstrip("+-") == "nan" else value, at)

    def _check_names(self, rows: Whole) -> None:
        """Refuse a run, or a name among others, that is empty or behind a ``#``, and a mean among the runs: they would be one, or one more."""
        found = self.found
        names = [of[0] for of in (found.benchmark, found.variant) if len(of) == 1]
        if len(found.benchmark) == 1:
            column = self.columns[found.benchmark[0]]
            means, _ = means_among(column.texts)  # are left out, whatever their rows lack
            kept = np.array([text not in means for text in column.texts], np.bool_)
            rows = rows[kept[column.codes[rows]]]
        for place in (k for k in (found.process, found.iteration, *names) if k is not None):
            column, named = self.columns[place], place in names
            texts = [text.strip(" :").lower() for text in column.texts]
            commented = {one for one in texts if one[:1] == "#"}
            bad = {one for one in commented if one[1:].strip() in texts}
            bad |= {""} if place != found.iteration else set()
            words = {*texts} & {*SUMMARY, *SAY["warm"], *SAY["footers"]} | commented
            bad |= words if words and not named and all_numbers({*texts} - words) else set()
            odd = np.array([one in bad for one in texts], np.bool_)
            wrong = rows[odd[column.codes[rows]]]
            if wrong.size and not (named and wrong.size == rows.size):
                row, remedy = int(wrong.min()), "write the name" if named else "number the runs"
                text = column.texts[column.codes[row]].strip()
                what = f"the column {self.headings[place]!r} {f'holds {text!r}' if text else 'is empty'}"
                fix = f"{remedy} in every row, or take the row out"
                raise self.opened.fail(what, fix, at=self.line_of(row))

    @property
    def hosts(self) -> tuple[str, ...]:
        """The hosts that a column names."""
        column = self.coded("host")
        return tuple(filter(None, map(str.strip, column.among() if column else ())))

    def notes(self) -> Iterator[Caution]:
        """Say what was guessed, which columns name several hosts or are not read, and how many rows have no value."""
        found, hosts = self.found, self.hosts
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
        rest = self.rest
        return [
            k
            for k in self.found.rest
            if k not in (self.found.host, self.found.time)
            and (self.headings[k].strip() or (k in rest and not all_numbers(rest[k].texts)))
            and (k not in rest or k in self.differing or plain_heading(self.headings[k]) in TOTALS)
        ]

    def reading(self) -> str:
        """Say as what each column was read."""
        found = self.found
        behind: dict[int, str] = {}
        for place, _, unit in found.values:
            text = "".join(self.units.get(place, ())) or unit
            behind[place] = f" [{text}]" if text else ""
        runs = {k: behind.pop(places[0], "") for places in found.runs for k in places}
        inner = "run" if found.process is None else "iteration"
        inner = "variant" if found.sides else inner
        literal = {name.replace("process", "run"): text for name, text in found.literal.items()}
        roles: dict[str, Iterable[int | None]] = {
            "benchmark": found.benchmark, "variant": () if found.sides else found.variant, "value": behind, "metric": [found.metric],
            "unit": [found.unit], "better": [found.better], "session": [found.session], "block": [found.block],
            "run": [found.process], "iteration": [found.iteration], **({inner: runs} if runs else {}),
            "outcome": found.ok, "warmup": [found.warmup], "time": [found.time], "commit": [found.commit],
            "host": [found.host], "factor": (*found.factors, *found.of_variant),
        }  # fmt: skip
        behind, parts = runs | behind, []
        named = [heading.strip() or "''" for heading in self.headings]
        for role, places in roles.items():
            there = [named[k] + behind.get(k, "") for k in places if k is not None]
            if there or role in literal:
                words = f"'{literal[role]}'" if role in literal else "+".join(there)
                parts.append(f"{role}={words}")
        rest = self._ignored()
        ignored = f"; {figures.counted(len(rest), 'column')} ignored" if rest else ""
        return f"read as: {', '.join(parts)}{ignored}"


def long_file(source: Columns) -> ForeignFile:
    """Put together what a long table holds, and what it cannot tell."""
    table = LongTable(source)
    cells, found = tuple(table.cells()), table.found
    source.opened.require(cells != (), "there is no row of values", "is the file whole?", at="")
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
        facts={"host": hosts_in(table.hosts)},
    )


def _completed(cells: Sequence[tuple[str, ...]], fate: Whole) -> list[tuple[str, ...]]:
    """Give runs that do not count the unit, metric and direction of those that do.

    A failed run has no value, so its row may leave them empty: it is no cell of its own.
    """
    good = dict.fromkeys(cell for cell, one in zip(cells, fate, strict=True) if not one)
    found: dict[tuple[str, ...], list[tuple[str, ...]]] = {}
    for cell in good:
        found.setdefault(cell[:3], []).append(cell[3:])
    anywhere = dict.fromkeys(cell[3:] for cell in good)

    def filled(cell: tuple[str, ...]) -> tuple[str, ...]:
        for like in (*found.get(cell[:3], ()), *anywhere):
            if all(mine in ("", its) for mine, its in zip(cell[3:], like, strict=True)):
                return (*cell[:3], *like)
        return cell

    pairs = zip(cells, fate, strict=True)
    return [filled(cell) if one and not all(cell[3:]) else cell for cell, one in pairs]


def _parted(codes: Whole, numbers: Real) -> tuple[Whole | None, list[int]]:
    """Give the order of values in which those of a process stand together, None for theirs, and where a next one begins.

    Processes stand in the order in which they appear, their values in that of the `numbers`, unless one comes twice.
    """
    order, steps = None, np.diff(codes)
    if (steps < 0).any() or (np.diff(numbers) < 0).any():
        _, first, number = np.unique(codes, return_index=True, return_inverse=True)
        order = np.lexsort((numbers, first[number]))
        steps = np.diff(first[number][order])
        if (np.diff(numbers[order])[steps == 0] == 0).any():
            order = np.argsort(first[number], kind="stable")
    return order, (np.flatnonzero(steps) + 1).tolist()


def _each(blocks: Whole | None, rows: Whole, starts: list[int] | None) -> tuple[int, ...] | None:
    """Give the block of each row, or of each process; None where it changes within one."""
    if blocks is None:
        return None
    found = blocks[rows]
    if starts is None or not starts:
        return tuple(found.tolist())
    firsts = found[starts]
    if (np.repeat(firsts, np.diff([*starts, len(found)])) != found).any():
        return None
    return tuple(firsts.tolist())


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
