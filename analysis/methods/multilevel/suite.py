"""The two lines of a suite: these benchmarks, and others like them.

"These" asks what the same benchmarks would give in other sessions: the sessions vary, the benchmarks
stay. "Others like them" adds that other benchmarks would have been chosen. Both have one estimate,
the mean over the benchmarks' log ratios. Tables are those of `estimates`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from .estimates import FLAT, Estimates, floored, in_groups, of_differences, of_sides

__all__ = ["shares_of", "similar_half", "suite_of_cells", "suite_of_differences", "suite_of_means"]

Floats = NDArray[np.float64]
Floors = tuple[Floats, Floats]  # of both sides, shape (benchmarks,)


def suite_of_differences(values: Floats, weights: Floats, floor: Floats | None = None) -> Estimates:
    """Give the mean over the benchmarks of paired differences, with whole sessions as clusters.

    With d_bs the value of benchmark b in session s and n_b its sessions, the residual of a session
    is c_s = sum over b of w_b (d_bs - mean_b) / n_b, V = S / (S - 1) sum c_s^2, and the degrees of
    freedom are the smallest n_b less 1. Where no value is missing that is t on the sessions' means.

    Parameters
    ----------
    values : array, shape (..., sessions, benchmarks)
        Differences of logs; nan where there is none. Blocks stand for sessions within one.
    weights : array, shape (benchmarks,)
        Not negative; only their proportions matter.
    floor : array, shape (benchmarks,), optional
        The least standard error of each benchmark's mean; nan where none is known.

    Returns
    -------
    Estimates
        Arrays of shape (...): `values` is the number of sessions that hold any value. Error and
        freedom are nan where a benchmark that has weight has fewer than two values.
    """
    each = of_differences(values)
    share = shares_of(each.estimate, weights)
    there = ~np.isnan(values)
    apart = np.where(there, values - each.estimate[..., None, :], 0.0)
    scale = share / np.maximum(each.values, 1)
    residual = (apart * scale[..., None, :]).sum(axis=-1)
    sessions = (there & (share > 0)[..., None, :]).any(axis=-1).sum(axis=-1)
    used = np.where(share > 0, each.values, np.iinfo(np.int64).max)
    freedom = np.minimum(used.min(axis=-1), sessions) - 1.0
    enough = freedom >= 1
    varies = (np.abs(residual) >= FLAT).any(axis=-1)
    variance = sessions / np.maximum(sessions - 1, 1) * (residual**2).sum(axis=-1)
    error = np.where(varies, np.sqrt(variance), 0.0)
    if floor is not None:
        error = np.maximum(error, np.sqrt(np.nansum((share * floor) ** 2, axis=-1)))
    return Estimates(
        estimate=_mean(each.estimate, share),
        error=np.where(enough, error, np.nan),
        freedom=np.where(enough, freedom, np.nan),
        values=sessions,
    )


def suite_of_means(
    ours: Floats, theirs: Floats, weights: Floats, floors: Floors | None = None
) -> Estimates:
    """Give the same for sides of different sessions: V = V_c + V_b, by the law of two sides.

    Parameters
    ----------
    ours, theirs : array, shape (..., sessions, benchmarks)
        Means of the logs of each session of a side.
    weights : array, shape (benchmarks,)
        As in `suite_of_differences`.
    """
    a_each, b_each = of_differences(ours).estimate, of_differences(theirs).estimate
    known = np.where(np.isnan(a_each - b_each), 0.0, weights)
    a, b = (None, None) if floors is None else floors
    return of_sides(suite_of_differences(ours, known, a), suite_of_differences(theirs, known, b))


def suite_of_cells(
    ours: Floats, theirs: Floats, weights: Floats, floors: Floors | None = None
) -> Estimates:
    """Give the same with every cell a stratum of its own: single runs that nothing ties together.

    Satterthwaite's freedom over all cells where each benchmark has equally many runs on both sides,
    else over those of equally many runs (`in_groups`).

    Parameters
    ----------
    ours, theirs : array, shape (..., runs, benchmarks)
        Logs of the runs of each side.
    weights : array, shape (benchmarks,)
        As in `suite_of_differences`.
    """
    a, b = of_differences(ours), of_differences(theirs)
    if floors is not None:
        a, b = (floored(side, floor) for side, floor in zip((a, b), floors, strict=True))
    each = a.estimate - b.estimate
    share = shares_of(each, weights)
    left_out = share == 0
    errors = np.concatenate(
        [np.where(left_out, 0.0, side.error * share) for side in (a, b)], axis=-1
    )
    freedoms = np.concatenate([np.where(left_out, 1.0, side.freedom) for side in (a, b)], axis=-1)
    unequal = ((a.values != b.values) & ~left_out).any(axis=-1, keepdims=True)
    runs = [np.where(left_out, -1, np.where(unequal, side.values, 0)) for side in (a, b)]
    error = np.sqrt((errors**2).sum(axis=-1))
    freedom, parts = in_groups(errors, freedoms, np.concatenate(runs, axis=-1))
    return Estimates(
        estimate=_mean(each, share),
        error=error,
        freedom=np.where(np.isnan(error), np.nan, freedom),
        values=np.where(left_out, 0, a.values + b.values).sum(axis=-1),
        parts=parts,
        laws=("satterthwaite", "grouped"),
    )


def similar_half(each: Floats, weights: Floats, half: Floats, alpha: float) -> Floats:
    """Give the half-width for others like these benchmarks.

    It is sqrt(t(B - 1)^2 s_m^2 / B + half^2), with s_m the standard deviation of the benchmarks'
    estimates; so it always holds the interval of these. Weights count as 1 / sum(w^2) benchmarks.

    Parameters
    ----------
    each : array, shape (..., benchmarks)
        The benchmarks' estimates; nan where there is none.
    weights : array, shape (benchmarks,)
        As in `suite_of_differences`.
    half : array, shape (...)
        The half-width for these benchmarks.
    alpha : float
        1 - confidence.

    Returns
    -------
    array, shape (...)
        nan where fewer than two benchmarks have an estimate and weight.
    """
    share = shares_of(each, weights)
    squares = np.asarray((share**2).sum(axis=-1))
    several = squares < 1  # one benchmark, or one that outweighs all others, has no spread
    mean = _mean(each, share)
    apart = np.where(share > 0, each - mean[..., None], 0.0)
    # for equal weights s_m^2 = sum(apart^2) / (B - 1), and squares = 1 / B
    variance = (share * apart**2).sum(axis=-1) / np.where(several, 1.0 - squares, 1.0)
    freedom = np.where(several, 1.0 / np.where(squares > 0, squares, 1.0) - 1.0, np.nan)
    with np.errstate(over="ignore", invalid="ignore"):
        found = np.hypot(-stdtrit(freedom, alpha / 2) * np.sqrt(variance * squares), half)
    return np.asarray(np.where(np.isfinite(found), found, np.nan))


def shares_of(each: Floats, weights: Floats) -> Floats:
    """Give the weights of the benchmarks that have an estimate, summing to 1 (0 where none has)."""
    known = np.where(np.isnan(each), 0.0, weights)
    total = known.sum(axis=-1, keepdims=True)
    return np.asarray(known / np.where(total > 0, total, 1.0))


def _mean(each: Floats, share: Floats) -> Floats:
    total = np.where(share > 0, each * share, 0.0).sum(axis=-1)
    return np.asarray(np.where((share > 0).any(axis=-1), total, np.nan))
