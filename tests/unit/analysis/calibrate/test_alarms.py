"""Each relabelling is answered as the method's own function answers it, one after the other."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
import scipy.stats

import analysis
from analysis.data.matrix import PerformanceMatrix
from analysis.errors import InsufficientDataError
from analysis.plan.rates import (
    MOST,
    SUITE_ALARMS,
    _block_shares,
    pairs_of,
    pooled_rank_sum,
    pooled_welch,
    randomize_blocks,
    sides,
    signs,
    speedup_tests,
)

RISK = 0.05


def both(shift, seed, sessions=5, runs=4, benchmarks=6, better="lower"):
    rng = np.random.default_rng(seed)
    names = [f"b{k}" for k in range(benchmarks)]
    ids = {bench: np.repeat(np.arange(sessions), runs) for bench in names}
    blocks = {bench: np.arange(sessions * runs) for bench in names}
    moves = rng.normal(size=(2, sessions, 1))
    return [
        PerformanceMatrix.from_samples(
            name,
            {
                b: np.exp(0.01 * (rng.normal(size=(sessions, runs)) + shift * moves[k])).ravel()
                for b in names
            },
            better=better,
            sessions=ids,
            blocks=blocks,
        )
        for k, name in enumerate(("one", "two"))
    ]


def relabelled(pairs, table, row):
    """Build the matrices of one relabelling, as a user would."""
    made = [sides(pairs, k, table) for k in range(len(pairs.benchmarks))]
    return [
        PerformanceMatrix.from_samples(
            name,
            {b: made[k][side][row] for k, b in enumerate(pairs.benchmarks)},
            better="higher" if pairs.higher else "lower",
            sessions={b: pairs.group[k] for k, b in enumerate(pairs.benchmarks)},
            blocks={b: pairs.block[k] for k, b in enumerate(pairs.benchmarks)},
        )
        for side, name in enumerate(("one", "two"))
    ]


@pytest.mark.parametrize(("shift", "seed"), [(0.0, 1), (2.0, 3)])
def test_single_benchmarks_against_the_methods_themselves(shift, seed):
    pairs = pairs_of(*both(shift, seed))
    table = signs(pairs.groups, np.random.default_rng(1))
    for k, bench in enumerate(pairs.benchmarks[:1]):
        x, y = sides(pairs, k, table)
        welch = pooled_welch(x, y, RISK)["welch"]
        ranks = pooled_rank_sum(x, y, RISK)["rank-sum"]
        tests = speedup_tests(x, y, RISK)
        for row in range(len(table)):
            p = scipy.stats.ttest_ind(np.log(x[row]), np.log(y[row]), equal_var=False).pvalue
            assert welch.alarm[row] == (p <= RISK)
            one, two = relabelled(pairs, table, row)
            stage = analysis.hpt(one.select([bench]), two.select([bench])).benchmarks[0]
            assert ranks.alarm[row] == (stage.winner != "tie")
            ahead = analysis.speedup_test(y[row], x[row], confidence=0.95)
            behind = analysis.speedup_test(x[row], y[row], confidence=0.95)
            for name in ("mean", "median"):
                ours, theirs = getattr(ahead, name), getattr(behind, name)
                found = tests[f"speedup-test {name}"]
                assert found.alarm[row] == (bool(ours.significant) or bool(theirs.significant))
                assert found.concluded[row] == (ours.significant is not None)


@pytest.mark.parametrize(
    ("shift", "seed", "better"), [(0.0, 1, "lower"), (1.0, 2, "higher"), (2.0, 3, "lower")]
)
def test_hpt_over_the_suite_against_itself(shift, seed, better):
    pairs = pairs_of(*both(shift, seed, better=better))
    table = signs(pairs.groups, np.random.default_rng(1))
    found = SUITE_ALARMS["hpt", "run"](pairs, table, RISK, np.random.default_rng(1), 9)
    for row in range(len(table)):
        result = analysis.hpt(*relabelled(pairs, table, row), confidence=0.95)
        assert found[row] == (result.outcome != "undecided")


@pytest.mark.parametrize("unit", ["run", "block"])
def test_randomization_against_the_function(unit):
    # p near the risk may fall on either side: other draws
    pairs = pairs_of(*both(1.0, 4))
    table = signs(pairs.groups, np.random.default_rng(1))
    test = SUITE_ALARMS["randomization", unit]
    found = test(pairs, table, RISK, np.random.default_rng(1), 999)
    compared = 0
    for row in range(len(table)):
        p = analysis.randomization_test(
            *relabelled(pairs, table, row),
            unit=unit,
            resamples=2000,
            rng=np.random.default_rng(row),
        ).pvalue
        if abs(p - RISK) > 0.02:
            compared += 1
            assert found[row] == (p < RISK)
    assert compared >= 12
    assert 0 < found.sum() < len(table)


@pytest.mark.parametrize("unit", ["run", "block", "session"])
def test_bootstrap_against_the_function(unit):
    pairs = pairs_of(*both(1.0, 4))
    table = signs(pairs.groups, np.random.default_rng(1))
    found = SUITE_ALARMS["bootstrap", unit](pairs, table, RISK, np.random.default_rng(1), 999)
    compared = 0
    for row in range(len(table)):
        got = analysis.bootstrap_speedup(
            *relabelled(pairs, table, row),
            unit=unit,
            resamples=2000,
            rng=np.random.default_rng(row),
        )
        away = np.log(got.low), -np.log(got.high)
        if np.abs(away).min() > 0.05 * (-np.sum(away)):  # ends that are not near 1 by chance
            compared += 1
            assert found[row] == (max(away) > 0)
    assert compared >= 8


def test_swapped_blocks_have_the_level_by_construction():
    # theory: the labels of blocks are exchangeable here, so at most 5 % of all relabellings reject
    pairs = pairs_of(*both(0.0, 5, sessions=1, runs=8))
    table = signs(pairs.groups, np.random.default_rng(1))
    found = randomize_blocks(pairs, table, RISK, np.random.default_rng(1), 999)
    assert found.mean() <= RISK + 2 * np.sqrt(RISK * (1 - RISK) / len(table))


def test_equal_values_are_no_alarm():
    names = {"b": np.ones(6), "c": np.ones(6)}
    ids = {b: [1, 1, 2, 2, 3, 3] for b in names}
    blocks = {b: list(range(6)) for b in names}
    one, two = (
        PerformanceMatrix.from_samples(n, names, better="lower", sessions=ids, blocks=blocks)
        for n in ("one", "two")
    )
    pairs = pairs_of(one, two)
    table = signs(3, np.random.default_rng(1))
    x, y = sides(pairs, 0, table)
    assert not pooled_welch(x, y, RISK)["welch"].concluded.any()
    for found in (pooled_welch, pooled_rank_sum, speedup_tests):
        assert not any(one.alarm.any() for one in found(x, y, RISK).values())
    for test in SUITE_ALARMS.values():
        assert not test(pairs, table, RISK, np.random.default_rng(1), 99).any()


# --- Which labels are swapped: exact enumeration is the authority.


def matrix(name, rows, sessions, blocks):
    return PerformanceMatrix.from_samples(
        name, rows, better="lower", sessions=sessions, blocks=blocks
    )


def both_relabelling(sessions=3, runs=2, seed=1, benchmarks=2):
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
    pairs = pairs_of(*both_relabelling())
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
    pairs = pairs_of(*both_relabelling(sessions=1, runs=5))
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
    pairs = pairs_of(*both_relabelling())
    wanted = (np.log(pairs.ours[0]) - np.log(pairs.theirs[0])).reshape(3, 2).mean(axis=1)
    assert pairs.differences()[0] == pytest.approx(wanted, rel=1e-12)
    assert pairs.without(1).differences()[0] == pytest.approx(wanted[[0, 2]], rel=1e-12)


def test_runs_without_blocks_are_paired_by_their_place_in_the_session():
    """Imported runs: the same pairs as with a block for each place, whatever the blocks are called."""
    one, two = both_relabelling(sessions=2, runs=3)
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
