"""Whoever judges a trial that was looked at by a plan judges by it: the numbers are those of the look.

Authority: `look_at`, which decided when the measuring ended; in each case the same trial without its plan is
the negative control, whose intervals are plain t's.
"""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from analysis.data.merging import merge_trials
from analysis.data.trial import read_trial
from analysis.errors import UsageError
from analysis.importers.export import exported_trial
from analysis.methods.multilevel.law import Looks
from analysis.methods.multilevel.page import looks_text
from analysis.plan.compare_looks import look_at
from analysis.record.trial_files import LOOKS, OPEN_LOOKS, LooksPlan, looked_after
from analysis.stats.multiplicity import nominal_risk
from analysis.verdict.comparison import compare_trials
from analysis.verdict.gate import gate
from analysis.verdict.judging import judge
from analysis.verdict.ranking import rank_variants
from analysis.verdict.sides import looks_at, looks_at_hosts

RUNS = 2
PLAN = LooksPlan(rule="repeated", looks=LOOKS)


def wave(sessions):
    return 0.05 + 0.04 * np.sin(np.arange(sessions) / 4)


@pytest.fixture
def compared(synthetic, tmp_path):
    """Give a function that writes a trial of one benchmark with a plan of looks, and reads it."""

    def make(shifts, sessions, plan, *, seed=1, sd=0.004, failed=(), own=None, name="trial"):
        rng = np.random.default_rng([29, 7, seed])
        last = {variant: plan.left.get(variant, sessions) for variant in shifts} if plan else {}
        times = {
            variant: {
                "command": [
                    0.1 * float(np.exp(shift + effect + sd * rng.standard_normal()))
                    for s in range(1, sessions + 1)
                    for effect in [own[s - 1] if own is not None and variant == "new" else sd * rng.standard_normal()]
                    for _ in range(RUNS)
                ]
            }
            for variant, shift in shifts.items()
        }  # fmt: skip
        made = synthetic(times, sessions=sessions)
        made.rows = [
            replace(row, outcome="exit", exit_code=1)
            if (row.variant, row.session, row.block) in failed
            else row
            for row in made.rows
            if row.session <= last.get(row.variant, sessions)
        ]
        made.manifest = replace(made.manifest, looks_plan=plan)
        if plan is not None and plan.left:
            made.plan = [row for row in made.plan if row.session <= last[row.variant]]
            kept = {row.position: k for k, row in enumerate(made.plan)}
            made.plan = [replace(row, position=kept[row.position]) for row in made.plan]
            made.rows = [replace(row, position=kept[row.position]) for row in made.rows]
            made.manifest = replace(made.manifest, planned=len(made.plan))
        return read_trial(made.write(tmp_path / name))

    return make


def values_of(trial):
    """Give the trial's runs as the runner hands them to a look."""
    found = {name: {} for name in trial.manifest.variants}
    wall = trial.values("wall")
    for k in range(len(wall)):
        name = trial.manifest.variants[int(trial.variant[k])]
        row = found[name].setdefault(int(trial.session[k]), [None] * RUNS)
        block = int(trial.block[k]) - 1
        row[block] = float(wall[k]) if trial.measured[k] else None
    return found


def told(line):
    return line.speedup, line.low, line.high, line.outcome, line.reason, line.sessions


SHAPES = {
    "decided": ({"old": 0.0, "new": -0.05}, 6, PLAN),
    "decided of four": (
        {"old": 0.0, "a": -0.5, "b": 0.3, "c": -0.1},
        8,
        replace(PLAN, candidates=3),
    ),
    "equivalent": ({"old": 0.0, "new": 0.0}, 38, PLAN),
    "capped between two looks": ({"old": 0.0, "new": 0.003}, 7, looked_after(PLAN, 7)),
    "resumed": ({"old": 0.0, "new": 0.003}, 17, looked_after(looked_after(PLAN, 7), 15)),
    "open": ({"old": 0.0, "new": 0.01}, 22, replace(PLAN, looks=OPEN_LOOKS, open=True)),
    "once": ({"old": 0.0, "new": 0.01}, 5, LooksPlan(rule="planned", looks=(5,))),
    "once, two of them": (
        {"old": 0.0, "new": 0.01, "more": 0.02},
        5,
        LooksPlan(rule="planned", looks=(5,), candidates=2),
    ),
    "one left": (
        {"old": 0.0, "new": -0.5, "other": 0.001},
        10,
        replace(PLAN, candidates=2, left={"new": 6}),
    ),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(
    ("sd", "failed"), [(0.004, ()), (0.02, {("new", 2, 1), ("old", 3, 2)})], ids=["ok", "failed"]
)
def test_the_verdict_says_what_the_look_said(compared, shape, sd, failed):
    shifts, sessions, plan = SHAPES[shape]
    trial = compared(shifts, sessions, plan, sd=sd, failed=failed)
    look = look_at(values_of(trial), plan, baseline="old", final=True)
    verdict = judge(trial)
    for one, candidate in zip(look.candidates, verdict.candidates, strict=True):
        ours, theirs = told(one.line), told(candidate.multilevel.benchmarks[0])
        assert ours[:3] == pytest.approx(theirs[:3], rel=1e-12)
        assert ours[3:] == theirs[3:]
    plain = judge(compared(shifts, sessions, None, sd=sd, name="plain"))
    if shape != "once":
        a, b = (v.candidates[0].multilevel.benchmarks[0] for v in (verdict, plain))
        assert a.low < b.low
        assert a.high > b.high
        assert verdict.look.alpha < plain.look.alpha


@pytest.mark.parametrize(("confidence", "candidates"), [(0.9, 1), (0.95, 2), (0.99, 2)])
def test_any_confidence_is_shared_over_candidates_and_looks(compared, confidence, candidates):
    shifts = {"old": 0.0, "new": -0.01} | ({"more": -0.02} if candidates == 2 else {})
    trial = compared(shifts, 8, replace(PLAN, candidates=candidates))
    verdict = judge(trial, confidence=confidence)
    assert (verdict.look.rule, verdict.look.count) == ("repeated", 5)  # of 3, 4, 5, 6, 8
    assert verdict.look.alpha == pytest.approx(nominal_risk((1 - confidence) / candidates))
    assert verdict.look.total == pytest.approx(1 - confidence)
    assert "look 5 by a plan" in looks_text(verdict.look)
    assert json.loads(json.dumps(verdict.to_dict()))["looks_rule"] == "repeated"


def test_other_looks_than_the_planned_ones_are_refused(compared):
    trial = compared({"old": 0.0, "new": -0.01}, 6, PLAN)
    for asked in ({"looks": 2}, {"looks": 1}, {"always_valid": True}):
        with pytest.raises(UsageError, match="were planned when it began"):
            judge(trial, **asked)
    with pytest.raises(UsageError, match="leave --looks 3 out"):
        rank_variants(trial, looks=3)
    # the negative control: without a plan each is an option like any other
    plain = compared({"old": 0.0, "new": -0.01}, 6, None, name="plain")
    assert judge(plain, looks=2).look.count == 2
    assert judge(plain, always_valid=True).look.always_valid


def test_sessions_that_resemble_their_neighbours_give_no_word_and_a_caution_with_the_remedy(
    compared,
):
    drifts = {"shifts": {"old": 0.0, "new": 0.0}, "sessions": 29, "own": wave(29)}
    trial = compared(**drifts, plan=PLAN)
    verdict = judge(trial)
    found = verdict.candidates[0].multilevel
    line = found.benchmarks[0]
    assert (line.outcome, line.reason, line.outcome_uncorrected) == (
        "undecided",
        "depends",
        "slower",
    )
    assert look_at(values_of(trial), PLAN, baseline="old", final=True).stop == "depends"
    (said,) = [c.text for c in verdict.cautions if c.code == "sessions-depend"]
    assert "fairtrial compare --resume" in said
    assert found.withheld
    stopped = gate(found, "slower>2%")
    assert (stopped.outcome, stopped.candidates[0].reason) == ("undecided", "depends")
    # the negative control: without planned looks the word stands, with a caution
    plain = judge(compared(**drifts, plan=None, name="plain")).candidates[0].multilevel
    assert plain.benchmarks[0].outcome == "slower"
    assert not plain.withheld
    assert gate(plain, "slower>2%").outcome == "proven"


def test_a_candidate_that_left_is_judged_by_what_it_has_and_nothing_is_said_of_the_rest(compared):
    shifts, sessions, plan = SHAPES["one left"]
    verdict = judge(compared(shifts, sessions, plan))
    left, stayed = (one.multilevel for one in verdict.candidates)
    assert (left.sessions, stayed.sessions) == (6, 10)
    assert left.benchmarks[0].outcome == "faster"
    assert "sessions-left-out" not in {c.code for c in (*verdict.cautions, *left.cautions)}
    unplanned = judge(compared(shifts, sessions, replace(plan, left={"new": 6}, rule="planned", looks=(10,)), name="b"))  # fmt: skip
    assert unplanned.look.alpha == pytest.approx(0.025)


def test_a_gate_is_wrong_at_half_of_the_looks_risk(compared):
    trial = compared({"old": 0.0, "new": 0.05}, 6, PLAN)
    found = gate(judge(trial).candidates[0].multilevel, "slower>2%")
    assert found.outcome == "proven"
    assert found.risk == pytest.approx(nominal_risk(0.05) / 2)
    assert found.candidates[0].found.look.rule == "repeated"


def test_two_trials_of_which_one_was_planned_are_judged_by_what_risks_less(compared):
    planned = compared({"old": 0.0, "new": -0.01}, 6, PLAN).manifest
    plain = compared({"old": 0.0, "new": -0.01}, 6, None, name="plain").manifest
    assert looks_at([planned, plain], None, always_valid=False).rule == "repeated"
    assert looks_at_hosts([plain, planned], None).rule == "repeated"
    assert looks_at([plain, plain], None, always_valid=False) == Looks.growing([6])
    with pytest.raises(UsageError, match="were planned"):
        looks_at([plain, planned], 2, always_valid=False)


def test_a_trial_that_ended_when_it_was_decided_is_not_merged_and_an_export_says_what_is_lost(
    compared, tmp_path
):
    one = compared({"old": 0.0, "new": -0.01}, 6, PLAN)
    with pytest.raises(UsageError, match="decided when it ended"):
        merge_trials([one.path, one.path], tmp_path / "both")
    (said,) = [c.text for c in exported_trial(one).beyond if c.code == "looks-lost"]
    assert "4 looks taken, rule repeated" in said


def test_screens_say_why_there_is_no_word_and_what_to_do_later(compared):
    shifts, sessions = {"old": 0.0, "new": 0.0}, 29
    drifts = compared(shifts, sessions, PLAN, own=wave(sessions))
    text = " ".join(str(judge(drifts)).replace("\\\n", " ").split())
    assert text.startswith("no answer for new against old: sessions resemble the ones before them")
    assert f"next fairtrial compare --resume {drifts.path} later" in text
    assert "note no word is safe: sessions resemble the ones before" in text
    steady = compared({"old": 0.0, "new": 0.05}, 6, PLAN, name="steady")
    (candidate,) = compare_trials(steady, drifts).candidates
    assert candidate.benchmarks[0].reason == "depends-new"
    assert "the sessions of the second resemble" in " ".join(
        str(compare_trials(steady, drifts)).split()
    )
    # the negative control: sessions that do not
    assert "resemble" not in str(judge(steady))


def test_one_variant_has_the_interval_of_its_look(compared):
    for confidence in (0.95, 0.99):
        planned, plain = (
            judge(compared({"it": 0.0}, 8, plan, name=f"{confidence}{plan is None}"), confidence=confidence).alone[0]
            for plan in (PLAN, None)
        )  # fmt: skip
        same = judge(
            compared({"it": 0.0}, 8, None, name=f"{confidence}as"),
            confidence=1 - nominal_risk(1 - confidence),
        ).alone[0]
        assert (planned.low, planned.high) == pytest.approx((same.low, same.high))
        assert planned.low < plain.low
