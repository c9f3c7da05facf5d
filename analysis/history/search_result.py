"""What a search for steps found: a word on both ends, proven culprits, and what is left open."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from ..pages.number_format import Word
from ..pages.result import Result

Answer = Literal["proven", "partly", "no-difference", "undecided"]
Why = Literal[
    "sessions spent", "not proven in three proofs", "nothing left to build", "an end fails"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class PairWord:
    """Two places held against each other on sessions that have both: the later one's speedup over the earlier.

    Above 1 the later one is faster. `risk` is that of its interval; without two sessions `word` is
    "undecided" and the numbers are None.
    """

    word: Word
    speedup: float | None
    low: float | None
    high: float | None
    sessions: int
    risk: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Culprit:
    """A proven step: it lies in `after` .. `upto`, of which `upto` is measured and `after` is not slow yet.

    Between them only places that do not build can lie. `share` is its part of the whole difference on the
    proof's sessions, None where the ends do not differ there. `before` and `behind` say what is left on either side.
    """

    after: int
    upto: int
    word: Word
    speedup: float
    low: float
    high: float
    sessions: int
    risk: float
    proof: int
    share: float | None
    before: PairWord
    behind: PairWord


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenRun:
    """Places after `after`, up to `upto`, that hold a step with this probability, which is not proven."""

    after: int
    upto: int
    probability: float
    why: Why


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StepSearch(Result):
    """What a search among commits found.

    Attributes
    ----------
    commits : int
        Places are 0 (good) to this one (bad).
    answer : {"proven", "partly", "no-difference", "undecided"}
        Whether every step found is proven, some are, or there is none within the margin.
    exit_code : int
        0 proven; 1 no difference; 7 undecided, or something is open.
    first : PairWord
        Bad against good, before the search.
    culprits : tuple of Culprit
        In the order of places.
    open : tuple of OpenRun
        What is left, and why.
    refuted : tuple of Culprit
        Places whose proof did not hold.
    skipped : tuple of int
        Places that do not build, or failed twice in a row.
    sessions, builds : int
        Sessions measured; places that were built for them.
    measured : tuple of tuple of int
        The places of each session, in order.
    """

    method: ClassVar[str] = "find-steps"

    commits: int
    answer: Answer
    exit_code: int
    first: PairWord
    culprits: tuple[Culprit, ...]
    open: tuple[OpenRun, ...]
    refuted: tuple[Culprit, ...]
    skipped: tuple[int, ...]
    sessions: int
    builds: int
    measured: tuple[tuple[int, ...], ...]
    risk: float
    margin: float
    looks: tuple[int, ...]
