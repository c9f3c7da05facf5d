"""Which column of a foreign table is what."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from types import MappingProxyType
from typing import Any

from ..data.number_text import is_numeric
from ..data.opening import Opened
from ..errors import UsageError
from ..pages import number_format as figures
from ..record.manifest import OPTIONS_ASKED
from ..record.run_numbers import Better
from .parsing import (
    FORMATS,
    MISSING,
    NAMES,
    SAY,
    SIZES,
    SUFFIX,
    TIMES,
    all_numbers,
    camel_parted,
    in_base_unit,
    is_failed,
    is_good,
    is_quantity,
    is_unit,
    last_key,
    last_word,
    plain_heading,
)

_TOO, TOTALS, ORDER, SUMMARY = (SAY[of] for of in ("too", "totals", "order", "summary"))
_ONE = SAY["one"]
_UNIT_WORDS = {*TIMES, *SIZES} - {*SAY["other_units"]}
_SHOWN = 8
SAMPLE = 200  # rows that tell whether a column holds numbers
_ALONE = {*TIMES} - {*SAY["clocks"]}  # headings that are a unit and nothing else
_TIMED = (*NAMES["value"], *SAY["timed"])
_SETTING = re.compile(rf"(?:^|[_./])({'|'.join(SAY['settings'])})(?:[_./]|$)")
_RUN = re.compile(rf"(?:(.+)_)?(?:{'|'.join(SAY['numbered'])})_?\d+")
_MOMENT = re.compile(
    r"\d{4}-\d\d?-\d\d?.*|1[5-9]\d{8}(\.\d*|(\d{3}){0,3})|(?!00)\d\d:\d\d:\d\d(\.\d*)?", re.ASCII
)  # a date, a time since 1970, hours
_INDEX = re.compile(r"|index|Unnamed: 0|__index_level_0__")
_NUMBERED = re.compile(r"(.*?)_?(\d{1,4})")  # from 0 or 1 on


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnRoles:
    """The places of each role's columns; none, or None, where there is none.

    `benchmark`, `variant`: The columns whose texts name it. `factors`: Columns that tell rows apart and are part of
    the benchmark's name; those of `of_variant` of the variant's. `values`: Each value column: its place, its metric's
    name, and the unit in its heading ("" for none). `unit`, `metric`, `better`: The columns that say it of each row.
    `ok`: All of them must say that a run is good. `literal`: Roles that a person gave a text instead of a column.
    `stated`: Columns whose role a person gave. `rest`: Columns that are keys only, those of
    `time`, `commit` and `host` among them, or are ignored. `runs`: Value columns that hold the runs of a row, those of each
    metric together. `sides`: Where these are no runs but a variant each, the names of the variants; `beside`: what else
    has a column for each of them, such as an outcome.
    """

    benchmark: tuple[int, ...] = ()
    variant: tuple[int, ...] = ()
    factors: tuple[int, ...] = ()
    of_variant: tuple[int, ...] = ()
    values: tuple[tuple[int, str, str], ...] = ()
    ok: tuple[int, ...] = ()
    session: int | None = None
    block: int | None = None
    process: int | None = None
    iteration: int | None = None
    unit: int | None = None
    metric: int | None = None
    better: int | None = None
    warmup: int | None = None
    time: int | None = None
    commit: int | None = None
    host: int | None = None
    literal: Mapping[str, str] = field(default_factory=dict)
    stated: frozenset[int] = frozenset()
    rest: tuple[int, ...] = ()
    runs: tuple[tuple[int, ...], ...] = ()
    sides: tuple[str, ...] = ()
    beside: Mapping[str, tuple[int, ...]] = field(default_factory=dict)

    @property
    def naming(self) -> tuple[int, ...]:
        """The columns that tell cells apart."""
        single = (self.session, self.unit, self.metric, self.better)
        names = (*self.benchmark, *self.variant, *self.factors, *self.of_variant)
        return (*names, *(place for place in single if place is not None))

    @property
    def places(self) -> tuple[int, ...]:
        """The columns of values."""
        return tuple(place for place, _, _ in self.values)

    @property
    def fates(self) -> tuple[int, ...]:
        """The columns that say what became of a run."""
        return (*self.ok, *(() if self.warmup is None else (self.warmup,)))


def mapped(
    headings: Sequence[str],
    stated: Mapping[str, tuple[int, ...]] = MappingProxyType({}),
    texts: Mapping[str, str] = MappingProxyType({}),
    numeric: Collection[int] = (),
) -> ColumnRoles | None:
    """Map the columns of a long table, those that nobody stated; None where no column holds values.

    Headings are compared without case, blanks and hyphens; a unit may follow a value's heading:
    ``time_ms``, ``walltime (s)``. Summaries are no values (`summaries`). Where no heading is one of a value, columns of
    numbers (`numeric`) are that have a word of one, else the only such column.
    """
    taken = {place for places in stated.values() for place in places}
    free = ["" if k in taken else plain_heading(name) for k, name in enumerate(headings)]
    guessed = {role: () if k is None else (k,) for role, k in _places(free).items()}
    every = {role: stated.get(role, k) for role, k in guessed.items()}
    place: dict[str, Any] = {role: every[role] for role in ("benchmark", "variant", "ok")}
    taken.update(*place.values())
    for role in _ONE:
        place[role] = None if role in texts else next(iter(every[role]), None)
        if place[role] is not None and role not in ("time", "commit", "host"):  # these are keys too
            taken.add(place[role])
    runs = _runs_in(headings, stated.get("runs"), taken, numeric)
    sides, beside = tuple[str, ...](), dict[str, tuple[int, ...]]()
    own = stated.get("variant", ())
    may = own or (place["benchmark"] and not place["variant"])
    if may and not (runs or "value" in stated) and {*own} <= {*numeric}:
        runs, sides, beside = _sides_in(headings, own, taken, numeric)
        place["variant"] = () if sides else place["variant"]
    taken |= {k for places in runs.values() for k in places}

    def judged(places: Iterable[int]) -> list[tuple[int, str, str]]:
        return [(k, headings[k].strip(), _value(headings[k], stated=True) or "") for k in places]

    values = judged(stated.get("value", ()))
    if not ("value" in stated or "runs" in stated):
        summed = summaries(headings)
        bases = {_summary(heading)[0] for heading in summed}
        values = [
            (k, heading.strip(), unit)
            for k, heading in enumerate(headings)
            if k not in taken
            and (unit := _value(heading)) is not None
            and heading not in summed
            and not bases & {"", _base(heading)}  # next to their extremes these are means
        ]
        # the first one is judged where nobody says which: a wall time, not the size of an input
        wall = {*NAMES["value"], *_ALONE}
        values.sort(key=lambda one: (_base(one[1]) not in wall, in_base_unit(one[2])[1] == "B"))
        if not (values or runs or summed or _unclear(headings)):
            left = [k for k in numeric if k not in taken]
            worded = [k for k in left if is_measured(headings[k])]
            named = place["benchmark"] or place["variant"]
            values = judged(worded or (left if len(left) == 1 and named else ()))
    if runs and "value" not in stated:  # beside them a mean is one of theirs
        values = [one for one in values if not _summary(one[1])[1]]
    values[:0] = [(k, name, unit) for (name, unit), places in runs.items() for k in places]
    if not values:
        return None
    used = {*taken - set(stated.get("ignored", ())), *(k for k, _, _ in values)}
    return ColumnRoles(
        **place,
        values=tuple(values),
        factors=stated.get("factor", ()),
        literal=texts,
        stated=frozenset(k for places in stated.values() for k in places),
        rest=tuple(k for k in range(len(headings)) if k not in used),
        runs=tuple(runs.values()),
        sides=sides,
        beside=beside,
    )


def _sides_in(
    headings: Sequence[str], stated: Sequence[int], taken: Collection[int], numeric: Collection[int]
) -> tuple[dict[tuple[str, str], tuple[int, ...]], tuple[str, ...], dict[str, tuple[int, ...]]]:
    """Give columns that hold a variant each, as `_runs_in`, the variants (``old_ms, new_ms``, or those `stated`), and the columns `beside`."""
    free = [k for k in range(len(headings)) if k not in taken]
    # pandas ends the second of two equal headings by .1
    parts = {k: re.sub(r"\.\d+$", "", _base(headings[k])).split("_") for k in (*stated, *free)}
    names = {k: headings[k].strip() for k in stated}
    alike = set.intersection(*({*parts[k]} for k in stated)) if stated else set()
    stems = {frozenset({*parts[k]} - alike): name for k, name in names.items()}
    stems = stems if stated else {frozenset({one}): one for one in SAY["sides"]}
    found: dict[tuple[str, str | None], dict[str, int]] = {}
    for k, words in parts.items():
        stem = next((one for one in stems if one and one <= {*words}), frozenset[str]())
        rest = "_".join(one for one in words if one not in stem)
        unit = _value(headings[k], stated=True) or ""
        of: tuple[str, str | None] = (rest or "value", unit)
        if k in names:
            of = "value", _unit_of(headings, stated, "variants")
        elif stated or k not in numeric or may_be_outcome(rest, ()):
            of = rest, None
        if k in names or stem:
            side = names.get(k) or stems[stem]
            if k != found.setdefault(of, {}).setdefault(side, k):
                return {}, (), {}
    wide = {of: sides for of, sides in found.items() if len(sides) > 1}
    every = {tuple(sides) for (_, unit), sides in wide.items() if unit is not None}
    inside = {k for sides in wide.values() for k in sides.values()}
    if len(every) != 1 or any(_value(headings[k]) is not None for k in {*free} - inside):
        return {}, (), {}
    (sides,) = every
    whole = {of: tuple(own[one] for one in sides) for of, own in wide.items() if {*own} == {*sides}}
    values = {(name, unit): own for (name, unit), own in whole.items() if unit is not None}
    beside = {name: own for (name, unit), own in whole.items() if unit is None and name}
    return values, sides, beside


def _runs_in(
    headings: Sequence[str],
    stated: tuple[int, ...] | None,
    taken: Collection[int],
    numeric: Collection[int],
) -> dict[tuple[str, str], tuple[int, ...]]:
    """Give the columns that hold the runs of a row by the metric and its unit: ``iter0, iter1``, ``Run 1 (ms)``."""
    if stated is not None:
        return {("value", _unit_of(headings, stated, "runs")): stated}
    found: dict[tuple[str, str], tuple[int, ...]] = {}
    numbered: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for k, heading in enumerate(headings):
        base, unit = _base(heading), _value(heading, stated=True) or ""
        if k in taken:
            continue
        if (match := _RUN.fullmatch(base)) is not None:
            of = match[1] or "value", unit
            found[of] = (*found.get(of, ()), k)
        elif (match := _NUMBERED.fullmatch(base)) is not None:
            within = _value(match[1]) or ""  # time_ms_1
            if within or match[1] in SAY["runs"] or not match[1]:
                of = _base(match[1]), within or unit
                numbered.setdefault(of, []).append((int(match[2]), k))
    # in a table of nothing else a column may be a benchmark
    if len(numeric) == len(headings) and not any(map(is_setting, headings)):
        return {}
    for (stem, unit), several in numbered.items():  # 1, 2, 4 may be threads
        numbers, places = zip(*several, strict=True)
        whole = sorted(numbers) in ([*range(len(places))], [*range(1, len(places) + 1)])
        if whole and (stem or (taken and {*places} <= {*numeric})):
            found.setdefault((stem if len(stem) > 1 else "value", unit), places)
    wide = {of: places for of, places in found.items() if len(places) > 1}
    return {of: places for of, places in wide.items() if {*numeric} & {*places}}


def _unit_of(headings: Sequence[str], stated: Sequence[int], what: str) -> str:
    units = {_value(headings[k], stated=True) or "" for k in stated}
    if len(units) > 1:
        several = figures.listed(sorted(one or "none" for one in units))
        fix = "write all of them in one unit, and leave out what is none of them"
        raise UsageError(f"{what} have one unit, not {several}", "--columns", fix)
    return units.pop()


def holds_units(heading: str, texts: Sequence[str]) -> bool:
    """Tell whether the cells of a column are units: ``ns``, ``KiB``; ``s`` among others, or by its heading."""
    parts = {text.strip() for text in texts} - {""}
    known = parts <= {*TIMES, *SIZES}
    return known and bool(parts & _UNIT_WORDS or (parts and "unit" in plain_heading(heading)))


def is_measured(heading: str) -> bool:
    """Tell whether a heading has a word of what is measured, and none of what was set."""
    return bool({*SAY["measured"]} & _words(heading)) and last_word(heading) not in SAY["no_values"]


def is_commit(heading: str) -> bool:
    """Tell whether a heading, or a key, is one of a commit."""
    return plain_heading(heading) in NAMES["commit"]


def is_setting(heading: str) -> bool:
    """Tell whether a heading is one of a setting, such as a number of threads."""
    return _SETTING.search(plain_heading(heading)) is not None


def is_role_word(heading: str) -> bool:
    """Tell whether a heading is a word of some role, which another column may have."""
    plain = plain_heading(heading)
    return plain in TOTALS or any(plain in names for names in NAMES.values())


def is_guess(found: ColumnRoles, headings: Sequence[str]) -> bool:
    """Tell whether benchmark, variant or outcome stands under a heading that may mean something else."""
    return any(
        place not in found.stated and plain_heading(headings[place]) not in NAMES[role][:sure]
        for role, sure in (("benchmark", 7), ("variant", 8), ("ok", 99))
        for place in getattr(found, role)
    )


def may_be_outcome(heading: str, texts: Sequence[str]) -> bool:
    """Tell whether a heading may say what became of a run, if the words below it do."""
    plain = last_key(heading)
    if plain in ("timeout", *SAY["messages"]):  # of numbers it is a limit, or a deviation
        return not all_numbers(texts) and any(is_good(heading, text) for text in texts)
    return plain in {*NAMES["ok"], *_TOO} or plain.endswith("_status") or plain.startswith("pass_")


def summaries(headings: Sequence[str]) -> tuple[str, ...]:
    """Give the headings that are summaries of one quantity, such as ``time_min`` next to ``time_mean``.

    A spread next to a value is one too: ``time_stddev`` next to ``time``, ``range`` to ``value``.
    None in a table with a column of runs or iterations: there each run says them of itself.
    """
    plain = [plain_heading(heading) for heading in headings]
    place = _places(plain)
    if place["process"] is not None or place["iteration"] is not None:
        return ()
    found = [(heading, *_summary(heading)) for heading in headings]
    words: dict[str, set[str]] = {}
    for _, base, word in found:
        if word:
            words.setdefault(base, set()).add(word)
    values = {_base(one) for one in headings if _value(one) is not None}
    return tuple(
        heading
        for heading, base, word in found
        if (word and len(words[base]) > 1)
        or (word in SAY["spread"] and (base in values or (not base and values)))
        or (word in SAY["range"] and "value" in plain)
    )


def _unclear(headings: Sequence[str]) -> str | None:
    """Give a heading such as ``time_min``, which may mean minutes or the minimum."""
    ends = tuple(f"{name}_min" for name in NAMES["value"])
    return next((one for one in headings if plain_heading(one) in ends), None)


def is_long(
    opened: Opened, headings: Sequence[str], columns: Sequence[Sequence[str]], *, bare: bool = False
) -> bool:
    """Tell whether the headings name a value, or what looks like one, and what it is of.

    `columns`: The first cells of each column. `bare`: Whether the file can be read as bare numbers: then no table of
    other headings is one.
    """
    stated, rows = stated_roles(opened, headings)
    if stated or rows:
        return True
    numeric, given = _parts_of(headings, columns)
    named, headings = headings, _dated(headings, columns)
    found = mapped(headings, numeric=numeric)
    if found is not None and (found.runs or found.benchmark or found.variant):
        units = any(unit for _, _, unit in found.values)
        only = found.runs and found.benchmark and not (found.rest or found.sides or units)
        return not (bare and only)
    values = {k: unit for k, _, unit in found.values} if found is not None else {}
    rest = (one for k, one in enumerate(headings) if k not in values and not _summary(one)[1])
    known = any(values.values()) or all(is_role_word(one) or is_setting(one) for one in rest)
    laid = "layout" in OPTIONS_ASKED.get()  # who says how numbers lie has a file of numbers
    several = len(headings) > 1 or (numeric and any(values.values()) and not laid)
    if values and several and not given and known:
        return True  # the file is the benchmark
    about = mapped([*headings, "value", "run"])  # with a value and runs it would be a long table
    unclear = bool(summaries(headings)) or _unclear(headings) is not None
    if about and (about.benchmark or about.variant) and unclear:
        return True
    if bare and laid:
        return False
    # a table of pandas has no heading above its numbers of rows
    names = (re.search(r"[^\W\d]", one) and not is_quantity(one) for one in named if one)
    apart = len({*named}) == len(named) and all(names)
    settings = len(numeric) > 1 and not given and is_setting(headings[0])
    texts = given and (not bare or len(values) == 1)
    return _is_grid(named) or bool(numeric and apart and (settings or texts))


def _is_grid(headings: Sequence[str]) -> bool:
    """Tell whether numbers that are none of runs head the columns, such as sizes: ``algorithm, 100, 1000``."""
    first, *rest = headings
    numbers = [int(one) if re.fullmatch("[0-9]{1,9}", one) else -1 for one in rest]
    steps = {after - before for before, after in pairwise(numbers)}
    named = not first or is_role_word(first) or is_setting(first)
    return bool(named and steps and min(*steps, *numbers) > 0 and steps != {1})


def _parts_of(
    headings: Sequence[str], columns: Sequence[Sequence[str]]
) -> tuple[list[int], list[int]]:
    """Give the columns whose first cells are numbers, in any notation, and the others that hold something but outcomes."""
    numeric, texts = [], []
    for k, (heading, cells) in enumerate(zip(headings, columns, strict=False)):
        plain = [one for cell in cells if (one := cell.strip()).lower() not in MISSING]
        odd = [one for one in plain if not is_quantity(one)]
        known = all(is_failed(one) or one.lower() in SUMMARY for one in odd)
        if len(odd) < len(plain) and (
            known or (is_measured(heading) and 2 * len(odd) < len(plain))
        ):
            numeric.append(k)  # an odd word among measured numbers is refused, where it counts
        elif any(map(str.strip, cells)) and not may_be_outcome(heading, cells):
            texts.append(k)
    return numeric, texts


def _dated(headings: Sequence[str], columns: Sequence[Sequence[str]]) -> list[str]:
    """Give "timestamp" in the place of "time" above dates; beside a value also above a clock that goes on, or of days.

    A word of values above nothing but texts is none. Texts below the index of pandas name benchmarks, if nothing else does.
    """
    found = [*headings]
    named = {*map(plain_heading, headings)} & {*NAMES["benchmark"]}
    days = any(plain_heading(heading) in ("date", "day") for heading in headings)
    for k, (heading, column) in enumerate(zip(headings, columns, strict=False)):
        cells = [text for cell in column if (text := cell.strip())]
        if cells and _value(heading) is not None and not any(map(_may_be_value, cells)):
            found[k] = ""
        names = not (named or any(is_quantity(text) or _MOMENT.fullmatch(text) for text in cells))
        if _INDEX.fullmatch(heading) and cells and names:
            found[k] = "benchmark"
        if plain_heading(heading) != "time" or not all(map(_MOMENT.fullmatch, cells)) or not cells:
            continue
        valued = any(_value(of) is not None or is_measured(of) for of in headings if of != heading)
        if "-" in cells[0] or (valued and len(cells) > 1 and cells == sorted({*cells})):
            found[k] = "timestamp"
        elif valued and days:
            found[k] = ""
    return found


def _may_be_value(text: str) -> bool:
    return any(map(str.isdigit, text)) or is_failed(text) or text.lower() in MISSING


def long_mapping(
    opened: Opened, headings: Sequence[str], columns: Sequence[Sequence[str]], *, at: str = ""
) -> ColumnRoles:
    """Find which column is what, by what was stated, the headings and the first cells of each column."""
    stated, rows = stated_roles(opened, headings)
    numeric, given = _parts_of(headings, columns)
    named = _dated(headings, columns)
    found = mapped(named, stated, rows, numeric)
    if found is not None:  # the names of nothing that is measured
        given = sorted({*given} - {found.time, found.commit, found.host, *found.places})
    if found is not None and (found.benchmark or found.variant or stated or not given):
        return found
    if found is None and (summed := summaries(headings)):
        what = f"the table holds summaries only, no runs: {figures.listed(summed, _SHOWN)}"
        col = max(numeric, key=lambda k: (headings[k] == "value", headings[k] in summed), default=0)
        fix = (
            "give a row for each run; if each row is one, number them in a column 'run', or say which column is "
            f"judged: --columns 'value={headings[col]}'"
        )
        raise opened.fail(what, fix, at=at)
    if found is None and (one := _unclear(headings)) is not None:
        what = f"the heading {one!r} may mean minutes or the minimum"
        raise opened.fail(what, f"write {one[:-4] + ' (min)'!r} for minutes", at=at)
    taken = {place for places in stated.values() for place in places}
    grid, about = _is_grid(headings), mapped([*named, "value"])
    free = [k for k in numeric if k not in taken and (headings[k] or grid)]
    called = [*(about.benchmark if about else ()), *given]
    role, wanted, what, called_by = "value", list[int](), "no heading names a value", "benchmark"
    if found is None and free:
        what += f": {_holding(headings, [k for k in free if headings[k]])} numbers"
        apart = {*ORDER, *SAY["derived"]}
        # keys have few values
        varied = [k for k in free if grid or len(set(columns[k])) > 1] or free
        plain = (k for k in varied if headings[k] and not is_setting(headings[k]))
        good = [k for k in plain if not _words(headings[k]) & apart] or free[1:] or free
        called += [k for k in free if k not in good]
        unit = _value(headings[good[0]], stated=True)
        wanted = [k for k in good if _value(headings[k], stated=True) == unit]
        stems = {headings[k].strip().rstrip("0123456789") for k in good}
        own = called if about and called == [*about.variant] and not grid else []
        if len(wanted) > 1 and len(stems) == 1 and not grid:
            role = "run"
        elif own and len({*columns[own[0]]}) < len(columns[own[0]]):
            called_by = "variant"  # a row for each run of it
        elif len(wanted) > 1 and called and not (about and {*about.variant} - {called[0]}):
            role = "variant"
        else:
            total = {k: ("total" in _words(headings[k]), len(set(columns[k]))) for k in good}
            wanted = [max(good, key=total.__getitem__)]
    elif found is not None:
        what = f"no heading names a benchmark or a variant: {_holding(headings, given)} text"
        role, wanted = ("run", [*found.runs[0]]) if found.runs else (role, [*found.places[:1]])
    known = found.stated if found else ()
    name = next((headings[k] or "benchmark" * (not named[k]) for k in called if k not in known), "")
    roles = f"{called_by}={name}, " * bool(name) + f"{role}={'+'.join(headings[k] for k in wanted)}"
    fix = f"say which: --columns '{roles}'" if wanted else "write a row for each value"
    head = f"head the names {name!r}, and " * (bool(wanted) and name not in ("", *headings))
    raise opened.fail(what, head + fix, at=at)


def _holding(headings: Sequence[str], places: Sequence[int]) -> str:
    listed = figures.listed([headings[k] or "''" for k in places], _SHOWN)
    return f"{listed} hold{'s' * (len(places) == 1)}"


def _words(heading: str) -> set[str]:
    return {*plain_heading(heading).split("_")}


_SAME = ("benchmark", "variant", "value", *_ONE, "factor", "ignored")
_ROLES = {one: one for one in _SAME if one != "process"} | {"run": "process", "outcome": "ok"}
_LITERAL = ("unit", "metric", "better", "process")


def _of_tool(headings: Sequence[str]) -> Mapping[str, str]:
    """Give the roles of a tool's own table; none for every other."""
    for table in FORMATS["tables"]:
        known, needed = table.get("ignored", "").split(), {*table["has"].split()}
        own = table.get("only") and {*headings} - {*known, *needed, ""}
        if needed <= {*headings} and not own:
            roles = dict(one.split("=") for one in table["roles"].split(", "))
            taken = {name for text in roles.values() for name in text.split("+")}
            rest = [one for one in headings if one not in taken and one in (known or headings)]
            return roles | ({"ignored": "+".join(rest)} if rest else {})
    return {}


def stated_roles(
    opened: Opened, headings: Sequence[str]
) -> tuple[dict[str, tuple[int, ...]], dict[str, str]]:
    """Give the places of the columns that a person gave a role, and the texts that stand for one.

    `Opened.keys` are names of keys that are no columns in every file: those without a heading are nothing here.
    """
    stated: dict[str, tuple[int, ...]] = {}
    texts: dict[str, str] = {}
    for role, text in (opened.columns or _of_tool(headings)).items():
        name = _ROLES.get(role)
        if name is None:
            what = f"there is no role {role!r} of a column"
            raise UsageError(what, "--columns", f"roles: {', '.join(_ROLES)}")
        parts = [text] if text in headings else text.split("+")
        found = {one: _place(headings, one) for one in parts}
        places = tuple(place for one in parts if (place := found[one]) is not None)
        if name in _LITERAL and (text[:1] == text[-1:] == "'" or found == {text: None}):
            texts[name] = text.strip("'")
        elif len(places) < len(parts):
            name = next(one for one in parts if found[one] is None).strip()
            known = f"columns: {figures.listed(headings, 20)}"
            raise UsageError(f"there is no column {name!r}", opened.source, known)
        elif name in _ONE and len(places) > 1 and name not in ("process", "iteration"):
            raise UsageError(f"one column can be the {role}, not {text!r}", "--columns")
        else:
            several = name in ("process", "iteration") and len(places) > 1
            stated["runs" if several else name] = places
    for role, key in opened.keys.items():
        if role not in stated and (place := _place(headings, key)) is not None:
            stated[role] = (place,)
    given = [place for places in stated.values() for place in places]
    twice = next((headings[place] for place in given if given.count(place) > 1), None)
    if twice is not None:
        raise UsageError(f"the column {twice!r} has two roles", "--columns", "give it one")
    if texts.get("better", "lower") not in SAY["lower"] + SAY["higher"]:
        raise UsageError(f"better is lower or higher, not {texts['better']!r}", "--columns")
    return stated, texts


def _place(headings: Sequence[str], name: str) -> int | None:
    """Find a column by its heading, else by its plain form."""
    for form in (str, str.strip, plain_heading):
        forms = [form(heading) for heading in headings]
        if form(name) in forms:
            return forms.index(form(name))
    return None


def _places(plain: Sequence[str]) -> dict[str, int | None]:
    return {
        role: next((plain.index(name) for name in names if name in plain), None)
        for role, names in NAMES.items()
        if role != "value"
    }


def _base(heading: str) -> str:
    """Give a heading, plain, without its unit; ``min`` may be the minimum, and stays."""
    match = SUFFIX.match(camel_parted(heading))
    if match is not None and (unit := match[2] or match[3]).lower() != "min" and is_unit(unit):
        return plain_heading(match[1])
    return plain_heading(re.sub(r"[()\[\]]", " ", heading))


def _summary(heading: str) -> tuple[str, str]:
    """Part a heading from the word of a summary in it, first or last; "" for none."""
    base = _base(heading)
    if base in SAY["range"]:
        return "", base
    words = base.replace("std_dev", "stddev").split("_")
    for place in (-1, 0):
        if words[place] in SAY["summary"]:
            word = words.pop(place)
            return "_".join(words), word
    return base, ""


def _value(heading: str, *, stated: bool = False) -> str | None:
    """Give the unit in the heading of a value column, "" for none; None for another column."""
    plain = plain_heading(heading)
    if plain in NAMES["value"]:
        return "s" if plain == "seconds" else ""
    if plain.partition("/")[0] in _ALONE:  # us/op: a time of one operation
        return plain.partition("/")[0]
    match = SUFFIX.match(camel_parted(heading))
    if match is None:
        return None
    base, unit = plain_heading(match[1]), match[2] or match[3]
    *_, before, last = ("", *base.split("_"))
    if last in SAY["no_values"] and not stated:
        return None
    if last == "per" and (before in _ALONE or is_unit(unit)):
        each = re.split(r"[ _\-]", match[1])[-2:][0]
        each = each if is_unit(each) else base.removesuffix("per").rstrip("_")
        return before if before in _ALONE else f"{each}/{unit}"
    if match[2]:
        if (each := unit.partition("/")[0]) in TIMES:
            return each
        if is_unit(unit):
            return unit
        plain = "" if unit.lower() in SAY["summary"] else unit
        return plain if base in NAMES["value"] else None
    if not is_unit(unit) or unit.lower() == "min" or is_numeric(base):  # 1.5 ms is a value
        return None
    if unit in SAY["short"] and last not in (SAY["sized"] if unit == "B" else _TIMED):
        return None
    return unit


def direction_in(headings: Sequence[str], found: ColumnRoles, text: str) -> Better | None:
    """Give the direction that a row's own column says; None where it says none."""
    text = found.literal.get("better", text)
    if found.better is None and "better" not in found.literal:
        return None
    plain = re.sub(r"[_ \-]?(is)?[_ \-]?better$", "", text.strip().lower())
    if plain in SAY["lower"] or plain in SAY["higher"]:
        return "lower" if plain in SAY["lower"] else "higher"
    heading = "" if found.better is None else headings[found.better].strip().lower()
    true, false = plain in ("true", "1", "yes"), plain in ("false", "0", "no")
    # of a direction, neither yes nor no says which
    if not heading.endswith("better") or heading == "better" or not (true or false):
        return None
    return "lower" if true == heading.startswith("lower") else "higher"
