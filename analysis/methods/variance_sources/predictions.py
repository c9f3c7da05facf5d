"""Rows predicted by models that have not seen them: how well, what that rests on, and what it follows.

Folds, boosted trees [1]_, importance by permutation [2]_ and partial dependence are scikit-learn's.
Covariates are shuffled among all rows that are held out, and each row is predicted by the model of its
own fold. Relative influence [1]_ is what the splits by a covariate took from the squared error.

References
----------
.. [1] J. H. Friedman, "Greedy function approximation: a gradient boosting machine", Annals of
   Statistics 29(5), 2001, sections 8.1 (influence) and 8.2 (partial dependence).
.. [2] L. Breiman, "Random forests", Machine Learning 45, 2001, section 10.
.. [3] C. Nadeau, Y. Bengio, "Inference for the generalization error", Machine Learning 52, 2003, section 3.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.inspection import partial_dependence, permutation_importance
from sklearn.model_selection import GroupKFold, GroupShuffleSplit, KFold, ShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder
from threadpoolctl import threadpool_limits  # scikit-learn brings it along

from ...stats.samples import Array, Indices
from ...stats.workers import Progress, in_order
from .across import Agreement, Dependence, DependencePoint, Importance, Influence
from .mixed_table import TableColumn

RESAMPLES = 2000
MOST_TREES = 200
MOST_LEVELS = 200  # of a covariate in a fold; all rarer ones are one
_DECIDING = 0.15  # share of the rows learned from that decides on the number of trees
_GRID, _MOST_SHOWN, _MEAN_OF = 20, 12, 500  # points of a curve, levels of one, rows of a point
_TOGETHER = 4_000_000  # drawn counts in memory
_ONE = 1 - 1e-12  # whose z is finite

# several threads add up in another order
one_thread = partial(threadpool_limits, limits=1, user_api="openmp")
Split = tuple[Indices, Indices]  # the rows that are learned from, and those held out


class FoldModels(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """The `models` of all folds as one, for rows in their order: `parts` are those of each model."""

    def __init__(self, models: Sequence[Any], parts: Sequence[Indices]) -> None:
        self.models = models
        self.parts = parts

    def fit(self, _x: Array, _y: Array) -> FoldModels:
        """Do nothing: the models are fitted."""
        return self

    def predict(self, x: Array) -> Array:
        """Predict each row by the model of its fold."""
        found = np.empty(len(x))
        for model, part in zip(self.models, self.parts, strict=True):
            found[part] = model.predict(x[part])
        return found


class HeldOut(NamedTuple):
    """The rows `out` that were held out, ascending, what predicts them, and their predictions.

    `predicted` is in the response's unit, `deviations` are the same less the mean of the rows that the
    model learned from.
    """

    out: Indices
    model: FoldModels
    predicted: Array
    deviations: Array
    trees: tuple[int, ...]


def model_of(columns: Sequence[TableColumn], rows: int, seed: int) -> Any:  # noqa: ANN401 - sklearn's
    """Give the model of these covariates, where there are `rows` rows; levels come first in it."""
    levels = [k for k, column in enumerate(columns) if not column.numeric]
    encoder = OrdinalEncoder(
        handle_unknown="use_encoded_value", unknown_value=np.nan, encoded_missing_value=np.nan,
        max_categories=MOST_LEVELS,
    )  # fmt: skip
    trees = HistGradientBoostingRegressor(
        max_iter=MOST_TREES, min_samples_leaf=min(20, max(3, rows // 25)),
        categorical_features=list(range(len(levels))) or None,
        early_stopping=True, validation_fraction=_DECIDING, random_state=seed,
    )  # fmt: skip
    encoded = ColumnTransformer([("levels", encoder, levels)], remainder="passthrough")
    return make_pipeline(encoded, trees)


def splits_of(
    rows: int, families: Indices | None, *, folds: int, share: float | None, seed: int
) -> list[Split]:
    """Split the rows at random, or by whole families: in folds, or once with this share held out."""
    chosen: Any
    if share is not None:
        once = ShuffleSplit if families is None else GroupShuffleSplit
        chosen = once(1, test_size=share, random_state=seed)
    elif families is None:
        chosen = KFold(folds, shuffle=True, random_state=seed)
    else:
        chosen = GroupKFold(min(folds, int(families.max()) + 1))
    return list(chosen.split(np.empty(rows), groups=families))


def hold_out(
    model: Any,  # noqa: ANN401 - sklearn's
    x: Array,
    y: Array,
    splits: Sequence[Split],
    *,
    workers: int | None,
) -> HeldOut:
    """Fit a model to what each split learns from, and predict what it holds out."""
    learned, held = zip(*splits, strict=True)
    out = np.sort(np.concatenate(held))
    work = partial(_fitted, model=model, x=x, y=y)
    models = list(in_order(work, learned, workers=workers, prefer="processes"))
    parts = [np.searchsorted(out, rows) for rows in held]
    together = FoldModels(models, parts)
    predicted = together.predict(x[out])
    deviations = predicted.copy()
    for rows, part in zip(learned, parts, strict=True):
        deviations[part] -= y[rows].mean()
    trees = tuple(int(one[-1].n_iter_) for one in models)
    return HeldOut(out, together, predicted, deviations, trees)


def _fitted(learned: Indices, _going_on: Progress, *, model: Any, x: Array, y: Array) -> Any:  # noqa: ANN401
    with one_thread():
        return clone(model).fit(x[learned], y[learned])


def agreement(
    held: HeldOut,
    y: Array,
    *,
    families: Indices | None,
    logs: bool,
    confidence: float,
    rng: np.random.Generator,
) -> Agreement:
    """Compare predictions with what was measured.

    The correlation is that of y with the prediction less the mean that its model learned from. The
    mean of what is learned from falls when the rows held out are high, so that predictions of
    nothing but that mean would correlate negatively; less it, a model that has learned nothing has
    a correlation of 0.
    """
    rows, folds = len(y), len(held.trees)
    y, tested = y[held.out], len(held.out)
    families = None if families is None else np.unique(families[held.out], return_inverse=True)[1]
    others = folds / (folds - 1) if folds > 1 else tested / (rows - tested)
    correlation, low, high = correlation_interval(
        held.deviations, y, families, others=others, confidence=confidence, rng=rng
    )
    errors = held.predicted - y
    squared, relative = float((errors**2).mean()), None
    if logs or (y > 0).all():
        relative = float(np.median(np.abs(np.expm1(errors)) if logs else np.abs(errors) / y))
    return Agreement(
        correlation=correlation, low=low, high=high, confidence=confidence,
        rmse=math.sqrt(squared), relative_error=relative, explained=1 - squared / float(y.var()),
        folds=folds, rows=tested, trees=held.trees,
    )  # fmt: skip


def correlation_interval(
    x: Array,
    y: Array,
    families: Indices | None,
    *,
    others: float,
    confidence: float,
    rng: np.random.Generator,
) -> tuple[float | None, float | None, float | None]:
    """Give Pearson's correlation of held-out predictions x with y, and an interval.

    A bootstrap of whole families gives the standard error of Fisher's z for the models as they are.
    Other rows to learn from would have given other models, and folds share nearly all of theirs:
    its square is multiplied by 1 + `others` [3]_, which is folds / (folds - 1), or rows tested /
    rows learned from in a single split (J of their equation are the folds, n2 / n1 is 1 / (folds -
    1); `others` is J n2 / n1).
    """
    if x.std() == 0 or y.std() == 0:
        return None, None, None
    u, v = ((values - values.mean()) / values.std() for values in (x, y))
    sums = np.column_stack([np.ones_like(u), u, v, u * u, v * v, u * v])
    if families is not None:
        sums = np.column_stack([np.bincount(families, column) for column in sums.T])
    count = len(sums)
    together = max(1, _TOGETHER // count)
    drawn_r = np.concatenate([
        _correlations(rng.multinomial(count, np.full(count, 1 / count), size=some) @ sums)
        for first in range(0, RESAMPLES, together)
        for some in (min(together, RESAMPLES - first),)
    ])  # fmt: skip
    drawn_r = drawn_r[np.isfinite(drawn_r)]
    whole = float(_correlations(sums.sum(axis=0)[None, :])[0])
    if len(drawn_r) < 2:
        return whole, None, None
    error = float(np.arctanh(np.clip(drawn_r, -_ONE, _ONE)).std(ddof=1)) * math.sqrt(1 + others)
    middle = math.atanh(min(max(whole, -_ONE), _ONE))
    reach = NormalDist().inv_cdf((1 + confidence) / 2) * error
    return whole, math.tanh(middle - reach), math.tanh(middle + reach)


def _correlations(sums: Array) -> Array:
    n, u, v, uu, vv, uv = sums.T
    with np.errstate(invalid="ignore", divide="ignore"):
        found = (uv / n - u * v / n**2) / np.sqrt((uu / n - (u / n) ** 2) * (vv / n - (v / n) ** 2))
    return np.asarray(np.clip(found, -1, 1))


def importances(
    names: Sequence[str], x: Array, y: Array, held: HeldOut, *, repeats: int, seed: int
) -> tuple[Importance, ...]:
    """Measure what squared errors grow by when a covariate is shuffled, the largest first."""
    x, y = x[held.out], y[held.out]
    found = permutation_importance(
        held.model, x, y, scoring="neg_mean_squared_error",
        n_repeats=repeats, random_state=seed, n_jobs=1,
    )  # fmt: skip
    shares = found.importances / y.var()
    means, sds = shares.mean(axis=1), shares.std(axis=1, ddof=1)
    order = np.argsort(-means, kind="stable")
    return tuple(Importance(factor=names[k], mean=float(means[k]), sd=float(sds[k])) for k in order)


def influences(columns: Sequence[TableColumn], held: HeldOut) -> tuple[Influence, ...]:
    """Give each covariate's relative influence in the trees of all folds, the largest first."""
    names = [c.name for numeric in (False, True) for c in columns if c.numeric == numeric]
    gains = np.sum([split_gains(model[-1], len(names)) for model in held.model.models], axis=0)
    if not gains.sum() > 0:
        return ()
    shares = gains / gains.sum()
    order = np.argsort(-shares, kind="stable")
    return tuple(Influence(factor=names[k], share=float(shares[k])) for k in order)


def split_gains(model: Any, columns: int) -> Array:  # noqa: ANN401 - sklearn's
    """Sum the improvements of all splits by column, over all trees; columns of levels come first.

    Of a split of a node into l and r it is n_l n_r / (n_l + n_r) (mean_l - mean_r)^2, of what the trees
    before it left (Friedman's equations 35, 44 and 45). scikit-learn keeps it in each node, and has no
    public name for that.
    """
    gains = np.zeros(columns)
    for (tree,) in model._predictors:
        inner = tree.nodes[tree.nodes["is_leaf"] == 0]
        np.add.at(gains, inner["feature_idx"], inner["gain"])
    return gains


def dependence(
    place: int, column: TableColumn, x: Array, held: HeldOut, rng: np.random.Generator
) -> Dependence:
    """Give the partial dependence of the predictions on a covariate, over all folds' models.

    Its points are values that occur: quantiles of a number, the most frequent levels.
    """
    some = x[np.sort(rng.permutation(len(x))[:_MEAN_OF])]
    values = x[:, place][~np.isnan(x[:, place])]
    grid, counts = np.unique(values, return_counts=True)
    if not column.numeric:
        grid = grid[np.argsort(-counts, kind="stable")][:_MOST_SHOWN]
    elif len(grid) > _GRID:
        grid = np.unique(np.quantile(values, np.linspace(0, 1, _GRID), method="nearest"))
    asked = {"features": [place], "custom_values": {place: grid}, "method": "brute"}
    models = held.model.models
    curves = np.array([partial_dependence(one, some, **asked)["average"][0] for one in models])
    sds = curves.std(axis=0, ddof=1).tolist() if len(curves) > 1 else [None] * len(grid)
    return Dependence(
        factor=column.name,
        kind="numeric" if column.numeric else "categorical",
        points=tuple(
            DependencePoint(
                at=at if column.levels is None else column.levels[int(at)],
                rows=int((values == at).sum()),
                mean=mean,
                sd=sd,
            )
            for at, mean, sd in zip(grid.tolist(), curves.mean(axis=0).tolist(), sds, strict=True)
        ),
    )
