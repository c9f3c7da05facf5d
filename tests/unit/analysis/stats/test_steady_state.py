"""Levels of the iterations of a process, and what it is called.

Authority: exhaustive dynamic programming over all segmentations, written here; ruptures 1.1.10
(``KernelCPD(kernel="linear", min_size=..., jump=1)``), whose answers on a signal that is made below are
kept; the definitions of Barrett et al. 2017, sections 4 and 5, on processes without noise.
"""

import math

import numpy as np
import pytest

from analysis.stats.samples import off_ticks
from analysis.stats.steady_state import (
    FEWEST,
    SHORTEST,
    change_points,
    drawn_in,
    noise_of,
    steady_state,
)


def by_all_segmentations(values, price, shortest):
    """Give the best segmentation by looking at every last level of every beginning."""
    n = len(values)
    best, before = [-price] + [math.inf] * n, [0] * (n + 1)
    for end in range(shortest, n + 1):
        for begin in range(end - shortest + 1):
            part = values[begin:end]
            cost = best[begin] + float(((part - part.mean()) ** 2).sum()) + price
            if cost < best[end]:
                best[end], before[end] = cost, begin
    ends = [n]
    while before[ends[-1]]:
        ends.append(before[ends[-1]])
    return ends[::-1]


@pytest.mark.parametrize("shortest", [1, 2, 5, 9])
def test_the_segmentation_is_the_best_of_all(shortest):
    rng = np.random.default_rng(20261127 + shortest)
    for price in (0.5, 2.0, 8.0):
        n = int(rng.integers(2 * shortest + 10, 90))
        levels = np.repeat(2 * rng.standard_normal(n), rng.integers(1, 15, n))[:n]
        values = rng.standard_normal(n) + levels
        assert change_points(values, price, shortest) == by_all_segmentations(
            values, price, shortest
        )


def signal():
    found, state = [], 12345
    for level, count in ((0.30, 37), (0.05, 120), (0.0, 90), (0.11, 12), (0.0, 141)):
        for _ in range(count):
            total = 0.0
            for _ in range(4):
                state = (1103515245 * state + 12345) % 2**31
                total += state / 2**31
            found.append(level + 0.02 * (total - 2))
    return np.array(found)


@pytest.mark.parametrize(
    ("price", "shortest", "ends"),
    [
        (0.0005, 5, [32, 37, 59, 64, 69, 150, 157, 247, 259, 271, 400]),
        (0.0005, 20, [37, 64, 99, 157, 241, 261, 400]),
        (0.01, 1, [37, 157, 247, 259, 400]),
        (0.01, 20, [37, 157, 241, 261, 400]),
        (0.05, 20, [37, 157, 400]),
        (0.3, 1, [37, 400]),
    ],
)
def test_ruptures_finds_the_same_levels(price, shortest, ends):
    assert change_points(signal(), price, shortest) == ends


def process(*levels, noise=0.002, seed=1):
    """Make a process of levels, each a value and a number of iterations, with a little noise."""
    rng = np.random.default_rng(seed)
    values = np.concatenate([np.full(count, value) for value, count in levels])
    return values * np.exp(noise * rng.standard_normal(values.size))


CASES = [
    ([(1.0, 400)], "flat", 0),
    ([(1.3, 100), (1.0, 300)], "warm-up", 100),
    ([(5.0, 1), (1.0, 399)], "warm-up", 1),
    ([(5.0, 3), (1.2, 20), (1.0, 377)], "warm-up", 23),
    ([(1.0, 100), (1.2, 300)], "slowdown", 100),
    ([(1.4, 50), (0.9, 50), (1.0, 300)], "slowdown", 100),
    ([(1.0, 350), (1.2, 50)], "no steady state", 0),
    ([(1.2, 350), (1.0, 50)], "no steady state", 0),
    ([(1.002, 200), (1.0, 200)], "flat", 0),  # within 0.5 % of the last level
    ([(1.0, FEWEST - 1)], "too few iterations", 0),
]


@pytest.mark.parametrize(("levels", "word", "first"), CASES)
def test_words_follow_from_the_levels(levels, word, first):
    found = steady_state(process(*levels))
    assert (found.state, found.first) == (word, first)
    ends = [one.end for one in found.levels]
    assert [one.first for one in found.levels] == [0, *ends[:-1]]
    assert ends[-1] == sum(count for _, count in levels)


@pytest.mark.parametrize(
    ("levels", "word", "first"),
    [
        ([(1.0, 9_000)], "flat", 0),
        ([(1.3, 12), (1.0, 8_988)], "warm-up", 12),
        ([(1.01, 1_777), (1.02, 2_005), (1.0, 5_218)], "warm-up", 3_782),
        ([(1.0, 70_001), (1.01, 29_999)], "slowdown", 70_001),
    ],
)
def test_long_processes_are_called_alike_and_placed_to_the_iteration(levels, word, first):
    values = process(*levels, noise=0.0005)
    found = steady_state(values)
    assert (found.state, found.first) == (word, first)
    assert [one.end for one in found.levels][:-1] == np.cumsum([n for _, n in levels])[:-1].tolist()


def test_a_value_of_a_weight_is_as_many_values():
    rng = np.random.default_rng(4)
    points = rng.standard_normal(60) + np.repeat([0, 3.0, 1.0], 20)
    weights = rng.integers(1, 4, 60)
    ends = change_points(points, 6.0, shortest=1, weights=weights)
    whole = by_all_segmentations(np.repeat(points, weights), 6.0, 1)
    assert np.cumsum(weights)[np.array(ends) - 1].tolist() == whole


def test_where_higher_is_better_the_words_are_those_of_the_inverse():
    for levels, word, first in CASES:
        found = steady_state(1 / process(*levels), higher=True)
        assert (found.state, found.first) == (word, first)


def test_a_cycle_of_few_iterations_is_no_change():
    values = process((1.0, 600))
    values[::7] *= 1.3
    assert steady_state(values).state == "flat"


def test_a_single_slow_iteration_is_no_change():
    values = process((1.0, 600))
    values[[50, 300, 590]] *= 20
    assert steady_state(values).state == "flat"


def test_the_scale_of_the_values_changes_nothing():
    values = process((1.3, 100), (1.0, 300))
    for factor in (1e-12, 1e12):
        assert steady_state(values * factor).first == 100


@pytest.mark.parametrize("value", [0.0, -1.0, math.inf, math.nan])
def test_values_without_a_logarithm_are_not_known(value):
    values = process((1.0, 400))
    values[3] = value
    assert steady_state(values).state == "too few iterations"


def test_equal_values_and_coarse_clocks_are_flat():
    assert steady_state(np.full(300, 0.25)).state == "flat"
    coarse = np.where(np.arange(300) % 50 == 7, 0.26, 0.25)
    assert steady_state(coarse).state == "flat"


def test_readings_of_a_coarse_clock_are_spread_over_their_ticks():
    """Authority: research/rules-2.md, section 8."""
    fine = np.arange(1.0, 10.0)
    assert off_ticks(fine) is fine
    assert off_ticks(equal := np.full(9, 2.0)) is equal
    ticks = np.array([0.0, 1.0, 3.0, 7.0] * 25)
    moved = off_ticks(ticks) - ticks
    drawn = np.random.default_rng(20261128).random(100) - 0.5
    assert moved == pytest.approx(drawn)
    low = np.array([0.3, 1.3] * 50)  # none that is positive is moved to 0 or below
    assert (off_ticks(low) > 0).all()
    near = np.array([0.1 + 0.2, 0.3, 1.3] * 9)  # a rounding error is no tick
    assert abs(off_ticks(near) - near).max() > 0.1


def test_independent_iterations_in_whole_milliseconds_are_flat_and_levels_as_printed():
    """50 ms and a spread of half a millisecond: 61 of 100 were something else (stored draws)."""
    for k in range(12):
        values = np.rint(process((50.0, 1000), noise=0.01, seed=k)) / 1e3
        assert steady_state(values).state == "flat"
    values = np.rint(process((60.0, 300), (50.0, 700), noise=0.01)) / 1e3
    found = steady_state(values)
    assert (found.state, found.first) == ("warm-up", 300)
    for one in found.levels:
        mean = np.exp(np.log(values[one.first : one.end]).mean())
        assert one.value == pytest.approx(mean, rel=1e-3)


def test_the_noise_is_that_of_the_mean_of_neighbours():
    rng = np.random.default_rng(3)
    white = rng.standard_normal(4000)
    # of an autoregression the variance of a long block's mean times its length is 1 / (1 - r)^2
    walk = np.empty(4000)
    walk[0] = 0
    for k in range(1, 4000):
        walk[k] = 0.5 * walk[k - 1] + white[k]
    assert noise_of(white) == pytest.approx(1.0, rel=0.35)
    assert noise_of(walk) == pytest.approx(4.0, rel=0.35)
    assert noise_of(walk + np.repeat([0, 50.0], 2000)) == pytest.approx(4.0, rel=0.35)


def test_outliers_are_drawn_in_and_the_others_stay():
    values = np.log(process((1.0, 200)))
    values[20] += 3
    found = drawn_in(values)
    assert abs(found[20]) < 0.02
    assert (found == values).mean() > 0.95
    assert SHORTEST > 1  # so one iteration is no level
