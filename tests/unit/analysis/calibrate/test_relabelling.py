"""Which labels are swapped: exact enumeration is the authority."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from analysis.data.matrix import PerformanceMatrix
from analysis.errors import InsufficientDataError
from analysis.plan.rates import MOST, _block_shares, pairs_of, sides, signs


def matrix(name, rows, sessions, blocks):
    return PerformanceMatrix.from_samples(
        name, rows, better="lower", sessions=sessions, blocks=blocks
    )


def both(sessions=3, runs=2, seed=1, benchmarks=2):
    rng = np.random.default_rng(seed)
    names = [f"b{k}" for k in range(benchmarks)]
    ids = {bench: np.repeat(np.arange(sessions), runs) for bench in names}
    blocks = {bench: np.arange(sessions * runs) for bench in names}
    return [
        matrix(name, {b: np.exp(rng.normal(0, 0.1, sessions * runs)) for b in names}, ids, blocks)
        for name in ("one", "two")
    ]


def test_all_relabellings_are_listed_once_and_the_measured_one_stands_first():
    for groups in (1, 2, 5, 8):
        table = signs(groups, np.random.default_rng(1))
        wanted = {(1, *rest) for rest in itertools.product((1, -1), repeat=groups - 1)}
        assert {tuple(row) for row in table.tolist()} == wanted
        assert len(table) == len(wanted)
        assert (table[0] == 1).all()


def test_more_are_drawn():
    table = signs(300, np.random.default_rng(1))
    assert table.shape == (MOST, 300)
    assert (table[0] == 1).all()
    assert 0.4 < (table[1:, 1:] == 1).mean() < 0.6


def test_whole_sessions_are_swapped():
    pairs = pairs_of(*both())
    assert (pairs.groups, pairs.whole) == (3, True)
    table = signs(3, np.random.default_rng(1))
    x, y = sides(pairs, 1, table)
    for row, flips in enumerate(table.tolist()):
        for session, sign in enumerate(flips):
            rows = slice(2 * session, 2 * session + 2)
            ours, theirs = pairs.ours[1][rows].tolist(), pairs.theirs[1][rows].tolist()
            wanted = (ours, theirs) if sign > 0 else (theirs, ours)
            assert (x[row][rows].tolist(), y[row][rows].tolist()) == wanted


def test_in_one_session_blocks_are_swapped():
    pairs = pairs_of(*both(sessions=1, runs=5))
    assert (pairs.groups, pairs.whole) == (5, False)


def test_runs_without_a_partner_are_counted_and_left_out():
    one = matrix("one", {"b": [1.0, 2.0, 3.0]}, {"b": [1, 1, 2]}, {"b": [1, 2, 3]})
    two = matrix("two", {"b": [4.0, 5.0]}, {"b": [1, 2]}, {"b": [2, 3]})
    pairs = pairs_of(one, two)
    assert pairs.left_out == 1
    assert pairs.ours[0].tolist() == [2.0, 3.0]
    assert pairs.theirs[0].tolist() == [4.0, 5.0]


def test_nothing_in_common_is_said():
    one = matrix("one", {"b": [1.0, 2.0]}, {"b": [1, 1]}, {"b": [1, 2]})
    two = matrix("two", {"b": [4.0, 5.0]}, {"b": [2, 2]}, {"b": [3, 4]})
    with pytest.raises(InsufficientDataError, match="no benchmark has two blocks"):
        pairs_of(one, two)


def test_the_session_values_are_means_over_blocks():
    pairs = pairs_of(*both())
    wanted = (np.log(pairs.ours[0]) - np.log(pairs.theirs[0])).reshape(3, 2).mean(axis=1)
    assert pairs.differences()[0] == pytest.approx(wanted, rel=1e-12)
    assert pairs.without(1).differences()[0] == pytest.approx(wanted[[0, 2]], rel=1e-12)


def test_runs_without_blocks_are_paired_by_their_place_in_the_session():
    """Imported runs: the same pairs as with a block for each place, whatever the blocks are called."""
    one, two = both(sessions=2, runs=3)
    plain = [replace(m, blocks=None) for m in (one, two)]
    with_blocks, without = pairs_of(one, two), pairs_of(*plain)
    assert without.groups == with_blocks.groups == 2
    for a, b in zip(with_blocks.ours, without.ours, strict=True):
        assert a.tolist() == b.tolist()
    apart = [replace(m, blocks=None, sessions=tuple(s + k for s in m.sessions)) for k, m in
             ((0, one), (9, two))]  # fmt: skip
    with pytest.raises(InsufficientDataError, match="runs of both"):
        pairs_of(*apart)


@pytest.mark.parametrize("better", ["lower", "higher"])
def test_the_pairs_know_which_side_is_better(better):
    ids, blocks = {"b": [1, 1]}, {"b": [1, 2]}
    one, two = (
        PerformanceMatrix.from_samples(
            name, {"b": [1.0, 2.0]}, better=better, sessions=ids, blocks=blocks
        )
        for name in ("one", "two")
    )
    assert pairs_of(one, two).higher is (better == "higher")


def test_the_shares_of_blocks_add_up_to_the_difference_of_the_suite():
    # the mean over benchmarks of their mean differences, however many runs each has
    runs = {"b": 6, "c": 3}
    rng = np.random.default_rng(1)
    one, two = (
        matrix(
            name,
            {b: np.exp(rng.normal(size=n)) for b, n in runs.items()},
            {b: np.repeat([0, 1, 2], n // 3) for b, n in runs.items()},
            {b: np.arange(n) for b, n in runs.items()},
        )
        for name in ("one", "two")
    )
    shares, group = _block_shares(pairs_of(one, two))
    wanted = np.mean(
        [np.log(x).mean() - np.log(y).mean() for x, y in zip(one.samples, two.samples, strict=True)]
    )
    assert shares.sum() == pytest.approx(wanted, rel=1e-12)
    assert np.unique(group).size == 3
