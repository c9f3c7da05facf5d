"""Quantiles, and by how much those of two sides differ, session by session.

References
----------
.. [1] F. E. Harrell, C. E. Davis, "A new distribution-free quantile estimator", Biometrika 69, 1982,
   section 2.

References
----------
.. [1] K. A. Doksum, "Empirical probability plots and statistical inference for nonlinear models in
   the two-sample case", Annals of Statistics 2, 1974, section 2.
.. [2] G. A. Rousselet, C. R. Pernet, R. R. Wilcox, "Beyond differences in means: robust graphical
   methods to compare two groups in neuroscience", European Journal of Neuroscience 46, 2017.
.. [3] R. Ibragimov, U. K. Mueller, "t-statistic based correlation and heterogeneity robust
   inference", Journal of Business & Economic Statistics 28, 2010, section 2.
.. [4] B. L. Welch, "The generalization of 'Student's' problem when several different population
   variances are involved", Biometrika 34, 1947.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import betainc, stdtrit

from ..errors import InsufficientDataError, UsageError
from .samples import Array, read_only


def harrell_davis(values: Array, shares: tuple[float, ...]) -> Array:
    """Estimate quantiles ([1]_, section 2): smoother than single order statistics of few runs.

    `values` (shape (n,)): Finite values in any unit. `shares`: Which quantiles, each between 0 and
    1, ends excluded. Gives array of float, shape (k,): In the values' unit.
    """
    if not all(0 < share < 1 for share in shares):
        raise UsageError(f"shares must lie between 0 and 1, not {shares}")
    if values.size == 0:
        raise InsufficientDataError("there is no value to take quantiles of", n=0, needed=1)
    ordered = np.sort(values)
    found = _weights(ordered.size, shares) @ ordered
    # rounding must not leave the range of the values
    return np.asarray(np.clip(found, ordered[0], ordered[-1]))


@functools.lru_cache(maxsize=256)
def _weights(n: int, shares: tuple[float, ...]) -> Array:
    """Give the weight of each order statistic, shape (k, n): a beta law's steps."""
    p = np.array(shares)[:, None]
    steps = betainc((n + 1) * p, (n + 1) * (1 - p), np.arange(n + 1) / n)
    return read_only(np.diff(steps, axis=1))


_DECILES = tuple(k / 10 for k in range(1, 10))
_QUARTILES = (0.25, 0.5, 0.75)
_FOR_DECILES, _FOR_QUARTILES = 5, 3  # runs of a session
_ROUNDING = 1e-12  # logs that differ by less are equal


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Shift:
    """Log ratios of quantiles, positive where the first side's values are larger.

    `shares`: Deciles, or quartiles of few runs. `logs` (shape (k,)): Mean over sessions of the log
    ratio of both sides' quantiles. `half` (shape (k,)): Half the width of the interval; nan with
    one session. `sessions`: Sessions that they rest on; of separate sides those of both together.
    `left_out`: Sessions with too few runs.
    """

    shares: tuple[float, ...]
    logs: Array
    half: Array
    sessions: int
    left_out: int


def shift_of(
    ours: Sequence[Array], theirs: Sequence[Array], *, paired: bool, confidence: float
) -> Shift | None:
    """Give the shift function: Harrell-Davis quantiles per session and side, t over the sessions.

    A session is one draw of what a session gives, as in the verdict ([3]_), so that runs which
    depend on their session's state do not count as independent. Separate sides are compared by
    Welch's t ([4]_).

    `ours`, `theirs`: The positive runs of each session; with `paired` entry k of both is the same
    session. `paired`: Whether both sides ran in the same sessions. `confidence`: Of each interval
    by itself, between 0 and 1. Gives Shift or None: Deciles if every session has at least 5 runs of
    either side, quartiles of at least 3; sessions with fewer are left out. None where none is left,
    or a value is not positive.
    """
    if any((runs <= 0).any() for runs in (*ours, *theirs)):
        return None
    if paired:
        kept = [
            (a, b) for a, b in zip(ours, theirs, strict=True) if _least((a, b)) >= _FOR_QUARTILES
        ]
        left_out = len(ours) - len(kept)
        first, second = [a for a, _ in kept], [b for _, b in kept]
    else:
        first, second = ([a for a in side if a.size >= _FOR_QUARTILES] for side in (ours, theirs))
        left_out = len(ours) + len(theirs) - len(first) - len(second)
    if not first or not second:
        return None
    shares = _DECILES if _least((*first, *second)) >= _FOR_DECILES else _QUARTILES
    tables = [
        np.log(np.stack([harrell_davis(runs, shares) for runs in side])) for side in (first, second)
    ]
    if paired:
        logs, half = mean_shift(tables[0] - tables[1], confidence)
        count = len(first)
    else:
        logs, half = _welch(tables[0], tables[1], confidence)
        count = len(first) + len(second)
    return Shift(shares=shares, logs=logs, half=half, sessions=count, left_out=left_out)


def mean_shift(table: Array, confidence: float) -> tuple[Array, Array]:
    """Give the mean over sessions of each column, and half its t interval (nan of one session).

    `table` (shape (sessions, k)): Log ratios. `confidence`: Of each interval by itself.
    """
    n = table.shape[0]
    centre = table.mean(axis=0)
    if n < 2:
        return centre, np.full(centre.shape, math.nan)
    error = table.std(axis=0, ddof=1) / math.sqrt(n)
    return centre, _half(error, np.full(centre.shape, n - 1.0), confidence)


def _welch(ours: Array, theirs: Array, confidence: float) -> tuple[Array, Array]:
    centre = ours.mean(axis=0) - theirs.mean(axis=0)
    sizes = np.array([ours.shape[0], theirs.shape[0]], dtype=np.float64)
    if sizes.min() < 2:
        return centre, np.full(centre.shape, math.nan)
    parts = np.stack([side.var(axis=0, ddof=1) / len(side) for side in (ours, theirs)])
    total = parts.sum(axis=0)
    below = (parts**2 / (sizes - 1)[:, None]).sum(axis=0)
    freedom = np.where(below > 0, total**2 / np.where(below > 0, below, 1.0), sizes.sum() - 2)
    return centre, _half(np.sqrt(total), freedom, confidence)


def _half(error: Array, freedom: Array, confidence: float) -> Array:
    error = np.where(error < _ROUNDING, 0.0, error)
    return np.asarray(stdtrit(freedom, (1 + confidence) / 2) * error)


def _least(runs: Sequence[Array]) -> int:
    return min(one.size for one in runs)
