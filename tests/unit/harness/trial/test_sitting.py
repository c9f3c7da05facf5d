"""Sittings of a comparison: sessions that are planned when they begin, looks between them, and how they end.

The authority is the rule of docs/methods/multilevel.md on planned looks, and what docs/trial-format.md
promises of such a trial. Launchers only answer: the times are the test's.
"""

from __future__ import annotations

import json
import math
import random
import shutil
from dataclasses import replace

import pytest

from analysis.data.trial import read_trial
from analysis.errors import StoreError, UsageError
from analysis.record.trial_files import LOOKS, OPEN_LOOKS
from analysis.verdict.judging import judge
from analysis.words import command_line
from harness.campaign.resolve import load_campaign
from harness.errors import HostError
from harness.trial.ending import command_to_continue
from harness.trial.execution import Options, trial_begun
from harness.trial.sitting import comparison_to_resume, measure, plan_sitting, resume_sitting
from harness.trial.writer import Store


@pytest.fixture
def times(stage, monkeypatch):
    """Say how long each variant takes, in seconds, with so much noise; give what is executed."""
    monkeypatch.setattr("harness.trial.sitting.time", stage.clock)
    rng = random.Random(12)

    def say(noise=0.01, **seconds):
        def target(request):
            name = request.argv[-1]
            return {"wall_ns": round(1e9 * seconds[name] * rng.lognormvariate(0, noise))}

        stage.target = target

    say(a=0.05, b=0.05)
    return say


@pytest.fixture
def comparison(stage):
    """Write and load a comparison; the last word of each command is its variant."""

    def make(variants=("a", "b"), *, runs=2, warmup=0, order=None, **more):
        order = order or ("drawn-start" if len(variants) == 2 else "shuffled")
        place = {"PATH": str(stage.bin)}
        text = {
            "name": "compare",
            "seed": 3,
            "variants": {name: {"command": ["true", name]} for name in variants},
            "baseline": variants[0],
            "benchmarks": {"command": {"cwd": str(stage.folder), "stdout": "discard"}},
            "protocol": {
                "sessions": 6,
                "runs": runs,
                "warmup": warmup,
                "warmup_sessions": "first",
                "order": order,
            },
            "isolation": {"cpus": "none", "environment": {"keep": "none", "set": place}},
            **more,
        }
        path = stage.folder / "written" / "compare.yaml"  # what a trial keeps is a copy
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(text))
        return load_campaign(path)

    return make


@pytest.fixture
def sit(stage, comparison):
    """Measure a comparison at one sitting."""

    def sit(variants=("a", "b"), seconds=0.05, campaign=None, **asked):
        plan = plan_sitting([seconds] * len(variants), **asked)
        stage.watching = type(stage.watching)()
        made = campaign or comparison(variants, runs=plan.runs)
        return measure(made, plan, Options(folder=stage.runs, passing=True), stage.watching)

    return sit


@pytest.fixture
def again(stage):
    """Go on with the comparison."""

    def go_on(**asked):
        stage.watching = type(stage.watching)()
        options = Options(folder=stage.runs, accept_drift=asked.pop("accept_drift", False))
        return resume_sitting(
            comparison_to_resume(stage.runs, None), options, stage.watching, **asked
        )

    return go_on


def looks_of(stage):
    return [look.sessions for look, _, _ in stage.watching.of("looked")]


def sessions_of(stage, variant):
    return sorted({row["session"] for row in stage.rows if row["variant"] == variant})


# --- how it ends ---------------------------------------------------------------------------------


def test_a_clear_difference_is_decided_after_six_sessions(stage, times, sit):
    times(a=0.05, b=0.025)
    ended = sit()
    assert (ended.ending.status, ended.looks_plan.stopped_because) == ("complete", "decided")
    assert looks_of(stage) == [3, 4, 5, 6]
    assert ended.sessions == stage.manifest["sessions"] == 6
    assert stage.manifest["planned"] == len(stage.rows) == len(stage.lines("plan.jsonl")) == 24
    assert stage.manifest["looks_plan"]["stopped_because"] == "decided"
    assert sum(one._answer == "target" for one in stage.launchers) == 6  # one for each session
    assert {answer for answer, _ in stage.executed} == {"target"}
    assert not any(
        one.code in {"runs-missing", "ended-early"} for one in read_trial(stage.trial).cautions
    )


def test_where_a_session_takes_a_second_three_are_enough(stage, times, sit):
    times(a=1.0, b=0.5)
    assert sit(seconds=1.0).sessions == 3


def test_equal_commands_are_found_to_be_equivalent_or_go_on_to_the_cap(stage, times, sit):
    times(noise=0.0005, a=0.05, b=0.05)
    ended = sit()
    assert ended.looks_plan.stopped_because == "equivalent"
    shutil.rmtree(stage.trial)
    times(noise=0.2, a=0.05, b=0.05)  # the control
    ended = sit(for_s=3.0)
    assert ended.looks_plan.stopped_because == "cap"
    assert 2.5 <= ended.measured_s <= 3.5


def test_a_cap_between_two_looks_moves_the_next_look_there(stage, times, sit):
    times(noise=0.2, a=0.05, b=0.05)
    ended = sit(for_s=3.0)
    assert ended.sessions not in LOOKS
    looks = ended.looks_plan.looks
    assert ended.sessions in looks
    assert len(looks) == len(LOOKS)
    assert looks_of(stage)[-1] == ended.sessions
    assert set(looks) - {ended.sessions} < set(LOOKS)


def test_sessions_that_resemble_their_neighbours_are_measured_to_the_cap(stage, times, sit):
    # authority: the rule that where they do there is no word, and that the reason says so
    def target(request):
        (run,) = stage.watching.of("run_started")[-1]
        drawn = random.Random(f"{run.variant}/{run.session}/{run.block}").gauss(0, 0.001)
        slow = 0.004 * run.session if run.variant == "b" and drifts else 0.1 * (run.variant == "b")
        return {"wall_ns": round(5e7 * (1 + slow + drawn))}

    stage.target, drifts = target, True
    ended = sit(for_s=5.0, least_runs=20)
    assert ended.looks_plan.stopped_because == "depends"
    assert ended.look.candidates[0].word == "undecided"
    shutil.rmtree(stage.trial)
    drifts = False  # the control
    assert sit(for_s=5.0, least_runs=20).looks_plan.stopped_because == "decided"


def test_a_cap_leaves_at_least_six_sessions(stage, times, sit):
    times(noise=0.2, a=0.05, b=0.05)
    assert sit(for_s=0.1).sessions == 6


def test_runs_that_are_asked_for_are_measured_with_one_look(stage, times, sit):
    times(a=0.05, b=0.01)
    ended = sit(runs=10)
    assert (ended.sessions, ended.looks_plan.stopped_because) == (6, "runs")
    assert looks_of(stage) == [6]
    assert len(stage.rows) == 24
    assert ended.looks_plan.looks == (6,)


def test_one_run_of_each_has_no_look(stage, times, sit):
    ended = sit(runs=1)
    assert (ended.sessions, ended.look, len(stage.rows)) == (1, None, 2)
    assert ended.ending.status == "complete"


def test_the_least_and_the_most_runs_are_kept(stage, times, sit):
    times(a=0.05, b=0.01)
    assert sit(least_runs=20).sessions == 10
    shutil.rmtree(stage.trial)
    times(noise=0.3, a=0.05, b=0.05)
    ended = sit(most_runs=14)
    assert (ended.sessions, ended.looks_plan.stopped_because) == (7, "runs")


def test_one_command_is_measured_until_its_mean_is_known(stage, times, sit):
    times(noise=0.001, a=0.05)
    ended = sit(variants=("a",))
    assert (ended.sessions, ended.looks_plan.stopped_because) == (6, "decided")
    assert ended.look.low < 0.05 < ended.look.high


# --- several candidates --------------------------------------------------------------------------


def test_a_candidate_that_is_decided_leaves_and_the_trial_is_whole(stage, times, sit):
    times(noise=0.03, a=0.05, b=0.02, c=0.0495, d=0.1)
    ended = sit(variants=("a", "b", "c", "d"), for_s=8.0)
    left = stage.manifest["looks_plan"]["left"]
    assert set(left) >= {"d"}
    assert ended.sessions > max(left.values())
    for name in "abcd":
        last = left.get(name, ended.sessions)
        assert sessions_of(stage, name) == list(range(1, last + 1))
    manifest = stage.manifest
    assert manifest["planned"] == len(stage.rows) == len(stage.lines("plan.jsonl"))
    assert [row["position"] for row in stage.rows] == list(range(len(stage.rows)))
    trial = read_trial(stage.trial)
    assert trial.manifest.needed == len(stage.rows)
    assert not any(one.code == "runs-missing" for one in trial.cautions)


def test_who_left_stays_away_when_the_comparison_goes_on(stage, times, sit, again):
    times(noise=0.03, a=0.05, b=0.02, c=0.0495, d=0.1)
    sit(variants=("a", "b", "c", "d"), for_s=3.0)
    left = dict(stage.manifest["looks_plan"]["left"])
    assert left
    before = stage.manifest["sessions"]
    ended = again(for_s=2.0)
    assert ended.sessions > before
    for name, last in left.items():
        assert stage.manifest["looks_plan"]["left"][name] == last
        assert max(sessions_of(stage, name)) == last


# --- what is written once a sitting --------------------------------------------------------------


def test_a_sitting_has_one_environment_record_and_one_look_at_the_host(stage, times, sit, again):
    times(noise=0.2, a=0.05, b=0.05)
    first = sit(for_s=2.0).sessions
    (record,) = stage.lines("environment.jsonl")
    assert (record["session"], record["sessions"]) == (1, [1, first])
    assert {one["session"] for one in stage.findings("load")} == {1}
    second = again(for_s=1.0).sessions
    one, other = stage.lines("environment.jsonl")
    assert one["sessions"] == [1, first]
    assert (other["session"], other["segment"]) == (first + 1, 0)
    assert other["sessions"] == [first + 1, second]


def test_a_program_that_changes_during_the_sitting_is_found_at_its_end(stage, times, sit):
    times(a=0.05, b=0.025)
    sit()
    assert not stage.findings("drift")  # the control
    shutil.rmtree(stage.trial)
    slow = stage.target

    def target(request):
        if len(stage.rows) == 5:
            stage.program("true", "#!/bin/sh\n# another one\n")
        return slow(request)

    stage.target = target
    sit()
    (found,) = stage.findings("drift")
    assert "the program" in found["what"]


def test_threads_that_the_try_saw_are_noted_where_one_cpu_is_measured(
    stage, times, sit, comparison
):
    times(a=0.05, b=0.025)
    place = {"keep": "none", "set": {"PATH": str(stage.bin)}}
    for cpus, noted in (("none", False), ([1], True)):
        sit(campaign=comparison(isolation={"cpus": cpus, "environment": place}), threads={"b": 4})
        found = [one["what"] for one in stage.findings("threads")]
        assert found == ["command / b has 4 threads, pinned to one CPU"] * noted
        shutil.rmtree(stage.trial)


def test_hooks_are_executed_once_a_sitting(stage, times, sit, comparison, commands):
    times(a=0.05, b=0.025)
    campaign = comparison()
    hooks = replace(campaign.hooks, setup=commands("true"), cleanup=commands("true"))
    sit(campaign=replace(campaign, hooks=hooks))
    assert sum(answer == "command" for answer, _ in stage.executed) == 2


# --- going on ------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", ["drawn-start", "alternating"])  # the second: as begun by 0.5
def test_it_goes_on_in_the_same_list_of_looks(stage, times, sit, again, comparison, order):
    times(noise=0.2, a=0.05, b=0.05)
    first = sit(campaign=comparison(order=order), for_s=1.5)
    ended = again(for_s=1.5)
    assert ended.sessions > first.sessions
    assert looks_of(stage) == sorted(
        {n for n in first.looks_plan.looks if first.sessions < n <= ended.sessions}
        | {ended.sessions}
    )
    assert len(ended.looks_plan.looks) == len(LOOKS)
    assert set(first.looks_plan.looks) - set(ended.looks_plan.looks) <= set(LOOKS)
    assert first.sessions in ended.looks_plan.looks  # a look that was had is never forgotten


def test_the_stored_rows_alone_decide_the_next_look(stage, times, sit, again):
    numbers = iter(range(10**6))
    kill_at = None

    def target(request):
        (run,) = stage.watching.of("run_started")[-1]
        if next(numbers) == kill_at:
            stage.interrupt()
        drawn = random.Random(f"{run.variant}/{run.session}/{run.block}")
        return {"wall_ns": round(5e7 * drawn.lognormvariate(0, 0.1))}

    stage.target = target
    sit(for_s=4.0)
    looks = {look.sessions: look for look, _, _ in stage.watching.of("looked")}
    shutil.rmtree(stage.trial)
    numbers, kill_at = iter(range(10**6)), 41  # in the midst of session 11
    ended = sit(for_s=4.0)
    assert ended.looks_plan.stopped_because == "interrupted"
    assert len(stage.rows) == 41
    kill_at = None
    again(for_s=4.0)
    common = [look for look, _, _ in stage.watching.of("looked") if look.sessions in looks]
    assert common
    for look in common:
        assert look.candidates[0].line == looks[look.sessions].candidates[0].line


def test_ctrl_c_keeps_what_is_there(stage, times, sit, again):
    times(noise=0.2, a=0.05, b=0.05)
    stage_target = stage.target
    counted = iter(range(10**6))
    stage.target = lambda request: (
        stage.interrupt() if next(counted) == 18 else stage_target(request)
    )
    ended = sit()
    assert (ended.ending.status, ended.looks_plan.stopped_because) == ("interrupted", "interrupted")
    assert (ended.sessions, len(stage.rows)) == (4, 18)
    assert stage.lines("environment.jsonl")[0]["sessions"] == [1, 5]
    stage.target = stage_target
    again(for_s=1.0)
    rows = stage.rows
    _, other = stage.lines("environment.jsonl")
    assert (other["session"], other["segment"]) == (5, 1)
    assert {row["segment"] for row in rows if row["session"] == 5} == {0, 1}
    assert {row["segment"] for row in rows if row["session"] != 5} == {0}
    assert sorted(r["position"] for r in rows if r["position"] >= 0) == list(
        range(stage.manifest["planned"])
    )
    read_trial(stage.trial)


@pytest.mark.parametrize("behind", [0, 9, 23])
def test_what_was_killed_goes_on_and_no_run_is_lost(stage, times, sit, again, behind, monkeypatch):
    times(noise=0.2, a=0.05, b=0.05)
    slow = stage.target
    counted = iter(range(10**6))

    class Killed(BaseException):
        """What a runner cannot catch; its lock is gone with it."""

    opened = []
    create = Store.create
    monkeypatch.setattr(
        Store, "create", lambda *a, **k: opened.append(create(*a, **k)) or opened[0]
    )

    def target(request):
        if next(counted) == behind:
            raise Killed
        return slow(request)

    stage.target = target
    with pytest.raises(Killed):
        sit()
    opened[0].release()
    kept = (stage.trial / "measurements.jsonl").read_bytes()
    assert kept.count(b"\n") == behind
    assert stage.manifest["status"] == "running"
    assert stage.lines("environment.jsonl")[0]["sessions"] == [1, None]
    stage.target = slow
    ended = again(for_s=1.0)
    assert ended.ending.status == "complete"
    assert (stage.trial / "measurements.jsonl").read_bytes().startswith(kept)
    assert [one["sessions"][1] for one in stage.lines("environment.jsonl")][-1] == ended.sessions
    assert None not in [one["sessions"][1] for one in stage.lines("environment.jsonl")]
    read_trial(stage.trial)


def test_a_kill_between_plan_and_manifest_loses_nothing(stage, times, sit, again):
    times(noise=0.2, a=0.05, b=0.05)
    sit(for_s=2.0)
    manifest = stage.manifest
    size = 4
    manifest |= {
        "status": "running",
        "files": {},
        "finished": None,
        "sessions": manifest["sessions"],
        "planned": manifest["planned"],
    }
    more = [
        json.dumps({**stage.lines("plan.jsonl")[-1], "position": manifest["planned"] + k})
        for k in range(size)
    ]
    with (stage.trial / "plan.jsonl").open("a") as plan:
        plan.writelines(f"{line}\n" for line in more)
    (stage.trial / "manifest.json").write_text(json.dumps(manifest))
    assert again(for_s=1.0).ending.status == "complete"


def test_another_program_or_host_is_refused(stage, times, sit, again):
    times(noise=0.2, a=0.05, b=0.05)
    sit(for_s=1.0)
    stage.tree({"etc/machine-id": "f" * 32 + "\n"})
    with pytest.raises(StoreError, match="the host has changed"):
        again()
    stage.put_back()
    stage.known.clear()
    stage.program("true", "#!/bin/sh\n# another one\n")
    with pytest.raises(StoreError) as refused:
        again()
    assert "has changed" in refused.value.what
    assert stage.manifest["status"] == "complete"
    assert again(for_s=1.0, accept_drift=True).ending.status == "complete"
    assert stage.findings("drift")


def test_runs_that_were_planned_are_not_added_to(stage, times, sit, again):
    sit(runs=12)
    with pytest.raises(StoreError, match="spent its whole risk") as refused:
        again()
    assert "without -r" in refused.value.fix


def test_a_list_of_looks_ends(stage, times, sit, again):
    times(noise=0.5, a=0.001, b=0.001)
    ended = sit(seconds=0.05, for_s=100.0)
    assert (ended.sessions, ended.looks_plan.stopped_because) == (108, "cap")
    with pytest.raises(StoreError, match="no more looks") as refused:
        again()
    assert "--open" in refused.value.fix


def test_no_comparison_to_go_on_with_is_said(stage, campaign, tmp_path):
    with pytest.raises(UsageError, match="no comparison"):
        comparison_to_resume(tmp_path / "runs", None)
    stage.start(campaign())
    with pytest.raises(StoreError, match="was not measured by"):
        comparison_to_resume(stage.runs, stage.trial)


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize(
    ("asked", "fix"),
    [({}, "fairtrial compare --resume {}"), ({"runs": 6}, "fairtrial run {}/campaign.yaml    measures it anew")],
)  # fmt: skip
def test_run_cannot_add_to_a_comparison(stage, times, sit, named, asked, fix):
    times(a=0.05, b=0.025)
    sit(**asked)
    with pytest.raises(StoreError, match="'run' cannot add to it") as refused:
        trial_begun(
            stage.trial / "campaign.yaml", stage.runs, named=stage.trial if named else None, more=3
        )
    assert refused.value.fix == fix.format(stage.trial)
    words = command_to_continue(read_trial(stage.trial).manifest, stage.trial)
    assert command_line(words) in refused.value.fix


# --- failures ------------------------------------------------------------------------------------


def test_a_failed_run_is_kept_and_its_block_left_out(stage, times, sit):
    times(a=0.05, b=0.025)
    slow = stage.target
    counted = iter(range(10**6))
    stage.target = lambda request: {"exit_code": 3} if next(counted) == 9 else slow(request)
    ended = sit()
    assert ended.ending.failed == 1
    assert ended.looks_plan.stopped_because == "decided"
    assert [row["outcome"] for row in stage.rows].count("exit") == 1
    assert len(stage.rows) == 24


@pytest.mark.parametrize("seconds", [0.01, 0.05, 0.2])
def test_three_failures_in_a_row_from_the_beginning_end_it(stage, times, sit, seconds):
    times(a=seconds, b=seconds)
    slow = stage.target
    stage.target = lambda request: {"exit_code": 3} if request.argv[-1] == "b" else slow(request)
    ended = sit(seconds=seconds)
    assert (ended.ending.status, ended.looks_plan.stopped_because) == ("stopped", "failures")
    assert "the first 3 runs of b failed" in ended.ending.reason
    failed = [row for row in stage.rows if row["variant"] == "b"]
    assert len(failed) == 3


def test_a_host_that_is_refused_leaves_a_trial_that_can_go_on(stage, times, sit, comparison, again):
    strict = comparison(checks={"require": ["load"]})
    stage.tree({"proc/loadavg": "9.00 9.00 9.00 1/100 1234\n"})
    with pytest.raises(HostError, match="load"):
        measure(
            strict,
            plan_sitting([0.05, 0.05]),
            Options(folder=stage.runs, passing=True, strict=True),
            stage.watching,
        )


# --- what is judged afterwards -------------------------------------------------------------------


@pytest.mark.parametrize("case", ["decided", "capped", "resumed", "failed", "interrupted"])
def test_the_verdict_has_the_numbers_of_the_last_look(stage, times, sit, again, case):
    noise = 0.01 if case == "decided" else 0.2
    times(noise=noise, a=0.05, b=0.04 if case == "decided" else 0.05)
    slow = stage.target
    counted = iter(range(10**6))
    if case == "failed":
        stage.target = lambda request: {"exit_code": 1} if next(counted) == 9 else slow(request)
    ended = sit(for_s=1.5)
    if case == "resumed":
        ended = again(for_s=1.0)
    if case == "interrupted":
        stage.target = lambda request: (
            stage.interrupt() if next(counted) == 7 * 4 else slow(request)
        )
        ended = again(for_s=20.0)
        assert ended.ending.status == "interrupted"
    then = ended.look.candidates[0].line
    now = judge(read_trial(stage.trial)).candidates[0].multilevel.benchmarks[0]
    if case != "interrupted":
        assert (then.speedup, then.low, then.high) == (now.speedup, now.low, now.high)
    assert then.outcome == now.outcome


# --- How a comparison is planned; authority: the rule of docs/methods/multilevel.md on looks, and arithmetic


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


def test_the_least_and_the_most_runs_are_kept_plan_sitting():
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
