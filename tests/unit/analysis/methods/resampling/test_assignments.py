"""The randomization's loops by numpy: every number is that of the compiled ones, and of plain Python."""

import itertools
import math
import statistics
from typing import Any

import numpy as np
import pytest

from analysis.methods.resampling import assignments, kernel
from analysis.methods.resampling.assignments import (
    IDENTITY,
    LOGARITHM,
    RECIPROCAL,
    Exchange,
    PooledRuns,
    loops,
)
from analysis.stats.workers import Budget

DESIGNS = [
    Exchange(0, 0, 5),
    Exchange(6, 3, 0),
    Exchange(5, 2, 2),
    Exchange(7, 0, 3),
    Exchange(4, 1, 40),
]


def pooled(design: Exchange, seed: int, *, median: bool, outer: int) -> PooledRuns:
    """Make runs of three benchmarks; some labels have several, some none."""
    rng = np.random.default_rng(seed)
    labels = design.pool + 2 * design.pairs
    sizes = rng.integers(labels, 3 * labels, 3)
    return PooledRuns(
        np.concatenate([np.sort(rng.lognormal(0, 1, size)) for size in sizes]),
        rng.integers(0, labels, sizes.sum()),
        np.cumsum([0, *sizes]),
        median,
        outer,
    )


def both(name: str, *given: Any, size: int, first: float = 0.0) -> list[list[Any]]:
    """Call a function of both modules, with a generator of the same seed where it draws."""
    told = []
    for module in (assignments, kernel):
        a, b = np.full((2, size), first)
        draws = [np.random.default_rng(3)] if "shuffled" in name else []
        done = getattr(module, name)(*draws, *given, a, b)
        end = size if done is None else done
        told.append([done, a[:end].tolist(), b[:end].tolist()])
    return told


@pytest.mark.parametrize("median", [False, True])
@pytest.mark.parametrize("outer", [IDENTITY, LOGARITHM, RECIPROCAL])
@pytest.mark.parametrize("seed", range(3))
def test_all_and_drawn_are_the_kernels_to_the_last_digit(median, outer, seed):
    for design in DESIGNS:
        runs = pooled(design, seed, median=median, outer=outer)
        ours, theirs = both("joint_shuffled", runs, design, size=200)
        assert ours == theirs
        if design.pairs < 10:
            every = math.comb(design.pool, design.size) << design.pairs
            ours, theirs = both("joint_all", runs, design, size=every)
            assert ours == theirs
    one = PooledRuns(np.sort(runs.values[:9]), np.arange(9), np.array([0, 9]), median, outer)
    ours, theirs = both("all_splits", one, 4, size=math.comb(9, 4))
    assert ours == theirs
    ours, theirs = both("add_shuffled", one, 4, size=150, first=1.0)
    assert ours == theirs
    drawn = np.random.default_rng(seed).integers(0, 9, 50, dtype=np.uint16)
    ours, theirs = both("add_drawn", drawn, one.values, -one.values, size=50, first=1.0)
    assert ours == theirs


def test_a_run_more_or_another_order_is_seen():
    """What the test above compares: sums whose order differs are not equal to the last digit."""
    design = Exchange(6, 3, 0)
    runs = pooled(design, 1, median=False, outer=IDENTITY)
    turned = runs._replace(
        values=np.concatenate([x[::-1] for x in np.split(runs.values, runs.starts[1:-1])]),
        owner=np.concatenate([x[::-1] for x in np.split(runs.owner, runs.starts[1:-1])]),
    )
    a, b = (both("joint_all", one, design, size=20)[0] for one in (runs, turned))
    np.testing.assert_allclose(a[1], b[1], rtol=1e-12)
    assert a[1] != b[1]


@pytest.mark.parametrize("median", [False, True])
@pytest.mark.parametrize("design", DESIGNS[:4])
def test_all_assignments_are_those_of_a_plain_loop(design, median):
    runs = pooled(design, 5, median=median, outer=IDENTITY)
    centre = statistics.median if median else statistics.mean
    found = []
    for chosen in itertools.combinations(range(design.pool), design.size):
        for swaps in range(1 << design.pairs):
            halves = [design.pool + 2 * k + (swaps >> k & 1) for k in range(design.pairs)]
            ours = np.isin(runs.owner, [*chosen, *halves])
            parts = list(itertools.pairwise(runs.starts.tolist()))
            sides = [
                [runs.values[i:j][here[i:j]].tolist() for i, j in parts] for here in (ours, ~ours)
            ]
            if all(sides[0]) and all(sides[1]):
                found.append([sum(map(centre, side)) for side in sides])
    a, b = np.empty((2, math.comb(design.pool, design.size) << design.pairs))
    done = assignments.joint_all(runs, design, a, b)
    assert done == len(found)
    np.testing.assert_allclose(np.transpose([a[:done], b[:done]]), found, rtol=1e-12)


def test_much_work_is_the_kernels(monkeypatch):
    runs = pooled(DESIGNS[0], 1, median=False, outer=IDENTITY)
    monkeypatch.setattr(assignments, "BUDGET", Budget(10 * runs.values.size))
    assert [loops(runs, count) for count in (4, 6, 1)] == [assignments, assignments, kernel]
