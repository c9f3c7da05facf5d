"""Which iterations of a run are judged, and what is said of the others.

Authority: means of what is left, computed here by slices; the rule of a tenth and Fisher's exact test by scipy.
"""

import json
import runpy
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from analysis.data.columns import MetricColumn
from analysis.data.iterations import STATES
from analysis.data.trial import Trial
from analysis.errors import InsufficientDataError
from analysis.history.places import unsteady_variants
from analysis.pages.result import plain
from analysis.record.manifest import WARMUP_ASKED, judging_with, read_warmup
from analysis.verdict.gate import gate_verdict
from analysis.verdict.judging import judge
from tests.json_schemas import misfits

planted = SimpleNamespace(**runpy.run_path(str(Path(__file__).parents[4] / "planted.py")))
ITERATIONS = 120


def trial(
    change=lambda values, variant, run: values,
    *,
    iterations: int = ITERATIONS,
    setting: str | None = None,
    override: object = None,
    runs: int = 4,
    better: str = "lower",
) -> Trial:
    """Give a trial whose variant v1 takes 10 % longer in each iteration, as `change` then makes it."""
    rng = np.random.default_rng(11)
    made = planted.frame(rng, sessions=6, runs=runs, variants=2)
    values, seen = [], [0, 0]
    for variant in made.variant.tolist():
        run = 1.1**variant * np.exp(
            0.003 * rng.standard_normal(iterations) + 0.002 * rng.standard_normal()
        )
        values.append(change(run.copy(), variant, seen[variant]))
        seen[variant] += 1
    about = {"unit": "ms", "better": better}
    if setting is not None:
        about["warmup_iterations"] = setting
    offsets = np.concatenate(([0], np.cumsum([one.size for one in values])))
    made = planted.filled(made, np.zeros(len(made)))
    return replace(
        made,
        manifest=replace(made.manifest, metrics={"t": about}, judge=()),
        metrics={"t": MetricColumn(values=np.concatenate(values), offsets=offsets)},
        warmup_iterations=override,
    )


def warming(values, variant, run):
    """Let v0 begin ten times as slow for 20 iterations, and v1 for none."""
    if variant == 0:
        values[:20] *= 10
    return values


def restless(share):
    """Let a share of the runs of v1 change in their last iterations."""

    def change(values, variant, run):
        if variant == 1 and run < round(share * 24):
            values[-15:] *= 1.3
        return values

    return change


def ratio(made: Trial, **how: object):
    return judge(made, metric="t", **how).candidates[0].multilevel.benchmarks[0]


@pytest.mark.parametrize("setting", [0, 1, 20, 118])
def test_a_number_leaves_so_many_out_of_each_mean(setting):
    made = trial(warming, override=setting)
    whole = made.metrics["t"]
    means = [
        whole.values[a:b][setting:].mean()
        for a, b in zip(whole.offsets, whole.offsets[1:], strict=False)
    ]
    np.testing.assert_allclose(made.values("t"), means, rtol=1e-12)
    assert made.metrics["t"].values.size == len(made) * ITERATIONS  # all stay
    below = made.matrix("v0", "t").iterations
    assert below[0].size == 24 * (ITERATIONS - setting)


def test_the_campaigns_setting_holds_and_another_one_takes_its_place():
    stored, zero = trial(warming, setting="20"), trial(warming, setting="20", override=0)
    assert ratio(stored).speedup == pytest.approx(1 / 1.1, rel=5e-3)
    assert ratio(zero).speedup == pytest.approx(2.5 / 1.1, rel=5e-3)  # (20 * 10 + 100) / 120
    assert ratio(trial(warming, setting="auto")).speedup == pytest.approx(1 / 1.1, rel=5e-3)
    assert ratio(trial(warming)).speedup == pytest.approx(2.5 / 1.1, rel=5e-3)


def test_auto_takes_each_runs_own_change_and_tells_of_it():
    made = trial(warming, override="auto")
    found = judge(made, metric="t")
    old, new = sorted(found.iterations, key=lambda one: one.variant)
    assert (old.states["warm-up"], [*old.left_out.values()]) == (24, [20, 20.0, 20])
    assert (new.states["flat"], [*new.left_out.values()]) == (24, [0, 0.0, 0])
    printed = found.to_dict()["iterations"]
    assert printed == plain(found.iterations)
    assert list(printed[0]["states"]) == list(STATES)
    assert not misfits(["verdict", "--json"], json.dumps(found.to_dict()))
    told = {one.code: one for one in found.cautions}
    assert "b0 20 (24 warm-up)" in " ".join(one.text for one in found.cautions)
    assert "no-steady-state" not in told
    assert "note  v0: iterations of a run that are left out as warm-up: 20" in str(found)


def test_trials_without_the_setting_say_nothing_of_iterations():
    found = judge(trial(), metric="t")
    assert found.iterations == ()
    assert not {"iterations-left-out", "no-steady-state", "no-iterations"} & {
        one.code for one in found.cautions
    }


def test_more_than_a_tenth_of_runs_without_a_steady_state_has_no_word():
    line = ratio(trial(restless(0.25), override="auto"))
    assert (line.outcome, line.reason) == ("undecided", "no-steady-state")
    assert line.speedup < 1 / 1.1  # the estimate stays, of all iterations of those runs
    few = ratio(trial(restless(0.05), override="auto"))
    assert (few.outcome, few.reason) == ("slower", None)
    # negative control: judged by their means alone, there is a word
    assert ratio(trial(restless(0.25))).outcome == "slower"


def test_sides_that_differ_in_it_have_no_word():
    from scipy.stats import fisher_exact

    # 6 of 60 are a tenth, and not more
    made = trial(restless(0.25), override="auto", runs=10)
    (old, new) = judge(made, metric="t").iterations
    assert (old.without, new.without, new.runs, new.unsteady) == (0, 6, 60, False)
    assert fisher_exact([[0, 60], [6, 54]]).pvalue < 0.05
    line = ratio(made)
    assert (line.outcome, line.reason) == ("undecided", "no-steady-state")


def test_the_sentence_and_the_gate_say_why_nothing_is_decided():
    answer = judge(trial(restless(0.5), override="auto"), metric="t")
    assert "too many runs reach no steady state" in answer.sentence
    assert "v1: no word on b0: too many runs reach no steady state" in str(answer)
    gated = gate_verdict(answer, "slower>2%")
    assert (gated.outcome, gated.exit_code) == ("undecided", 7)
    assert "too many runs reach no steady state" in str(gated)
    lower = gate_verdict(judge(trial(restless(0.5), override=0), metric="t"), "slower>2%")
    assert lower.outcome == "proven"  # negative control


def test_too_few_iterations_are_no_steady_state():
    answer = judge(trial(iterations=40, override="auto"), metric="t")
    line = answer.candidates[0].multilevel.benchmarks[0]
    assert line.reason == "no-steady-state"
    assert any("too few iterations (100 are needed)" in one.text for one in answer.cautions)


def test_a_run_that_has_no_iteration_behind_its_warm_up_counts_as_without_it():
    def shorter(values, variant, run):
        return values[:20] if variant == 1 and run == 0 else values

    made = trial(shorter, override=20)
    told = [one.text for one in judge(made, metric="t").cautions if one.code == "no-iteration-left"]
    assert "1 run printed no more iterations of t than are left out" in told[0]
    with pytest.raises(InsufficientDataError, match="behind those left out") as said:
        judge(trial(override=ITERATIONS), metric="t")
    assert said.value.fix.endswith("the longest run has 120 iterations")
    of_one = trial(lambda values, variant, _: values[: 20 if variant else None], override=20)
    assert "nothing is known of v1: no iteration of it is behind the warm-up" in str(
        judge(of_one, metric="t")
    )


def test_a_metric_of_every_run_has_no_iterations():
    made = trial(override=5)
    told = [one.text for one in judge(made, metric="wall").cautions if one.code == "no-iterations"]
    assert "wall has one value a run" in told[0]


@pytest.mark.parametrize(("setting", "option"), [("auto", None), (None, "auto")])
def test_one_value_a_run_is_no_process_without_a_steady_state(setting, option):
    made = trial(lambda values, *_: values[:1], setting=setting, override=option)
    answer = judge(made, metric="t")
    assert answer.candidates[0].multilevel.benchmarks[0].outcome == "slower"
    assert answer.iterations == ()
    (told,) = {one.text for one in answer.cautions if one.code == "no-iterations"}
    assert told.partition(" changes nothing: t has one value a run")[0].endswith(
        "--warmup-iterations" if option else "warmup_iterations"
    )


def test_counts_of_meters_are_no_iterations():
    made = trial(override=5)
    metrics = {"t": {**made.manifest.metrics["t"], "source": "counters"}}
    made = replace(made, manifest=replace(made.manifest, metrics=metrics))
    assert made.judged_iterations("t").setting == 0


def test_where_higher_is_better_a_slow_beginning_is_warm_up_too():
    def slow(values, variant, run):
        values[:20] /= 10
        return values

    (old, new) = judge(trial(slow, override="auto", better="higher"), metric="t").iterations
    assert old.states["warm-up"] == new.states["warm-up"] == 24


@pytest.mark.parametrize("text", ["", "-1", "1.5", "100001", "some", " 5", "1_0"])
def test_what_a_command_line_may_not_say(text):
    with pytest.raises(ValueError, match="a whole number from 0 to 100000, or auto"):
        read_warmup(text)


def test_what_was_asked_holds_for_what_is_read_meanwhile():
    assert WARMUP_ASKED.get() is None
    with judging_with("auto"):
        assert WARMUP_ASKED.get() == "auto"
        with judging_with(None):
            assert WARMUP_ASKED.get() == "auto"
    assert WARMUP_ASKED.get() is None


def test_a_bisection_knows_which_variants_keep_changing():
    made = trial(restless(0.5), override="auto")
    assert unsteady_variants(made, "t", ["b0"]) == {"v1"}
    assert unsteady_variants(made, "t", ["other"]) == set()
    assert unsteady_variants(trial(restless(0.5), override=5), "t", ["b0"]) == set()
