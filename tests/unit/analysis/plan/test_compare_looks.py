"""One look at commands under measurement: the verdict's own numbers, and what they mean for going on.

Authority: Student's t at the nominal risk by scipy, on the differences of session means; the rules of the
decisions on several candidates, each with a case in which the rule does not hold (negative control).
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache, partial

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

from analysis.data.matrix import PerformanceMatrix
from analysis.errors import InsufficientDataError, UsageError
from analysis.plan.compare_looks import look_at
from analysis.plan.components import Goal, TrialCosts, variance_components
from analysis.plan.hosts import Grid, HostLine, HostPilot, half_widths, plan_hosts
from analysis.record.trial_files import LOOKS, OPEN_LOOKS, LooksPlan
from analysis.stats.multiplicity import nominal_risk
from tests.examples import examples


def repeated_looks(candidates, *, margin=0.01, open=False):
    return LooksPlan(
        rule="repeated",
        looks=OPEN_LOOKS if open else LOOKS,
        candidates=max(1, candidates),
        open=open,
        margin=margin,
    )


def planned_look(candidates, sessions):
    return LooksPlan(rule="planned", looks=(sessions,), candidates=candidates)


def measured(sides, sessions, *, seed=1, runs=2, session_sd=0.002, run_sd=0.002, own=None):
    """Give runs of variants whose log times lie so far above that of .1 s."""
    rng = np.random.default_rng([29, seed])
    return {
        name: {
            s: (
                0.1
                * np.exp(
                    shift
                    + (session_sd * rng.standard_normal() if own is None else own[name][s - 1])
                    + run_sd * rng.standard_normal(runs)
                )
            ).tolist()
            for s in range(1, sessions + 1)
        }
        for name, shift in sides.items()
    }


def differences(values, candidate, baseline):
    return np.array(
        [
            np.mean(np.log(values[baseline][s])) - np.mean(np.log(values[candidate][s]))
            for s in values[candidate]
        ]
    )


@pytest.mark.parametrize("sessions", [3, 8, 45])
@pytest.mark.parametrize("others", [1, 3])
def test_the_interval_is_t_at_the_nominal_risk_of_the_plan(sessions, others):
    names = {"old": 0.0} | {f"new{k}": -0.01 * k for k in range(others)}
    values = measured(names, sessions)
    look = look_at(values, repeated_looks(others), baseline="old")
    assert look.sessions == sessions
    for one in look.candidates:
        d = differences(values, one.variant, "old")
        half = stats.t.ppf(1 - nominal_risk(0.05 / others) / 2, sessions - 1) * stats.sem(d)
        assert math.log(one.line.low) == pytest.approx(d.mean() - half, abs=1e-9)
        assert math.log(one.line.high) == pytest.approx(d.mean() + half, abs=1e-9)
        # the negative control: plain t is another interval
        plain = stats.t.ppf(0.975, sessions - 1) * stats.sem(d)
        assert math.log(one.line.low) < d.mean() - plain - 1e-6


def test_a_clear_difference_stops_and_no_difference_goes_on():
    plan = repeated_looks(1)
    assert look_at(measured({"old": 0, "new": -0.5}, 6), plan, baseline="old").stop == "decided"
    same = look_at(
        measured({"old": 0, "new": 0}, 6, session_sd=0.03, run_sd=0.05), plan, baseline="old"
    )
    assert (same.stop, same.leave, same.next) == (None, (), 8)
    assert same.needed is not None
    assert same.needed > 29


def test_a_number_is_foretold_beyond_the_last_look_too():
    """So that one can say how long it would take; in 1 / sqrt(n) the interval of 3 % needs thousands."""
    wide = measured({"old": 0, "new": 0}, 22, session_sd=0.06, run_sd=0.05)
    needed = look_at(wide, repeated_looks(1), baseline="old").needed
    assert needed is not None
    assert 1_000 < needed < 20_000


def test_what_is_foretold_settles_a_tie_at_the_top_too():
    values = measured({"old": 0, "best": -0.7, "tie": -0.69}, 6, session_sd=0.01)
    look = look_at(values, repeated_looks(2), baseline="old")
    assert [one.word for one in look.candidates] == ["faster", "faster"]
    assert look.stop is None
    assert look.needed is not None
    assert look.needed > 6
    left = replace(repeated_looks(2), left={"tie": 6, "best": 6})
    assert look_at(values, left, baseline="old").needed is None


def test_equivalence_stops_it_too():
    look = look_at(measured({"old": 0, "new": 0}, 10), repeated_looks(1), baseline="old")
    assert look.candidates[0].word == "equivalent"
    assert look.stop == "equivalent"
    narrow = look_at(
        measured({"old": 0, "new": 0}, 10), repeated_looks(1, margin=0.0001), baseline="old"
    )
    assert narrow.stop is None


def test_nothing_stops_before_the_least_sessions_or_between_looks_unless_it_is_the_end():
    plan = repeated_looks(1)
    few = measured({"old": 0, "new": -0.5}, 3)
    assert look_at(few, plan, baseline="old").stop == "decided"
    assert look_at(few, plan, baseline="old", least_sessions=6).stop is None
    between = measured({"old": 0, "new": -0.5}, 7)
    assert look_at(between, plan, baseline="old").stop is None
    assert look_at(between, plan, baseline="old", final=True).stop == "decided"


def test_a_candidate_leaves_when_it_is_decided_against_baseline_and_leader():
    values = measured({"old": 0, "best": -0.7, "tie": -0.7, "good": -0.3, "same": 0.0}, 6)
    look = look_at(values, repeated_looks(4, margin=0.0001), baseline="old")
    assert look.leader in ("best", "tie")
    other = {"best": "tie", "tie": "best"}[look.leader]
    assert look.leave == ("good",)  # decided against both; the leader stays, others are undecided
    by_name = {one.variant: one for one in look.candidates}
    assert by_name[other].word == "faster"
    assert not by_name[other].settled  # against the leader
    assert not by_name["same"].settled  # against the baseline
    assert look.stop is None


def test_who_left_holds_nobody_up():
    values = measured({"old": 0, "best": -0.7, "good": -0.3}, 8)
    values["good"] = {s: values["good"][s] for s in (1, 2, 3)}
    plan = repeated_looks(2)
    assert look_at(values, plan, baseline="old").stop == "decided"
    noisy = dict(values) | {"good": measured({"good": -0.3}, 3, run_sd=0.9)["good"]}
    assert look_at(noisy, plan, baseline="old").stop is None
    assert look_at(noisy, replace(plan, left={"good": 3}), baseline="old").stop == "decided"


def test_the_baseline_may_be_the_leader():
    values = measured({"old": 0, "slow": 0.5, "slower": 0.5}, 6)
    look = look_at(values, repeated_looks(2), baseline="old")
    assert (look.leader, look.stop) == ("old", "decided")


def test_sessions_that_resemble_their_neighbours_give_no_word():
    wave = {"old": np.zeros(29), "new": 0.05 + 0.04 * np.sin(np.arange(29) / 4)}
    values = measured({"old": 0, "new": 0}, 29, own=wave)
    plan = repeated_looks(1)
    look = look_at(values, plan, baseline="old")
    assert (look.stop, look.candidates[0].word) == (None, "undecided")
    assert look.candidates[0].depends
    assert look.candidates[0].line.outcome_uncorrected == "slower"
    assert look_at(values, plan, baseline="old", final=True).stop == "depends"
    # the same values in another order are as many independent ones
    order = np.random.default_rng(5).permutation(29)
    mixed = {name: {s: row[int(order[s - 1]) + 1] for s in row} for name, row in values.items()}
    assert look_at(mixed, plan, baseline="old").stop == "decided"


def test_a_failed_run_takes_its_block_along():
    values = measured({"old": 0, "new": -0.1}, 6, runs=3)
    values["new"][2][1] = None
    d = differences({k: {s: [v for j, v in enumerate(r) if (s, j) != (2, 1)] for s, r in x.items()}
                     for k, x in values.items()}, "new", "old")  # fmt: skip
    line = look_at(values, repeated_looks(1), baseline="old").candidates[0].line
    assert math.log(line.speedup) == pytest.approx(d.mean(), abs=1e-12)
    assert (line.failed_candidate, line.failed_baseline) == (1, 0)


def test_one_command_is_measured_until_its_mean_is_known():
    values = measured({"it": 0}, 8)
    look = look_at(values, repeated_looks(0), baseline="it")
    logs = np.array([np.mean(np.log(row)) for row in values["it"].values()])
    half = stats.t.ppf(1 - nominal_risk(0.05) / 2, 7) * stats.sem(logs)
    assert look.mean == pytest.approx(math.exp(logs.mean()))
    assert (look.low, look.high) == pytest.approx(
        (math.exp(logs.mean() - half), math.exp(logs.mean() + half))
    )
    assert look.stop == "decided"
    wide = look_at(measured({"it": 0}, 8, session_sd=0.1), repeated_looks(0), baseline="it")
    assert wide.stop is None


def test_one_planned_look_spends_all():
    values = measured({"old": 0, "new": -0.01}, 6)
    look = look_at(values, planned_look(1, 6), baseline="old", final=True)
    d = differences(values, "new", "old")
    half = stats.t.ppf(0.975, 5) * stats.sem(d)
    assert math.log(look.candidates[0].line.low) == pytest.approx(d.mean() - half, abs=1e-9)
    assert look.next is None
    two = look_at(values, planned_look(2, 6), baseline="old", final=True)
    assert two.candidates[0].line.low < look.candidates[0].line.low


def test_what_was_not_measured_yet_is_no_error():
    look = look_at({"old": {}, "new": {}}, repeated_looks(1), baseline="old")
    assert (look.sessions, look.leader, look.stop, look.next) == (0, None, None, 3)
    half = look_at({"old": {1: [0.1]}, "new": {1: [None]}}, repeated_looks(1), baseline="old")
    assert half.candidates[0].line is None


def test_the_number_that_is_foretold_decides_in_about_eight_of_ten():
    """From 13 sessions of a difference of 2 %: followed, it decides in at least 70 % (99.9 % bound)."""
    told = decided = 0
    for seed in range(60):
        values = measured({"old": 0, "new": -0.02}, 108, seed=seed, runs=1, session_sd=0.02)
        some = {k: {s: r for s, r in row.items() if s <= 13} for k, row in values.items()}
        needed = look_at(some, repeated_looks(1), baseline="old").needed
        if needed is None or needed > 108:
            continue
        enough = {k: {s: r for s, r in row.items() if s <= needed} for k, row in values.items()}
        told += 1
        decided += look_at(enough, repeated_looks(1), baseline="old").stop is not None
    assert told > 20
    assert stats.binomtest(decided, told, 0.7, alternative="less").pvalue > 0.001


# --- Plans of hosts: the least that the half-width of docs/fleet.md allows, found here by trying all
#
# Authority: equation (2) written out, components from pilots whose variances are known.


plan_few = partial(plan_hosts, max_hosts=20, max_sessions=5, max_runs=6)

COSTS = TrialCosts(block_s=2.0, warmup_s=10.0, between_s=5.0, sessions=4, blocks=16)


@cache
def pilot(seed, *, host=0.02, session=0.01, run=0.01, sessions=6, runs=5, names=("x", "y")):
    rng = np.random.default_rng(seed)
    ids = {name: np.repeat(np.arange(sessions), runs).tolist() for name in names}
    blocks = {name: np.tile(np.arange(runs), sessions).tolist() for name in names}
    own = host * rng.standard_normal()

    def side(name, moved):
        values = {
            bench: np.exp(
                moved
                + np.repeat(session * moved_scale(moved) * rng.standard_normal(sessions), runs)
                + run / math.sqrt(2) * rng.standard_normal(sessions * runs)
            )
            for bench in names
        }
        return PerformanceMatrix.from_samples(
            name, values, better="lower", sessions=ids, blocks=blocks
        )

    found = variance_components(side("new", -0.1 + own), side("old", 0.0))
    return HostPilot(components=found, costs=COSTS)


def moved_scale(moved):
    return 1.0 if moved else 0.0  # sessions move the candidate only


def pilots(count, **options):
    return {f"lab{k}": pilot(k, **options) for k in range(count)}


quantile = cache(stats.t.isf)


def half_by_hand(spread, hosts, sessions, runs, alpha=0.05):
    own = (spread.session_sd**2 + spread.run_sd**2 / runs) / sessions
    outer = quantile(alpha / 2, hosts - 1) * math.sqrt((spread.host_sd**2 + own) / hosts)
    inner = 0.0
    if sessions > 1:
        inner = quantile(alpha / 2, hosts * (sessions - 1)) * math.sqrt(own / hosts)
    elif runs > 1:
        inner = quantile(alpha / 2, hosts * (runs - 1)) * math.sqrt(spread.run_sd**2 / runs / hosts)
    return math.hypot(outer, inner)


@settings(max_examples=examples(60))
@given(st.integers(2, 12), st.tuples(*[st.floats(0, 0.1)] * 3))
def test_half_widths_are_equation_two(hosts, sds):
    spread = HostLine("these", 0.0, *sds)
    found = half_widths(spread, hosts, 0.05, (3, 4))
    for s in range(1, 4):
        for r in range(1, 5):
            assert found[s - 1, r - 1] == pytest.approx(half_by_hand(spread, hosts, s, r))


def test_the_plan_is_the_cheapest_of_all():
    plan = plan_hosts(pilots(6), width=0.05, max_hosts=30, max_sessions=6, max_runs=8)
    (line,) = [one for one in plan.lines if one.name == "these"]
    goal = math.asinh(0.025)
    costs = {
        (h, s, r): h * (s * (10 + r * 2) + (s - 1) * 5)
        for h in range(2, 31)
        for s in range(1, 7)
        for r in range(1, 9)
        if half_by_hand(line, h, s, r) <= goal
    }
    assert plan.seconds == pytest.approx(min(costs.values()))
    assert costs[plan.hosts, plan.sessions, plan.runs] == pytest.approx(plan.seconds)
    assert plan.elapsed_s == pytest.approx(plan.seconds / plan.hosts)
    assert plan.hosts_low <= plan.hosts <= (plan.hosts_high or 99)


def test_the_components_are_those_of_the_pilot():
    plan = plan_few(pilots(16, host=0.05, session=0.02, run=0.01), width=0.1)
    line = plan.lines[0]
    assert line.host_sd == pytest.approx(0.05, rel=0.4)
    assert line.session_sd == pytest.approx(0.02, rel=0.25)
    assert line.run_sd == pytest.approx(0.01, rel=0.15)
    assert math.exp(line.mean) == pytest.approx(1.1, rel=0.03)


def test_the_speedup_is_the_geometric_mean_over_benchmarks():
    plan = plan_few(pilots(3, run=0.05), width=0.1)
    x, y = (math.exp(line.mean) for line in plan.lines if line.name in ("x", "y"))
    assert plan.speedup == pytest.approx(math.sqrt(x * y))
    assert abs(x - y) > 1e-3


def test_hosts_that_do_not_differ_need_fewer_of_them():
    # the negative control: the same pilots with hosts that differ
    few = plan_few(pilots(4, host=0.0), width=0.05)
    many = plan_few(pilots(4, host=0.05), width=0.05)
    assert few.hosts < (many.hosts or 99)
    assert plan_few(pilots(4, host=0.0, session=0.03), width=0.05).lines[0].host_sd < 0.02


def test_more_than_there_are_is_said():
    plan = plan_hosts(pilots(4, host=0.2), width=0.02, max_hosts=10)
    assert plan.hosts is None
    assert "more than 10 hosts" in " ".join(str(plan).split())
    assert "claim these hosts only" in str(plan)


@settings(max_examples=examples(20))
@given(st.floats(1.01, 1.5), st.integers(2, 20))
def test_an_effect_is_told_where_the_t_test_of_the_half_width_tells_it(effect, hosts):
    spread = HostLine("these", 0.0, 0.01, 0.01, 0.01)
    grid = Grid(
        lines=(spread,),
        goal=Goal(half=None, effect=math.log(effect), power=0.8, alpha=0.05),
        sessions=3,
        runs=3,
    )
    half = grid.widest(hosts)
    error = half / stats.t.isf(0.025, hosts - 1)
    power = stats.nct.sf(
        stats.t.isf(0.025, hosts - 1), hosts - 1, np.minimum(math.log(effect) / error, 30)
    )
    told = grid.enough(hosts)
    assert np.all(power[told] >= 0.799)
    assert np.all(power[~told] <= 0.801)


def test_wrong_arguments_and_too_few_hosts_are_refused():
    with pytest.raises(InsufficientDataError, match="two hosts"):
        plan_hosts(pilots(1))
    with pytest.raises(InsufficientDataError, match="no benchmark in common"):
        plan_hosts({name: pilot(1, names=(name,)) for name in "xy"})
    goals = {"width": -1.0, "effect": 1.0, "on": "all", "power": 0.01}
    counts = {"max_hosts": 1, "max_sessions": 0, "max_runs": 0}
    for name, wrong in (goals | counts).items():
        with pytest.raises(UsageError):
            plan_hosts(pilots(2), **{name: wrong})


def test_without_costs_a_caution_says_what_that_means():
    found = {k: one._replace(costs=None) for k, one in pilots(3).items()}
    plan = plan_few(found, width=0.1)
    assert plan.seconds is None
    codes = [one.code for one in plan.cautions]
    assert codes[0] == "few-pilot-hosts"
    assert codes[-1] == "costs-unknown"


def test_every_benchmark_can_be_asked_for_and_must_be_where_no_block_has_all():
    suite = plan_few(pilots(6), width=0.06)
    each = plan_few(pilots(6), width=0.06, on="benchmarks")
    assert each.on == "benchmarks"
    assert each.seconds >= suite.seconds
    parts = {k: replace(one.components, suite=None) for k, one in pilots(6).items()}
    split = {k: HostPilot(one, COSTS) for k, one in parts.items()}
    assert plan_few(split, width=0.06, on="benchmarks").seconds == each.seconds
    with pytest.raises(InsufficientDataError, match="every benchmark has a run"):
        plan_few(split, width=0.06)
