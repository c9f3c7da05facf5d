"""The inner loop of the bootstrap: means of runs drawn with replacement."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ....stats import kernel

__all__ = ["resampled_means", "resampled_spreads"]

Array = NDArray[np.float64]
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
def resampled_means(values: Array, state: State, means: Array) -> None:
    """Fill `means` with means of as many values as there are, drawn with replacement.

    Several draws at once come from a table of the sums of all ordered draws: the same law as one
    draw after the other, with fewer random numbers. Each index is the upper part of a product
    with 32 random bits, so its probability is off by less than (table size) / 2**32, relatively.
    The generator is xoshiro256++ (Blackman and Vigna 2021); `state` holds its four words.

    Parameters
    ----------
    values : array, shape (m,)
        The runs; their deviations from the mean, where ties with the mean matter.
    state : array of uint64, shape (4,)
        Not all zero; moved on, so that the next call goes on with the sequence.
    means : array, shape (resamples,)
        Filled.
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
            t = s0 + s3
            word = ((t << _A) | (t >> _A2)) + s0
            t = s1 << _B
            s2 ^= s0
            s3 ^= s1
            s1 ^= s2
            s0 ^= s3
            s2 ^= t
            s3 = (s3 << _C) | (s3 >> _C2)
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
                t = s0 + s3
                word = ((t << _A) | (t >> _A2)) + s0
                t = s1 << _B
                s2 ^= s0
                s3 ^= s1
                s1 ^= s2
                s0 ^= s3
                s2 ^= t
                s3 = (s3 << _C) | (s3 >> _C2)
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
