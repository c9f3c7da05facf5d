"""A mixture of Gaussians: its parameters, its density, its probabilities (sections 3 and 6)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from ...errors import AnalysisError, UsageError
from ...pages import number_format as figures
from ...pages.model import Page, page, section, table_of
from ...pages.result import Result, plain
from ...stats.arguments import checks_arguments, counted, numbers
from ...stats.samples import Array, Indices, read_only

# --- The numbers that both ways to fit a mixture share, compiled and by numpy alone.


LANES = 8  # values added side by side; the samples are padded to a multiple
TILE = 256  # values; a product of this number of mantissas stays below the largest number
START_VALUES = 2000  # of a larger sample, evenly spaced order statistics set the start
FOUND, STATE = 6, 6  # rows of what a fit writes

LEAST_MEMBERSHIP = math.sqrt(2.0**-52)  # mclust's limit on the total membership of a class
LEAST_VARIANCE = 2.0**-52  # mclust's limit, absolute, in the unit given
LEAST_SCALED = 1e-250  # the limit in the unit of the fit never vanishes
TOLERANCE = 1e-5  # relative change of the log-likelihood
CLOSING = math.sqrt(2.0**-52)  # squared distance between weights and mean memberships
CANCELLED = 1e3  # (shift of a mean)^2 / variance from which on moments are taken anew
MOST_ITERATIONS = 1_000_000  # never met; a promise that the loop ends

LOG_2PI, LN2 = math.log(2 * math.pi), math.log(2)
LN2_HIGH, LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10  # high ends in zeros
FLOOR = -700.0  # exponents are cut here, before 2**n leaves the normal numbers
TINY = 1e-280  # densities below are computed again, relative to the largest


def most_levels(n: int, k: int) -> int:
    """Give the number of levels at which n values, two of them different, have k + 1 cut points.

    One gap between neighbours then holds k levels itself; where even that is not enough, the gap
    is too narrow to be divided in floating point and no number of levels will do.
    """
    return (n - 1) * (k + 1) + 2


# --- Modes and quantiles of a sum of Gaussians: where its slope, or what is missing, is zero.
#
# Write f for the sum, r_k for the share of component k in f, and u_k = (m_k - x) / s_k^2 for the
# slope of its logarithm. Then s = f' / f is the mean of u under r, and its derivatives are moments:
#
#     s'  = E[-1 / s_k^2] + Var[u]
#     s'' = E[(u - s)^3] - 3 Cov[u, 1 / s_k^2]
#
# A maximum of f is a place where s falls through 0. Where f'' < 0 some component has |x - m_k| < s_k,
# so every mode lies within one standard deviation of a mean: a grid around the means that follows
# each component's own standard deviation misses none, however different they are. Between two
# neighbours of the grid s may still touch 0 and turn back (modes about to merge). So the zeros of
# s'' join the grid, then those of s'; between its points s is then monotone.
#
# Components below x (m_k <= x) are counted by what lies above x, the others by what lies below it:
#
#     F(x) - q = A - B + c,   A = sum of w_k Phi(z_k) over m_k > x,
#                             B = sum of w_k Phi(-z_k) over m_k <= x,
#                             c = sum of w_k over m_k <= x, less q
#
# A and B keep their relative accuracy, and c is one subtraction. The root is that of
# log(A + max(c, 0)) - log(B + max(-c, 0)), which increases: between components that lie far apart F
# is flat to the last digit of 1, while A and B are not.


# in standard deviations of each component: fine where modes can be, coarse as far as it reaches
_AROUND = np.unique(np.concatenate((np.linspace(-3, 3, 61), np.linspace(-12, 12, 49))))
_NOISE = 64 * 2.0**-52  # rounding of s, relative to the slopes in it
_EPS = float(np.finfo(np.float64).eps)
_Curve = Callable[[Array], Array]


def local_maxima(log_weights: Array, means: Array, sds: Array) -> Array:
    """Give the places of the local maxima of the sum of exp(log_weight) N(mean, sd), ascending."""
    origin = means[np.argmax(log_weights)]  # differences of means are exact, or nearly
    if means.size == 1:
        return means.copy()
    unit = sds.max()
    heights, centres, widths = log_weights - np.log(sds), (means - origin) / unit, sds / unit
    slope, steepness, turn = (partial(_slope, heights, centres, widths, k) for k in range(3))
    # slopes of components without a share may overflow: they count for nothing
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        places = (centres[:, None] + widths[:, None] * _AROUND).ravel()
        # a component narrower than the spacing of numbers still has a left and a right
        sides = [np.nextafter(centres, -np.inf), np.nextafter(centres, np.inf)]
        grid = np.unique(np.concatenate([places, *sides]))
        for curve, halvings in ((turn, 16), (steepness, 24)):  # of a bracket around a zero
            left, right = _crossings(grid, curve(grid), falling=False)
            if left.size:
                zeros = _halved(curve, left, right, halvings)
                grid = np.unique(np.concatenate((grid, zeros)))
        left, right = _crossings(grid, slope(grid), falling=True)
        modes = _refined(slope, steepness, left, right, float(widths.min()))
        found: Array = origin + unit * modes
    return found


def _slope(log_heights: Array, means: Array, sds: Array, order: int, x: Array) -> Array:
    """Give the slope s of the logarithm of the sum (order 0), s' (1) or s'' (2); what is only rounding becomes 0."""
    z = (means - x[:, None]) / sds
    share = log_heights - 0.5 * z * z
    share = np.exp(share - share.max(axis=1, keepdims=True))
    share /= share.sum(axis=1, keepdims=True)
    u, steep = z / sds, 1 / sds**2
    mean = _weighted(share, u)
    if order == 0:
        size = _weighted(share, np.abs(u))
        return np.where(np.abs(mean) <= _NOISE * size, 0.0, mean)
    apart = u - mean[:, None]
    moment = apart * apart - steep if order == 1 else apart**3 - 3 * apart * steep
    return _weighted(share, moment)


def _weighted(share: Array, values: Array) -> Array:
    """Sum over the components, leaving out those without a share."""
    return np.asarray(np.where(share > 0, share * values, 0.0).sum(axis=1))


def _crossings(grid: Array, values: Array, *, falling: bool) -> tuple[Array, Array]:
    """Give brackets around the changes of sign; zeros have no sign and are passed over."""
    kept = values != 0
    grid, sign = grid[kept], np.sign(values[kept])
    change = sign[1:] < sign[:-1] if falling else sign[1:] != sign[:-1]
    at = np.flatnonzero(change)
    return grid[at], grid[at + 1]


def _halved(curve: _Curve, left: Array, right: Array, steps: int) -> Array:
    """Narrow brackets around changes of sign by bisection."""
    start = np.sign(curve(left))
    for _ in range(steps):
        middle = 0.5 * (left + right)
        sign = np.sign(curve(middle))
        # a zero closes the bracket from both sides
        left = np.where((sign == start) | (sign == 0), middle, left)
        right = np.where(sign != start, middle, right)
        if (left == right).all():
            break
    return left + 0.5 * (right - left)


def _refined(
    curve: _Curve, steepness: _Curve, left: Array, right: Array, narrowest: float
) -> Array:
    """Find the modes in brackets where s falls through 0: Newton's steps, else halvings."""
    x = 0.5 * (left + right)
    for _ in range(64 if left.size else 0):
        value, fall = curve(x), steepness(x)
        left, right = np.where(value >= 0, x, left), np.where(value <= 0, x, right)
        step = x - value / np.where(fall < 0, fall, -np.inf)
        inside = (fall < 0) & (step >= left) & (step <= right)
        before, x = x, np.where(inside, step, 0.5 * (left + right))
        if (np.abs(x - before) <= _EPS * (np.abs(x) + narrowest)).all():
            break
    return x


_STEEP = 1e12  # logarithms of this size leave their differences, and so the slope, no digits


def quantiles(q: Array, weights: Array, means: Array, sds: Array) -> Array:
    """Give the quantiles at the levels q in [0, 1]; 0 and 1 give infinities."""
    from scipy.special import ndtri

    found = np.where(q >= 1, np.inf, -np.inf)
    inside = (q > 0) & (q < 1)
    if not inside.any():
        return found
    levels = q[inside]
    order = np.argsort(means, kind="stable")
    balance = _Balance(weights[order], means[order], sds[order], levels)
    # the quantile of the mixture lies between those of its components
    parts = means + sds * ndtri(levels)[:, None]
    slack = 4 * _EPS * np.abs(parts).max(axis=1)
    low, high = parts.min(axis=1) - slack, parts.max(axis=1) + slack
    with np.errstate(over="ignore"):  # far out in narrow components
        found[inside] = _root(balance, low, high, float(sds.min()))
    return found


class _Balance:
    """log(A + max(c, 0)) - log(B + max(-c, 0)) and its derivative, at one x for each level."""

    def __init__(self, weights: Array, means: Array, sds: Array, levels: Array) -> None:
        self.log_weights, self.means, self.sds, self.levels = np.log(weights), means, sds, levels
        sums = [math.fsum(weights[:k]) for k in range(weights.size)]
        rests = [math.fsum([*weights[:k], -total]) for k, total in enumerate(sums)]
        self.sums, self.rests = np.array([*sums, 1.0]), np.array([*rests, 0.0])

    def __call__(self, x: Array) -> tuple[Array, Array]:
        from scipy.special import log_ndtr

        z = (x[:, None] - self.means) / self.sds
        below = z >= 0
        count = below.sum(axis=1)
        c = (self.sums[count] - self.levels) + self.rests[count]
        log_part = self.log_weights + log_ndtr(-np.abs(z))
        log_slope = self.log_weights - np.log(self.sds) - 0.5 * (z * z + math.log(2 * math.pi))
        up = _log_sum(np.where(below, -np.inf, log_part), np.maximum(c, 0))
        down = _log_sum(np.where(below, log_part, -np.inf), np.maximum(-c, 0))
        # The terms of A and B grow and shrink at the component's density; the two sums are the
        # logarithms of what grows and of what shrinks.
        with np.errstate(over="ignore", invalid="ignore"):
            slope = np.where(below, 0, np.exp(log_slope - up[:, None])).sum(axis=1)
            slope += np.where(below, np.exp(log_slope - down[:, None]), 0).sum(axis=1)
            return up - down, slope


def _log_sum(logs: Array, extra: Array) -> Array:
    """Give log(sum of exp(logs) + extra), row by row."""
    with np.errstate(divide="ignore"):
        every = np.concatenate((logs, np.log(extra)[:, None]), axis=1)
        top = every.max(axis=1)
        shift = np.where(np.isfinite(top), top, 0)
        summed: Array = shift + np.log(np.exp(every - shift[:, None]).sum(axis=1))
    return summed


def _root(balance: _Balance, low: Array, high: Array, unit: float) -> Array:
    """Find the roots by Newton's steps inside brackets that at least halve every second step."""
    x = 0.5 * (low + high)
    for step in range(4000):  # few are needed, unless spreads differ by as much as numbers can
        value, slope = balance(x)
        low, high = np.where(value <= 0, x, low), np.where(value >= 0, x, high)
        middle = 0.5 * (low + high)
        close = high - low <= 2 * _EPS * np.maximum(np.abs(low), np.abs(high)) + _EPS / 64 * unit
        if close.all():
            return middle
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            newton = x - value / slope
        inside = (newton > low) & (newton < high) & ~close & (np.abs(value) < _STEEP)
        settled = inside & (np.abs(newton - x) <= 2 * _EPS * np.abs(x) + _EPS / 64 * unit)
        if (settled | close).all():
            return np.where(close, middle, newton)
        x = np.where(inside & (step % 3 < 2), newton, middle)
    return middle


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

    def likelihood_and_bic(self, more: str = "") -> list[str]:
        """Say how well a mixture describes its values, where it was fitted, and `more` of it."""
        if self.bic is None or self.log_likelihood is None:
            return []
        found = f"log-likelihood {self.log_likelihood:.6g}, BIC {self.bic:.6g}"
        return [f"{found} (larger is better){more}"]


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
    @checks_arguments
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

    @checks_arguments
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

    def screen(self) -> Page:
        """Set the mixture, its modes and its components."""
        k, modes = self.components, self.modes()
        logs = "the logarithms of " if self.scale == "log" else ""
        spread = "one common" if self.equal_variance else "each its own"
        what = "one Gaussian" if k == 1 else f"{k} Gaussians ({spread} standard deviation)"
        head = f"{what} describe{'s' * (k == 1)} {logs}these {self.n} values best"
        if self.n is None:
            head = f"a mixture of {logs and 'logarithms: '}{what}"
        places = ", ".join(f"{mode:.6g}" for mode in modes)
        text = f"the density has {figures.counted(modes.size, 'mode')}: {places}"
        if modes.size > 1:
            text += " (of the curve; skew alone can make several, so see the evidence for modes)"
        rows = table_of(
            "components",
            list(enumerate(self.rows())),
            ("component", lambda one: one[0]),
            ("weight", lambda one: one[1][0], "{:.4f}".format),
            ("mean", lambda one: one[1][1], "{:.7g}".format),
            ("sd", lambda one: one[1][2], lambda sd: figures.significant(sd, 4)),
        )
        blocks = section(head, text), section(rows, *self.likelihood_and_bic())
        return page(self, "Gaussian mixture", *blocks)

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
