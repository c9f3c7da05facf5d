"""Compare what two installations made of one command line, as text.

A key's order, an int that became a float, a blank, a missing line: all of them are differences. What may
differ stands in ``may_change.txt``: whatever no row of it names may not.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from itertools import takewhile, zip_longest
from pathlib import Path
from typing import Any, NamedTuple

_AROUND = 70  # characters that are shown on each side of the place where a line differs


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What one execution left: exit code, both streams, and the files that it wrote, as text."""

    code: int
    out: str
    err: str
    files: Mapping[str, str] = field(default_factory=dict)

    def parts(self) -> dict[str, str]:
        """Give everything by a name; a result that is JSON has one of its own."""
        return {
            "exit code": str(self.code),
            "json" if self.out.startswith("{") else "stdout": self.out,
            "stderr": self.err,
            **{f"file {name}": text for name, text in self.files.items()},
        }


class Change(NamedTuple):
    """A line of one part that is another one now: of JSON a value with the path to it."""

    part: str
    before: str | None
    now: str | None

    def __str__(self) -> str:
        both = zip(self.before or "", self.now or "", strict=False)
        start = max(0, sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], both)) - _AROUND)
        one, other = (
            "(no such line)" if text is None else text[start : start + 2 * _AROUND]
            for text in self[1:]
        )
        return f"{self.part}\n    before {one}\n    now    {other}"


class Row(NamedTuple):
    """A reason, and by regular expressions what may change for it."""

    reason: str
    command_lines: str
    part: str
    text: str


ROWS = [
    Row(*row.split(" | ", 3))
    for row in Path(__file__).with_name("may_change.txt").read_text().splitlines()
    if row and not row.startswith("#")
]


def reasons(line: str, change: Change) -> set[str]:
    """Name the reasons for which a change of a command line may be; an empty set where it may not."""
    rows = [
        row
        for row in ROWS
        if re.search(row.command_lines, line) and re.fullmatch(row.part, change.part)
    ]
    found = {
        next((row.reason for row in rows if re.search(row.text, text)), "")
        for text in change[1:]
        if text is not None
    }
    return set() if "" in found else found


def differences(base: Outcome, now: Outcome) -> list[Change]:
    """Give what differs between two outcomes, already filtered, in its order."""
    before, after = base.parts(), now.parts()
    found = [Change(name, "(is there)", None) for name in before if name not in after]
    found += [Change(name, None, "(is there)") for name in after if name not in before]
    for name in before:
        one, other = before[name], after.get(name, before[name])
        if name == "exit code" and one != other:
            found.append(Change(name, None, f"{one} -> {other}"))
        elif one != other:
            values = list(_pairs(_values(one), _values(other)))
            pairs = values or _pairs(one.split("\n"), other.split("\n"))
            found += [Change(name, *pair) for pair in pairs]
    return found


def _values(text: str) -> list[str]:
    """Give a document of JSON as its values, each with its path; another text by its lines."""
    if text.startswith(("{", "[")):
        with suppress(ValueError):
            return list(_leaves(json.loads(text), ""))
    return text.split("\n")


def _leaves(value: Any, path: str) -> Iterator[str]:
    if value and isinstance(value, dict):
        for key, inner in value.items():
            yield from _leaves(inner, f"{path}.{key}")
    elif value and isinstance(value, list):
        for inner in value:
            yield from _leaves(inner, f"{path}[]")
    else:
        yield f"{path} = {json.dumps(value, ensure_ascii=False)}"


def _pairs(before: list[str], after: list[str]) -> Iterator[tuple[str | None, str | None]]:
    matched = SequenceMatcher(None, before, after, autojunk=False)
    for same, low, high, start, stop in matched.get_opcodes():
        if same != "equal":
            yield from zip_longest(before[low:high], after[start:stop])
