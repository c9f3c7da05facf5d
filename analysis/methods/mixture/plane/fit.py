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
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ....errors import AnalysisError, InsufficientDataError, UsageError
from ....pages.model import Caution
from ....stats.arguments import counted, door, numbers
from ....stats.samples import Array, Indices, Integers
from ..cautions import at_limit, discarded
from ..fit import MOST_COMPONENTS
from .model import MODELS, EmState2d, Mixture2d

_LARGEST, _SMALLEST = 1e150, 1e-150  # squares must stay finite and positive


def correlation(pairs: Array) -> float:
    """Give Pearson's correlation of two columns, neither constant."""
    d = pairs - pairs.mean(axis=0)
    d /= np.abs(d).max(axis=0)
    d /= np.sqrt((d * d).sum(axis=0))
    return float(np.clip(d[:, 0] @ d[:, 1], -1, 1))


def checked_options(
    models: Sequence[str], names: tuple[str, str], units: str, most: int
) -> tuple[tuple[str, ...], int]:
    """Check the arguments of `fit_mixture_2d`; give the models in our order, and the largest K."""
    unknown = [model for model in models if model not in MODELS]
    if isinstance(models, str) or unknown or not models or len(set(models)) < len(models):
        said = "models must name some of the fourteen models, each once"
        raise UsageError(said, fix=f"choose from {', '.join(MODELS)}")
    if units not in ("given", "spread"):
        raise UsageError(f"units must be 'given' or 'spread', not {units!r}")
    if len(set(names)) != 2 or not all(isinstance(name, str) for name in names):
        raise UsageError("names must be two different names, one for each column")
    largest = counted("max_components", most, most=MOST_COMPONENTS)
    return tuple(model for model in MODELS if model in models), largest


def checked_pairs(values_xy: ArrayLike, names: tuple[str, str]) -> Array:
    """Check the values of `fit_mixture_2d`; it says what is raised when."""
    pairs = numbers(values_xy, "the values to be fitted", dimensions=None)
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        raise UsageError(
            f"the values to be fitted must have two columns, not the shape {pairs.shape}",
            fix="put both metrics of a run in one row",
        )
    n = len(pairs)
    if n < 3:
        said = f"a mixture in the plane needs at least 3 pairs, and there are {n}"
        raise InsufficientDataError(said, n=n, needed=3)
    if not np.isfinite(pairs).all():
        raise AnalysisError("a value to be fitted is not finite", fix="leave out failed runs")
    if np.abs(pairs).max() > _LARGEST:
        raise AnalysisError(f"a value exceeds {_LARGEST:g} in size", fix="choose a larger unit")
    for name, column in zip(names, pairs.T, strict=True):
        if column.min() == column.max():
            raise AnalysisError(
                f"all {n} values of {name} are equal: there is no plane to fit in",
                fix="fit the other metric alone, with fit_mixture",
            )
    if np.ptp(pairs, axis=0).min() < _SMALLEST:
        raise AnalysisError(
            f"a metric's spread is below {_SMALLEST:g}", fix="choose a smaller unit"
        )
    if 1 - abs(correlation(pairs)) <= 1e-12:  # 1 - |r| that rounding may leave
        raise AnalysisError(
            f"all pairs of {names[0]} and {names[1]} lie on one line: one metric tells the other",
            fix="fit one of them alone, with fit_mixture",
        )
    return pairs


START_POINTS = 2000  # mclust's limit; above it the clustering sees a subset


def start_classes(x: Array, y: Array, most: int) -> Integers:
    """Cluster points into 1 to `most` classes, without randomness.

    They are first put on their principal axes, as mclust does (its option SVD): both coordinates are
    standardised; of their principal components each is divided by the square root of its singular
    value. In the plane the axes are the sum and the difference, the longer one first: the clustering
    does not treat both alike.
    """
    from .em_kernel import partitions

    size = x.size
    x, y = ((v - v.mean()) / v.std(ddof=1) for v in (x, y))
    axes = (x + y) * np.sqrt(0.5), (x - y) * np.sqrt(0.5)
    u, v = (axis / np.sqrt(np.sqrt(axis @ axis)) for axis in axes)
    if u @ u < v @ v:
        u, v = v, u
    alpha = float(((u - u.mean()) ** 2).sum() + ((v - v.mean()) ** 2).sum()) / (2 * size)
    classes = np.empty((most, size), dtype=np.int64)
    partitions(u, v, max(alpha, np.finfo(np.float64).eps), classes)
    return classes


def plane_cautions(
    pairs: Array,
    table: dict[str, list[float]],
    model: str,
    weights: Array,
    *,
    asked: int,
    units: str,
) -> Iterator[Caution]:
    """Say what limits a fit."""
    n, k = len(pairs), weights.size
    smallest = float(weights.min() * n)
    if n < 30:
        yield Caution("few-values", f"{n} pairs hardly determine clusters in the plane")
    elif k > 1 and smallest < 10:
        yield Caution(
            "small-cluster",
            f"the smallest cluster has about {smallest:.1f} runs: its spread and its "
            "correlation are hardly determined",
        )
    yield from at_limit(k, asked, n)
    yield from _value_cautions(pairs, table, units, most=min(asked, n))
    if model == "EEV" and k > 1 and smallest < 3:
        yield Caution(
            "direction-is-rounding",
            "EEV gives a cluster of one or two runs a direction that is rounding error: its BIC "
            "depends on the order of the rows",
        )
    if n > START_POINTS:
        yield Caution(
            "start-of-some",
            f"the start takes {START_POINTS} of {n} pairs, evenly spaced in the order of the first "
            "metric; mclust draws them at random, so its result may differ",
        )


def _value_cautions(
    pairs: Array, table: dict[str, list[float]], units: str, *, most: int
) -> Iterator[Caution]:
    n, distinct = len(pairs), len(np.unique(pairs, axis=0))
    if distinct < n:
        clock = "; clusters may describe the steps of a clock" if distinct < n * 0.5 else ""
        yield Caution(
            "many-ties",
            f"{n - distinct} of {n} pairs repeat others; ties among distances are broken by "
            f"rounding, and may be broken otherwise in mclust{clock}",
        )
    lost = sum(math.isnan(value) for row in table.values() for value in row)
    ratio = float(np.divide(*sorted(pairs.std(axis=0))[::-1]))
    if units == "given" and ratio > 1e5:
        yield Caution(
            "spreads-unlike",
            f"the metrics' spreads differ by a factor of {ratio:.2g} as numbers: mclust's limits "
            'then discard candidates for their units alone; units="spread" does not',
        )
    yield from discarded(lost, len(table) * most)


Units = Literal["given", "spread"]

_THINNEST = 1e-14  # 1 - r^2 of an ellipse that a matrix of doubles can still tell from a line
# mclust's M-steps of these models report what makes it leave the closing step out
_UNCLOSED = ("VEE", "EVE", "VVE", "VEV")


class _ScaledPairs(NamedTuple):
    """Pairs in the units of the fit, the points that the start sees, and its classes of them."""

    x: Array
    y: Array
    points: Indices
    classes: Integers


class _Candidate(NamedTuple):
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
    points = np.arange(n)
    if n > START_POINTS:  # so many of them, evenly spaced by x
        ranks = np.linspace(0, n - 1, START_POINTS).round().astype(np.intp)
        points = np.sort(np.lexsort((y, x))[ranks])
    classes = start_classes(x[points], y[points], most)
    table, fit = _candidates(_ScaledPairs(x, y, points, classes), tried, most)
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
        overall_correlation=correlation(given),
        em=state,
        cautions=tuple(
            plane_cautions(given, table, fit.model, weights, asked=max_components, units=units)
        ),
    )


def _candidates(
    sample: _ScaledPairs, models: tuple[str, ...], most: int
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


def _fitted(sample: _ScaledPairs, model: str, k: int) -> _Candidate | None:
    """Fit one candidate, None when it is discarded."""
    from . import covariance_kernel as shapes, em_kernel as em

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
        return _Candidate(model, likelihood, 1, weights, means, cov, z)
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
    return _Candidate(model, float(outcome[0]), int(outcome[1]), weights, means, cov, z)


_ONE = {model: 0 if model[1] == "I" else 2 if model[2] == "I" else 6 for model in MODELS}


def _closing_step(x: Array, y: Array, fit: _Candidate) -> tuple[Array, Array, Array]:
    """Do one more M-step where weights and mean memberships differ, or a subset began the fit."""
    from . import covariance_kernel as shapes, em_kernel as em

    before = fit.weights, fit.means, fit.cov
    k, model = fit.weights.size, fit.model
    apart = float(((fit.weights - fit.z.mean(axis=1)) ** 2).sum())
    if k == 1 or model in _UNCLOSED or (apart <= 2.0**-26 and x.size <= START_POINTS):
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


def _bic(likelihood: float, model: str, k: int, n: int) -> float:
    """Give 2 L - p ln n: p free weights, means, and sizes, shapes and tilts of the ellipses."""
    sizes = k if model[0] == "V" else 1
    shapes, tilts = ({"I": 0, "E": 1, "V": k}[letter] for letter in model[1:])
    return 2 * likelihood - ((k - 1) + 2 * k + sizes + shapes + tilts) * math.log(n)


def _matrices(cov: Array) -> Array:
    """Give covariance matrices, shape (K, 2, 2), from variances of x, slopes and what is left."""
    xx, slope, rest = cov
    xy = slope * xx
    return np.array([[xx, xy], [xy, rest + slope * xy]]).transpose(2, 0, 1)
