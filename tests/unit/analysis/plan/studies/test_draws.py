"""What a study draws from its population."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.data.matrix import PerformanceMatrix
from analysis.errors import InsufficientDataError, UsageError
from analysis.plan.error_rates import type1_study
from analysis.plan.study import drawn_pairs


@pytest.mark.parametrize("better", ["lower", "higher"])
def test_draws_come_from_the_population_and_shifts_make_the_candidate_better(population, better):
    source = population(better=better)
    factors = np.ones((3, 6))
    factors[:, 2] = 4.0
    for drawn in drawn_pairs(source, 1, 5, 3, "run", factors=factors):
        ours, theirs = drawn.sides()
        assert ours.runs == theirs.runs == (5,) * 6
        for k, (row, of) in enumerate(zip(ours.samples, source.samples, strict=True)):
            scale = 1.0 if k != 2 else (0.25 if better == "lower" else 4.0)
            assert np.isin(row, of * scale).all()
        assert all(
            np.isin(r, of).all() for r, of in zip(theirs.samples, source.samples, strict=True)
        )


def test_a_benchmark_more_changes_no_other_draw(population):
    def first(n):
        pair = next(drawn_pairs(population(n), 1, 5, 2, "run", factors=1.0))
        return [row.tolist() for row in pair.sides()[0].samples[:3]]

    assert first(3) == first(6)


def test_blocks_are_drawn_whole(population):
    blocks = np.arange(200)
    source = population(blocks=blocks)
    ours, theirs = next(drawn_pairs(source, 1, 5, 2, "block", factors=1.0)).sides()
    for matrix in (ours, theirs):
        places = [
            [int(np.flatnonzero(of == value)[0]) for value in row]
            for row, of in zip(matrix.samples, source.samples, strict=True)
        ]
        assert all(row == places[0] for row in places)
    assert set(ours.blocks[0]) & set(theirs.blocks[0]) == set()


def test_blocks_that_cannot_be_drawn(population, rng):
    with pytest.raises(UsageError, match="no block ids"):
        type1_study(population(), draws="block", rng=rng)
    with pytest.raises(UsageError, match="more than one run"):
        type1_study(population(blocks=np.zeros(200, dtype=int)), draws="block", rng=rng)
    apart = PerformanceMatrix.from_samples(
        "p",
        {"a": [1.0, 2.0], "b": [1.0, 2.0]},
        better="lower",
        blocks={"a": [1, 2], "b": [2, 3]},
    )
    with pytest.raises(InsufficientDataError, match="fewer than two blocks"):
        type1_study(apart, draws="block", rng=rng)
