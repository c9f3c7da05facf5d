"""Is there more than one mode? Hartigan's dip, Silverman's bandwidth, skewed families.

Both tests keep a smooth single peak, however skewed, from being called several modes, which the number
of modes of a fitted mixture (I4) does not: it exceeds 1 for most samples of a single skewed peak. Values
tied by a coarse clock are first spread evenly over its tick; otherwise its steps would be the modes. The
rule for both together is `calls_multimodal`.

A Gaussian mixture needs several components for one skewed peak. So the lognormal, Weibull and gamma
laws stand for comparison, each from 0 and each from a shift c that is fitted too (x - c follows the law;
times have a floor far above 0). The likelihood of a shifted law has no maximum when c may reach the
smallest value: c stays at least sd / (4 n) below it. A shift that runs off to the other side has
turned the law into (nearly) a Gaussian.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from ...errors import AnalysisError
from ...pages import number_format as figures
from ...pages.model import Page, page
from ...pages.result import Result
from ...stats.arguments import checks_arguments, counted
from ...stats.samples import Array, Integers
from .fit import checked, ordered_values, spread_ties

DIP_REFERENCES = (
    "J. A. Hartigan, P. M. Hartigan, The dip test of unimodality, Annals of Statistics 13, 1985",
)
BANDWIDTH_REFERENCES = (
    "B. W. Silverman, Using kernel density estimates to investigate multimodality, JRSS B 43, 1981",
)
_MOST = 2000  # values of a simulated uniform sample; beyond, the dip's law in sqrt(n) D is settled
_CHUNK = 2_000_000  # values simulated at a time
_ROUNDING = 1e-12
_DENSITY_GRID = 1024
_BANDWIDTHS = np.geomspace(4, 0.02, 100)  # in standard deviations, tried from above
_FLAT = 4  # a flat top may be called several modes at this multiple of the risk
_LEAST_VALUES, _LEAST_SHARE = 3, 0.05  # what a mode of a kernel density must hold to count


@dataclass(frozen=True, slots=True, kw_only=True)
class DipTest(Result):
    """The dip and how often a uniform sample of `n` values has one as large.

    `tick` is the clock step over which tied values were spread, None without ties; `levels` the
    number of clock readings that the simulated samples were rounded to.
    """

    method: ClassVar[str] = "dip-test"

    statistic: float
    pvalue: float
    n: int
    resamples: int
    tick: float | None
    levels: int | None
    references: tuple[str, ...] = DIP_REFERENCES

    def screen(self) -> Page:
        """Set the test in one sentence."""
        return page(
            self,
            "Dip test",
            f"dip test of {self.n} values: dip {self.statistic:.4g}, p {figures.pvalue(self.pvalue)} "
            f"from {self.resamples} uniform samples",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class BandwidthTest(Result):
    """The smallest bandwidth with one mode, and how often smoothed samples have more at it.

    A mode counts when the density around it, from valley to valley, holds `least` values or more.
    `flat_pvalue` is the share of uniform samples that have more; a quarter of it bounds `pvalue` from
    below. `bandwidth` is None, and the p-values 1, when no bandwidth shows two such modes.
    """

    method: ClassVar[str] = "bandwidth-test"

    bandwidth: float | None
    pvalue: float
    flat_pvalue: float
    n: int
    resamples: int
    least: float
    references: tuple[str, ...] = BANDWIDTH_REFERENCES

    def screen(self) -> Page:
        """Set the test in one sentence."""
        width = "no bandwidth shows two modes"
        if self.bandwidth is not None:
            width = f"smallest bandwidth with one mode {self.bandwidth:.4g}"
        return page(
            self,
            "Bandwidth test",
            f"bandwidth test of {self.n} values: {width}, p {figures.pvalue(self.pvalue)} from "
            f"{self.resamples} smoothed samples",
        )


@checks_arguments
def dip_test(values: ArrayLike, *, resamples: int = 2000, rng: np.random.Generator) -> DipTest:
    """Test unimodality by the dip: the distance to the nearest unimodal distribution function.

    Hypothesis: the values have a distribution with one mode. The p-value is the share of uniform
    samples with a dip as large or larger, (k + 1) / (N + 1): the uniform is the unimodal law with
    the largest dips, so the test is conservative elsewhere (a level of 5 % is about 0.5 % for a
    normal). It finds a minority mode only when that holds a fair share of the values.

    Parameters
    ----------
    values : array_like
        At least 4 values. Ties are spread over the clock's tick, and the uniform samples are
        rounded to as many readings and spread alike.
    resamples : int
        Number of uniform samples. For more than 2,000 values these have 2,000, and sqrt(n) times
        the dip is compared.
    rng : numpy.random.Generator
        Where they come from.

    Raises
    ------
    UsageError
        If `resamples` is less than 1.
    InsufficientDataError, AnalysisError
        As `checked`.
    """
    from .fit_kernel import sorted_dips

    counted("resamples", resamples)
    ordered = checked(values)
    x, tick = spread_ties(ordered)
    statistic = float(sorted_dips(x[None, :])[0])
    levels = None
    if tick is not None:
        levels = round(float(ordered[-1] - ordered[0]) / tick) + 1
        levels = levels if levels < 100 * x.size**2 else None  # hardly a tie in so fine a grid
    size = min(x.size, _MOST)
    least = (statistic - _ROUNDING) * math.sqrt(x.size / size)
    larger, left = 0, resamples
    while left > 0:
        rows = min(left, max(1, _CHUNK // size))
        u = np.sort(rng.random((rows, size)), axis=1)
        if levels is not None:
            u = np.array([spread_ties(row, 1.0)[0] for row in np.floor(u * levels)])
        larger += int((sorted_dips(u) >= least).sum())
        left -= rows
    return DipTest(
        statistic=statistic,
        pvalue=(larger + 1) / (resamples + 1),
        n=x.size,
        resamples=resamples,
        tick=tick,
        levels=levels,
    )


@checks_arguments
def bandwidth_test(
    values: ArrayLike, *, resamples: int = 400, rng: np.random.Generator
) -> BandwidthTest:
    """Test unimodality by the smallest bandwidth at which a Gaussian kernel density has one mode.

    Hypothesis: the values have a density with one mode. Samples are drawn from the kernel density
    at that bandwidth, rescaled to the variance of the values; the p-value is the share of them with
    more than one mode at the bandwidth, (k + 1) / (N + 1). It departs from Silverman twice. A mode
    counts only when the density from valley to valley holds 5 % of the values, and 3 of them at
    least: lone values in a long tail are no modes. And the p-value is at least a quarter of the
    share among uniform samples: a flat top, the limit of a single mode, is rejected at no more than
    four times the risk. (Smoothed samples alone rejected it at 13 to 18 % for a risk of 2.5 %; at
    the full share the test would lose most of its power for unequal peaks.)

    Parameters
    ----------
    values : array_like
        At least 4 values; ties are spread over the clock's tick.
    resamples : int
        Number of samples drawn.
    rng : numpy.random.Generator
        Where they come from.

    Raises
    ------
    UsageError
        If `resamples` is less than 1.
    InsufficientDataError, AnalysisError
        As `checked`.
    """
    counted("resamples", resamples)
    ordered = checked(values)
    centre = float(ordered.mean())
    unit = float((ordered - centre).std())
    x = (spread_ties(ordered)[0] - centre) / unit
    least = max(_LEAST_VALUES, _LEAST_SHARE * x.size)
    high = _critical(x, least)
    done = partial(BandwidthTest, n=x.size, resamples=resamples, least=float(least))
    if high is None:
        return done(bandwidth=None, pvalue=1.0, flat_pvalue=1.0)
    shrink = 1 / math.sqrt(1 + high * high)
    smoothed = flat = 0
    left = resamples
    while left > 0:
        rows = min(left, max(1, _CHUNK // (x.size + 4 * _DENSITY_GRID)))
        drawn = x[rng.integers(x.size, size=(rows, x.size))]
        drawn = shrink * (drawn + high * rng.normal(size=drawn.shape))
        smoothed += int((_modes(drawn, high, least) > 1).sum())
        drawn = rng.random((rows, x.size))
        drawn -= drawn.mean(axis=1, keepdims=True)
        drawn /= drawn.std(axis=1, keepdims=True)
        flat += int((_modes(drawn, high, least) > 1).sum())
        left -= rows
    return done(
        bandwidth=high * unit,
        pvalue=max(smoothed + 1, (flat + 1) / _FLAT, 1) / (resamples + 1),
        flat_pvalue=(flat + 1) / (resamples + 1),
    )


def _critical(x: Array, least: float) -> float | None:
    """Give the largest bandwidth below which there is a second mode; None when there is none."""

    def several(bandwidth: float) -> bool:
        return bool(_modes(x[None, :], bandwidth, least)[0] > 1)

    # From above: below some bandwidth every mode is too small to count.
    first = next((k for k, bandwidth in enumerate(_BANDWIDTHS) if several(bandwidth)), None)
    if first is None:
        return None
    low, high = float(_BANDWIDTHS[first]), float(_BANDWIDTHS[max(first - 1, 0)])
    for _ in range(12):
        middle = math.sqrt(low * high)
        if several(middle):
            low = middle
        else:
            high = middle
    return high


def _modes(samples: Array, bandwidth: float, least: float) -> Integers:
    """Count the modes of each row's kernel density that hold `least` values or more."""
    rows = samples.shape[0]
    start = float(samples.min()) - 4 * bandwidth
    step = (float(samples.max()) + 4 * bandwidth - start) / (_DENSITY_GRID - 1)
    place = (samples - start) / step
    cell = np.minimum(place.astype(np.int64), _DENSITY_GRID - 2)
    share = place - cell
    cell += 2 * _DENSITY_GRID * np.arange(rows)[:, None]
    total = 2 * _DENSITY_GRID * rows
    mass = np.bincount(cell.ravel(), (1 - share).ravel(), total)
    mass += np.bincount(cell.ravel() + 1, share.ravel(), total)
    frequency = 2 * math.pi * np.fft.rfftfreq(2 * _DENSITY_GRID, step)
    smooth = np.fft.rfft(mass.reshape(rows, -1)) * np.exp(-0.5 * (frequency * bandwidth) ** 2)
    density = np.fft.irfft(smooth)[:, :_DENSITY_GRID]
    slope = np.diff(density)
    slope[np.abs(slope) <= _ROUNDING * density.max(axis=1, keepdims=True)] = 0
    held = np.cumsum(density, axis=1)
    counts = np.empty(rows, np.int64)
    for row in range(rows):
        moving = np.flatnonzero(slope[row])
        rises = slope[row, moving] > 0
        valleys = moving[np.flatnonzero(~rises[:-1] & rises[1:]) + 1]
        ends = np.concatenate(([0.0], held[row, valleys], [held[row, -1]]))
        counts[row] = int((np.diff(ends) >= least - 1e-6).sum())
    return counts


STABLE = 0.75


def rejects_one_mode(*, dip: float, bandwidth: float, risk: float = 0.05) -> bool:
    """Tell whether a test rejects a single mode, from the p-values of both."""
    return min(dip, bandwidth) <= risk / 2


def calls_multimodal(
    modes: int, *, dip: float, bandwidth: float, several: float, risk: float = 0.05
) -> bool:
    """Tell whether a sample is called multimodal: by its mixture, a test and the resamples."""
    return (
        modes > 1
        and rejects_one_mode(dip=dip, bandwidth=bandwidth, risk=risk)
        and several >= STABLE
    )


Name = Literal["normal", "lognormal", "Weibull", "gamma"]
LEAST = 5
_SHIFT_GRID = 48  # shifts tried before the best is refined
_FAR = 100.0  # in standard deviations: the largest distance of the shift from the smallest value
_STEPS = 60


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

    def screen(self) -> Page:
        """Set the law in one line."""
        return page(
            self,
            self.name,
            f"{self.name}: BIC {self.bic:.2f}, log-likelihood {self.log_likelihood:.3f}, "
            f"{self.parameters} parameters",
        )


@checks_arguments
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
    x = ordered_values(values, LEAST, "a skewed law")
    unit = float(x.std())
    if x[0] == x[-1] or unit == 0:
        raise AnalysisError(
            f"all {x.size} values are equal: no law can be fitted", fix="use a finer clock"
        )
    mean = float(x.mean())
    normal = -x.size * (math.log(unit) + 0.5 * math.log(2 * math.pi) + 0.5)
    fits = [_fit(x.size, normal, family="normal", location=mean, shape=None, scale=unit)]
    for family, likelihood in _LAWS.items():
        if x[0] > 0 and unit > 1e-9 * mean:  # relative spread below which laws from 0 are left out
            value, shape, scale = likelihood(x)
            fits.append(_fit(x.size, value, family=family, location=0.0, shape=shape, scale=scale))
        fits.append(_shifted(family, likelihood, x, unit))
    return tuple(sorted(fits, key=lambda fit: -fit.bic))


def _fit(n: int, value: float, *, shifted: bool = False, **law: Any) -> FamilyFit:  # noqa: ANN401
    parameters = 2 + shifted
    return FamilyFit(
        shifted=shifted,
        parameters=parameters,
        log_likelihood=value,
        bic=2 * value - parameters * math.log(n),
        aic=2 * value - 2 * parameters,
        at_limit=law.pop("at_limit", False),
        **law,
    )


def _shifted(family: Name, likelihood: _Likelihood, x: Array, unit: float) -> FamilyFit:
    """Maximise the profile likelihood over the shift: a grid in log distance, then golden section."""
    above = (x - x[0]) / unit
    near, far = math.log(0.25 / x.size), math.log(_FAR)

    def profile(log_gap: float) -> float:
        return likelihood(above + math.exp(log_gap))[0]

    grid = np.linspace(near, far, _SHIFT_GRID).tolist()
    values = [profile(point) for point in grid]
    best = int(np.argmax(values))
    low, high = grid[max(best - 1, 0)], grid[min(best + 1, _SHIFT_GRID - 1)]
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
        x.size,
        value - x.size * math.log(unit),
        family=family,
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

    if k > 1e3:
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
