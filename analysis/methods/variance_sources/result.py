"""What is known of where variation comes from: of systems, of runs and of modes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from ...pages.result import Result
from ...stats.samples import Array

REFERENCES = (
    "S. Irving et al., Computer comparisons in the presence of performance variation, Frontiers of "
    "Computer Science 2018, section 7",
    "J. H. Friedman, Greedy function approximation: a gradient boosting machine, Annals of "
    "Statistics 29(5), 2001",
    "L. Breiman, Random forests, Machine Learning 45, 2001, section 10 (importance by permutation)",
    "C. Nadeau and Y. Bengio, Inference for the generalization error, Machine Learning 52, 2003",
    "C. Spearman, The proof and measurement of association between two things, American Journal of "
    "Psychology 15, 1904 (attenuation)",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """How predictions of held-out rows agree with what was measured.

    `correlation` is Pearson's, of the measured response and its prediction less the mean of what was
    learned from; None where one of them does not vary. `low` and `high` are the interval of it with
    `confidence`, for other systems to learn from and to predict: families are drawn as a whole where
    they are known. `rmse`, the root of the mean squared error, is in the response's unit,
    `relative_error` the median size of predicted / measured - 1 (None where a response is not
    positive), `explained` 1 - mean squared error / variance: negative when the mean alone predicts
    better. `folds` are the parts that were held out in turn (1: one split) and hold `rows` together,
    `trees` those of each fold's model.
    """

    correlation: float | None
    low: float | None
    high: float | None
    confidence: float
    rmse: float
    relative_error: float | None
    explained: float
    folds: int
    rows: int
    trees: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ceiling:
    """The most that a prediction can correlate with a response that is measured with noise.

    `correlation` is sqrt(1 - `noise_share`), that share mean noise variance / variance of the response,
    at most 1; `rows` are those whose noise is known.
    """

    correlation: float
    noise_share: float
    rows: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Importance:
    """What predictions of held-out rows lose without a covariate.

    `mean` and `sd`, over the repeats, are of the squared error that shuffling it adds, as a share of the
    response's variance.
    """

    factor: str
    mean: float
    sd: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Influence:
    """What the splits of all trees by one covariate took from the squared error while they were fitted.

    `share` is that of all splits; shares sum to 1, whatever the predictions are worth.
    """

    factor: str
    share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class DependencePoint:
    """The mean prediction when every row is given one value or level of a covariate, which `rows` have.

    `mean` and `sd`, over the models of the folds, are in the response's unit; a single model has no sd.
    """

    at: float | str
    rows: int
    mean: float
    sd: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Dependence:
    """How the predictions follow one covariate, all others as they are."""

    factor: str
    kind: Literal["numeric", "categorical"]
    points: tuple[DependencePoint, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CovariateUsed:
    """A covariate as it was used: its different values, and the rows in which it is unknown."""

    name: str
    kind: Literal["numeric", "categorical"]
    levels: int
    unknown: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Across:
    """What predicts one response of many systems, and how well.

    `response` is what was predicted: the column's name, the columns' names, or the logarithm of their
    variation, log(standard deviation / mean) of the runs. `rows` systems were used, `left_out` have no
    such response. `group` is the column that names families, of which there are `families`. `random` is
    the agreement on rows held out at random, as published, `grouped` that on whole families. `ceiling`
    is None where the response's noise is not known. `test_share` is the share of the rows that one split
    held out, None where each row was held out once, in folds. `importance`, the largest first, and
    `dependence`, of the most important covariates, were measured on the held-out rows of `importance_of`;
    `resamples` is how often runs were drawn anew for the standard deviation of a suite's mean, None
    of other responses. `influence`, the largest first, is that of the trees of the same models, empty where none has a split.
    The arrays are read-only, shape (rows,); predictions are nan where a row was not held out.
    """

    unlisted: ClassVar[frozenset[str]] = frozenset(
        {"measured", "predicted_random", "predicted_grouped"}
    )

    response: str
    kind: Literal["performance", "variation"]
    rows: int
    left_out: int
    group: str | None
    families: int | None
    covariates: tuple[CovariateUsed, ...]
    random: Agreement
    grouped: Agreement | None
    ceiling: Ceiling | None
    test_share: float | None
    resamples: int | None
    importance_of: Literal["grouped", "random"]
    importance: tuple[Importance, ...]
    influence: tuple[Influence, ...]
    dependence: tuple[Dependence, ...]
    measured: Array
    predicted_random: Array
    predicted_grouped: Array | None

    @property
    def strictest(self) -> Agreement:
        """The agreement on families never seen where they are known, else on rows never seen."""
        return self.random if self.grouped is None else self.grouped


ELSEWHERE = "elsewhere"  # what a window of a circle is compared with
Kind = Literal["randomized", "observed"]
ClassesBy = Literal["values", "order"]
EffectOf = Literal["levels", "circle", "sd"]
Source = Literal[
    "benchmark", "host", "trial", "session", "benchmark:session", "block", "run", "iteration"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Component:
    """A part of the variance of logarithms; `benchmark` is None for all benchmarks together.

    `source` says between what the values differ: ``benchmark:session`` is what a session does to one
    benchmark and not to the others, ``run`` what the others leave, iterations aside; there are `levels`
    of it. `sd`, the standard deviation of logarithms, is a share of the value: 0.01 is 1 %. `share` is
    that of the sum of all variances, None where nothing varies.
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

    It is called ``factor (levels)`` where whole numbers are taken as categories, and `kind` says whether
    the runner drew it. `effect` is a ratio of values: of the level `highest` to `lowest` (`effect_of`
    ``levels``), of a window, such as ``12 to 27``, and all places elsewhere on a circle (``circle``), or
    of one standard deviation more of the factor (``sd``); `low` and `high` are its interval, with the
    confidence of the result. `pvalue` is None where the design cannot tell, `pvalue_adjusted` is for the
    whole trial: all factors of all benchmarks and variants. `known_before` tells whether it was fixed
    before the run, `causal` whether an effect that is found is one of the factor (it was randomized),
    `may_follow` whether it may be a consequence of a long run as well as its cause.
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

    `classes` stand by their mean, the smallest first, and were told apart by their values alone or by the
    `order`: the level changes within sessions. `aside` runs belong to none: far from all, or of one with
    too few. All from `mode` on is None, False or empty where no factor separates them. `mode` is the one
    that the factor tells from the others, counted from 1; it is `causal` where it was drawn, and where it
    `may_follow` from a long run no other factor separates the modes. `inside` and `outside` are the shares
    of the mode's runs, and of the others, that have the values of the `sentence`. `accuracy`, held out, is
    the mean of the shares of the mode's runs and of the others that are told rightly, by values that were
    chosen without their session; `chance` is what guessing attains. `pvalue` is adjusted for all factors
    of all benchmarks and variants; `others` separate the modes by the same rules.
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
