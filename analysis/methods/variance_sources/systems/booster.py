"""Boosted regression trees with early stopping, by scikit-learn's histogram booster.

The published study fits boosted regression trees [1]_ [2]_. The number of trees is chosen by the
squared error on a part of the rows that is not learned from; then that many trees are fitted to all
rows.

References
----------
.. [1] S. Irving, B. Li, S. Chen, L. Peng, W. Zhang, L. Duan, "Computer comparisons in the presence
   of performance variation", Frontiers of Computer Science, 2018, section 7.
.. [2] J. H. Friedman, "Greedy function approximation: a gradient boosting machine", Annals of
   Statistics 29(5), 2001.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....errors import UsageError

__all__ = ["MOST_TREES", "Booster", "boosted", "check_installed", "one_thread"]

Array = NDArray[np.float64]
_Flags = NDArray[np.bool_]

MOST_TREES = 200
PATIENCE = 25  # trees that are added at a time, and may bring nothing
RATE = 0.1  # of learning: the share of each tree that is added
LEAVES = 31
_LEAF, _SMALLEST_LEAF, _LEAVES_OF = 20, 3, 25  # rows of a leaf: a 25th of all, within 3 to 20


@contextmanager
def one_thread() -> Iterator[None]:
    """Let the booster have one thread.

    Its threads wait for each other by spinning: on a machine that has anything else to do, two take
    ten times as long as one alone.
    """
    import sklearn.ensemble  # noqa: F401 - only libraries that are loaded can be limited
    from threadpoolctl import threadpool_limits  # scikit-learn brings it along

    with threadpool_limits(limits=1, user_api="openmp"):
        yield


def check_installed() -> None:
    """Refuse to begin without scikit-learn.

    Raises
    ------
    UsageError
        With the line that installs it.
    """
    try:
        import sklearn.ensemble  # noqa: F401 - whether it is there
    except ImportError:
        raise UsageError(
            "boosted trees need the library scikit-learn, which is not installed",
            fix="pip install 'fairtrial[sources]'",
        ) from None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Booster:
    """A fitted model.

    Attributes
    ----------
    centre, scale : float
        Mean and standard deviation of what it learned from.
    trees : int
        How many it has.
    """

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


def boosted(x: Array, y: Array, *, categories: _Flags, left: _Flags, seed: int) -> Booster:
    """Fit trees to all rows, as many as predict those of `left` best from the others.

    Parameters
    ----------
    x : array of float, shape (rows, covariates)
        nan where unknown; whole numbers from 0 in columns of `categories`.
    y : array of float, shape (rows,)
    categories : array of bool, shape (covariates,)
    left : array of bool, shape (rows,)
        The rows that decide on the number of trees: of 1 to `MOST_TREES` the one with the least
        squared error, as far as trees are added.
    seed : int
        Of the choice of rows by which the bins of more than 200,000 rows are made.
    """
    centre = float(y.mean())
    scale = float(y.std()) or 1.0
    z = (y - centre) / scale
    trees = _trees(x, z, categories=categories, left=left, seed=seed)
    model = _model(trees, len(y), categories, seed).fit(x, z)
    return Booster(model=model, centre=centre, scale=scale, trees=trees)


def _trees(x: Array, z: Array, *, categories: _Flags, left: _Flags, seed: int) -> int:
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


def _model(trees: int, rows: int, categories: _Flags, seed: int) -> Any:  # noqa: ANN401 - sklearn's
    from sklearn.ensemble import HistGradientBoostingRegressor

    return HistGradientBoostingRegressor(
        max_iter=trees,
        learning_rate=RATE,
        max_leaf_nodes=LEAVES,
        min_samples_leaf=int(min(_LEAF, max(_SMALLEST_LEAF, rows // _LEAVES_OF))),
        categorical_features=categories if categories.any() else None,
        early_stopping=False,  # its own would split families
        random_state=seed,
    )
