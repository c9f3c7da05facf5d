"""Every design against the formulas written anew, and scipy's t tests."""

import itertools
import math
from collections import defaultdict

import numpy as np
import pytest
from scipy import stats

from analysis.data.matrix import PerformanceMatrix
from analysis.data.pair import own_session
from analysis.methods.multilevel.compare import multilevel


def mean(values):
    values = list(values)
    return math.fsum(values) / len(values)


def cells(runs):
    """Benchmark -> session -> block -> oriented logs of times."""
    found = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
    for bench, session, block, value in runs:
        found[bench][session][block].append(-math.log(value))
    return found


def session_mean(blocks):
    return mean(itertools.chain.from_iterable(blocks.values()))


def differences(ours, theirs):
    """Give d_s of one benchmark, by session: over common blocks where there are any."""
    found = {}
    for s in sorted(ours.keys() & theirs.keys()):
        common = ours[s].keys() & theirs[s].keys()
        if common:
            found[s] = mean(mean(ours[s][k]) - mean(theirs[s][k]) for k in common)
        else:
            found[s] = session_mean(ours[s]) - session_mean(theirs[s])
    return found


def check(line, estimate, interval, pvalue, freedom):
    assert math.log(line.speedup) == pytest.approx(estimate, abs=1e-12)
    assert math.log(line.low) == pytest.approx(interval.low, rel=1e-9)
    assert math.log(line.high) == pytest.approx(interval.high, rel=1e-9)
    assert line.pvalue == pytest.approx(pvalue, rel=1e-9)
    assert line.freedom == pytest.approx(freedom, rel=1e-12)


@pytest.mark.parametrize(("drop", "seed"), [(0.0, 1), (0.4, 2), (0.6, 3)])
def test_paired_is_t_on_the_differences_of_sessions(noisy, matrix_of, drop, seed):
    a, b = noisy(seed, shift=-0.02, drop=drop), noisy(seed + 50, drop=drop)
    result = multilevel(matrix_of("new", a), matrix_of("old", b))
    assert result.design == "paired"
    for line in result.benchmarks:
        d = differences(cells(a)[line.name], cells(b)[line.name])
        t = stats.ttest_1samp(list(d.values()), 0)
        check(line, mean(d.values()), t.confidence_interval(0.95), t.pvalue, len(d) - 1)
        assert line.session_ids == tuple(str(s) for s in d)
        assert line.differences == pytest.approx(tuple(d.values()), abs=1e-13)
        assert line.mean_baseline / line.mean_candidate == pytest.approx(line.speedup, rel=1e-12)


def test_paired_weighs_sessions_alike_however_many_runs_they_have(matrix_of):
    runs = {1: 30, 2: 30, 3: 3}
    values = {1: 1.0, 2: 1.1, 3: 1.3}
    a = [("b", s, f"{s}.{k}", 1.0) for s, n in runs.items() for k in range(n)]
    b = [("b", s, f"{s}.{k}", values[s]) for s, n in runs.items() for k in range(n)]
    (line,) = multilevel(matrix_of("new", a), matrix_of("old", b)).benchmarks
    assert line.speedup == pytest.approx((1.0 * 1.1 * 1.3) ** (1 / 3))


def test_these_is_t_on_the_sessions_means_where_nothing_is_missing(noisy, matrix_of):
    a, b = noisy(5, shift=-0.02), noisy(6)
    result = multilevel(matrix_of("new", a), matrix_of("old", b))
    table = [
        list(differences(cells(a)[x.name], cells(b)[x.name]).values()) for x in result.benchmarks
    ]
    t = stats.ttest_1samp(np.mean(table, axis=0), 0)
    check(result.these, np.mean(table), t.confidence_interval(0.95), t.pvalue, 3)
    spread = stats.sem([mean(row) for row in table]) * stats.t.ppf(0.975, 2)
    half = math.hypot(spread, math.log(result.these.high / result.these.speedup))
    assert math.log(result.similar.high / result.similar.speedup) == pytest.approx(half, rel=1e-9)
    assert (result.similar.pvalue, result.similar.freedom) == (None, None)


def ragged_suite(table, weights):
    """The suite's V and df, from {benchmark: {session: d}}, summed term by term."""
    total = math.fsum(weights.values())
    sessions = {s for row in table.values() for s in row}
    square = math.fsum(
        math.fsum(
            weights[b] / total * (row[s] - mean(row.values())) / len(row)
            for b, row in table.items()
            if s in row
        )
        ** 2
        for s in sessions
    )
    v = len(sessions) / (len(sessions) - 1) * square
    estimate = math.fsum(weights[b] / total * mean(row.values()) for b, row in table.items())
    return estimate, v, min(len(row) for row in table.values()) - 1


@pytest.mark.parametrize("weights", [None, {"b0": 3.0, "b2": 0.5}])
def test_these_with_missing_cells_and_weights(noisy, matrix_of, weights):
    gone = {("b0", 2), ("b1", 5), ("b1", 6)}
    a = [run for run in noisy(7, sessions=range(1, 7), shift=-0.01) if run[:2] not in gone]
    b = noisy(8, sessions=range(1, 7))
    result = multilevel(matrix_of("new", a), matrix_of("old", b), weights=weights)
    table = {x.name: differences(cells(a)[x.name], cells(b)[x.name]) for x in result.benchmarks}
    assert [len(row) for row in table.values()] == [5, 4, 6]
    w = {"b0": 1.0, "b1": 1.0, "b2": 1.0} | (weights or {})
    estimate, v, df = ragged_suite(table, w)
    assert math.log(result.these.speedup) == pytest.approx(estimate, abs=1e-12)
    assert result.these.error == pytest.approx(math.sqrt(v), rel=1e-9)
    assert result.these.freedom == df == 3
    assert "sessions-missing" in {caution.code for caution in result.cautions}


@pytest.mark.parametrize("sessions", [((1, 2, 3), (4, 5, 6)), ((1, 2), (2, 3))])
def test_separate_is_welch_on_session_means(noisy, matrix_of, sessions):
    a, b = noisy(9, sessions=sessions[0], drop=0.2), noisy(10, sessions=sessions[1])
    result = multilevel(matrix_of("new", a), matrix_of("old", b))
    assert (result.design, result.sessions) == ("separate", sum(map(len, sessions)))
    sides = []
    for line in result.benchmarks:
        x, y = (
            [session_mean(blocks) for blocks in cells(side)[line.name].values()] for side in (a, b)
        )
        sides.append((x, y))
        t = stats.ttest_ind(x, y, equal_var=False)
        check(line, mean(x) - mean(y), t.confidence_interval(0.95), t.pvalue, t.df)
    x, y = (np.mean([side[k] for side in sides], axis=0) for k in (0, 1))
    t = stats.ttest_ind(x, y, equal_var=False)
    check(result.these, x.mean() - y.mean(), t.confidence_interval(0.95), t.pvalue, t.df)


def test_one_session_pairs_its_blocks(noisy, matrix_of):
    a, b = noisy(11, sessions=(1,), blocks=9, drop=0.2), noisy(12, sessions=(1,), blocks=9)
    result = multilevel(matrix_of("new", a), matrix_of("old", b))
    assert (result.design, result.sessions) == ("one session, blocks", 1)
    for line in result.benchmarks:
        ours, theirs = cells(a)[line.name][1], cells(b)[line.name][1]
        d = [mean(ours[k]) - mean(theirs[k]) for k in sorted(ours.keys() & theirs.keys())]
        t = stats.ttest_1samp(d, 0)
        check(line, mean(d), t.confidence_interval(0.95), t.pvalue, len(d) - 1)
        assert line.more_sessions is None
    codes = [caution.code for caution in result.cautions]
    assert "one-session" in codes
    assert "within one session" in str(result)


def test_one_session_without_blocks_is_welch_on_runs():
    rng = np.random.default_rng(13)
    x, y = ({b: rng.lognormal(0, 0.1, n) for b, n in (("p", 7), ("q", 4))} for _ in range(2))
    new, old = (
        PerformanceMatrix.from_samples(name, side, better="higher")
        for name, side in (("new", x), ("old", y))
    )
    result = multilevel(new, old)
    assert result.design == "one session, runs"
    parts = []
    for line in result.benchmarks:
        u, v = np.log(x[line.name]), np.log(y[line.name])
        t = stats.ttest_ind(u, v, equal_var=False)
        check(line, u.mean() - v.mean(), t.confidence_interval(0.95), t.pvalue, t.df)
        parts += [(stats.sem(side) ** 2 / 4, len(side) - 1) for side in (u, v)]
    square = sum(p for p, _ in parts)
    assert result.these.error == pytest.approx(math.sqrt(square))
    assert result.these.freedom == pytest.approx(square**2 / sum(p**2 / df for p, df in parts))


@pytest.mark.parametrize("sessions", [((1,), (2,)), ((1,), (1, 2, 3)), ((1, 2), (3,))])
def test_confounded_has_an_estimate_and_nothing_else(noisy, matrix_of, sessions):
    a, b = noisy(14, sessions=sessions[0]), noisy(15, sessions=sessions[1])
    result = multilevel(matrix_of("new", a), matrix_of("old", b))
    assert (result.design, result.sessions) == ("confounded", 0)
    for line in (*result.benchmarks, result.these, result.similar):
        assert line.speedup is not None
        assert line.outcome == "undecided"
        for name in ("low", "high", "error", "freedom", "pvalue", "pvalue_equivalent"):
            assert getattr(line, name) is None
        assert line.more_sessions is None
    assert {line.reason for line in result.benchmarks} == {"confounded"}
    assert "session and variant cannot be separated" in str(result)
    assert "if the two occasions do not differ: " in str(result)
    assert "occasions" not in result.to_dict()


def test_confounded_says_what_welch_on_runs_would(noisy, matrix_of):
    a = noisy(16, benchmarks=1, sessions=(1,), shift=-0.3)
    b = noisy(17, benchmarks=1, sessions=(2,))
    result = multilevel(matrix_of("new", a), matrix_of("old", b))
    t = stats.ttest_ind(*(-np.log([run[3] for run in side]) for side in (a, b)), equal_var=False)
    ends = [f"{math.exp(end):.2f}" for end in t.confidence_interval(0.95)]
    assert result.occasions is not None
    assert result.occasions.endswith(f"[{', '.join(ends)}]")
    assert (result.these, result.similar) == (None, None)


def test_sessions_of_two_trials_are_never_the_same(noisy, matrix_of):
    a = matrix_of("new", noisy(18), trial="/first")
    assert multilevel(a, matrix_of("old", noisy(19), trial="/first")).design == "paired"
    assert multilevel(a, matrix_of("old", noisy(19), trial="/second")).design == "separate"
    one = {"b": [1.0, 1.1, 1.2]}
    new, old, other = (
        PerformanceMatrix.from_samples(name, one, better="lower", trial=trial)
        for name, trial in (("new", "/first"), ("old", "/first"), ("other", "/second"))
    )
    assert multilevel(new, old).design == "one session, runs"
    assert multilevel(new, other).design == "confounded"


def test_a_side_without_ids_is_a_session_of_its_own(noisy, matrix_of):
    a = matrix_of("new", noisy(20, sessions=(1, 2, 3)))
    b = PerformanceMatrix.from_samples(
        "old", {f"b{k}": [1.0, 1.1] for k in range(3)}, better="lower"
    )
    assert multilevel(a, b).design == "confounded"


def test_two_files_without_ids_are_confounded_when_each_is_a_session():
    new, old = (
        PerformanceMatrix.from_samples(name, {"b": [1.0, 1.1, 1.2]}, better="lower")
        for name in ("new", "old")
    )
    assert multilevel(new, old).design == "one session, runs"
    assert multilevel(own_session(new, "x.csv"), own_session(old, "y.csv")).design == "confounded"
    known = own_session(new, "x.csv")
    assert own_session(known, "z.csv") is known


def test_numbers_and_names_are_different_ids(matrix_of):
    a = [("b", s, k, 1.0 + k / 10) for s in (1, 2, 3) for k in range(3)]
    b = [("b", str(s), str(k), value) for _, s, k, value in a]
    assert multilevel(matrix_of("new", a), matrix_of("old", b)).design == "separate"


def test_sessions_of_one_side_are_left_out_and_named(noisy, matrix_of):
    a, b = noisy(21, sessions=(1, 2, 3)), noisy(22, sessions=(2, 3, 4, 5))
    result = multilevel(matrix_of("new", a), matrix_of("old", b))
    assert (result.design, result.sessions) == ("paired", 2)
    (left,) = (caution for caution in result.cautions if caution.code == "sessions-left-out")
    assert left.about == ("1", "4", "5")
    same = multilevel(
        matrix_of("new", [run for run in a if run[1] in (2, 3)]),
        matrix_of("old", [run for run in b if run[1] in (2, 3)]),
    )
    assert [line.low for line in same.benchmarks] == [line.low for line in result.benchmarks]


def test_one_value_gives_an_estimate_without_an_interval(noisy, matrix_of):
    a = [run for run in noisy(23) if run[0] != "b1" or run[1] == 1]
    result = multilevel(matrix_of("new", a), matrix_of("old", noisy(24)))
    line = result.benchmarks[1]
    assert line.speedup is not None
    assert (line.low, line.error, line.pvalue, line.outcome) == (None, None, None, "undecided")
    assert result.these is not None
    assert result.these.speedup is not None
    assert result.these.low is None
    assert "too-few-sessions" in {caution.code for caution in result.cautions}


def test_pooling_runs_would_be_another_answer(noisy, matrix_of):
    # negative control: Welch over runs is far narrower, where sessions differ
    a, b = noisy(25, sessions=(1, 2, 3), blocks=30), noisy(26, sessions=(1, 2, 3), blocks=30)
    (line, *_) = multilevel(matrix_of("new", a), matrix_of("old", b)).benchmarks
    x, y = (np.log([run[3] for run in side if run[0] == "b0"]) for side in (a, b))
    pooled = stats.ttest_ind(x, y, equal_var=False).confidence_interval()
    assert math.log(line.high / line.low) > 2 * (pooled.high - pooled.low)
