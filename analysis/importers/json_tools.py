"""JSON of other tools, read by rows: where a benchmark stands, and where its name and its values are from there.

Everything of a row is a path (`analysis.record.json_paths`) relative to the benchmark, or a small function of its
place where no path can say it: what such a function does not find is None. What a path leads to keeps its place: a
mistake is named as ``results[3].times[7]``.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import lru_cache
from itertools import islice
from typing import Any, Literal, cast

from ..data.opening import Opened
from ..errors import AnalysisError
from ..pages import number_format as figures
from ..pages.model import Caution, cautions_of
from ..record.json_paths import (
    JsonPathError,
    Place,
    Sign,
    Steps,
    Text as Literally,
    parse_path,
    places,
    root,
)
from .parsing import ForeignCell, ForeignFile, base_of, count_of, losses_of, text_of, texts_of

JsonPath = str | int | Callable[[Place], Any] | None
Processes = tuple[tuple[float, ...], ...]
Reader = Callable[[Opened, Place, float], Processes | Mapping[str, tuple[float, ...]]]

STRANGE = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError)
_LOOKED_AT = 1000  # entries of a list, which may be a long table


@dataclass(frozen=True, slots=True)
class Take:
    """One metric of a benchmark.

    `value`: Where its values are, a number or a list; None for the benchmark itself. `metric`: Its name; a function may
    give the direction with it, and the unit between them. `names`: The metrics' names, where
    the file names them itself: ``{}`` in the other paths stands for each; `but` those that are none. `known`: Of such names ours, the unit and the
    direction. `runs`: Whether all values stem from ``one`` process, ``each`` from its own, or those of each list from
    one. `read`: Makes the processes, perhaps with their names, of what stands at `value`. `needed`: Whether a benchmark
    without it is refused. `zeros`: Whether one with nothing but zeros has it.
    """

    value: str | None = None
    metric: JsonPath = "'time'"
    unit: JsonPath = "'s'"
    better: JsonPath = "'lower'"
    _: KW_ONLY
    names: JsonPath = None
    but: str = ""
    known: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    runs: Literal["one", "each", "lists"] = "one"
    read: Reader | None = None
    needed: bool = True
    zeros: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonTool:
    """A tool's JSON.

    `name`: For ``--format``; several rows may share one. `kind`: How a sentence calls such a file. `knows`: Paths that
    lead somewhere in a file of this tool, one of these, all parts of it (``a & b``). `summary`, `begins`: How outputs
    begin that hold no runs, and JSON behind other text. `unwrap`: Gives what the paths begin from. `each`: The
    benchmarks. `keeps`: How values get into the file. `join`: What entries share that are runs of one benchmark.
    `keys`: Paths, with blanks between them, of what tells a benchmark apart, ``label=path`` where it has another
    name, ``label=`` of its own name; of an object all plain values. `definition`: As `keys`, how it is measured. `fails`: Whether a benchmark failed, how often,
    or which of its values did; None where that is not known. `skips`: Whether it was not measured at all. `stem`:
    Whether a benchmark without a name is called as the file. `losses`, `notes`: A text, or what makes it, by its
    code. `lost`: Codes of losses that have the same text for every tool.
    """

    name: str
    kind: str
    knows: tuple[str, ...]
    each: str | Callable[[Place], list[Place]]
    takes: tuple[Take, ...]
    benchmark: JsonPath
    keeps: str = "is the file damaged?"
    summary: re.Pattern[str] | None = None
    begins: re.Pattern[str] | None = None
    unwrap: Callable[[Opened, str], Any] | None = None
    variant: JsonPath = None
    rule: str | Callable[[Sequence[ForeignCell]], str] = "the file's name"
    stem: bool = False
    lists: bool = False
    join: JsonPath = None
    skips: JsonPath = None
    fails: JsonPath = None
    inner: JsonPath = None
    warmups: JsonPath = None
    session: JsonPath = None
    keys: tuple[str | Callable[[Place], Any], ...] = ()
    definition: tuple[str | Callable[[Place], Any], ...] = ()
    losses: dict[str, str | Callable[[Read], str | bool]] = field(default_factory=dict)
    when: Mapping[str, Callable[[Read], bool]] = field(default_factory=dict)
    lost: str = ""
    notes: Callable[[Read], Iterable[Caution]] | None = None
    facts: Mapping[str, JsonPath] = field(default_factory=dict)

    def knows_file(self, opened: Opened) -> bool:
        """Tell by the keys, or by how an output begins that is no JSON."""
        data = opened.structure()
        if data is None:
            known = [one for one in (self.begins, self.summary) if one is not None]
            return any(one.search(opened.head()) for one in known)
        return any(
            all(_leads(data, parse_path(part)[0]) for part in one.split(" & "))
            for one in self.knows
        )


def rows_in(text: str, functions: Mapping[str, Any]) -> tuple[JsonTool, ...]:
    """Read the rows of a TOML text, with functions in the place of their names."""

    def resolved(value: Any) -> Any:  # noqa: ANN401 - TOML
        if isinstance(value, dict):
            return {key: resolved(one) for key, one in value.items()}
        if isinstance(value, list):
            return tuple(map(resolved, value))
        if isinstance(value, str) and value.endswith("()"):
            return functions[value[:-2]]
        return None if value == "" else value

    tables = tomllib.loads(text)
    rows = []
    for name, own in tables.items():
        tables[name] = {"name": name, **tables.get(own.pop("like", None), {}), **own}
        about = resolved(tables[name])
        about["takes"] = tuple(Take(**one) for one in about["takes"])
        about |= {key: re.compile(about[key]) for key in ("summary", "begins") if about.get(key)}
        rows.append(JsonTool(**about))
    return tuple(rows)


@dataclass(slots=True)
class Read:
    """What is known when all cells are made: the whole, the benchmarks that were measured, and their cells."""

    tool: JsonTool
    opened: Opened
    whole: Place
    groups: list[list[Place]]
    cells: list[ForeignCell] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)  # of iterations that values are means of
    left: list[Caution] = field(default_factory=list)

    @property
    def inner(self) -> str:
        """Of how many iterations values are means, from the fewest to the most; "" where each is of one."""
        return figures.span(self.counts) if max(self.counts, default=1) > 1 else ""


def _leads(data: Any, steps: Steps) -> bool:  # noqa: ANN401 - any JSON
    """Tell whether a path leads somewhere, by any entry of each ``[*]``."""
    if not steps:
        return True
    step, *rest = steps
    if step is Sign.ALL:
        inner = data.values() if isinstance(data, dict) else data if isinstance(data, list) else ()
        return any(_leads(one, tuple(rest)) for one in islice(inner, _LOOKED_AT))
    if isinstance(step, str):
        return isinstance(data, dict) and step in data and _leads(data[step], tuple(rest))
    there = isinstance(data, list) and isinstance(step, int) and step < len(data)
    return there and _leads(data[step], tuple(rest))


def fetch(place: Place, what: JsonPath) -> Any:  # noqa: ANN401 - any JSON
    """Give what stands at a path, a list where it leads to several places, or what a function gives; or None."""
    try:
        if not isinstance(what, str):
            return what(place) if callable(what) else what
        keys, value = _keys_of(what), place.value
        if keys is not None and type(value) is dict:  # most are, and this is ten times faster
            for one in keys:
                if isinstance(one, Literally):
                    return one.text
                if value.get(one) is not None:
                    return value[one]
            return None
        found = [one.value for one in places(place, what)]
    except STRANGE:
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


def read_json(tool: JsonTool, opened: Opened) -> ForeignFile:
    """Read a file by its row.

    Raises AnalysisError where a part of it is damaged, or it holds no values, with place and remedy.
    """
    if tool.summary is not None and opened.structure() is None:
        what = f"this output of {tool.name} holds summaries only, no runs"
        opened.require(tool.summary.search(opened.head()) is None, what, tool.keeps, at="")
    whole = root(tool.unwrap(opened, tool.keeps) if tool.unwrap else opened.json())
    listed, why = [], ""
    try:
        listed = places(whole, tool.each) if isinstance(tool.each, str) else tool.each(whole)
    except JsonPathError as error:
        why = f": {error}"
    opened.require(listed != [], f"there is no benchmark in the file{why}", tool.keeps, at="")
    groups: dict[object, list[Place]] = {}
    for place in listed:
        if not fetch(place, tool.skips):
            good = isinstance(place.value, list if tool.lists else dict)
            opened.require(good, "a benchmark is not an object", at=place.where)
            groups.setdefault(fetch(place, tool.join) or place.where, []).append(place)
    read = Read(tool, opened, whole, list(groups.values()))
    for group in read.groups:
        read.cells += _cells(tool, read, group)
    some = any(cell.values or cell.failed for cell in read.cells)
    opened.require(some, "no benchmark has a value", tool.keeps, at="")
    facts = {name: fetch(whole, path) for name, path in tool.facts.items()}
    inner = read.inner
    means = f"means of {inner} iterations, " if inner else ""
    every = {one.code: one.text for one in losses_of("json", texts={"means": means})}
    lost: dict[str, str] = {}
    for code, text in ({code: every[code] for code in tool.lost.split()} | tool.losses).items():
        holds = code not in tool.when or tool.when[code](read)
        said = text(read) if callable(text) else holds and text
        if isinstance(said, str) and (inner or "{inner}" not in said):
            lost[code] = said.replace("{inner}", inner)
    return ForeignFile(
        cells=tuple(read.cells),
        losses=cautions_of(lost),
        notes=(*read.left, *(tool.notes(read) if tool.notes else ())),
        variant_rule=tool.rule(read.cells) if callable(tool.rule) else tool.rule,
        facts={name: text for name, text in facts.items() if isinstance(text, str)},
    )


def _cells(tool: JsonTool, read: Read, group: list[Place]) -> Iterator[ForeignCell]:
    """Give a cell for each metric; one that is not needed, and cannot be read, is left out with a caution."""
    first, shared = group[0], _shared(tool, read.opened, group)
    good = [one for one in group if fetch(one, tool.fails) is not True]
    counts = (count_of(n) for place in group for n in _listed(fetch(place, tool.inner)))
    name, inner = shared["benchmark"], max(filter(None, counts), default=0)
    for take in tool.takes:
        names = [str(one) for place in good for one in _listed(fetch(place, take.names))]
        rest = dict.fromkeys(name for name in names if name not in take.but.split())
        for named in [None] if take.names is None else rest:
            without, why = "", ""
            found: Processes | dict[str, tuple[float, ...]] = ()
            try:
                found = _processes(read.opened, tool, take, good, named)
            except JsonPathError as error:
                without, why = str(error), "not every run has it" if named is not None else ""
            except AnalysisError as error:
                if take.needed:
                    raise
                without, why = error.what, error.what
            values = found.values() if isinstance(found, Mapping) else found
            if not (any(values) or (not without and (shared["failed"] or not good))):
                if take.needed:  # one of several values is damaged, or there are none at all
                    one = re.search(re.escape(first.where) + r"\S*\[\S* (?:has no|is not)", without)
                    what = without if one else f"the values of {name[:80]!r} were not kept"
                    raise read.opened.fail(what, tool.keeps, at="" if one else first.where)
                if why:
                    metric, of = named or fetch(first, take.metric), shared["variant"] or name
                    text = f"{metric!r} of {of!r} is left out: {why}"
                    read.left.append(Caution("left-out", text))
            elif (good or take.needed) and (take.zeros or any(map(any, values))):
                read.counts += [inner] * (inner > 0)
                yield ForeignCell(
                    **_meaning(take, (good or group)[0], named),
                    processes=tuple(values),
                    labels=tuple(found) if isinstance(found, Mapping) else None,
                    **shared,
                )


def _shared(tool: JsonTool, opened: Opened, group: list[Place]) -> dict[str, Any]:
    first = group[0]
    name = fetch(first, tool.benchmark) or (opened.stem if tool.stem else None)
    variant = fetch(first, tool.variant)
    if not (isinstance(name, str) and isinstance(variant, (str, type(None))) and variant != ""):
        raise opened.fail("a benchmark has no name", f"give it one; {tool.keeps}", at=first.where)
    known = [fails for place in group if (fails := fetch(place, tool.fails)) is not None]
    return {
        "benchmark": name,
        "variant": variant,
        "known": True,
        "warmups": count_of(fetch(first, tool.warmups)),
        "failed": None if not known else sum(sum(_listed(one)) for one in known),
        "session": text_of(fetch(first, tool.session)),
        "keys": _keys(tool.keys, first, name),
        "definition": ", ".join(f"{k}={v}" for k, v in _keys(tool.definition, first).items() if v),
    }


def _meaning(take: Take, place: Place, named: str | None) -> dict[str, Any]:
    own = take.known.get(named or "", {})
    metric, unit, better = own.get("metric", named), own.get("unit"), own.get("better")
    if named is None:
        found = fetch(place, take.metric)
        metric, *rest = found if isinstance(found, tuple) else (found, fetch(place, take.better))
        metric, better, unit = text_of(metric), rest[-1] or None, rest[0] if len(rest) > 1 else None
    if unit is None:
        units = _listed(fetch(place, _filled(take.unit, named)))
        unit = base_of(text_of(units[0]) or "" if units else "")[1]
    return {"metric": metric or named or "value", "unit": unit, "better": better}


def _keys(
    every: tuple[str | Callable[[Place], Any], ...], place: Place, name: str = ""
) -> dict[str, str]:
    found: dict[str, str] = {}
    for one in every:
        if callable(one):
            found |= texts_of(fetch(place, one))
            continue
        for label, named, path in (word.rpartition("=") for word in one.split()):
            value = fetch(place, path) if path else name
            whole = isinstance(value, dict) and not named
            found |= texts_of(value if whole else {label or path: value})
    return found


def _listed(found: Any) -> list[Any]:  # noqa: ANN401 - any JSON
    return found if isinstance(found, list) else [] if found is None else [found]


def _filled(what: JsonPath, name: str | None) -> JsonPath:
    if name is None or not isinstance(what, str):
        return what
    return what.replace("{}", json.dumps(name))


def _processes(
    opened: Opened, tool: JsonTool, take: Take, good: list[Place], named: str | None
) -> Processes | dict[str, tuple[float, ...]]:
    found: list[tuple[float, ...]] = []
    for place in good:
        fails = fetch(place, tool.fails)
        path, unit = _filled(take.value, named), _filled(take.unit, named)
        stands = [place] if path is None else places(place, cast("str", path))
        units = [base_of(text_of(one) or "")[0] for one in _listed(fetch(place, unit))] or [1.0]
        if take.read is not None:
            made = take.read(opened, stands[0], units[0])
            if isinstance(made, Mapping):
                return dict(made)
            found += made
            continue
        if len(stands) == 1 and stands[0].value is None:
            raise JsonPathError(f"{stands[0].where} is null")
        factors = units if len(units) == len(stands) else units[:1] * len(stands)
        raws: list[tuple[Any, str, float]] = []
        for (value, where, _), factor in zip(stands, factors, strict=True):
            many = isinstance(value, list)
            if isinstance(fails, list):
                ones = enumerate(value if many else [value])
                raws += ((one, f"{where}[{k}]" if many else where, factor) for k, one in ones)
            elif many:
                found.append(opened.values(value, where, factor=factor))
            else:
                found.append((opened.value(value, where, factor=factor),))
        if isinstance(fails, list):
            what = f"there are {len(raws)} values of {len(fails)} runs"
            opened.require(len(raws) == len(fails), what, at=place.where)
            kept = [raw for raw, bad in zip(raws, fails, strict=True) if not bad]
            found.append(tuple(opened.value(raw, at, factor=factor) for raw, at, factor in kept))
    if take.runs == "lists":
        return tuple(one for one in found if one)
    every = tuple(value for one in found for value in one)
    return tuple((value,) for value in every) if take.runs == "each" else (every,) * bool(every)
