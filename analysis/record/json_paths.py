"""Paths into JSON documents: of a campaign's metrics, of the tools that are imported, and of ``--columns``.

A path is keys with dots, ``[3]`` for an item of a list, ``[*]`` for all items of a list or all values of an object,
``["any key"]`` for a key with a dot. ``@`` is the key at which ``[*]`` stands, ``^`` goes one ``[*]`` out, ``$`` to the
root; ``a | b``, with blanks, is the first that is there, and ``'text'`` stands for itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from enum import Enum
from functools import lru_cache
from typing import Any, NamedTuple


class JsonPathError(ValueError):
    """A path is wrong, or a document has nothing there."""


class Sign(Enum):
    """A step that is neither a key nor an index."""

    ALL = "*"
    KEY = "@"
    OUT = "^"
    ROOT = "$"


class Text(NamedTuple):
    """A text that stands for itself."""

    text: str


Steps = tuple["str | int | Sign", ...]
Path = tuple["Steps | Text", ...]  # each is taken where those before it lead nowhere


class Entry(NamedTuple):
    """What stands at a ``[*]``, or the root: its key or index, itself, and where that is."""

    key: str | int
    value: Any
    where: str


class Place(NamedTuple):
    """What a path leads to: itself, where that is (``results[3].times``), the root and each ``[*]`` on the way."""

    value: Any
    where: str
    entries: tuple[Entry, ...]


_STEP = re.compile(
    r"""(?P<sign>(?:\.?@|[\^$])(?=[.\[^$@]|$))"""
    r"""|(?P<dot>\.)?(?P<key>[^.\[\]"\s][^.\[\]"]*)"""
    r"""|\[(?P<index>0|[1-9][0-9]{0,8})\]|\[(?P<all>\*)\]|\[(?P<quoted>"(?:[^"\\]|\\.)*")\]"""
)
_OR = re.compile(r"""(?<=\S)\s+\|\s+(?=(?:[^"]*"[^"]*")*[^"]*$)(?=(?:[^']*'[^']*')*[^']*$)""")


def root(data: Any) -> Place:  # noqa: ANN401 - any JSON document
    """Give the place of a whole document."""
    return Place(data, "", (Entry("", data, ""),))


@lru_cache(1024)
def parse_path(path: str) -> Path:
    """Parse a path."""
    return tuple(_parsed(part) for part in _OR.split(path))


def _parsed(path: str) -> Steps | Text:
    if len(path) > 1 and path[0] == path[-1] == "'":
        return Text(path[1:-1])
    steps: list[str | int | Sign] = []
    at = 0
    while at < len(path):
        match = _STEP.match(path, at)
        if match is None or (match["key"] and bool(match["dot"]) != bool(at)):
            raise JsonPathError(f"not understood from character {at + 1} on: '{path[at:]}'")
        steps.append(_step(match, at))
        at = match.end()
    if not steps:
        raise JsonPathError("the path is empty")
    return tuple(steps)


def _step(match: re.Match[str], at: int) -> str | int | Sign:
    if match["sign"] or match["all"]:
        return Sign((match["sign"] or match["all"])[-1])
    if match["index"]:
        return int(match["index"])
    if match["quoted"]:
        try:
            return str(json.loads(match["quoted"]))
        except ValueError:
            raise JsonPathError(f"not a JSON string at character {at + 1}") from None
    return match["key"]


def find(data: Any, path: str) -> list[Any]:  # noqa: ANN401 - any JSON document
    """Give every value that the path names, in the document's order.

    Raises
    ------
        JsonPathError: The path is wrong, or nothing is there.
    """
    return [place.value for place in places(root(data), path)]


def places(start: Place, path: str, *, entries: bool = False) -> list[Place]:
    """Give every place to which a path leads from another one, as `find` does.

    `entries`: Whether plain values beside the entries of an object, such as a date, are passed over.
    """
    first, *others = parse_path(path)
    if not others and not isinstance(first, Text):
        return _walked(start, first, entries=entries)  # most are
    return _first((first, *others), lambda steps: _walked(start, steps, entries=entries))


def beside(place: Place, own: str, path: str) -> list[Place]:
    """Give the places to which a path leads that belong to one of another path: those of the same ``[*]``.

    Of ``results[*].times`` at ``results[3].times``, ``results[*].name`` is ``results[3].name``.
    """
    base = parse_path(own)[0]

    def among(steps: Steps) -> list[Place]:
        shared = begin = 0
        for k, (one, other) in enumerate(zip(base, steps, strict=False)):
            if one != other:
                break
            if one is Sign.ALL:
                shared, begin = shared + 1, k + 1
        return _walked(_at(place.entries[: shared + 1]), steps[begin:])

    return _first(parse_path(path), among)


def _first(path: Path, places_at: Callable[[Steps], list[Place]]) -> list[Place]:
    failed: list[str] = []
    found: list[Place] = []
    for one in path:
        if isinstance(one, Text):
            return [Place(one.text, "", ())]
        try:
            found = places_at(one)
        except JsonPathError as error:
            failed.append(str(error))
            continue
        if len(path) == 1 or any(place.value is not None for place in found):
            return found
    if len(failed) == len(path):
        raise JsonPathError(", and ".join(failed))
    return found


def _at(entries: tuple[Entry, ...]) -> Place:
    return Place(entries[-1].value, entries[-1].where, entries)


def _walked(start: Place, steps: Steps, *, entries: bool = False) -> list[Place]:
    found = [start]
    for k, step in enumerate(steps, 1):
        found = [inner for place in found for inner in _stepped(place, step)]
        if entries and step is Sign.ALL:
            plain = (str, int, float) if k < len(steps) else str
            of_list = (not isinstance(one.entries[-1].key, str) for one in found)
            pairs = zip(found, of_list, strict=True)
            found = [one for one, listed in pairs if listed or not isinstance(one.value, plain)]
    return found


def _stepped(place: Place, step: str | int | Sign) -> list[Place]:
    value, where, entries = place
    here = where or "the document"
    if step is Sign.ALL:
        if isinstance(value, list):
            inner = [Entry(k, one, f"{where}[{k}]") for k, one in enumerate(value)]
        elif isinstance(value, dict):
            inner = [Entry(key, one, _named(where, key)) for key, one in value.items()]
        else:
            raise JsonPathError(f"{here} is not a list")
        return [Place(one.value, one.where, (*entries, one)) for one in inner]
    if isinstance(step, Sign):
        if step is Sign.KEY:
            return [Place(entries[-1].key, where, entries)]
        if step is Sign.OUT and len(entries) < 2:
            raise JsonPathError(f"{here} is in no [*]")
        return [_at(entries[:-1] if step is Sign.OUT else entries[:1])]
    if isinstance(step, str):
        if not isinstance(value, dict) or step not in value:
            raise JsonPathError(f"{here} has no key '{step}'")
        return [Place(value[step], _named(where, step), entries)]
    if not isinstance(value, list):
        raise JsonPathError(f"{here} is not a list")
    if step >= len(value):
        raise JsonPathError(f"{here} has no item {step}")
    return [Place(value[step], f"{where}[{step}]", entries)]


def _named(where: str, key: str) -> str:
    return f"{where}.{key}" if where else key
