"""The variants and benchmarks of a campaign, with their matrices written out."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from ...errors import Problem
from ..schema.letters import NAME
from ..schema.target import VARIANT
from ..source.excerpt import quote
from ..source.yaml_marks import Document, Location

MAX_CELLS = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One variant or benchmark: the keys that it gives, and its values for templates."""

    name: str
    path: Location
    given: Mapping[str, Any]
    values: Mapping[str, str] = field(default_factory=dict)
    places: Mapping[str, Location] = field(default_factory=dict)


def entries(
    document: Document, part: str, sections: Mapping[str, Mapping[str, Any] | None]
) -> tuple[list[Entry], list[Problem]]:
    """Write out every matrix of one part of the campaign, "variants" or "benchmarks".

    Returns
    -------
    list of Entry, list of Problem
        The entries in the order of the file, and names that are taken or are none.
    """
    found: dict[str, Entry] = {}
    problems: list[Problem] = []
    for name, section in sections.items():
        given = section or {}
        path: Location = (part, name)
        values = {key: text for key, text in given.items() if key not in VARIANT.keys}
        matrix: Mapping[str, list[str]] = given.get("matrix", {})
        for key in matrix.keys() & values.keys():
            what = f"{quote(key)} is a value and a parameter of the matrix"
            problems.append(document.problem((*path, key), what, "delete one", key=True))
        if math.prod(len(items) for items in matrix.values()) > MAX_CELLS:
            what = f"the matrix has more than {MAX_CELLS:,} combinations"
            problems.append(
                document.problem((*path, "matrix"), what, "measure fewer at a time", key=True)
            )
            continue
        for combination in product(*matrix.values()):
            entry = _entry(path, given, values, dict(zip(matrix, combination, strict=True)))
            problem = _name_problem(document, entry, found)
            if problem:
                problems.append(problem)
            else:
                found[entry.name] = entry
    return list(found.values()), problems


def _entry(
    path: Location,
    given: Mapping[str, Any],
    values: Mapping[str, str],
    chosen: Mapping[str, str],
) -> Entry:
    """Make the entry of one combination of the matrix."""
    suffixes = [re.sub(r"[^A-Za-z0-9._+-]+", "_", text) for text in chosen.values()]
    places: dict[str, Location] = {key: (*path, key) for key in values}
    places |= {key: (*path, "matrix", key) for key in chosen}
    return Entry(
        name="-".join([str(path[1]), *suffixes]),
        path=path,
        given=given,
        values={**values, **chosen},
        places=places,
    )


def _name_problem(document: Document, entry: Entry, taken: Mapping[str, Entry]) -> Problem | None:
    place = (*entry.path, "matrix") if "matrix" in entry.given else entry.path
    other = taken.get(entry.name)
    if other is not None:
        what = f"the name {quote(entry.name, 100)} is taken by {other.path[0]}.{other.path[1]}"
        fix = "let the values of the matrix differ in letters, digits and . _ + -"
        return document.problem(place, what, fix, key=True)
    if not NAME.fullmatch(entry.name):
        what = f"the matrix makes the name {quote(entry.name, 60)}, which is longer than 100 (50 where not all"
        what += " are ASCII)"
        return document.problem(place, what, "use shorter names or values", key=True)
    return None
