"""How a method came to its answer: sentences, tables and what is drawn of it, as plain values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...methods.hpt.html_page import ReliabilitySteps
    from ...pages.model import Table, Value

__all__ = ["DecisionPath", "Evidence", "Histogram", "PathTable"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Histogram:
    """How often a ratio lay where, by chance or drawn anew.

    Attributes
    ----------
    low, high : float
        The ends of the axis, which is logarithmic; all bins are equally wide on it.
    counts : tuple of int
        Of each bin.
    observed : Value
        The ratio of the runs as they are.
    ends : (Value, Value) or None
        Of the interval.
    alt : str
        What the picture shows: its result.
    caption : str
        What is drawn.
    """

    low: float
    high: float
    counts: tuple[int, ...]
    observed: Value
    ends: tuple[Value, Value] | None
    alt: str
    caption: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PathTable:
    """A table and what it shows; `note` says how to read it, "" where that is plain."""

    caption: str
    table: Table
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """One method's way to its answer on one candidate."""

    key: str
    anchor: str
    title: str
    sentences: tuple[str, ...]
    tables: tuple[PathTable, ...] = ()
    histogram: Histogram | None = None
    steps: ReliabilitySteps | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionPath:
    """All methods' ways on one candidate."""

    anchor: str
    candidate: str
    methods: tuple[Evidence, ...]
