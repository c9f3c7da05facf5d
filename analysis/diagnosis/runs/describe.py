"""What a cell's runs look like, without a test: effective sample size, ties, spread, far runs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .series import Series, middle_of
from .table import RunTable
from .within import autocorrelation, lag_moments

__all__ = ["Description", "described"]

Floats = NDArray[np.float64]
_FAR = 6.0  # robust standard deviations from the median of its series: a far run
_NORMAL = 1.4826  # median absolute deviation to standard deviation, of a normal law
_SURE = 2.0  # standard errors from 0: an autocorrelation that is counted
_LAGS = 10


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Description:
    """Figures of C cells, each of shape (C,); nan where unknown.

    Attributes
    ----------
    spread : array of float
        Standard deviation of logs within sessions, pooled.
    session_sd : array of float
        Standard deviation of session levels of logs, beyond what runs explain (0 where none is seen).
    lag_1 : array of float
        Autocorrelation of ranks at lag 1 within sessions.
    effective : array of float
        How many independent runs would give the mean of all runs the same standard error.
    ties : array of float
        Share of runs with a value that another run of the cell has too.
    resolution : array of float
        Smallest difference of two values, where there are ties.
    far : array of bool, shape (C, S, R)
        Runs more than six robust standard deviations from the median of their series.
    """

    spread: Floats
    session_sd: Floats
    lag_1: Floats
    effective: Floats
    ties: Floats
    resolution: Floats
    far: NDArray[np.bool_]


def described(table: RunTable, series: Series) -> Description:
    """Describe all cells."""
    logs = np.where(series.present, table.logs[series.row], np.nan)
    ties, resolution = _readings(series)
    spread, session_sd, effective = _levels(
        series, logs, _repetition(series) if table.in_order else np.ones(ties.shape)
    )
    return Description(
        spread=spread,
        session_sd=session_sd,
        lag_1=autocorrelation(series, 1) if table.in_order else np.full(ties.shape, np.nan),
        effective=effective,
        ties=ties,
        resolution=resolution,
        far=_far(logs),
    )


def _levels(series: Series, logs: Floats, factor: Floats) -> tuple[Floats, Floats, Floats]:
    """Estimate components of variance between and within sessions, by analysis of variance."""
    n = series.counts.astype(np.float64)
    runs, sessions = n.sum(axis=1), (n > 0).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        means = np.where(n > 0, np.where(series.present, logs, 0.0).sum(axis=2) / n, 0.0)
        overall = (n * means).sum(axis=1) / runs
        inside = np.where(series.present, logs - means[:, :, None], 0.0)
        within = (inside**2).sum(axis=(1, 2)) / (runs - sessions)
        among = np.where(n > 0, n * (means - overall[:, None]) ** 2, 0.0).sum(axis=1)
        among = among / (sessions - 1)
        typical = (runs - (n**2).sum(axis=1) / runs) / (sessions - 1)
        shift = np.maximum(among - factor * within, 0.0) / typical
        single = sessions < 2
        share = (n**2).sum(axis=1) / runs**2  # 1/S where sessions have as many runs
        error = np.where(single, 0.0, shift) * share + factor * within / runs
        effective = (np.where(single, 0.0, shift) + within) / error
    effective = np.where((within > 0) & np.isfinite(effective), np.minimum(effective, runs), np.nan)
    session_sd = np.where(single | ~np.isfinite(shift), np.nan, np.sqrt(np.abs(shift)))
    return np.where(runs > sessions, np.sqrt(within), np.nan), session_sd, effective


def _repetition(series: Series) -> Floats:
    """Give by how much autocorrelation multiplies the variance of a session's mean (1: not at all).

    Lags are counted while they are surely positive, so that independent runs count in full.
    """
    found = np.ones(series.counts.shape[0])
    going = np.ones(found.shape, dtype=np.bool_)
    size = series.row.shape[2]
    typical = np.maximum(series.counts.max(axis=1), 1)
    for lag in range(1, min(_LAGS, size - 2) + 1):
        statistic, mean, variance = lag_moments(series, lag)
        total = variance.sum(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            z = (statistic - mean).sum(axis=1) / np.sqrt(total)
        going &= np.nan_to_num(z) > _SURE
        if not going.any():
            break
        rho = np.nan_to_num(autocorrelation(series, lag))
        found += np.where(going, 2 * np.maximum(1 - lag / typical, 0) * rho, 0.0)
    return found


def _readings(series: Series) -> tuple[Floats, Floats]:
    """Tell how many runs share their value with another one, and the smallest step."""
    cells = series.counts.shape[0]
    ordered = np.sort(series.values.reshape(cells, -1), axis=1)  # nan comes last
    with np.errstate(invalid="ignore", over="ignore"):
        steps = np.diff(ordered, axis=1)
    same = steps == 0
    tied = np.zeros(ordered.shape, dtype=np.bool_)
    tied[:, 1:] |= same
    tied[:, :-1] |= same
    with np.errstate(divide="ignore", invalid="ignore"):
        ties = tied.sum(axis=1) / series.runs
    least = np.where((steps > 0) & np.isfinite(steps), steps, np.inf).min(axis=1, initial=np.inf)
    return ties, np.where((ties > 0) & np.isfinite(least), least, np.nan)


def _far(logs: Floats) -> NDArray[np.bool_]:
    cells = logs.shape[0]
    apart = np.abs(logs - middle_of(logs)[:, :, None])
    scale = _NORMAL * middle_of(apart.reshape(cells, 1, -1))
    with np.errstate(invalid="ignore"):
        found: NDArray[np.bool_] = (scale > 0)[:, :, None] & (apart > _FAR * scale[:, :, None])
    return found
