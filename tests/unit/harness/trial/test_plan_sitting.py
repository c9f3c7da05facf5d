"""How a comparison is planned; authority: the rule of docs/methods/multilevel.md on looks, and arithmetic."""

from __future__ import annotations

import math

import pytest

from analysis.errors import UsageError
from analysis.record.trial_files import LOOKS, OPEN_LOOKS
from harness.trial.sitting import plan_sitting


@pytest.mark.parametrize(
    ("seconds", "runs", "least"),
    [
        ((0.001, 0.001), 20, 6),  # 1 ms: 20 runs of each a session
        ((0.05, 0.025), 2, 6),
        ((0.1, 0.05), 1, 6),
        ((0.008, 0.1001), 1, 6),
        ((0.4, 0.5), 1, 6),
        ((0.5, 0.5), 1, 3),  # a session takes a second
        ((60.0, 30.0), 1, 3),
    ],
)
def test_a_session_has_a_tenth_of_a_second_of_the_slower_command(seconds, runs, least):
    plan = plan_sitting(seconds)
    assert (plan.runs, plan.least_sessions, plan.most_sessions) == (runs, least, None)
    assert plan.looks_plan.rule == "repeated"
    assert plan.looks_plan.looks == LOOKS


@pytest.mark.parametrize(("commands", "cap"), [(1, 10.0), (2, 20.0), (3, 30.0), (5, 50.0)])
def test_the_cap_grows_with_the_commands(commands, cap):
    plan = plan_sitting([0.1] * commands)
    assert plan.cap_s == cap
    assert plan.looks_plan.candidates == max(1, commands - 1)


def test_who_gives_more_than_five_minutes_gets_the_open_list():
    assert plan_sitting([1, 1], for_s=300).looks_plan.looks == LOOKS
    for chosen in (plan_sitting([1, 1], for_s=301), plan_sitting([1, 1], open_list=True)):
        assert chosen.looks_plan.looks == OPEN_LOOKS
        assert chosen.looks_plan.open
    assert plan_sitting([1, 1], for_s=90).cap_s == 90


@pytest.mark.parametrize(
    ("runs", "sessions", "each", "noted"),
    [
        (10, 6, 2, ("--runs 10: measured as 6 sessions of 2, 12 runs",)),
        (12, 6, 2, ()),
        (4, 4, 1, ()),
        (1, 1, 1, ()),
    ],
)
def test_runs_that_are_asked_for_come_in_up_to_six_sessions_and_one_look(
    runs, sessions, each, noted
):
    plan = plan_sitting([0.001, 0.001], runs=runs)
    assert (plan.runs, plan.noted, plan.cap_s) == (each, noted, math.inf)
    assert plan.looks_plan.rule == "planned"
    assert plan.looks_plan.looks == (sessions,)
    assert plan.most_sessions == plan.least_sessions == sessions


def test_with_sessions_the_runs_are_those_of_each():
    plan = plan_sitting([0.001, 0.001], runs=5, sessions=3)
    assert (plan.runs, plan.looks_plan.looks) == (5, (3,))
    assert plan_sitting([0.05, 0.05], sessions=9).runs == 2


def test_the_least_and_the_most_runs_are_kept():
    assert plan_sitting([0.1, 0.1], least_runs=20).least_sessions == 20
    few = plan_sitting([0.001, 0.001], most_runs=10)
    assert (few.runs, few.most_sessions) == (1, 10)
    assert plan_sitting([0.1, 0.1], most_runs=4).least_sessions == 4
    with pytest.raises(UsageError, match="more than at most"):
        plan_sitting([0.1, 0.1], least_runs=5, most_runs=4)


@pytest.mark.parametrize("more", [{"for_s": 5.0}, {"least_runs": 3}, {"open_list": True}])
def test_a_planned_number_of_runs_is_not_stopped(more):
    with pytest.raises(UsageError, match="leave out --runs"):
        plan_sitting([0.1, 0.1], runs=10, **more)
