"""Hosts of unequal numbers of sessions: groups of equally many, a quantile of t each, written anew.

The half-width on these hosts is sqrt(sum over groups of t(f_g)^2 V_g), with V_g the group's part of the
variance and f_g Satterthwaite's within it: Banerjee's bound (Sankhya 22, 1960) over the groups.
"""

import math

import numpy as np
import pytest
from scipy import optimize, stats

from analysis.data.matrix import PerformanceMatrix
from analysis.methods.multilevel.compare import multilevel
from analysis.methods.multilevel.hosts import over_hosts
from analysis.verdict.gate import gate

LIMIT = math.log(1 / 1.02)


def host(seed, ours, theirs=None, *, shift=0.0, noise=0.01):
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
        f"h{k}": host(k, [n] * benchmarks, shift=0.01 * k, **noise) for k, n in enumerate(sessions)
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
    _, level = over_hosts(results)
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
    results = {f"h{k}": host(k, [6], [6], noise=0.004) for k in range(3)}
    _, level = over_hosts(results)
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
        "a": host(1, [6], [6]),
        "b": host(2, [2], [10], noise=0.003),
        "c": host(3, [6], [6]),
        "d": host(4, [2], [10], noise=0.003),
    }
    _, level = over_hosts(results)
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
    results = {"a": host(1, [5, 5]), "b": host(2, [5, 4]), "c": host(3, [5, 5])}
    _, level = over_hosts(results)
    assert [line.law for line in level.benchmarks] == ["satterthwaite", "grouped"]
    x, y = (one.benchmarks for one in (results["a"], results["b"]))
    held(level.benchmarks[1], [group([y[1]], 3), group([x[1], results["c"].benchmarks[1]], 3)])
    assert level.these.law == "grouped"
    (told,) = [c for c in over_hosts(results)[0].cautions if c.code == "hosts-unequal"]
    assert told.about == ("b", "y")


def test_hosts_like_these_have_that_half_width_as_their_inner_part():
    results = paired((2, 20, 20), noise=0.004)
    whole, level = over_hosts(results)
    for line, inner in zip(
        (*whole.benchmarks, whole.these), (*level.benchmarks, level.these), strict=True
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
    (line, _) = over_hosts(results)[0].benchmarks
    for end, left in ((line.high, 0.025), (line.low, 0.975)):
        limit = 100 * (1 / end - 1)
        condition = f"slower>{limit:.12f}%" if limit > 0 else f"faster<{100 * (end - 1):.12f}%"
        found = gate(over_hosts(results)[0], condition).candidates[0].benchmarks[0]
        assert found.pvalue_condition == pytest.approx(left, rel=1e-6)
    fine = gate(over_hosts(results)[0], "slower>2%").candidates[0].benchmarks[0]
    parts = list(zip(line.errors, line.freedoms, strict=True))
    p = pvalue(math.log(line.speedup) - LIMIT, parts) / 2
    assert fine.pvalue_condition == pytest.approx(1 - p, rel=1e-8)


def test_the_short_hosts_are_said():
    (told,) = [
        c for c in over_hosts(paired((2, 20, 5, 2)))[0].cautions if c.code == "hosts-unequal"
    ]
    assert "hosts have 2 to 20 sessions: the short ones decide the width; resume h0, h3" in told
    assert told.about == ("h0", "h3")
    equal = over_hosts(paired((5, 5)))[0]
    assert not [c for c in equal.cautions if c.code == "hosts-unequal"]


def test_sides_of_unequal_numbers_are_said_with_the_numbers_of_each_host():
    alike = {f"h{k}": host(k, [2, 2], [10, 10]) for k in range(2)}
    whole = over_hosts(alike)[0]
    assert [c.code for c in whole.cautions if "unequal" in c.code] == ["unequal-sessions"]
    unlike = {"a": host(1, [2], [10]), "b": host(2, [3], [10])}
    told = [str(c) for c in over_hosts(unlike)[0].cautions if c.code == "unequal-sessions"]
    assert ["2 sessions against 10" in told[0], "3 sessions against 10" in told[1]] == [True, True]
