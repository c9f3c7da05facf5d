"""Hosts as the outermost level: the formulas of docs/fleet.md, computed here once more by hand."""

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

from analysis.data.matrix import PerformanceMatrix
from analysis.errors import InsufficientDataError
from analysis.methods.multilevel.compare import multilevel
from analysis.methods.multilevel.hosts import over_hosts
from tests.examples import examples


def host(seed, shift, *, sessions=4, runs=3, benchmarks=("x", "y", "z"), noise=0.01, **options):
    """Judge a host whose sessions' differences scatter about a shift of the logs."""
    rng = np.random.default_rng(seed)
    ids = {name: np.repeat(np.arange(sessions), runs).tolist() for name in benchmarks}

    def side(name, moved):
        values = {
            bench: np.exp(
                moved
                + np.repeat(rng.normal(0, noise, sessions), runs)
                + rng.normal(0, noise, sessions * runs)
            )
            for bench in benchmarks
        }
        return PerformanceMatrix.from_samples(name, values, better="lower", sessions=ids)

    return multilevel(side("new", -shift), side("old", 0.0), **options)


def fleet(shifts, **options):
    return {f"lab{k}": host(k, shift, **options) for k, shift in enumerate(shifts, 1)}


def test_on_these_hosts_is_the_mean_with_independent_errors():
    # authority: equation (1), with Satterthwaite's formula written out
    results = fleet([0.1, 0.12, 0.2])
    _, level = over_hosts(results)
    for k, line in enumerate(level.benchmarks):
        own = [one.benchmarks[k] for one in results.values()]
        mean = np.mean([math.log(one.speedup) for one in own])
        parts = np.array([one.error for one in own]) ** 2 / 9
        freedom = parts.sum() ** 2 / (parts**2 / 3).sum()
        half = stats.t.isf(0.025, freedom) * math.sqrt(parts.sum())
        assert math.log(line.speedup) == pytest.approx(mean)
        assert line.freedom == pytest.approx(freedom)
        assert math.log(line.low) == pytest.approx(mean - half)
        t = mean / math.sqrt(parts.sum())
        assert line.pvalue == pytest.approx(2 * stats.t.sf(abs(t), freedom))


def test_on_hosts_like_these_adds_the_spread_of_the_hosts():
    # authority: equation (2)
    results = fleet([0.1, 0.12, 0.2, 0.05])
    whole, level = over_hosts(results)
    assert whole.design == "hosts"
    assert whole.sessions == level.sessions == 16
    for line, own in zip(whole.benchmarks, level.benchmarks, strict=True):
        k = [one.name for one in whole.benchmarks].index(line.name)
        logs = [math.log(one.benchmarks[k].speedup) for one in results.values()]
        inner = math.log(own.high / own.low) / 2
        outer = stats.t.isf(0.025, 3) * np.std(logs, ddof=1) / 2
        assert math.log(line.high / line.low) / 2 == pytest.approx(math.hypot(inner, outer))
        assert line.differences == pytest.approx(logs)
        assert line.session_ids == ("lab1", "lab2", "lab3", "lab4")
        assert level.spread[line.name] == pytest.approx(math.expm1(np.std(logs, ddof=1)))
    suites = [math.log(one.these.speedup) for one in results.values()]
    assert math.log(whole.these.speedup) == pytest.approx(np.mean(suites))
    variance = sum(one.these.error**2 for one in results.values()) / 16
    assert level.these.error == pytest.approx(math.sqrt(variance))


@settings(max_examples=examples(40))
@given(
    st.lists(st.floats(-0.3, 0.3), min_size=2, max_size=6),
    st.integers(0, 99),
    st.sampled_from(["holm", "bh", "none"]),
)
def test_the_wider_line_holds_the_narrower_and_words_follow_their_intervals(
    shifts, seed, correction
):
    results = {
        f"h{k}": host(seed + k, shift, benchmarks=("x", "y"), correction=correction)
        for k, shift in enumerate(shifts)
    }
    whole, level = over_hosts(results)
    pairs = [*zip(level.benchmarks, whole.benchmarks, strict=True)]
    pairs += [(level.these, whole.these), (level.similar, whole.similar)]
    for own, wide in pairs:
        assert wide.low <= own.low <= own.speedup <= own.high <= wide.high
    assert whole.similar.low <= whole.these.low
    assert level.similar.high >= level.these.high
    for line in (*whole.benchmarks, whole.these):
        outside = line.low > 1 or line.high < 1
        assert (line.pvalue <= 0.05) == outside
        assert 0 < line.pvalue <= 1
        inside = line.low > 1 / 1.01 and line.high < 1.01
        assert (line.pvalue_equivalent <= 0.025) == inside


def test_the_order_of_hosts_changes_nothing():
    results = fleet([0.1, 0.3, 0.05, 0.12])
    turned = dict(reversed(results.items()))
    (a, own_a), (b, own_b) = over_hosts(results), over_hosts(turned)
    for one, other in zip(a.benchmarks, b.benchmarks, strict=True):
        assert one.low == pytest.approx(other.low)
        assert one.pvalue == pytest.approx(other.pvalue)
    names = [{(d.host, d.benchmark) for d in level.disagreements} for level in (own_a, own_b)]
    assert names[0] == names[1]


def test_a_host_that_disagrees_is_named_and_the_others_are_not():
    results = fleet([0.1, 0.1, 0.3, 0.1, 0.1, 0.1], sessions=6)
    _, level = over_hosts(results)
    assert {one.host for one in level.disagreements} == {"lab3"}
    assert {one.benchmark for one in level.disagreements} == {"x", "y", "z"}
    assert {one.difference for one in level.disagreements} == {"larger"}
    assert level.tests == 18
    for one in level.disagreements:
        assert one.ratio == pytest.approx(one.speedup / one.rest)
        assert one.pvalue_adjusted <= 0.05
        assert one.low > 1


def test_hosts_that_agree_are_not_named():
    # the negative control
    _, level = over_hosts(fleet([0.1] * 6, sessions=6))
    assert level.disagreements == ()


def test_two_hosts_are_compared_once():
    _, level = over_hosts(fleet([0.1, 0.4], sessions=6))
    assert {one.host for one in level.disagreements} == {"lab2"}
    assert level.tests == 3


def test_a_benchmark_that_a_host_lacks_is_left_out_of_the_suite_and_named():
    results = fleet([0.1, 0.12, 0.14]) | {"few": host(9, 0.1, benchmarks=("x", "y"))}
    whole, level = over_hosts(results)
    assert level.left_out == ("z",)
    assert "benchmark-not-on-all-hosts" in [one.code for one in whole.cautions]
    assert whole.benchmarks[2].session_ids == ("lab1", "lab2", "lab3")
    common = [
        np.mean([math.log(line.speedup) for line in one.benchmarks[:2]]) for one in results.values()
    ]
    assert math.log(whole.these.speedup) == pytest.approx(np.mean(common))
    # its error is again that of the sessions' means over the benchmarks that are left
    both = [np.array([line.differences for line in r.benchmarks[:2]]) for r in results.values()]
    variance = sum(d.mean(axis=0).var(ddof=1) / 4 for d in both) / 16
    assert level.these.error == pytest.approx(math.sqrt(variance))


def test_hosts_of_one_session_of_one_run_leave_the_spread_of_the_hosts():
    results = fleet([0.1, 0.12, 0.2], sessions=1, runs=1)
    whole, level = over_hosts(results)
    logs = [math.log(one.benchmarks[0].speedup) for one in results.values()]
    half = stats.t.isf(0.025, 2) * np.std(logs, ddof=1) / math.sqrt(3)
    assert level.benchmarks[0].low is None
    assert math.log(whole.benchmarks[0].high / whole.benchmarks[0].low) / 2 == pytest.approx(half)
    assert level.disagreements == ()


@pytest.mark.parametrize("effect", [0.0, 0.1])
def test_hosts_whose_sessions_do_not_differ_decide_nothing(effect):
    results = fleet([effect] * 2, noise=0.0)
    whole, level = over_hosts(results)
    for line in (whole.benchmarks[0], level.benchmarks[0]):
        assert (line.low, line.outcome, line.reason) == (None, "undecided", "no-spread")


def test_looks_share_the_level():
    results = fleet([0.1, 0.12, 0.2])
    once, _ = over_hosts(results)
    twice, _ = over_hosts(results, looks=2)
    assert twice.looks == 2
    assert twice.benchmarks[0].high > once.benchmarks[0].high
    assert twice.benchmarks[0].pvalue == pytest.approx(once.benchmarks[0].pvalue)


def test_one_host_is_no_fleet():
    with pytest.raises(InsufficientDataError, match="there is one"):
        over_hosts(fleet([0.1]))


def test_more_hosts_are_advised_where_hosts_like_these_are_undecided():
    whole, level = over_hosts(fleet([0.02, 0.2, 0.1]))
    assert whole.benchmarks[0].outcome == "undecided"
    advised = {one.benchmark: one for one in level.more_hosts}
    assert set(advised) == {"x", "y", "z", None}
    assert 1 <= advised["x"].hosts <= 200
    assert advised["x"].target == "faster"
