"""What the panel of the published methods holds: plain values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from ...pages.model import Value
from ...plots.palette import style_of
from ..chapter import OldChapter

if TYPE_CHECKING:
    from ...pages.number_format import Word
    from .evidence import DecisionPath

__all__ = ["MethodAnswer", "MethodRow", "MethodsPanel", "Piece", "Question", "Ratio", "Reason"]


@dataclass(frozen=True)
class Ratio(Value):
    """A speedup; its text is without the sign, which each renderer sets."""


Piece = str | Value  # of a line; the spaces between pieces are written out


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodAnswer:
    """What one method says of one candidate.

    Attributes
    ----------
    candidate : str
        Its name.
    word : {"faster", "slower", "equivalent", "undecided"} or None
        What the candidate is; None where the method gives no word.
    said : str
        The word as a screen says it; "" without one.
    value, low, high : Ratio or None
        What stands on the axis of speedups.
    bound : bool
        `low` is a lower bound: nothing is said of what lies above.
    pvalue, share : Value or None
        Its p, and its reliability or the chance that it gives.
    pvalue_of : str
        What the p belongs to, such as "two-sided"; "" without one.
    first, second : tuple of str or Value
        The two lines of the cell; the word stands before the first.
    reasons : tuple of str
        Anchors of the sentences that say why this answer differs.
    """

    candidate: str
    word: Word | None = None
    said: str = ""
    value: Ratio | None = None
    low: Ratio | None = None
    high: Ratio | None = None
    bound: bool = False
    pvalue: Value | None = None
    pvalue_of: str = ""
    share: Value | None = None
    first: tuple[Piece, ...] = ()
    second: tuple[Piece, ...] = ()
    reasons: tuple[str, ...] = ()

    @property
    def style(self) -> str:
        """The role in which word and marks are drawn."""
        return "neither" if self.word is None else style_of(self.word)


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodRow:
    """One method: its question, what it takes as an independent draw, an answer for each candidate."""

    key: str
    anchor: str
    method: str
    question: str
    unit: str
    answers: tuple[MethodAnswer, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """Two answers on one candidate that differ, as a question; "" names all candidates."""

    candidate: str
    text: tuple[Piece, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """Why a method's answer differs.

    `method` is the key of its row, `code` the kind of the reason ("" where the words agree and only
    the numbers differ).
    """

    anchor: str
    method: str
    code: str
    questions: tuple[Question, ...]
    text: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MethodsPanel(OldChapter):
    """The chapter.

    Attributes
    ----------
    lead : str
        What a reader should know first.
    candidates : tuple of str
        The columns.
    rows : tuple of MethodRow
        The session intervals first, then the published methods.
    reasons : tuple of Reason
        One for each sentence, each on one candidate or more.
    paths : tuple of DecisionPath
        How the methods came to their answers, a candidate each.
    on_request : tuple of str
        Commands that print the paths of the other candidates.
    """

    name: ClassVar[str] = "panel"

    lead: str
    baseline: str
    candidates: tuple[str, ...]
    rows: tuple[MethodRow, ...]
    reasons: tuple[Reason, ...]
    paths: tuple[DecisionPath, ...]
    on_request: tuple[str, ...]
