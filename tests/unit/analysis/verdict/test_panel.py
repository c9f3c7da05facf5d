"""The published methods on the same data: their units, their answers, and why they differ."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from analysis.data.matrix import PerformanceMatrix
from analysis.data.trial import read_trial
from analysis.methods.hpt.compare import hpt
from analysis.methods.multilevel.compare import multilevel
from analysis.methods.resampling.randomization import randomization_test
from analysis.stats.arguments import stream
from analysis.verdict.judging import judge
from analysis.verdict.panel import ask

METHODS = [
    "HPT",
    "Speedup-Test, mean",
    "Speedup-Test, median",
    "randomization",
    "bootstrap",
    "mixtures",
    "Friedman",
]


def side(name, factor, *, sessions=6, runs=10, shift=0.0, noise=0.005, benchmarks=8, seed=1):
    """Draw a side: `shift` is how far a session moves this variant, all benchmarks alike."""
    rng = np.random.default_rng([seed, len(name)])
    moved = np.repeat(rng.normal(0, shift, sessions), runs)
    benches = [f"b{k}" for k in range(benchmarks)]
    factors = factor if isinstance(factor, dict) else dict.fromkeys(benches, factor)
    ids = np.repeat(np.arange(sessions), runs)
    samples = {
        b: 0.1 * factors[b] * np.exp(moved + rng.normal(0, noise, sessions * runs)) for b in benches
    }
    return PerformanceMatrix.from_samples(
        name,
        samples,
        better="lower",
        sessions=dict.fromkeys(benches, ids),
        blocks={b: np.arange(sessions * runs) for b in benches},
    )


def panel(ours, theirs, **options):
    found = multilevel(ours, theirs, **options)
    return found, ask(found, ours, theirs)


def reasons(told, method):
    return {one.reason for one in told.disagreements if one.of == method}


def test_every_method_says_its_unit_and_estimand():
    _, told = panel(side("new", 0.9), side("base", 1.0))
    assert [one.method for one in told.methods] == METHODS
    assert all(one.unit and one.estimand and one.answer for one in told.methods)
    units = {one.method: one.unit for one in told.methods}
    assert (units["HPT"], units["randomization"], units["Friedman"]) == (
        "run",
        "session",
        "benchmark",
    )


def test_the_answers_are_those_of_the_methods():
    ours, theirs = side("new", 0.9), side("base", 1.0)
    found, told = panel(ours, theirs)
    by_name = {one.method: one for one in told.methods}
    assert by_name["HPT"].reliability == 1 - hpt(ours, theirs).pvalue
    expected = randomization_test(ours, theirs, rng=stream(0, "resample", "randomization"))
    assert by_name["randomization"].pvalue == expected.pvalue
    assert by_name["bootstrap"].value == pytest.approx(found.these.speedup, rel=1e-6)


def test_sessions_that_move_make_runs_look_like_replications():
    # the sessions' shift is 10 times the runs' noise: pooled runs see a difference by chance
    ours = side("new", 1.0, shift=0.05, seed=3)
    theirs = side("base", 1.0, shift=0.05, seed=3)
    found, told = panel(ours, theirs)
    assert found.these.outcome == "undecided"
    assert "replication" in reasons(told, "HPT") | reasons(told, "Speedup-Test")
    texts = {
        one.text.partition(";")[0] for one in told.disagreements if one.reason == "replication"
    }
    assert texts == {
        f"{name} takes every run as a replication of its own"
        for name in ("HPT", "the Speedup-Test")
    }
    assert not any("within the margin" in one.text for one in told.disagreements)


def test_too_few_sessions_are_said_of_randomization():
    ours, theirs = side("new", 0.8, sessions=5), side("base", 1.0, sessions=5)
    found, told = panel(ours, theirs)
    assert found.these.outcome == "faster"
    # 2^5 assignments: no two-sided p below 0.0625
    assert reasons(told, "randomization") == {"too-few-runs"}
    assert "0.062" in " ".join(one.text for one in told.disagreements)


def test_ties_are_said_of_hpt():
    # two benchmarks much faster, six that differ by nothing: HPT sets these to zero
    factors = {f"b{k}": 0.5 if k < 2 else 1.0 for k in range(8)}
    found, told = panel(side("new", factors), side("base", 1.0))
    assert found.these.outcome == "faster"
    assert "zeroing" in reasons(told, "HPT")


def test_a_mean_that_few_large_differences_decide_is_said_of_hpt():
    # one benchmark 10 times as fast outweighs eleven that are a little slower; in ranks it does not
    factors = {f"b{k}": 1.03 if k else 0.1 for k in range(12)}
    found, told = panel(side("new", factors, benchmarks=12), side("base", 1.0, benchmarks=12))
    words = {one.method: one.word for one in told.methods}
    assert (found.these.outcome, words["HPT"]) == ("faster", "slower")
    texts = [one.text for one in told.disagreements if one.of == "HPT"]
    assert texts[-1].startswith("HPT counts on how many benchmarks one is better, and ranks them")
    assert not any("replication" in text for text in texts)


def test_the_margin_is_said_where_methods_ask_for_any_difference():
    found, told = panel(side("new", 0.997, runs=30), side("base", 1.0, runs=30))
    assert found.these.outcome == "equivalent"
    assert "estimand" in reasons(told, "randomization")
    assert "within the margin of 1 %" in " ".join(one.text for one in told.disagreements)
    (text,) = (one.text for one in told.disagreements if one.of == "Speedup-Test")
    assert text.startswith(
        "the Speedup-Test asks for any difference; that of b0, b1, b2 and 5 more"
    )


def test_checks_that_fail_are_said_of_the_speedup_test():
    rng = np.random.default_rng(5)
    ids = np.repeat(np.arange(6), 4)

    def skewed(name, factor):
        samples = {f"b{k}": factor * (1 + rng.pareto(1.2, 24) / 50) for k in range(4)}
        sessions = dict.fromkeys(samples, ids)
        return PerformanceMatrix.from_samples(name, samples, better="lower", sessions=sessions)

    _, told = panel(skewed("new", 0.3), skewed("base", 1.0))
    assert reasons(told, "Speedup-Test") & {"failed-assumption", "too-few-runs"}


def test_single_runs_overlap_however_sure_the_mean_is():
    ours, theirs = side("new", 0.97, noise=0.1, runs=40), side("base", 1.0, noise=0.1, runs=40)
    found, told = panel(ours, theirs)
    assert found.these.outcome == "faster"
    assert reasons(told, "mixtures") == {"estimand"}


@pytest.mark.parametrize("constant", ["new", "base"])
def test_a_benchmark_without_spread_on_a_side_has_no_chance_of_a_run(constant):
    sides = [side("new", 0.99, noise=0.02), side("base", 1.0, noise=0.02)]
    _, told = panel(*(one.select([f"b{k}" for k in range(1, 8)]) for one in sides))
    (expected,) = (one.answer for one in told.methods if one.method == "mixtures")
    flat = [
        replace(one, samples=(np.full(60, one.samples[0].mean()), *one.samples[1:]))
        if one.name == constant
        else one
        for one in sides
    ]
    _, told = panel(*flat)
    (found,) = (one.answer for one in told.methods if one.method == "mixtures")
    assert found == expected
    assert found.startswith("faster with chance 0.")


def test_nothing_differs_where_all_agree():
    # negative control: a clear difference, quiet sessions
    _, told = panel(side("new", 0.5, runs=30), side("base", 1.0, runs=30))
    assert told.disagreements == ()


def test_a_benchmark_without_a_speed_as_it_fails_is_not_laid_to_the_correction():
    ours, theirs = side("new", 0.9), side("base", 1.0)
    lost = {name: dict.fromkeys(range(6), 0) for name in theirs.benchmarks}
    fails = {"failed": {"b0": 120}, "failed_by_session": lost | {"b0": dict.fromkeys(range(6), 20)}}
    ours, theirs = replace(ours, cut={}, **fails), replace(theirs, cut={}, failed_by_session=lost)
    found, told = panel(ours, theirs)
    assert {one.name: one.reason for one in found.benchmarks}["b0"] == "fails-more"
    assert "family" not in reasons(told, "Speedup-Test")


def test_a_method_that_refuses_says_why():
    ours, theirs = side("new", 0.5, benchmarks=1), side("base", 1.0, benchmarks=1)
    _, told = panel(ours, theirs)
    assert "Friedman" not in [one.method for one in told.methods]
    few = side("new", 0.5, sessions=1, runs=1), side("base", 1.0, sessions=1, runs=1)
    _, told = panel(*few)
    said = {one.method: one.answer for one in told.methods}
    assert any(answer.startswith("not possible") for answer in said.values())


def test_where_session_and_variant_are_one_no_method_is_believed():
    ours, theirs = side("new", 0.5, sessions=1, runs=20), side("base", 1.0, sessions=1, runs=20)
    named = [np.full(20, "other") for _ in theirs.samples]
    found, told = panel(ours, replace(theirs, sessions=tuple(named)))
    assert found.design == "confounded"
    assert found.these.outcome == "undecided"
    texts = [one.text for one in told.disagreements if one.reason == "replication"]
    assert texts
    assert all("nothing tells them apart" in text for text in texts)
    assert "0 sessions" not in " ".join(one.text for one in told.disagreements)


def test_where_every_run_is_0_no_method_is_asked(synthetic, tmp_path):
    data = {name: {b: [1.0, 1.1, 0.9, 1.2] for b in ("x", "y")} for name in ("old", "new")}
    made = synthetic(data, sessions=2)
    made.rows[:] = [replace(row, system_s=0.0) for row in made.rows]
    found = judge(read_trial(made.write(tmp_path / "t")), metric="system", explain=True)
    (said,) = found.candidates[0].panel.methods
    assert (said.method, said.word) == ("all", None)
    assert said.answer == "not possible: every benchmark has runs of 0"
