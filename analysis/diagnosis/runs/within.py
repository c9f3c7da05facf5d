"""Tests of the order of runs within sessions, for all cells at once.

The hypothesis of each: the runs of a series are exchangeable, whatever their law. Means and variances
of the statistics are those over all orders of the ranks, exact with ties; sums over the sessions of a
cell are held against the normal, chi-squared or Kolmogorov's law, whose tails are heavier than those
of the statistics (docs/methods/diagnosis.md has the measured levels).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, kolmogorov, ndtr

from .series import Series, middle_of

__all__ = ["LEAST", "CellTests", "autocorrelation", "lag_moments", "two_sided", "within_sessions"]

Floats = NDArray[np.float64]
LEAST = 10  # runs of a cell in all its sessions, or it is not tested
_LAGS = 5


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CellTests:
    """One test on each of C cells.

    Attributes
    ----------
    code : str
        What it looks for.
    pvalues : array of float, shape (C,)
        nan where it was not possible.
    session : array of int, shape (C,), or None
        The session in which it is, of a test that looks for one.
    place : array of int, shape (C,), or None
        The first run of the session after the change, likewise.
    """

    code: str
    pvalues: Floats
    session: NDArray[np.int64] | None = None
    place: NDArray[np.int64] | None = None


def within_sessions(series: Series) -> tuple[CellTests, ...]:
    """Test every cell of 10 runs or more."""
    tests = (
        CellTests(code="order", pvalues=two_sided(_order(series))),
        CellTests(code="lag-1", pvalues=two_sided(_lagged(series, 1))),
        CellTests(code="ljung-box", pvalues=_ljung_box(series)),
        CellTests(code="runs-test", pvalues=_median_runs(series)),
        _change_point(series),
        CellTests(code="warm-up", pvalues=two_sided(_first(series))),
    )
    for test in tests:
        test.pvalues[series.runs < LEAST] = np.nan
    return tests


def two_sided(z: Floats) -> Floats:
    """Give the p-values of standard normal statistics, never 0."""
    found: Floats = np.clip(2 * ndtr(-np.abs(z)), np.finfo(np.float64).tiny, 1.0)
    return found


def _over_sessions(statistic: Floats, mean: Floats, variance: Floats) -> Floats:
    """Add up series to one standard normal value a cell; nan where nothing varies."""
    total = np.nansum(variance, axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        found: Floats = np.where(
            total > 0, np.nansum(statistic - mean, axis=1) / np.sqrt(total), np.nan
        )
    return found


def _order(series: Series) -> Floats:
    """Correlate ranks with their order (Spearman), over all sessions."""
    n = series.counts[:, :, None]
    place = np.where(series.present, np.arange(series.row.shape[2]) - (n - 1) / 2, 0.0)
    statistic = (series.scores * place).sum(axis=2)
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = series.squares * (place**2).sum(axis=2) / (series.counts - 1)
    return _over_sessions(statistic, np.zeros_like(statistic), _known(variance, series))


def _known(variance: Floats, series: Series) -> Floats:
    """Let series that say nothing have no part."""
    return np.where(series.squares > 0, variance, 0.0)


def lag_moments(series: Series, lag: int) -> tuple[Floats, Floats, Floats]:
    """Give the sum of products at a lag, its mean and its variance over all orders (shape (C, S)).

    Wald and Wolfowitz (1943) for lag 1; here by counting which pairs of products share a run.
    """
    a, n = series.scores, series.counts.astype(np.float64)
    statistic = (a[:, :, lag:] * a[:, :, :-lag]).sum(axis=2)
    s2, s4 = series.squares, (a**4).sum(axis=2)
    products = np.maximum(n - lag, 0)
    shared = 2 * np.maximum(n - 2 * lag, 0)
    apart = products**2 - products - shared
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = -products * s2 / (n * (n - 1))
        variance = (
            products * (s2**2 - s4) / (n * (n - 1))
            + shared * (2 * s4 - s2**2) / (n * (n - 1) * (n - 2))
            - mean**2
        )
        far = apart * (3 * s2**2 - 6 * s4) / (n * (n - 1) * (n - 2) * (n - 3))
    variance = variance + np.where((n > 3) & (apart > 0), far, 0.0)
    usable = (n > lag + 1) & (n > 3) & (s2 > 0)
    return (
        np.where(usable, statistic, 0.0),
        np.where(usable, mean, 0.0),
        np.where(usable, np.maximum(variance, 0.0), 0.0),
    )


def _lagged(series: Series, lag: int) -> Floats:
    return _over_sessions(*lag_moments(series, lag))


def autocorrelation(series: Series, lag: int) -> Floats:
    """Estimate each cell's rank autocorrelation within sessions, less its mean by chance."""
    statistic, mean, _ = lag_moments(series, lag)
    share = np.maximum(series.counts - lag, 0) / np.maximum(series.counts, 1)
    scale = (series.squares * share).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        found: Floats = np.where(scale > 0, (statistic - mean).sum(axis=1) / scale, np.nan)
    return found


def _ljung_box(series: Series) -> Floats:
    """Apply a portmanteau test: the squared standardised sums of products of several lags."""
    lags = min(_LAGS, max(1, (series.row.shape[2] - 1) // 3))
    found = np.full(series.counts.shape[0], np.nan)
    if lags < 2:
        return found
    z = np.array([_lagged(series, lag) for lag in range(1, lags + 1)])
    freedom = np.isfinite(z).sum(axis=0)
    tested = freedom >= 2
    found[tested] = chdtrc(freedom[tested], np.nansum(z**2, axis=0)[tested])
    np.clip(found, np.finfo(np.float64).tiny, 1.0, out=found)
    return found


def _median_runs(series: Series) -> Floats:
    """Count runs above and below the median (Wald and Wolfowitz 1940), values equal to it left out."""
    with np.errstate(invalid="ignore"):
        middle = middle_of(series.values)
        side = np.where(series.present, np.sign(series.values - middle[:, :, None]), 0.0)
    above, below = (side > 0).sum(axis=2), (side < 0).sum(axis=2)
    at = np.where(side != 0, np.arange(side.shape[2]), -1)
    latest = np.maximum.accumulate(at, axis=2)
    filled = np.where(latest >= 0, np.take_along_axis(side, np.maximum(latest, 0), axis=2), 0.0)
    changes = (filled[:, :, 1:] * filled[:, :, :-1] < 0).sum(axis=2)
    n = (above + below).astype(np.float64)
    usable = (above > 0) & (below > 0) & (n > 3)
    with np.errstate(divide="ignore", invalid="ignore"):
        pairs = 2.0 * above * below
        mean = np.where(usable, pairs / n, 0.0)
        variance = np.where(usable, pairs * (pairs - n) / (n**2 * (n - 1)), 0.0)
        total = variance.sum(axis=1)
        apart = np.abs(np.where(usable, changes - mean, 0.0).sum(axis=1))
        z = np.where(total > 0, np.maximum(apart - 0.5, 0.0) / np.sqrt(total), np.nan)
    return two_sided(z)


def _change_point(series: Series) -> CellTests:
    """Look for one shift within a session: the largest partial sum of ranks (Pettitt 1979).

    Held against Kolmogorov's law, in each session of 10 runs or more; of several sessions the
    smallest p-value counts, times their number.
    """
    n = series.counts
    usable = (n >= LEAST) & (series.squares > 0)
    sums = np.abs(np.cumsum(series.scores, axis=2))
    with np.errstate(divide="ignore", invalid="ignore"):
        height = sums.max(axis=2) / np.sqrt(n * series.squares / (n - 1))
    p = np.where(usable, kolmogorov(np.where(usable, height, 0.0)), np.inf)
    which = p.argmin(axis=1)
    cells = np.arange(which.size)
    tested = usable.sum(axis=1)
    least = np.where(tested > 0, p[cells, which], 1.0) * tested
    found = np.where(tested > 0, np.clip(least, np.finfo(np.float64).tiny, 1.0), np.nan)
    place = sums.argmax(axis=2)[cells, which] + 1
    return CellTests(code="change-point", pvalues=found, session=which, place=place)


def _first(series: Series) -> Floats:
    """Add up the ranks of the first runs of all sessions."""
    first = series.scores[:, :, 0]
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = series.squares / series.counts
    return _over_sessions(first, np.zeros_like(first), _known(variance, series))
