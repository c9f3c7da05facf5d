"""The compiled loops of resampling: splits of the runs, and means of bootstrap draws.

Every function fills or adds to two arrays, the candidate's and the baseline's sums over benchmarks
of transformed centres, one entry an assignment.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ...stats.compiled import kernel
from ...stats.samples import Array, Integers
from .assignments import LOGARITHM, RECIPROCAL, TRIES, Exchange, Marks, PooledRuns


@kernel
def _transformed(value: float, outer: int) -> float:
    if outer == LOGARITHM:
        return math.log(value)
    if outer == RECIPROCAL:
        return 1.0 / value
    return value


@kernel
def _nth(runs: PooledRuns, taken: Marks, side: int, at: int, before: int, n: int) -> float:
    """Give the n-th run, from 0, of one side; `before` of its runs stand before place `at`."""
    j = at
    if before > n:
        while before > n:
            j -= 1
            before -= taken[runs.owner[j]] == side
    else:
        while before <= n:
            before += taken[runs.owner[j]] == side
            j += 1
        j -= 1
    value: float = runs.values[j]
    return value


@kernel
def _medians(runs: PooledRuns, i: int, taken: Marks) -> tuple[float, float, bool]:
    """Give both sides' transformed medians on benchmark i, and whether both have runs."""
    start, stop = runs.starts[i], runs.starts[i + 1]
    # both medians lie near the middle of the pool: count up to it, and search from there
    middle = (start + stop) // 2
    below = above = 0
    for j in range(start, middle):
        below += taken[runs.owner[j]]
    for j in range(middle, stop):
        above += taken[runs.owner[j]]
    ours = below + above
    theirs = stop - start - ours
    if ours == 0 or theirs == 0:
        return 0.0, 0.0, False
    rest = middle - start - below
    a = _nth(runs, taken, 1, middle, below, (ours - 1) // 2)
    if ours % 2 == 0:
        a = 0.5 * a + 0.5 * _nth(runs, taken, 1, middle, below, ours // 2)
    b = _nth(runs, taken, 0, middle, rest, (theirs - 1) // 2)
    if theirs % 2 == 0:
        b = 0.5 * b + 0.5 * _nth(runs, taken, 0, middle, rest, theirs // 2)
    return _transformed(a, runs.outer), _transformed(b, runs.outer), True


@kernel
def _means(runs: PooledRuns, i: int, taken: Marks) -> tuple[float, float, bool]:
    """Give both sides' transformed means on benchmark i, and whether both have runs."""
    start, stop = runs.starts[i], runs.starts[i + 1]
    ours = 0
    a = b = 0.0
    for j in range(start, stop):
        # both sums are taken as they are: the total less one of them would lose digits
        flag = taken[runs.owner[j]]
        ours += flag
        a += runs.values[j] * flag
        b += runs.values[j] * (1 - flag)
    theirs = stop - start - ours
    if ours == 0 or theirs == 0:
        return 0.0, 0.0, False
    return _transformed(a / ours, runs.outer), _transformed(b / theirs, runs.outer), True


@kernel
def _both_sides(runs: PooledRuns, i: int, taken: Marks) -> tuple[float, float, bool]:
    """Give both sides' transformed centres on benchmark i, and whether both have runs."""
    if runs.median:
        return _medians(runs, i, taken)
    return _means(runs, i, taken)


@kernel
def _next_choice(chosen: Integers, taken: Marks, total: int) -> bool:
    """Go to the next choice in the order of the alphabet; False after the last one."""
    size = chosen.size
    k = size - 1
    while k >= 0 and chosen[k] == total - size + k:
        k -= 1
    if k < 0:
        return False
    for i in range(k, size):
        taken[chosen[i]] = 0
    chosen[k] += 1
    for i in range(k + 1, size):
        chosen[i] = chosen[i - 1] + 1
    for i in range(k, size):
        taken[chosen[i]] = 1
    return True


@kernel
def _choose(rng: np.random.Generator, order: Integers, taken: Marks, size: int) -> None:
    """Take `size` of the numbers in `order` at random, by the first steps of a shuffle.

    The order that the last call left is as good a start as any: a shuffle of it is uniform.
    """
    total = order.size
    for k in range(total):
        taken[order[k]] = 0
    for k in range(size):
        # the multiplication is biased by less than total / 2^53
        other = k + int(rng.random() * (total - k))
        order[k], order[other] = order[other], order[k]
        taken[order[k]] = 1


@kernel
def all_splits(runs: PooledRuns, size: int, out_a: Array, out_b: Array) -> None:
    """Fill in every split of one benchmark's runs that gives the candidate `size` of them."""
    total = runs.values.size
    chosen = np.arange(size)
    taken = np.zeros(total, np.uint8)
    taken[:size] = 1
    for r in range(out_a.size):
        out_a[r], out_b[r], _ = _both_sides(runs, 0, taken)
        _next_choice(chosen, taken, total)


@kernel
def add_shuffled(
    rng: np.random.Generator, runs: PooledRuns, size: int, out_a: Array, out_b: Array
) -> None:
    """Add random splits of one benchmark's runs that give the candidate `size` of them."""
    total = runs.values.size
    order = np.arange(total)
    taken = np.zeros(total, np.uint8)
    for r in range(out_a.size):
        _choose(rng, order, taken, size)
        a, b, _ = _both_sides(runs, 0, taken)
        out_a[r] += a
        out_b[r] += b


@kernel
def _joint(runs: PooledRuns, taken: Marks) -> tuple[float, float, bool]:
    """Sum both sides' centres over the benchmarks under one assignment of the units."""
    a = b = 0.0
    for i in range(runs.starts.size - 1):
        ours, theirs, whole = _both_sides(runs, i, taken)
        if not whole:
            return 0.0, 0.0, False
        a += ours
        b += theirs
    return a, b, True


@kernel
def joint_all(runs: PooledRuns, design: Exchange, out_a: Array, out_b: Array) -> int:
    """Fill in every assignment of the units that leaves no benchmark empty; give their number."""
    pool, size, pairs = design
    taken = np.zeros(pool + 2 * pairs, np.uint8)
    chosen = np.arange(size)
    taken[:size] = 1
    done = 0
    more = True
    while more:
        for swaps in range(1 << pairs):
            for k in range(pairs):
                swap = (swaps >> k) & 1
                taken[pool + 2 * k] = 1 - swap
                taken[pool + 2 * k + 1] = swap
            a, b, whole = _joint(runs, taken)
            if whole:
                out_a[done], out_b[done] = a, b
                done += 1
        more = _next_choice(chosen, taken, pool)
    return done


@kernel
def joint_shuffled(
    rng: np.random.Generator, runs: PooledRuns, design: Exchange, out_a: Array, out_b: Array
) -> int:
    """Fill in random assignments of the units that leave no benchmark empty; give their number.

    That number is smaller than the arrays only when `TRIES` draws for each were not enough.
    """
    pool, size, pairs = design
    taken = np.zeros(pool + 2 * pairs, np.uint8)
    order = np.arange(pool)
    done = 0
    for _ in range(TRIES * out_a.size):
        if done == out_a.size:
            break
        _choose(rng, order, taken, size)
        bits = 0
        for k in range(pairs):
            if k % 32 == 0:
                bits = int(rng.random() * 4294967296.0)
            swap = (bits >> (k % 32)) & 1
            taken[pool + 2 * k] = 1 - swap
            taken[pool + 2 * k + 1] = swap
        a, b, whole = _joint(runs, taken)
        if whole:
            out_a[done], out_b[done] = a, b
            done += 1
    return done


State = NDArray[np.uint64]

TABLE = 4096  # sums in one table: 32 KiB, so that it stays close to the processor
_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)
_A, _B, _C = np.uint64(23), np.uint64(17), np.uint64(45)
_A2, _C2 = np.uint64(64 - 23), np.uint64(64 - 45)


@kernel
def _draws_at_once(m: int) -> int:
    """Give how many draws from m values one look into a table of their sums can stand for."""
    at_once, size = 1, m
    while at_once < m and size * m <= TABLE:
        size *= m
        at_once += 1
    return at_once


@kernel
def _sums(values: Array, draws: int) -> Array:
    """Give the sums of all ordered draws, each as probable as any other."""
    table = np.zeros(1)
    for _ in range(draws):
        longer = np.empty(table.size * values.size)
        for i in range(table.size):
            for j in range(values.size):
                longer[i * values.size + j] = table[i] + values[j]
        table = longer
    return table


@kernel
def _next_word(
    s0: np.uint64, s1: np.uint64, s2: np.uint64, s3: np.uint64
) -> tuple[np.uint64, np.uint64, np.uint64, np.uint64, np.uint64]:
    """Give 64 random bits, and the four words of the state after them."""
    t = s0 + s3
    word = ((t << _A) | (t >> _A2)) + s0
    t = s1 << _B
    s2 ^= s0
    s3 ^= s1
    s1 ^= s2
    s0 ^= s3
    s2 ^= t
    return word, s0, s1, s2, (s3 << _C) | (s3 >> _C2)


@kernel
def resampled_means(values: Array, state: State, means: Array) -> None:
    """Fill `means` with means of as many values as there are, drawn with replacement.

    Several draws at once come from a table of the sums of all ordered draws: the same law as one
    draw after the other, with fewer random numbers. Each index is the upper part of a product
    with 32 random bits, so its probability is off by less than (table size) / 2**32, relatively.
    The generator is xoshiro256++ (Blackman and Vigna 2021); `state` holds its four words.
    """
    m = values.size
    at_once = _draws_at_once(m)
    table = _sums(values, at_once)
    full, rest = m // at_once, m % at_once
    remainder = _sums(values, rest)
    size, rest_size = np.uint64(table.size), np.uint64(remainder.size)
    pairs, odd = full // 2, full % 2 == 1
    s0, s1, s2, s3 = state[0], state[1], state[2], state[3]
    for r in range(means.size):
        high = 0.0
        low = 0.0
        for k in range(pairs + 1):
            if k == pairs and not odd and rest == 0:
                break
            word, s0, s1, s2, s3 = _next_word(s0, s1, s2, s3)
            upper, lower = word >> _HALF, word & _LOW
            if k < pairs:
                high += table[(upper * size) >> _HALF]
                low += table[(lower * size) >> _HALF]
            else:
                if odd:
                    high += table[(upper * size) >> _HALF]
                if rest > 0:
                    bits = lower if odd else upper
                    low += remainder[(bits * rest_size) >> _HALF]
        means[r] = (high + low) / m
    state[0], state[1], state[2], state[3] = s0, s1, s2, s3


@kernel
def resampled_spreads(values: Array, state: State, means: Array, squares: Array) -> None:
    """Fill `means` as `resampled_means` does, and `squares` with the means of the squares.

    Both come from the same draws, and `means` from the same ones as in `resampled_means`.
    """
    m = values.size
    at_once = _draws_at_once(m)
    squared = values * values
    table, table2 = _sums(values, at_once), _sums(squared, at_once)
    full, rest = m // at_once, m % at_once
    remainder, remainder2 = _sums(values, rest), _sums(squared, rest)
    size, rest_size = np.uint64(table.size), np.uint64(remainder.size)
    s0, s1, s2, s3 = state[0], state[1], state[2], state[3]
    looks = full + (rest > 0)
    for r in range(means.size):
        total, total2 = 0.0, 0.0
        word = np.uint64(0)
        for k in range(looks):
            if k % 2 == 0:
                word, s0, s1, s2, s3 = _next_word(s0, s1, s2, s3)
                bits = word >> _HALF
            else:
                bits = word & _LOW
            if k < full:
                i = (bits * size) >> _HALF
                total += table[i]
                total2 += table2[i]
            else:
                i = (bits * rest_size) >> _HALF
                total += remainder[i]
                total2 += remainder2[i]
        means[r] = total / m
        squares[r] = total2 / m
    state[0], state[1], state[2], state[3] = s0, s1, s2, s3
