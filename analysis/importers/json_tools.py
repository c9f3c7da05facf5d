"""JSON of other tools, read by rows: where a benchmark stands, and where its name and its values are from there.

Everything of a row is a path (`analysis.record.json_paths`) relative to the benchmark, or a small function of its
place where no path can say it. What a path leads to keeps its place: a mistake is named as ``results[3].times[7]``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, cast

from ..errors import AnalysisError
from ..pages import number_format as figures
from ..pages.model import Caution, cautions_of
from ..record.json_paths import JsonPathError, Place, Text as Literally, parse_path, places, root
from .parsing import (
    ForeignCell,
    ForeignFile,
    count_of,
    in_base_unit,
    objects_in,
    one_process,
    text_of,
    texts_of,
    within,
)

if TYPE_CHECKING:
    from ..data.opening import Opened
    from ..record.run_numbers import Better

Asked = str | Callable[[Place], Any] | None
Processes = tuple[tuple[float, ...], ...]
Reader = Callable[["Opened", Place, float], "Processes | Mapping[str, tuple[float, ...]]"]
Text = str | bool | Callable[["Read"], str | bool]


_LOST = {
    "no-sessions": "all values of the file stem from one occasion",
    "warm-ups-unknown": "whether there were warm-ups is not in the file",
    "failed-unknown": "what failed is not in the file",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Take:
    """One metric of a benchmark.

    `value`: Where its values are; None for the benchmark itself. `names`: The metrics' names, where the file names
    them itself: ``{}`` in the other paths stands for each. `known`: Of such names ours, the unit and the direction.
    `runs`: Whether all values stem from ``one`` process, ``each`` from its own, or those of each list from one.
    `read`: Makes the processes, perhaps with their names, of what stands at `value`. `needed`: Whether a benchmark
    without it is refused. `zeros`: Whether one with nothing but zeros has it. `lone`: Whether one number may stand where a list does.
    """

    value: str | None
    metric: Asked = "'time'"
    unit: Asked = "'s'"
    better: Asked = "'lower'"
    names: Asked = None
    known: Mapping[str, tuple[str | None, str | None, Better | None]] = field(default_factory=dict)
    runs: Literal["one", "each", "lists"] = "one"
    read: Reader | None = None
    needed: bool = True
    zeros: bool = True
    lone: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonTool:
    """A tool's JSON.

    `name`: For ``--format``; several rows may share one. `said`: How a sentence calls such a file. `knows`: Whether
    the parsed file is of this tool. `mentions`: Keys by which a file that is cut off is known, any of these. `each`:
    The benchmarks. `join`: What entries share that are runs of one benchmark. `unwrap`: Gives what the paths begin
    from. `keys`: Paths of what tells a benchmark apart, ``label=path`` where it has another name, ``label=`` of
    its own name; of an object all plain values. `fails`: Whether a benchmark failed, or which of its values did; None where that is not known. `skips`:
    Whether it was not measured at all. `stem`: Whether a benchmark without a name is called as the file.
    `nothing`, `empty`: What a file without benchmarks, and one without values, is told, with `fix` and `kept`, the
    remedies; `unnamed` is that of a benchmark without a name. `summary`: By what other outputs of the tool are known
    that hold no runs, and what is said of them. `losses`, `notes`: A text, or what makes it, by its code. `lost`: Codes of
    losses that have the same text for every tool.
    """

    name: str
    said: str
    knows: Callable[[Any], bool]
    each: str | Callable[[Place], list[Place]]
    takes: tuple[Take, ...]
    benchmark: Asked
    mentions: tuple[tuple[str, ...], ...] = ()
    variant: Asked = None
    keys: tuple[str | Callable[[Place], Mapping[str, Any]], ...] = ()
    session: Asked = None
    inner: Asked = None
    warmups: Asked = None
    fails: Asked = None
    skips: Callable[[Place], bool] | None = None
    definition: Asked = None
    join: Callable[[Place], object] | None = None
    unwrap: Callable[[Opened], Any] | None = None
    stem: bool = False
    entry: type = dict
    thing: str = "a benchmark"
    nothing: str | Callable[[Place], str] = "there is no benchmark in the file"
    fix: str = "is the file damaged?"
    empty: str = "no benchmark has a value"
    kept: tuple[str, str] = ("the benchmark has no values", "is the file damaged?")
    unnamed: str = "is the file damaged?"
    summary: tuple[re.Pattern[str], str] | None = None
    begins: re.Pattern[str] | None = None
    losses: Mapping[str, Text] = field(default_factory=dict)
    lost: str = ""
    notes: Callable[[Read], Iterable[Caution]] | None = None
    facts: Mapping[str, Asked] = field(default_factory=dict)
    rule: str | Callable[[Sequence[ForeignCell]], str] = "the file's name"

    def knows_file(self, opened: Opened) -> bool:
        """Tell by the keys, or by the headings of an output without runs."""
        data = opened.structure()
        if data is not None:
            return self.knows(data)
        known = [self.begins, self.summary[0] if self.summary else None]
        if any(one is not None and one.search(opened.head()) for one in known):
            return True
        return any(opened.mentions(*keys) for keys in self.mentions)


@dataclass(slots=True)
class Read:
    """What is known when all cells are made: the whole, the benchmarks that were measured, and their cells."""

    opened: Opened
    whole: Place
    groups: list[list[Place]]
    cells: list[ForeignCell] = field(default_factory=list)
    left: list[Caution] = field(default_factory=list)

    @property
    def inner(self) -> str:
        """Of how many iterations values are means: from the fewest to the most."""
        return figures.span([one for cell in self.cells if (one := cell.inner)] or [1])


def asked(place: Place, what: Asked) -> Any:  # noqa: ANN401 - any JSON
    """Give what stands at a path, a list where it leads to several places, or what a function gives; or None."""
    if what is None or callable(what):
        return what and what(place)
    keys, value = _keys_of(what), place.value
    if keys is not None and type(value) is dict:  # most are, and this is ten times faster
        for one in keys:
            if isinstance(one, Literally):
                return one.text
            if value.get(one) is not None:
                return value[one]
        return None
    try:
        found = [one.value for one in places(place, what)]
    except JsonPathError:
        return None
    return found[0] if len(found) == 1 else found or None


@lru_cache(1024)
def _keys_of(path: str) -> tuple[str | Literally, ...] | None:
    """Give the alternatives of a path where each is a key or a literal."""
    found = [
        one if isinstance(one, Literally) or len(one) > 1 else one[0] for one in parse_path(path)
    ]
    known = tuple(one for one in found if isinstance(one, (str, Literally)))
    return known if len(known) == len(found) else None


def entries_with(at: str | None, *keys: str) -> Callable[[Any], bool]:
    """Tell a file by a list, of the whole or at a key, with an object in it that has all of these keys."""

    def knows(data: Any) -> bool:  # noqa: ANN401 - any JSON
        found = objects_in(data if at is None else within(data, at))
        return any(all(within(one, *key.split(".")) is not None for key in keys) for one in found)

    return knows


def from_one_process(what: str) -> Callable[[Read], str]:
    """Make the loss ``one-process`` of a row; ``{}`` stands for how many iterations values are means of."""
    return lambda read: one_process(what.format(read.inner))


def read_json(tool: JsonTool, opened: Opened) -> ForeignFile:
    """Read a file by its row.

    Raises AnalysisError where a part of it is damaged, or it holds no values, with place and remedy.
    """
    if tool.summary is not None and opened.structure() is None:
        opened.require(
            tool.summary[0].search(opened.head()) is None, tool.summary[1], tool.kept[1], at=""
        )
    whole = root(tool.unwrap(opened) if tool.unwrap else opened.json())
    try:
        listed = places(whole, tool.each) if isinstance(tool.each, str) else tool.each(whole)
        why = ""
    except JsonPathError as error:
        listed, why = [], f": {error}"
    if not listed:
        what = tool.nothing(whole) if callable(tool.nothing) else tool.nothing
        raise opened.fail(what + why, tool.fix)
    groups: dict[object, list[Place]] = {}
    for place in listed:
        if tool.skips is not None and tool.skips(place):
            continue
        opened.require(
            isinstance(place.value, tool.entry), f"{tool.thing} is not an object", at=place.where
        )
        key = place.where if tool.join is None else tool.join(place)
        groups.setdefault(key, []).append(place)
    read = Read(opened, whole, list(groups.values()))
    for group in read.groups:
        read.cells += _cells(tool, read, group)
    if not any(cell.values or cell.failed for cell in read.cells):
        raise opened.fail(tool.empty, tool.kept[1])
    facts = {name: asked(whole, path) for name, path in tool.facts.items()}
    told = {code: text(read) if callable(text) else text for code, text in tool.losses.items()}
    told |= {code: _LOST[code] for code in tool.lost.split()}
    return ForeignFile(
        cells=tuple(read.cells),
        losses=cautions_of(told),
        notes=(*read.left, *(tool.notes(read) if tool.notes else ())),
        variant_rule=tool.rule(read.cells) if callable(tool.rule) else tool.rule,
        facts={name: text for name, text in facts.items() if isinstance(text, str)},
    )


@dataclass(slots=True)
class _Bench:
    """One benchmark: its entries that did not fail, each with which of its values did, and what its cells share."""

    opened: Opened
    first: Place
    name: str
    kept: tuple[str, str]
    good: list[tuple[Place, Any]]
    shared: dict[str, Any]

    def cell(self, take: Take, named: str | None) -> ForeignCell | None:
        """Make the cell of a metric; None where it is not needed and there is nothing."""
        found = _processes(self.opened, take, self.good, named)
        values = found.values() if isinstance(found, Mapping) else found
        failed = bool(self.good and self.shared["failed"])
        if not any(values) and not failed and (self.good or not take.needed):
            if take.needed:
                raise self.without()
            return None
        if not take.zeros and not any(map(any, values)):
            return None
        place = self.good[0][0] if self.good else self.first
        metric, unit, better = take.known.get(named or "", (named, None, None))
        if named is None:
            metric, better = text_of(asked(place, take.metric)), asked(place, take.better)
        units = _asked_all(place, _filled(take.unit, named))
        return ForeignCell(
            metric=metric or named or "value",
            unit=base_of(text_of(units[0]) or "" if units else "")[1] if unit is None else unit,
            better=better,
            processes=tuple(values),
            labels=tuple(found) if isinstance(found, Mapping) else None,
            **self.shared,
        )

    def without(self, why: str = "") -> AnalysisError:
        """Make the error of a benchmark without a metric that it needs; `why` may name one place of several."""
        if re.search(re.escape(self.first.where) + r"\S*\[\S* (?:has no|is not)", why):
            return self.opened.fail(why)
        what = self.kept[0].format(self.name[:80])
        return self.opened.fail(what, self.kept[1], at=self.first.where)


def _bench(tool: JsonTool, opened: Opened, group: list[Place]) -> _Bench:
    first = group[0]
    name = asked(first, tool.benchmark) or (opened.stem if tool.stem else None)
    variant = text_of(asked(first, tool.variant))
    if not isinstance(name, str) or "" in (name, variant):
        raise opened.fail(f"{tool.thing} has no name", tool.unnamed, at=first.where)
    fails = [asked(place, tool.fails) for place in group]
    inner = [count for place in group for count in _counts(asked(place, tool.inner))]
    shared = {
        "benchmark": name,
        "variant": variant,
        "known": True,
        "inner": max(inner, default=None),
        "warmups": count_of(asked(first, tool.warmups)),
        "failed": None if fails == [None] * len(fails) else sum(map(_count, fails)),
        "session": text_of(asked(first, tool.session)),
        "keys": _keys(tool, first, name),
        "definition": asked(first, tool.definition) or "",
    }
    good = [(place, fail) for place, fail in zip(group, fails, strict=True) if fail is not True]
    return _Bench(opened, first, name, tool.kept, good, shared)


def _cells(tool: JsonTool, read: Read, group: list[Place]) -> Iterator[ForeignCell]:
    """Give a cell for each metric; one that is not needed, and cannot be read, is left out with a caution."""
    bench = _bench(tool, read.opened, group)
    for take in tool.takes:
        for named in [None] if take.names is None else _names(take, bench.good):
            try:
                cell = bench.cell(take, named)
            except JsonPathError as error:
                if take.needed:
                    raise bench.without(str(error)) from None
                why = "not every run has it" if named is not None else ""
            except AnalysisError as error:
                if take.needed:
                    raise
                why = error.what
            else:
                if cell is not None:
                    yield cell
                continue
            if why:
                of = bench.shared["variant"] or bench.name
                text = f"{named or asked(bench.first, take.metric)!r} of {of!r} is left out: {why}"
                read.left.append(Caution("left-out", text))


def _keys(tool: JsonTool, place: Place, name: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for one in tool.keys:
        if callable(one):
            found |= texts_of(one(place))
            continue
        label, named, path = one.rpartition("=")
        value = asked(place, path) if path else name
        found |= texts_of(
            value if isinstance(value, dict) and not named else {label or path: value}
        )
    return found


def _names(take: Take, good: list[tuple[Place, Any]]) -> list[str]:
    found = (name for place, _ in good for name in _asked_all(place, take.names))
    return list(dict.fromkeys(str(name) for name in found))


def _asked_all(place: Place, what: Asked) -> list[Any]:
    found = asked(place, what)
    return found if isinstance(found, list) else [] if found is None else [found]


def _filled(what: Asked, name: str | None) -> Asked:
    return (
        what.replace("{}", json.dumps(name)) if name is not None and isinstance(what, str) else what
    )


def _count(fails: Any) -> int:  # noqa: ANN401 - a truth, or several
    return sum(fails) if isinstance(fails, list) else int(fails or 0)


@lru_cache(256)
def base_of(unit: str) -> tuple[float, str]:
    """Give the factor and the unit as `in_base_unit`; a time or a size an operation is one of each."""
    per = next((end for end in ("/op", "/iter") if unit.endswith(end)), "")
    factor, base = in_base_unit(unit.removesuffix(per))
    if per and base not in ("s", "B"):
        return 1.0, unit
    return factor, base + "/op" * (per != "" and base == "B")


def _processes(
    opened: Opened, take: Take, good: list[tuple[Place, Any]], named: str | None
) -> Processes | dict[str, tuple[float, ...]]:
    found: list[tuple[float, ...]] = []
    for place, fails in good:
        path, unit = _filled(take.value, named), _filled(take.unit, named)
        stands = [place] if path is None else places(place, cast("str", path))
        units = [base_of(text_of(one) or "")[0] for one in _asked_all(place, unit)] or [1.0]
        if take.read is not None:
            made = take.read(opened, stands[0], units[0])
            if isinstance(made, Mapping):
                return dict(made)
            found += made
            continue
        listed = take.lone or path is None or "[*]" in str(path)
        if not listed and not isinstance(stands[0].value, list):
            raise JsonPathError(f"{stands[0].where} is not a list")
        if len(units) != len(stands):
            units = [units[0]] * len(stands)
        if isinstance(fails, list):
            raws = [
                (raw, f"{one.where}[{k}]" if isinstance(one.value, list) else one.where, factor)
                for one, factor in zip(stands, units, strict=True)
                for k, raw in enumerate(one.value if isinstance(one.value, list) else [one.value])
            ]
            what = f"there are {len(raws)} values of {len(fails)} runs"
            opened.require(len(raws) == len(fails), what, at=place.where)
            found.append(
                tuple(
                    opened.value(raw, where, factor=factor)
                    for (raw, where, factor), bad in zip(raws, fails, strict=True)
                    if not bad
                )
            )
        else:
            found += (
                opened.values(one.value, one.where, factor=factor)
                if isinstance(one.value, list)
                else (opened.value(one.value, one.where, factor=factor),)
                for one, factor in zip(stands, units, strict=True)
            )
    if take.runs == "lists":
        return tuple(one for one in found if one)
    values = tuple(value for one in found for value in one)
    return tuple((value,) for value in values) if take.runs == "each" else (values,) * bool(values)


def _counts(found: Any) -> Iterator[int]:  # noqa: ANN401 - any JSON
    for one in found if isinstance(found, list) else [found]:
        if (count := count_of(one)) is not None:
            yield count
