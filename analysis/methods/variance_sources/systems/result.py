"""What is told of the variation across systems."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "REFERENCES",
    "Across",
    "Agreement",
    "Ceiling",
    "CovariateUsed",
    "Dependence",
    "DependencePoint",
    "Importance",
]

Array = NDArray[np.float64]

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

    Attributes
    ----------
    correlation : float or None
        Pearson's, of the measured response and its prediction less the mean of what was learned
        from; None where one of them does not vary.
    low, high : float or None
        An interval of it, for other systems to learn from and to predict: families are drawn as a
        whole where they are known.
    confidence : float
        Of the interval.
    rmse : float
        Root of the mean squared error, in the response's unit.
    relative_error : float or None
        Median size of predicted / measured - 1; None where a response is not positive.
    explained : float
        1 - mean squared error / variance; negative when the mean alone predicts better.
    folds : int
        Into how many parts the rows were split.
    trees : tuple of int
        Of each fold's model.
    """

    correlation: float | None
    low: float | None
    high: float | None
    confidence: float
    rmse: float
    relative_error: float | None
    explained: float
    folds: int
    trees: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ceiling:
    """The most that a prediction can correlate with a response that is measured with noise.

    Attributes
    ----------
    correlation : float
        sqrt(1 - noise_share).
    noise_share : float
        Mean noise variance / variance of the response, at most 1.
    rows : int
        Rows whose noise is known.
    """

    correlation: float
    noise_share: float
    rows: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Importance:
    """What predictions of held-out rows lose without a covariate.

    Attributes
    ----------
    factor : str
        The covariate.
    mean, sd : float
        The squared error that is added by shuffling it, as a share of the response's variance: mean
        and standard deviation over the repeats.
    """

    factor: str
    mean: float
    sd: float


@dataclass(frozen=True, slots=True, kw_only=True)
class DependencePoint:
    """The mean prediction when every row is given one value of a covariate.

    Attributes
    ----------
    at : float or str
        The value or level.
    rows : int
        How many rows have it.
    mean, sd : float
        In the response's unit: mean and standard deviation over the models of the folds.
    """

    at: float | str
    rows: int
    mean: float
    sd: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Dependence:
    """How the predictions follow one covariate, all others as they are."""

    factor: str
    kind: Literal["numeric", "categorical"]
    points: tuple[DependencePoint, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CovariateUsed:
    """A covariate as it was used.

    Attributes
    ----------
    name : str
    kind : {"numeric", "categorical"}
    levels : int
        Different values.
    unknown : int
        Rows in which it is unknown.
    """

    name: str
    kind: Literal["numeric", "categorical"]
    levels: int
    unknown: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Across:
    """What predicts one response of many systems, and how well.

    Attributes
    ----------
    response : str
        What was predicted: the column's name, the columns' names, or the logarithm of their
        variation.
    kind : {"performance", "variation"}
        ``variation`` is log(standard deviation / mean) of the runs.
    rows, left_out : int
        Systems that were used, and those without this response.
    group : str or None
        The column that names families.
    families : int or None
        How many.
    covariates : tuple of CovariateUsed
    random, grouped : Agreement; Agreement or None
        Rows held out at random, as published; whole families held out.
    ceiling : Ceiling or None
        None where the response's noise is not known.
    importance_of : {"grouped", "random"}
        On which held-out rows importance and dependence were measured.
    importance : tuple of Importance
        The largest first.
    dependence : tuple of Dependence
        Of the most important covariates.
    measured, predicted_random : read-only array, shape (rows,)
    predicted_grouped : read-only array or None
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
    importance_of: Literal["grouped", "random"]
    importance: tuple[Importance, ...]
    dependence: tuple[Dependence, ...]
    measured: Array
    predicted_random: Array
    predicted_grouped: Array | None

    @property
    def strictest(self) -> Agreement:
        """The agreement on families never seen where they are known, else on rows never seen."""
        return self.random if self.grouped is None else self.grouped
