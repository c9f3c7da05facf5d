"""Stage one of HPT as a function of the speedup under test, given the ties inside the samples.

The law of the rank sum changes with the ties, so a winner is judged as `hpt` would, at ratios and
between them: at all of them for few runs, around the two changes for many.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ...stats import TIE_TOLERANCE, midranks
from .ratios import MADE, Ratios, Window
from .result import P_TOLERANCE
from .stages import EXACT_RUNS, rank_sum_pvalue

__all__ = ["changes_of"]

Array = NDArray[np.float64]
Signs = NDArray[np.int8]
_EVERY = 28  # up to so many runs of both sides every ratio is looked at
_NEAR = 6  # beyond, so many places on each side of a change
_FEW = 4  # searched ratios around a change, which are looked at one by one


def changes_of(s: Array, t: Array, risk: float, *, negated: bool) -> tuple[Array, Signs, Signs]:
    """Find where the winner of one benchmark changes, given the ties.

    Parameters
    ----------
    s, t : arrays of shapes (m,) and (n,)
        The scores of candidate and baseline, larger is better.
    risk : float
        Of each one-sided test.
    negated : bool
        Scores are negative, and multiplied by the speedup instead of divided.

    Returns
    -------
    tuple of arrays
        The k speedups, ascending; the winner (1, 0, -1) below, between and above them; at each.
    """
    wins = _judge(s, t, risk, negated=negated)
    if s.size * t.size <= MADE:
        every = np.sort((t[None, :] / s[:, None] if negated else s[:, None] / t[None, :]).ravel())
        ends = every[0] / 2, every[-1] * 2
        return _changes(wins, every, ends, every=s.size + t.size <= _EVERY)
    ratios = Ratios.of(t, s) if negated else Ratios.of(s, t)
    wins = _judge(np.sort(s), np.sort(t), risk, negated=negated)  # ranking sorted runs is quicker
    windows = [
        ratios.window(beyond, few=_FEW)
        for beyond in (lambda g, _: wins(g) < 1, lambda g, _: wins(g) < 0)
    ]
    (low, below, on_low), (high, above, on_high) = (_around(wins, one) for one in windows)
    if windows[0].before == windows[1].before:  # both changes in one window
        return low, below, on_low
    return (
        np.concatenate([low, high]),
        np.concatenate([below, above[1:]]),
        np.concatenate([on_low, on_high]),
    )


def _around(wins: Callable[[float], int], window: Window) -> tuple[Array, Signs, Signs]:
    """Find the changes in a window; beyond its neighbours the winner is the one at them."""
    some = np.concatenate(([window.under], window.values, [window.over]))
    ratios = some[(some > 0) & np.isfinite(some)]
    ends = window.under or ratios[0] / 2, min(window.over, ratios[-1] * 2)
    return _changes(wins, ratios, ends, every=True)


def _changes(
    wins: Callable[[float], int], ratios: Array, ends: tuple[float, float], *, every: bool
) -> tuple[Array, Signs, Signs]:
    """Find the changes among some ratios.

    `ends` are speedups below and above the ratios, which ascend.
    """
    new = np.concatenate(([True], np.diff(ratios) > TIE_TOLERANCE * ratios[1:]))
    points = ratios[new]
    inner = np.sqrt(points[:-1]) * np.sqrt(points[1:])
    opens = np.concatenate((ends[:1], inner, ends[1:]))

    # Intervals and points in turn, from below: 2q + 1 places.
    places = np.empty(2 * points.size + 1)
    places[::2], places[1::2] = opens, points
    found = _settle(lambda k: wins(float(places[k])), places.size, every=every)
    between, at = found[::2], found[1::2]
    keep = (between[:-1] != between[1:]) | (at != between[:-1])
    return points[keep], np.append(between[:-1][keep], between[-1]), at[keep]


def _settle(wins: Callable[[int], int], size: int, *, every: bool) -> Signs:
    """Find the winner at each place; with many runs, only near both changes place by place.

    From one ratio to the next the rank sum falls and its law, given the ties, hardly changes: the
    p of many runs passes the risk once, up to a few places.
    """
    found = np.zeros(size, dtype=np.int8)
    if every:
        found[:] = [wins(k) for k in range(size)]
        return found
    for side in (1, -1):
        low, high = -1, size  # the candidate wins up to low; the baseline from high on
        while high - low > 1:
            middle = (low + high) // 2
            verdict = wins(middle)
            if verdict == 1 or (side == -1 and verdict == 0):
                low = middle
            else:
                high = middle
        if side == 1:
            found[: low + 1] = 1
            first = range(max(0, low - _NEAR), min(size, high + _NEAR + 1))
        else:
            found[high:] = -1
            for k in (*first, *range(max(0, low - _NEAR), min(size, high + _NEAR + 1))):
                found[k] = wins(k)
    return found


def _judge(s: Array, t: Array, risk: float, *, negated: bool) -> Callable[[float], int]:
    """Give the winner at a speedup, as `hpt` finds it; equal ranks are judged once."""
    m, n = s.size, t.size
    accepted = risk + P_TOLERANCE
    known: dict[bytes, int] = {}

    def judged(ranks: Array) -> int:
        r_a, r_b = float(ranks[:m].sum()), float(ranks[m:].sum())
        if rank_sum_pvalue(r_a, ranks, m, n, "exact") <= accepted:
            return 1
        return -1 if rank_sum_pvalue(r_b, ranks, n, m, "exact") <= accepted else 0

    def wins(g: float) -> int:
        ranks = midranks(np.concatenate([s * g if negated else s / g, t]))
        if m + n > EXACT_RUNS:  # the normal form is cheap, and a key of many runs large
            return judged(ranks)
        key = np.concatenate([np.sort(ranks[:m]), np.sort(ranks[m:])]).tobytes()
        if key not in known:
            known[key] = judged(ranks)
        return known[key]

    return wins
