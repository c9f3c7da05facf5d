"""Every design against the formulas written anew, and scipy's t tests."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from analysis.data.matrix import PerformanceMatrix
from analysis.data.pair import own_session
from analysis.methods.multilevel.compare import Cut, bounded, judged_pair, multilevel
from analysis.methods.multilevel.estimates import exact_values, identity_needs, identity_pvalue
from analysis.methods.multilevel.hosts import over_hosts
from analysis.verdict.gate import gate


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
    each = (differences(cells(a)[x.name], cells(b)[x.name]) for x in result.benchmarks)
    table = [list(one.values()) for one in each]
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


# --- What is counted: constant sides, zeros, steps. Authority: enumeration, scipy's t on c - r b, and gcds by hand


def side_of(name, rows, *, unit="count", better="lower", shift=0):
    """Give a side of sessions x runs a benchmark; those with a 0 are carried, as a trial carries them."""
    values = {bench: np.array(runs, dtype=float) for bench, runs in rows.items()}
    ids = {b: shift + np.repeat(np.arange(len(v)), v.shape[1]) for b, v in values.items()}
    whole = PerformanceMatrix.from_samples(
        name,
        {b: v.ravel() + 1.0 for b, v in values.items()},
        better=better,
        unit=unit,
        sessions=ids,
    )
    whole = replace(whole, samples=tuple(v.ravel() for v in values.values()))
    zeros = {b for b, v in values.items() if (v == 0).any()}
    parts = [whole.select([b for b in values if (b in zeros) == there]) for there in (False, True)]
    return replace(parts[0], with_zeros=parts[1]) if zeros else parts[0]


def constant(value, sessions, runs=2):
    return np.full((sessions, runs), value)


def judged(ours, theirs, *, shift=0, **how):
    unit = how.pop("unit", "count")
    better = how.pop("better", "lower")
    sides = (
        side_of("new", ours, unit=unit, better=better),
        side_of("old", theirs, unit=unit, better=better, shift=shift),
    )
    return multilevel(*sides, **how)


def never_varying(a, b, sessions, *, benchmarks=1, **how):
    sides = ({f"b{k}": constant(one, sessions) for k in range(benchmarks)} for one in (a, b))
    return judged(*sides, **how)


@pytest.mark.parametrize("first", [4, 0])
@pytest.mark.parametrize("unit", ["count", "s"])
def test_zeros_and_steps_of_sessions_that_are_left_out_change_no_comparison(unit, first):
    ours, theirs = [[5, 6], [7, 9], [8, 8]], [[first, 3], [6, 5], [5, 7]]
    each = ({"b": ours}, {"b": theirs}), ({"b": ours}, {"b": [*theirs, [0, 0], [0, 0.5]]})
    whole, line = (judged(*sides, unit=unit).benchmarks[0] for sides in each)
    keys = ("scale", "speedup", "low", "pvalue", "resolution")
    assert [getattr(line, key) for key in keys] == [getattr(whole, key) for key in keys]


@pytest.mark.parametrize("counts", [(3, 3), (3, 5), (9, 4), (5, 5)])
def test_p_bounds_the_chance_of_every_law_of_two_values(counts):
    """The chance that each side is constant and they differ, at the law that makes it largest."""
    n, m = counts
    grid = np.linspace(0, 1, 10_001)
    most = (grid**n * (1 - grid) ** m + grid**m * (1 - grid) ** n).max()
    assert most <= identity_pvalue(n, m) <= 2 * most + 1e-12
    if n == m:
        assert identity_pvalue(n, m) == pytest.approx(min(1, 2 * 4.0**-n))


@pytest.mark.parametrize(("benchmarks", "least"), [(1, 3), (6, 4), (25, 5), (102, 6)])
def test_so_many_benchmarks_need_so_many_sessions(benchmarks, least):
    assert identity_needs(0, 0, 0.05 / benchmarks) == least
    assert identity_needs(0, 0, 0.05 / (benchmarks + 1)) == least + 1


@pytest.mark.parametrize("better", ["lower", "higher"])
@pytest.mark.parametrize(
    ("a", "b", "word", "p"),
    [
        (2, 1, "slower", 2 * 4.0**-5),
        (0, 3, "faster", 2 * 4.0**-5),
        (3, 0, "slower", 2 * 4.0**-5),
        (1009, 1000, "equivalent", 2 * 4.0**-5),
        (101, 100, "slower", 2 * 4.0**-5),  # 1 % and no less, whatever the logarithms round to
        (1010, 1000, "slower", 2 * 4.0**-5),
        (100, 101, "faster", 2 * 4.0**-5),
        (7, 7, "equivalent", None),
        (0, 0, "equivalent", None),
    ],
)
def test_what_does_not_vary_is_decided(a, b, word, p, better):
    (line,) = judged({"x": constant(a, 5, 3)}, {"x": constant(b, 5, 3)}, better=better).benchmarks
    turned = {"slower": "faster", "faster": "slower"}
    assert line.outcome == (word if better == "lower" else turned.get(word, word))
    assert line.pvalue == (None if p is None else pytest.approx(p))
    assert line.reason == ("identical" if a == b else None)
    assert (line.law, line.low, line.high, line.sessions) == ("identity", None, None, 5)
    assert (line.speedup is None) == (not a or not b)
    told = line.to_dict()["identity"]
    assert told == {"candidate": a, "baseline": b, "sessions": 5, "runs": 30}
    assert {line.spread_candidate, line.spread_baseline} <= {0.0, None}  # whatever logs round


@pytest.mark.parametrize(
    ("sessions", "benchmarks", "reason", "more"),
    [(2, 1, "no-spread", 1), (3, 4, "few-sessions", 1), (3, 8, "few-sessions", 2)],
)
def test_few_sessions_are_told_with_the_number_that_decides(sessions, benchmarks, reason, more):
    line = never_varying(2, 1, sessions, benchmarks=benchmarks).benchmarks[0]
    assert (line.outcome, line.reason, line.more_sessions.sessions) == ("undecided", reason, more)
    assert bounded(line, Cut(candidate=1, baseline=0)).more_sessions is None  # rules-2, 2: silent


def test_the_sessions_that_decide_do_not_depend_on_the_order_of_benchmarks():
    found = [x.more_sessions.sessions for x in never_varying(2, 1, 3, benchmarks=4).benchmarks]
    assert found == [1] * 4  # all or none of them are decided, at a quarter of the risk


def test_equal_numbers_are_in_no_family():
    same = {f"s{k}": constant(k + 1, 3) for k in range(9)}
    found = judged({"x": constant(2, 3)} | same, {"x": constant(1, 3)} | same)
    assert [line.outcome for line in found.benchmarks] == ["slower", *["equivalent"] * 9]
    assert found.benchmarks[0].pvalue_adjusted == pytest.approx(2 * 4.0**-3)
    assert judged(same, same).these.outcome == "equivalent"


@pytest.mark.parametrize("unit", ["s", "ns", "MB/s", "ops/ms", "%"])
def test_what_is_measured_is_never_exact(unit):
    assert not exact_values(unit, np.array([1.0, 2.0]))
    (line,) = judged({"x": constant(2, 5)}, {"x": constant(1, 5)}, unit=unit).benchmarks
    assert (line.outcome, line.reason) == ("undecided", "no-spread")


@pytest.mark.parametrize("unit", ["", "1", "B", "cycles", "allocs/op", "score"])
def test_whole_numbers_of_anything_else_are(unit):
    assert exact_values(unit, np.array([0.0, 2.0]))
    assert not exact_values(unit, np.array([0.5, 2.0]))
    assert not exact_values(unit, np.array([2.0**53]))


def test_the_step_is_that_within_each_side_and_adds_nothing():
    ours, theirs = np.array([[8, 20], [12, 16], [8, 8]]), np.array([[9, 15], [21, 9], [9, 9]])
    (line,) = judged({"x": ours}, {"x": theirs}).benchmarks
    assert (line.resolution, line.resolution_source, line.step_added) == (2.0, "runs", 0.0)
    d = np.log(theirs).mean(axis=1) - np.log(ours).mean(axis=1)
    low, high = stats.t.interval(0.95, 2, d.mean(), stats.sem(d))
    assert (math.log(line.low), math.log(line.high)) == pytest.approx((low, high))


def test_a_times_step_is_not_the_difference_of_its_sides():
    sides = {"x": [[0.11, 0.12], [0.11, 0.11]]}, {"x": [[0.5, 0.51], [0.5, 0.5]]}
    (line,) = judged(*sides, unit="s").benchmarks
    assert line.resolution == pytest.approx(0.01)
    apart = judged({"x": constant(0.2, 3)}, {"x": constant(0.1, 3)}, unit="s").benchmarks[0]
    assert (apart.resolution, apart.outcome) == (None, "undecided")


def test_nothing_of_one_benchmark_touches_another():
    rng = np.random.default_rng(5)
    times = {"t": np.exp(rng.normal(0, 0.01, (6, 3)))}, {"t": np.exp(rng.normal(0, 0.01, (6, 3)))}
    alone = judged(*times, unit="s").benchmarks[0]
    ticks = np.array([[1.0, 2.0], [2.0, 1.0], [1.0, 1.0]] * 2)
    for bad in (constant(3.0, 6), ticks, ticks - 1):
        both = judged(*(side | {"bad": bad} for side in times), unit="s").benchmarks[0]
        assert (both.low, both.high, both.resolution) == (alone.low, alone.high, None)


@pytest.mark.parametrize(("n", "m"), [(3, 5), (5, 5)])
def test_a_constant_side_has_the_others_spread(n, m):
    """Its error is s of the other's session values over sqrt(n); by chance alone it would be none."""
    ours, theirs = constant(7, n, 1), np.array([[5], [9], [6], [10], [8]])[:m]
    found = judged(dict.fromkeys("xy", ours), dict.fromkeys("xy", theirs), shift=100)
    s = np.log(theirs[:, 0]).std(ddof=1)
    for line in found.lines:  # the mean of two equal ones too, which had none: 28 % false words
        assert line.errors == pytest.approx((s / math.sqrt(n), s / math.sqrt(m)))


# ---- zeros

C = np.array([[0, 3], [2, 2], [1, 4], [3, 3], [2, 5]])
B = np.array([[1, 0], [0, 1], [2, 1], [1, 1], [0, 2]])


@pytest.mark.parametrize("better", ["lower", "higher"])
def test_with_a_zero_means_are_compared(better):
    found = judged({"x": C, "y": C + 1}, {"x": B, "y": B + 1}, better=better)
    line = found.benchmarks[-1]
    c, b = C.mean(axis=1), B.mean(axis=1)
    test = stats.ttest_rel(c, b)
    assert line.pvalue == pytest.approx(test.pvalue)
    ends = test.confidence_interval()
    told = line.difference, line.difference_low, line.difference_high
    assert told == pytest.approx(((c - b).mean(), ends.low, ends.high))
    ratio = c.mean() / b.mean()
    assert line.speedup == pytest.approx(ratio if better == "higher" else 1 / ratio)
    assert line.scale == "arithmetic"
    assert (line.spread_candidate, line.spread_baseline) == (None, None)  # of logs, which 0 has not
    for end in (line.low, line.high):  # the ends are where E is not rejected
        r = end if better == "higher" else 1 / end
        assert stats.ttest_1samp(c - r * b, 0.0).pvalue == pytest.approx(0.05, abs=1e-6)
    assert line.outcome == ("faster" if better == "higher" else "slower")
    assert "without-ratio" in {one.code for one in found.cautions}
    assert found.these is None


@pytest.mark.parametrize("r", [0.5, 1.02, 2.0, 3.0])
def test_a_gate_tests_means_at_its_limit(r):
    r = max(r, 1.0)
    found = gate(judged({"x": C}, {"x": B}), f"worse>{100 * (r - 1):.12g}%")
    test = stats.ttest_1samp(C.mean(axis=1) - r * B.mean(axis=1), 0.0, alternative="greater")
    line = found.candidates[0].benchmarks[0]
    assert line.pvalue_condition == pytest.approx(test.pvalue)
    decided = "passed" if test.pvalue >= 0.975 else "undecided"
    assert line.outcome == ("proven" if test.pvalue <= 0.025 else decided)


# ---- the gate


@pytest.mark.parametrize(
    ("a", "b", "condition", "sessions", "code"),
    [
        (1400, 1000, "worse>2%", 6, 1),
        (102, 100, "worse>2%", 6, 0),
        (103, 100, "worse>2%", 6, 1),
        (3, 0, "worse>1000%", 6, 1),
        (0, 0, "worse>2%", 6, 0),
        (7, 7, "worse>2%", 3, 0),
        (0, 3, "worse>2%", 6, 0),
        (1400, 1000, "worse>2%", 2, 7),
        (7, 7, "faster<5%", 6, 1),
        (1, 2, "faster<5%", 6, 0),
    ],
)
def test_a_gate_decides_what_does_not_vary(a, b, condition, sessions, code):
    assert gate(never_varying(a, b, sessions), condition).exit_code == code


def test_at_a_gate_benchmarks_that_do_not_vary_share_the_risk():
    found = gate(never_varying(2, 1, 3, benchmarks=4), "worse>2%")
    assert found.candidates[0].named("undecided") == ("b0", "b1", "b2", "b3")


# ---- places of a series


@pytest.mark.parametrize(("sessions", "word"), [(2, "undecided"), (3, "slower"), (6, "slower")])
def test_two_places_of_counts_are_decided_as_two_sides_are(sessions, word):
    logs = [[math.log(100)]] * sessions, [[math.log(200)]] * sessions
    assert judged_pair(*logs, risk=0.05, margin=0.01, unit="")[0] == word
    assert judged_pair(*logs, risk=0.05, margin=0.01, unit="ns")[0] == "undecided"


def test_two_places_are_judged_as_two_sides():
    for seed, step in itertools.product(range(5), (0.0, 0.01, 1.0)):
        rng = np.random.default_rng(seed)
        ours, theirs = (rng.normal(20, 0.2 if step < 1 else 2, (6, 3)) for _ in range(2))
        if step:
            ours, theirs = (np.rint(one / step) * step for one in (ours, theirs))
        unit = "count" if step == 1 else "s"
        (line,) = judged({"x": ours}, {"x": theirs}, unit=unit).benchmarks
        logs = (np.log(one).tolist() for one in (theirs, ours))
        pair = judged_pair(*logs, risk=0.05, margin=0.01, unit=unit)
        assert pair[0] == line.outcome
        assert pair[2:] == pytest.approx((math.log(line.low), math.log(line.high)))


@pytest.mark.parametrize("a", [100, 110])
def test_benchmarks_that_do_not_vary_say_nothing_of_others(a):
    found = judged(dict.fromkeys("xyz", constant(a, 6)), dict.fromkeys("xyz", constant(100, 6)))
    assert found.these.outcome == ("slower" if a > 100 else "equivalent")
    told = found.similar
    assert (told.outcome, told.low, told.high) == ("undecided", None, None)


# ---- hosts


@pytest.mark.parametrize(("a", "b"), [(2, 1), (7, 7), (0, 3)])
def test_hosts_are_cells_of_what_does_not_vary(a, b):
    words = {(2, 1): "slower", (7, 7): "equivalent", (0, 3): "faster"}
    for hosts in (2, 3):
        each = {f"h{k}": judged({"x": constant(a, 4)}, {"x": constant(b, 4)}) for k in range(hosts)}
        whole = over_hosts(each)
        (line,), (own,) = whole.benchmarks, whole.hosts.benchmarks
        assert (own.outcome, own.identity.sessions) == (words[a, b], 4 * hosts)
        assert line.outcome == (words[a, b] if hosts > 2 else "undecided")


@pytest.mark.parametrize(
    ("pairs", "words"),
    [
        ([(110, 100), (120, 100), (115, 100)], ("slower", "slower")),
        ([(110, 100), (220, 200), (330, 300)], ("slower", "slower")),
        ([(110, 100), (220, 200), (0, 300)], ("undecided", "undecided")),
    ],
)
def test_counts_may_vary_between_hosts_alone(pairs, words):
    # authority: rules-2, 1a, a session of all hosts for a cell; hosts that differ have t of their logs
    each = {f"h{a}": judged({"x": constant(a, 4)}, {"x": constant(b, 4)}) for a, b in pairs}
    whole = over_hosts(each)
    (line,), (own,) = whole.benchmarks, whole.hosts.benchmarks
    assert (own.outcome, line.outcome, own.low, own.identity) == (*words, None, None)
    if words[0] == "undecided":
        assert (own.pvalue, line.pvalue) == (None, None)
        return
    logs = [math.log(b / a) for a, b in pairs]
    alike = np.ptp(logs) < 1e-12
    between = 2 * 4.0**-3 if alike else stats.ttest_1samp(logs, 0).pvalue
    assert (own.pvalue, line.pvalue) == pytest.approx((2 * 4.0**-4, between))
    assert (whole.hosts.spread["x"] == 0) == alike


@pytest.mark.parametrize("names", ["xy", "xyz", "xyzw"])
def test_what_has_no_ratio_is_in_no_mean_of_hosts(names):
    # seen: two such benchmarks ended in a traceback; authority: each host's own mean, which leaves them out
    rows = [{b: one + 3 * (b in "zw") for b in names} for one in (C, B)]
    each = {f"h{k}": judged(*rows) for k in range(2)}
    whole, own = over_hosts(each), [one.these for one in each.values()]
    assert whole.hosts.left_out == ()
    assert whole.benchmarks[-1].speedup == pytest.approx(each["h0"].benchmarks[-1].speedup)
    if names != "xyzw":
        assert [*own, whole.these, whole.hosts.these] == [None] * 4
    else:
        assert whole.these.speedup == pytest.approx(stats.gmean([one.speedup for one in own]))
        assert whole.hosts.these.error == pytest.approx(math.hypot(*(x.error for x in own)) / 2)


@pytest.mark.parametrize("alike", [1, 2])
def test_what_does_not_vary_in_too_few_sessions_is_one_of_the_family(matrix_of, alike):
    # authority: rules-2, 1a, and rules, F4: it "takes part in Holm as p = 1", whatever other sessions show
    old, new = ([("x", s, 0, v) for s, v in enumerate(row)] for row in ([5.0, 7, 6], [7.0, 8, 9]))
    old += [("y", 0, 0, 3.0), ("y", 1, 0, 3.0), ("y", 2, 0, 4.0)]
    new += [("y", s, 0, 5.0) for s in range(alike)]
    x, y = multilevel(*(matrix_of("s", one, unit="") for one in (new, old))).benchmarks
    assert (x.pvalue_adjusted, y.pvalue, y.reason) == (2 * x.pvalue, None, "no-spread")


@pytest.mark.parametrize("scale", [1, 4])
def test_a_spread_of_half_a_step_is_one_in_every_unit(scale):
    a, b = ({"x": scale * np.array([[run, 100]])} for run in (105, 100))  # half, and rounding told
    assert judged(a, b, unit="s").benchmarks[0].step_added == 0  # authority: rules, F4, "< rho/2"


def test_a_count_without_a_common_session_is_not_below_a_clock(matrix_of):
    runs = [("x", 3, 0, 1.0), ("x", 4, 0, 2.0)]
    a, b = (matrix_of("s", [*runs, ("y", s, 0, 1.0)], unit="") for s in (1, 2))
    zero = replace(a, samples=(a.samples[0], np.zeros(1)))
    assert multilevel(zero, b).benchmarks[1].reason is None
