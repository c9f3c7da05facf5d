"""Gaussians in the plane: the fourteen covariance models, density, clusters, marginals.

A name has a letter for the volume of the ellipses, one for their shape and one for their orientation:
E equal, V varying, I (shape) circles or (orientation) along the axes.

References
----------
.. [1] J. Worms, S. Touati, "Modelling program's performance with Gaussian mixtures for parametric
       statistics", IEEE Trans. Multi-Scale Computing Systems, 2018, section 9.1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ....errors import AnalysisError, UsageError
from ....pages.result import plain
from ....stats.arguments import counted, door, numbers
from ....stats.samples import Array, Indices
from ..model import Gaussians, Mixture, Parameters, finite, frozen, total_weight

MODELS = (  # a model's place is its code in the kernels
    *("EII", "VII", "EEI", "VEI", "EVI", "VVI", "EEE"),
    *("VEE", "EVE", "VVE", "EEV", "VEV", "EVV", "VVV"),
)
SIMPLEST = ("EII", "EEI", "EEE")  # of one Gaussian all models of a kind are the same


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
class Mixture2d(Gaussians):
    """A mixture of K bivariate Gaussians for pairs of two metrics of the same runs.

    Attributes
    ----------
    weights : array, shape (K,)
    means : array, shape (K, 2)
        In the metrics' units.
    covariances : array, shape (K, 2, 2)
    model : str
        What the components share: the name of one of mclust's fourteen models, "EII" to "VVV"
        (letters for volume, shape and orientation: equal, varying, I for none). One Gaussian is
        named by the simplest of its kind: EII, EEI or EEE.
    names : tuple of two str
        The metrics.
    overall_correlation : float
        Pearson's correlation of all pairs, whatever their clusters.
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
    names: tuple[str, str]
    overall_correlation: float | None = None
    em: EmState2d | None = None
    references: tuple[str, ...] = REFERENCES

    def __post_init__(self) -> None:
        w, m, c = (
            finite(getattr(self, name), name) for name in ("weights", "means", "covariances")
        )
        k = w.size
        if w.shape != (k,) or k == 0 or m.shape != (k, 2) or c.shape != (k, 2, 2):
            raise UsageError(
                "a mixture in the plane needs K weights, K means of two numbers and K covariances "
                f"of two by two, not {w.shape}, {m.shape} and {c.shape}"
            )
        total = total_weight(w)
        xx, xy, yx, yy = c[:, 0, 0], c[:, 0, 1], c[:, 1, 0], c[:, 1, 1]
        sound = (xx > 0) & (yy > 0) & (xy == yx)
        if not (sound.all() and (np.abs(xy) / np.sqrt(xx) / np.sqrt(yy) < 1).all()):
            raise UsageError("a covariance must be symmetric and positive definite")
        if len(set(self.names)) != 2:
            raise UsageError("a mixture in the plane needs two different names of metrics")
        for name, value in (("weights", w / total), ("means", m), ("covariances", c)):
            object.__setattr__(self, name, frozen(value))

    @property
    def correlations(self) -> Array:
        """Correlation of both metrics within each component, shape (K,)."""
        c = self.covariances
        return np.asarray(c[:, 0, 1] / np.sqrt(c[:, 0, 0]) / np.sqrt(c[:, 1, 1]))

    @property
    def correlated(self) -> bool:
        """Whether the model lets both metrics vary together within a component."""
        return self.model[2] != "I"

    def mean(self) -> Array:
        """Give the expectation of both metrics, shape (2,)."""
        return np.asarray(self.weights @ self.means)

    def covariance(self) -> Array:
        """Give the covariance of the whole mixture, shape (2, 2)."""
        d = self.means - self.mean()
        total = self.covariances + d[:, :, None] * d[:, None, :]
        return np.asarray(np.tensordot(self.weights, total, 1))

    def correlation(self) -> float:
        """Give the correlation of the whole mixture: between the clusters and within them."""
        c = self.covariance()
        return float(c[0, 1] / math.sqrt(c[0, 0]) / math.sqrt(c[1, 1]))

    def within_correlation(self) -> float:
        """Give the correlation that is left when the clusters' means are taken away."""
        c = np.tensordot(self.weights, self.covariances, 1)
        return float(c[0, 1] / math.sqrt(c[0, 0]) / math.sqrt(c[1, 1]))

    def marginal(self, name: str) -> Mixture:
        """Give the mixture of one metric alone.

        Its density, quantiles, modes and chances are those of `Mixture`; its number of components
        is that of the plane, not the one that the metric alone would have been fitted with.

        Raises
        ------
        UsageError
            If there is no such metric.
        """
        if name not in self.names:
            raise UsageError(f"the mixture has the metrics {' and '.join(self.names)}, not {name}")
        j = self.names.index(name)
        return Mixture.from_parameters(
            weights=self.weights, means=self.means[:, j], sds=np.sqrt(self.covariances[:, j, j])
        )

    def pdf(self, points: ArrayLike) -> Any:  # noqa: ANN401 - a number for a point, else an array
        """Give the density at points, shape (..., 2), in 1 / (unit of the one times the other)."""
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

    @door
    def sample(self, n: int, *, rng: np.random.Generator) -> Array:
        """Draw n independent pairs, shape (n, 2).

        Raises
        ------
        UsageError
            If n is negative.
        """
        counted("n", n, least=0)
        of = rng.choice(self.components, size=n, p=self.weights)
        spread, slope, rest = self._triangles()
        u, v = rng.standard_normal((2, n))
        dx = spread[of] * u
        return np.column_stack([dx, slope[of] * dx + rest[of] * v]) + self.means[of]

    def body(self) -> dict[str, Any]:
        """Add the correlations: within the components, left without their means, of the mixture."""
        return {
            "correlations": plain(self.correlations),
            "within_correlation": self.within_correlation(),
            "mixture_correlation": self.correlation(),
            **Gaussians.body(self),
        }

    def _triangles(self) -> tuple[Array, Array, Array]:
        """Give for each component the sd of x, the slope of y on x, the sd that is left of y."""
        c = self.covariances
        slope = c[:, 0, 1] / c[:, 0, 0]
        r = self.correlations
        return np.sqrt(c[:, 0, 0]), slope, np.sqrt(c[:, 1, 1]) * np.sqrt((1 - r) * (1 + r))

    def _log_parts(self, points: ArrayLike) -> Array:
        """Give the logarithm of weight times density for each point and component."""
        at = numbers(points, "the points", dimensions=None)
        if at.ndim == 0 or at.shape[-1] != 2:
            raise UsageError(f"points have two coordinates each, not the shape {at.shape}")
        if not np.isfinite(at).all():
            raise AnalysisError("a coordinate of a point is not finite")
        spread, slope, rest = self._triangles()
        dx = at[..., 0, None] - self.means[:, 0]
        dy = at[..., 1, None] - self.means[:, 1]
        with np.errstate(over="ignore", under="ignore"):
            square = (dx / spread) ** 2 + ((dy - slope * dx) / rest) ** 2
        scale = np.log(self.weights) - _LOG_2PI - np.log(spread) - np.log(rest)
        return np.asarray(scale - 0.5 * square)
