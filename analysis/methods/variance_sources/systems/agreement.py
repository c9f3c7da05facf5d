"""How predictions of held-out rows agree with what was measured."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from .held_out import HeldOut
from .result import Agreement

__all__ = ["agreement", "correlation_interval"]

Array = NDArray[np.float64]
_Whole = NDArray[np.intp]

RESAMPLES = 2000
_ONE = 1 - 1e-12  # whose z is finite
_AT_ONCE = 4_000_000  # drawn counts in memory


def agreement(
    held: HeldOut,
    y: Array,
    *,
    families: _Whole | None,
    logs: bool,
    confidence: float,
    rng: np.random.Generator,
) -> Agreement:
    """Compare predictions with what was measured.

    Parameters
    ----------
    held : HeldOut
    y : array of float, shape (rows,)
    families : array of int, shape (rows,), or None
        Rows that are drawn together for the interval; each row alone if None.
    logs : bool
        Whether `y` is a logarithm; the relative error is that of the value itself.
    confidence : float
        Of the interval.
    rng : numpy.random.Generator
        Of the bootstrap.

    Notes
    -----
    The correlation is that of y with the prediction less the mean that its model learned from. The
    mean of what is learned from falls when the rows held out are high, so that predictions of
    nothing but that mean would correlate negatively; less it, a model that has learned nothing has
    a correlation of 0.
    """
    correlation, low, high = correlation_interval(
        held.deviations, y, families, folds=len(held.boosters), confidence=confidence, rng=rng
    )
    errors = held.predicted - y
    if logs:
        relative: float | None = float(np.median(np.abs(np.expm1(errors))))
    elif (y > 0).all():
        relative = float(np.median(np.abs(errors) / y))
    else:
        relative = None
    return Agreement(
        correlation=correlation,
        low=low,
        high=high,
        confidence=confidence,
        rmse=float(np.sqrt((errors**2).mean())),
        relative_error=relative,
        explained=1 - float((errors**2).mean() / y.var()),
        folds=len(held.boosters),
        trees=held.trees,
    )


def correlation_interval(
    x: Array,
    y: Array,
    families: _Whole | None,
    *,
    folds: int,
    confidence: float,
    rng: np.random.Generator,
) -> tuple[float | None, float | None, float | None]:
    """Give Pearson's correlation of held-out predictions x with y, and an interval.

    A bootstrap of whole families gives the standard error of Fisher's z for the models as they are.
    Other rows to learn from would have given other models, and the folds share nearly all of
    theirs: its square is multiplied by 1 + folds / (folds - 1) [1]_.

    Returns
    -------
    tuple of (float or None)
        The correlation, and the ends of its interval; None where x or y does not vary.

    References
    ----------
    .. [1] C. Nadeau, Y. Bengio, "Inference for the generalization error", Machine Learning 52,
       2003, section 3 (J of their equation are the folds, n2 / n1 is 1 / (folds - 1)).
    """
    u, v = _standard(x), _standard(y)
    if u is None or v is None:
        return None, None, None
    sums = np.column_stack([np.ones_like(u), u, v, u * u, v * v, u * v])
    if families is not None:
        sums = np.column_stack([np.bincount(families, column) for column in sums.T])
    count = len(sums)
    found = []
    together = max(1, _AT_ONCE // count)
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
    error *= math.sqrt(1 + folds / (folds - 1))
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
