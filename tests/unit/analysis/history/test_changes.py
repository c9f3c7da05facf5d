"""Changes of a series and alarms. Authority: the definitions by hand, scipy's Welch t, enumeration of orders."""

import itertools
import json
import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.stats import mannwhitneyu, t, ttest_ind

from analysis import changes
from analysis.errors import AnalysisError, UsageError
from analysis.history.changes import (
    GRID,
    LENGTHS,
    autocorrelation,
    best_split,
    inflation_for,
    law_of,
    looked_at,
    order_of,
    pvalues,
    tails,
    windows_of,
)
from tests.examples import examples

SERIES = st.lists(st.floats(-1, 1, allow_subnormal=False), min_size=0, max_size=60)


def night(n: int, seed: int, sd: float = 0.01) -> np.ndarray:
    return np.random.default_rng(seed).normal(0, sd, n)


def alike(r: float, n: int, sd: float, seed: int) -> np.ndarray:
    noise = night(n, seed, sd)
    for k in range(1, n):
        noise[k] = r * noise[k - 1] + math.sqrt(1 - r * r) * noise[k]
    return noise


def stepped(n: int, place: int, size: float, seed: int = 1) -> np.ndarray:
    x = night(n, seed)
    x[place:] += math.log1p(size)
    return x


def test_a_step_is_found_with_its_place_and_size() -> None:
    x = stepped(60, 30, 0.05)
    found = changes(x)
    (one,) = found.intervals
    assert one.first <= 30 <= one.last
    assert found.places == (30,)
    (step,) = found.steps
    assert step.speedup == pytest.approx(math.exp(x[:30].mean() - x[30:].mean()), rel=1e-12)
    assert (
        step.level == 1 - 0.05 / 120
    )  # rules-2, section 6: it holds after the choice of the place
    welch = ttest_ind(x[:30], x[30:], equal_var=False).confidence_interval(step.level)
    assert (step.low, step.high) == pytest.approx(
        (math.exp(welch.low), math.exp(welch.high)), rel=1e-9
    )
    assert found.p_star is not None
    assert one.pvalue <= found.p_star
    assert found.pvalue is not None
    assert found.pvalue <= 0.05


def test_no_step_no_interval() -> None:  # the negative control, one of many series
    found = changes(night(60, 3))
    assert found.intervals == found.places == found.steps == ()
    assert found.pvalue is not None
    assert found.pvalue > 0.05


def test_two_steps_have_intervals_of_their_own() -> None:
    x = stepped(90, 30, 0.05)
    x[60:] -= math.log1p(0.05)
    found = changes(x)
    assert found.places == (30, 60)
    first, second = found.steps
    assert first.speedup < 1 < second.speedup
    assert found.intervals[0].last < found.intervals[1].first


@given(SERIES)
@settings(max_examples=examples(100), deadline=None)
def test_intervals_are_disjoint_ordered_and_hold_their_places(values: list[float]) -> None:
    found = changes(values)
    n = len(values)
    for one, place in zip(found.intervals, found.places, strict=True):
        assert 1 <= one.first <= place <= one.last <= n - 1
        assert one.pvalue <= (found.p_star or 0)
    for one, other in itertools.pairwise(found.intervals):
        assert one.last < other.first
    assert len(found.steps) == len(found.places)
    json.dumps(found.to_dict(), allow_nan=False)
    assert str(found)


@given(st.integers(8, 19), st.integers(0, 10_000))
@settings(max_examples=examples(60), deadline=None)
def test_ranks_are_all_that_intervals_know(n: int, seed: int) -> None:
    x = stepped(n, n // 2, 0.03, seed)
    shown = [(one.first, one.last, one.pvalue) for one in changes(x).intervals]
    assert shown == [(one.first, one.last, one.pvalue) for one in changes(np.exp(50 * x)).intervals]


@given(st.integers(8, 130), st.integers(0, 10_000))
@settings(max_examples=examples(60), deadline=None)
def test_turned_round_a_series_has_the_same_least_p(n: int, seed: int) -> None:
    x = night(n, seed)
    forward, backward = changes(x), changes(x[::-1].copy())
    assert forward.least_p == pytest.approx(backward.least_p, rel=1e-9)


def test_fewer_than_eight_values_have_no_interval() -> None:
    found = changes(stepped(7, 3, 1.0))
    assert (found.p_star, found.least_p, found.intervals) == (None, None, ())
    assert "too-few-nights" in [one.code for one in found.cautions]
    assert found.alarm(1.02).word == "undecided"
    assert changes([]).intervals == ()


def test_equal_values_have_neither_interval_nor_number() -> None:
    found = changes(np.zeros(40))
    assert found.intervals == ()
    assert found.inflation == 1.0
    assert found.alarm().word == "undecided"


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_a_value_that_is_not_finite_is_refused(bad: float) -> None:
    with pytest.raises(AnalysisError, match="value 3 of 10"):
        changes([0.0] * 3 + [bad] + [0.0] * 6)


def test_times_in_the_place_of_their_logarithms_are_refused() -> None:
    # seen: nanoseconds, not their logarithms, ended with a ZeroDivisionError when they were printed
    nanoseconds = 5e9 * np.exp(stepped(40, 20, 0.1, seed=2))
    with pytest.raises(AnalysisError, match=r"too far apart for log(?s:.*)numpy\.log\(times"):
        changes(nanoseconds)
    assert changes(np.log(nanoseconds)).places == (20,)


def test_risks_and_lengths_outside_of_the_table_are_refused() -> None:
    for risk in (0.0005, 0.3, math.nan):
        with pytest.raises(UsageError, match="risk"):
            changes(night(20, 1), risk=risk)
    with pytest.raises(AnalysisError, match="newest 400"):
        changes(night(401, 1))


def test_a_smaller_risk_asks_for_a_smaller_p() -> None:
    thresholds = [changes(night(100, 1), risk=risk).p_star for risk in (0.001, 0.01, 0.05, 0.2)]
    assert thresholds == sorted(thresholds)
    assert len(set(thresholds)) == 4


def test_the_law_is_on_the_safe_side_between_its_lengths() -> None:
    for n in LENGTHS[:-1]:
        assert law_of(n + 1).threshold(0.05) <= law_of(n).threshold(0.05)
    law = law_of(130)
    for risk in (0.001, 0.01, 0.05, 0.2):
        assert law.risk_of(law.threshold(risk)) <= risk * (1 + 1e-9)
        assert law.risk_of(law.threshold(risk) * 1.01) > risk * 0.99


def test_autocorrelation_by_hand_and_of_a_known_process() -> None:
    x = np.array([0.0, 1.0, 0.5, 2.0, 1.5, 9.0, 9.5, 8.0, 9.0, 10.0])
    split = best_split(x, 1, 9)
    assert split == 5
    e = np.concatenate([x[:5] - x[:5].mean(), x[5:] - x[5:].mean()])
    one, two = np.diff(e) ** 2, (e[2:] - e[:-2]) ** 2
    ratio = (
        np.minimum(two, np.quantile(two, 0.75)).mean()
        / np.minimum(one, np.quantile(one, 0.75)).mean()
    )
    assert autocorrelation(x) == pytest.approx(np.clip(ratio - 1, -0.3, 0.9), rel=1e-12)
    rng = np.random.default_rng(2)
    found = []
    for r in (0.0, 0.5):
        noise = rng.normal(size=4000)
        series = np.zeros(4000)
        for k in range(1, 4000):
            series[k] = r * series[k - 1] + noise[k]
        found.append(autocorrelation(series))
    assert found[0] == pytest.approx(0.0, abs=0.1)
    assert found[1] == pytest.approx(0.5, abs=0.1)


def test_inflation_only_beyond_chance() -> None:
    assert inflation_for(None, 10) == inflation_for(0.1, 100) == inflation_for(-0.2, 100) == 1.0
    assert inflation_for(0.5, 100) == pytest.approx(math.sqrt(3), rel=1e-12)


@pytest.mark.parametrize(("m", "n"), [(2, 5), (3, 5), (2, 7)])
def test_the_order_of_an_alarm_by_enumeration(m: int, n: int) -> None:
    # authority: all places that m new values may have among n + m, each as likely
    places = list(itertools.combinations(range(n + m), m))
    for risk in (0.01, 0.05, 0.1, 0.3, 0.6):
        chances = []
        for j in range(1, n + 1):
            above = 0
            for new in places:
                reference = sorted((k for k in range(n + m) if k not in new), reverse=True)
                above += min(new) > reference[j - 1]
            chances.append(above / len(places))
        expected = max((j for j, chance in enumerate(chances, 1) if chance <= risk), default=0)
        assert order_of(m, n, risk) == expected


def test_nights_that_an_alarm_takes() -> None:
    # history-and-bisect's figures: with 100 nights and 5 % it takes 8, 6, 4, 3, 2 nights from n = 8, 11, 20, 38, 140 on
    each = 0.05 / 100 / 5
    for m, n in ((8, 8), (6, 11), (4, 20), (3, 38), (2, 140)):
        assert order_of(m, n, each) >= 1
        assert order_of(m, n - 1, each) == 0


def test_an_alarm_is_proven_ruled_out_or_neither() -> None:
    slow = stepped(60, 50, 0.10)
    alarm = changes(slow).alarm(1.02, since=50)
    assert (alarm.word, alarm.reference) == ("proven", 50)
    assert alarm.nights in (2, 3)
    quiet = changes(night(60, 5)).alarm(1.02, since=50)
    assert quiet.word == "ruled-out"
    assert changes(stepped(60, 50, 0.02)).alarm(1.02, since=50).word == "undecided"
    assert changes(night(60, 5)).alarm(1.02, since=5).word == "undecided"  # a reference of five


def within(reference, new, inflation=1.0):
    """Give the half width of research/rules-2.md, section 6, by its formula."""
    n, m = reference.size, new.size
    v, w = reference.var(ddof=1), new.var(ddof=1)
    pooled = ((n - 1) * v + (m - 1) * w) / (n + m - 2) * (1 / n + 1 / m)
    banerjee = t.ppf(0.975, n - 1) ** 2 * v / n + t.ppf(0.975, m - 1) ** 2 * w / m
    return inflation * max(t.ppf(0.975, n + m - 2) * math.sqrt(pooled), math.sqrt(banerjee))


@pytest.mark.parametrize("scatter", [0.2, 1.0, 5.0])
def test_what_is_within_the_limit_holds_where_the_newest_nights_scatter_more(scatter) -> None:
    words = set()
    for seed in range(1, 20):
        x = night(63, seed)
        x[60:] *= scatter
        found = changes(x)
        bound = float(x[60:].mean() - x[:60].mean()) + within(x[:60], x[60:], found.inflation)
        for limit, word in ((bound + 1e-9, "ruled-out"), (bound - 1e-9, "undecided")):
            assert found.alarm(math.exp(limit), since=60).word == word
        words.add(found.alarm(1.02, since=60).word)
    assert ("ruled-out" in words) == (scatter < 5)


def test_nights_that_depend_on_each_other_and_a_slow_drift_are_not_passed() -> None:
    depends = changes(alike(0.9, 138, 0.003, seed=3))
    alarm = depends.alarm(1.02, since=130)
    assert depends.autocorrelation > 0.5
    assert (alarm.word, alarm.reason) == ("undecided", "nights-depend")
    assert changes(alike(0.0, 138, 0.003, seed=3)).alarm(1.02, since=130).word == "ruled-out"
    drift = night(130, 4) * 0.3 + 0.001 * np.arange(130)
    assert (changes(drift).alarm(1.02).word, changes(drift).alarm(1.02).reason) == (
        "undecided",
        "drift",
    )
    assert changes(drift).alarm(1.5).word == "ruled-out"  # 13 % are within 50 %
    assert changes(drift[-23:]).alarm(1.02).reason is None  # fewer than 24 nights


@pytest.mark.parametrize(("before", "takes", "seed"), [(8, 8, 2), (20, 8, 2), (60, 6, 1)])
def test_a_change_among_the_newest_nights_raises_the_alarm_that_it_is(before, takes, seed) -> None:
    """Authority: the law of order statistics; the windows find the change on the same night or before."""
    found = changes(stepped(before + takes, before, 0.10, seed))
    alarm = found.alarm(1.02)
    assert found.intervals
    assert (alarm.word, alarm.reference) == ("proven", before + takes - 8)
    # the negative control: once it lies behind the newest 8, what came since it is the reference
    settled = changes(stepped(before + 30, before, 0.10, seed))
    assert settled.intervals[-1].last <= before + 22
    alarm = settled.alarm(1.02)
    assert alarm.word != "proven"
    assert alarm.reference == before + 22 - settled.intervals[-1].last


def test_directions_mirror() -> None:
    x = stepped(60, 50, 0.10)
    slower = changes(x).alarm(1.02, since=50)
    faster = changes(-x).alarm(1 / 1.02, since=50, direction="faster")
    assert (slower.word, slower.nights) == (faster.word, faster.nights)


def test_several_series_share_the_risk() -> None:
    found = changes(night(60, 5))
    assert found.alarm(series=10).risk_each == pytest.approx(found.alarm().risk_each / 10)
    assert found.alarm(horizon=10).risk_each == pytest.approx(0.05 / 10 / 5)


@pytest.mark.parametrize(
    "wrong", [{"limit": 0.0}, {"since": 99}, {"horizon": 0}, {"series": 0}, {"direction": "up"}]
)
def test_wrong_questions_of_an_alarm_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        changes(night(20, 1)).alarm(**{"limit": 1.0, **wrong})


# ---- Windows of ranks. Authority: scipy's mannwhitneyu, and enumeration of all orders.


RNG = np.random.default_rng(20261127)


def total(x: np.ndarray, y: np.ndarray) -> int:
    """Count the pairs in which y is larger, less those in which x is."""
    return int(np.sign(y[None, :] - x[:, None]).sum())


@pytest.mark.parametrize(("a", "b"), [(2, 2), (2, 16), (3, 5), (8, 8), (13, 10), (16, 16)])
def test_p_is_that_of_scipy_where_it_is_exact(a: int, b: int) -> None:
    for _ in range(20):
        x, y = RNG.normal(size=a), RNG.normal(0.5, 1, b)
        p = float(pvalues(np.array([total(x, y)]), a, b)[0])
        assert p == pytest.approx(mannwhitneyu(y, x, method="exact").pvalue, rel=1e-12)


@pytest.mark.parametrize(("a", "b"), [(20, 20), (5, 32), (40, 128)])
def test_p_is_that_of_scipy_where_it_is_normal(a: int, b: int) -> None:
    x, y = RNG.normal(size=a), RNG.normal(0.5, 1, b)
    p = float(pvalues(np.array([total(x, y)]), a, b)[0])
    expected = mannwhitneyu(y, x, method="asymptotic", use_continuity=True).pvalue
    assert p == pytest.approx(expected, rel=1e-9)


def test_all_orders_of_five_and_three_values() -> None:
    found = []
    for places in itertools.combinations(range(8), 3):
        y = np.array(places, dtype=float)
        x = np.array([k for k in range(8) if k not in places], dtype=float)
        found.append(int((y[None, :] > x[:, None]).sum()))
    for u, p in enumerate(tails(5, 3)):
        far = sum(abs(one - 7.5) >= abs(u - 7.5) for one in found)
        assert p == pytest.approx(far / math.comb(8, 3), abs=1e-15)


def test_a_tie_takes_the_larger_p_of_the_two_neighbours() -> None:
    x, y = np.array([1.0, 2.0, 3.0]), np.array([3.0, 4.0, 5.0])  # U is 8.5 of 9
    p = float(pvalues(np.array([total(x, y)]), 3, 3)[0])
    assert p == max(tails(3, 3)[8], tails(3, 3)[9]) == tails(3, 3)[8]
    assert float(pvalues(np.array([0]), 3, 3)[0]) == 1.0


def test_each_window_is_that_of_its_two_sides() -> None:
    x = RNG.normal(size=23)
    windows = windows_of(x)
    pairs = {(a, b) for a in GRID for b in GRID if a + b <= x.size}
    assert windows.place.size == sum(x.size - a - b + 1 for a, b in pairs)
    for k, a, b, p in zip(
        windows.place, windows.before, windows.behind, windows.pvalue, strict=True
    ):
        s = np.array([total(x[k - a : k], x[k : k + b])])
        assert p == pvalues(s, int(a), int(b))[0]
    # kept are those that some level may name
    kept, limit = looked_at(x, corrected=False), law_of(x.size).threshold(0.2)
    assert kept.windows.pvalue.tolist() == [p for p in windows.pvalue if p <= limit]


def test_an_inflation_divides_the_normal_quantile() -> None:
    from scipy.stats import norm

    x = RNG.normal(size=20)
    plain, inflated = windows_of(x).pvalue, windows_of(x, 1.5).pvalue
    assert inflated == pytest.approx(2 * norm.cdf(norm.ppf(plain / 2) / 1.5), rel=1e-9)
    assert (inflated[plain < 1] > plain[plain < 1]).all()


def test_too_few_values_have_no_window() -> None:
    assert windows_of(np.array([1.0, 2.0, 3.0])).pvalue.size == 0
    assert windows_of(np.array([])).pvalue.size == 0
