"""Every row predicted by boosted trees that have not seen it.

The published study fits boosted regression trees [1]_ [2]_. The number of trees is chosen by the
squared error on a part of the rows that is not learned from; then that many trees are fitted to all
rows.

References
----------
.. [1] S. Irving, B. Li, S. Chen, L. Peng, W. Zhang, L. Duan, "Computer comparisons in the presence
   of performance variation", Frontiers of Computer Science, 2018, section 7.
.. [2] J. H. Friedman, "Greedy function approximation: a gradient boosting machine", Annals of
   Statistics 29(5), 2001.

A random split leaves near copies of a held-out system in what is learned from, so that a model can
look them up. A grouped split never shares a family between both sides.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import library_needed
from ...stats.samples import Array, Flags, Indices
from ...stats.workers import Progress, in_order

if TYPE_CHECKING:
    from .systems_table import CovariateRows


MOST_TREES = 200
PATIENCE = 25  # trees that are added at a time, and may bring nothing
_LEAF, _SMALLEST_LEAF, _LEAVES_OF = 20, 3, 25  # rows of a leaf: a 25th of all, within 3 to 20


@contextmanager
def one_thread() -> Iterator[None]:
    """Let the booster have one thread."""
    import sklearn.ensemble  # noqa: F401 - only libraries that are loaded can be limited
    from threadpoolctl import threadpool_limits  # scikit-learn brings it along

    with threadpool_limits(limits=1, user_api="openmp"):
        yield


def check_installed() -> None:
    """Refuse to begin without scikit-learn."""
    try:
        import sklearn.ensemble  # noqa: F401 - whether it is there
    except ImportError as error:
        fix = "pip install 'fairtrial[sources]'"
        raise library_needed("a model of boosted trees", "scikit-learn", error, fix=fix) from None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Booster:
    """A fitted model; `centre` and `scale` are mean and standard deviation of what it learned from."""

    model: Any
    centre: float
    scale: float
    trees: int

    def deviation(self, x: Array) -> Array:
        """Predict how far each row's response lies from `centre`."""
        return np.asarray(self.model.predict(x), dtype=np.float64) * self.scale

    def predict(self, x: Array) -> Array:
        """Predict each row's response."""
        return self.centre + self.deviation(x)


def boosted(x: Array, y: Array, *, categories: Flags, left: Flags, seed: int) -> Booster:
    """Fit trees to all rows, as many as predict those of `left` best from the others."""
    centre = float(y.mean())
    scale = float(y.std()) or 1.0
    z = (y - centre) / scale
    trees = _trees(x, z, categories=categories, left=left, seed=seed)
    model = _model(trees, len(y), categories, seed).fit(x, z)
    return Booster(model=model, centre=centre, scale=scale, trees=trees)


def _trees(x: Array, z: Array, *, categories: Flags, left: Flags, seed: int) -> int:
    """Give the number of trees; none are added when `PATIENCE` of them brought nothing."""
    model = _model(PATIENCE, int((~left).sum()), categories, seed)
    model.set_params(warm_start=True)
    losses: list[float] = []
    while len(losses) < MOST_TREES:
        model.set_params(max_iter=len(losses) + PATIENCE).fit(x[~left], z[~left])
        guesses = itertools.islice(model.staged_predict(x[left]), len(losses), None)
        losses += [float(((guess - z[left]) ** 2).mean()) for guess in guesses]
        if int(np.argmin(losses)) < len(losses) - PATIENCE:
            break
    return int(np.argmin(losses)) + 1


def _model(trees: int, rows: int, categories: Flags, seed: int) -> Any:  # noqa: ANN401 - sklearn's
    from sklearn.ensemble import HistGradientBoostingRegressor

    return HistGradientBoostingRegressor(
        max_iter=trees,
        learning_rate=0.1,
        max_leaf_nodes=31,
        min_samples_leaf=int(min(_LEAF, max(_SMALLEST_LEAF, rows // _LEAVES_OF))),
        categorical_features=categories if categories.any() else None,
        early_stopping=False,  # its own would split families
        random_state=seed,
    )


def random_folds(rows: int, folds: int, rng: np.random.Generator) -> Indices:
    """Give each row its fold; the sizes differ by one row at most."""
    found = np.empty(rows, np.intp)
    found[rng.permutation(rows)] = np.arange(rows) % folds
    return found


def grouped_folds(families: Indices, folds: int, rng: np.random.Generator) -> Indices:
    """Give each row the fold of its family."""
    sizes = np.bincount(families)
    order = rng.permutation(len(sizes))
    order = order[np.argsort(-sizes[order], kind="stable")]
    filled = np.zeros(folds, np.intp)
    fold_of = np.empty(len(sizes), np.intp)
    for family in order:
        fold = int(filled.argmin())
        fold_of[family] = fold
        filled[fold] += sizes[family]
    return np.asarray(fold_of[families])


def one_split(
    rows: int, share: float, families: Indices | None, rng: np.random.Generator
) -> Indices:
    """Hold out this share of the rows (in whole families: or a little more) as the fold 0."""
    chosen = (
        random_part(rows, share, rng) if families is None else grouped_part(families, share, rng)
    )
    return np.where(chosen, 0, -1)


def random_part(rows: int, share: float, rng: np.random.Generator) -> Flags:
    """Choose this share of the rows, at least one."""
    chosen = np.zeros(rows, np.bool_)
    chosen[rng.permutation(rows)[: max(1, round(rows * share))]] = True
    return chosen


def grouped_part(families: Indices, share: float, rng: np.random.Generator) -> Flags:
    """Choose whole families with this share of the rows or a little more, never all of them."""
    names, places = np.unique(families, return_inverse=True)
    sizes = np.bincount(places)
    order = rng.permutation(len(names))
    order = order[np.argsort(sizes[order] > len(families) / 2, kind="stable")]
    wanted = share * len(families)
    taken = np.zeros(len(names), np.bool_)
    held = 0
    for family in order[:-1]:
        taken[family] = True
        held += int(sizes[family])
        if held >= wanted:
            break
    return np.asarray(taken[places])


_DECIDING = 0.15  # share of the rows learned from that decides on the number of trees


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class HeldOut:
    """The models of all folds, and what they predict.

    `folds` is, for each row, the fold in which it is held out, -1 if in none; `boosters` the model of
    each fold. `predicted` is in the response's unit, nan for rows never held out; `deviations` are the
    same less the mean of the rows that the model learned from.
    """

    folds: Indices
    boosters: tuple[Booster, ...]
    predicted: Array
    deviations: Array

    @property
    def out(self) -> Flags:
        """Which rows were held out."""
        return np.asarray(self.folds >= 0)

    @property
    def trees(self) -> tuple[int, ...]:
        """How many trees the models have."""
        return tuple(booster.trees for booster in self.boosters)


def hold_out(
    design: CovariateRows,
    y: Array,
    folds: Indices,
    *,
    families: Indices | None,
    rng: np.random.Generator,
    step: Callable[[], None],
    workers: int | None = None,
) -> HeldOut:
    """Fit a model for each fold to the rows of all others, and predict the fold by it.

    Rows of the fold -1 are learned from only.
    """
    count = int(folds.max()) + 1
    splits = [(np.flatnonzero(folds != k), np.flatnonzero(folds == k)) for k in range(count)]

    def asked() -> Iterator[_Fold]:
        for learned, out in splits:
            left = (
                random_part(len(learned), _DECIDING, rng)
                if families is None
                else grouped_part(families[learned], _DECIDING, rng)
            )
            x = design.coded(learned)
            yield _Fold(
                x=x[learned], y=y[learned], left=left, seed=int(rng.integers(2**31)), out=x[out]
            )

    predicted, deviations = np.full(len(y), np.nan), np.full(len(y), np.nan)
    boosters = []
    work = partial(_fitted, categories=design.categories)
    fitted = in_order(work, asked(), workers=workers, prefer="processes")
    for (_, out), (booster, found) in zip(splits, fitted, strict=True):
        deviations[out] = found
        predicted[out] = booster.centre + found
        boosters.append(booster)
        step()
    return HeldOut(
        folds=folds, boosters=tuple(boosters), predicted=predicted, deviations=deviations
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Fold:
    """What a fold's model learns from, and the rows `out` that it predicts."""

    x: Array
    y: Array
    left: Flags
    seed: int
    out: Array


def _fitted(fold: _Fold, _going_on: Progress, *, categories: Flags) -> tuple[Booster, Array]:
    """Fit one fold's model, and predict the rows that it has not seen."""
    with one_thread():
        booster = boosted(fold.x, fold.y, categories=categories, left=fold.left, seed=fold.seed)
        return booster, booster.deviation(fold.out)
