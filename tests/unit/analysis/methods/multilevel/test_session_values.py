"""Two speeds, few sessions, and sessions that resemble the ones before them.

Authority: the definitions written anew over all splits and with scipy's F law; the autocorrelation by its
formula; what cannot be known must not be said. Rates stand in the calibration.
"""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

from analysis.data.matrix import PerformanceMatrix
from analysis.data.pair import set_apart
from analysis.methods.multilevel.compare import multilevel
from analysis.methods.multilevel.values import dependence_of, two_speeds
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
