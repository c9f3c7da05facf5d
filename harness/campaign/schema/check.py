"""Hold a document against the shape of a campaign file, and report every difference."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ...errors import Problem
from ..source.yaml_marks import Document, Location
from .faults import Faults
from .kinds import Kind, described
from .section import Section
from .sections import CAMPAIGN
from .shapes import Forms


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """What became of a document.

    `given` holds all keys that are there and right; it is ``None`` when too few of them are.
    `broken` are the paths of the values that were left out of it because they are wrong.
    """

    given: dict[str, Any] | None
    problems: tuple[Problem, ...]
    broken: tuple[Location, ...]
    _touched: frozenset[Location] = field(init=False)

    def __post_init__(self) -> None:
        touched = {place[:end] for place in self.broken for end in range(len(place) + 1)}
        object.__setattr__(self, "_touched", frozenset(touched))

    def touches(self, path: Location) -> bool:
        """Tell whether something at or below `path` was left out."""
        return path in self._touched


def check_shape(document: Document) -> Shape:
    """Hold the document against the shape of a campaign.

    Returns
    -------
    Shape
        With every problem that is a matter of keys, types and ranges. What is right is given too,
        so that its own problems can be found in the same pass.
    """
    if not isinstance(document.value, dict):
        what = f"a campaign is a mapping of keys, not {described(document.value)}"
        problem = document.problem((), what, "begin with 'name: ...'; 'fairtrial init' writes one")
        return Shape(given=None, problems=(problem,), broken=((),))
    faults = Faults(document)
    given = CAMPAIGN.right_keys(document.value, (), faults)
    if "name" not in given:  # the rest is looked at all the same
        faults.leave_out(())
        given["name"] = "campaign"
    enough = {"variants", "benchmarks"} <= given.keys()
    return Shape(
        given=given if enough else None,
        problems=tuple(faults.problems),
        broken=tuple(faults.places),
    )


def unknown_key(document: Document, path: Location) -> Problem:
    """Make the problem of a key that nothing knows, with those that may stand there."""
    return _section(path[:-1]).unknown(document, path)


def known_keys(path: Location) -> tuple[str, ...]:
    """Give the keys that may stand in the mapping at `path`."""
    return tuple(_section(path).keys)


def _section(path: Location) -> Section:
    """Find the section of the mapping at `path`."""
    kind: Kind | None = CAMPAIGN
    for step in path:
        kind = kind.inner(step) if kind is not None else None
    if isinstance(kind, Forms):
        kind = kind.mapping
    assert isinstance(kind, Section), "only a section has keys to tell"
    return kind
