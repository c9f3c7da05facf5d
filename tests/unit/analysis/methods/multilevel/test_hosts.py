"""Hosts as the outermost level: the formulas of docs/fleet.md, computed here once more by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import optimize, stats

from analysis.data.fleet import said_of_hosts
from analysis.data.matrix import PerformanceMatrix
from analysis.errors import InsufficientDataError
from analysis.methods.multilevel.compare import multilevel
from analysis.methods.multilevel.hosts import over_hosts
from analysis.pages.model import Caution
from analysis.verdict.gate import gate
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
    level = over_hosts(results).hosts
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
    whole = over_hosts(results)
    assert whole.design == "hosts"
    assert whole.sessions == whole.hosts.sessions == 16
    for line, own in zip(whole.benchmarks, whole.hosts.benchmarks, strict=True):
        k = [one.name for one in whole.benchmarks].index(line.name)
        logs = [math.log(one.benchmarks[k].speedup) for one in results.values()]
        inner = math.log(own.high / own.low) / 2
        outer = stats.t.isf(0.025, 3) * np.std(logs, ddof=1) / 2
        assert math.log(line.high / line.low) / 2 == pytest.approx(math.hypot(inner, outer))
        assert line.differences == pytest.approx(logs)
        assert line.session_ids == ("lab1", "lab2", "lab3", "lab4")
        assert whole.hosts.spread[line.name] == pytest.approx(math.expm1(np.std(logs, ddof=1)))
    suites = [math.log(one.these.speedup) for one in results.values()]
    assert math.log(whole.these.speedup) == pytest.approx(np.mean(suites))
    variance = sum(one.these.error**2 for one in results.values()) / 16
    assert whole.hosts.these.error == pytest.approx(math.sqrt(variance))


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
    whole = over_hosts(results)
    pairs = [*zip(whole.hosts.benchmarks, whole.benchmarks, strict=True)]
    pairs += [(whole.hosts.these, whole.these), (whole.hosts.similar, whole.similar)]
    for own, wide in pairs:
        assert wide.low <= own.low <= own.speedup <= own.high <= wide.high
    assert whole.similar.low <= whole.these.low
    assert whole.hosts.similar.high >= whole.hosts.these.high
    for line in (*whole.benchmarks, whole.these):
        outside = line.low > 1 or line.high < 1
        assert (line.pvalue <= 0.05) == outside
        assert 0 < line.pvalue <= 1
        inside = line.low > 1 / 1.01 and line.high < 1.01
        assert (line.pvalue_equivalent <= 0.025) == inside


def test_the_order_of_hosts_changes_nothing():
    results = fleet([0.1, 0.3, 0.05, 0.12])
    turned = dict(reversed(results.items()))
    a, b = over_hosts(results), over_hosts(turned)
    for one, other in zip(a.benchmarks, b.benchmarks, strict=True):
        assert one.low == pytest.approx(other.low)
        assert one.pvalue == pytest.approx(other.pvalue)
    names = [{(d.host, d.benchmark) for d in level.disagreements} for level in (a.hosts, b.hosts)]
    assert names[0] == names[1]


def test_a_host_that_disagrees_is_named_and_the_others_are_not():
    results = fleet([0.1, 0.1, 0.3, 0.1, 0.1, 0.1], sessions=6)
    level = over_hosts(results).hosts
    assert {one.host for one in level.disagreements} == {"lab3"}
    assert {one.benchmark for one in level.disagreements} == {"x", "y", "z"}
    assert {one.difference for one in level.disagreements} == {"larger"}
    assert level.tests == 18
    for one in level.disagreements:
        assert one.ratio == pytest.approx(one.speedup / one.rest)
        assert one.pvalue_adjusted <= 0.05
        assert one.low > 1
    alike = over_hosts(fleet([0.1] * 6, sessions=6))  # the negative control
    assert alike.hosts.disagreements == ()


def test_two_hosts_are_compared_once():
    level = over_hosts(fleet([0.1, 0.4], sessions=6)).hosts
    assert ({one.host for one in level.disagreements}, level.tests) == ({"lab2"}, 3)


def test_a_benchmark_that_a_host_lacks_is_left_out_of_the_suite_and_named():
    results = fleet([0.1, 0.12, 0.14]) | {"few": host(9, 0.1, benchmarks=("x", "y"))}
    whole = over_hosts(results)
    assert whole.hosts.left_out == ("z",)
    assert "benchmark-not-on-all-hosts" in [one.code for one in whole.cautions]
    assert whole.benchmarks[2].session_ids == ("lab1", "lab2", "lab3")
    common = [
        np.mean([math.log(line.speedup) for line in one.benchmarks[:2]]) for one in results.values()
    ]
    assert math.log(whole.these.speedup) == pytest.approx(np.mean(common))
    # its error is again that of the sessions' means over the benchmarks that are left
    both = [np.array([line.differences for line in r.benchmarks[:2]]) for r in results.values()]
    variance = sum(d.mean(axis=0).var(ddof=1) / 4 for d in both) / 16
    assert whole.hosts.these.error == pytest.approx(math.sqrt(variance))


def test_hosts_of_one_session_of_one_run_leave_the_spread_of_the_hosts():
    results = fleet([0.1, 0.12, 0.2], sessions=1, runs=1)
    whole = over_hosts(results)
    logs = [math.log(one.benchmarks[0].speedup) for one in results.values()]
    half = stats.t.isf(0.025, 2) * np.std(logs, ddof=1) / math.sqrt(3)
    assert whole.hosts.benchmarks[0].low is None
    assert math.log(whole.benchmarks[0].high / whole.benchmarks[0].low) / 2 == pytest.approx(half)
    assert whole.hosts.disagreements == ()


def test_what_hosts_say_with_other_numbers_is_an_example():
    # seen: the numbers of the first host were said of all that have the caution
    each = {f"lab{k}": [Caution("c", f"{k} of 16 runs"), Caution("d", "so")] for k in (1, 2, 3)}
    told = [one.text for one in said_of_hosts(each, without=())]
    assert told == ["on all hosts, such as lab1: 1 of 16 runs", "on all hosts: so"]


@pytest.mark.parametrize("effect", [0.0, 0.1])
def test_hosts_whose_sessions_do_not_differ_decide_nothing(effect):
    results = fleet([effect] * 2, noise=0.0)
    whole = over_hosts(results)
    for line in (whole.benchmarks[0], whole.hosts.benchmarks[0]):
        assert (line.low, line.outcome, line.reason) == (None, "undecided", "no-spread")


def test_looks_share_the_level():
    results = fleet([0.1, 0.12, 0.2])
    once = over_hosts(results)
    twice = over_hosts(results, looks=2)
    assert twice.look.count == 2
    assert twice.benchmarks[0].high > once.benchmarks[0].high
    assert twice.benchmarks[0].pvalue == pytest.approx(once.benchmarks[0].pvalue)


def test_one_host_is_no_fleet():
    with pytest.raises(InsufficientDataError, match="there is one"):
        over_hosts(fleet([0.1]))


def test_more_hosts_are_advised_where_hosts_like_these_are_undecided():
    whole = over_hosts(fleet([0.02, 0.2, 0.1]))
    assert whole.benchmarks[0].outcome == "undecided"
    advised = {one.benchmark: one for one in whole.hosts.more_hosts}
    assert set(advised) == {"x", "y", "z", None}
    assert 1 <= advised["x"].hosts <= 200
    assert advised["x"].target == "faster"


# --- Hosts of unequal numbers of sessions: groups of equally many, a quantile of t each, written anew
#
# The half-width on these hosts is sqrt(sum over groups of t(f_g)^2 V_g), with V_g the group's part of the
# variance and f_g Satterthwaite's within it: Banerjee's bound (Sankhya 22, 1960) over the groups.


LIMIT = math.log(1 / 1.02)


def hosts_unequal_host(seed, ours, theirs=None, *, shift=0.0, noise=0.01):
    """Judge a host by one run a session, numbers by benchmark; sides share sessions unless told."""
    rng = np.random.default_rng(seed)
    sides = []
    for name, counts, moved in (("new", ours, shift), ("old", theirs or ours, 0.0)):
        first = 1000 if theirs and name == "old" else 0
        sides.append(
            PerformanceMatrix.from_samples(
                name,
                {
                    b: np.exp(-moved + noise * rng.standard_normal(n))
                    for b, n in zip("xyz", counts, strict=False)
                },
                better="lower",
                sessions={b: np.arange(n) + first for b, n in zip("xyz", counts, strict=False)},
            )
        )
    return multilevel(*sides)


def paired(sessions, benchmarks=2, **noise):
    return {
        f"h{k}": hosts_unequal_host(k, [n] * benchmarks, shift=0.01 * k, **noise)
        for k, n in enumerate(sessions)
    }


def group(lines, hosts):
    """Give the part of a group: its error, and Satterthwaite's freedom."""
    squares = [(line.error / hosts) ** 2 for line in lines]
    below = sum(s**2 / line.freedom for s, line in zip(squares, lines, strict=True))
    return math.sqrt(sum(squares)), sum(squares) ** 2 / below


def half(alpha, parts):
    return math.sqrt(sum((stats.t.isf(alpha / 2, f) * e) ** 2 for e, f in parts))


def pvalue(distance, parts):
    def apart(x):
        return math.log(half(math.exp(x), parts) / abs(distance))

    return math.exp(optimize.brentq(apart, -60, -1e-9, xtol=1e-13))


def held(line, parts):
    d = math.log(line.speedup)
    assert math.log(line.high) == pytest.approx(d + half(0.05, parts), abs=1e-12)
    assert math.log(line.low) == pytest.approx(d - half(0.05, parts), abs=1e-12)
    assert line.pvalue == pytest.approx(pvalue(d, parts), rel=1e-8)
    assert line.errors == pytest.approx([e for e, _ in parts])
    assert line.freedoms == pytest.approx([f for _, f in parts])


@pytest.mark.parametrize("sessions", [(2, 20), (3, 5, 5, 5), (2, 20, 3, 2, 20, 3), (4, 5)])
def test_hosts_of_equally_many_sessions_share_a_freedom(sessions):
    results = paired(sessions, noise=0.004)
    level = over_hosts(results).hosts
    for k, line in enumerate((*level.benchmarks, level.these)):
        own = [one.these if k == 2 else one.benchmarks[k] for one in results.values()]
        parts = [
            group([x for x, n in zip(own, sessions, strict=True) if n == g], len(sessions))
            for g in sorted(set(sessions))
        ]
        assert (line.law, line.freedom) == ("grouped", None)
        held(line, parts)
        assert [g.hosts for g in line.groups] == [
            tuple(f"h{i}" for i, n in enumerate(sessions) if n == g) for g in sorted(set(sessions))
        ]
        told = [x for g in line.groups for x in (g.error, g.freedom)]
        assert told == pytest.approx([x for part in parts for x in part])


def test_hosts_are_grouped_by_their_sessions_and_not_by_their_freedoms():
    # Welch's freedom of equal sides is another number on each host, and no other group
    results = {f"h{k}": hosts_unequal_host(k, [6], [6], noise=0.004) for k in range(3)}
    level = over_hosts(results).hosts
    own = [one.benchmarks[0] for one in results.values()]
    assert len({line.freedom for line in own}) == 3
    (line,) = level.benchmarks
    error, freedom = group(own, 3)
    assert (line.law, line.groups) == ("satterthwaite", None)
    assert (line.error, line.freedom) == pytest.approx((error, freedom))
    assert line.pvalue == pytest.approx(
        2 * stats.t.sf(abs(math.log(line.speedup)) / error, freedom), rel=1e-9
    )


def test_a_host_whose_sides_have_unequal_numbers_enters_with_its_own_parts():
    results = {
        "a": hosts_unequal_host(1, [6], [6]),
        "b": hosts_unequal_host(2, [2], [10], noise=0.003),
        "c": hosts_unequal_host(3, [6], [6]),
        "d": hosts_unequal_host(4, [2], [10], noise=0.003),
    }
    level = over_hosts(results).hosts
    (line,) = level.benchmarks
    own = {name: one.benchmarks[0] for name, one in results.items()}
    parts = [group([own["a"], own["c"]], 4)]
    for name in "bd":
        parts += [(e / 4, f) for e, f in zip(own[name].errors, own[name].freedoms, strict=True)]
    held(line, parts)
    assert [one.hosts for one in line.groups] == [("a", "c"), ("b",), ("b",), ("d",), ("d",)]
    assert {one.host: one.freedom for one in level.effects} == {
        name: line.freedom for name, line in own.items()
    }
    for one in level.effects:
        assert (one.low, one.high) == pytest.approx((own[one.host].low, own[one.host].high))
    assert level.tests == 4  # such a host is held against the rest all the same


def test_a_benchmark_that_lacks_a_session_on_one_host_is_grouped_alone():
    results = {
        "a": hosts_unequal_host(1, [5, 5]),
        "b": hosts_unequal_host(2, [5, 4]),
        "c": hosts_unequal_host(3, [5, 5]),
    }
    level = over_hosts(results).hosts
    assert [line.law for line in level.benchmarks] == ["satterthwaite", "grouped"]
    x, y = (one.benchmarks for one in (results["a"], results["b"]))
    held(level.benchmarks[1], [group([y[1]], 3), group([x[1], results["c"].benchmarks[1]], 3)])
    assert level.these.law == "grouped"
    (told,) = [c for c in over_hosts(results).cautions if c.code == "hosts-unequal"]
    assert told.about == ("b", "y")


def test_hosts_like_these_have_that_half_width_as_their_inner_part():
    results = paired((2, 20, 20), noise=0.004)
    whole = over_hosts(results)
    for line, inner in zip(
        (*whole.benchmarks, whole.these), (*whole.hosts.benchmarks, whole.hosts.these), strict=True
    ):
        logs = [
            math.log((one.these if line.name == "these" else own[line.name]).speedup)
            for one in results.values()
            for own in [{x.name: x for x in one.benchmarks}]
        ]
        parts = [(stats.sem(logs), 2), *zip(inner.errors, inner.freedoms, strict=True)]
        assert (line.law, line.freedom, line.groups) == ("grouped", None, None)
        held(line, parts)


@pytest.mark.parametrize("sessions", [(5, 5, 5), (2, 20, 20)])
def test_a_fleets_gate_has_the_p_of_the_interval(sessions):
    # at its limit the interval ends, and half of the risk is left: with equal numbers too
    results = paired(sessions, noise=0.004)
    (line, _) = over_hosts(results).benchmarks
    for end, left in ((line.high, 0.025), (line.low, 0.975)):
        limit = 100 * (1 / end - 1)
        condition = f"slower>{limit:.12f}%" if limit > 0 else f"faster<{100 * (end - 1):.12f}%"
        found = gate(over_hosts(results), condition).candidates[0].benchmarks[0]
        assert found.pvalue_condition == pytest.approx(left, rel=1e-6)
    fine = gate(over_hosts(results), "slower>2%").candidates[0].benchmarks[0]
    parts = list(zip(line.errors, line.freedoms, strict=True))
    p = pvalue(math.log(line.speedup) - LIMIT, parts) / 2
    assert fine.pvalue_condition == pytest.approx(1 - p, rel=1e-8)


def test_the_short_hosts_are_said():
    (told,) = [c for c in over_hosts(paired((2, 20, 5, 2))).cautions if c.code == "hosts-unequal"]
    assert "hosts have 2 to 20 sessions: the short ones decide the width; resume h0, h3" in told
    assert told.about == ("h0", "h3")
    equal = over_hosts(paired((5, 5)))
    assert not [c for c in equal.cautions if c.code == "hosts-unequal"]


def test_sides_of_unequal_numbers_are_said_with_the_numbers_of_each_host():
    alike = {f"h{k}": hosts_unequal_host(k, [2, 2], [10, 10]) for k in range(2)}
    whole = over_hosts(alike)
    assert [c.code for c in whole.cautions if "unequal" in c.code] == ["unequal-sessions"]
    unlike = {"a": hosts_unequal_host(1, [2], [10]), "b": hosts_unequal_host(2, [3], [10])}
    told = [str(c) for c in over_hosts(unlike).cautions if c.code == "unequal-sessions"]
    assert ["2 sessions against 10" in told[0], "3 sessions against 10" in told[1]] == [True, True]
