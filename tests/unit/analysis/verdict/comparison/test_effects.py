"""The difference of two effects is Welch's t on session values.

Authority: R's example of t.test, extra ~ group of the data set sleep (t = -1.8608, df = 17.776,
p = 0.07939, interval -3.3654832 to 0.2054832), and scipy's ttest_ind(equal_var=False).
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from analysis.data.matrix import PerformanceMatrix
from analysis.methods.multilevel.compare import multilevel
from analysis.verdict.comparison_effects import EffectPairs, compare_answers

SLEEP = (
    (0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0),
    (1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4),
)


def compared(old, new, **how):
    (found,) = compare_answers(
        [EffectPairs(old=old, new=new)], **{"confidence": 0.95, "margin": 0.01, **how}
    )
    return found


def test_r_says_the_same_of_its_sleep_data(answer):
    # logs of a hundredth, so that speedups stay near 1; t, df and p do not change
    old, new = (answer({"b": [x / 100 for x in row]}) for row in SLEEP)
    (line,) = compared(old, new).benchmarks
    assert math.log(line.ratio) / line.error == pytest.approx(1.8608, abs=5e-5)
    assert line.freedom == pytest.approx(17.776, abs=5e-4)
    assert line.pvalue == pytest.approx(0.07939, abs=5e-6)
    assert 100 * math.log(line.low) == pytest.approx(-0.2054832, abs=5e-7)
    assert 100 * math.log(line.high) == pytest.approx(3.3654832, abs=5e-7)
    assert line.pvalue_adjusted == line.pvalue  # a family of one


def drawn(sessions):
    rng = np.random.default_rng(sessions)
    return [
        {f"b{k}": rng.normal(0.1, 0.01 * (k + 1), count).tolist() for k in range(4)}
        for count in sessions
    ]


@pytest.mark.parametrize("sessions", [(2, 2), (5, 5), (12, 12)])
def test_scipy_says_the_same(answer, sessions):
    rows = drawn(sessions)
    found = compared(*map(answer, rows))
    raw = []
    for line in found.benchmarks:
        told = stats.ttest_ind(rows[1][line.name], rows[0][line.name], equal_var=False)
        interval = told.confidence_interval(0.95)
        assert line.law == "welch"
        assert line.pvalue == line.pvalue_welch == pytest.approx(told.pvalue, rel=1e-9)
        assert line.freedom == pytest.approx(told.df, rel=1e-9)
        assert math.log(line.low) == pytest.approx(interval.low, rel=1e-9)
        assert math.log(line.high) == pytest.approx(interval.high, rel=1e-9)
        raw.append(told.pvalue)
    # the suite: the mean of the benchmarks, session by session, and no part of their family
    means = [np.mean(list(row.values()), axis=0) for row in rows]
    told = stats.ttest_ind(means[1], means[0], equal_var=False)
    assert found.these.pvalue == pytest.approx(told.pvalue, rel=1e-9)
    assert found.these.pvalue_adjusted == found.these.pvalue
    holds_holm(found.benchmarks)


def holds_holm(lines):
    raw = [line.pvalue for line in lines]
    worst = 0.0
    for step, k in enumerate(np.argsort(raw)):  # Holm's steps, written out
        worst = max(worst, min(1.0, (len(raw) - step) * raw[k]))
        assert lines[k].pvalue_adjusted == pytest.approx(worst, rel=1e-9)


@pytest.mark.parametrize("sessions", [(3, 10), (12, 2), (4, 5)])
def test_other_numbers_of_sessions_are_held_against_banerjees_bound(answer, sessions):
    rows = drawn(sessions)
    found = compared(*map(answer, rows))
    for line in found.benchmarks:
        sides = [np.array(row[line.name]) for row in rows]
        errors = [side.std(ddof=1) / math.sqrt(side.size) for side in sides]

        def half(alpha, errors=errors, sides=sides):
            return math.hypot(
                *(
                    stats.t.isf(alpha / 2, side.size - 1) * error
                    for side, error in zip(sides, errors, strict=True)
                )
            )

        distance = sides[1].mean() - sides[0].mean()
        assert (line.law, line.freedom) == ("banerjee", None)
        assert math.log(line.high) - distance == pytest.approx(half(0.05), rel=1e-9)
        assert distance - math.log(line.low) == pytest.approx(half(0.05), rel=1e-9)
        assert half(line.pvalue) == pytest.approx(abs(distance), rel=1e-9)
        welch = stats.ttest_ind(*reversed(sides), equal_var=False)
        assert line.pvalue_welch == pytest.approx(welch.pvalue, rel=1e-9)
        assert line.pvalue >= line.pvalue_welch
    holds_holm(found.benchmarks)


def apart(ours, theirs):
    """Judge sides of separate sessions, whose logs these are: one run a session."""
    new, old = (
        PerformanceMatrix.from_samples(
            name, {"b": np.exp(-row)}, better="lower", sessions={"b": np.arange(len(row)) + first}
        )
        for name, row, first in (("new", ours, 0), ("base", theirs, 100))
    )
    return multilevel(new, old)


def test_a_trial_whose_own_sides_have_unequal_numbers_enters_with_both_parts(answer):
    # Banerjee's bound over three parts: the sessions of one trial, and both sides of the other
    rng = np.random.default_rng(12)
    d, x, y = (rng.normal(mean, 0.01, n) for mean, n in ((0.1, 6), (0.15, 2), (0.0, 9)))
    (line,) = compared(answer({"b": d.tolist()}), apart(x, y)).benchmarks
    parts = [(stats.sem(row), len(row) - 1) for row in (d, x, y)]

    def half(alpha):
        return math.hypot(*(stats.t.isf(alpha / 2, f) * e for e, f in parts))

    distance = x.mean() - y.mean() - d.mean()
    assert (line.law, line.freedom) == ("banerjee", None)
    assert (line.new.freedom, line.new.freedoms) == (None, (1.0, 8.0))
    assert math.log(line.ratio) == pytest.approx(distance)
    assert math.log(line.high) - distance == pytest.approx(half(0.05), rel=1e-9)
    assert half(line.pvalue) == pytest.approx(abs(distance), rel=1e-9)
    assert line.pvalue_welch < line.pvalue
    (turned,) = compared(apart(x, y), answer({"b": d.tolist()})).benchmarks
    assert turned.pvalue == pytest.approx(line.pvalue, rel=1e-9)


def test_more_sessions_of_sides_of_unequal_numbers_decide_by_their_own_law(answer):
    # the chance by simulation of both sides with so many more sessions each, and with one less
    rng = np.random.default_rng(13)
    old = answer({"b": rng.normal(0.05, 0.005, 8).tolist()})
    x, y = np.array([0.0, 0.07]), rng.normal(0, 0.01, 8)
    (line,) = compared(old, apart(x, y)).benchmarks
    assert (line.reason, line.new.outcome) == ("too-wide", "undecided")
    effect, rates = math.log(line.old.speedup), []
    for fewer in (0, 1):
        more = line.more_sessions.sessions - fewer
        sides = [row.std(ddof=1) * rng.standard_normal((40_000, row.size + more)) for row in (x, y)]
        half = np.hypot(*(stats.t.isf(0.025, s.shape[1] - 1) * stats.sem(s, axis=1) for s in sides))
        rates.append(np.mean(np.abs(effect + sides[0].mean(1) - sides[1].mean(1)) > half))
    assert rates[1] < 0.8 + 0.008  # 4 standard errors
    assert rates[0] >= 0.8 - 0.008


def test_intervals_that_overlap_may_differ_all_the_same(answer):
    # two equally wide intervals that overlap by a fifth: the negative control of looking at them
    shape = np.array([-1.5, -0.5, 0.5, 1.5]) / 100
    shape = np.concatenate([shape, -shape, shape])
    half = stats.t.isf(0.025, 11) * shape.std(ddof=1) / math.sqrt(12)
    old, new = (answer({"b": (0.2 + shift + shape).tolist()}) for shift in (0.0, 1.8 * half))
    (line,) = compared(old, new, margin=0.0).benchmarks
    assert line.new.low < line.old.high
    assert line.pvalue < 0.05
    assert (line.difference, line.agreement) == ("larger", "differs")


@pytest.mark.parametrize("grown", [True, False])
def test_a_side_without_spread_or_a_known_clock_is_not_compared(answer, grown):
    flat, other = answer({"b": [0.0] * 3}), answer({"b": [0.2, 0.21, 0.23]})
    sides = (other, flat) if grown else (flat, other)
    (line,) = compared(*sides).benchmarks
    assert line.reason == f"no-spread-{'new' if grown else 'old'}"
    assert (line.agreement, line.pvalue, line.difference) == ("cannot tell", None, None)


def counted(new, old, sessions=5):
    """Judge two counts, one number a side in all sessions."""
    ids = {bench: list(range(sessions)) for bench in "xy"}
    sides = [
        PerformanceMatrix.from_samples(
            name, dict.fromkeys("xy", [value] * sessions), better="lower", unit="B", sessions=ids
        )
        for name, value in (("new", new), ("base", old))
    ]
    return multilevel(*sides)


@pytest.mark.parametrize(
    ("first", "second", "agreement"),
    [
        ((100.0, 100.0), (100.0, 100.0), "agrees"),
        ((110.0, 100.0), (120.0, 100.0), "differs"),  # authority: rules-2, 1a, a trial for a side
        ((11000.0, 10000.0), (11050.0, 10000.0), "agrees"),
        ((100.0, 100.0), (110.0, 100.0), "differs"),
    ],
)
def test_counts_that_do_not_vary_are_held_by_their_words_and_have_their_sessions(
    first, second, agreement
):
    found = compared(counted(*first), counted(*second))
    lines = (*found.benchmarks, found.these)
    assert [(x.agreement, x.reason) for x in lines] == [(agreement, None)] * 3
    assert {side.sessions for x in lines for side in (x.old, x.new)} == {5}
    pvalue = None if first == second else pytest.approx(2 * 4.0**-5)
    assert [x.pvalue for x in lines] == [pvalue] * 3
    assert found.these.old.outcome == ("slower" if first[0] > first[1] else "equivalent")
    partly = "partly" if first[0] > first[1] else "not"
    assert found.word == ("reproduced" if agreement == "agrees" else partly)


def test_counts_of_too_few_sessions_for_their_risk_are_no_trial_of_one_session():
    few = compared(counted(110.0, 100.0), counted(110.0, 100.0, sessions=3))
    assert [(x.new.reason, x.agreement) for x in few.benchmarks] == [
        ("few-sessions", "compatible")
    ] * 2


@pytest.mark.parametrize(
    ("sessions", "reason"), [((1, 4), "old"), ((4, 1), "new"), ((1, 1), "old")]
)
def test_one_session_says_nothing_of_a_difference(answer, sessions, reason):
    rng = np.random.default_rng(3)
    old, new = (answer({"b": rng.normal(0.3, 0.01, n).tolist()}) for n in sessions)
    found = compared(old, new)
    (line,) = found.benchmarks
    assert (line.agreement, line.reason) == ("cannot tell", f"one-session-{reason}")
    assert (line.pvalue, line.low, line.difference) == (None, None, None)
    assert line.ratio == pytest.approx(line.new.speedup / line.old.speedup)
    assert found.word == "cannot tell"
    if sessions == (4, 1):  # the old trial says how far sessions are apart
        assert line.more_sessions.target == "faster"
        assert line.more_sessions.sessions >= 1
    else:
        assert line.more_sessions is None


def test_a_short_trial_that_could_not_have_seen_the_effect_cannot_tell(answer):
    rng = np.random.default_rng(5)
    old = answer({"b": rng.normal(0.05, 0.005, 8).tolist()})
    new = answer({"b": [0.00, 0.08]})  # t with one degree of freedom: half-width 0.5
    (line,) = compared(old, new).benchmarks
    assert (line.old.outcome, line.new.outcome) == ("faster", "undecided")
    assert (line.agreement, line.reason) == ("cannot tell", "too-wide")
    assert line.more_sessions.target == "faster"
    # with so many sessions t sees the effect of 5 % at the spread of 5.7 % with a chance of 80 %
    n = 2 + line.more_sessions.sessions
    powers = [power(0.05, 0.08 / math.sqrt(2), n - k) for k in (0, 1)]
    assert powers[0] >= 0.79
    assert powers[1] < 0.81


def power(effect, sd, sessions):
    c = stats.t.isf(0.025, sessions - 1)
    shift = effect / (sd / math.sqrt(sessions))
    return stats.nct.sf(c, sessions - 1, shift) + stats.nct.cdf(-c, sessions - 1, shift)


def test_a_long_trial_that_should_have_seen_it_and_did_not_is_no_excuse(answer):
    rng = np.random.default_rng(6)
    old = answer({"b": rng.normal(0.05, 0.005, 8).tolist()})
    new = answer({"b": rng.normal(0.0, 0.005, 8).tolist()})
    (line,) = compared(old, new).benchmarks
    assert (line.agreement, line.difference) == ("differs", "smaller")


def test_a_proven_difference_within_the_margin_is_none(answer):
    rng = np.random.default_rng(7)
    old, new = (answer({"b": rng.normal(e, 0.0005, 10).tolist()}) for e in (0.200, 0.204))
    (line,) = compared(old, new).benchmarks
    assert line.pvalue < 1e-6
    assert (line.difference, line.agreement) == ("equivalent", "agrees")
    (line,) = compared(old, new, margin=0.001).benchmarks
    assert (line.difference, line.agreement) == ("larger", "differs")


def test_one_family_holds_the_benchmarks_of_all_candidates(answer):
    rng = np.random.default_rng(8)
    both = [
        [answer({f"b{k}": rng.normal(0, 0.01, 5).tolist() for k in range(3)}) for _ in range(2)]
        for _ in range(2)
    ]
    found = compare_answers(
        [EffectPairs(old=old, new=new) for old, new in both], confidence=0.95, margin=0.01
    )
    lines = [line for one in found for line in one.benchmarks]
    least = min(lines, key=lambda line: line.pvalue)
    assert least.pvalue_adjusted == pytest.approx(min(1.0, 6 * least.pvalue))
    suites = [one.these for one in found]
    least = min(suites, key=lambda line: line.pvalue)
    assert least.pvalue_adjusted == pytest.approx(min(1.0, 2 * least.pvalue))
