"""Which relabellings of one benchmark make a test call one of two identical variants the better.

Every function takes the values of both sides (relabellings x blocks) and gives, for each
relabelling, whether there is an alarm and whether the test could conclude at all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..methods.hpt import rank_sum_pvalue, risk_of
from ..methods.speedup_test import decide
from ..stats import midranks, welch as welch_test

__all__ = ["ALARMS", "Alarms", "rank_sum_nominal"]

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
_TOLERANCE = 1e-9  # of a p that is compared with its risk


class Alarms(NamedTuple):
    """For each relabelling: is a side called better, and could the test conclude."""

    alarm: Flags
    concluded: Flags


def pooled_welch(x: Array, y: Array, risk: float) -> dict[str, Alarms]:
    """Welch's t on the logarithms of all runs, two-sided, sessions not looked at."""
    found = welch_test(np.log(x), np.log(y))
    known = np.isfinite(found.pvalue)
    p = 2 * np.minimum(found.pvalue, 1 - found.pvalue)
    return {"welch": Alarms(known & (np.where(known, p, 1.0) <= risk + _TOLERANCE), known)}


def pooled_rank_sum(x: Array, y: Array, _risk: float) -> dict[str, Alarms]:
    """Stage one of HPT on all runs, as published: one-sided at its own risk towards either side.

    The ranks of both sides together are the same under every relabelling; only sums change.
    """
    n = x.shape[1]
    ranks = midranks(np.concatenate([x[0], y[0]]))
    swapped = x != x[0]  # a block of equal values has equal ranks, swapped or not
    ours = np.where(swapped, ranks[n:], ranks[:n]).sum(axis=1)
    risk = risk_of(n, n, None) + _TOLERANCE
    total = float(ranks.sum())
    table = {
        w: rank_sum_pvalue(w, ranks, n, n, "table") <= risk
        or rank_sum_pvalue(total - w, ranks, n, n, "table") <= risk
        for w in set(ours.tolist())
    }
    alarm = np.array([table[w] for w in ours.tolist()])
    return {"rank-sum": Alarms(alarm, np.ones_like(alarm))}


def rank_sum_nominal(runs: int) -> float:
    """Give the risk that stage one of HPT calls either side the better, as it is meant."""
    return 2 * risk_of(runs, runs, None)


def speedup_tests(x: Array, y: Array, risk: float) -> dict[str, Alarms]:
    """Give both protocols of the Speedup-Test on all runs, one-sided towards either side."""
    decisions = decide(x, y, [1 - risk] * len(x), compatible=False)
    found = {}
    for name, each in (
        ("speedup-test mean", [one.mean for one in decisions]),
        ("speedup-test median", [one.median for one in decisions]),
    ):
        found[name] = Alarms(
            np.array([bool(one.significant) or bool(one.swapped.significant) for one in each]),
            np.array([one.significant is not None for one in each]),
        )
    return found


# which methods each function answers for
ALARMS: dict[tuple[str, ...], Callable[[Array, Array, float], dict[str, Alarms]]] = {
    ("welch",): pooled_welch,
    ("rank-sum",): pooled_rank_sum,
    ("speedup-test mean", "speedup-test median"): speedup_tests,
}
