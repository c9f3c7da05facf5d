"""What a series of variants in one trial shows: its places, its steps, and a word for each benchmark."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from ...pages.result import Result
from ...stats.multiplicity import Correction
from .next_command import next_of
from .sentence import sentence_of

Outcome = Literal["step", "equivalent", "undecided"]


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderedPlace:
    """All variants from `variant` on against all before it: the speedup of the later ones.

    `low` and `high` hold for all places at once; None where nothing varies. `pvalue` is this place's alone;
    `probability` is that of one step here, if there is one.
    """

    variant: str
    speedup: float
    low: float | None
    high: float | None
    pvalue: float | None
    probability: float


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderedStep:
    """A step: likeliest at `variant`; with 95 % behind `after` and at `upto` at the latest.

    `speedup` is that of the variants from `upto` on, up to the next step, over those up to `after`, since the step
    before, with its interval. Commits are None where they are not known.
    """

    variant: str
    after: str
    upto: str
    word: Literal["faster", "slower"]
    speedup: float
    low: float
    high: float
    commit: str | None
    after_commit: str | None
    upto_commit: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderedLine:
    """One benchmark, or the mean of all (`suite`).

    `pvalue` is that of the best place, times the places; `pvalue_equivalent` the largest of all places. The
    adjusted ones are corrected over the benchmarks too; None where nothing varies. `best` is the place with the
    least p, the likeliest where nothing varies.
    """

    name: str
    outcome: Outcome
    sessions: int
    best: OrderedPlace
    pvalue: float | None
    pvalue_adjusted: float | None
    pvalue_equivalent: float | None
    pvalue_equivalent_adjusted: float | None
    steps: tuple[OrderedStep, ...]
    places: tuple[OrderedPlace, ...]
    left_out: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OrderedVariants(Result):
    """Where an ordered series of variants changes.

    Attributes
    ----------
    trial, campaign, campaign_path : str
        The trial's folder, its campaign's name, and where that stood.
    metric, unit, better : str
        What was judged.
    risk, margin, correction
        As asked; `level` is the risk at this look at the trial, and `looks_rule` how that was shared.
    variants : tuple of str
        In their order.
    pooled : tuple of tuple of str
        Neighbours that are one program, as far as there are such.
    benchmarks : tuple of OrderedLine
        One each.
    suite : OrderedLine or None
        The mean over all benchmarks; None of one benchmark.
    """

    method: ClassVar[str] = "ordered-variants"
    derived: ClassVar[tuple[str, ...]] = ("sentence", "next")

    trial: str
    campaign: str
    campaign_path: str
    metric: str
    unit: str
    better: str
    risk: float
    level: float
    looks_rule: str
    margin: float
    correction: Correction
    variants: tuple[str, ...]
    pooled: tuple[tuple[str, ...], ...]
    benchmarks: tuple[OrderedLine, ...]
    suite: OrderedLine | None

    @property
    def answering(self) -> OrderedLine:
        """The line that the answer is about: the suite's, or the surest step of a benchmark where that has none."""
        whole = self.suite or self.benchmarks[0]
        stepped = [one for one in self.benchmarks if one.steps]
        if whole.outcome == "step" or not stepped:
            return whole
        return min(stepped, key=lambda one: one.pvalue_adjusted or 0.0)

    @property
    def sentence(self) -> str:
        """The answer."""
        return sentence_of(self)

    @property
    def next(self) -> tuple[str, ...]:
        """What to do next: command lines, ready to be pasted."""
        return tuple(one.line for one in next_of(self))
