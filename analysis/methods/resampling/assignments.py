"""What the randomization test reassigns, and its loops by numpy alone: the same numbers as compiled.

The functions are those of `kernel`, of the same names: they draw the same random numbers and add in the
same order, over all assignments at once. Of few runs they take less time than loading the kernels.
"""

from __future__ import annotations

import itertools
import math
import sys
from types import ModuleType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...stats.samples import Array, Flags, Integers
from ...stats.small_work import Budget

IDENTITY, LOGARITHM, RECIPROCAL = 0, 1, 2
TRIES = 100  # draws for each assignment wanted, before missing runs are called too many
Marks = NDArray[np.uint8]


class PooledRuns(NamedTuple):
    """The pooled runs of both sides, benchmark after benchmark.

    `values`: Inside each benchmark in ascending order, for the medians. `owner`: For each value,
    what is assigned with it: its place among the labels. `starts`: Where each benchmark starts, and
    where the last one ends. `median`: Whether a benchmark's centre is its median; otherwise its
    mean. `outer`: What happens to a centre before it is summed: one of the three codes above.
    """

    values: Array
    owner: Integers
    starts: Integers
    median: bool
    outer: int


class Exchange(NamedTuple):
    """What trades places: the first `pool` labels, of which `size` are the candidate's.

    Then come the candidate's and the baseline's half of each of `pairs` pairs.
    """

    pool: int
    size: int
    pairs: int


BUDGET = Budget(5_000_000)  # runs x assignments


def loops(runs: PooledRuns, assignments: int) -> ModuleType:
    """Give the module to go through so many assignments with: this one, or the compiled one."""
    if BUDGET.allows(runs.values.size * assignments):
        return sys.modules[__name__]
    from . import kernel

    return kernel


def _transformed(centres: Array, outer: int) -> Array:
    if outer == LOGARITHM:  # one by one: numpy's differ from the kernel's in the last digit
        return np.array([math.log(c) if c > 0 else -math.inf for c in centres])
    return 1.0 / centres if outer == RECIPROCAL else centres


def _medians(values: Array, upto: Integers) -> Array:
    """Give the medians of the values taken, of which `upto` counts those up to each one."""
    number = upto[-1]
    last = values.size - 1
    low = values[np.minimum((upto <= (number - 1) // 2).sum(axis=0), last)]
    high = values[np.minimum((upto <= number // 2).sum(axis=0), last)]
    return np.asarray(np.where(number % 2 == 0, 0.5 * low + 0.5 * high, low))


@np.errstate(all="ignore")  # of benchmarks without runs on one side, which are told
def _joint(runs: PooledRuns, taken: Marks) -> tuple[Array, Array, Flags]:
    """Sum both sides' centres over the benchmarks, by assignment; tell where none lacks runs.

    `taken` has a row for each label, 1 where it is the candidate's, and a column an assignment.
    """
    a, b = np.zeros(taken.shape[1]), np.zeros(taken.shape[1])
    whole = np.ones(taken.shape[1], dtype=bool)
    for start, stop in itertools.pairwise(runs.starts.tolist()):
        values, flags = runs.values[start:stop], taken[runs.owner[start:stop]]
        ours = flags.sum(axis=0, dtype=np.int64)
        theirs = stop - start - ours
        whole &= (ours > 0) & (theirs > 0)
        if runs.median:
            upto = np.cumsum(flags, axis=0, dtype=np.int64)
            rest = np.arange(1, stop - start + 1)[:, None] - upto
            centres = _medians(values, upto), _medians(values, rest)
        else:
            sums = np.zeros((2, taken.shape[1]))
            for value, flag in zip(values.tolist(), flags, strict=True):  # in the kernel's order
                sums[0] += value * flag
                sums[1] += value * (1 - flag)
            centres = sums[0] / ours, sums[1] / theirs
        a += _transformed(centres[0], runs.outer)
        b += _transformed(centres[1], runs.outer)
    return a, b, whole


def _chosen(total: int, size: int) -> Marks:
    """Give all choices of `size` from `total` in the order of the alphabet, a column each."""
    choices = np.array([*itertools.combinations(range(total), size)], dtype=np.intp)
    taken = np.zeros((total, len(choices)), np.uint8)
    taken[choices.T, np.arange(len(choices))] = 1
    return taken


def _shuffled(draws: Array, order: Integers, size: int) -> Marks:
    """Give random choices of `size`, a column for each row of `draws`; the order is moved on.

    A choice takes the first steps of a shuffle of the order that the last one left. Which places
    they exchange does not depend on what stands there.
    """
    count, total = len(draws), order.size
    rows, places = np.arange(count), np.tile(np.arange(total), (count, 1))
    for k in range(size):
        other = k + (draws[:, k] * (total - k)).astype(np.intp)
        moved = places[rows, other]
        places[rows, other] = places[:, k]
        places[:, k] = moved
    taken = np.zeros((total, count), np.uint8)
    for r in range(count if size else 0):
        order[:] = order[places[r]]
        taken[order[:size], r] = 1
    return taken


def _swapped(swaps: NDArray[np.bool_]) -> Marks:
    """Give both halves of each pair, a row each: the baseline's is the candidate's where swapped."""
    marks = np.repeat(swaps, 2, axis=0).astype(np.uint8)
    marks[::2] = 1 - marks[::2]
    return marks


def all_splits(runs: PooledRuns, size: int, out_a: Array, out_b: Array) -> None:
    """Fill in every split of one benchmark's runs that gives the candidate `size` of them."""
    out_a[:], out_b[:], _ = _joint(runs, _chosen(runs.values.size, size))


def add_drawn(
    drawn: NDArray[np.uint16], table_a: Array, table_b: Array, out_a: Array, out_b: Array
) -> None:
    """Add the drawn entries of a benchmark's table of splits."""
    out_a += table_a[drawn]
    out_b += table_b[drawn]


def add_shuffled(
    rng: np.random.Generator, runs: PooledRuns, size: int, out_a: Array, out_b: Array
) -> None:
    """Add random splits of one benchmark's runs that give the candidate `size` of them."""
    order = np.arange(runs.values.size)
    a, b, _ = _joint(runs, _shuffled(rng.random((out_a.size, size)), order, size))
    out_a += a
    out_b += b


def joint_all(runs: PooledRuns, design: Exchange, out_a: Array, out_b: Array) -> int:
    """Fill in every assignment of the units that leaves no benchmark empty; give their number."""
    choices = _chosen(design.pool, design.size)
    swaps = np.arange(1 << design.pairs) >> np.arange(design.pairs)[:, None] & 1
    halves = _swapped(swaps.astype(bool))
    taken = np.concatenate(
        [np.repeat(choices, halves.shape[1], axis=1), np.tile(halves, (1, choices.shape[1]))]
    )
    return _filled(_joint(runs, taken), 0, out_a, out_b)


def joint_shuffled(
    rng: np.random.Generator, runs: PooledRuns, design: Exchange, out_a: Array, out_b: Array
) -> int:
    """Fill in random assignments of the units that leave no benchmark empty; give their number.

    That number is smaller than the arrays only when `TRIES` draws for each were not enough.
    """
    pool, size, pairs = design
    order, done = np.arange(pool), 0
    bit = np.arange(pairs)
    for _ in range(TRIES):
        draws = rng.random((out_a.size, size + -(-pairs // 32)))
        words = (draws[:, size:] * 4294967296.0).astype(np.int64)
        swaps = words[:, bit // 32].T >> (bit % 32)[:, None] & 1
        taken = np.concatenate([_shuffled(draws, order, size), _swapped(swaps.astype(bool))])
        done = _filled(_joint(runs, taken), done, out_a, out_b)
        if done == out_a.size:
            break
    return done


def _filled(found: tuple[Array, Array, Flags], done: int, out_a: Array, out_b: Array) -> int:
    """Write what leaves no benchmark empty from place `done` on; give the next place."""
    where = np.flatnonzero(found[2])[: out_a.size - done]
    out_a[done : done + where.size] = found[0][where]
    out_b[done : done + where.size] = found[1][where]
    return done + where.size
