"""How many more sessions would probably decide, and whether more runs alone would.

The data are kept, and what they leave open is drawn: the spread of session values by its chi-square law,
the true log ratio by the t law around the estimate, and then the new sessions. A further session is worth
the share of draws in which old and new sessions together end with an interval outside 0 or inside the
margin. That is right on average over what the data leave possible, and less where the truth lies on the
margin. The same is said for the spread at its quartiles.

Whether more runs would do takes estimate and spread as if they were true; its chances are integrals over
the law of the standard deviation (of both, where sides have unequal numbers of sessions and each has its
own quantile of t): scipy's noncentral t gives nan in its lower tail.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import chdtri, gammaincinv, gammaln, ndtr, ndtri

from ...pages.result import lazily
from ...stats.samples import Array, Integers, read_only
from .estimates import FLAT, satterthwaite
from .result import Line, MoreSessions

if TYPE_CHECKING:
    from .law import ErrorLaw


LIMIT = 10_000  # sessions at most: lazy_advice finds whether they decide
CHANCE = 0.9  # so that three in four decide wherever the truth lies: a spread that came out small asks for too few
AT_LOOKS = 0.8  # of compare, which goes on from look to look
DRAWS = 1000
_SEED = 20261121  # of the order of the strata; fixed, so that equal data get equal advice
_RUNS = 10  # times as many runs a session at most
# of the integrals over one standard deviation, and over two
_RULES = {1: np.polynomial.legendre.leggauss(64), 2: np.polynomial.legendre.leggauss(40)}
_REACH = 7.0  # standard deviations of a chi beyond which there is nothing
_NEAR_NORMAL = (
    20  # degrees of freedom from which on a quantile of chi-square is near enough for draws
)
_GRID = 65  # degrees of freedom between which quantiles of t are interpolated


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scatter:
    """What the error of some estimates is made of: arrays of shape (lines, sides).

    One side where differences are paired, two where the sides have sessions of their own.
    `variance` is that of session values, `sessions` their number, `within` the part of the variance
    that the scatter of the runs makes (nan where unknown). `step` widens each half-width, shape (lines,).
    """

    variance: Array
    sessions: Array
    within: Array
    step: Array


def chances(
    estimate: Array, error: Array, freedom: Array, multipliers: tuple[Array, Array], margin: float
) -> tuple[Array, Array]:
    """Give the chance of an interval outside 0, and of one inside the margin."""
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


def _deviations(freedom: Array, nodes: Array, weights: Array) -> tuple[Array, Array]:
    """Give nodes of chi / sqrt(freedom) with weights that sum to 1, arrays of shape (n, nodes)."""
    reach = _REACH / np.sqrt(2.0 * freedom)
    low, high = np.maximum(0.0, 1.0 - reach), 1.0 + reach
    u = low[:, None] + (high - low)[:, None] * (nodes + 1) / 2
    df = freedom[:, None]
    log = (df - 1) * np.log(u) - df * u**2 / 2 + df / 2 * np.log(df / 2) - gammaln(df / 2)
    weight = np.exp(log) * weights
    return u, weight / weight.sum(axis=1, keepdims=True)


def _grid(found: Array, more: Array, together: np.ufunc) -> Array:
    """Put every entry of a row together with every one of another, shape (n, nodes)."""
    both: Array = together(found[:, :, None], more[:, None, :])
    return both.reshape(len(found), -1)


def sessions_needed(
    line: Line, law: ErrorLaw, margin: float, *, limit: int = LIMIT, chance: float = CHANCE
) -> int | None:
    """Give how many more sessions would decide a line of paired sessions with a chance.

    `margin` is that of the log ratio. None without an interval, and beyond `limit`.
    """
    if line.speedup is None or not line.error or line.sessions < 2:
        return None
    scatter = Scatter(
        variance=np.array([[line.error**2 * line.sessions]]),
        sessions=np.array([[float(line.sessions)]]),
        within=np.full((1, 1), np.nan),
        step=np.array([line.step_added or 0.0]),
    )
    steps = np.ones(1), np.ones(1)
    asked = _AdviceQuestion(np.log([line.speedup]), scatter, law, margin, steps)
    found = int(_least(asked, None, limit, chance)[0][0])
    return found if found <= limit else None


def rounded(count: int) -> int:
    """Give a number of two digits that is no less, such as 140 for 137."""
    step = int(10 ** max(len(str(count)) - 2, 0))
    return -(-count // step) * step


def advise(
    estimate: Array, scatter: Scatter, law: ErrorLaw, margin: float, steps: tuple[Array, Array]
) -> tuple[MoreSessions, ...]:
    """Advise on lines that are undecided."""
    asked = _AdviceQuestion(estimate, scatter, law, margin, steps)
    least, shares = _least(asked, None)
    # a spread at its lower and at its upper quartile
    ends = [_least(asked, quantile)[0] for quantile in (0.25, 0.75)]
    runs = _runs_suffice(asked)
    found = []
    for k in range(len(estimate)):
        counts = [rounded(int(n[k])) if n[k] <= LIMIT else None for n in (least, *ends)]
        faster, slower, equivalent, any_of_these = (float(share[k]) for share in shares)
        likeliest = max(faster, slower)
        found.append(
            MoreSessions(
                sessions=counts[0],
                low=counts[1],
                high=counts[2],
                chance=None if counts[0] is None else any_of_these,
                target="equivalent"
                if equivalent > likeliest
                else "faster"
                if faster >= slower
                else "slower",
                runs_suffice=runs[k],
            )
        )
    return tuple(found)


def lazy_advice(
    estimate: Array, scatter: Scatter, law: ErrorLaw, margin: float, steps: tuple[Array, Array]
) -> tuple[MoreSessions, ...]:
    """Advise as `advise` does, on all lines at once when a number of one is asked for."""
    together = functools.cache(lambda: advise(estimate, scatter, law, margin, steps))
    return tuple(
        lazily(MoreSessions, functools.partial(lambda k: together()[k], k))
        for k in range(len(estimate))
    )


class _AdviceQuestion(NamedTuple):
    """What is asked of some lines, as `advise` is."""

    estimate: Array
    scatter: Scatter
    law: ErrorLaw
    margin: float
    steps: tuple[Array, Array]


def _least(
    asked: _AdviceQuestion, quantile: float | None, limit: int = LIMIT, chance: float = CHANCE
) -> tuple[Integers, list[Array]]:
    """Find by halving the least number with the chance, and the shares there."""
    low = np.zeros(len(asked.estimate), dtype=np.int64)
    high = np.full_like(low, limit + 1)
    while (high - low > 1).any():
        middle = np.where(high - low > 1, (low + high) // 2, high)
        enough = _shares(asked, middle, quantile)[-1] >= chance
        open_ = high - low > 1
        high = np.where(open_ & enough, middle, high)
        low = np.where(open_ & ~enough, middle, low)
    return high, _shares(asked, high, quantile)


def _shares(asked: _AdviceQuestion, more: Integers, quantile: float | None) -> list[Array]:
    """Draw `more` sessions more a side: the shares faster, slower, equivalent, and any of these."""
    have, variance = asked.scatter.sessions, asked.scatter.variance
    x = np.repeat(asked.estimate[:, None], DRAWS, axis=1)
    errors, freedoms = [], []
    for j in range(have.shape[1]):
        old, new = have[:, j, None], more[:, None].astype(np.float64)
        true = variance[:, j, None] * (old - 1.0)
        if quantile is None:
            true = true / np.stack([_chi_square(f - 1.0, 3 * j) for f in have[:, j]])
        else:  # the upper tail of chi-square is the lower one of the spread
            true = true / np.asarray(chdtri(old - 1.0, quantile))
        # the new sessions' mean less the old ones': of the truth about the old mean, and of their own
        apart = np.sqrt(true * (1 / old + 1 / new)) * _normal(3 * j + 1)
        x = x + new / (old + new) * apart
        squares = (old - 1.0) * variance[:, j, None] + old * new / (old + new) * apart**2
        squares += true * np.stack([_chi_square(n - 1.0, 3 * j + 2) for n in more.tolist()])
        freedoms.append((old + new - 1.0)[:, 0])
        errors.append(np.sqrt(squares / (old + new - 1.0) / (old + new)))
    outer, inner = (
        half + asked.scatter.step[:, None]
        for half in _halves(asked, np.stack(errors, axis=-1), np.stack(freedoms, axis=-1))
    )
    equivalent = np.abs(x) + inner < asked.margin
    faster, slower = (sign * x > outer for sign in (1, -1))
    ends = (faster & ~equivalent, slower & ~equivalent, equivalent, faster | slower | equivalent)
    return [end.mean(axis=1) for end in ends]


def _halves(asked: _AdviceQuestion, errors: Array, freedoms: Array) -> list[Array]:
    """Give both half-widths, of errors (lines, draws, sides) with freedoms (lines, sides)."""
    law = asked.law
    if freedoms.shape[1] == 1:
        return [
            law.multiplier(freedoms[:, 0], step)[:, None] * errors[..., 0] for step in asked.steps
        ]
    equal = np.abs(freedoms[:, 0] - freedoms[:, 1]) < FLAT
    # Welch's t needs a quantile for each draw: looked up along a grid, between f and 2 f, even in 1 / f
    least = freedoms[:, :1]
    freedom = satterthwaite(errors, np.broadcast_to(freedoms[:, None], errors.shape))
    place = np.clip(2 * (1 - least / np.where(equal[:, None], freedom, least)), 0, 1) * (_GRID - 1)
    below = np.minimum(place.astype(np.int64), _GRID - 2)
    grid = least / np.linspace(1.0, 0.5, _GRID)
    found = []
    for step in asked.steps:
        each = law.multiplier(freedoms, step[:, None])
        half = np.hypot(*np.moveaxis(each[:, None] * errors, -1, 0))  # Banerjee's bound
        if equal.any():
            known = law.multiplier(grid, step[:, None])
            left = np.take_along_axis(known, below, axis=1)
            right = np.take_along_axis(known, below + 1, axis=1)
            welch = (left + (place - below) * (right - left)) * np.hypot(
                *np.moveaxis(errors, -1, 0)
            )
            half = np.where(equal[:, None], welch, half)
        found.append(half)
    return found


# ---- draws: each variate's strata in an order of its own


@functools.lru_cache(maxsize=16)
def _strata(variate: int) -> Array:
    rng = np.random.default_rng([_SEED, variate])
    return read_only((rng.permutation(DRAWS) + 0.5) / DRAWS)


@functools.lru_cache(maxsize=16)
def _normal(variate: int) -> Array:
    return np.asarray(ndtri(_strata(variate)))


@functools.lru_cache(maxsize=1024)
def _chi_square(freedom: float, variate: int) -> Array:
    """Give draws of a chi-square; 0 without any degree of freedom."""
    if freedom == 0:
        return np.zeros(DRAWS)
    if freedom < _NEAR_NORMAL:
        return np.asarray(2.0 * gammaincinv(freedom / 2, _strata(variate)))
    spread = 2.0 / (9.0 * freedom)  # Wilson and Hilferty: the cube root is nearly normal
    return np.asarray(freedom * (1.0 - spread + np.sqrt(spread) * _normal(variate)) ** 3)


# ---- more runs in the same sessions


def _runs_suffice(asked: _AdviceQuestion) -> list[bool | None]:
    """Tell of each line whether ten times the runs in the same sessions would decide it."""
    scatter = asked.scatter
    known = ~np.atleast_1d(np.isnan(scatter.within).any(axis=1))
    between = np.maximum(scatter.variance - scatter.within, 0.0)
    # never 0, which has no chances
    variance = np.maximum(between + scatter.within / _RUNS, scatter.variance * 1e-12)
    errors = np.sqrt(np.where(known[:, None], variance, scatter.variance) / scatter.sessions)
    freedoms = scatter.sessions - 1.0
    unequal = freedoms[:, 0] != freedoms[:, -1]
    enough = np.zeros(len(errors), dtype=np.bool_)
    for rows, apart in ((~unequal, False), (unequal, True)):
        if not rows.any():
            continue
        error, freedom = errors[rows], freedoms[rows]
        if not apart:  # one quantile for both sides
            freedom = satterthwaite(error, freedom)[:, None]
            error = np.hypot.reduce(error, axis=1)[:, None]
        outer, inner = (asked.law.multiplier(freedom, step[rows, None]) for step in asked.steps)
        found = chances(asked.estimate[rows], error, freedom, (outer, inner), asked.margin)
        enough[rows] = np.maximum(*found) >= CHANCE
    return [bool(e) if k else None for e, k in zip(enough.tolist(), known.tolist(), strict=True)]
