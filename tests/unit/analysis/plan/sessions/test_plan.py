"""Plans of sessions, from pilots whose variances are known.

Authority: the components of the pilot put through the enumeration of `test_search`; theory for what a
shift of one side costs; the Speedup-Test for its number.
"""

import math
import runpy
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from scipy.special import stdtrit

from analysis.data.matrix import PerformanceMatrix
from analysis.errors import InsufficientDataError, UsageError
from analysis.plan.components import TrialCosts, variance_components
from analysis.plan.sessions import plan_sessions, session_cautions

t_power = runpy.run_path(str(Path(__file__).parents[4] / "power.py"))["t_power"]


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
    assert (found.sessions, found.runs) == (100, 1) or found.sessions == 2
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
    wide = TrialCosts(block_s=600.0, warmup_s=60.0, between_s=None, sessions=6, blocks=48)
    assert " h\n" in str(plan_sessions(*pilot(), costs=wide))
    assert " min, a session's warm-up 60.0 s" in " ".join(
        str(plan_sessions(*pilot(), costs=wide)).split()
    )
