"""The loop of a trial: order, warm-ups, rests, caps, signals, hooks, resumption, its end."""

from __future__ import annotations

import errno
import os
import signal
from dataclasses import replace

import pytest

from analysis.data.trial import read_trial
from analysis.errors import StoreError
from analysis.record.manifest import read_manifest
from analysis.record.trial_files import StopRule
from analysis.verdict.judging import judge
from harness.campaign.model import CheckPolicy, Hooks
from harness.errors import HostError, LaunchError
from harness.launch.commands import CommandFailedError
from harness.launch.exchange import Standstill
from harness.trial.folder import is_written_now
from harness.trial.plan import PlannedSession
from harness.trial.progress import read_progress
from harness.trial.writer import Store

KEYS = ("position", "session", "block", "benchmark", "variant", "warmup")


def placed(rows):
    return [tuple(row[key] for key in KEYS) for row in rows]


def planned(campaign, *sessions):
    return [
        tuple(run.to_dict()[key] for key in KEYS)
        for session in sessions
        for run in PlannedSession(campaign, campaign.seed, session)
    ]


# --- the order ---------------------------------------------------------------------------------


@pytest.mark.parametrize("order", ["shuffled", "interleaved", "sequential"])
def test_runs_are_those_of_the_plan_in_its_order(stage, campaign, order):
    c = campaign(sessions=2, order=order)
    ending = stage.start(c)
    assert placed(stage.rows) == planned(c, 1, 2) == placed(stage.lines("plan.jsonl"))
    assert {row["segment"] for row in stage.rows} == {0}
    trying, *sessions = stage.launchers  # each session has one of its own
    assert (len(trying.requests), trying.closed) == (0, True)
    assert [(len(one.requests), one.closed) for one in sessions] == [(12, True)] * 2
    assert (ending.status, ending.done, ending.planned, ending.failed) == ("complete", 24, 24, 0)
    assert stage.manifest["status"] == "complete"
    assert stage.manifest["files"].keys() >= {"measurements.jsonl", "plan.jsonl"}


def test_the_watcher_hears_of_every_run_and_warm_ups_come_first(stage, campaign):
    stage.start(campaign())
    assert [row["warmup"] for row in stage.rows] == [True] * 4 + [False] * 8
    assert {row["block"] for row in stage.rows[:4]} == {0}
    heard = [name for name, *_ in stage.watching.heard]
    assert [n for n in heard if n.startswith("run_")] == ["run_started", "run_done"] * 12
    assert heard[0] == "opened"
    assert heard[-1] == "end"
    assert stage.watching.of("begin") == [[12, 0, 1]]
    assert [m.position for (m,) in stage.watching.of("run_done")] == list(range(12))


# --- rests -------------------------------------------------------------------------------------


def test_it_rests_before_each_run_and_between_sessions(stage, campaign):
    stage.start(campaign(sessions=2, runs=1, warmup=0, cooldown_s=0.5, pause_s=60.0))
    assert stage.slept == [0.5] * 4 + [60.0] + [0.5] * 4


def test_a_rest_ends_with_the_time_that_there_is(stage, campaign):
    ending = stage.start(campaign(sessions=2, warmup=0, pause_s=600.0, max_time_s=30.0))
    assert stage.slept == [pytest.approx(30.0, abs=0.1)]
    assert ending.status == "stopped"
    assert ending.reason == "the time cap of 30 s was reached before run 8"
    assert len(stage.rows) == 8


# --- caps --------------------------------------------------------------------------------------


def test_a_cap_in_runs_ends_the_trial_with_what_there_is(stage, campaign):
    ending = stage.start(campaign(max_runs=5))
    assert (ending.status, ending.reason) == ("stopped", "the cap of 5 runs was reached")
    assert len(stage.rows) == ending.done == 5
    assert (stage.manifest["status"], stage.manifest["reason"]) == ("stopped", ending.reason)
    again = stage.resume(campaign(max_runs=5), accept_drift=True)
    assert (again.status, again.done) == ("stopped", 5)


@pytest.mark.parametrize(
    "reading", ["harness.trial.builds.hashes", "harness.trial.preparation.describe_inputs"]
)
def test_an_interrupt_is_heard_while_a_large_file_is_read(stage, campaign, monkeypatch, reading):
    unheard = []

    def read(_paths, *_root):
        signal.raise_signal(signal.SIGINT)
        unheard.append(reading)
        return {}

    monkeypatch.setattr(reading, read)
    assert stage.start(campaign()).status == "interrupted"
    assert not unheard


def test_a_run_that_passes_the_time_cap_is_ended_and_leaves_no_row(stage, campaign):
    def pass_time(request):
        stage.clock.now += 4.0

    stage.target = pass_time
    ending = stage.start(campaign(max_time_s=10.0))
    assert ending.reason == "the time cap of 10 s was reached in a run, now discarded"
    assert [row["position"] for row in stage.rows] == [0, 1]
    assert stage.outputs() == set()


# --- signals and resumption --------------------------------------------------------------------


def test_a_signal_discards_the_run_under_way_and_keeps_the_rest(stage, campaign):
    stage.target = stage.at(6, stage.interrupt)
    ending = stage.start(campaign())
    assert (ending.status, ending.reason, ending.done) == ("interrupted", "signal 2", 6)
    assert placed(stage.rows) == planned(campaign(), 1)[:6]
    assert not is_written_now(stage.trial)
    assert stage.launchers[-1].closed


def test_a_resumed_session_repeats_its_warm_ups_and_goes_on_as_a_new_segment(stage, campaign):
    c = campaign(sessions=2)
    stage.target = stage.at(6, stage.interrupt)
    stage.start(c)
    ending = stage.resume(c)
    rows = stage.rows
    assert (ending.status, ending.done) == ("complete", 24)
    repeated = rows[6:10]
    assert [row["position"] for row in repeated] == [-1, -2, -3, -4]
    assert [(r["benchmark"], r["variant"]) for r in repeated] == [
        (benchmark, variant) for _, _, _, benchmark, variant, warmup in planned(c, 1) if warmup
    ]
    assert all(row["warmup"] and row["segment"] == 1 for row in repeated)
    assert placed(row for row in rows if row["position"] >= 0) == planned(c, 1, 2)
    assert [row["segment"] for row in rows] == [0] * 6 + [1] * 10 + [0] * 12
    assert placed(stage.lines("plan.jsonl")) == planned(c, 1, 2)  # written once
    assert [(e["session"], e["segment"]) for e in stage.lines("environment.jsonl")] == [
        *((1, 0), (1, 1), (2, 0))
    ]
    assert stage.watching.of("begin") == [[24, 6, 2]]


def test_a_signal_between_sessions_is_heard_before_the_next_begins(stage, campaign):
    c = campaign(sessions=2, pause_s=5.0)
    stage.target = stage.at(11, lambda: setattr(stage.interrupts, "received", 15))
    ending = stage.start(c)
    assert (ending.status, ending.reason, ending.done) == ("interrupted", "signal 15", 12)
    assert len(stage.lines("environment.jsonl")) == 1


def test_sessions_are_appended_to_a_complete_trial(stage, campaign):
    c = campaign()
    stage.start(c)
    before = stage.rows
    ending = stage.resume(c, sessions=3)
    assert (ending.status, ending.done, ending.planned) == ("complete", 36, 36)
    assert stage.rows[:12] == before
    assert placed(stage.rows) == planned(c, 1, 2, 3)
    assert (stage.manifest["sessions"], stage.manifest["planned"]) == (3, 36)


def test_an_append_to_a_complete_trial_is_noted_and_no_other_resume_is(stage, campaign):
    # the promise: whoever may have seen an answer before has looked once more
    c = campaign(sessions=2, max_runs=15)
    assert stage.start(c).status == "stopped"
    more = campaign(sessions=2)
    assert stage.resume(more, accept_drift=True).status == "complete"
    assert stage.manifest["appended"] == []  # it was never complete before
    assert stage.resume(more).reason == "it was complete already"
    assert stage.manifest["appended"] == []
    for sessions in (4, 5):
        assert stage.resume(more, sessions=sessions).status == "complete"
    first, second = stage.manifest["appended"]
    assert (first["first"], first["last"]) == (3, 4)
    assert (second["first"], second["last"]) == (5, 5)
    assert first["at"] < second["at"]
    assert len(read_manifest(stage.trial).sessions_at_looks) == 3


# --- hooks -------------------------------------------------------------------------------------


@pytest.fixture
def hooked(stage, campaign, commands):
    for name in ("set-up", "clean-up", "tell"):
        stage.program(name)

    def make(**given):
        hooks = Hooks(
            setup=commands("set-up"), cleanup=commands("clean-up"), finish=commands("tell")
        )
        return campaign(hooks=hooks, **given)

    return make


def hooks_executed(stage):
    return [request.argv[0] for kind, request in stage.executed if kind == "command"]


def test_hooks_surround_sessions_and_the_last_one_hears_the_status(stage, hooked):
    stage.start(hooked(sessions=2, runs=1, warmup=0))
    order = [request.argv[0] if kind == "command" else "run" for kind, request in stage.executed]
    session = ["set-up", *["run"] * 4, "clean-up"]
    assert order == [*session, *session, "tell"]
    told = [request.env for kind, request in stage.executed if kind == "command"]
    assert [env.get(b"FAIRTRIAL_SESSION") for env in told] == [b"1", b"1", b"2", b"2", None]
    assert told[-1][b"FAIRTRIAL_STATUS"] == b"complete"
    assert {env[b"FAIRTRIAL_TRIAL"] for env in told} == {os.fsencode(stage.trial.resolve())}
    assert stage.outputs() == {
        *("setup-session1-1.log", "cleanup-session1-1.log", "finish-1.log"),
        *("setup-session2-1.log", "cleanup-session2-1.log"),
    }
    (side,) = [launcher for launcher in stage.launchers if launcher.cpus is not None]
    assert (side.swept, side.closed) == (2, True)  # what hooks leave ends with their session


def test_a_resumed_session_adds_logs_and_overwrites_none(stage, hooked):
    stage.target = stage.at(3, stage.interrupt)
    stage.start(hooked())
    stage.target = lambda request: None
    stage.resume(hooked())
    assert {"setup-session1-1.log", "setup-session1-again1-1.log"} <= stage.outputs()
    assert {"finish-1.log", "finish-again1-1.log"} <= stage.outputs()


def test_a_set_up_that_fails_ends_the_trial_and_is_cleaned_up(stage, hooked):
    stage.command = lambda request: {"exit_code": int(request.argv[0] == "set-up")}
    with pytest.raises(CommandFailedError, match="hook 'setup' failed with exit code 1"):
        stage.start(hooked())
    assert hooks_executed(stage) == ["set-up", "clean-up", "tell"]
    assert stage.rows == []
    assert stage.manifest["status"] == "stopped"
    assert stage.manifest["reason"].startswith("hook 'setup' failed with exit code 1")


@pytest.mark.parametrize("name", ["clean-up", "tell"])
def test_a_hook_that_comes_last_may_fail_and_the_measurements_stand(stage, hooked, name):
    stage.command = lambda request: {"exit_code": int(request.argv[0] == name)}
    assert stage.start(hooked()).status == "complete"
    (finding,) = stage.findings("hook", "after")
    assert finding["what"].partition(": ")[2].startswith("failed with exit code 1")
    assert len(stage.rows) == 12


def test_hooks_that_come_last_are_executed_after_a_signal_too(stage, hooked):
    stage.target = stage.at(0, stage.interrupt)
    assert stage.start(hooked()).status == "interrupted"
    assert hooks_executed(stage) == ["set-up", "clean-up", "tell"]
    assert stage.executed[-1][1].env[b"FAIRTRIAL_STATUS"] == b"interrupted"


def test_a_second_signal_ends_a_hook_that_comes_last(stage, hooked):
    stage.command = lambda request: stage.interrupt(15) if request.argv[0] == "clean-up" else None
    ending = stage.start(hooked(sessions=2))
    assert (ending.status, ending.reason) == ("interrupted", "signal 15")
    assert [found["what"] for found in stage.findings("hook")] == ["hook 'cleanup': interrupted"]


# --- what goes wrong ---------------------------------------------------------------------------


def test_a_mark_below_the_line_that_failed_is_told_with_that_line(stage, campaign):
    said = "starting\nParse error near line 1: syntax error\n  selct 1;\n  ^--- error here\n"

    def fail(request):
        request.stderr.write_text(said)
        return {"exit_code": 1}

    stage.target = fail
    stage.start(campaign(("x",), ("a",), sessions=1, runs=1, warmup=0))
    told = "Parse error near line 1: syntax error | selct 1; | ^--- error here"
    assert stage.rows[0]["detail"] == f"exit code 1, expected 0; stderr: {told}"


def test_failed_runs_are_outcomes_and_the_trial_goes_on(stage, campaign):
    def fail(request):
        request.stderr.write_text("no such luck\n")
        return {"exit_code": 3}

    c = campaign(("x",), ("a", "b"))
    stage.target = lambda request: fail(request) if len(stage.executed) == 4 else None
    ending = stage.start(c)
    assert (ending.status, ending.failed, ending.done) == ("complete", 1, 6)
    assert [row["outcome"] for row in stage.rows] == ["ok"] * 3 + ["exit"] + ["ok"] * 2
    assert stage.rows[3]["detail"] == "exit code 3, expected 0; stderr: no such luck"
    assert (stage.trial / "outputs" / "0003.stderr").read_text() == "no such luck\n"
    assert any("1 failed (x / b: exit)" in line for line in ending.lines(("again",)))


def test_a_launcher_that_dies_stops_the_trial_and_all_rows_stay(stage, campaign):
    def die():
        raise LaunchError("the launcher was killed or crashed\nsee the log", "launcher process 7")

    stage.target = stage.at(7, die)
    with pytest.raises(LaunchError, match="killed or crashed"):
        stage.start(campaign(sessions=2))
    assert len(stage.rows) == 7
    assert stage.manifest["status"] == "stopped"
    assert stage.manifest["reason"] == "the launcher was killed or crashed"
    assert stage.manifest["files"]["measurements.jsonl"]
    assert not is_written_now(stage.trial)
    assert all(launcher.closed for launcher in stage.launchers)
    stage.target = lambda request: None
    assert stage.resume(campaign(sessions=2)).status == "complete"


def test_an_error_of_the_system_names_its_place(stage, campaign, monkeypatch):
    def fail(self, measurement):
        raise OSError(errno.EIO, "Input/output error", "/some/where")

    monkeypatch.setattr(Store, "append_measurement", fail)
    with pytest.raises(StoreError, match="the trial had to stop: Input/output error") as caught:
        stage.start(campaign())
    assert caught.value.where == "/some/where"
    assert stage.manifest["status"] == "stopped"


def test_a_store_that_cannot_be_closed_gives_its_lock_back(stage, campaign, monkeypatch):
    def fail(*words, **more):
        raise StoreError("cannot be written: No space left on device")

    monkeypatch.setattr(Store, "append_measurement", fail)
    monkeypatch.setattr(Store, "finish", fail)
    with pytest.raises(StoreError, match="No space left"):
        stage.start(campaign())
    assert stage.manifest["status"] == "running"
    assert not is_written_now(stage.trial)


# --- the host ----------------------------------------------------------------------------------

ASLR_OFF = {"proc/sys/kernel/randomize_va_space": "0\n"}


def test_the_host_is_looked_at_before_and_after_each_session(stage, campaign):
    stage.start(campaign(sessions=2))
    before, after = stage.findings(when="before"), stage.findings(when="after")
    assert {found["session"] for found in after} == {1, 2}
    for session in (1, 2):  # what is looked at is the same; of a busy host there may be more to say
        seen = {found["check"] for found in before if found["session"] == session}
        assert {"governor", "load", "aslr", "smt", "cpus", "gaps"} <= seen
    assert len(stage.watching.of("findings")) >= 4


def test_a_required_check_that_fails_later_stops_the_trial(stage, campaign):
    c = campaign(sessions=2, checks=CheckPolicy(require=("aslr",)))
    stage.target = stage.at(11, lambda: stage.tree(ASLR_OFF))
    with pytest.raises(HostError, match="required check 'aslr'") as caught:
        stage.start(c, strict=True)
    assert "more)" not in caught.value.what
    assert len(stage.rows) == 12
    assert stage.manifest["status"] == "stopped"
    assert stage.findings("aslr", "before")[-1]["status"] == "warn"


def test_what_changed_on_the_host_between_sessions_is_a_finding(stage, campaign):
    stage.target = stage.at(11, lambda: stage.tree(ASLR_OFF))
    stage.start(campaign(sessions=2))
    (finding,) = stage.findings("environment")
    assert (finding["session"], finding["where"]) == (2, "kernel.aslr")
    assert "2" in finding["what"]


def test_changed_variables_are_named_and_their_values_are_not(stage, campaign, isolation):
    def with_variable(text):
        return campaign(
            sessions=2,
            isolation=isolation(set_environment={"PATH": str(stage.bin), "COLOUR": text}),
        )

    stage.target = stage.at(12, stage.interrupt)
    stage.start(with_variable("one"))
    stage.target = lambda request: None
    stage.resume(with_variable("two"), accept_drift=True)
    (finding,) = stage.findings("environment")
    assert finding["what"] == "environment variables changed: COLOUR"


def test_what_happens_during_a_long_session_is_found_after_a_block(stage, campaign):
    def swap():
        stage.tree({"proc/vmstat": "pswpin 70\npswpout 9\n"})
        stage.clock.now += 31.0

    stage.target = stage.at(5, swap)
    stage.start(campaign(runs=3))
    (during,) = stage.findings(when="during")
    assert (during["check"], during["status"]) == ("swap", "fail")
    assert stage.findings("swap", "after")[0]["status"] == "fail"


def test_a_target_with_threads_on_one_cpu_is_named_once_a_cell(stage, campaign, isolation):
    stage.tree({"proc/4242/status": "Threads:\t3\n"})
    stage.start(campaign(("x",), ("a", "b"), warmup=2, isolation=isolation(cpus=(1,))))
    found = stage.findings("threads", "during")
    assert sorted(f["what"] for f in found) == [
        "x / a has 3 threads, pinned to one CPU",
        "x / b has 3 threads, pinned to one CPU",
    ]
    assert stage.affinity[0] == (0,)  # fairtrial leaves the measured CPU
    assert stage.launchers[1].cpus == (1,)
    assert {tuple(row["cpus"]) for row in stage.rows} == {(1,)}


# --- the stopping rule -------------------------------------------------------------------------

RULE = StopRule(width=0.5, min_runs=3, max_runs=6)


def ruled(campaign, **given):
    return campaign(("x",), ("a", "b"), stop=RULE, runs=RULE.max_runs, warmup=0, **given)


def test_a_session_ends_when_it_is_precise_and_says_so(stage, campaign):
    ending = stage.start(ruled(campaign, sessions=2))
    assert [row["session"] for row in stage.rows] == [1] * 6 + [2] * 6
    assert [(end.session, end.runs, end.why) for end in ending.session_ends] == [
        *((1, 3, "width"), (2, 3, "width"))
    ]
    assert (ending.done, ending.planned) == (12, 12)
    assert [end["session"] for end in stage.manifest["session_ends"]] == [1, 2]
    assert [found["status"] for found in stage.findings("stop", "after")] == ["ok", "ok"]
    assert [total for _, total in stage.watching.of("session_ended")] == [18, 12]
    assert len(stage.lines("plan.jsonl")) == 24  # the plan holds the most that there may be


def test_outputs_that_are_not_kept_are_told_once_a_session(stage, campaign, isolation):
    def fails(request):
        request.stdout.write_text("x" * 100)
        return {"exit_code": 1}

    stage.target = fails
    stage.start(campaign(sessions=2, never_ok="go_on", isolation=isolation(kept_outputs_bytes=250)))
    kept = [name for name in stage.outputs() if name.endswith(".stdout")]
    assert sorted(kept) == ["0000.stdout", "0001.stdout"]
    told = stage.findings("kept-outputs", "after")
    assert [found["what"].split()[0] for found in told] == ["10", "12"]
    assert [found["session"] for found in told] == [1, 2]


# --- what else wrote into the trial ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "garbage", "said"),
    [
        ("measurements.jsonl", b"0.5 ms\n", "the line is no row that was written here"),
        ("plan.jsonl", b"{}\n", "the line lacks"),
    ],
)
def test_a_trial_that_a_target_wrote_into_is_not_complete(stage, campaign, name, garbage, said):
    # the attacks on 0.1.0, B15: it ended "complete", and the judge refused it afterwards
    def write():
        with (stage.trial / name).open("ab") as file:
            file.write(garbage)

    stage.target = stage.at(5, write)
    with pytest.raises(StoreError, match=said):
        stage.start(campaign())
    assert stage.manifest["status"] == "stopped"
    assert said in stage.manifest["reason"]
    assert not is_written_now(stage.trial)


def test_a_trial_whose_campaign_went_is_closed_and_says_so(stage, campaign):
    def remove():
        (stage.trial / "campaign.yaml").unlink()

    stage.target = stage.at(5, remove)
    with pytest.raises(StoreError, match="the file is missing") as error:
        stage.start(campaign())
    assert error.value.where.endswith("campaign.yaml")
    assert (stage.manifest["status"], len(stage.rows)) == ("stopped", 12)


# --- Runs during which something stood still: discarded, executed again, and counted
#
# Authority: docs/trial-format.md, "Stopped and continued". A program's time while everything stood is nobody's:
# a row of it would be a wrong number that looks right.


STOOD = Standstill(what="the launcher", seconds=8.0)
STRAY = Standstill(what="the launcher", seconds=0.0)


@pytest.fixture
def next_run(stage):
    """Tell which run comes next."""
    return lambda: stage.watching.of("run_started")[-1][0]


def stands(stage, next_run, position, times, standstill=STOOD, **changes):
    """Let something stand still in the first executions of a run."""
    left = [times]

    def target(request):
        if next_run().position == position and left[0]:
            left[0] -= 1
            return {"wall_ns": 8_000_000_000, "standstill": standstill, **changes}
        return None

    stage.target = target


@pytest.mark.parametrize("position", [1, 5])  # a warm-up, and a measured run
def test_a_run_that_stood_still_is_discarded_and_executed_again(
    stage, campaign, next_run, position
):
    stands(stage, next_run, position, 1)
    ending = stage.start(campaign())
    assert (ending.status, ending.failed, ending.done) == ("complete", 0, 12)
    assert [row["position"] for row in stage.rows] == list(range(12))  # in its own place
    assert {row["wall_ns"] for row in stage.rows} == {1_000_000}  # negative control: 8 s in a row
    assert [row["suspended"] for row in stage.rows] == [int(k == position) for k in range(12)]
    (found,) = stage.findings("suspended")
    assert (found["status"], found["session"], found["when"]) == ("warn", 1, "during")
    assert f"position {position}: the launcher stood still for 8.0 s" in found["what"]
    assert found["what"].endswith("the run is discarded and executed again")
    assert ending.suspended == read_progress(stage.trial).suspended == 1
    said = "  suspended: 1 execution was discarded, because the launcher, fairtrial or"
    assert any(line.startswith(said) for line in ending.lines(("again",)))
    assert said in str(read_progress(stage.trial))


@pytest.mark.parametrize(
    "changes", [{"exit_code": 3}, {"signal": 11, "exit_code": None}, {"killed": "timeout"}]
)
def test_what_came_of_it_plays_no_part(stage, campaign, next_run, changes):
    # a timeout, say, that ran on while everything stood is none of the program's
    stands(stage, next_run, 5, 1, **changes)
    ending = stage.start(campaign())
    assert (ending.failed, ending.suspended) == (0, 1)
    assert {row["outcome"] for row in stage.rows} == {"ok"}
    assert stage.outputs() == set()  # nothing of the failure is kept


def test_it_is_repeated_at_most_twice_then_it_fails(stage, campaign, next_run):
    stands(stage, next_run, 5, 100)
    ending = stage.start(campaign())
    assert (ending.status, ending.failed, ending.suspended) == ("complete", 1, 3)
    (row,) = [row for row in stage.rows if row["outcome"] != "ok"]
    assert (row["position"], row["outcome"], row["suspended"]) == (5, "signal", 3)
    assert row["detail"] == "stopped and continued in each of 3 tries"
    assert (row["wall_ns"], row["user_s"]) == (None, None)
    assert row["padding_bytes"] is not None
    assert len(stage.findings("suspended")) == 3
    assert len(stage.executed) - len([e for e in stage.executed if e[0] != "target"]) == 12 + 2


def test_a_program_that_sends_the_signal_itself_is_measured(stage, campaign, next_run):
    # nothing was ever seen to stand: discarded twice, and not for ever
    stands(stage, next_run, 5, 100, STRAY, wall_ns=2_000_000)
    ending = stage.start(campaign())
    assert (ending.failed, ending.suspended) == (0, 2)
    assert (stage.rows[5]["outcome"], stage.rows[5]["wall_ns"]) == ("ok", 2_000_000)
    assert [found["what"].count("less than 0.25 s") for found in stage.findings("suspended")] == [
        1,
        1,
    ]


def test_hooks_around_a_run_surround_each_execution(stage, campaign, next_run, commands):
    made = campaign()
    cells = (replace(c, before=commands("true"), after=commands("true")) for c in made.cells)
    stands(stage, next_run, 5, 1)
    stage.start(replace(made, cells=tuple(cells)))
    kinds = [kind for kind, _ in stage.executed]
    assert kinds == ["command", "target", "command"] * 13


def test_a_row_stands_once_under_caps_and_counts_once(stage, campaign, next_run):
    stands(stage, next_run, 1, 1)
    ending = stage.start(campaign(max_runs=4))
    assert (ending.status, len(stage.rows), ending.suspended) == ("stopped", 4, 1)


def test_a_signal_in_a_repeat_loses_only_the_run_under_way(stage, campaign, next_run):
    tries = []

    def target(request):
        if next_run().position == 5:
            tries.append(1)
            if len(tries) == 2:
                stage.interrupt()
            return {"standstill": STOOD}
        return None

    stage.target = target
    c = campaign()
    assert stage.start(c).status == "interrupted"
    assert [row["position"] for row in stage.rows] == [0, 1, 2, 3, 4]
    stage.target = lambda request: None
    ending = stage.resume(c)
    assert (ending.status, ending.done) == ("complete", 12)
    assert len(stage.findings("suspended")) == 1


def test_a_death_and_a_standstill_have_their_own_limits(stage, campaign, next_run):
    from harness.errors import LauncherDiedError

    answers = [STOOD, None, STOOD]

    def target(request):
        if next_run().position == 5 and answers:
            answer = answers.pop(0)
            if answer is None:
                raise LauncherDiedError("the launcher was stopped, and not continued for 10 s")
            return {"standstill": answer}
        return None

    stage.target = target
    ending = stage.start(campaign())
    assert (ending.failed, ending.suspended, len(stage.findings("launcher"))) == (0, 2, 1)


def test_a_verdict_counts_them_by_variant(stage, campaign, next_run):
    stands(stage, next_run, 5, 1)
    stage.start(campaign(runs=4))
    variant = stage.rows[5]["variant"]
    cautions = {one.code: one.text for one in judge(read_trial(stage.trial)).cautions}
    assert cautions["suspended-runs"] == (
        "1 execution was discarded because the launcher, fairtrial or the machine stood still, and made "
        f"again: {variant} 1"
    )


def test_of_runs_that_never_stood_still_nothing_is_said(stage, campaign):
    ending = stage.start(campaign(runs=4))
    assert {row["suspended"] for row in stage.rows} == {0}
    assert not any("suspended" in line for line in ending.lines(("again",)))
    assert "suspended" not in str(read_progress(stage.trial))
    codes = {one.code for one in judge(read_trial(stage.trial)).cautions}
    assert "suspended-runs" not in codes
