"""The one vocabulary of outcomes: what a program reads, and how a screen says it.

A result says the same word of every metric, so that a program need not know what was measured. Only
on a screen is a metric that is neither time nor rate better or worse.
"""

from __future__ import annotations

from typing import Literal

__all__ = ["Word", "said", "word_of"]

Word = Literal["faster", "slower", "equivalent", "undecided", "tie"]

_OF_SIDES: dict[str, Word] = {
    "candidate": "faster",
    "baseline": "slower",
    "tie": "tie",
    "undecided": "undecided",
}
_OF_OTHERS = {"faster": "better", "slower": "worse"}


def word_of(side: Literal["candidate", "baseline", "tie", "undecided"]) -> Word:
    """Name what the candidate is when this side is told to be better."""
    return _OF_SIDES[side]


def said(word: Word, *, timed: bool) -> str:
    """Give the word for a screen: of a metric that is neither time nor rate, better or worse."""
    return word if timed else _OF_OTHERS.get(word, word)
