"""Which relabellings make a method over the suite call one of two identical variants the better.

Every function takes the pairs and a table of relabellings and gives one truth value for each.
Randomization and bootstrap take the ratio of geometric means of all runs, as their functions do by
default. What they draw is drawn once for all relabellings: the assignments of a pooled sample do
not depend on its labels, and a draw of places serves any values that stand there.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ..methods.hpt import rank_sum_pvalue, risk_of, signed_rank_stage
from ..stats import TIE_TOLERANCE, midranks
from .pairs import Pairs
from .relabelling import Signs, sides

__all__ = ["SUITE_ALARMS", "SuiteAlarm"]

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
SuiteAlarm = Callable[[Pairs, Signs, float, np.random.Generator, int], Flags]
_TOLERANCE = 1e-12  # statistics so close are equal: sums in another order


def randomize_runs(
    pairs: Pairs, table: Signs, risk: float, rng: np.random.Generator, draws: int
) -> Flags:
    """Reassign single runs, each benchmark on its own."""
    many = len(pairs.benchmarks)
    null, observed = np.zeros(draws), np.zeros(len(table))
    for (x, y), group in zip(pairs.logs(), pairs.group, strict=True):
        n = x.size
        order = np.tile(np.repeat([1.0, -1.0], n), (draws, 1))
        null += rng.permuted(order, axis=1) @ np.concatenate([x, y]) / (n * many)
        observed += table[:, group] @ (x - y) / (n * many)
    return _rejected(null, observed, risk)


def randomize_blocks(
    pairs: Pairs, table: Signs, risk: float, rng: np.random.Generator, draws: int
) -> Flags:
    """Swap the labels of whole blocks, jointly over the benchmarks."""
    shares, group = _block_shares(pairs)
    null = rng.choice([-1.0, 1.0], size=(draws, shares.size)) @ shares
    return _rejected(null, table[:, group] @ shares, risk)


def bootstrap_runs(
    pairs: Pairs, table: Signs, risk: float, rng: np.random.Generator, draws: int
) -> Flags:
    """Percentile interval, single runs drawn, each benchmark and side on its own."""
    many = len(pairs.benchmarks)
    replicates = np.zeros((draws, len(table)))
    drawn: dict[int, Array] = {}
    for k in range(many):
        for sign, values in zip((1.0, -1.0), sides(pairs, k, table), strict=True):
            n = values.shape[1]
            if n not in drawn:
                drawn[n] = _weights(n, rng, draws) / n
            # the draws of another sample of this size are these in another order
            weights = drawn[n][rng.permutation(draws)]
            replicates += sign * (weights @ np.log(values[:, rng.permutation(n)]).T) / many
    return _outside(replicates, risk)


def bootstrap_blocks(
    pairs: Pairs, table: Signs, risk: float, rng: np.random.Generator, draws: int
) -> Flags:
    """Percentile interval, whole blocks drawn, jointly over benchmarks and sides."""
    shares, group = _block_shares(pairs)
    return _outside(_weights(shares.size, rng, draws) @ (table[:, group] * shares).T, risk)


def bootstrap_sessions(
    pairs: Pairs, table: Signs, risk: float, rng: np.random.Generator, draws: int
) -> Flags:
    """Percentile interval, whole sessions drawn, jointly over benchmarks and sides."""
    shares, group = _block_shares(pairs)
    there = np.unique(group)
    by_session = np.array([shares[group == k].sum() for k in there])
    return _outside(_weights(there.size, rng, draws) @ (table[:, there] * by_session).T, risk)


def hpt_over_suite(
    pairs: Pairs, table: Signs, risk: float, _rng: np.random.Generator, _draws: int
) -> Flags:
    """HPT at the confidence that is asked for, as published, towards either side.

    Scores are those that `hpt` takes by default: ratios to the baseline's median, and raw values where
    higher is better.
    """
    rows = []
    for k in range(len(pairs.benchmarks)):
        x, y = sides(pairs, k, table)
        n = x.shape[1]
        ranks = midranks(np.concatenate([x[0], y[0]]))  # both tails are looked at
        ours = np.where(x != x[0], ranks[n:], ranks[:n]).sum(axis=1)
        accepted = risk_of(n, n, None) + 1e-9
        total = float(ranks.sum())
        told = {
            w: any(rank_sum_pvalue(r, ranks, n, n, "table") <= accepted for r in (w, total - w))
            for w in set(ours.tolist())
        }
        if not pairs.higher:
            centre = np.median(y, axis=1, keepdims=True)
            x, y = centre / x, centre / y
        one, two = np.median(x, axis=1), np.median(y, axis=1)
        found = one - two
        found[np.abs(found) <= TIE_TOLERANCE * np.maximum(one, two)] = 0.0
        rows.append(np.where([told[w] for w in ours.tolist()], found, 0.0))
    stages = [signed_rank_stage(column) for column in np.array(rows).T]
    return np.array(
        [min(one.pvalue_candidate, one.pvalue_baseline) <= risk + 1e-9 for one in stages]
    )


def _block_shares(pairs: Pairs) -> tuple[Array, NDArray[np.int64]]:
    """Give what each block adds to the difference of the suite's means, and its group."""
    count = max(int(block.max()) for block in pairs.block) + 1
    shares, group = np.zeros(count), np.full(count, -1)
    for (x, y), block, own in zip(pairs.logs(), pairs.block, pairs.group, strict=True):
        np.add.at(shares, block, (x - y) / (x.size * len(pairs.benchmarks)))
        group[block] = own
    there = group >= 0
    return shares[there], group[there]


def _weights(size: int, rng: np.random.Generator, draws: int) -> NDArray[np.int64]:
    return rng.multinomial(size, np.full(size, 1 / size), size=draws)


def _rejected(null: Array, observed: Array, risk: float) -> Flags:
    """Two-sided p of random assignments, (k + 1) / (N + 1), against the risk."""
    far = np.sort(np.abs(null))
    edge = np.abs(observed) * (1 - _TOLERANCE) - _TOLERANCE
    count = far.size - np.searchsorted(far, edge, side="left")
    rejected: Flags = (count + 1) / (far.size + 1) <= risk + _TOLERANCE
    return rejected


def _outside(replicates: Array, risk: float) -> Flags:
    """Tell where 0 lies outside the middle of the replicates (draws x relabellings)."""
    low, high = np.quantile(replicates, [risk / 2, 1 - risk / 2], axis=0)
    found: Flags = (low > _TOLERANCE) | (high < -_TOLERANCE)
    return found


# name and unit of each method, in the order in which they are shown
SUITE_ALARMS: dict[tuple[str, str], SuiteAlarm] = {
    ("randomization", "run"): randomize_runs,
    ("randomization", "block"): randomize_blocks,
    ("bootstrap", "run"): bootstrap_runs,
    ("bootstrap", "block"): bootstrap_blocks,
    ("bootstrap", "session"): bootstrap_sessions,
    ("hpt", "run"): hpt_over_suite,
}
