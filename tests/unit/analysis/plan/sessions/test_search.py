"""The cheapest plan, and what it is looked for with.

Authority: enumeration of every plan in plain loops, each judged by its own t quantile and by the power
of its own t test; Kalibera and Jones' closed form (2013) as what it is not.
"""

import itertools
import math
import runpy
from pathlib import Path

import numpy as np
import pytest
from scipy.special import stdtrit

from analysis.plan.components import Goal
from analysis.plan.sessions import SessionSpread, cheapest, errors, least_sessions

t_power = runpy.run_path(str(Path(__file__).parents[4] / "power.py"))["t_power"]

SESSIONS, RUNS = 15, 12


def reaches(spreads, goal, sessions, runs):
    for spread in spreads:
        error = math.sqrt((spread.between + spread.within / runs) / sessions)
        if goal.half is not None:
            half = float(stdtrit(sessions - 1, 1 - goal.alpha / 2)) * error
            if half > goal.half:
                return False
        if goal.effect is not None and error > 0:
            told = float(t_power(goal.effect / error, sessions - 1, goal.alpha))
            if told < goal.power:
                return False
    return True


def by_loops(spreads, goal, cost):
    plans = itertools.product(range(2, SESSIONS + 1), range(1, RUNS + 1))
    by_cost = sorted((cost(s, r), -s, r) for s, r in plans)
    return next((plan for plan in by_cost if reaches(spreads, goal, -plan[1], plan[2])), None)


GOALS = [
    Goal(half=0.01, effect=None, power=0.8, alpha=0.05),
    Goal(half=None, effect=0.01, power=0.8, alpha=0.05),
    Goal(half=0.012, effect=0.011, power=0.9, alpha=0.1),
]


@pytest.mark.parametrize("goal", GOALS, ids=["width", "effect", "both"])
@pytest.mark.parametrize("seed", range(6))
def test_it_is_the_cheapest_of_all(goal, seed):
    rng = np.random.default_rng(seed)
    spreads = tuple(
        SessionSpread(
            between=float(rng.uniform(0, 0.01)) ** 2, within=float(rng.uniform(0, 0.04)) ** 2
        )
        for _ in range(1 + seed % 3)
    )
    warmup, block = rng.uniform(0, 20), rng.uniform(0.1, 3)

    def cost(sessions, runs):
        return sessions * (warmup + runs * block)

    best, least = cheapest(spreads, goal, cost, sessions=SESSIONS, runs=RUNS)
    expected = by_loops(spreads, goal, cost)
    if expected is None:
        assert best is None
        return
    assert best == (-expected[1], expected[2])
    for sessions, runs in enumerate(least, 2):
        if runs is None:
            assert not reaches(spreads, goal, sessions, RUNS)
        else:
            assert reaches(spreads, goal, sessions, runs)
            assert runs == 1 or not reaches(spreads, goal, sessions, runs - 1)


def closed_form(spread, session_cost, run_cost):
    """Kalibera and Jones: the runs of a session that are cheapest, whatever is asked for."""
    if spread.between == 0:
        return math.inf
    return math.sqrt(session_cost / run_cost * spread.within / spread.between)


@pytest.mark.parametrize("between", [0.0, 0.001, 0.004, 0.02])
def test_the_closed_form_is_not_the_cheapest(between):
    # sessions of 60 s before the first run, runs of 2 s: by the closed form of Kalibera and Jones
    spread = SessionSpread(between=between**2, within=0.03**2)
    goal = Goal(half=0.02, effect=None, power=0.8, alpha=0.05)

    def cost(sessions, runs):
        return sessions * (60 + 2 * runs)

    (sessions, runs), least = cheapest((spread,), goal, cost, sessions=100, runs=100)
    theirs = closed_form(spread, 60, 2)
    if math.isinf(theirs):  # as many runs as there are, in as few sessions as can be
        assert runs < 100
        assert sessions > 2
        return
    rounded = max(1, round(theirs))
    fixed = [(s, rounded) for s in range(2, 101) if reaches((spread,), goal, s, rounded)]
    assert cost(sessions, runs) <= min(itertools.starmap(cost, fixed), default=math.inf)
    assert least[sessions - 2] == runs


def test_without_the_quantile_two_sessions_would_be_enough():
    # negative control: with the normal quantile the plan is shorter than the interval needs
    spread = SessionSpread(between=0.0, within=0.03**2)
    goal = Goal(half=0.02, effect=None, power=0.8, alpha=0.05)
    ours, _ = cheapest((spread,), goal, lambda s, r: s * (60 + r), sessions=20, runs=99)
    assert ours[0] > 2
    error = errors((spread,), 2, 9)[0, -1]
    assert 1.96 * error < 0.02 < float(stdtrit(1, 0.975)) * error


def test_of_plans_that_cost_the_same_the_one_with_more_sessions_is_taken():
    spread = SessionSpread(between=0.0, within=0.01**2)
    goal = Goal(half=1.0, effect=None, power=0.8, alpha=0.05)
    best, _ = cheapest((spread,), goal, lambda _s, _r: 1.0, sessions=7, runs=3)
    assert best == (7, 1)


def test_the_fewest_sessions_of_given_runs():
    for runs, (between, within) in itertools.product((1, 20), ((1e-4, 1e-3), (0.0, 4e-4))):
        spreads = (SessionSpread(between=between, within=within),)
        found = least_sessions(spreads, GOALS[2], runs, most=40)
        held = [s for s in range(2, 41) if reaches(spreads, GOALS[2], s, runs)]
        assert found == (min(held) if held else None)


def test_what_cannot_be_reached_has_no_plan():
    spread = SessionSpread(between=1.0, within=1.0)
    best, least = cheapest((spread,), GOALS[0], lambda s, r: s * r, sessions=9, runs=9)
    assert best is None
    assert least == [None] * 8
    assert least_sessions((spread,), GOALS[0], 3, most=9) is None
