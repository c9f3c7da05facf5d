"""What is counted: constant sides, zeros, steps. Authority: enumeration, scipy's t on c - r b, and gcds by hand."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from analysis.data.matrix import PerformanceMatrix
from analysis.methods.multilevel.compare import judged_pair, multilevel
from analysis.methods.multilevel.estimates import exact_values, identity_needs, identity_pvalue
from analysis.methods.multilevel.hosts import over_hosts
from analysis.verdict.gate import gate


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
    parts = [
        replace(
            whole,
            **{
                key: tuple(
                    one
                    for b, one in zip(values, getattr(whole, key), strict=True)
                    if (b in zeros) == there
                )
                for key in ("benchmarks", "samples", "sessions")
            },
        )
        for there in (False, True)
    ]
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
        (7, 7, "equivalent", None),
        (0, 0, "equivalent", None),
    ],
)
def test_what_does_not_vary_is_decided(a, b, word, p, better):
    (line,) = judged({"x": constant(a, 5)}, {"x": constant(b, 5)}, better=better).benchmarks
    turned = {"slower": "faster", "faster": "slower"}
    assert line.outcome == (word if better == "lower" else turned.get(word, word))
    assert line.pvalue == (None if p is None else pytest.approx(p))
    assert line.reason == ("identical" if a == b else None)
    assert (line.law, line.low, line.high, line.sessions) == ("identity", None, None, 5)
    assert (line.speedup is None) == (not a or not b)
    told = line.to_dict()["identity"]
    assert told == {"candidate": a, "baseline": b, "sessions": 5, "runs": 20}


@pytest.mark.parametrize(
    ("sessions", "benchmarks", "reason", "more"),
    [(2, 1, "no-spread", 1), (3, 4, "few-sessions", 1), (3, 8, "few-sessions", 2)],
)
def test_few_sessions_are_told_with_the_number_that_decides(sessions, benchmarks, reason, more):
    names = [f"b{k}" for k in range(benchmarks)]
    found = judged(
        {n: constant(2, sessions) for n in names}, {n: constant(1, sessions) for n in names}
    )
    line = found.benchmarks[0]
    assert (line.outcome, line.reason, line.more_sessions.sessions) == ("undecided", reason, more)


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
    (line,) = judged(
        {"x": [[0.11, 0.12], [0.11, 0.11]]}, {"x": [[0.5, 0.51], [0.5, 0.5]]}, unit="s"
    ).benchmarks
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
    (line,) = judged({"x": ours}, {"x": theirs}, shift=100).benchmarks
    s = np.log(theirs[:, 0]).std(ddof=1)
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
    assert (line.difference, line.difference_low, line.difference_high) == pytest.approx(
        ((c - b).mean(), ends.low, ends.high)
    )
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
    found = gate(
        judged({"x": C}, {"x": B}), f"worse>{100 * (r - 1):.12g}%" if r > 1 else "worse>0%"
    )
    r = max(r, 1.0)
    test = stats.ttest_1samp(C.mean(axis=1) - r * B.mean(axis=1), 0.0, alternative="greater")
    line = found.candidates[0].benchmarks[0]
    assert line.pvalue_condition == pytest.approx(test.pvalue)
    expected = (
        "proven" if test.pvalue <= 0.025 else "passed" if test.pvalue >= 0.975 else "undecided"
    )
    assert line.outcome == expected


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
    found = judged({"x": constant(a, sessions)}, {"x": constant(b, sessions)})
    assert gate(found, condition).exit_code == code


def test_at_a_gate_benchmarks_that_do_not_vary_share_the_risk():
    names = [f"b{k}" for k in range(4)]
    found = judged({n: constant(2, 3) for n in names}, {n: constant(1, 3) for n in names})
    assert gate(found, "worse>2%").candidates[0].named("undecided") == tuple(names)


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
        pair = judged_pair(
            np.log(theirs).tolist(), np.log(ours).tolist(), risk=0.05, margin=0.01, unit=unit
        )
        assert pair[0] == line.outcome
        assert pair[2:] == pytest.approx((math.log(line.low), math.log(line.high)))


# ---- hosts


@pytest.mark.parametrize(("a", "b"), [(2, 1), (7, 7), (0, 3)])
def test_hosts_are_cells_of_what_does_not_vary(a, b):
    words = {(2, 1): "slower", (7, 7): "equivalent", (0, 3): "faster"}
    for hosts in (2, 3):
        each = {f"h{k}": judged({"x": constant(a, 4)}, {"x": constant(b, 4)}) for k in range(hosts)}
        whole, level = over_hosts(each)
        (line,), (own,) = whole.benchmarks, level.benchmarks
        assert (own.outcome, own.identity.sessions) == (words[a, b], 4 * hosts)
        assert line.outcome == (words[a, b] if hosts > 2 else "undecided")
