"""The words of an outcome: times and rates are faster or slower, other metrics better or worse."""

from __future__ import annotations

from typing import Literal

__all__ = ["Outcome", "outcome_of"]

Outcome = Literal["faster", "slower", "better", "worse", "undecided"]

_WORDS: dict[tuple[str, bool], Outcome] = {
    ("candidate", True): "faster",
    ("baseline", True): "slower",
    ("candidate", False): "better",
    ("baseline", False): "worse",
}


def outcome_of(winner: str | None, *, timed: bool) -> Outcome:
    """Name what the candidate is when "candidate", "baseline" or neither of them is told to win."""
    return "undecided" if winner is None else _WORDS.get((winner, timed), "undecided")
