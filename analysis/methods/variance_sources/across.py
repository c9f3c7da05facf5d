"""What predicts a response of many systems, and how well."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from ...stats.samples import Array

ResponseKind = Literal["performance", "variation"]
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
    such response. `group` is the column that names the `families` families. `random` is
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
    kind: ResponseKind
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
