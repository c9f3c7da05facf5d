"""One look at commands under measurement: the verdict's own numbers, and what they mean for going on.

Authority: Student's t at the nominal risk by scipy, on the differences of session means; the rules of the
decisions on several candidates, each with a case in which the rule does not hold (negative control).
"""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from analysis.plan.compare_looks import look_at
from analysis.record.trial_files import LOOKS, OPEN_LOOKS, LooksPlan
from analysis.stats.multiplicity import nominal_risk


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
