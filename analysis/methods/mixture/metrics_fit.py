"""Fit mixtures of Gaussians to two to eight metrics of the same runs (time and energy, say).

A model's name has a letter for the volume of the ellipsoids, one for their shape and one for their
orientation: E equal, V varying, I (shape) spheres or (orientation) along the axes. The candidates are K = 1 .. 9 components in each of fourteen models of what the components share,
fitted by EM from a hierarchical clustering; BIC chooses (Worms and Touati, section 9.1, ask for such
models). The numerical conventions are those of the R package mclust 6.0.0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ...errors import AnalysisError, InsufficientDataError, UsageError
from ...pages.model import Caution, cautions_of
from ...pages.result import plain
from ...stats.arguments import checks_arguments, chosen, counted, numbers
from ...stats.samples import Array, Flags, Indices, Integers
from ...words import name_fields
from .fit import MOST_COMPONENTS, at_limit, discarded
from .model import LOG_2PI, Gaussians, Mixture, Parameters, finite, frozen, total_weight

MODELS = (  # a model's place is its code in the kernels
    *("EII", "VII", "EEI", "VEI", "EVI", "VVI", "EEE"),
    *("VEE", "EVE", "VVE", "EEV", "VEV", "EVV", "VVV"),
)
SIMPLEST = ("EII", "EEI", "EEE")  # of one Gaussian all models of a kind are the same


COUNTS = ("", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
LEAST_CORRELATED = 5  # runs of a cluster whose correlation is shown
REFERENCES = (
    "J. Worms, S. Touati, Modelling program's performance with Gaussian mixtures for parametric "
    "statistics, IEEE TMSCS 2018, section 9.1",
    "G. Celeux, G. Govaert, Gaussian parsimonious clustering models, Pattern Recognition 28(5), "
    "1995 (the fourteen models)",
    "L. Scrucca et al., mclust 5, The R Journal 8(1), 2016 (conventions of the fit)",
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class EmState2d(Parameters):
    """Weights, means and covariances before the last M-step of the fit."""

    covariances: Array


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MixtureOfMetrics(Gaussians):
    """A mixture of K Gaussians for d metrics of the same runs, d from 2 to 8.

    Attributes
    ----------
    weights : array, shape (K,)
    means : array, shape (K, d)
        In the metrics' units.
    covariances : array, shape (K, d, d)
    model : str
        What the components share: the name of one of mclust's fourteen models, "EII" to "VVV"
        (letters for volume, shape and orientation: equal, varying, I for none). One Gaussian is
        named by the simplest of its kind: EII, EEI or EEE.
    names : tuple of d str
        The metrics.
    overall_correlation : float, or array, shape (d, d)
        Pearson's correlation of all runs, whatever their clusters; of more than two metrics a
        matrix, as all correlations are.
    em : EmState2d
        The state before the last M-step, to which `log_likelihood` and `bic` belong.

    The last two and what `Gaussians` adds belong to a fit; in a mixture made from parameters they
    are None.

    Raises
    ------
    UsageError
        If the parameters are no mixture: wrong shapes, weights that are not positive or do not sum
        to 1 (within 1e-6), a value that is not finite, a covariance that is not symmetric and
        positive definite.
    """

    method: ClassVar[str] = "fit-mixture-2d"
    words: ClassVar[str] = "analysis.methods.mixture.metrics_page:screen"

    covariances: Array
    model: str
    names: tuple[str, ...]
    overall_correlation: float | Array | None = None
    em: EmState2d | None = None
    references: tuple[str, ...] = REFERENCES

    def __post_init__(self) -> None:
        name_fields(self, "names")
        w, m, c = (
            finite(getattr(self, name), name) for name in ("weights", "means", "covariances")
        )
        k = w.size
        d = len(self.names)
        if w.shape != (k,) or k == 0 or m.shape != (k, d) or c.shape != (k, d, d):
            raise UsageError(
                f"a mixture of {d} metrics needs K weights, K means of {d} numbers and K "
                f"covariances of {d} by {d}, not {w.shape}, {m.shape} and {c.shape}"
            )
        total = total_weight(w)
        sound = bool((c == c.transpose(0, 2, 1)).all())
        if not (sound and (np.diagonal(c, axis1=1, axis2=2) > 0).all() and _definite(c)):
            raise UsageError("a covariance must be symmetric and positive definite")
        if d < 2 or len(set(self.names)) < d:
            raise UsageError("a mixture of metrics needs two or more different names")
        for name, value in (("weights", w / total), ("means", m), ("covariances", c)):
            object.__setattr__(self, name, frozen(value))

    @property
    def correlations(self) -> Array:
        """Correlation of both metrics within each component, shape (K,); of more, (K, d, d)."""
        every = of_covariance(self.covariances)
        return np.asarray(every[:, 0, 1] if len(self.names) == 2 else every)

    @property
    def sparse(self) -> Flags:
        """Which components hold too few runs for a correlation: below 5 none is shown."""
        runs = np.rint(self.weights * (math.inf if self.n is None else self.n))
        return np.asarray(runs < LEAST_CORRELATED)

    @property
    def correlated(self) -> bool:
        """Whether the model lets metrics vary together within a component."""
        return self.model[2] != "I"

    def mean(self) -> Array:
        """Give the expectation of the metrics, shape (d,)."""
        return np.asarray(self.weights @ self.means)

    def covariance(self) -> Array:
        """Give the covariance of the whole mixture, shape (d, d)."""
        d = self.means - self.mean()
        total = self.covariances + d[:, :, None] * d[:, None, :]
        return np.asarray(np.tensordot(self.weights, total, 1))

    def correlation(self) -> float | Array:
        """Give the correlation of the whole mixture: between the clusters and within them."""
        return _correlations(self.covariance())

    def within_correlation(self) -> float | Array:
        """Give the correlation that is left when the clusters' means are taken away."""
        return _correlations(np.tensordot(self.weights, self.covariances, 1))

    def marginal(self, name: str) -> Mixture:
        """Give the mixture of one metric alone.

        Its density, quantiles, modes and chances are those of `Mixture`; its number of components
        is that of all metrics, not the one that the metric alone would have been fitted with.

        Raises
        ------
        UsageError
            If there is no such metric.
        """
        if name not in self.names:
            raise UsageError(f"the mixture has the metrics {listed(self.names)}, not {name}")
        j = self.names.index(name)
        return Mixture.from_parameters(
            weights=self.weights, means=self.means[:, j], sds=np.sqrt(self.covariances[:, j, j])
        )

    def pdf(self, points: ArrayLike) -> Any:  # noqa: ANN401 - a number for a point, else an array
        """Give the density at points, shape (..., d), in 1 / (product of the units)."""
        with np.errstate(under="ignore", over="ignore"):
            density = np.exp(self._log_parts(points)).sum(axis=-1)
        return float(density) if density.ndim == 0 else density

    def memberships(self, points: ArrayLike) -> Array:
        """Give the posterior probability of each component, shape (..., K)."""
        parts = self._log_parts(points)
        with np.errstate(under="ignore"):
            share = np.exp(parts - parts.max(axis=-1, keepdims=True))
        return np.asarray(share / share.sum(axis=-1, keepdims=True))

    def classify(self, points: ArrayLike) -> Indices:
        """Give the component of each point, counted from 0: the largest posterior probability.

        Equal posteriors go to the first component.

        Raises
        ------
        AnalysisError
            If a coordinate is not finite.
        """
        return np.asarray(np.argmax(self._log_parts(points), axis=-1))

    @checks_arguments
    def sample(self, n: int, *, rng: np.random.Generator) -> Array:
        """Draw n independent runs, shape (n, d).

        Raises
        ------
        UsageError
            If n is negative.
        """
        counted("n", n, least=0)
        of = rng.choice(self.components, size=n, p=self.weights)
        spread, lower = self._triangles()
        drawn = rng.standard_normal((len(self.names), n))
        turned = np.einsum("nij,jn->ni", lower[of], drawn)
        return np.asarray(turned * spread[of] + self.means[of])

    def body(self) -> dict[str, Any]:
        """Add the correlations: within the components, left without their means, of the mixture.

        Those of components with fewer than five runs are left out (null).
        """
        within = self.correlations.copy()
        within[self.sparse] = np.nan
        return {
            "correlations": plain(within),
            "within_correlation": plain(self.within_correlation()),
            "mixture_correlation": plain(self.correlation()),
            **Gaussians.body(self),
        }

    def _triangles(self) -> tuple[Array, Array]:
        """Give for each component the sds, and Cholesky's factor of its correlations."""
        # of the correlations: their factor does not suffer from unlike units
        lower = np.asarray(np.linalg.cholesky(of_covariance(self.covariances)), dtype=np.float64)
        return spreads_of(self.covariances), lower

    def _log_parts(self, points: ArrayLike) -> Array:
        """Give the logarithm of weight times density for each point and component."""
        at, d = numbers(points, "the points", dimensions=None), len(self.names)
        if at.ndim == 0 or at.shape[-1] != d:
            count = COUNTS[d] if d < len(COUNTS) else d
            raise UsageError(f"points have {count} coordinates each, not the shape {at.shape}")
        if not np.isfinite(at).all():
            raise AnalysisError("a coordinate of a point is not finite")
        spread, lower = self._triangles()
        left: list[Array] = []  # of each coordinate, what those before it do not explain
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            for j in range(d):
                rest = (at[..., j, None] - self.means[:, j]) / spread[:, j]
                for i, known in enumerate(left):
                    rest = rest - lower[:, j, i] * known
                left.append(rest / lower[:, j, j])
            square = sum(rest**2 for rest in left)
        scale = np.log(self.weights) - 0.5 * d * LOG_2PI
        for j in range(d):
            scale = scale - np.log(spread[:, j]) - np.log(lower[:, j, j])
        return np.asarray(scale - 0.5 * square)


def spreads_of(covariances: Array) -> Array:
    """Give the standard deviations of covariance matrices, shape (..., d)."""
    return np.asarray(np.sqrt(np.diagonal(covariances, axis1=-2, axis2=-1)))


def of_covariance(covariances: Array) -> Array:
    """Give the correlations of covariance matrices, shape (..., d, d)."""
    spread = spreads_of(covariances)
    return np.asarray(covariances / spread[..., :, None] / spread[..., None, :])


def _correlations(covariance: Array) -> float | Array:
    """Give the correlation of two metrics as a number, of more as a matrix."""
    every = of_covariance(covariance)
    return float(every[0, 1]) if len(every) == 2 else every


def _definite(covariances: Array) -> bool:
    try:
        np.linalg.cholesky(of_covariance(covariances))
    except np.linalg.LinAlgError:
        return False
    return True


def listed(names: Sequence[str]) -> str:
    """Set names in a row: "a, b and c"."""
    return f"{', '.join(names[:-1])} and {names[-1]}"


_LARGEST, _SMALLEST = 1e150, 1e-150  # squares must stay finite and positive

MOST_METRICS = 8


def correlation(columns: Array) -> Array:
    """Give Pearson's correlations of columns; none of them is constant."""
    unit = _unit_columns(columns)
    return np.asarray(np.clip(unit.T @ unit, -1, 1))


def _unit_columns(columns: Array) -> Array:
    """Take the means from columns, and give them length 1."""
    d = columns - columns.mean(axis=0)
    d /= np.abs(d).max(axis=0)
    return np.asarray(d / np.sqrt((d * d).sum(axis=0)))


def checked_options(
    models: Sequence[str], names: Sequence[str], units: str, most: int
) -> tuple[tuple[str, ...], int]:
    """Check the arguments of `fit_mixture_of_metrics`; give the models in our order, and the largest K."""
    unknown = [model for model in models if model not in MODELS]
    if isinstance(models, str) or unknown or not models or len(set(models)) < len(models):
        text = "models must name some of the fourteen models, each once"
        raise UsageError(text, fix=f"choose from {', '.join(MODELS)}")
    chosen("units", units, ("given", "spread"))
    if isinstance(names, str) or not all(isinstance(name, str) for name in names):
        raise UsageError("names must be texts, one for each column")
    if len(set(names)) < len(names):
        raise UsageError("names must be different names, one for each column")
    largest = counted("max_components", most, most=MOST_COMPONENTS)
    return tuple(model for model in MODELS if model in models), largest


def checked_values(values: ArrayLike, names: Sequence[str] | None) -> tuple[Array, tuple[str, ...]]:
    """Check the values of `fit_mixture_of_metrics`, which says what is raised when; give them and names."""
    runs = numbers(values, "the values to be fitted", dimensions=None)
    if runs.ndim != 2 or runs.shape[1] < 2:
        raise UsageError(
            f"the values to be fitted must have two columns or more, not the shape {runs.shape}",
            fix="put all metrics of a run in one row",
        )
    n, d = runs.shape
    if d > MOST_METRICS:
        raise UsageError(
            f"a mixture takes at most {MOST_METRICS} metrics, and there are {d}",
            fix="leave out metrics that others tell",
        )
    if names is None:
        names = ("wall", "energy") if d == 2 else tuple(f"metric {j}" for j in range(1, d + 1))
    if len(names) != d:
        text = f"there are {d} columns of values and {len(names)} names: {', '.join(names)}"
        raise UsageError(text, fix="give each column one name")
    if n <= d:
        text = f"a mixture of {d} metrics needs at least {d + 1} runs, and there are {n}"
        raise InsufficientDataError(text, n=n, needed=d + 1)
    if not np.isfinite(runs).all():
        raise AnalysisError("a value to be fitted is not finite", fix="leave out failed runs")
    if np.abs(runs).max() > _LARGEST:
        raise AnalysisError(f"a value exceeds {_LARGEST:g} in size", fix="choose a larger unit")
    for name, column in zip(names, runs.T, strict=True):
        if column.min() == column.max():
            raise AnalysisError(
                f"all {n} values of {name} are equal: nothing varies with them",
                fix="leave this metric out; fit_mixture takes one alone",
            )
    if np.ptp(runs, axis=0).min() < _SMALLEST:
        raise AnalysisError(
            f"a metric's spread is below {_SMALLEST:g}", fix="choose a smaller unit"
        )
    _refuse_dependent(runs, tuple(names))
    return runs, tuple(names)


_DEPENDENT = 1e-12  # what rounding may leave: 1 - |r| of two, the smallest eigenvalue of more


def _refuse_dependent(runs: Array, names: tuple[str, ...]) -> None:
    """Refuse metrics if one follows from the others."""
    d = len(names)
    r = correlation(runs)
    for j in range(d):
        for i in range(j):
            if 1 - abs(r[i, j]) <= _DEPENDENT:
                raise AnalysisError(
                    f"all values of {names[i]} and {names[j]} lie on one line: one metric tells "
                    "the other",
                    fix="leave one of them out; fit_mixture takes one alone",
                )
    _, lengths, axes = np.linalg.svd(_unit_columns(runs), full_matrices=False)
    if lengths[-1] ** 2 <= _DEPENDENT:
        texts = [name for name, part in zip(names, axes[-1], strict=True) if abs(part) > 1e-6]
        raise AnalysisError(
            f"of {', '.join(texts)} each follows from the others: it is their weighted sum",
            fix="leave one of them out",
        )


START_POINTS = 2000  # mclust's limit; above it the clustering sees a subset


def start_classes(points: Array, most: int) -> Integers:
    """Cluster points, shape (d, n), into 1 to `most` classes, without randomness.

    They are first put on their principal axes, as mclust does (its option SVD): all coordinates are
    standardised; of their principal components each is divided by the square root of its singular
    value. The longest comes first: the clustering does not treat them alike.
    """
    from .metrics_em_kernel import partitions

    d, n = points.shape
    standard = ((points.T - points.mean(axis=1)) / points.std(axis=1, ddof=1)).T
    _, lengths, axes = np.linalg.svd(standard.T, full_matrices=False)
    turned = (axes @ standard) / np.sqrt(lengths)[:, None]
    alpha = float(((turned - turned.mean(axis=1)[:, None]) ** 2).sum()) / (d * n)
    classes = np.empty((most, n), dtype=np.int64)
    partitions(np.ascontiguousarray(turned), max(alpha, np.finfo(np.float64).eps), classes)
    return classes


def joint_cautions(
    runs: Array,
    names: tuple[str, ...],
    table: dict[str, list[float]],
    model: str,
    weights: Array,
    *,
    asked: int,
    units: str,
) -> tuple[Caution, ...]:
    """Say what limits a fit."""
    n, d, k = *runs.shape, weights.size
    smallest = float(weights.min() * n)
    # the words for two are those of the first version's JSON
    what = "pairs hardly determine clusters in the plane"
    if d > 2:
        what = f"runs hardly determine clusters of {d} metrics"
    distinct, spreads = len(np.unique(runs, axis=0)), runs.std(axis=0)
    clock = "; clusters may describe the steps of a clock" if distinct < n * 0.5 else ""
    ratio = float(spreads.max() / spreads.min())
    lost = sum(math.isnan(value) for row in table.values() for value in row)
    known = [(name, len(np.unique(column))) for name, column in zip(names, runs.T, strict=True)]
    return cautions_of(
        {
            "few-values": n < 30 and f"{n} {what}",
            "small-cluster": n >= 30
            and k > 1
            and smallest < 10
            and f"the smallest cluster has about {smallest:.1f} runs: its spread and its "
            "correlations are hardly determined",
            "components-at-limit": at_limit(k, asked, n),
            "many-ties": distinct < n
            and f"{n - distinct} of {n} runs repeat others; ties among distances are broken by "
            f"rounding, and may be broken otherwise in mclust{clock}",
            "metric-ties": [
                f"only {count} of {n} values of {name} are distinct: clusters, their correlations "
                f"and the lead in BIC may describe the steps of {name} instead of the program"
                for name, count in known
                if count < n * 0.5
            ],
            "spreads-unlike": units == "given"
            and ratio > 1e5
            and f"the metrics' spreads differ by a factor of {ratio:.2g} as numbers: mclust's "
            'limits then discard candidates for their units alone; units="spread" does not',
            "candidates-discarded": discarded(lost, len(table) * min(asked, n)),
            "direction-is-rounding": model == "EEV"
            and k > 1
            and smallest <= d
            and f"EEV gives a cluster of up to {d} runs a direction that is rounding error: its "
            "BIC depends on the order of the rows",
            "start-of-some": n > START_POINTS
            and f"the start takes {START_POINTS} of {n} runs, evenly spaced in the order of the "
            "first metric; mclust draws them at random, so its result may differ",
        }
    )


Units = Literal["given", "spread"]

_THINNEST = 1e-14  # 1 - r^2 of an ellipse that a matrix of doubles can still tell from a line
# mclust's M-steps of these models report what makes it leave the closing step out
_UNCLOSED = ("VEE", "EVE", "VVE", "VEV")


class _ScaledRuns(NamedTuple):
    """Values (d, n) in units of the fit, the runs that the start sees, and its classes of them."""

    x: Array
    points: Indices
    classes: Integers


class _Candidate(NamedTuple):
    """A fit in the units of the fit: `cov` are factors, see the kernel; `z` memberships."""

    model: str
    likelihood: float
    iterations: int
    weights: Array
    means: Array
    cov: Array
    z: Array


@checks_arguments
def fit_mixture_of_metrics(
    values_xy: ArrayLike,
    *,
    max_components: int = 9,
    models: Sequence[str] = MODELS,
    names: Sequence[str] | None = None,
    units: Units = "given",
) -> MixtureOfMetrics:
    """Fit mixtures of 1 to `max_components` Gaussians of d metrics; take the one with the best BIC.

    With its defaults the fit is that of mclust 6.0.0's ``Mclust``: start by model-based
    hierarchical clustering (VVV, after its transformation SVD), EM until the log-likelihood changes
    by at most 1e-5 of itself, candidates discarded by each model's own test for vanishing
    variances (and, other than there, when a component's correlation is 1 to 14 digits), BIC =
    2 L - p ln n, equal BIC to the smaller K and then to the first name in the alphabet, and one
    closing M-step where weights and mean memberships differ (the state before it is kept in
    `MixtureOfMetrics.em`; VEE, EVE, VVE and VEV have no such step). Above 2,000 runs mclust draws 2,000
    at random for its start; here the start takes 2,000 evenly spaced ones in the order of the first
    metric.

    Parameters
    ----------
    values_xy : array_like, shape (n, d)
        At least d + 1 runs of finite values, 2 to 8 metrics in a row, each in a unit of its own.
    max_components : int
        The largest K, 1 to 64; never more than n.
    models : sequence of str
        Which of the fourteen models to try.
    names : sequence of d str
        What the columns are called.
    units : {"given", "spread"}
        "given" fits the values as they are, as mclust does; its limits on variances, its stop rule
        and the circles of EII and VII then depend on the units. "spread" divides each metric by
        its standard deviation first and gives everything back in the units given; take it when
        the numbers are of very different size, such as seconds and bytes.

    Returns
    -------
    MixtureOfMetrics
        The best candidate, the BIC table of all, and cautions.

    Raises
    ------
    UsageError
        If an argument is out of its range, or the values are no table of 2 to 8 columns.
    InsufficientDataError
        With d runs or fewer.
    AnalysisError
        If a value is not finite or too large, a metric is constant, or follows from the others.
    """
    tried, most = checked_options(models, names or (), units, max_components)
    given, called = checked_values(values_xy, names)
    n, d = given.shape
    spread = given.std(axis=0, ddof=1) if units == "spread" else np.ones(d)
    x = np.ascontiguousarray((given / spread).T)
    most = min(most, n)
    points = np.arange(n)
    if n > START_POINTS:  # then only some, evenly spaced by the first metric
        ranks = np.linspace(0, n - 1, START_POINTS).round().astype(np.intp)
        points = np.sort(np.lexsort(x[::-1])[ranks])
    classes = start_classes(x[:, points], most)
    table, fit = _candidates(_ScaledRuns(x, points, classes), tried, most)
    if fit is None:
        raise AnalysisError(
            f"no mixture fits these {n} runs: their spread is lost in rounding",
            fix='take units="spread", or give the values with more digits',
        )
    k, model = fit.weights.size, fit.model
    weights, means, cov = _closing_step(x, fit)
    # a density in the units given is smaller by all scales
    shift = -n * float(np.log(spread).sum())
    state = EmState2d(
        weights=fit.weights,
        means=fit.means * spread,
        covariances=_matrices(fit.cov) * np.outer(spread, spread),
    )
    whole = correlation(given)
    return MixtureOfMetrics(
        weights=weights,
        means=means * spread,
        covariances=_matrices(cov) * np.outer(spread, spread),
        model=model,
        names=called,
        log_likelihood=fit.likelihood + shift,
        bic=_bic(fit.likelihood, model, k, x) + 2 * shift,
        bic_table={name: tuple(value + 2 * shift for value in row) for name, row in table.items()},
        n=n,
        iterations=fit.iterations if k > 1 else None,
        overall_correlation=float(whole[0, 1]) if d == 2 else whole,
        em=state,
        cautions=joint_cautions(
            given, called, table, model, weights, asked=max_components, units=units
        ),
    )


def _candidates(
    sample: _ScaledRuns, models: tuple[str, ...], most: int
) -> tuple[dict[str, list[float]], _Candidate | None]:
    """Give the BIC of every candidate, and the best of them."""
    table: dict[str, list[float]] = {model: [] for model in models}
    best, choice = -math.inf, None
    for k in range(1, most + 1):
        for model in sorted(models):
            fit = _fitted(sample, model, k)
            value = math.nan if fit is None else _bic(fit.likelihood, model, k, sample.x)
            table[model].append(value)
            if value > best:
                best, choice = value, fit
    return table, choice


def _fitted(sample: _ScaledRuns, model: str, k: int) -> _Candidate | None:
    """Fit one candidate, None when it is discarded."""
    from . import covariance_kernel as shapes, metrics_em_kernel as em

    x, points = sample.x, sample.points
    (d, n), code = x.shape, MODELS.index(model)
    weights, means, cov = np.empty(k), np.empty((k, d)), np.empty((k, d, d))
    room = np.empty((2 + d, n))
    if k == 1:
        # closed form; as in mclust no limit on the variance but zero
        z = np.ones((1, n))
        em.maximise(_ONE[model], x, z, weights, means, cov, shapes.state_of(d, k))
        if not (np.diagonal(cov[0]) > 0).all():
            return None
        likelihood = em.expectation(x, weights, means, cov, z, room)
        return _Candidate(model, likelihood, 1, weights, means, cov, z)
    z = (sample.classes[k - 1] == np.arange(k)[:, None]).astype(np.float64)
    if points.size < n:
        seen = np.ascontiguousarray(x[:, points])
        if not em.maximise(code, seen, z, weights, means, cov, shapes.state_of(d, k)):
            return None
        z = np.empty((k, n))
        em.expectation(x, weights, means, cov, z, room)
    found = em.fit(code, x, z, weights, means, cov, shapes.state_of(d, k), room)
    if math.isnan(found[0]) or _is_flat(cov):
        return None
    return _Candidate(model, *found, weights, means, cov, z)


_ONE = {model: 0 if model[1] == "I" else 2 if model[2] == "I" else 6 for model in MODELS}


def _closing_step(x: Array, fit: _Candidate) -> tuple[Array, Array, Array]:
    """Do one more M-step where weights and mean memberships differ, or a subset began the fit."""
    from . import covariance_kernel as shapes, metrics_em_kernel as em

    before = fit.weights, fit.means, fit.cov
    (d, n), k, model = x.shape, fit.weights.size, fit.model
    apart = float(((fit.weights - fit.z.mean(axis=1)) ** 2).sum())
    if k == 1 or model in _UNCLOSED or (apart <= 2.0**-26 and n <= START_POINTS):
        return before
    weights, means, cov = np.empty(k), np.empty((k, d)), np.empty((k, d, d))
    done = em.maximise(MODELS.index(model), x, fit.z, weights, means, cov, shapes.state_of(d, k))
    return (weights, means, cov) if done and not _is_flat(cov) else before


def _is_flat(cov: Array) -> bool:
    """Tell whether a component is too thin for its covariance matrix to show it."""
    left, whole = (np.diagonal(c, axis1=1, axis2=2) for c in (cov, _matrices(cov)))
    return bool((left <= _THINNEST * whole).any())


def _bic(likelihood: float, model: str, k: int, x: Array) -> float:
    """Give 2 L - p ln n: p free weights, means, and sizes, shapes and tilts of the ellipsoids."""
    d, n = x.shape
    sizes = k if model[0] == "V" else 1
    shapes, tilts = ({"I": 0, "E": 1, "V": k}[letter] for letter in model[1:])
    free: int = (k - 1) + d * k + sizes + shapes * (d - 1) + tilts * (d * (d - 1) // 2)
    return 2 * likelihood - free * math.log(n)


def _matrices(cov: Array) -> Array:
    """Give covariance matrices, shape (K, d, d), of the factors that the kernels keep."""
    left = np.diagonal(cov, axis1=1, axis2=2)
    slopes = np.triu(cov, 1) + np.eye(cov.shape[1])
    found = slopes.transpose(0, 2, 1) @ (left[:, :, None] * slopes)
    return np.asarray((found + found.transpose(0, 2, 1)) / 2)


# their names until 0.2.0
fit_mixture_2d = fit_mixture_of_metrics
Mixture2d = MixtureOfMetrics
