"""Cells that cannot succeed: none of their first tries was ok.

The authority is the project's list of what real work showed: a campaign whose every run failed went on to
its end, and a server that did not come up cost a night.
"""

from __future__ import annotations

import dataclasses
import json
import shutil

import pytest

from analysis.data.trial import read_trial
from analysis.errors import StoreError
from analysis.record.manifest import read_manifest
from analysis.record.trial_files import StopRule
from harness.errors import LauncherDiedError
from harness.launch.commands import HOOKS_LAUNCHER_DIED, SERVICES_LAUNCHER_DIED
from harness.trial.measure import Measurer
from harness.trial.outcomes import Examined
from harness.trial.progress import read_progress


@pytest.fixture
def failing(stage):
    """Let runs of some cells fail, all of them or those that `when` chooses."""

    def make(*cells, when=lambda run: True, says="no such table\n"):
        def target(request):
            run = stage.watching.of("run_started")[-1][0]
            bad = (run.benchmark, run.variant) in cells and when(run)
            if bad and request.stderr is not None:
                request.stderr.write_text(says)
            return {"exit_code": 1} if bad else None

        stage.target = target

    return make


def executed(stage, *cell):
    """Give session, block and outcome of the planned runs of a cell."""
    return [
        (row["session"], row["block"], row["outcome"])
        for row in stage.rows
        if (row["benchmark"], row["variant"]) == cell and row["position"] >= 0
    ]


def test_a_cell_without_an_ok_warm_up_is_left_out_of_the_trial(stage, campaign, failing):
    failing(("x", "b"))
    ending = stage.start(campaign(sessions=3, warmup=2))
    assert executed(stage, "x", "b") == [(1, 0, "exit")] * 2
    assert len(executed(stage, "y", "b")) == len(executed(stage, "x", "a")) == 3 * 4
    # 48 were planned, and of the cell's 12 two were executed
    assert (ending.status, ending.done, ending.planned) == ("complete", 38, 38)
    last = max(r["position"] for r in stage.rows if (r["benchmark"], r["variant"]) == ("x", "b"))
    assert stage.manifest["given_up"] == [
        {
            "benchmark": "x",
            "variant": "b",
            "session": session,
            "position": last,
            "runs": 0,
            "why": "no warm-up of session 1 was ok, the last one: exit code 1, expected 0; "
            "stderr: no such table",
            "never_ok": True,
            "warmups": 2 * (session > 1),
        }
        for session in (1, 2, 3)
    ]
    (found,) = stage.findings("never-ok")
    assert (found["status"], found["session"]) == ("warn", 1)
    assert "no such table" in found["what"]
    told = "\n".join(ending.lines(("again",)))
    assert told.count("left out: x / b") == 1
    assert "given up in session" not in told
    assert read_progress(stage.trial).planned == 38


@pytest.fixture
def hooked(campaign, commands):
    """A campaign with a hook before each run."""
    made = campaign(sessions=2)
    cells = tuple(dataclasses.replace(cell, before=commands("true")) for cell in made.cells)
    return dataclasses.replace(made, cells=cells)


@pytest.mark.parametrize("resumed", [False, True])
def test_a_kill_of_what_executes_the_hooks_tells_nothing_of_the_cell(stage, hooked, resumed):
    """A hook that fails by itself does: the negative control below."""

    def dies():
        raise LauncherDiedError("the launcher was killed or crashed")

    stage.command = stage.at(0, dies)  # before the first warm-up
    if resumed:
        stage.target = stage.at(2, stage.interrupt)
        assert stage.start(hooked).status == "interrupted"
        stage.resume(hooked)
    else:
        stage.start(hooked)
    first = stage.rows[0]
    assert (first["outcome"], first["warmup"]) == ("hook-failed", True)
    assert first["detail"].startswith("the launcher of hooks died: ")
    assert stage.manifest["given_up"] == []
    assert (stage.manifest["status"], stage.findings("never-ok")) == ("complete", [])


@pytest.mark.parametrize(
    ("how", "left_out"),
    [
        (SERVICES_LAUNCHER_DIED, False),
        (f"{SERVICES_LAUNCHER_DIED} before it was ready", False),
        (f"ended with exit code 1\n    the service 's' {SERVICES_LAUNCHER_DIED}", True),
    ],
)
@pytest.mark.parametrize("where", ["", "c.yaml:9: services.s: "])
def test_a_kill_of_what_executes_a_service_tells_nothing_of_the_cell(
    stage, campaign, monkeypatch, where, how, left_out
):
    """The trial ended as stopped, and no resume could mend it: `kills services` of the drills, seed 1."""
    blamed, died = Measurer._blamed, []

    def dies_once(measurer, run, found):
        if (run.benchmark, run.variant) != ("x", "b") or died:
            return blamed(measurer, run, found)
        died.append(run)
        return Examined(outcome="service-failed", detail=f"{where}the service 's' {how}")

    monkeypatch.setattr(Measurer, "_blamed", dies_once)
    stage.start(campaign(sessions=2))
    assert executed(stage, "x", "b")[0] == (1, 0, "service-failed")
    assert len(stage.findings("never-ok")) == left_out


def test_a_hook_that_fails_leaves_its_cell_out(stage, hooked):
    stage.command = stage.at(0, lambda: {"exit_code": 1})
    stage.start(hooked)
    assert stage.rows[0]["outcome"] == "hook-failed"
    assert len(stage.findings("never-ok")) == 1


def test_a_program_that_prints_what_is_said_of_such_a_kill_is_left_out(stage, campaign, failing):
    failing(("x", "b"), says=f"{HOOKS_LAUNCHER_DIED}: so it says\n")
    stage.start(campaign(sessions=2))
    (found,) = stage.findings("never-ok")
    assert HOOKS_LAUNCHER_DIED in found["what"]


def test_judges_know_that_it_always_failed_and_miss_no_run(stage, campaign, failing):
    failing(("x", "b"))
    stage.start(campaign(sessions=3))
    trial = read_trial(stage.trial)
    told = {caution.code: caution.text for caution in trial.cautions}
    assert "runs-missing" not in told
    assert "never ok when it was tried" in told["given-up"]
    assert "x / b" in told["given-up"]
    assert "in a row" not in told["given-up"]
    ours, theirs = trial.matrix("b"), trial.matrix("a")
    assert ours.failed == {"x": 1}
    assert ours.failed_by_session == {"x": {1: 1}}
    assert (ours.benchmarks, theirs.benchmarks, theirs.failed) == (("y",), ("x", "y"), {})


def test_without_warm_ups_the_first_block_decides(stage, campaign, failing):
    failing(("x", "b"))
    ending = stage.start(campaign(sessions=2, warmup=0, runs=3))
    assert executed(stage, "x", "b") == [(1, 1, "exit")]
    assert [(g["session"], g["runs"], g["warmups"]) for g in stage.manifest["given_up"]] == [
        (1, 1, 0),
        (2, 0, 0),
    ]
    assert ending.done == ending.planned == len(stage.rows) == 19
    assert read_trial(stage.trial).matrix("b").failed == {"x": 1}


@pytest.mark.parametrize("order", ["sequential", "interleaved"])
@pytest.mark.parametrize("warmup_sessions", ["all", "first"])
def test_plans_of_every_kind_miss_nothing(stage, campaign, failing, order, warmup_sessions):
    failing(("x", "b"))
    made = campaign(sessions=2, order=order, warmup_sessions=warmup_sessions, runs=3, give_up=1)
    ending = stage.start(made)
    assert ending.done == ending.planned == len(stage.rows)
    assert executed(stage, "x", "b") == [(1, 0, "exit")]


def test_sequential_without_warm_ups_tells_the_first_run_of_each_cell(stage, campaign, failing):
    failing(("x", "b"))
    ending = stage.start(campaign(sessions=2, order="sequential", warmup=0, runs=3, give_up=1))
    assert executed(stage, "x", "b") == [(1, 1, "exit")]
    assert ending.done == ending.planned == len(stage.rows)
    found = [(g["session"], g.get("never_ok", False)) for g in stage.manifest["given_up"]]
    assert found == [(1, False), (2, True)]  # the rule of one session came first


@pytest.mark.parametrize("when", ["first", "later"])
def test_one_ok_try_is_enough(stage, campaign, failing, when):
    # the negative control: what fails later is for give_up, within sessions
    first = {"first": lambda run: run.position < 4, "later": lambda run: not run.warmup}[when]
    failing(("x", "b"), when=first)
    stage.start(campaign(sessions=2, warmup=2, runs=4, give_up=2))
    assert not any(g.get("never_ok") for g in stage.manifest["given_up"])
    given_up = [g["session"] for g in stage.manifest["given_up"]]
    assert given_up == ([] if when == "first" else [1, 2])
    assert stage.findings("never-ok") == []


def test_go_on_measures_it_all_the_same(stage, campaign, failing):
    failing(("x", "b"), ("y", "b"))
    ending = stage.start(campaign(sessions=2, never_ok="go_on"))
    assert (ending.status, ending.failed, ending.done) == ("complete", 12, 24)
    assert stage.manifest["given_up"] == []


@pytest.mark.parametrize(
    ("cells", "why"),
    [
        ([("x", "b"), ("y", "b")], "no cell of variant b is left: x / b: no warm-up"),
        ([("x", "a"), ("x", "b")], "no cell of benchmark x is left: x / a: no warm-up"),
    ],
)
def test_the_trial_ends_when_a_variant_or_a_benchmark_has_no_cell(
    stage, campaign, failing, cells, why
):
    failing(*cells)
    ending = stage.start(campaign(sessions=3))
    assert (ending.status, ending.done, ending.failed) == ("stopped", 4, 2)
    assert ending.reason.startswith(why)
    assert ending.reason.endswith("stderr: no such table")
    assert stage.manifest["must_raise"] == "protocol.never_ok"
    assert "never_ok: go_on" in "\n".join(ending.lines(("again",)))
    read_trial(stage.trial)


def test_where_no_warm_up_was_ok_the_next_command_is_no_verdict(stage, campaign, failing):
    """There is nothing to judge, although no planned run is missing."""
    failing(*((benchmark, variant) for benchmark in "xy" for variant in "ab"))
    stage.start(campaign(sessions=3))
    told = "\n".join(read_progress(stage.trial).next_lines())
    assert "--resume" in told
    assert "fairtrial verdict" not in told


@pytest.mark.parametrize("rule", ["skip", "stop"])
def test_a_trial_of_which_nothing_is_left_is_complete(stage, campaign, failing, rule):
    failing(("x", "a"), ("x", "b"))
    ending = stage.start(campaign(sessions=1, runs=1, warmup=0, never_ok=rule))
    assert (ending.status, ending.done, ending.planned, ending.failed) == ("complete", 4, 4, 2)


def test_stop_ends_the_trial_at_any_cell_once_all_were_tried(stage, campaign, failing):
    failing(("x", "b"))
    made = campaign(sessions=3, never_ok="stop")
    ending = stage.start(made)
    assert (ending.status, ending.done) == ("stopped", 4)
    assert ending.reason.startswith("1 cell never ok: x / b: no warm-up of session 1 was ok")
    assert stage.manifest["given_up"] == []
    assert (stage.resume(made).reason, len(stage.rows)) == (ending.reason, 4)
    failing()
    assert stage.start(made).status == "complete"


def test_a_kill_before_the_record_changes_nothing(stage, campaign, failing, monkeypatch):
    made = campaign(sessions=2)
    failing(("x", "b"))
    stage.start(made)
    whole, known = executed(stage, "x", "b"), stage.manifest["given_up"]
    shutil.rmtree(stage.trial)

    def killed(self, records):
        if records:
            raise StoreError("the host died here")

    with monkeypatch.context() as patched:
        patched.setattr("harness.trial.session.TrialRun._leave_out", killed)
        with pytest.raises(StoreError, match="died"):
            stage.start(made)
    assert stage.manifest["given_up"] == []
    stage.resume(made)
    assert (executed(stage, "x", "b"), stage.manifest["given_up"]) == (whole, known)


def test_sessions_that_are_added_go_without_it_too(stage, campaign, failing):
    failing(("x", "b"))
    made = campaign(sessions=1)
    stage.start(made)
    ending = stage.resume(made, sessions=3)
    assert (ending.status, ending.done) == ("complete", ending.planned)
    assert executed(stage, "x", "b") == [(1, 0, "exit")]
    assert [g["session"] for g in stage.manifest["given_up"]] == [1, 2, 3]


def test_whoever_goes_on_with_go_on_measures_what_was_left_out(stage, campaign, failing):
    failing(("x", "b"), ("y", "b"))
    assert stage.start(campaign(sessions=2)).status == "stopped"
    failing()
    ending = stage.resume(campaign(sessions=2, never_ok="go_on"), accept_drift=True)
    assert (ending.status, ending.done, ending.planned) == ("complete", 24, 24)
    assert stage.manifest["given_up"] == []
    assert stage.manifest["must_raise"] is None


def test_a_stopping_rule_goes_on_without_the_cell(stage, campaign, failing):
    failing(("x", "b"))
    rule = StopRule(width=0.5, min_runs=4, max_runs=9)
    for warmup in (0, 1):
        ending = stage.start(campaign(stop=rule, runs=9, warmup=warmup))
        (end,) = ending.session_ends
        assert (end.why, end.runs) == ("width", 4)  # it would have run to the cap for ever
        assert ending.done == ending.planned == len(stage.rows)
        shutil.rmtree(stage.trial)


def test_a_manifest_of_a_trial_that_lost_no_cell_is_as_ever(stage, campaign, failing):
    failing(("x", "b"), when=lambda run: not run.warmup)
    stage.start(campaign(runs=3, give_up=2))
    (one,) = stage.manifest["given_up"]
    assert one.keys() == {"benchmark", "variant", "session", "position", "runs", "why"}


def test_a_record_that_cannot_be_is_refused(stage, campaign, failing):
    failing(("x", "b"))
    stage.start(campaign(sessions=2))
    for change in ({"never_ok": False}, {"warmups": -1}, {"runs": -1}):
        told = stage.manifest
        told["given_up"][0] |= change
        path = stage.trial / "manifest.json"
        before = path.read_text()
        path.write_text(json.dumps(told))
        with pytest.raises(StoreError, match="given up"):
            read_manifest(stage.trial)
        path.write_text(before)
    one = read_manifest(stage.trial).given_up[0]
    assert (
        dataclasses.replace(one, never_ok=False)
        .to_dict()
        .keys()
        .isdisjoint({"never_ok", "warmups"})
    )
