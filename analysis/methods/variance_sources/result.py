"""What is known of where variation comes from: plain values, of systems, of runs and of modes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from ...report import Result
from .systems.result import Across, Importance

__all__ = [
    "ELSEWHERE",
    "ClassesBy",
    "Component",
    "EffectOf",
    "Factor",
    "Importance",
    "Kind",
    "Mode",
    "ModeClass",
    "Source",
    "Sources",
]

ELSEWHERE = "elsewhere"  # what a window of a circle is compared with
Kind = Literal["randomized", "observed"]
ClassesBy = Literal["values", "order"]
EffectOf = Literal["levels", "circle", "sd"]
Source = Literal[
    "benchmark", "host", "trial", "session", "benchmark:session", "block", "run", "iteration"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Component:
    """A part of the variance of logarithms.

    Attributes
    ----------
    benchmark : str or None
        None for all benchmarks together.
    variant : str
        The variant.
    source : str
        Between what the values differ. ``benchmark:session`` is what a session does to one benchmark
        and not to the others; ``run`` is what the others leave, iterations aside.
    levels : int
        How many there are.
    sd : float
        Standard deviation of logarithms, a share of the value: 0.01 is 1 %.
    share : float or None
        Of the sum of all variances; None where nothing varies.
    """

    benchmark: str | None
    variant: str
    source: Source
    levels: int
    sd: float
    share: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Factor:
    """What a suspected factor does to the values of one benchmark and variant.

    Attributes
    ----------
    benchmark, variant, factor : str
        Which values, and what is suspected; ``factor (levels)`` where whole numbers are taken as
        categories.
    kind : {"randomized", "observed"}
        Whether the runner drew it.
    effect : float or None
        The ratio of values: of the highest level to the lowest (``levels``), of a window and all places
        elsewhere on a circle (``circle``), or of one standard deviation more of the factor (``sd``).
    effect_of : {"levels", "circle", "sd"}
        Which of these.
    low, high : float or None
        The interval of `effect`, with the confidence of the result.
    lowest, highest : str or None
        The levels that are compared; of a circle the window, such as ``12 to 27``, and ``elsewhere``.
    runs : int
        How many runs were looked at.
    pvalue : float or None
        None where the design cannot tell.
    pvalue_adjusted : float or None
        For the whole trial: all factors of all benchmarks and variants.
    known_before : bool
        Whether it was fixed before the run.
    causal : bool
        Whether an effect that is found is one of the factor: it was randomized.
    may_follow : bool
        Whether it may be a consequence of a long run as well as its cause.
    """

    benchmark: str
    variant: str
    factor: str
    kind: Kind
    effect: float | None
    effect_of: EffectOf
    low: float | None
    high: float | None
    lowest: str | None
    highest: str | None
    runs: int
    pvalue: float | None
    pvalue_adjusted: float | None
    known_before: bool
    causal: bool
    may_follow: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ModeClass:
    """A mode: the mean of its values in their unit, and its share of the runs."""

    mean: float
    share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Mode:
    """The modes of one benchmark and variant, and the factor that separates them.

    All from `mode` on is None, False or empty where no factor does.

    Attributes
    ----------
    benchmark, variant, trial : str
        Whose runs.
    classes : tuple of ModeClass
        By mean, the smallest first.
    classes_by : {"values", "order"}
        What tells them apart: their values alone, or that the level changes within sessions.
    aside : int
        Runs that belong to no mode: far from all, or of one with too few.
    mode : int or None
        Which mode the factor tells from the others, counted from 1.
    factor : str or None
        As it is recorded.
    kind : {"randomized", "observed"} or None
        Whether the runner drew it.
    causal : bool
        Whether it is a cause: it was drawn.
    may_follow : bool
        Whether it may be a consequence of a long run; then no other factor separates the modes.
    inside, outside : float or None
        The share of the mode's runs, and of the others, that have the values of the sentence.
    accuracy : float or None
        Held out: the mean of the share of the mode's runs and that of the others that are told
        rightly, by values that were chosen without their session.
    chance : float or None
        What guessing attains.
    pvalue : float or None
        Adjusted for all factors of all benchmarks and variants.
    sentence : str or None
        What separates them, for a person.
    others : tuple of str
        Further factors that separate the modes by the same rules.
    """

    benchmark: str
    variant: str
    trial: str
    classes: tuple[ModeClass, ...]
    classes_by: ClassesBy
    aside: int
    mode: int | None = None
    factor: str | None = None
    kind: Kind | None = None
    causal: bool = False
    may_follow: bool = False
    inside: float | None = None
    outside: float | None = None
    accuracy: float | None = None
    chance: float | None = None
    pvalue: float | None = None
    sentence: str | None = None
    others: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sources(Result):
    """Where the variation of a response comes from.

    Attributes
    ----------
    of : tuple of str
        The trials, or the table.
    response, unit : str
        The metric, or the column, and its unit.
    confidence : float
        Of the intervals; 1 minus it is the family-wise risk.
    permutations : int or None
        How many orders each factor was held against; None of a table.
    seed : int or None
        Where the random draws come from; None where it was not told.
    correlation, correlation_grouped, ceiling : float or None
        Of predicted and measured values that were held out, split at random and by group, and what no
        predictor can pass; None where they do not apply.
    importance : tuple of Importance
        Of a table's factors, the largest first.
    systems : tuple of Across
        Of a table: what predicts its performance, and its variation where the table tells it. The
        four above are those of the first.
    components : tuple of Component
        Of trials.
    factors : tuple of Factor
        Of trials.
    modes : tuple of Mode
        Of trials.
    """

    method: ClassVar[str] = "sources"

    of: tuple[str, ...]
    response: str
    unit: str
    confidence: float = 0.95
    permutations: int | None = None
    seed: int | None = None
    correlation: float | None = None
    correlation_grouped: float | None = None
    ceiling: float | None = None
    importance: tuple[Importance, ...] = ()
    systems: tuple[Across, ...] = ()
    components: tuple[Component, ...] = ()
    factors: tuple[Factor, ...] = ()
    modes: tuple[Mode, ...] = ()
