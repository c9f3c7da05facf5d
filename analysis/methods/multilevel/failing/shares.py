"""Fisher's exact test of two shares, each run an independent draw."""

from __future__ import annotations

import math

__all__ = ["fisher"]

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
