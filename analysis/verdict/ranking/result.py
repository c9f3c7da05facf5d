"""What holds between all variants of a trial."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from ...methods.multilevel import LooksRule
from ...report import Result, Word
from ...stats import Friedman

__all__ = ["BestOf", "Chances", "PairLine", "Place", "Ranking"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PairLine:
    """One variant against another over the suite, as `multilevel` says it.

    `pvalue_adjusted` is Holm's over all pairs, and `outcome` the word after it; the interval is
    not adjusted. `faster` and `slower` count benchmarks with that word.
    """

    derived: ClassVar[tuple[str, ...]] = ("pvalue_of",)
    pvalue_of: ClassVar[str] = "two-sided"

    candidate: str
    baseline: str
    design: str
    speedup: float | None
    low: float | None
    high: float | None
    pvalue: float | None
    pvalue_adjusted: float | None
    outcome: Word
    outcome_uncorrected: Word
    faster: int
    slower: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A variant's rank: at best and at worst, as far as the pairs tell; 1 is the best."""

    variant: str
    best: int
    worst: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking(Result):
    """Every pair of variants, and the ranks that follow.

    Attributes
    ----------
    looks, look_alpha, looks_rule, risk_total
        As of `Multilevel`.
    pairs : tuple of PairLine
        The better variant of each pair first.
    places : tuple of Place
        Best first, by the pairs' mean logs.
    friedman, nemenyi : Friedman or None, float or None
        The published ranking of the suite and its critical difference of mean ranks, None below
        two benchmarks; the cautions say how often it is wrong.
    ranked : bool
        Whether a screen shows the ranks, not only the pairs.
    """

    method: ClassVar[str] = "ranking"
    unlisted: ClassVar[frozenset[str]] = frozenset({"ranked", "timed"})

    trial: str
    path: str
    metric: str
    better: str
    confidence: float
    looks: int
    look_alpha: float
    looks_rule: LooksRule
    risk_total: float
    margin: float
    sessions: int
    variants: tuple[str, ...]
    pairs: tuple[PairLine, ...]
    places: tuple[Place, ...]
    friedman: Friedman | None
    nemenyi: float | None
    ranked: bool
    timed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Chances:
    """On one benchmark, each variant's chance to have the best run."""

    benchmark: str
    chances: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class BestOf(Result):
    """The chance of each variant to have the best of so many runs each (I3).

    `mean` is over the benchmarks; a benchmark that some variant has no mixture for is left out.
    """

    method: ClassVar[str] = "best-of"

    trial: str
    path: str
    metric: str
    better: str
    runs: int
    variants: tuple[str, ...]
    benchmarks: tuple[Chances, ...]
    mean: Mapping[str, float]
