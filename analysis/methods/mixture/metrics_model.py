"""Gaussians of several metrics: the fourteen covariance models, density, clusters, marginals.

A name has a letter for the volume of the ellipsoids, one for their shape and one for their
orientation: E equal, V varying, I (shape) spheres or (orientation) along the axes.

References
----------
.. [1] J. Worms, S. Touati, "Modelling program's performance with Gaussian mixtures for parametric
       statistics", IEEE Trans. Multi-Scale Computing Systems, 2018, section 9.1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ...errors import AnalysisError, UsageError
from ...pages.result import plain
from ...stats.arguments import checks_arguments, counted, numbers
from ...stats.samples import Array, Flags, Indices
from .model import Gaussians, Mixture, Parameters, finite, frozen, total_weight

MODELS = (  # a model's place is its code in the kernels
    *("EII", "VII", "EEI", "VEI", "EVI", "VVI", "EEE"),
    *("VEE", "EVE", "VVE", "EEV", "VEV", "EVV", "VVV"),
)
SIMPLEST = ("EII", "EEI", "EEE")  # of one Gaussian all models of a kind are the same


COUNTS = ("", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
LEAST_CORRELATED = 5  # runs of a cluster of which a correlation is told
_LOG_2PI = math.log(2 * math.pi)
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

    covariances: Array
    model: str
    names: tuple[str, ...]
    overall_correlation: float | Array | None = None
    em: EmState2d | None = None
    references: tuple[str, ...] = REFERENCES

    def __post_init__(self) -> None:
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
        """Which components hold too few runs for a correlation: below 5, of which none is told."""
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
        return _told(self.covariance())

    def within_correlation(self) -> float | Array:
        """Give the correlation that is left when the clusters' means are taken away."""
        return _told(np.tensordot(self.weights, self.covariances, 1))

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
        return _spreads(self.covariances), lower

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
        scale = np.log(self.weights) - 0.5 * d * _LOG_2PI
        for j in range(d):
            scale = scale - np.log(spread[:, j]) - np.log(lower[:, j, j])
        return np.asarray(scale - 0.5 * square)


def _spreads(covariances: Array) -> Array:
    return np.asarray(np.sqrt(np.diagonal(covariances, axis1=-2, axis2=-1)))


def of_covariance(covariances: Array) -> Array:
    """Give the correlations of covariance matrices, shape (..., d, d)."""
    spread = _spreads(covariances)
    return np.asarray(covariances / spread[..., :, None] / spread[..., None, :])


def _told(covariance: Array) -> float | Array:
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


Mixture2d = MixtureOfMetrics  # its name until 0.2.0
