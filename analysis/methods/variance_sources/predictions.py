"""How predictions of held-out rows agree with what was measured, and what they follow.

Importance by permutation [1]_, on rows that the model has not seen: a covariate's values are moved
among all rows, and the squared error grows by a share of the response's variance. (Values are not
moved within a fold: where families are held out, one fold may hold a single one of them.) Partial
dependence [2]_: the mean prediction when all rows are given one value of a covariate. Relative
influence [2]_: what the splits by a covariate took from the squared error of the rows learned from.

References
----------
.. [1] L. Breiman, "Random forests", Machine Learning 45, 2001, section 10.
.. [2] J. H. Friedman, "Greedy function approximation: a gradient boosting machine", Annals of
   Statistics 29(5), 2001, sections 8.1 (influence) and 8.2 (partial dependence).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ...stats.arguments import stream
from ...stats.samples import Array, Indices
from ...stats.workers import Progress, in_order
from .held_out import Booster, HeldOut, one_thread
from .result import Agreement, Dependence, DependencePoint, Importance, Influence

if TYPE_CHECKING:
    from .mixed_table import TableColumn
    from .systems_table import CovariateRows


RESAMPLES = 2000
_ONE = 1 - 1e-12  # whose z is finite


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
    out = held.out
    y, folds, tested = y[out], len(held.boosters), int(out.sum())
    correlation, low, high = correlation_interval(
        held.deviations[out],
        y,
        None if families is None else np.unique(families[out], return_inverse=True)[1],
        others=folds / (folds - 1) if folds > 1 else tested / (len(out) - tested),
        confidence=confidence,
        rng=rng,
    )
    errors = held.predicted[out] - y
    relative: float | None = None
    if logs:
        relative = float(np.median(np.abs(np.expm1(errors))))
    elif (y > 0).all():
        relative = float(np.median(np.abs(errors) / y))
    return Agreement(
        correlation=correlation,
        low=low,
        high=high,
        confidence=confidence,
        rmse=float(np.sqrt((errors**2).mean())),
        relative_error=relative,
        explained=1 - float((errors**2).mean() / y.var()),
        folds=folds,
        rows=tested,
        trees=held.trees,
    )


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
    Other rows to learn from would have given other models, and folds share nearly all of theirs: its
    square is multiplied by 1 + `others` [1]_, which is folds / (folds - 1), or rows tested / rows
    learned from in a single split.

    References
    ----------
    .. [1] C. Nadeau, Y. Bengio, "Inference for the generalization error", Machine Learning 52,
       2003, section 3 (J of their equation are the folds, n2 / n1 is 1 / (folds - 1); `others` is
       J n2 / n1).
    """
    u, v = _standard(x), _standard(y)
    if u is None or v is None:
        return None, None, None
    sums = np.column_stack([np.ones_like(u), u, v, u * u, v * v, u * v])
    if families is not None:
        sums = np.column_stack([np.bincount(families, column) for column in sums.T])
    count = len(sums)
    found = []
    together = max(1, 4_000_000 // count)  # drawn counts in memory
    for first in range(0, RESAMPLES, together):
        some = min(together, RESAMPLES - first)
        drawn = rng.multinomial(count, np.full(count, 1 / count), size=some)
        found.append(_correlations(drawn @ sums))
    drawn_r = np.concatenate(found)
    drawn_r = drawn_r[np.isfinite(drawn_r)]
    whole = float(_correlations(sums.sum(axis=0)[None, :])[0])
    if len(drawn_r) < 2:
        return whole, None, None
    error = float(np.arctanh(np.clip(drawn_r, -_ONE, _ONE)).std(ddof=1))
    error *= math.sqrt(1 + others)
    middle = math.atanh(min(max(whole, -_ONE), _ONE))
    reach = NormalDist().inv_cdf((1 + confidence) / 2) * error
    return whole, math.tanh(middle - reach), math.tanh(middle + reach)


def _standard(values: Array) -> Array | None:
    spread = float(values.std())
    return None if spread == 0 else np.asarray((values - values.mean()) / spread)


def _correlations(sums: Array) -> Array:
    n, u, v, uu, vv, uv = sums.T
    with np.errstate(invalid="ignore", divide="ignore"):
        found = (uv / n - u * v / n**2) / np.sqrt((uu / n - (u / n) ** 2) * (vv / n - (v / n) ** 2))
    return np.asarray(np.clip(found, -1, 1))


_CELLS = 4_000_000  # of the rows that are predicted together: one call is costly, and so is memory
_GRID, _LEVELS = 20, 12  # points of a curve


def importances(
    design: CovariateRows,
    y: Array,
    held: HeldOut,
    *,
    repeats: int,
    seed: int,
    step: Callable[[], None],
    workers: int | None = None,
) -> tuple[Importance, ...]:
    """Measure the importance of every covariate, the largest first."""
    asked = (
        _Fold(
            booster=booster,
            x=design.coded(np.flatnonzero(held.folds != fold)),
            y=y,
            out=np.flatnonzero(held.folds == fold),
            predicted=held.predicted[held.folds == fold],
        )
        for fold, booster in enumerate(held.boosters)
    )
    grown = np.zeros((len(design.names), repeats))
    work = partial(_grown, names=design.names, repeats=repeats, seed=seed)
    for of_fold in in_order(work, asked, workers=workers, prefer="processes"):
        grown += of_fold
        step()
    tested = y[held.out]
    shares = grown / (len(tested) * float(tested.var()))
    means, sds = shares.mean(axis=1), shares.std(axis=1, ddof=1)
    order = np.argsort(-means, kind="stable")
    return tuple(
        Importance(factor=design.names[k], mean=float(means[k]), sd=float(sds[k])) for k in order
    )


def influences(names: Sequence[str], held: HeldOut) -> tuple[Influence, ...]:
    """Give each covariate's relative influence in the trees of all folds, the largest first."""
    gains = np.zeros(len(names))
    for booster in held.boosters:
        gains += split_gains(booster.model, len(names))
    if not gains.sum() > 0:
        return ()
    shares = gains / gains.sum()
    order = np.argsort(-shares, kind="stable")
    return tuple(Influence(factor=names[k], share=float(shares[k])) for k in order)


def split_gains(model: Any, columns: int) -> Array:  # noqa: ANN401 - sklearn's
    """Sum the improvements of all splits by column, over all trees.

    Of a split of a node into l and r it is n_l n_r / (n_l + n_r) (mean_l - mean_r)^2, of what the trees
    before it left (Friedman's equations 35, 44 and 45). scikit-learn keeps it in each node, and has no
    public name for that; its trees count columns of levels first.
    """
    gains = np.zeros(columns)
    for (tree,) in model._predictors:
        inner = tree.nodes[tree.nodes["is_leaf"] == 0]
        np.add.at(gains, inner["feature_idx"], inner["gain"])
    levels = model.is_categorical_
    if levels is None:
        return gains
    found = np.empty(columns)
    found[np.argsort(~levels, kind="stable")] = gains
    return found


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Fold:
    """A fold's model, all rows as it is given them, and the rows `out` that it has not seen."""

    booster: Booster
    x: Array
    y: Array
    out: Indices
    predicted: Array


def _grown(
    fold: _Fold, _going_on: Progress, *, names: tuple[str, ...], repeats: int, seed: int
) -> Array:
    """Give what the fold's squared errors grow by, for each covariate and repeat."""

    def moves(name: str, number: int) -> Indices:
        """Shuffle the rows: the same way in each fold, drawn anew rather than kept."""
        return stream(seed, "importance", name, str(number)).permutation(len(fold.y))

    x, out, y = fold.x, fold.out, fold.y[fold.out]
    before = float(((fold.predicted - y) ** 2).sum())
    each = [(place, number) for place in range(len(names)) for number in range(repeats)]
    together = max(1, _CELLS // x[out].size)
    grown = []
    for first in range(0, len(each), together):
        some = each[first : first + together]
        moved = np.tile(x[out], (len(some), 1, 1))
        for copy, (place, number) in zip(moved, some, strict=True):
            copy[:, place] = x[moves(names[place], number)[out], place]
        with one_thread():
            guesses = fold.booster.predict(moved.reshape(-1, x.shape[1]))
        grown.append(((guesses.reshape(len(some), -1) - y) ** 2).sum(axis=1) - before)
    return np.concatenate(grown).reshape(len(names), repeats)


def dependences(
    design: CovariateRows, factors: Sequence[str], held: HeldOut, *, rng: np.random.Generator
) -> tuple[Dependence, ...]:
    """Give the partial dependence of the predictions on some covariates."""
    count = len(held.folds)
    rows = np.sort(rng.permutation(count)[:500])  # rows that a point is the mean of
    places = {name: k for k, name in enumerate(design.names)}
    grids = {name: _grid(design.columns[places[name]]) for name in factors}
    curves: dict[str, list[Array]] = {name: [] for name in factors}
    for fold, booster in enumerate(held.boosters):
        x = design.coded(np.flatnonzero(held.folds != fold))
        for name in factors:
            place, column = places[name], design.columns[places[name]]
            # a row with the wanted value shows how this fold's model is given it
            given = [x[np.flatnonzero(column.values == value)[0], place] for value in grids[name]]
            asked = np.tile(x[rows], (len(given), 1))
            asked[:, place] = np.repeat(given, len(rows))
            curves[name].append(booster.predict(asked).reshape(len(given), -1).mean(axis=1))
    return tuple(
        _dependence(design.columns[places[name]], grids[name], np.array(curves[name]))
        for name in factors
    )


def _dependence(column: TableColumn, grid: Array, curves: Array) -> Dependence:
    means = curves.mean(axis=0).tolist()
    sds = curves.std(axis=0, ddof=1).tolist() if len(curves) > 1 else [None] * len(means)
    points = tuple(
        DependencePoint(
            at=float(value) if column.levels is None else column.levels[int(value)],
            rows=int((column.values == value).sum()),
            mean=mean,
            sd=sd,
        )
        for value, mean, sd in zip(grid, means, sds, strict=True)
    )
    kind: Literal["numeric", "categorical"] = "numeric" if column.numeric else "categorical"
    return Dependence(factor=column.name, kind=kind, points=points)


def _grid(column: TableColumn) -> Array:
    """Give values that occur: quantiles of a number, the most frequent levels."""
    values = column.values[column.known]
    found, counts = np.unique(values, return_counts=True)
    if column.numeric:
        if len(found) <= _GRID:
            return np.asarray(found)
        return np.unique(np.quantile(values, np.linspace(0, 1, _GRID), method="nearest"))
    return np.asarray(found[np.argsort(-counts, kind="stable")][:_LEVELS])
