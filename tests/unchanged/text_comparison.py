"""Compare what two installations made of one command line, as text.

A key's order, an int that became a float, a blank, a missing line: all of them are differences. With
a relative tolerance, numbers that are written with a decimal point may differ by it, and nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import zip_longest

FLOAT = re.compile(r"[-+]?\d+\.\d+(?:[eE][-+]?\d+)?|[-+]?\d+[eE][-+]?\d+")
_AROUND = 70


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What one execution left: exit code, both streams, and the files that it wrote, as text."""

    code: int
    out: str
    err: str
    files: Mapping[str, str] = field(default_factory=dict)

    def parts(self) -> dict[str, str]:
        """Give everything by a name."""
        return {
            "exit code": str(self.code),
            "stdout": self.out,
            "stderr": self.err,
            **{f"file {name}": text for name, text in self.files.items()},
        }


def differences(base: Outcome, now: Outcome, *, relative: float = 0.0) -> list[str]:
    """Say what differs, a text for each place; an empty list where nothing does.

    Parameters
    ----------
    base, now : Outcome
        What is compared, already filtered.
    relative : float
        The largest relative difference of two numbers with a decimal point that counts as none.
    """
    before, after = base.parts(), now.parts()
    found = [f"{name}: only before" for name in before if name not in after]
    found += [f"{name}: only now" for name in after if name not in before]
    for name in before:
        if name in after and before[name] != after[name]:
            found += [f"{name}: {told}" for told in _texts(before[name], after[name], relative)]
    return found


def _texts(before: str, after: str, relative: float) -> Iterator[str]:
    lines = zip_longest(before.split("\n"), after.split("\n"))
    for number, (one, other) in enumerate(lines, 1):
        if one == other or (
            relative and None not in (one, other) and same_numbers(one, other, relative)
        ):
            continue
        yield f"line {number}\n{_excerpts(one, other)}"
        return  # what follows is often the same difference; the files that are kept show all


def same_numbers(one: str, other: str, relative: float) -> bool:
    """Tell whether two texts are equal but for numbers within a relative tolerance."""
    if FLOAT.split(one) != FLOAT.split(other):
        return False
    pairs = zip(FLOAT.findall(one), FLOAT.findall(other), strict=True)
    return all(
        a == b or abs(float(a) - float(b)) <= relative * max(abs(float(a)), abs(float(b)))
        for a, b in pairs
    )


def _excerpts(one: str | None, other: str | None) -> str:
    """Show both where they first differ."""
    if one is None or other is None:
        return f"    before {_cut(one, 0)}\n    now    {_cut(other, 0)}"
    first = next((k for k, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), None)
    first = min(len(one), len(other)) if first is None else first
    return f"    before {_cut(one, first)}\n    now    {_cut(other, first)}"


def _cut(text: str | None, middle: int) -> str:
    if text is None:
        return "(no such line)"
    low, high = max(0, middle - _AROUND), middle + _AROUND
    return f"{'…' * (low > 0)}{text[low:high]}{'…' * (high < len(text))}"
