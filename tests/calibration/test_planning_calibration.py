"""Variance components without bias, plans that keep what they promise.

Pilots of 5 sessions with 8 blocks, normal logs, a session part of half the run's sd; a plan is made from
each, and a comparison of that size simulated. Authorities: the truth that was simulated; theory (a
promised width is an expected one, so about half of the comparisons are narrower).
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import stdtrit

from analysis.plan.components import ComponentLine, Goal, Observations, crossed
from analysis.plan.sessions import Outlook, cheapest, least_sessions
from analysis.stats.arguments import stream
from analysis.stats.variance_components import one_way

pytestmark = pytest.mark.calibration

SESSIONS, RUNS = 5, 8
BETWEEN, WITHIN = 0.01**2, 0.02**2
WIDTH = Goal(half=0.01, effect=None, power=0.8, alpha=0.05)
GROUPS = np.repeat(np.arange(SESSIONS), RUNS)


def error(rate, trials):
    return math.sqrt(rate * (1 - rate) / trials)


def cost(sessions, runs):
    return sessions * (10 + 2 * runs)


def pilot(rng, sessions=SESSIONS, runs=RUNS, between=BETWEEN, within=WITHIN):
    shifts = rng.normal(0, math.sqrt(between), (sessions, 1))
    return (shifts + rng.normal(0, math.sqrt(within), (sessions, runs))).ravel()


@pytest.mark.spot_check
def test_one_way_components_have_no_bias():
    trials, groups = 600, np.repeat(np.arange(6), 8)
    rng = stream(21, "one way")
    found = [one_way(pilot(rng, 6, 8, 1.0, 1.0), groups) for _ in range(trials)]
    between, within = (
        np.array([getattr(f, name) for f in found]) for name in ("between", "within")
    )
    for values in (between, within):
        assert abs(values.mean() - 1) < 4 * values.std() / math.sqrt(trials)
    # negative control: the variance of the session means holds a share of the runs' as well
    naive = between + within / 8
    assert naive.mean() - 1 > 2.5 * naive.std() / math.sqrt(trials)


def test_crossed_components_have_no_bias():
    trials, shape, truth = 300, (8, 8, 6), (1.0, 0.5, 0.5, 0.3, 1.0)
    rng = stream(22, "crossed")
    b, s, r = (axis.ravel() for axis in np.indices(shape))
    block = s * shape[2] + r
    sds = np.sqrt(truth)
    found = []
    for _ in range(trials):
        values = sds[0] * rng.normal(size=shape[0])[b] + sds[1] * rng.normal(size=shape[1])[s]
        values += sds[2] * rng.normal(size=shape[:2])[b, s]
        values += sds[3] * rng.normal(size=block.max() + 1)[block]
        values += sds[4] * rng.normal(size=b.size)
        seen = Observations(
            names=tuple(map(str, range(shape[0]))),
            values=values,
            benchmark=b,
            session=s,
            block=block,
            blocks_known=True,
        )
        found.append(list(crossed(seen).variances.values()))
    table = np.array(found)
    away = (table.mean(axis=0) - truth) / (table.std(axis=0) / math.sqrt(trials))
    assert np.abs(away).max() < 4
    # negative control: the session part with that of each benchmark left in it
    held = table[:, 1] + table[:, 2] / shape[0]
    assert (held.mean() - truth[1]) / (held.std() / math.sqrt(trials)) > 1.5


def line_of(between, within):
    sds = math.sqrt(between), math.sqrt(within)
    return ComponentLine("b", 0.0, *sds, None, SESSIONS, SESSIONS * RUNS)


def kept(rng, trials, *, blind=False):
    """Give the share of comparisons as narrow as planned, and of pilots whose quartiles hold."""
    narrow, within, planned = 0, 0, 0
    for _ in range(trials):
        found = one_way(pilot(rng), GROUPS)
        line = line_of(0.0 if blind else found.between, found.within)
        (sessions, runs), _ = cheapest((line,), WIDTH, cost, sessions=100, runs=100)
        variance = BETWEEN + WITHIN / runs
        values = rng.normal(0, math.sqrt(variance), sessions)
        half = float(stdtrit(sessions - 1, 0.975)) * values.std(ddof=1) / math.sqrt(sessions)
        narrow += half <= WIDTH.half
        outlook = Outlook(lines=(line,), goal=WIDTH, costs=None)
        low, high = (outlook.sessions_at(q, runs, most=400) for q in (0.25, 0.75))
        true = least_sessions((line_of(BETWEEN, WITHIN),), WIDTH, runs, most=400)
        within += low <= true <= (high or 400)
        planned += 1
    return narrow / planned, within / planned


def test_a_promised_width_is_kept_by_about_half():
    trials = 1500
    narrow, within = kept(stream(23, "width"), trials)
    assert abs(narrow - 0.5) < 0.1 + 3 * error(0.5, trials)
    # whole sessions make the quartiles hold a little more than a half
    assert 0.5 - 3 * error(0.5, trials) < within < 0.7


def test_a_plan_that_leaves_sessions_out_does_not():
    # the negative control: runs alone are planned for, and the sessions differ all the same
    trials = 800
    narrow, _ = kept(stream(24, "blind"), trials, blind=True)
    assert narrow < 0.25 + 3 * error(0.25, trials)


@pytest.mark.spot_check
@pytest.mark.parametrize(
    ("between", "within"), [(BETWEEN, WITHIN), (0.0, WITHIN), (WITHIN, BETWEEN)]
)
def test_the_planned_power_is_reached_where_the_variances_are_true(between, within):
    trials = 20_000
    effect = 0.012
    goal = Goal(half=None, effect=effect, power=0.8, alpha=0.05)
    line = line_of(between, within)
    (sessions, runs), _ = cheapest((line,), goal, cost, sessions=100, runs=100)
    rng = stream(25, "power")

    def told(count):
        values = rng.normal(effect, math.sqrt(between + within / runs), (trials, count))
        t = values.mean(axis=1) / values.std(axis=1, ddof=1) * math.sqrt(count)
        return float((np.abs(t) > stdtrit(count - 1, 0.975)).mean())

    assert told(sessions) > 0.8 - 4 * error(0.8, trials)
    assert told(sessions - 1) < 0.8 + 4 * error(0.8, trials)
    # negative control: the normal law's number of sessions is too small
    needed = ((1.959964 + 0.841621) / effect) ** 2 * (between + within / runs)
    assert told(max(2, math.floor(needed))) < 0.8 - 4 * error(0.8, trials)
