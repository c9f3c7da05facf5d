"""A mixture of Gaussians: its parameters, its density, its probabilities.

References
----------
.. [1] J. Worms, S. Touati, "Modelling program's performance with Gaussian mixtures for parametric
       statistics", IEEE Trans. Multi-Scale Computing Systems, 2018, sections 3 and 6.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from ...errors import AnalysisError, UsageError
from ...pages.result import Result, plain
from ...stats.arguments import counted, door, numbers
from ...stats.samples import Array, Indices, read_only
from .modes_and_quantiles import local_maxima, quantiles

BIC_MARGIN = 2.0  # a difference in BIC up to here is not worth mentioning


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Parameters:
    """Weights and means, read-only; a subclass adds the spreads."""

    weights: Array
    means: Array

    def __post_init__(self) -> None:
        for field in fields(self):
            object.__setattr__(self, field.name, frozen(getattr(self, field.name)))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Gaussians(Result):
    """K Gaussians with their weights and means, an entry a component in the order of the fit.

    What follows these belongs to a fit only. `log_likelihood` and `bic` (2 L - p ln n, larger is better)
    belong to the state before the last M-step; `bic_table` holds for each model the BIC at K = 1, 2, ...,
    nan where no fit exists.
    """

    weights: Array
    means: Array
    log_likelihood: float | None = None
    bic: float | None = None
    bic_table: dict[str, tuple[float, ...]] | None = None
    n: int | None = None
    iterations: int | None = None

    @property
    def components(self) -> int:
        """The number of Gaussians, K."""
        return self.weights.size

    def body(self) -> dict[str, Any]:
        """Add the number of components."""
        return {"components": self.components, **Result.body(self)}


def frozen(values: ArrayLike) -> Array:
    """Give a copy that cannot be written to."""
    return read_only(np.array(values, dtype=np.float64))


def finite(values: ArrayLike, name: str) -> Array:
    """Give parameters as an array."""
    x = np.asarray(values, dtype=np.float64)
    if not np.isfinite(x).all():
        raise UsageError(f"the {name} of a mixture must be finite")
    return x


def total_weight(weights: Array) -> float:
    """Give the sum of the weights: 1, but for rounding."""
    if not (weights > 0).all():
        raise UsageError(
            "the weights of a mixture must be positive", fix="leave out empty components"
        )
    total = math.fsum(weights)
    if abs(total - 1) > 1e-6:  # printed weights are rounded
        raise UsageError(
            f"the weights of a mixture must sum to 1, and sum to {total:.9g}",
            fix="divide them by their sum",
        )
    return total


Scale = Literal["linear", "log"]
_NORMALISER = 0.5 * math.log(2 * math.pi)
_ROUNDING = 1e-12
REFERENCES = (
    "J. Worms, S. Touati, Modelling program's performance with Gaussian mixtures for parametric "
    "statistics, IEEE TMSCS 2018, sections 3, 4 and 6",
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class EmState(Parameters):
    """Weights, means and standard deviations before the last M-step of the fit."""

    sds: Array


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Mixture(Gaussians):
    """A mixture of K Gaussians (section 3, equations 1 and 2), fitted or given.

    `weights`, `means` and `sds` hold K entries each, components in the order of the fit. `bic` is
    2 L - p ln n, larger is better; `bic_table` holds it for each K, "E" with one variance, "V" with
    a variance for each component, nan where no fit exists. `n`, `iterations`, `log_likelihood` and
    the two belong to a fit and are None in a mixture made from parameters. With `scale` "log" the
    parameters are those of ln x; every method still takes and gives values of x itself. `em` is
    the state before the last M-step, to which `log_likelihood` belongs.

    Raises
    ------
    UsageError
        If the parameters are no mixture: other lengths, weights that are not positive or do not
        sum to 1 (within 1e-6; they are then divided by their sum), a value that is not finite, or
        a standard deviation that is not positive.
    """

    method: ClassVar[str] = "fit-mixture"

    sds: Array
    equal_variance: bool
    scale: Scale = "linear"
    em: EmState | None = None
    references: tuple[str, ...] = REFERENCES

    def __post_init__(self) -> None:
        w, m, s = (_vector(getattr(self, name), name) for name in ("weights", "means", "sds"))
        if not w.size == m.size == s.size:
            raise UsageError(
                f"a mixture needs as many weights as means and standard deviations, not {w.size}, "
                f"{m.size} and {s.size}"
            )
        total = total_weight(w)
        if not (s > 0).all():
            raise UsageError("the standard deviations of a mixture must be positive")
        if self.scale not in ("linear", "log"):
            raise UsageError(f"the scale of a mixture is 'linear' or 'log', not {self.scale!r}")
        if abs(total - 1) > _ROUNDING:
            w = w / total
        for name, value in (("weights", w), ("means", m), ("sds", s)):
            object.__setattr__(self, name, frozen(value))

    @classmethod
    @door
    def from_parameters(
        cls, *, weights: ArrayLike, means: ArrayLike, sds: ArrayLike, scale: Scale = "linear"
    ) -> Mixture:
        """Make a mixture from its parameters.

        Parameters
        ----------
        weights : array_like
            K positive numbers that sum to 1.
        means, sds : array_like
            K numbers each, in the unit of the values; of ln x when `scale` is "log".
        scale : {"linear", "log"}
            Whether the values or their logarithms follow the Gaussians.

        Raises
        ------
        UsageError
            As in `Mixture`.
        """
        s = _vector(sds, "sds")
        return cls(
            weights=_vector(weights, "weights"),
            means=_vector(means, "means"),
            sds=s,
            equal_variance=bool((s == s[0]).all()),
            scale=scale,
        )

    def pdf(self, x: ArrayLike) -> Any:  # noqa: ANN401 - a number for a number, else an array
        """Give the density at x (equation 1), in 1 / unit of x."""
        t = self._inner(x)
        # dx = x d(ln x): on the log scale the density is less by a factor of x = exp(t)
        stretch = np.where(np.isfinite(t), t, 0.0) if self.scale == "log" else np.zeros_like(t)
        with np.errstate(over="ignore"):
            z = (t[..., None] - self.means) / self.sds
            exponent = -0.5 * z * z - _NORMALISER - np.log(self.sds) - stretch[..., None]
            return _as_given(np.exp(exponent) @ self.weights)

    def cdf(self, x: ArrayLike) -> Any:  # noqa: ANN401
        """Give P[X <= x] (equation 2)."""
        return self._probability(x, 1)

    def survival(self, x: ArrayLike) -> Any:  # noqa: ANN401
        """Give P[X > x], to full relative accuracy where `cdf` is nearly 1."""
        return self._probability(x, -1)

    def probability_below(self, a: ArrayLike) -> Any:  # noqa: ANN401
        """Give P[X < a], the chance that one run stays below a; the same as `cdf`."""
        return self.cdf(a)

    def quantile(self, q: ArrayLike) -> Any:  # noqa: ANN401
        """Give the value that X stays below with probability q.

        Parameters
        ----------
        q : array_like
            Probabilities; 0 and 1 give the ends of the support, which are infinite (0 at the lower
            end when `scale` is "log").

        Raises
        ------
        UsageError
            If a q does not lie in [0, 1].
        """
        levels = numbers(q, "the levels", dimensions=None)
        if not ((levels >= 0) & (levels <= 1)).all():
            raise UsageError("a quantile's level must lie between 0 and 1")
        found = quantiles(levels.reshape(-1), self.weights, self.means, self.sds)
        return _as_given(self._outer(found).reshape(levels.shape))

    def rows(self) -> list[tuple[float, float, float]]:
        """Give weight, mean and standard deviation of each component."""
        columns = (self.weights, self.means, self.sds)
        return list(zip(*(column.tolist() for column in columns), strict=True))

    def mean(self) -> float:
        """Give E[X]; infinite on the log scale when it exceeds the largest number."""
        if self.scale == "linear":
            return math.fsum(self.weights * self.means)
        with np.errstate(over="ignore"):
            return float(np.exp(self.means + 0.5 * self.sds**2) @ self.weights)

    @door
    def sample(self, n: int, *, rng: np.random.Generator) -> Array:
        """Draw n independent values.

        Raises
        ------
        UsageError
            If n is negative.
        """
        counted("n", n, least=0)
        of = rng.choice(self.components, size=n, p=self.weights / self.weights.sum())
        return self._outer(rng.normal(self.means[of], self.sds[of]))

    def modes(self) -> Array:
        """Give the places of the density's local maxima in ascending order (section 6.4)."""
        if self.scale == "linear":
            return frozen(local_maxima(np.log(self.weights), self.means, self.sds))
        # The density of x at exp(t) is g(t) exp(-t): again a sum of Gaussians in t, with other
        # weights, and means less by one variance.
        variance = self.sds**2
        places = local_maxima(
            np.log(self.weights) - self.means + variance / 2, self.means - variance, self.sds
        )
        return frozen(self._outer(places))

    def classify(self, values: ArrayLike) -> Indices:
        """Give the component of each value, counted from 0: the largest posterior probability.

        Equal posteriors go to the first component.

        Raises
        ------
        AnalysisError
            If a value is not finite, or not positive where `scale` is "log".
        """
        x = numbers(values, "the values to be classified", dimensions=None)
        if not np.isfinite(x).all():
            raise AnalysisError("a value to be classified is not finite")
        if self.scale == "log" and not (x > 0).all():
            raise AnalysisError(
                "a value to be classified is not positive, and the mixture is one of logarithms"
            )
        t = self._inner(x)
        with np.errstate(over="ignore"):
            z = (t[..., None] - self.means) / self.sds
            # logarithms: far out in the tails every density is 0
            posterior = np.log(self.weights) - np.log(self.sds) - 0.5 * z * z
        return np.asarray(np.argmax(posterior, axis=-1))

    def body(self) -> dict[str, Any]:
        """Add the expectation and the modes; what exceeds the largest number is null."""
        return {"mean": plain(self.mean()), "modes": plain(self.modes()), **Gaussians.body(self)}

    def _inner(self, x: ArrayLike) -> Array:
        """Give x on the scale of the parameters; what is not positive has the logarithm -inf."""
        where = numbers(x, "the values", dimensions=None)
        if self.scale == "linear":
            return where
        with np.errstate(divide="ignore"):
            return np.log(np.where(where < 0, 0, where))

    def _outer(self, t: Array) -> Array:
        """Give values on the scale of the parameters as values of x."""
        if self.scale == "linear":
            return t
        with np.errstate(over="ignore"):
            return np.exp(t)

    def _probability(self, x: ArrayLike, side: int) -> Any:  # noqa: ANN401
        from scipy.special import ndtr

        t = self._inner(x)
        with np.errstate(over="ignore"):
            z = side * (t[..., None] - self.means) / self.sds
        return _as_given(np.minimum(ndtr(z) @ self.weights, 1.0))


def _vector(values: ArrayLike, name: str) -> Array:
    x = numbers(values, f"the {name} of a mixture", dimensions=None)
    if x.ndim != 1 or x.size == 0:
        raise UsageError(f"the {name} of a mixture are a list of one number a component")
    return finite(x, name)


def _as_given(values: Array) -> Any:  # noqa: ANN401
    return float(values) if values.ndim == 0 else values
