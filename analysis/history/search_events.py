"""What a search for steps tells while it runs: which phase begins, what each session gave, and each word.

A search knows only places; whoever measures for it keeps the sessions of a phase together, and whoever
shows it draws what it hears.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

from .posterior import Posterior
from .search_result import PairWord

Kind = Literal["step0", "search", "proof"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Phase:
    """What the next sessions are for.

    Attributes
    ----------
    kind : {"step0", "search", "proof"}
        Whether the ends differ at all; a search of one interval; or the proof of one place.
    lower, upper : int
        The pair that is judged in step 0 and in a proof (of that the parent and the place); the ends of the
        interval that is searched.
    number : int
        Of the proof, from 1; 0 of the others.
    level : float or None
        The risk of all looks of step 0 or of this proof together; None in a search, which states nothing.
    places : tuple of int
        What every session of the phase measures; of a search its ends, to which each session adds a probe.
    """

    kind: Kind
    lower: int
    upper: int
    number: int = 0
    level: float | None = None
    places: tuple[int, ...] = ()


class SearchWatcher(Protocol):
    """Follows a search; nothing that it hears needs an answer."""

    def phase(self, phase: Phase) -> None:
        """Hear what the next sessions are for; the same interval may be searched again after another."""

    def session(
        self, places: tuple[int, ...], values: Mapping[int, float], posterior: Posterior | None
    ) -> None:
        """Hear what a session gave: its log values without failed places, and in a search the probabilities then."""

    def word(self, phase: Phase, word: PairWord) -> None:
        """Hear what a look at the phase's pair says."""

    def skipped(self, place: int) -> None:
        """Hear that a place does not build, or failed twice in a row."""


class Unwatched:
    """A watcher that does nothing."""

    def phase(self, phase: Phase) -> None:
        """Do nothing."""

    def session(
        self, places: tuple[int, ...], values: Mapping[int, float], posterior: Posterior | None
    ) -> None:
        """Do nothing."""

    def word(self, phase: Phase, word: PairWord) -> None:
        """Do nothing."""

    def skipped(self, place: int) -> None:
        """Do nothing."""
