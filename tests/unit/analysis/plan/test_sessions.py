"""Plans of sessions, from pilots whose variances are known.

Authority: the components of the pilot put through the enumeration of `test_search`; theory for what a
shift of one side costs; the Speedup-Test for its number.
"""

from __future__ import annotations

import itertools
import json
import math
import runpy
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from scipy.special import stdtr, stdtrit

from analysis.data.matrix import PerformanceMatrix
from analysis.data.trial import read_trial
from analysis.errors import InsufficientDataError, UsageError
from analysis.methods.multilevel.compare import multilevel
from analysis.plan.components import (
    ComponentLine,
    Goal,
    TrialCosts,
    trial_costs,
    variance_components,
)
from analysis.plan.sessions import (
    cheapest,
    decidable,
    decidable_by,
    errors,
    least_sessions,
    plan_decides,
    plan_sessions,
    session_cautions,
)
from analysis.stats.multiplicity import adjusted

t_power = runpy.run_path(str(Path(__file__).parents[3] / "power.py"))["t_power"]


@cache
def pilot(seed=1, *, own=0.01, noise=0.02, sessions=6, runs=8, benchmarks=3, gain=0.05, shared=0.3):
    rng = np.random.default_rng(seed)
    shape = (2, benchmarks, sessions, runs)
    logs = rng.normal(0, noise, shape) + shared * rng.normal(0, 1, (benchmarks, sessions, 1))
    logs[0] += own * rng.normal(0, 1, (benchmarks, sessions, 1)) - gain
    session = np.repeat(np.arange(1, sessions + 1), runs)
    return [
        PerformanceMatrix.from_samples(
            name,
            {f"b{k}": np.exp(row.ravel()) for k, row in enumerate(side)},
            better="lower",
            sessions={f"b{k}": session for k in range(benchmarks)},
            blocks={f"b{k}": np.arange(session.size) for k in range(benchmarks)},
        )
        for name, side in zip(("new", "old"), logs, strict=True)
    ]


COSTS = TrialCosts(block_s=3.0, warmup_s=4.0, between_s=1.0, sessions=6, blocks=48)


def error_of(line, sessions, runs):
    return math.sqrt((line.session_sd**2 + line.run_sd**2 / runs) / sessions)


@pytest.mark.parametrize("on", ["suite", "benchmarks"])
def test_the_plan_reaches_what_was_asked_for_and_less_does_not(on):
    new, old = pilot()
    found = plan_sessions(new, old, width=0.03, effect=1.02, on=on, costs=COSTS)
    parts = variance_components(new, old)
    lines = (parts.suite,) if on == "suite" else parts.benchmarks
    assert found.components == parts

    def enough(sessions, runs):
        half = math.asinh(0.03 / 2)
        quantile = float(stdtrit(sessions - 1, 0.975))
        errors = [error_of(line, sessions, runs) for line in lines]
        if max(errors) * quantile > half:
            return False
        return all(t_power(math.log(1.02) / error, sessions - 1, 0.05) >= 0.8 for error in errors)

    assert enough(found.sessions, found.runs)
    plans = sorted((COSTS.seconds(s, r), s, r) for s in range(2, 31) for r in range(1, 41))
    cheapest = next(plan for plan in plans if enough(*plan[1:]))
    assert (found.seconds, found.sessions, found.runs) == (
        pytest.approx(cheapest[0]),
        *cheapest[1:],
    )
    for row in found.table:
        if row.runs is not None:
            assert enough(row.sessions, row.runs)
            assert row.width <= 0.03 * (1 + 1e-12)
            assert row.detectable <= 1.02 * (1 + 1e-9)
            assert row.seconds == pytest.approx(COSTS.seconds(row.sessions, row.runs))


def test_what_it_detects_is_told_with_that_power():
    found = plan_sessions(*pilot(), width=0.03, power=0.9, costs=COSTS)
    these = found.benchmarks[-1]
    assert these.name == "these"
    error = error_of(these, found.sessions, found.runs)
    power = t_power(math.log(these.detectable) / error, found.sessions - 1, 0.05)
    assert float(power) == pytest.approx(0.9, abs=1e-8)


def test_a_shift_that_both_sides_share_costs_nothing():
    shared = plan_sessions(*pilot(own=0.0), width=0.03)
    assert max(line.session_sd for line in shared.benchmarks) < 0.02
    assert shared.sessions < 8
    own = plan_sessions(*pilot(own=0.1), width=0.03)  # negative control: it moves one side only
    assert own.sessions is None or own.sessions > 20


def test_dearer_sessions_make_fewer_of_them_with_more_runs():
    sides = pilot()
    cheap = plan_sessions(*sides, width=0.03, costs=COSTS)
    dear = plan_sessions(
        *sides,
        width=0.03,
        costs=TrialCosts(block_s=3.0, warmup_s=400.0, between_s=None, sessions=6, blocks=48),
    )
    assert dear.sessions < cheap.sessions
    assert dear.runs > cheap.runs


def test_the_quartiles_enclose_the_plan():
    found = plan_sessions(*pilot(), width=0.03)
    assert found.sessions_low <= found.sessions <= found.sessions_high
    few = plan_sessions(*pilot(sessions=2), width=0.03, max_sessions=1000)
    many = plan_sessions(*pilot(sessions=20), width=0.03)
    assert many.sessions_high - many.sessions_low < few.sessions_high - few.sessions_low


def test_without_a_goal_an_interval_of_two_percent_is_planned():
    sides = pilot()
    assert plan_sessions(*sides) == plan_sessions(*sides, width=0.02)
    assert plan_sessions(*sides, effect=1.02).width is None


def test_an_effect_and_its_inverse_are_one():
    sides = pilot()
    caps = {"max_sessions": 30, "max_runs": 30}
    one, other = (plan_sessions(*sides, effect=effect, **caps) for effect in (1.02, 1 / 1.02))
    assert one.sessions
    assert (one.sessions, one.runs) == (other.sessions, other.runs)


def test_with_one_run_a_session_only_sessions_are_planned():
    found = plan_sessions(*pilot(runs=1), width=0.1)
    assert found.runs == 1
    assert "one-run-a-session" in [caution.code for caution in found.cautions]
    assert all(row.runs in (1, None) for row in found.table)


def test_no_plan_up_to_the_caps_is_said():
    found = plan_sessions(*pilot(own=0.3), width=0.001, max_sessions=10)
    assert (found.sessions, found.runs, found.seconds, found.protocol) == (None,) * 4
    assert "needs more than 10 sessions of up to 100 runs: measure differently" in " ".join(
        str(found).split()
    )


def test_a_pilot_of_one_session_is_refused():
    with pytest.raises(InsufficientDataError, match="the pilot has one session, and 2 are needed"):
        plan_sessions(*pilot(sessions=1))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"width": 0.0}, "width must be a number above 0"),
        ({"effect": 1.0}, "an effect of 1 is none"),
        ({"effect": -2.0}, "effect must be a number above 0"),
        ({"power": 0.05}, "power must lie above the risk"),
        ({"power": 1.0}, "power must lie between 0 and 1"),
        ({"confidence": 1.0}, "confidence must lie between 0 and 1"),
        ({"max_sessions": 1}, "max_sessions must lie between 2"),
        ({"max_sessions": 10_001}, "max_sessions must lie between 2 and 10,000, and is 10001"),
        ({"max_runs": 0}, "max_runs must lie between 1"),
        ({"on": "runs"}, "on must be 'suite' or 'benchmarks'"),
    ],
)
def test_what_is_out_of_range_is_refused(options, message):
    with pytest.raises(UsageError, match=message):
        plan_sessions(*pilot(), **options)


def codes(found):
    return [caution.code for caution in found.cautions]


@pytest.mark.parametrize(("confidence", "sessions"), [(0.95, 3), (0.99, 4)])
def test_counts_that_do_not_vary_take_the_sessions_that_decide_them(confidence, sessions):
    def sides(count):
        ids, given = {"a": range(count)}, {"better": "lower", "unit": "count"}
        each = (("new", 110.0), ("old", 100.0))
        of = PerformanceMatrix.from_samples
        return [of(name, {"a": [x] * count}, sessions=ids, **given) for name, x in each]

    assert plan_sessions(*sides(6), effect=1.05, confidence=confidence).sessions == sessions
    found = (multilevel(*sides(n), confidence=confidence) for n in (sessions - 1, sessions))
    assert [one.benchmarks[0].outcome for one in found] == ["undecided", "slower"]


def test_cautions():
    assert codes(plan_sessions(*pilot(), costs=COSTS)) == []
    assert codes(plan_sessions(*pilot())) == ["costs-unknown"]
    assert "few-pilot-sessions" in codes(plan_sessions(*pilot(sessions=3)))
    still = [
        PerformanceMatrix.from_samples(
            name, {"a": [1.0] * 4}, better="lower", sessions={"a": [1, 1, 2, 2]}
        )
        for name in ("new", "old")
    ]
    found = plan_sessions(*still)
    assert {"pilot-without-spread", "blocks-unknown"} <= set(codes(found))
    assert (found.sessions, found.runs) == (3, 1)
    zero = plan_sessions(*pilot(own=0.0, seed=4), on="benchmarks", width=0.03)
    assert "no-session-component" in codes(zero)
    far = TrialCosts(block_s=0.01, warmup_s=900.0, between_s=None, sessions=6, blocks=48)
    found = plan_sessions(*pilot(own=0.0, runs=3), width=0.008, costs=far)
    assert found.runs > 30
    assert "far-from-the-pilot" in codes(found)


@pytest.mark.parametrize(("runs", "told"), [(80, []), (81, ["far-from-the-pilot"])])
def test_far_from_the_pilot_is_more_than_ten_times_its_runs(runs, told):
    lines = variance_components(*pilot(runs=8)).benchmarks
    found = session_cautions(lines, best=(2, runs), costs=COSTS)
    assert [one.code for one in found if "no-session" not in one.code] == told


def test_hours_minutes_and_seconds():
    wide = TrialCosts(block_s=900.0, warmup_s=60.0, between_s=None, sessions=6, blocks=48)
    assert " h\n" in str(plan_sessions(*pilot(), costs=wide))
    assert " min, a session's warm-up 60 s" in " ".join(
        str(plan_sessions(*pilot(), costs=wide)).split()
    )


# --- The cheapest plan, and what it is looked for with.
#
# Authority: enumeration of every plan in plain loops, each judged by its own t quantile and by the power
# of its own t test; Kalibera and Jones' closed form (2013) as what it is not.


SESSIONS, RUNS = 15, 12


def reaches(spreads, goal, sessions, runs):
    for spread in spreads:
        between, within = spread.variances
        error = math.sqrt((between + within / runs) / sessions)
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


def line_of(session_sd, run_sd):
    return ComponentLine("b", 0.0, session_sd, run_sd, None, 2, 2)


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
        line_of(float(rng.uniform(0, 0.01)), float(rng.uniform(0, 0.04)))
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
    between, within = spread.variances
    return math.sqrt(session_cost / run_cost * within / between) if between else math.inf


@pytest.mark.parametrize("between", [0.0, 0.001, 0.004, 0.02])
def test_the_closed_form_is_not_the_cheapest(between):
    # sessions of 60 s before the first run, runs of 2 s: by the closed form of Kalibera and Jones
    spread = line_of(between, 0.03)
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
    spread = line_of(0.0, 0.03)
    goal = Goal(half=0.02, effect=None, power=0.8, alpha=0.05)
    ours, _ = cheapest((spread,), goal, lambda s, r: s * (60 + r), sessions=20, runs=99)
    assert ours[0] > 2
    error = errors((spread,), 2, 9)[0, -1]
    assert 1.96 * error < 0.02 < float(stdtrit(1, 0.975)) * error


def test_of_plans_that_cost_the_same_the_one_with_more_sessions_is_taken():
    spread = line_of(0.0, 0.01)
    goal = Goal(half=1.0, effect=None, power=0.8, alpha=0.05)
    best, _ = cheapest((spread,), goal, lambda _s, _r: 1.0, sessions=7, runs=3)
    assert best == (7, 1)


def test_the_fewest_sessions_of_given_runs():
    for runs, (between, within) in itertools.product((1, 20), ((0.01, 0.0316), (0.0, 0.02))):
        spreads = (line_of(between, within),)
        found = least_sessions(spreads, GOALS[2], runs, most=40)
        held = [s for s in range(2, 41) if reaches(spreads, GOALS[2], s, runs)]
        assert found == (min(held) if held else None)


def test_what_cannot_be_reached_has_no_plan():
    spread = line_of(1.0, 1.0)
    best, least = cheapest((spread,), GOALS[0], lambda s, r: s * r, sessions=9, runs=9)
    assert best is None
    assert least == [None] * 8
    assert least_sessions((spread,), GOALS[0], 3, most=9) is None


# --- What a trial's sessions and runs cost.
#
# Authority: trials whose every second is laid down here.


TIMES = {name: {"a": [1.0] * 6, "b": [2.0] * 6} for name in ("old", "new")}
IDLE = 0.5  # between two runs
GAP = 7.0  # between two sessions


@pytest.fixture
def measured(synthetic, tmp_path):
    """Write a trial of two sessions, and change its rows before that."""

    def write(change=lambda _k, row: row, gap=GAP):
        made = synthetic(TIMES, sessions=2, warmup=1)
        clock, rows = 1_000.0, []
        for k, row in enumerate(made.rows):
            if k and row.session != made.rows[k - 1].session:
                clock += gap - IDLE
            rows.append(change(k, replace(row, start_ns=round(clock * 1e9))))
            clock += row.wall_ns / 1e9 + IDLE
        made.rows = rows
        return trial_costs(read_trial(made.write(tmp_path / "trial")))

    return write


def test_runs_warm_ups_and_pauses_are_told_apart(measured):
    found = measured()
    cells = 2 * (1.0 + 2.0) + 4 * IDLE
    slow = 3 * 2 * (1.0 + 2.0) + 4 * IDLE  # the first runs take three times as long
    assert found.block_s == pytest.approx(cells)
    assert found.warmup_s == pytest.approx(slow)
    assert found.between_s == pytest.approx(GAP)
    assert (found.sessions, found.blocks) == (2, 6)
    assert found.seconds(5, 4) == pytest.approx(5 * (slow + 4 * cells) + 4 * GAP)


def test_an_interruption_is_no_cost_of_a_run(measured):
    found = measured(
        lambda k, row: replace(row, segment=1, start_ns=row.start_ns + 10**13) if k >= 24 else row
    )
    assert found.block_s == pytest.approx(2 * 3.0 + 4 * IDLE)
    assert found.between_s == pytest.approx(GAP)


def test_nights_between_sessions_are_not_counted(measured):
    found = measured(gap=20_000.0)
    assert found.between_s is None
    assert found.seconds(2, 0) == pytest.approx(2 * found.warmup_s)


def test_a_start_that_is_not_known_leaves_the_run_and_what_others_needed(measured):
    found = measured(lambda k, row: replace(row, start_ns=None) if k == 9 else row)
    assert found.block_s == pytest.approx(2 * 3.0 + 4 * IDLE)


def test_without_any_clock_the_runs_alone_count(measured):
    found = measured(lambda _k, row: replace(row, start_ns=None))
    assert found.block_s == pytest.approx(6.0)
    assert found.between_s is None


def test_without_a_known_time_there_is_no_cost(measured):
    with pytest.raises(InsufficientDataError, match="no run whose time is known"):
        measured(lambda _k, row: replace(row, outcome="hook-failed", wall_ns=None))


# --- What a plan can decide, told beforehand
#
# Authorities: a simulation of the verdict's law, the verdict itself at both sides of its border, and
# `plan_sessions`, which asks the same of one benchmark.


SAMPLE = Path(__file__).parents[4] / "runs" / "sample"


@pytest.mark.parametrize(("sessions", "benchmarks", "place"), [(6, 29, 1), (8, 1, 2)])
def test_a_difference_of_that_size_is_found_in_four_of_five_simulated_trials(
    rng, sessions, benchmarks, place
):
    found = decidable(sessions, 8, benchmarks).at[place]
    trials = 4000
    logs = rng.normal(0, found.spread, (trials, benchmarks, sessions))
    logs[:, 0] += math.log1p(found.benchmark)

    def pvalues(values):
        t = values.mean(axis=-1) / (values.std(axis=-1, ddof=1) / math.sqrt(sessions))
        return 2 * stdtr(sessions - 1, -np.abs(t))

    named = np.array([adjusted(row)[0] <= 0.05 for row in pvalues(logs)])
    # Holm's later steps find a little more where another benchmark is named by chance
    assert 0.77 < named.mean() < 0.83
    uncorrected = (
        pvalues(logs)[:, 0] <= 0.05
    )  # the negative control: without Holm it is another law
    assert (uncorrected.mean() > 0.9) == (benchmarks > 1)
    if benchmarks > 1:
        suite = rng.normal(0, found.spread, (trials, benchmarks, sessions)).mean(axis=1)
        assert 0.77 < (pvalues(suite + math.log1p(found.suite)) <= 0.05).mean() < 0.83


@pytest.mark.parametrize("benchmarks", [1, 4])
def test_the_verdict_turns_where_the_law_says(benchmarks):
    # half of the interval at Holm's first step, by which the power was reckoned
    sessions, sd = 6, 0.02
    pattern = np.array([1.2, -1.2, 1, -1, 0.8, -0.8])  # no two values are equal: no clock shows
    pattern *= sd / pattern.std(ddof=1)
    border = float(stdtrit(sessions - 1, 1 - 0.025 / benchmarks)) * sd / math.sqrt(sessions)
    ids = {f"b{k}": list(range(sessions)) for k in range(benchmarks)}
    theirs = {name: [1.0] * sessions for name in ids}
    for factor, word in ((1.01, "faster"), (0.99, "undecided")):
        ours = {name: np.exp(-pattern) for name in ids}
        ours["b0"] = np.exp(-pattern - factor * border)
        sides = (
            PerformanceMatrix.from_samples(name, rows, better="lower", sessions=ids)
            for name, rows in (("x", ours), ("y", theirs))
        )
        assert multilevel(*sides).benchmarks[0].outcome == word


def test_one_benchmark_is_planned_as_the_planner_plans_it(pair):
    sessions = np.repeat(np.arange(5), 4).tolist()
    ours, theirs = pair(n=1, m=20, sessions={"b0": sessions})
    plan = plan_sessions(ours, theirs, width=0.1, max_sessions=10)
    line = plan.components.benchmarks[0]
    row = next(row for row in plan.table if row.runs is not None)
    spread = math.hypot(line.session_sd, line.run_sd / math.sqrt(row.runs))
    one = decidable(row.sessions, row.runs, 1).at[0]
    shift = math.log1p(one.benchmark) * spread / one.spread
    assert shift == pytest.approx(math.log(row.detectable), rel=1e-9)


@pytest.mark.parametrize(("sessions", "benchmarks"), [(3, 1), (6, 29)])
def test_half_of_it_needs_that_many_sessions_and_no_fewer(sessions, benchmarks):
    for one in decidable(sessions, 8, benchmarks).at:

        def told(count, spread=one.spread):
            return next(
                x for x in decidable(count, 8, benchmarks).at if x.spread == spread
            ).benchmark

        half = math.log1p(one.benchmark) / 2
        assert math.log1p(told(one.half_sessions)) <= half < math.log1p(told(one.half_sessions - 1))


def test_more_sessions_decide_more_and_more_benchmarks_less():
    by_sessions = [decidable(s, 8, 5).at for s in (2, 3, 6, 20)]
    by_benchmarks = [decidable(6, 8, m).at for m in (1, 5, 29)]
    for rows, falling in ((by_sessions, True), (by_benchmarks, False)):
        for at in zip(*rows, strict=True):
            told = [one.benchmark for one in at]
            assert told == sorted(told, reverse=falling)


def test_what_is_said():
    told = str(decidable(6, 8, 29))
    assert told.startswith(
        "6 sessions, 29 benchmarks: differences below about 3.1 % of a benchmark, 0.27 % of the suite "
        "cannot be decided at a spread of 1 %; 6.4 %, 0.53 % at 2 %; 17 %, 1.3 % at 5 %. Half of that needs 12 "
        "sessions. These spreads are assumed"
    )
    assert "of the suite" not in str(decidable(6, 8, 1))
    assert "; over 900 %, 29 % at 5 %" in str(decidable(2, 5, 5))
    assert "hardly any difference" in (hardly := str(decidable(2, 8, 29)))
    assert "Half of that" not in hardly
    assert str(decidable(6, 8, 29, "rps")).startswith("6 sessions, 29 benchmarks by rps: differ")
    assert str(decidable(1, 8, 3)).startswith("1 session decides nothing")
    assert decidable(1, 8, 3).at == ()
    json.dumps(decidable(2, 8, 29).to_dict(), allow_nan=False)


def test_the_spread_is_that_of_an_earlier_trial_of_the_same_cells():
    trial = read_trial(SAMPLE)
    names = {"benchmarks": trial.manifest.benchmarks, "variants": trial.manifest.variants}
    asked = {"sessions": 12, "runs": 4, **names}
    found = plan_decides([SAMPLE.parent / "none", SAMPLE], **asked)
    assert (found.trial, found.trial_sessions) == ("sample", 6)
    base, other = trial.manifest.variants
    (one,) = found.at
    assert one.candidate == other
    lines = variance_components(trial.matrix(other), trial.matrix(base)).benchmarks
    spreads = [math.sqrt(x.session_sd**2 + (x.run_sd or 0) ** 2 / 4) for x in lines]
    assert one.spread == pytest.approx(float(np.median(spreads)))
    assert "measured in 6 sessions of sample. Half of that needs " in str(found)
    assert "assumed" not in str(found)
    # it is that of the metric which the plan will judge; a trial without it tells nothing
    by_user = plan_decides([SAMPLE], **asked, metric="user")
    assert (by_user.trial, by_user.metric) == ("sample", "user")
    assert by_user.at[0].spread != one.spread
    assert plan_decides([SAMPLE], **asked, metric="rps").trial is None
    # one whose sessions do not differ tells no spread
    flat = replace(trial, numbers={**trial.numbers, "wall_ns": np.full(len(trial), 1e9)})
    with pytest.raises(InsufficientDataError, match="two sessions with the baseline that differ"):
        decidable_by(flat, 6, 8)
    # a trial of other cells tells nothing
    assert plan_decides([SAMPLE], **asked | {"variants": (base, "z")}).trial is None


@pytest.mark.parametrize(
    ("sessions", "told"),
    [
        (
            3,
            "3 sessions, 2 benchmarks by size: the counts do not vary, so 4 sessions decide",
        ),
        (
            4,
            "4 sessions, 2 benchmarks by size: the counts do not vary, so 4 sessions decide",
        ),
    ],
)
def test_counts_that_do_not_vary_need_sessions_and_no_size(synthetic, tmp_path, sessions, told):
    runs = {name: {"x": [1.0] * 6, "y": [1.0] * 6} for name in ("old", "new")}
    one = synthetic(runs, sessions=2, metrics={"size": {"unit": "B", "better": "lower"}})
    one.rows = [replace(row, metrics={"size": (7.0,)}) for row in one.rows]
    found = decidable_by(read_trial(one.write(tmp_path / "t")), sessions, 3, "size")
    assert str(found).startswith(told)
    assert found.at[0].benchmark == (0.0 if sessions > 3 else None)
