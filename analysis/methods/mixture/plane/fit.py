"""Fit mixtures of Gaussians to pairs of two metrics of the same runs (time and energy, say).

The candidates are K = 1 .. 9 components in each of fourteen models of what the components share,
fitted by EM from a hierarchical clustering; BIC chooses ([1]_, section 9.1, asks for such models).
The numerical conventions are those of the R package mclust 6.0.0 ([2]_).

References
----------
.. [1] J. Worms, S. Touati, "Modelling program's performance with Gaussian mixtures for parametric
       statistics", IEEE Trans. Multi-Scale Computing Systems, 2018, section 9.1.
.. [2] L. Scrucca, M. Fop, T. B. Murphy, A. E. Raftery, "mclust 5: clustering, classification and
       density estimation using Gaussian finite mixture models", The R Journal 8(1), 2016.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ....errors import AnalysisError
from ....stats import door
from .cautions import plane_cautions
from .checks import checked_options, checked_pairs, correlation
from .model import EmState2d, Mixture2d
from .models import MODELS
from .start import START_POINTS, chosen, start_classes

__all__ = ["Units", "fit_mixture_2d"]

Array = NDArray[np.float64]
Units = Literal["given", "spread"]

_EXTRA_STEP = 2.0**-26
_THINNEST = 1e-14  # 1 - r^2 of an ellipse that a matrix of doubles can still tell from a line
# mclust's M-steps of these models report what makes it leave the closing step out
_UNCLOSED = ("VEE", "EVE", "VVE", "VEV")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Sample:
    """Pairs in the units of the fit, the points that the start sees, and its classes of them."""

    x: Array
    y: Array
    points: NDArray[np.intp]
    classes: NDArray[np.int64]

    @classmethod
    def of(cls, x: Array, y: Array, most: int) -> _Sample:
        points = chosen(x, y)
        classes = start_classes(x[points], y[points], most)
        return cls(x=x, y=y, points=points, classes=classes)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Candidate:
    """A fit in the units of the fit: `cov` as in `covariances` of the kernel, `z` memberships."""

    model: str
    likelihood: float
    iterations: int
    weights: Array
    means: Array
    cov: Array
    z: Array


@door
def fit_mixture_2d(
    values_xy: ArrayLike,
    *,
    max_components: int = 9,
    models: Sequence[str] = MODELS,
    names: tuple[str, str] = ("wall", "energy"),
    units: Units = "given",
) -> Mixture2d:
    """Fit mixtures of 1 to `max_components` bivariate Gaussians; take the one with the best BIC.

    With its defaults the fit is that of mclust 6.0.0's ``Mclust``: start by model-based
    hierarchical clustering (VVV, after its transformation SVD), EM until the log-likelihood changes
    by at most 1e-5 of itself, candidates discarded by each model's own test for vanishing
    variances (and, other than there, when a component's correlation is 1 to 14 digits), BIC =
    2 L - p ln n, equal BIC to the smaller K and then to the first name in the alphabet, and one
    closing M-step where weights and mean memberships differ (the state before it is kept in
    `Mixture2d.em`; VEE, EVE, VVE and VEV have no such step). Above 2,000 pairs mclust draws 2,000
    at random for its start; here the start takes 2,000 evenly spaced ones in the order of the first
    metric.

    Parameters
    ----------
    values_xy : array_like, shape (n, 2)
        At least 3 pairs of finite values, one pair a run, each metric in a unit of its own.
    max_components : int
        The largest K, 1 to 64; never more than n.
    models : sequence of str
        Which of the fourteen models to try.
    names : tuple of two str
        What the columns are called.
    units : {"given", "spread"}
        "given" fits the values as they are, as mclust does; its limits on variances, its stop rule
        and the circles of EII and VII then depend on the units. "spread" divides each metric by
        its standard deviation first and gives everything back in the units given; take it when
        the numbers are of very different size, such as seconds and bytes.

    Returns
    -------
    Mixture2d
        The best candidate, the BIC table of all, and cautions.

    Raises
    ------
    UsageError
        If an argument is out of its range, or the values are not pairs of numbers.
    InsufficientDataError
        With fewer than 3 pairs.
    AnalysisError
        If a value is not finite or too large, a metric is constant, or all pairs lie on a line.
    """
    tried, most = checked_options(models, names, units, max_components)
    given = checked_pairs(values_xy, names)
    spread = given.std(axis=0, ddof=1) if units == "spread" else np.ones(2)
    x, y = (np.ascontiguousarray(column) for column in (given / spread).T)
    n = x.size
    most = min(most, n)
    table, fit = _candidates(_Sample.of(x, y, most), tried, most)
    if fit is None:
        raise AnalysisError(
            f"no mixture fits these {n} pairs: their spread is lost in rounding",
            fix='take units="spread", or give the values with more digits',
        )
    k, model = fit.weights.size, fit.model
    weights, means, cov = _closing_step(x, y, fit)
    # a density in the units given is smaller by both scales
    shift = -n * float(np.log(spread).sum())
    state = EmState2d(
        weights=fit.weights,
        means=fit.means.T * spread,
        covariances=_matrices(fit.cov) * np.outer(spread, spread),
    )
    r = correlation(given)
    return Mixture2d(
        weights=weights,
        means=means.T * spread,
        covariances=_matrices(cov) * np.outer(spread, spread),
        model=model,
        names=(names[0], names[1]),
        log_likelihood=fit.likelihood + shift,
        bic=_bic(fit.likelihood, model, k, n) + 2 * shift,
        bic_table={name: tuple(value + 2 * shift for value in row) for name, row in table.items()},
        n=n,
        iterations=fit.iterations if k > 1 else None,
        overall_correlation=r,
        em=state,
        cautions=tuple(
            plane_cautions(given, table, fit.model, weights, asked=max_components, units=units)
        ),
    )


def _candidates(
    sample: _Sample, models: tuple[str, ...], most: int
) -> tuple[dict[str, list[float]], _Candidate | None]:
    """Give the BIC of every candidate, and the best of them."""
    table: dict[str, list[float]] = {model: [] for model in models}
    best, choice = -math.inf, None
    for k in range(1, most + 1):
        for model in sorted(models):
            fit = _fitted(sample, model, k)
            value = math.nan if fit is None else _bic(fit.likelihood, model, k, sample.x.size)
            table[model].append(value)
            if value > best:
                best, choice = value, fit
    return table, choice


def _fitted(sample: _Sample, model: str, k: int) -> _Candidate | None:
    """Fit one candidate, None when it is discarded."""
    from . import kernel as em, model_kernel as shapes

    x, y, points = sample.x, sample.y, sample.points
    n, code = x.size, MODELS.index(model)
    weights, means, cov = np.empty(k), np.empty((2, k)), np.empty((3, k))
    state, room = np.empty(shapes.STATE + 3 * k), np.empty((2, n))
    if k == 1:
        # closed form; as in mclust no limit on the variance but zero
        z = np.ones((1, n))
        shapes.fresh(state)
        em.maximise(_ONE[model], x, y, z, weights, means, cov, state)
        if not (cov[0, 0] > 0 and cov[2, 0] > 0):
            return None
        likelihood = em.expectation(x, y, weights, means, cov, z, room)
        return _Candidate(
            model=model,
            likelihood=likelihood,
            iterations=1,
            weights=weights,
            means=means,
            cov=cov,
            z=z,
        )
    z = (sample.classes[k - 1] == np.arange(k)[:, None]).astype(np.float64)
    if points.size < n:
        shapes.fresh(state)
        if not em.maximise(code, x[points], y[points], z, weights, means, cov, state):
            return None
        z = np.empty((k, n))
        em.expectation(x, y, weights, means, cov, z, room)
    outcome = np.empty(em.OUTCOME)
    em.fit(code, x, y, z, weights, means, cov, outcome)
    if math.isnan(outcome[0]) or _is_line(cov):
        return None
    return _Candidate(
        model=model,
        likelihood=float(outcome[0]),
        iterations=int(outcome[1]),
        weights=weights,
        means=means,
        cov=cov,
        z=z,
    )


_ONE = {model: 0 if model[1] == "I" else 2 if model[2] == "I" else 6 for model in MODELS}


def _closing_step(x: Array, y: Array, fit: _Candidate) -> tuple[Array, Array, Array]:
    """Do one more M-step where weights and mean memberships differ, or a subset began the fit."""
    from . import kernel as em, model_kernel as shapes

    before = fit.weights, fit.means, fit.cov
    k, model = fit.weights.size, fit.model
    apart = float(((fit.weights - fit.z.mean(axis=1)) ** 2).sum())
    if k == 1 or model in _UNCLOSED or (apart <= _EXTRA_STEP and x.size <= START_POINTS):
        return before
    weights, means, cov = np.empty(k), np.empty((2, k)), np.empty((3, k))
    state = np.empty(shapes.STATE + 3 * k)
    shapes.fresh(state)
    done = em.maximise(MODELS.index(model), x, y, fit.z, weights, means, cov, state)
    return (weights, means, cov) if done and not _is_line(cov) else before


def _is_line(cov: Array) -> bool:
    """Tell whether a component is too thin for its covariance matrix to show it."""
    xx, slope, rest = cov
    return bool((rest <= _THINNEST * (rest + slope * slope * xx)).any())


def _parameters(model: str, k: int) -> int:
    """Count the free parameters: weights, means, and sizes, shapes and tilts of the ellipses."""
    sizes = k if model[0] == "V" else 1
    shapes = {"I": 0, "E": 1, "V": k}[model[1]]
    tilts = {"I": 0, "E": 1, "V": k}[model[2]]
    return (k - 1) + 2 * k + sizes + shapes + tilts


def _bic(likelihood: float, model: str, k: int, n: int) -> float:
    return 2 * likelihood - _parameters(model, k) * math.log(n)


def _matrices(cov: Array) -> Array:
    """Give covariance matrices, shape (K, 2, 2), from variances of x, slopes and what is left."""
    xx, slope, rest = cov
    xy = slope * xx
    return np.array([[xx, xy], [xy, rest + slope * xy]]).transpose(2, 0, 1)
