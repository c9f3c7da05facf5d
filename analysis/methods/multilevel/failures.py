"""Whether the candidate fails in runs that the baseline survives."""

from __future__ import annotations

import math

__all__ = ["fails_more", "fisher"]

_RISK = 0.05
_TIE = 1 + 1e-7  # as R's fisher.test compares probabilities


def fisher(failed_a: int, runs_a: int, failed_b: int, runs_b: int) -> float:
    """Give the two-sided p of Fisher's exact test that two shares of failures are equal.

    Parameters
    ----------
    failed_a, runs_a, failed_b, runs_b : int
        Failures, and all runs with them, of both sides.
    """
    failed = failed_a + failed_b

    def log_choose(n: int, k: int) -> float:
        return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)

    def log_chance(k: int) -> float:
        return (
            log_choose(runs_a, k)
            + log_choose(runs_b, failed - k)
            - log_choose(runs_a + runs_b, failed)
        )

    limit = log_chance(failed_a) + math.log(_TIE)
    least, most = max(0, failed - runs_b), min(failed, runs_a)
    chances = [log_chance(k) for k in range(least, most + 1)]
    return min(1.0, math.fsum(math.exp(chance) for chance in chances if chance <= limit))


def fails_more(failed_a: int, good_a: int, failed_b: int, good_b: int) -> bool:
    """Tell whether the first side fails in a share of its runs in which the second does not.

    Parameters
    ----------
    failed_a, good_a, failed_b, good_b : int
        Failed runs, and those that count, of both sides.

    Returns
    -------
    bool
        True when all of its runs fail and not all of the other's, or when its share is larger with
        Fisher's p below 0.05.
    """
    runs_a, runs_b = failed_a + good_a, failed_b + good_b
    if not failed_a or not runs_b:
        return bool(failed_a and not good_a)
    if not good_a and good_b:
        return True
    larger = failed_a * runs_b > failed_b * runs_a
    return larger and fisher(failed_a, runs_a, failed_b, runs_b) < _RISK
