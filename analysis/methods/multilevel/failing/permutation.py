"""Whether one side fails in a larger share of runs: whole sessions are dealt out to the sides anew.

What makes one run of a session fail, such as a full disk, makes its neighbours fail too, so runs of one
session are no repetitions. A cell is what one side has in one session, and its share of failed runs is one
value. If the sides do not differ, any dealing of the cells to the sides is as likely as the one that was
measured; p is the fraction of dealings in which the candidate's mean share exceeds the baseline's by as
much (a permutation test, [1]_, section 15.2). Where hosts are above the sessions, cells are dealt out
within each host.

References
----------
.. [1] E. L. Lehmann, J. P. Romano, "Testing Statistical Hypotheses", 3rd edition, 2005.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....data import Cells
from ....stats import stream

__all__ = ["DRAWS", "SidesCells", "cell_pvalue"]

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

DRAWS = 99_999  # where there are too many sums
_SEED = 20_261_123
_STATES = 200_000  # sums that are kept apart
_UNIT = 2.0**50  # of shares as whole numbers
_TIE = 1e-12  # differences of mean shares that are nearer are equal
_CHUNK = 2_000_000  # random numbers at a time
_LEAST = sys.float_info.min  # a p-value is never 0


class SidesCells(NamedTuple):
    """The cells of both sides, of one host."""

    candidate: Cells
    baseline: Cells


class _Host(NamedTuple):
    """Cells of one host as whole numbers: those of both sides, of which `ours` are the candidate's."""

    values: Integers
    ours: int


def cell_pvalue(hosts: Sequence[SidesCells], *, states: int = _STATES) -> float:
    """Give the one-sided p of "the candidate does not fail in a larger share of its runs".

    The statistic is the difference of the mean shares of cells, hosts weighing the same. Its
    distribution is exact: by the number of failures where all cells have equally many runs, else by
    the sums that occur, as long as they are not too many; then (1 + hits) / 100,000 of 99,999 draws
    with a seed of their own.

    Parameters
    ----------
    hosts : sequence of SidesCells
        One entry without hosts; each side has a cell at least.
    states : int
        How many sums are too many, where cells have unequal numbers of runs.
    """
    dealt, tie, equal = _as_numbers(hosts)
    observed = sum(int(host.values[: host.ours].sum()) for host in dealt)
    limit = observed - tie
    if limit <= 0:
        return 1.0
    found = _by_counts(dealt, limit) if equal else _by_sums(dealt, limit, states)
    return max(_drawn(dealt, limit) if found is None else min(found, 1.0), _LEAST)


def _as_numbers(hosts: Sequence[SidesCells]) -> tuple[list[_Host], int, bool]:
    """Give what each cell adds where it is the candidate's, what counts as equal, and whether it is exact."""
    runs = {n for host in hosts for side in host for n in side.runs}
    sizes = {(len(host.candidate.runs), len(host.baseline.runs)) for host in hosts}
    if len(runs) == len(sizes) == 1:
        counts = [
            _Host(
                np.array([*h.candidate.failed, *h.baseline.failed], dtype=np.int64),
                len(h.candidate.runs),
            )
            for h in hosts
        ]
        return counts, 0, True
    # a failing cell of the candidate moves its host's difference by share (1 / n + 1 / m)
    weights = [1 / len(h.candidate.runs) + 1 / len(h.baseline.runs) for h in hosts]
    scale = _UNIT / max(weights)
    found = []
    for host, weight in zip(hosts, weights, strict=True):
        failed = np.array([*host.candidate.failed, *host.baseline.failed], dtype=np.float64)
        of = np.array([*host.candidate.runs, *host.baseline.runs], dtype=np.float64)
        values = np.rint(failed / of * weight * scale).astype(np.int64)
        found.append(_Host(values, len(host.candidate.runs)))
    return found, round(_TIE * scale * len(hosts)), False


def _by_counts(hosts: Sequence[_Host], limit: int) -> float:
    """Give the chance that a number of failures reaches a limit.

    Cells are dealt one after the other: with n left, of which the candidate gets k, the next one is
    its with chance k / n. Cells without failures change no sum and need no step.
    """
    reached, total = 0.0, np.zeros(limit)
    total[0] = 1.0
    for host in hosts:
        chance = np.zeros((host.ours + 1, limit))  # of so many cells taken, with so many failures
        chance[0] = total
        for dealt, value in enumerate(host.values[host.values > 0].tolist()):
            share = (host.ours - np.arange(host.ours + 1)) / (host.values.size - dealt)
            moved = chance[:-1] * share[:-1, None]
            short = max(limit - value, 0)
            reached += float(moved[:, short:].sum())
            chance *= (1 - share)[:, None]
            chance[1:, limit - short :] += moved[:, :short]
        total = chance.sum(axis=0)
    return reached


def _by_sums(hosts: Sequence[_Host], limit: int, most: int) -> float | None:
    """Do the same with the sums that occur; None where there are more than `most`."""
    taken, total, chance = np.zeros(1, np.int64), np.zeros(1, np.int64), np.ones(1)
    reached = 0.0
    left = sum(int(host.values.sum()) for host in hosts)
    for host in hosts:
        taken = np.zeros_like(taken)
        for dealt, value in enumerate(host.values[host.values > 0].tolist()):
            share = (host.ours - taken) / (host.values.size - dealt)
            taken = np.concatenate([taken, taken + 1])
            total = np.concatenate([total, total + value])
            chance = np.concatenate([chance * (1 - share), chance * share])
            left -= value
            there = total >= limit
            reached += float(chance[there].sum())
            open_ = (chance > 0) & ~there & (total + left >= limit)
            taken, total, chance = _merged(taken[open_], total[open_], chance[open_])
            if total.size > most:
                return None
        taken, total, chance = _merged(np.zeros_like(taken), total, chance)
    return reached


def _merged(taken: Integers, total: Integers, chance: Floats) -> tuple[Integers, Integers, Floats]:
    """Add up the chances of what is the same."""
    if not total.size:
        return taken, total, chance
    order = np.lexsort((taken, total))
    taken, total, chance = taken[order], total[order], chance[order]
    new = np.flatnonzero(np.concatenate([[True], (np.diff(taken) != 0) | (np.diff(total) != 0)]))
    return taken[new], total[new], np.add.reduceat(chance, new)


def _drawn(hosts: Sequence[_Host], limit: int) -> float:
    """Deal the cells out at random."""
    rng = stream(_SEED, "failed runs")
    step = max(1, _CHUNK // max(host.values.size for host in hosts))
    hits = 0
    for start in range(0, DRAWS, step):
        many = min(step, DRAWS - start)
        total = np.zeros(many, dtype=np.int64)
        for host in hosts:
            places = np.argsort(rng.random((many, host.values.size)), axis=1)[:, : host.ours]
            total += host.values[places].sum(axis=1)
        hits += int((total >= limit).sum())
    return (1 + hits) / (1 + DRAWS)
