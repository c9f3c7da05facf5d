"""What a study draws from its population."""

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


@pytest.mark.parametrize("better", ["lower", "higher"])
def test_an_amount_is_added_to_the_side_that_makes_the_candidate_better(population, better):
    # Irving et al., section 6.1 b: 1.0 s is added to all times of Y on the chosen benchmarks
    source = population(better=better)
    added = np.zeros((3, 6))
    added[:, 2] = 1.0
    for drawn in drawn_pairs(source, 1, 5, 3, "run", added=added):
        ours, theirs = drawn.sides()
        shifted, plain = (theirs, ours) if better == "lower" else (ours, theirs)
        for k, (row, of) in enumerate(zip(shifted.samples, source.samples, strict=True)):
            assert np.isin(row, of + (1.0 if k == 2 else 0.0)).all()
        for row, of in zip(plain.samples, source.samples, strict=True):
            assert np.isin(row, of).all()


@pytest.mark.parametrize("draws", ["run", "block"])
def test_without_replacement_no_run_is_drawn_twice_for_a_pair(population, draws):
    source = population(values=10, blocks=np.arange(10))
    for drawn in drawn_pairs(source, 1, 5, 20, draws, replace=False):
        for ours, theirs, of in zip(
            drawn.candidate, drawn.baseline, source.samples, strict=True
        ):  # half of ten values on either side
            assert sorted([*ours, *theirs]) == sorted(of)
    again = next(drawn_pairs(source, 1, 5, 20, draws))
    both = np.concatenate([again.candidate, again.baseline], axis=1)
    assert any(len(set(row)) < 10 for row in both.tolist())  # the negative control


def test_without_replacement_differences_scatter_as_those_of_new_runs(population):
    """The variance of the difference of two disjoint means is 2 S^2 / m, however small the whole.

    Closed form (simple random sampling): each mean has S^2 / m (1 - m / N), their covariance is -S^2 / N.
    With replacement it is smaller by (N - 1) / N: here by a tenth.
    """
    source = population(n=1, values=10)
    (values,) = source.samples
    trials = 8_000

    def scatter(**how):
        pairs = drawn_pairs(source, 1, 5, trials, "run", **how)
        return np.var([float(d.candidate.mean() - d.baseline.mean()) for d in pairs])

    want = 2 * values.var(ddof=1) / 5
    error = want * np.sqrt(2 / trials)
    assert abs(scatter(replace=False) - want) < 4 * error
    replaced = scatter()
    assert abs(replaced - 0.9 * want) < 4 * error
    assert abs(replaced - want) > 3 * error


def test_without_replacement_there_must_be_enough(population, rng):
    with pytest.raises(InsufficientDataError, match=r"10 runs would be drawn .* both sides .* 9"):
        type1_study(population(values=9), runs=(3, 5), replace=False, rng=rng)
    with pytest.raises(InsufficientDataError, match="10 blocks would be drawn"):
        type1_study(
            population(values=9, blocks=np.arange(9)),
            runs=(5,), draws="block", replace=False, rng=rng,
        )  # fmt: skip
    found = type1_study(
        population(values=10), runs=(5,), replace=False, simulations=2, resamples=19, rng=rng
    )
    assert not found.replace
    (small,) = (c for c in found.cautions if c.code == "small-population")
    assert "repeat" not in small.text
