"""Events that no list has: ``cpu/event=0x3c,umask=0x1/``, as perf(1) writes them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_PMU: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,63}")
_TERM: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,63}")
_NUMBER: Final = re.compile(r"0[xX][0-9A-Fa-f]{1,16}|[0-9]{1,20}")
_FORM: Final = "write it as PMU/event=0x3c,umask=0x1/, as 'perf list --details' does"
_LARGEST: Final = 2**64 - 1


class RawEventError(ValueError):
    """A text that is no such event; `what` continues 'the event ...', `fix` mends it."""

    def __init__(self, what: str, fix: str = _FORM) -> None:
        super().__init__(what)
        self.what = what
        self.fix = fix


@dataclass(frozen=True, slots=True, kw_only=True)
class RawEvent:
    """What is counted, by the names of one PMU: `terms` are (name, value), None for a bare name."""

    pmu: str
    terms: tuple[tuple[str, int | None], ...]


def parse_raw(text: str) -> RawEvent:
    """Read an event of one PMU.

    Parameters
    ----------
    text : str
        ``PMU/term,term=value,.../``; numbers are decimal or begin with 0x.

    Raises
    ------
    RawEventError
        If it is none, has a modifier behind the last slash (what may be counted is found here), or
        one term twice.
    """
    pmu, slash, rest = text.strip().partition("/")
    inside, closed, behind = rest.rpartition("/")
    if not slash or not closed:
        raise RawEventError("is not PMU/.../ with two slashes")
    if behind:
        raise RawEventError(
            f"has '{behind}' behind its last slash",
            "delete that: whether the kernel's part is counted depends on what is permitted",
        )
    if not _PMU.fullmatch(pmu):
        raise RawEventError("names no PMU before its first slash")
    return RawEvent(pmu=pmu, terms=parse_terms(inside))


def parse_terms(text: str) -> tuple[tuple[str, int | None], ...]:
    """Read the terms between the slashes, or those of a file in a PMU's folder ``events``.

    Raises
    ------
    RawEventError
        If one is no name, no number, too large, or there twice.
    """
    terms: dict[str, int | None] = {}
    for part in text.split(","):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not _TERM.fullmatch(name):
            raise RawEventError(f"has the term '{part.strip()}', which has no name")
        if equals and not _NUMBER.fullmatch(value):
            raise RawEventError(f"gives '{name}' the value '{value}', which is no number")
        if name in terms:
            raise RawEventError(f"has the term '{name}' twice", "delete one of them")
        number = None if not equals else int(value, 16 if value[:2].lower() == "0x" else 10)
        if number is not None and number > _LARGEST:
            raise RawEventError(f"gives '{name}' a value of more than 64 bits")
        terms[name] = number
    return tuple(terms.items())
