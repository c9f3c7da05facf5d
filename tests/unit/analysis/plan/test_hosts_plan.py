"""Plans of hosts: the least that the half-width of docs/fleet.md allows, found here by trying all.

Authority: equation (2) written out, components from pilots whose variances are known.
"""

import math
from functools import cache, partial

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

from analysis.data.matrix import PerformanceMatrix
from analysis.errors import InsufficientDataError, UsageError
from analysis.plan.components import Goal, TrialCosts, variance_components
from analysis.plan.hosts import Grid, HostPilot, HostSpread, half_widths, plan_hosts
from tests.examples import examples

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
    own = (spread.session + spread.run / runs) / sessions
    outer = quantile(alpha / 2, hosts - 1) * math.sqrt((spread.host + own) / hosts)
    inner = 0.0
    if sessions > 1:
        inner = quantile(alpha / 2, hosts * (sessions - 1)) * math.sqrt(own / hosts)
    elif runs > 1:
        inner = quantile(alpha / 2, hosts * (runs - 1)) * math.sqrt(spread.run / runs / hosts)
    return math.hypot(outer, inner)


@settings(max_examples=examples(60))
@given(st.integers(2, 12), st.tuples(*[st.floats(0, 0.01)] * 3))
def test_half_widths_are_equation_two(hosts, variances):
    spread = HostSpread(host=variances[0], session=variances[1], run=variances[2])
    found = half_widths(spread, hosts, 0.05, (3, 4))
    for s in range(1, 4):
        for r in range(1, 5):
            assert found[s - 1, r - 1] == pytest.approx(half_by_hand(spread, hosts, s, r))


def test_the_plan_is_the_cheapest_of_all():
    plan = plan_hosts(pilots(6), width=0.05, max_hosts=30, max_sessions=6, max_runs=8)
    (line,) = [one for one in plan.lines if one.name == "these"]
    spread = HostSpread(host=line.host_sd**2, session=line.session_sd**2, run=line.run_sd**2)
    goal = math.asinh(0.025)
    costs = {
        (h, s, r): h * (s * (10 + r * 2) + (s - 1) * 5)
        for h in range(2, 31)
        for s in range(1, 7)
        for r in range(1, 9)
        if half_by_hand(spread, h, s, r) <= goal
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
    spread = HostSpread(host=1e-4, session=1e-4, run=1e-4)
    grid = Grid(
        spreads=(spread,),
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
    for wrong in (
        {"width": -1.0},
        {"effect": 1.0},
        {"on": "all"},
        {"power": 0.01},
        {"max_hosts": 1},
        {"max_sessions": 0},
        {"max_runs": 0},
    ):
        with pytest.raises(UsageError):
            plan_hosts(pilots(2), **wrong)


def test_without_costs_a_caution_says_what_that_means():
    found = {k: one._replace(costs=None) for k, one in pilots(3).items()}
    plan = plan_few(found, width=0.1)
    assert plan.seconds is None
    codes = [one.code for one in plan.cautions]
    assert codes[0] == "few-pilot-hosts"
    assert codes[-1] == "costs-unknown"


def test_every_benchmark_can_be_asked_for():
    suite = plan_few(pilots(6), width=0.06)
    each = plan_few(pilots(6), width=0.06, on="benchmarks")
    assert each.on == "benchmarks"
    assert each.seconds >= suite.seconds
