"""How many runs: plans from a pilot, against theory and their own promises."""

import math
from functools import partial

import numpy as np
import pytest
from scipy import stats

from analysis.errors import InsufficientDataError, UsageError
from analysis.pages.model import Table, Value, page_of
from analysis.plan import runs as pilot
from analysis.plan.runs import least_runs, plan_runs, residuals
from analysis.stats.arguments import stream

quick = partial(plan_runs, simulations=100)


def test_a_plan_agrees_with_theory(pair, rng):
    # Equal normal strata: the half width at m runs is about 1.96 sd sqrt(2 / (n m)).
    sd, n = 0.02, 8
    x, y = pair(3, sd, n, 200)
    plan = plan_runs(x, y, width=0.01, effect=1.005, rng=rng)
    z, power_z = stats.norm.ppf([0.975, 0.8])
    for_width = 2 * n * (2 * z * sd / (n * 0.01)) ** 2
    for_effect = 2 * n * ((z + power_z) * sd / (n * math.log(1.005))) ** 2
    assert plan.runs_for_width == pytest.approx(for_width, rel=0.12)
    assert plan.runs_for_effect == pytest.approx(for_effect, rel=0.12)
    row = next(r for r in plan.table if r.runs == 20)
    theory = plan.speedup**2 * sd**2 * 2 / (n * 20)
    assert row.mse == pytest.approx(theory, abs=5 * row.mse_error + 0.1 * theory)
    # the square of a normal error has sqrt(2) times its mean as standard deviation (chi-squared, 1 df)
    assert row.mse_sd == pytest.approx(math.sqrt(2) * theory, rel=0.24)
    assert row.mse_error == pytest.approx(row.mse_sd / math.sqrt(1000))
    # figure 12 b: both decrease with the runs
    at = {r.runs: r for r in plan.table}
    for name in ("mse", "mse_sd"):
        three, ten, thirty = (getattr(at[m], name) for m in (3, 10, 30))
        assert three > 2 * ten > 4 * thirty > 0
    assert 0.92 < row.coverage < 0.98
    assert row.detectable == pytest.approx(
        math.exp((stats.t.ppf(0.975, 2 * n * 19) + power_z) * sd * math.sqrt(2 / (n * 20))),
        rel=2e-3,
    )


def test_the_answers_keep_their_promise(pair, rng):
    plan = plan_runs(*pair(), width=0.02, effect=1.02, rng=rng)
    rows = {row.runs: row for row in plan.table}
    assert rows[plan.runs_for_width].chance >= 0.8
    assert rows[plan.runs_for_effect].power >= 0.8
    assert plan.loop.why == "width"
    text = " ".join(str(plan).split())
    assert f"width 0.02 or less needs {plan.runs_for_width} runs" in text
    assert f"a speedup of 1.02x from none needs {plan.runs_for_effect} runs" in text
    assert all(len(line) <= 96 for line in str(plan).splitlines())


def test_only_what_is_asked_for_and_not_reached_is_capped(pair, rng):
    x, y = pair()
    assert quick(x, y, width=0.02, effect=1.02, rng=rng).capped == ()
    assert quick(x, y, width=0.02, rng=rng).capped == ()
    assert quick(x, y, width=0.02, effect=1.00001, max_runs=200, rng=rng).capped == ("effect",)


def test_the_loop_of_a_plan_starts_at_five_runs_where_there_are_so_many(pair, rng):
    for runs, start in ((20, 5), (5, 5), (4, 4), (3, 3)):
        assert quick(*pair(m=runs), width=1e-6, max_runs=60, rng=rng).loop.steps[0].runs == start


def test_arguments_are_refused_before_the_pilot_is_looked_at(pair, rng):
    with pytest.raises(UsageError, match="width must be a number above 0"):
        plan_runs(*pair(m=2), width=-1.0, rng=rng)


def test_an_effect_below_one_needs_as_many(pair, rng):
    slower = quick(*pair(), effect=1 / 1.01, rng=rng)
    faster = quick(*pair(), effect=1.01, rng=stream(5, "test"))
    assert slower.runs_for_effect == faster.runs_for_effect


def test_a_plan_is_capped_and_says_so(pair, rng):
    plan = quick(*pair(), width=1e-5, effect=1.00001, max_runs=20, rng=rng)
    assert (plan.runs_for_width, plan.runs_for_effect) == (None, None)
    assert plan.capped == ("width", "effect")
    assert "needs more than 20 runs, the cap" in " ".join(str(plan).split())
    assert max(row.runs for row in plan.table) == 20


def test_seeds_repeat_and_a_benchmark_more_changes_no_stream(pair, rng):
    plans = [quick(*pair(), width=0.02, rng=stream(k, "t")).to_dict() for k in (1, 1, 2)]
    assert plans[0] == plans[1] != plans[2]


def test_what_differs_between_sessions_is_not_spread_between_runs():
    logs = np.array([0.0, 0.1, 0.2, 5.0, 5.1, 5.2])
    found = residuals(logs, np.array([1, 1, 1, 2, 2, 2]))
    assert found == pytest.approx(np.array([-0.1, 0, 0.1] * 2) * math.sqrt(6 / 4))
    assert residuals(logs, None).std() == pytest.approx(logs.std(ddof=1))
    # two runs more than sessions are enough to tell the spread around the sessions' means
    two = residuals(logs[[0, 1, 3, 4]], np.array([1, 1, 2, 2]))
    assert two == pytest.approx(np.array([-0.05, 0.05] * 2) * math.sqrt(4 / 2))
    one = residuals(logs[[0, 1, 3]], np.array([1, 1, 2]))
    assert one == pytest.approx((logs[[0, 1, 3]] - logs[[0, 1, 3]].mean()) * math.sqrt(3 / 2))
    single = residuals(logs[:3], np.array([1, 2, 3]))  # a run a session: their spread is all
    assert single.std() == pytest.approx(0.1)
    assert residuals(np.full(5, math.log(0.3)), None).tolist() == [0.0] * 5


def test_constant_pilots_need_no_more_than_the_least(matrix, rng):
    flat = matrix("x", np.zeros((3, 4)))
    plan = quick(flat, flat, width=0.001, effect=1.001, rng=rng)
    assert (plan.runs_for_width, plan.runs_for_effect) == (3, 3)


def test_scales(pair):
    needed = {quick(*pair(scale=s), width=0.02, rng=stream(5, "t")).runs_for_width
              for s in (1e-9, 1, 1e9)}  # fmt: skip
    assert len(needed) == 1


def test_a_pilot_of_two_runs_is_too_small(pair, rng):
    with pytest.raises(InsufficientDataError, match="2 runs, and 3 are needed"):
        quick(*pair(m=2), width=0.1, rng=rng)
    assert quick(*pair(m=3), width=0.1, rng=rng).loop.steps[0].runs == 3


@pytest.mark.parametrize(
    "wrong",
    [
        {"width": -1.0},
        {"effect": 1.0},
        {"effect": 0.0},
        {"effect": math.inf},
        {"power": 1.0},
        {"confidence": 0.0},
        {"max_runs": 2},
        {"max_runs": 10_001},
        {"grid": (1,)},
        {"simulations": 9},
    ],
)
def test_wrong_arguments_of_a_plan(pair, rng, wrong):
    with pytest.raises(UsageError):
        plan_runs(*pair(), rng=rng, **wrong)


def test_cautions_name_what_the_plan_rests_on(pair, rng):
    few = quick(*pair(m=5), rng=rng)
    text = " ".join(map(str, few.cautions))
    assert "within one session" in text
    assert "only 5 runs" in text
    assert "does not say which runs share a session" in text
    assert str(few).startswith("x against y: what a number of runs would bring")


def test_the_documented_figures(pair, rng):
    # docs/planning.md: the numbers of runs of figure 12, 1,000 simulations, a cap of 1,000 runs
    plan = plan_runs(*pair(), rng=rng)
    assert [row.runs for row in plan.table] == [3, 5, 7, 10, 15, 20, 30, 50, 100]
    assert (plan.simulations, plan.max_runs, plan.power, plan.confidence) == (1000, 1000, 0.8, 0.95)
    capped = plan_runs(*pair(), width=1e-6, simulations=100, rng=rng)
    assert "needs more than 1000 runs, the cap (probability 0.8)" in " ".join(str(capped).split())
    most = plan_runs(*pair(), max_runs=10_000, grid=(3,), simulations=100, rng=rng)
    assert most.max_runs == 10_000
    with pytest.raises(UsageError, match="between 3 and 10,000, and is 10001"):
        plan_runs(*pair(), max_runs=10_001, rng=rng)


@pytest.mark.parametrize(("runs", "told"), [(9, True), (10, False)])
def test_a_pilot_of_fewer_than_ten_runs_is_small(pair, rng, runs, told):
    x, y = pair(m=12)
    short = {name: y.values(name)[: runs + k] for k, name in enumerate(y.benchmarks)}
    plan = quick(x, type(y).from_samples("y", short, better="lower"), rng=rng)
    found = [c.text for c in plan.cautions if c.code == "small-pilot"]
    assert [f"only {runs} runs of some benchmark" in text for text in found] == [True] * told


@pytest.mark.parametrize("most", [437, 10_000])
def test_the_search_is_exact_below_400_runs_and_good_to_half_a_percent_above(most):
    for least in [*range(3, 400), 401, 437, 799, 1000, 6143, 9999]:
        found = least_runs(lambda m, least=least: float(m >= least), 1.0, most)
        if least > most:
            assert found is None
        elif found < 400:
            assert found == least
        else:
            assert least <= found <= min(1.005 * least, most)


def test_the_search_never_looks_beyond_the_cap():
    looked = []

    def goal(runs):
        looked.append(runs)
        return float(runs >= 7)

    assert least_runs(goal, 1.0, 7) == 7
    assert max(looked) == 7
    assert least_runs(goal, 1.0, 6) is None
    assert max(looked) == 7
    assert least_runs(lambda m: 0.0, 1.0, 3) is None


def test_how_much_is_held_at_a_time_changes_no_number(pair, monkeypatch):
    at_once = plan_runs(*pair(), grid=(3, 50), simulations=250, rng=stream(5, "t"))
    monkeypatch.setattr(pilot, "_CHUNK", 5000)  # a hundred trials of 50 runs
    assert plan_runs(*pair(), grid=(3, 50), simulations=250, rng=stream(5, "t")) == at_once


def test_a_speedup_that_is_detectable_only_when_huge_is_left_out(matrix, rng):
    noisy = [[0.0, 4.0, -4.0]]
    plan = plan_runs(matrix("x", noisy), matrix("y", noisy), grid=(3,), rng=rng)
    (table,) = (b for s in page_of(plan).sections for b in s.blocks if isinstance(b, Table))
    (place,) = (k for k, c in enumerate(table.columns) if c.heading == "detectable")
    assert table.rows[0][place] == Value("-", plan.table[0].detectable)


def test_a_plan_says_the_cautions_of_its_loop_once(pair, rng):
    plan = quick(*pair(m=5), width=0.05, rng=rng)
    cautions = page_of(plan).cautions
    assert set(cautions) == {*plan.cautions, *plan.loop.cautions}
    assert len(cautions) == len(set(cautions))
