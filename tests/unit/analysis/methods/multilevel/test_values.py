"""Two speeds, few sessions, and sessions that resemble the ones before them.

Authority: the definitions written anew over all splits and with scipy's F law; the autocorrelation by its
formula; what cannot be known must not be said. Rates stand in the calibration.
"""

from __future__ import annotations

import itertools
import math
import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import optimize, stats

from analysis.data.matrix import PerformanceMatrix
from analysis.data.pair import set_apart
from analysis.methods.multilevel.compare import multilevel
from analysis.methods.multilevel.values import dependence_of, two_speeds
from analysis.verdict.gate import gate
from tests.examples import examples

RUNS = 8


def codes(result):
    return [one.code for one in result.cautions]


def caution(result, code):
    return next((one for one in result.cautions if one.code == code), None)


# ---- two speeds


def by_all_splits(ours, theirs, within, freedom):
    """Give the answer from every split of the sorted cells."""
    cells = np.sort(np.concatenate([ours, theirs]))
    splits = [(cells[:k], cells[k:]) for k in range(2, len(cells) - 1)]
    low, high = min(splits, key=lambda two: sum(((g - g.mean()) ** 2).sum() for g in two))
    left = sum(((g - g.mean()) ** 2).sum() for g in (low, high)) / (len(cells) - 2)
    distance = high.mean() - low.mean()
    fires = distance >= 20 * math.sqrt(within)
    return fires and stats.f.sf(left / within, len(cells) - 2, freedom) > 0.01, distance


@settings(max_examples=examples(200), deadline=None)
@given(st.integers(2, 9), st.integers(0, 2**32 - 1), st.floats(5, 60))
def test_the_rule_is_its_definition(sessions, seed, gap):
    rng = np.random.default_rng(seed)
    speeds = rng.integers(0, 2, (2, sessions))
    ours, theirs = gap * speeds + rng.normal(size=(2, sessions))
    freedom = 2 * sessions * (RUNS - 1)
    fires, distance = by_all_splits(ours, theirs, 1.0, freedom)
    by_side = (speeds[0] != speeds[1]).all() and len(set(speeds[0])) == len(set(speeds[1])) == 1
    found = two_speeds(ours, theirs, 1.0, freedom)
    if by_side and 2 * sessions >= 8:
        assert found is None  # that is the difference that is looked for
    else:
        assert (found is not None) == fires
        assert found is None or found.distance == pytest.approx(distance)


def made(name, levels, *, first=1, runs=RUNS, sd=0.002, seed=1, **more):
    """Make a side: benchmark -> the log of each session's speed."""
    rng = np.random.default_rng([seed, *name.encode()])
    rows, ids = {}, {}
    for bench, each in levels.items():
        ids[bench] = np.repeat(first + np.arange(len(each)), runs)
        rows[bench] = np.exp(np.repeat(each, runs) + sd * rng.normal(size=runs * len(each)))
    return PerformanceMatrix.from_samples(name, rows, better="lower", sessions=ids, **more)


FAST, SLOW = 0.0, 0.05


def test_two_sessions_of_two_speeds_are_told_with_their_chance():
    result = multilevel(made("new", {"a": [SLOW, SLOW]}), made("old", {"a": [FAST, FAST]}))
    assert result.benchmarks[0].outcome == "slower"
    told = caution(result, "two-speeds")
    assert told.about == ("a",)
    assert "12.5 % of trials" in told.text
    assert "% apart" in told.text
    assert "each variant keeps one speed" in told.text
    assert caution(result, "few-sessions").about == ()


@pytest.mark.parametrize(("ratio", "said"), [(1.051, "5.1 %"), (1.247, "25 %"), (3.49, "249 %")])
def test_the_distance_of_two_speeds_is_written_out(ratio, said):
    # 249 % was "2.5e+02 %"
    slow = [math.log(ratio)] * 2
    sides = [
        made(name, {"a": each}, sd=1e-6) for name, each in (("new", slow), ("old", [FAST] * 2))
    ]
    assert f"({said} apart)" in caution(multilevel(*sides), "two-speeds").text


def test_a_steady_difference_of_many_sessions_is_none_of_two_speeds():
    result = multilevel(made("new", {"a": [SLOW] * 6}), made("old", {"a": [FAST] * 6}))
    assert result.benchmarks[0].outcome == "slower"
    assert "two-speeds" not in codes(result)
    assert "few-sessions" not in codes(result)


def test_many_sessions_of_two_speeds_are_told_too():
    speeds = [FAST, SLOW, FAST, SLOW, SLOW, FAST, FAST, SLOW]
    result = multilevel(made("new", {"a": speeds}), made("old", {"a": speeds[::-1]}))
    assert "fairtrial diagnose" in caution(result, "two-speeds").text


def test_separate_sides_have_two_speeds_as_well():
    ours = made("new", {"a": [FAST, SLOW, FAST]})
    theirs = made("old", {"a": [SLOW, FAST, FAST, SLOW]}, first=50)
    result = multilevel(ours, theirs)
    assert result.design == "separate"
    assert "two-speeds" in codes(result)


@pytest.mark.parametrize("more", [{"runs": 1}, {"sd": 0.0}])
def test_where_runs_tell_no_scatter_nothing_is_said(more):
    speeds = [FAST, SLOW, FAST, SLOW]
    result = multilevel(
        made("new", {"a": speeds}, **more), made("old", {"a": speeds[::-1]}, **more)
    )
    assert "two-speeds" not in codes(result)


@pytest.mark.parametrize(("sessions", "told"), [(2, True), (3, True), (4, False)])
def test_few_sessions_are_told_where_something_is_decided(sessions, told):
    both = made("new", {"a": [0.5] * sessions}), made("old", {"a": [0.0] * sessions})
    assert ("few-sessions" in codes(multilevel(*both))) is told
    rng = np.random.default_rng(1)
    open_ = [made(n, {"a": 0.2 * rng.normal(size=sessions)}) for n in ("new", "old")]
    result = multilevel(*open_)
    assert result.word == "undecided"
    assert "few-sessions" not in codes(result)


def test_few_sessions_of_one_side_are_few():
    ours = made("new", {"a": [0.5] * 3, "b": [0.5] * 3})
    theirs = made("old", {"a": [0.0] * 9, "b": [0.0] * 9}, first=50)
    assert "few-sessions" in codes(multilevel(ours, theirs))


def test_of_hosts_that_stand_for_sessions_nothing_is_said_of_speeds_and_order():
    rng = np.random.default_rng(1)
    speeds = rng.permutation([FAST, SLOW] * 5)
    sides = [
        replace(made(name, {"a": levels}), outermost="host")
        for name, levels in (("new", speeds), ("old", speeds[::-1]))
    ]
    result = multilevel(*sides)
    assert "two-speeds" not in codes(result)
    assert result.dependence is None


# ---- the clock


@pytest.mark.parametrize("alone", [(), (9, 10)])
def test_paired_sessions_without_spread_have_the_error_of_rounding(alone):
    """Each mean of r runs is off by the step over sqrt(12 r); sessions of one side alone count for nothing."""
    runs, steps = 4, [1.0, 1.01, 1.0, 1.01]
    sides = [
        PerformanceMatrix.from_samples(
            name, {"a": steps * len(ids)}, better="lower", sessions={"a": np.repeat(ids, runs)}
        )
        for name, ids in (("new", (1, 2, 3, *alone)), ("old", (1, 2, 3)))
    ]
    (line,) = multilevel(*sides).benchmarks
    step = math.log(1 + 0.01 / math.sqrt(1.01))
    assert line.resolution_source == "runs"
    assert line.error == pytest.approx(step * math.sqrt(2 / (12 * runs * 3)))


# ---- order


def lag1(values):
    d = values - values.mean()
    return (d[:-1] * d[1:]).sum() / (d**2).sum()


def test_the_statistic_is_the_mean_of_the_autocorrelations_of_each_ones_own_sessions():
    values = np.random.default_rng(4).normal(size=(12, 3))
    values[[2, 7], 1] = np.nan
    values[:, 2] = 1.0  # nothing varies: it tells nothing
    found = dependence_of(values)
    known = values[~np.isnan(values[:, 1]), 1]
    assert found.lag1 == pytest.approx((lag1(values[:, 0]) + lag1(known)) / 2)
    assert (found.sessions, found.benchmarks) == (12, 2)
    rho = found.lag1 + (1 + 3 * found.lag1) / 12
    assert found.factor == pytest.approx(math.sqrt((1 + max(rho, 0)) / (1 - max(rho, 0))))


@pytest.mark.parametrize(
    "values",
    [
        [0.1, 0.5, 0.4, 0.9, 1.1, 0.8, 1.6, 1.2],
        [0.1, 0.1, 0.1, 0.1, 0.7, 0.7, 0.7, 0.7],  # as far as two of 70 orders
        [0.1, 0.1, 0.7, 0.7, 0.7, 0.1, 0.1, 0.7],
    ],
)
def test_p_comes_near_that_of_all_orders(values):
    # authority: all 40,320 orders of 8 sessions
    values = np.array(values)
    orders = np.array(list(itertools.permutations(values)))
    d = orders - values.mean()
    exact = (
        ((d[:, :-1] * d[:, 1:]).sum(axis=1) / (d**2).sum(axis=1)) >= lag1(values) - 1e-12
    ).mean()
    found = dependence_of(values[:, None])
    assert abs(found.pvalue - exact) < 4 * math.sqrt(exact * (1 - exact) / 999) + 0.001
    assert found.pvalue * 1000 == pytest.approx(round(found.pvalue * 1000))
    assert found == dependence_of(values[:, None])


def test_benchmarks_move_together():
    # of two benchmarks with the same values p is that of one: whole sessions are permuted
    values = np.cumsum(np.random.default_rng(8).normal(size=14))[:, None]
    assert dependence_of(np.repeat(values, 5, axis=1)).pvalue == dependence_of(values).pvalue


def slow_wave(sessions):
    return 0.02 * np.sin(np.arange(sessions) * 2 * math.pi / sessions)


def test_sessions_that_resemble_their_neighbours_are_told():
    result = multilevel(made("new", {"a": slow_wave(16)}), made("old", {"a": [0.0] * 16}))
    told = result.dependence
    assert (told.sessions, told.benchmarks, told.side, told.pvalue) == (16, 1, None, 0.001)
    assert set(result.to_dict()["dependence"]) >= {"lag1", "pvalue", "sessions", "benchmarks"}
    assert f"{told.factor:.2g}" in caution(result, "sessions-depend").text


@pytest.mark.parametrize("sessions", [2, 7])
def test_below_eight_sessions_nothing_is_computed(sessions):
    result = multilevel(
        made("new", {"a": slow_wave(sessions)}), made("old", {"a": [0.0] * sessions})
    )
    assert result.dependence is None


def test_separate_sides_have_half_the_risk_each():
    result = multilevel(made("new", {"a": slow_wave(16)}), made("old", {"a": [0.0] * 9}, first=50))
    assert result.design == "separate"
    assert result.dependence.side == "candidate"
    assert result.dependence.warned
    assert "of the candidate" in caution(result, "sessions-depend").text
    assert not replace(result.dependence, pvalue=0.006).warned
    assert replace(result.dependence, side=None, pvalue=0.006).warned


def named(matrix, names):
    ids = tuple(np.array([names[k - 1] for k in row]) for row in matrix.sessions)
    return replace(matrix, sessions=ids)


def test_names_of_sessions_tell_no_order():
    names = [f"night {k:02}" for k in range(16)]
    sides = [
        named(made(name, {"a": levels}), names)
        for name, levels in (("new", slow_wave(16)), ("old", np.zeros(16)))
    ]
    assert multilevel(*sides).dependence is None


def test_an_order_in_time_goes_before_the_numbers():
    # sessions of a merged trial: the numbers are shuffled, the order is known
    rng = np.random.default_rng(2)
    shuffled = rng.permutation(16)
    levels = np.empty(16)
    levels[shuffled] = slow_wave(16)
    sides = made("new", {"a": levels}), made("old", {"a": np.zeros(16)})
    assert multilevel(*sides).dependence.pvalue > 0.05
    order = tuple((shuffled + 1).tolist())
    sides = [replace(one, session_order=order) for one in sides]
    assert multilevel(*sides).dependence.pvalue == 0.001
    unknown = [replace(one, session_order=()) for one in sides]
    assert multilevel(*unknown).dependence is None


def test_more_than_nine_sessions_of_two_trials_keep_their_order():
    # ids become names such as 1/10, which sort before 1/2
    result = multilevel(
        set_apart(made("new", {"a": slow_wave(16)}), "1"),
        set_apart(made("old", {"a": [0.0] * 16}), "2"),
    )
    assert result.design == "separate"
    assert result.dependence.lag1 == pytest.approx(
        multilevel(
            made("new", {"a": slow_wave(16)}), made("old", {"a": [0.0] * 16}, first=50)
        ).dependence.lag1
    )


# --- Sides of separate sessions in unequal numbers: Banerjee's bound, written anew with scipy
#
# S. K. Banerjee, Sankhya 22 (1960): |d| <= sqrt(t1^2 e1^2 + t2^2 e2^2) with the quantile of t of each side
# has at least the level, whatever the variances. p is the risk at which that interval ends at d.


L = math.log(1.01)


def half(alpha, parts):
    return math.sqrt(sum((stats.t.isf(alpha / 2, f) * e) ** 2 for e, f in parts))


def pvalue(distance, parts):
    """Give the two-sided p, by a search of another kind than the code's."""
    if distance == 0:
        return 1.0
    log = optimize.brentq(
        lambda x: math.log(half(math.exp(x), parts) / abs(distance)), -60, -1e-9, xtol=1e-13
    )
    return math.exp(log)


def one_sided(inside, parts):
    p = pvalue(inside, parts)
    return p / 2 if inside > 0 else 1 - p / 2


def side_of(rows, first=0, name="new"):
    """Give a side of one run a session, from the logs of its sessions; larger is faster."""
    ids = {bench: np.arange(len(row)) + first for bench, row in rows.items()}
    values = {bench: np.exp(-np.asarray(row)) for bench, row in rows.items()}
    return PerformanceMatrix.from_samples(name, values, better="lower", sessions=ids)


def drawn(counts, seed, effect=0.0, spread=1.0):
    rng = np.random.default_rng(seed)
    return {
        f"b{k}": effect * (k + 1) + 0.01 * spread * rng.standard_normal(count)
        for k, count in enumerate(counts)
    }


def compared(ours, theirs, **how):
    return multilevel(side_of(ours), side_of(theirs, 1000, "old"), **how)


def parts_of(*rows):
    return [(stats.sem(row), len(row) - 1) for row in rows]


@pytest.mark.parametrize("counts", [(2, 10), (10, 3), (5, 6)])
def test_a_line_is_banerjees_bound(counts):
    ours, theirs = drawn([counts[0]] * 4, 1, 0.004, 3.0), drawn([counts[1]] * 4, 2)
    result = compared(ours, theirs)
    assert result.design == "separate"
    for line in result.benchmarks:
        x, y = ours[line.name], theirs[line.name]
        parts, d = parts_of(x, y), x.mean() - y.mean()
        assert (line.law, line.freedom) == ("banerjee", None)
        assert line.errors == pytest.approx([e for e, _ in parts])
        assert line.freedoms == (counts[0] - 1, counts[1] - 1)
        assert line.error == pytest.approx(math.hypot(*line.errors))
        assert math.log(line.low) == pytest.approx(d - half(0.05, parts), abs=1e-12)
        assert math.log(line.high) == pytest.approx(d + half(0.05, parts), abs=1e-12)
        assert line.pvalue == pytest.approx(pvalue(d, parts), rel=1e-9)
        theirs_ = max(one_sided(d + L, parts), one_sided(L - d, parts))
        assert line.pvalue_equivalent == pytest.approx(theirs_, rel=1e-9)
        welch = stats.ttest_ind(x, y, equal_var=False).pvalue
        assert line.pvalue_welch == pytest.approx(welch, rel=1e-9)
        assert line.pvalue > welch
    ps = [line.pvalue for line in result.benchmarks]
    steps = np.argsort(ps)
    worst = np.maximum.accumulate([(4 - k) * ps[i] for k, i in enumerate(steps)])
    held = [result.benchmarks[i].pvalue_adjusted for i in steps]
    assert held == pytest.approx(np.minimum(worst, 1), rel=1e-9)


def test_the_suite_has_the_error_of_each_side():
    ours, theirs = drawn([3] * 5, 3), drawn([7] * 5, 4, spread=0.3)
    result = compared(ours, theirs)
    x, y = (np.mean(list(side.values()), axis=0) for side in (ours, theirs))
    parts, d = parts_of(x, y), x.mean() - y.mean()
    line = result.these
    assert (line.law, line.freedom, line.freedoms) == ("banerjee", None, (2.0, 6.0))
    assert line.pvalue == pytest.approx(pvalue(d, parts), rel=1e-9)
    assert math.log(line.high) == pytest.approx(d + half(0.05, parts), abs=1e-12)
    each = [ours[b].mean() - theirs[b].mean() for b in ours]
    wide = math.hypot(half(0.05, parts), stats.t.isf(0.025, 4) * stats.sem(each))
    assert math.log(result.similar.high) == pytest.approx(d + wide, abs=1e-12)


def test_each_benchmark_is_judged_by_its_own_sessions():
    ours, theirs = drawn([6, 5, 6], 5), drawn([6, 6, 6], 6)
    result = compared(ours, theirs)
    assert [line.law for line in result.benchmarks] == ["welch", "banerjee", "welch"]
    for line in (result.benchmarks[0], result.benchmarks[2]):
        t = stats.ttest_ind(ours[line.name], theirs[line.name], equal_var=False)
        assert line.pvalue == line.pvalue_welch == pytest.approx(t.pvalue, rel=1e-9)
        assert line.freedom == pytest.approx(t.df)
    assert result.these.law == "banerjee"  # its sides have 4 and 5 degrees of freedom
    assert result.these.freedoms == (4.0, 5.0)
    (told,) = [c for c in result.cautions if c.code == "unequal-sessions"]
    assert told.about == ("b1",)
    assert "b1: 5 sessions against 6" in told


def test_runs_of_one_session_in_unequal_numbers_have_the_same_law():
    rng = np.random.default_rng(7)
    x, y = rng.normal(0.01, 0.02, 3), rng.normal(0, 0.01, 9)
    new, old = (
        PerformanceMatrix.from_samples(name, {"b": np.exp(-row)}, better="lower")
        for name, row in (("new", x), ("old", y))
    )
    result = multilevel(new, old)
    assert result.design == "one session, runs"
    (line,) = result.benchmarks
    parts, d = parts_of(x, y), x.mean() - y.mean()
    assert (line.law, line.freedoms) == ("banerjee", (2.0, 8.0))
    assert line.pvalue == pytest.approx(pvalue(d, parts), rel=1e-9)
    assert math.log(line.high) == pytest.approx(d + half(0.05, parts), abs=1e-12)
    (told,) = [c for c in result.cautions if c.code == "unequal-sessions"]
    assert "3 runs against 9" in told
    assert "6 more of new would make them equal" in told


def test_the_suite_of_one_session_puts_cells_of_equally_many_runs_together():
    rng = np.random.default_rng(8)
    counts = {"p": (3, 9), "q": (3, 9), "r": (9, 9)}
    x, y = ({b: rng.normal(0, 0.02, n[k]) for b, n in counts.items()} for k in (0, 1))
    new, old = (
        PerformanceMatrix.from_samples(
            name, {b: np.exp(-row) for b, row in rows.items()}, better="lower"
        )
        for name, rows in (("new", x), ("old", y))
    )
    line = multilevel(new, old).these
    groups = {2: [x["p"], x["q"]], 8: [x["r"], *y.values()]}
    parts = []
    for f, rows in groups.items():
        squares = [(stats.sem(row) / 3) ** 2 for row in rows]
        freedom = sum(squares) ** 2 / sum(s**2 / f for s in squares)
        parts.append((math.sqrt(sum(squares)), freedom))
    assert (line.law, line.freedom) == ("grouped", None)
    assert line.errors == pytest.approx([e for e, _ in parts])
    assert line.freedoms == pytest.approx([f for _, f in parts])
    d = math.log(line.speedup)
    assert math.log(line.high) == pytest.approx(d + half(0.05, parts), abs=1e-12)
    assert line.pvalue == pytest.approx(pvalue(d, parts), rel=1e-9)


def test_confounded_sides_say_what_the_bound_would():
    rng = np.random.default_rng(9)
    x, y = rng.normal(0.05, 0.02, 2), rng.normal(0, 0.01, 9)
    new, old = (
        PerformanceMatrix.from_samples(
            name, {"b": np.exp(-row)}, better="lower", sessions={"b": [name] * len(row)}
        )
        for name, row in (("new", x), ("old", y))
    )
    result = multilevel(new, old)
    assert result.design == "confounded"
    d, h = x.mean() - y.mean(), half(0.05, parts_of(x, y))
    ends = f"[{math.exp(d - h):.2f}, {math.exp(d + h):.2f}]"
    assert result.occasions.endswith(ends)


def test_a_side_without_spread_leaves_the_other_sides_t():
    x, y = np.array([0.02, 0.02]), np.random.default_rng(10).normal(0, 0.01, 10)
    (line,) = compared({"b": x}, {"b": y}).benchmarks
    t = stats.ttest_1samp(y, 0.02)
    assert line.errors[0] == 0
    assert line.pvalue == pytest.approx(t.pvalue, rel=1e-9)
    interval = t.confidence_interval(0.95)
    assert 0.02 - math.log(line.high) == pytest.approx(interval.low, abs=1e-12)


def test_sides_without_any_spread_are_as_wide_as_the_clock_leaves_them():
    """Authority: the floor rho sqrt(sum 1/n / 12) / S of each side, Banerjee's bound, and the step of another one."""
    ticks = {"c": [math.log(1.02), 0.0]}, {"c": [0.0, math.log(1.02), 0.0, 0.0, 0.0]}
    sides = ({"b": [math.log(1.02)] * 2} | ticks[0], {"b": [0.0] * 5} | ticks[1])
    line = compared(*sides).benchmarks[0]
    assert line.resolution_source == "others"
    floors = [line.step_log / math.sqrt(12 * n) for n in (2, 5)]
    assert line.errors == pytest.approx(floors)
    each = [stats.t.isf(0.025, n - 1) * e for n, e in zip((2, 5), floors, strict=True)]
    assert math.log(line.high / line.speedup) == pytest.approx(math.hypot(*each) + line.step_log)
    assert line.outcome == "undecided"


def test_the_one_session_too_many_is_said_and_by_whom():
    for counts, told in (
        ((2, 10), "2 sessions against 10: the bound for unequal numbers is taken; 8 more of new"),
        ((6, 5), "6 sessions against 5: the bound for unequal numbers is taken; 1 more of old"),
    ):
        result = compared(drawn([counts[0]] * 3, 1), drawn([counts[1]] * 3, 2))
        (caution,) = [c for c in result.cautions if c.code == "unequal-sessions"]
        assert told in caution
        assert caution.about == ()
    equal = compared(drawn([4] * 3, 1), drawn([4] * 3, 2))
    assert not [c for c in equal.cautions if c.code == "unequal-sessions"]


@pytest.mark.parametrize("counts", [(2, 10), (5, 6), (10, 3)])
def test_bound_and_p_agree_at_the_limit_of_a_gate(counts):
    # its p must come from both parts: at its limit the interval ends, and half of the risk is left
    limit = math.log(1 / 1.02)
    x, y = drawn([counts[0]], 11)["b0"], drawn([counts[1]], 12)["b0"]
    h = half(0.05, parts_of(x, y))
    shift = limit - h - (x.mean() - y.mean())  # the interval's upper end stands at the limit
    for by, outcome in ((-1e-9, "proven"), (1e-9, "undecided")):
        found = gate(compared({"b": x + shift + by}, {"b": y}), "slower>2%")
        (line,) = found.candidates[0].benchmarks
        assert line.outcome == outcome
        assert line.pvalue_condition == pytest.approx(0.025, rel=1e-5)
    above = compared({"b": x + shift + 2 * h + 1e-9}, {"b": y})
    assert gate(above, "slower>2%").outcome == "passed"
    (line,) = gate(above, "slower>2%").candidates[0].benchmarks
    assert line.pvalue_condition == pytest.approx(0.975, rel=1e-5)


def test_a_gates_p_is_one_sided_of_the_distance_to_the_limit():
    ours, theirs = drawn([2] * 4, 13, -0.01), drawn([10] * 4, 14)
    found = gate(compared(ours, theirs), "slower>2%").candidates[0]
    for line in (*found.benchmarks, found.suite):
        if line.name == "suite":
            x, y = (np.mean(list(side.values()), axis=0) for side in (ours, theirs))
        else:
            x, y = ours[line.name], theirs[line.name]
        inside = math.log(1 / 1.02) - (x.mean() - y.mean())
        assert line.pvalue_condition == pytest.approx(one_sided(inside, parts_of(x, y)), rel=1e-9)


# --- Totals against typical runs. Authority: rules-2, section 4, computed anew from its formulas; and by hand


RNG = np.random.default_rng(44_03)
CALM = np.exp(0.01 * RNG.standard_normal((6, 8)))
TAIL = CALM * np.exp(0.01 * RNG.standard_normal((6, 8)))
TAIL[np.arange(6), np.arange(6)] *= 5.0


def judged(ours, theirs, *, better="lower", unit="s", names=("x",)):
    def side(name, values):
        ids = {b: np.repeat(np.arange(len(values)), values.shape[1]) for b in names}
        rows = {b: values.ravel() for b in names}
        return PerformanceMatrix.from_samples(name, rows, better=better, unit=unit, sessions=ids)

    return multilevel(side("new", ours), side("old", theirs))


def by_hand(x):
    logs = np.log(x)
    s = 1.4826 * np.median(np.abs(logs - np.median(logs)))
    return math.log(x.mean()) - logs.mean(), (math.exp(s**2) - 1 - s**2) / x.size


def test_two_ratios_that_look_alike_have_the_decimals_that_tell_them_apart():
    """Authority: "in all, 78 % less time, though the typical run takes 78 % less" on a first screen."""
    found = judged(0.215 * np.where(TAIL > 3, 1.6 * CALM, CALM), CALM)
    assert found.benchmarks[0].totals.disagree
    said = re.search(
        r"takes ([\d.]+) % less time, though the typical run takes ([\d.]+) % less",
        str(found.cautions[0].short),
    )
    assert float(said[1]) < float(said[2])


@pytest.mark.parametrize("better", ["lower", "higher"])
def test_both_ratios_are_those_of_the_metric(better):
    found = judged(TAIL, CALM, better=better).benchmarks[0].totals
    (j, v), (k, w) = by_hand(TAIL), by_hand(CALM)
    assert found.ratio == pytest.approx(TAIL.mean() / CALM.mean())
    assert found.typical == pytest.approx(math.exp(np.log(TAIL).mean() - np.log(CALM).mean()))
    assert found.difference == pytest.approx(j - k)
    assert found.threshold == pytest.approx(max(math.log(1.01), 4 * math.sqrt(v + w)))
    assert found.disagree


def test_the_note_says_both_and_the_far_runs():
    found = judged(0.8 * TAIL, CALM)
    assert found.cautions[0].code == "totals"
    more, less = 100 * (0.8 * TAIL.mean() / CALM.mean() - 1), found.benchmarks[0].totals.typical
    assert str(found.cautions[0].short) == (
        f"in all, new takes {more:.0f} % more time, though the typical run takes {100 * (1 - less):.1f} % "
        "less: 6 of 48 runs of new take 4.9 to 5.2 times as much"
    )
    mirrored = judged(CALM, 0.8 * TAIL).cautions[0]
    assert "6 of 48 runs of old take" in mirrored
    one = TAIL.copy()
    one[1:] = CALM[1:]
    one[0, :3] = 5.0
    assert "of new in 1 of 6 sessions take" in judged(one, CALM).cautions[0]


@pytest.mark.parametrize("ours", [TAIL[:, :3], CALM**20, CALM])
def test_few_runs_and_clean_runs_have_no_note(ours):
    found = judged(ours, CALM[:, : ours.shape[1]] ** 20)
    assert (found.benchmarks[0].totals is None) == (ours.size < 20)
    assert "totals" not in {one.code for one in found.cautions}


@pytest.mark.parametrize("names", [("x",), ("x", "y")])
@pytest.mark.parametrize(
    ("factor", "condition", "code"),
    [
        (0.8, "worse>2%", 7),  # typical 8 % less, in all 20 % more
        (0.8, "worse>40%", 0),
        (1.2, "worse>2%", 1),  # both more
        (0.4, "worse>2%", 0),  # both less
        (0.8, "faster<2%", 7),
    ],
)
def test_a_limit_between_both_leaves_a_gate_open(names, factor, condition, code):
    found = gate(judged(factor * TAIL, CALM, names=names), condition)
    assert found.exit_code == code
    reasons = {line.reason for line in (*found.candidates[0].benchmarks, found.candidates[0].suite)}
    assert reasons == ({"totals"} if code == 7 else {None})


def test_the_other_way_round_a_gate_is_open_too():
    """The baseline's tail hides in the ratio of typical runs what totals do not show."""
    assert gate(judged(1.3 * CALM, TAIL), "worse>2%").exit_code == 7
