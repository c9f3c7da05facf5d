"""Is there more than one mode? Hartigan's dip test and Silverman's bandwidth test.

Both keep a smooth single peak, however skewed, from being called several modes, which the number
of modes of a fitted mixture does not. Values tied by a coarse clock are first spread evenly over
its tick; otherwise its steps would be the modes.

References
----------
.. [1] J. A. Hartigan, P. M. Hartigan, "The dip test of unimodality", Annals of Statistics 13, 1985.
.. [2] B. W. Silverman, "Using kernel density estimates to investigate multimodality", Journal of
       the Royal Statistical Society B 43, 1981.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ....report import Result
from ....stats import counted, door
from ..values import Array, checked, spread_ties

__all__ = ["BandwidthTest", "DipTest", "bandwidth_test", "dip_test"]

DIP_REFERENCES = (
    "J. A. Hartigan, P. M. Hartigan, The dip test of unimodality, Annals of Statistics 13, 1985",
)
BANDWIDTH_REFERENCES = (
    "B. W. Silverman, Using kernel density estimates to investigate multimodality, JRSS B 43, 1981",
)
_MOST = 2000  # values of a simulated uniform sample; beyond, the dip's law in sqrt(n) D is settled
_CHUNK = 2_000_000  # values simulated at a time
_ROUNDING = 1e-12
_GRID = 1024
_BANDWIDTHS = np.geomspace(4, 0.02, 100)  # in standard deviations, tried from above
_HALVINGS = 12
_FLAT = 4  # a flat top may be called several modes at so many times the risk
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


@door
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
    from .kernel import sorted_dips

    counted("resamples", resamples)
    ordered = checked(values)
    x, tick = spread_ties(ordered)
    statistic = float(sorted_dips(x[None, :])[0])
    levels = None
    if tick is not None:
        levels = round(float(ordered[-1] - ordered[0]) / tick) + 1
        levels = levels if levels < 100 * x.size**2 else None  # hardly a tie in so many
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


@door
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
    if high is None:
        return BandwidthTest(
            bandwidth=None,
            pvalue=1.0,
            flat_pvalue=1.0,
            n=x.size,
            resamples=resamples,
            least=float(least),
        )
    shrink = 1 / math.sqrt(1 + high * high)
    smoothed = flat = 0
    left = resamples
    while left > 0:
        rows = min(left, max(1, _CHUNK // (x.size + 4 * _GRID)))
        drawn = x[rng.integers(x.size, size=(rows, x.size))]
        drawn = shrink * (drawn + high * rng.normal(size=drawn.shape))
        smoothed += int((_modes(drawn, high, least) > 1).sum())
        drawn = rng.random((rows, x.size))
        drawn -= drawn.mean(axis=1, keepdims=True)
        drawn /= drawn.std(axis=1, keepdims=True)
        flat += int((_modes(drawn, high, least) > 1).sum())
        left -= rows
    return BandwidthTest(
        bandwidth=high * unit,
        pvalue=max(smoothed + 1, (flat + 1) / _FLAT, 1) / (resamples + 1),
        flat_pvalue=(flat + 1) / (resamples + 1),
        n=x.size,
        resamples=resamples,
        least=float(least),
    )


def _critical(x: Array, least: float) -> float | None:
    """Give the largest bandwidth below which there is a second mode; None when there is none."""
    # From above: below some bandwidth every mode is too small to count.
    high = float(_BANDWIDTHS[0])
    for bandwidth in _BANDWIDTHS:
        if _modes(x[None, :], bandwidth, least)[0] > 1:
            low = float(bandwidth)
            break
        high = float(bandwidth)
    else:
        return None
    for _ in range(_HALVINGS):
        middle = math.sqrt(low * high)
        if _modes(x[None, :], middle, least)[0] > 1:
            low = middle
        else:
            high = middle
    return high


def _modes(samples: Array, bandwidth: float, least: float) -> NDArray[np.int64]:
    """Count the modes of each row's kernel density that hold `least` values or more.

    The density is computed on a grid by the Fourier transform of the values shared out to their
    two neighbours on the grid. A value so far off that the grid is coarser than the bandwidth can
    only hide modes.
    """
    rows = samples.shape[0]
    start = float(samples.min()) - 4 * bandwidth
    step = (float(samples.max()) + 4 * bandwidth - start) / (_GRID - 1)
    place = (samples - start) / step
    cell = np.minimum(place.astype(np.int64), _GRID - 2)
    share = place - cell
    cell += 2 * _GRID * np.arange(rows)[:, None]
    total = 2 * _GRID * rows
    mass = np.bincount(cell.ravel(), (1 - share).ravel(), total)
    mass += np.bincount(cell.ravel() + 1, share.ravel(), total)
    frequency = 2 * math.pi * np.fft.rfftfreq(2 * _GRID, step)
    smooth = np.fft.rfft(mass.reshape(rows, -1)) * np.exp(-0.5 * (frequency * bandwidth) ** 2)
    density = np.fft.irfft(smooth)[:, :_GRID]
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
