"""What the panel holds: an answer for each method, and a reason for each disagreement."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Literal

from ...report import Word
from .answers import Answers

__all__ = ["Disagreement", "Panel", "Reason", "Said"]

Reason = Literal[
    "estimand", "unit", "zeroing", "replication", "failed-assumption", "too-few-runs", "family"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What one method says.

    `unit` is what it treats as an independent draw and `estimand` what its numbers are of. `word`
    is None for a method that gives none; the numbers are None where the method has no such number.
    """

    method: str
    unit: str
    estimand: str
    word: Word | None
    value: float | None = None
    low: float | None = None
    high: float | None = None
    pvalue: float | None = None
    pvalue_of: str = "two-sided"
    reliability: float | None = None
    answer: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Disagreement:
    """Why one method says something else than the first screen."""

    of: str
    reason: Reason
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """All methods on the same two sides.

    `answers` holds the methods' own results, for whoever shows how they came to them.
    """

    unlisted: ClassVar[frozenset[str]] = frozenset({"answers"})

    methods: tuple[Said, ...]
    disagreements: tuple[Disagreement, ...]
    answers: Answers = field(default_factory=Answers, repr=False, compare=False)
