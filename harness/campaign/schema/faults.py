"""What is wrong with a document, and what is left out of it so that the rest can be read."""

from __future__ import annotations

from typing import Final

from ...errors import Problem
from ..source.excerpt import quote
from ..source.yaml_marks import Document, Location


class Wrong:
    """Stands where a value would, had the document a good one there."""


WRONG: Final = Wrong()


class Faults:
    """Collects the problems of one document, in the words of the campaign file.

    `places` are the paths of the values that were left out because they, or something that they
    need, are wrong.
    """

    def __init__(self, document: Document) -> None:
        self.document = document
        self.problems: list[Problem] = []
        self.places: list[Location] = []

    def value(self, at: Location, what: str, fix: str | None) -> Wrong:
        """Report a wrong value; `what` continues the sentence that its name begins."""
        self.problems.append(self.document.problem(at, f"{_label(at)} {what}", fix))
        return WRONG

    def key(self, at: Location, what: str, fix: str) -> None:
        """Report a wrong key."""
        self.problems.append(self.document.problem(at, what, fix, key=True))

    def missing(self, name: str, at: Location) -> None:
        """Report that the mapping at `at` lacks a key."""
        what = f"{quote(name)} is missing{inside(at)}"
        self.problems.append(self.document.problem(at, what, "add it", key=bool(at)))

    def leave_out(self, place: Location) -> None:
        """Remember what is left out."""
        self.places.append(place)


def inside(at: Location) -> str:
    """Say which mapping a key stands in; of the whole file nothing is said."""
    parts = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in at)
    return f" in {parts[1:]}" if at else ""


def _label(at: Location) -> str:
    """Name the value at `at`: its key, with the places in lists."""
    label = ""
    for step in at:
        label = f"{label}[{step}]" if isinstance(step, int) else step
    return quote(label, 60)
