"""How many more sessions would probably decide, and whether more runs alone would.

With the estimate and the spread as if they were true, a further session is worth its chance to end
with an interval outside 0 or inside the margin. The spread of few sessions is itself uncertain, so
the same is said for its quartiles. The chances are integrals over the law of the standard deviation
(of both, where sides have unequal numbers of sessions and each has its own quantile of t): scipy's
noncentral t gives nan in its lower tail.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtri, gammaln, ndtr

from .estimates import satterthwaite
from .law import Law
from .result import MoreSessions

__all__ = ["Scatter", "advise", "chances"]

Floats = NDArray[np.float64]

LIMIT = 100  # more sessions than that are no advice
CHANCE = 0.8
_RUNS = 10  # times as many runs a session at most
# of the integrals over one standard deviation, and over two
_RULES = {1: np.polynomial.legendre.leggauss(64), 2: np.polynomial.legendre.leggauss(40)}
_REACH = 7.0  # standard deviations of a chi beyond which there is nothing


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scatter:
    """What the error of some estimates is made of: arrays of shape (lines, sides).

    One side where differences are paired, two where the sides have sessions of their own.
    `variance` is that of session values, `sessions` their number, `within` the part of the variance
    that the scatter of the runs makes (nan where unknown).
    """

    variance: Floats
    sessions: Floats
    within: Floats


def chances(
    estimate: Floats,
    error: Floats,
    freedom: Floats,
    multipliers: tuple[Floats, Floats],
    margin: float,
) -> tuple[Floats, Floats]:
    """Give the chance of an interval outside 0, and of one inside the margin.

    Parameters
    ----------
    estimate : array, shape (n,)
        The truth: the log ratio.
    error, freedom : array, shape (n,), or (n, 1) or (n, 2)
        The standard error of its estimate and its degrees of freedom; or of the two independent parts
        that it is made of, each with a multiplier of its own.
    multipliers : pair of arrays, shape of `error`
        Half-width over standard error, for each of the two.
    margin : float
        Of the log ratio.

    Returns
    -------
    outside, inside : arrays, shape (n,)
    """
    shape = (len(estimate), -1)
    errors, freedoms = error.reshape(shape), freedom.reshape(shape)
    error = np.hypot.reduce(errors, axis=1)
    weight = np.ones((len(estimate), 1))
    squares = [np.zeros((len(estimate), 1)) for _ in multipliers]
    for part in range(errors.shape[1]):
        u, density = _deviations(freedoms[:, part], *_RULES[errors.shape[1]])
        share = (errors[:, part] / error)[:, None]
        weight = _grid(weight, density, np.multiply)
        squares = [
            _grid(square, (multiplier.reshape(shape)[:, part, None] * share * u) ** 2, np.add)
            for square, multiplier in zip(squares, multipliers, strict=True)
        ]
    shift = (estimate / error)[:, None]
    outer, inner = (np.sqrt(square) for square in squares)
    outside = ndtr(shift - outer) + ndtr(-shift - outer)
    room = (margin / error)[:, None] - inner
    inside = np.where(room > 0, ndtr(room - shift) - ndtr(-room - shift), 0.0)
    return (weight * outside).sum(axis=1), (weight * inside).sum(axis=1)


def _deviations(freedom: Floats, nodes: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Give nodes of chi / sqrt(freedom) with weights that sum to 1, arrays of shape (n, nodes)."""
    reach = _REACH / np.sqrt(2.0 * freedom)
    low, high = np.maximum(0.0, 1.0 - reach), 1.0 + reach
    u = low[:, None] + (high - low)[:, None] * (nodes + 1) / 2
    df = freedom[:, None]
    log = (df - 1) * np.log(u) - df * u**2 / 2 + df / 2 * np.log(df / 2) - gammaln(df / 2)
    weight = np.exp(log) * weights
    return u, weight / weight.sum(axis=1, keepdims=True)


def _grid(found: Floats, more: Floats, together: np.ufunc) -> Floats:
    """Put every entry of a row together with every one of another, shape (n, nodes)."""
    both: Floats = together(found[:, :, None], more[:, None, :])
    return both.reshape(len(found), -1)


def advise(
    estimate: Floats,
    scatter: Scatter,
    law: Law,
    margin: float,
    steps: tuple[Floats, Floats],
) -> tuple[MoreSessions, ...]:
    """Advise on lines that are undecided.

    Parameters
    ----------
    estimate : array, shape (lines,)
        Log ratios.
    scatter : Scatter
        Of the same lines, with a positive variance and two sessions or more on each side.
    law : Law
        Level and law of the next look.
    margin : float
        Of the log ratio.
    steps : pair of arrays, shape (lines,)
        By what the level is divided for the two-sided test, and for equivalence.
    """
    lines = len(estimate)
    freedom = satterthwaite(np.sqrt(scatter.variance / scatter.sessions), scatter.sessions - 1.0)
    # by the chi-square law of the variance: as measured, and at its lower and upper quartile
    scale = np.concatenate(
        [np.ones(lines), freedom / chdtri(freedom, 0.25), freedom / chdtri(freedom, 0.75)]
    )
    search = _Search(
        estimate=np.tile(estimate, 3),
        variance=np.tile(scatter.variance, (3, 1)) * scale[:, None],
        sessions=np.tile(scatter.sessions, (3, 1)),
        law=law,
        margin=margin,
        steps=(np.tile(steps[0], 3), np.tile(steps[1], 3)),
    )
    least = search.least()
    outside, inside = search.chances(least)
    runs = _runs_suffice(estimate, scatter, law, margin, steps)
    found = []
    for k in range(lines):
        counts = [int(n) if n <= LIMIT else None for n in least[k::lines]]
        equivalent = inside[k] > outside[k]
        found.append(
            MoreSessions(
                sessions=counts[0],
                low=counts[1],
                high=counts[2],
                target="equivalent" if equivalent else "faster" if estimate[k] > 0 else "slower",
                runs_suffice=runs[k],
            )
        )
    return tuple(found)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Search:
    estimate: Floats
    variance: Floats
    sessions: Floats
    law: Law
    margin: float
    steps: tuple[Floats, Floats]

    def chances(self, more: NDArray[np.int64]) -> tuple[Floats, Floats]:
        """Give both chances with so many more sessions a side."""
        sessions = self.sessions + more[:, None]
        # sides of unequal numbers stay unequal, and keep a quantile each
        unequal = sessions[:, 0] != sessions[:, -1]
        errors = np.sqrt(self.variance / sessions)
        found = np.empty((2, len(self.estimate)))
        for rows, apart in ((~unequal, False), (unequal, True)):
            if not rows.any():
                continue
            error, freedom = errors[rows], sessions[rows] - 1.0
            if not apart:
                freedom = satterthwaite(error, freedom)[:, None]
                error = np.hypot.reduce(error, axis=1)[:, None]
            outer, inner = (self.law.multiplier(freedom, step[rows, None]) for step in self.steps)
            found[:, rows] = chances(
                self.estimate[rows], error, freedom, (outer, inner), self.margin
            )
        return found[0], found[1]

    def least(self) -> NDArray[np.int64]:
        """Find by halving the least number with the chance; LIMIT + 1 where none has it.

        Both chances only grow with the sessions once either is near CHANCE.
        """
        low = np.zeros(len(self.estimate), dtype=np.int64)
        high = np.full_like(low, LIMIT + 1)
        while (high - low > 1).any():
            middle = np.where(high - low > 1, (low + high) // 2, high)
            enough = np.maximum(*self.chances(middle)) >= CHANCE
            open_ = high - low > 1
            high = np.where(open_ & enough, middle, high)
            low = np.where(open_ & ~enough, middle, low)
        return high


def _runs_suffice(
    estimate: Floats, scatter: Scatter, law: Law, margin: float, steps: tuple[Floats, Floats]
) -> list[bool | None]:
    """Tell of each line whether ten times the runs in the same sessions would decide it."""
    known = ~np.atleast_1d(np.isnan(scatter.within).any(axis=1))
    between = np.maximum(scatter.variance - scatter.within, 0.0)
    # never 0, which has no chances
    variance = np.maximum(between + scatter.within / _RUNS, scatter.variance * 1e-12)
    search = _Search(
        estimate=estimate,
        variance=np.where(known[:, None], variance, scatter.variance),
        sessions=scatter.sessions,
        law=law,
        margin=margin,
        steps=steps,
    )
    outside, inside = search.chances(np.zeros(len(estimate), dtype=np.int64))
    enough: NDArray[np.bool_] = np.maximum(outside, inside) >= CHANCE
    return [bool(e) if k else None for e, k in zip(enough.tolist(), known.tolist(), strict=True)]
