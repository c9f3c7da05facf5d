"""Single skewed families, fitted by maximum likelihood: what skew alone would explain.

A Gaussian mixture needs several components for one skewed peak. So the lognormal, Weibull and gamma
laws stand beside it, each from 0 and each from a shift c that is fitted too (x - c follows the law;
times have a floor far above 0). The likelihood of a shifted law has no maximum when c may reach the
smallest value: c stays at least sd / (4 n) below it. A shift that runs off to the other side has
turned the law into (nearly) a Gaussian.

References
----------
.. [1] N. L. Johnson, S. Kotz, N. Balakrishnan, "Continuous univariate distributions", vol. 1, 2nd
       ed., 1994, chapters 14, 17 and 21.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ....errors import AnalysisError, InsufficientDataError
from ....report import Result
from ....stats import door, numbers

__all__ = ["FamilyFit", "skewed_families"]

Array = NDArray[np.float64]
Name = Literal["normal", "lognormal", "Weibull", "gamma"]
LEAST = 5
_GRID = 48  # shifts tried before the best is refined
_FAR = 100.0  # in standard deviations: the largest distance of the shift from the smallest value
_STEPS = 60
_STIRLING = 1e3
_CLOSE = 1e-9  # relative spread below which laws from 0 are left out
_LARGEST = 1e150  # squares stay finite


@dataclass(frozen=True, slots=True, kw_only=True)
class FamilyFit(Result):
    """One single-peaked law, fitted by maximum likelihood.

    `location`, `shape` and `scale` are, in this order: mean, None and sd of a normal; shift, sd of
    ln(x - shift) and median of x - shift of a lognormal; shift, exponent and scale of a Weibull or
    gamma law. `bic` is 2 L - p ln n and `aic` 2 L - 2 p: larger is better. `at_limit`: the shift
    ended at a limit of its range.
    """

    method: ClassVar[str] = "skewed-families"

    family: Name
    shifted: bool
    location: float
    shape: float | None
    scale: float
    parameters: int
    log_likelihood: float
    bic: float
    aic: float
    at_limit: bool
    references: tuple[str, ...] = (
        "N. L. Johnson, S. Kotz, N. Balakrishnan, Continuous univariate distributions, vol. 1, 2nd "
        "ed., 1994, chapters 14, 17 and 21",
    )

    @property
    def name(self) -> str:
        """The law's name, such as "shifted gamma"."""
        return f"shifted {self.family}" if self.shifted else self.family

    def body(self) -> dict[str, Any]:
        """Add the law's name."""
        return {"name": self.name, **Result.body(self)}


@door
def skewed_families(values: ArrayLike) -> tuple[FamilyFit, ...]:
    """Fit the normal, and lognormal, Weibull and gamma laws with and without a shift.

    Parameters
    ----------
    values : array_like
        At least 5 finite values, not all equal. The laws without a shift are left out when a value
        is not positive, or when all agree to nine digits: there they are Gaussians.

    Returns
    -------
    tuple of FamilyFit
        The best BIC first.

    Raises
    ------
    InsufficientDataError
        With fewer than 5 values.
    AnalysisError
        If a value is not finite, or all are equal.
    """
    x = np.sort(numbers(values, "the values"))
    if x.size < LEAST:
        raise InsufficientDataError(
            f"a skewed law needs at least {LEAST} values, and there are {x.size}",
            n=x.size,
            needed=LEAST,
        )
    if not (np.abs(x) <= _LARGEST).all():
        raise AnalysisError(
            f"a value is not finite, or exceeds {_LARGEST:g}", fix="leave out failed runs"
        )
    unit = float(x.std())
    if x[0] == x[-1] or unit == 0:
        raise AnalysisError(
            f"all {x.size} values are equal: no law can be fitted", fix="use a finer clock"
        )
    mean = float(x.mean())
    normal = -x.size * (math.log(unit) + 0.5 * math.log(2 * math.pi) + 0.5)
    fits = [_fit("normal", x.size, normal, location=mean, shape=None, scale=unit)]
    for family, likelihood in _LAWS.items():
        if x[0] > 0 and unit > _CLOSE * mean:
            value, shape, scale = likelihood(x)
            fits.append(_fit(family, x.size, value, location=0.0, shape=shape, scale=scale))
        fits.append(_shifted(family, likelihood, x, unit))
    return tuple(sorted(fits, key=lambda fit: -fit.bic))


def _fit(
    family: Name,
    n: int,
    value: float,
    *,
    location: float,
    shape: float | None,
    scale: float,
    shifted: bool = False,
    at_limit: bool = False,
) -> FamilyFit:
    parameters = 2 + shifted
    return FamilyFit(
        family=family,
        shifted=shifted,
        location=location,
        shape=shape,
        scale=scale,
        parameters=parameters,
        log_likelihood=value,
        bic=2 * value - parameters * math.log(n),
        aic=2 * value - 2 * parameters,
        at_limit=at_limit,
    )


def _shifted(family: Name, likelihood: _Likelihood, x: Array, unit: float) -> FamilyFit:
    """Maximise the profile likelihood over the shift: a grid in log distance, then golden section."""
    above = (x - x[0]) / unit
    near, far = math.log(0.25 / x.size), math.log(_FAR)

    def profile(log_gap: float) -> float:
        return likelihood(above + math.exp(log_gap))[0]

    grid = np.linspace(near, far, _GRID).tolist()
    values = [profile(point) for point in grid]
    best = int(np.argmax(values))
    low, high = grid[max(best - 1, 0)], grid[min(best + 1, _GRID - 1)]
    golden = (math.sqrt(5) - 1) / 2
    a, b = high - golden * (high - low), low + golden * (high - low)
    at_a, at_b = profile(a), profile(b)
    for _ in range(_STEPS):
        if at_a >= at_b:
            high, b, at_b = b, a, at_a
            a = high - golden * (high - low)
            at_a = profile(a)
        else:
            low, a, at_a = a, b, at_b
            b = low + golden * (high - low)
            at_b = profile(b)
        if high - low < 1e-9:
            break
    chosen = 0.5 * (low + high)
    gap = math.exp(chosen)
    value, shape, scale = likelihood(above + gap)
    return _fit(
        family,
        x.size,
        value - x.size * math.log(unit),
        location=float(x[0]) - gap * unit,
        shape=shape,
        scale=scale * unit,
        shifted=True,
        at_limit=bool(min(chosen - near, far - chosen) < 1e-6),
    )


# ---- maximum likelihood of each law from 0: log-likelihood, shape, scale

_Likelihood = Callable[[Array], tuple[float, float, float]]


def _lognormal(y: Array) -> tuple[float, float, float]:
    logs = np.log(y)
    mean, sd = float(logs.mean()), float(logs.std())
    n = y.size
    value = -n * (math.log(sd) + 0.5 * math.log(2 * math.pi) + 0.5) - n * mean
    return value, sd, math.exp(mean)


def _gamma(y: Array) -> tuple[float, float, float]:
    """Solve ln k - digamma(k) = ln(mean) - mean(ln) by Newton's steps on 1 / k."""
    mean = float(y.mean())
    apart = y / mean - 1
    # apart - ln(1 + apart), whose two terms nearly cancel for values close to their mean
    series = apart * apart * (0.5 - apart * (1 / 3 - apart / 4))
    logs = np.log(y) - math.log(mean)  # y / mean may vanish, y does not
    excess = float(np.where(np.abs(apart) < 1e-4, series, apart - logs).mean())
    k = (3 - excess + math.sqrt((excess - 3) ** 2 + 24 * excess)) / (12 * excess)
    for _ in range(_STEPS):
        error, slope, _ = _gamma_terms(k)
        inverse = 1 / k - (error - excess) / (-k * k * slope)
        if not inverse > 0:
            break
        k, before = 1 / inverse, k
        if abs(k - before) <= 1e-14 * k:
            break
    n = y.size
    value = n * (_gamma_terms(k)[2] - math.log(mean) - (k - 1) * excess)
    return value, k, mean / k


def _gamma_terms(k: float) -> tuple[float, float, float]:
    """Give ln k - digamma(k), its derivative, and k ln k - k - ln Gamma(k), all without cancelling."""
    from scipy.special import digamma, gammaln, polygamma

    if k > _STIRLING:
        return (
            1 / (2 * k) + 1 / (12 * k**2) - 1 / (120 * k**4),
            -1 / (2 * k**2) - 1 / (6 * k**3) + 1 / (30 * k**5),
            0.5 * math.log(k / (2 * math.pi)) - 1 / (12 * k) + 1 / (360 * k**3),
        )
    return (
        math.log(k) - float(digamma(k)),
        1 / k - float(polygamma(1, k)),
        k * math.log(k) - k - float(gammaln(k)),
    )


def _weibull(y: Array) -> tuple[float, float, float]:
    """Solve sum(y^k ln y) / sum(y^k) - 1 / k = mean(ln y), increasing in k, by Newton's steps."""
    logs = np.log(y)
    logs -= logs.max()  # in units of the largest value, powers stay below 1
    mean = float(logs.mean())
    k = math.pi / math.sqrt(6) / float(logs.std())
    low, high = 0.0, math.inf
    for _ in range(2 * _STEPS):
        power = np.exp(k * logs)
        share = power / power.sum()
        first = float(share @ logs)
        error = first - 1 / k - mean
        slope = float(share @ (logs - first) ** 2) + 1 / k**2
        low, high = (k, high) if error < 0 else (low, k)
        before, k = k, k - error / slope
        if not low < k < high:
            k = 0.5 * (low + high) if math.isfinite(high) else 2 * low
        if abs(k - before) <= 1e-14 * k:
            break
    n = y.size
    log_scale = math.log(float(np.exp(k * logs).mean())) / k
    value = n * math.log(k) - n * k * log_scale + (k - 1) * float(logs.sum()) - n
    top = float(y.max())
    return value - n * math.log(top), k, top * math.exp(log_scale)


_LAWS: dict[Name, _Likelihood] = {"lognormal": _lognormal, "Weibull": _weibull, "gamma": _gamma}
