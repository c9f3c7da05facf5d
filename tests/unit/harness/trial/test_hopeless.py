"""Runs that kill their launcher, and cells whose runs fail one after the other.

The authority is the project's list of what attacks showed: a run that kills its parent stopped the
trial at each resumption, for ever, although failures are outcomes; and one cell that always timed out
made every session run to its cap.
"""

from __future__ import annotations

import shutil
from dataclasses import replace

import pytest

from analysis.data.trial import read_trial
from analysis.errors import StoreError
from analysis.record.trial_files import PlannedRun, StopRule
from harness.errors import LauncherDiedError, LaunchError
from harness.trial.stopping import Hopeless


def dies():
    raise LauncherDiedError("the launcher was killed or crashed")


def fails_in(stage, position_of, *cells):
    """Let every run of some cells fail; what runs next is known from the plan."""

    def target(request):
        run = position_of()
        return {"exit_code": 1} if (run.benchmark, run.variant) in cells else None

    stage.target = target


@pytest.fixture
def next_run(stage):
    """Tell which run is under way: what the watcher heard last."""

    def tell():
        return stage.watching.of("run_started")[-1][0]

    return tell


@pytest.fixture
def campaign(campaign):
    """Make campaigns whose cells may fail from the first warm-up on: they are given up in sessions alone."""
    return lambda **given: campaign(**{"never_ok": "go_on", **given})


def cells_of(rows, session=1):
    found = {}
    for row in rows:
        if row["session"] == session and not row["warmup"]:
            found.setdefault((row["benchmark"], row["variant"]), []).append(row["outcome"])
    return found


# --- a launcher that dies -------------------------------------------------------------------------


def test_a_run_whose_launcher_died_is_executed_once_more(stage, campaign):
    stage.target = stage.at(5, dies)
    ending = stage.start(campaign())
    assert (ending.status, ending.failed, ending.done) == ("complete", 0, 12)
    assert {row["outcome"] for row in stage.rows} == {"ok"}
    (found,) = stage.findings("launcher")
    assert "was killed or crashed" in found["what"]
    assert found["session"] == 1
    targets = [one for one in stage.launchers if one.requests and one.cpus is None]
    assert all(one.closed for one in targets)


def test_only_the_second_death_is_an_outcome_and_the_trial_goes_on(stage, campaign, next_run):
    def target(request):
        if next_run().position == 5:
            dies()

    stage.target = target
    ending = stage.start(campaign())
    assert (ending.status, ending.failed, ending.done) == ("complete", 1, 12)
    (row,) = [row for row in stage.rows if row["outcome"] != "ok"]
    assert (row["position"], row["outcome"]) == (5, "signal")
    assert (row["detail"], row["wall_ns"]) == ("killed its launcher", None)
    assert row["padding_bytes"] is not None  # what it was executed with is known
    assert len(stage.findings("launcher")) == 2
    trial = read_trial(stage.trial)
    assert [run.position for run in trial.failures()] == [5]


def test_without_a_new_launcher_the_trial_stops(stage, campaign, monkeypatch):
    stage.target = stage.at(5, dies)
    made = iter(range(100))

    def launcher(isolation, cpus, interrupts, **given):
        if next(made):
            raise LaunchError("there can be none")
        return stage.launcher("target", cpus)

    monkeypatch.setattr("harness.trial.measure.LauncherClient", launcher)
    with pytest.raises(LaunchError, match="there can be none"):
        stage.start(campaign())
    assert stage.manifest["status"] == "stopped"
    assert len(stage.rows) == 5


def test_a_hooks_launcher_that_dies_is_no_runs_outcome(stage, campaign, commands):
    made = campaign()
    made = replace(made, cells=tuple(replace(c, before=commands("true")) for c in made.cells))
    stage.command = stage.at(4, dies)
    stage.start(made)
    (row,) = [row for row in stage.rows if row["outcome"] != "ok"]
    assert row["outcome"] == "hook-failed"
    assert stage.findings("launcher") == []


# --- cells that are given up ----------------------------------------------------------------------


def test_a_session_goes_on_without_a_cell_that_fails_in_a_row(stage, campaign, next_run):
    fails_in(stage, next_run, ("x", "b"))
    ending = stage.start(campaign(runs=5, sessions=2, give_up=3))
    for session in (1, 2):  # the next session tries it again
        found = cells_of(stage.rows, session)
        assert found.pop(("x", "b")) == ["exit"] * 3
        assert set(map(len, found.values())) == {5}
    given_up = stage.manifest["given_up"]
    assert [(g["benchmark"], g["variant"], g["session"], g["runs"]) for g in given_up] == [
        ("x", "b", 1, 3),
        ("x", "b", 2, 3),
    ]
    assert given_up[0]["why"] == "3 runs in a row failed, the last one: exit"
    positions = {row["position"] for row in stage.rows}
    assert {g["position"] for g in given_up} <= positions
    # what was left out is not missing
    assert (ending.status, ending.done, ending.planned) == ("complete", 44, 44)
    assert "given up in session 1: x / b" in "\n".join(ending.lines(("again",)))
    codes = [caution.code for caution in read_trial(stage.trial).cautions]
    assert "given-up" in codes
    assert "runs-missing" not in codes


def test_failures_between_good_runs_give_nothing_up(stage, campaign, next_run):
    count = iter(range(10**6))

    def target(request):
        if (next_run().benchmark, next_run().variant) == ("x", "b") and next(count) % 3:
            return {"exit_code": 1}
        return None

    stage.target = target
    stage.start(campaign(runs=8, give_up=3))
    assert stage.manifest["given_up"] == []
    assert len(cells_of(stage.rows)["x", "b"]) == 8


def test_without_the_key_nothing_is_given_up(stage, campaign, next_run):
    fails_in(stage, next_run, ("x", "b"))
    stage.start(campaign(runs=5))
    assert stage.manifest["given_up"] == []
    assert cells_of(stage.rows)["x", "b"] == ["exit"] * 5


def test_a_cell_whose_record_a_kill_kept_back_gets_it_on_resume(
    stage, campaign, next_run, monkeypatch
):
    made = campaign(runs=5, give_up=3)
    fails_in(stage, next_run, ("x", "b"))

    def killed(self, one):
        raise StoreError("the host died here")

    with monkeypatch.context() as patched:
        patched.setattr("harness.trial.session.TrialRun._give_up", killed)
        with pytest.raises(StoreError, match="died"):
            stage.start(made)
    assert stage.manifest["given_up"] == []
    stage.resume(made)
    assert [g["why"] for g in stage.manifest["given_up"]] == [
        "3 runs in a row failed, the last one: exit"
    ]
    assert cells_of(stage.rows)["x", "b"] == ["exit"] * 3


@pytest.mark.parametrize("cut", [27, 33, 38])
def test_a_rule_that_is_given_to_a_begun_trial_counts_what_was_executed_before(
    stage, campaign, next_run, cut
):
    # a cell that only fails was met, and the campaign then told to give it up
    made = {"sessions": 3, "runs": 5, "order": "interleaved"}

    def target(request):
        if len(stage.rows) == cut:  # in the second session, whose runs begin at 28
            stage.interrupt()
        return (
            {"exit_code": 1} if (next_run().benchmark, next_run().variant) == ("x", "b") else None
        )

    stage.target = target
    assert stage.start(campaign(**made)).status == "interrupted"
    fails_in(stage, next_run, ("x", "b"))
    ending = stage.resume(campaign(**made, give_up=2), accept_drift=True)
    executed = {n: len(cells_of(stage.rows, n)["x", "b"]) for n in (1, 2, 3)}
    assert executed == {1: 5, 2: 2 if cut < 38 else 3, 3: 2}
    assert {one.session: one.runs for one in ending.given_up} == executed
    assert ending.done == ending.planned == sum(row["position"] >= 0 for row in stage.rows)


RULE = StopRule(width=0.5, min_runs=4, max_runs=9)


@pytest.mark.parametrize("cells", [[("x", "b")], [("x", "a")], [("x", "b"), ("y", "a")]])
def test_a_stopping_rule_goes_on_without_the_cell(stage, campaign, next_run, cells):
    fails_in(stage, next_run, *cells)
    made = campaign(stop=RULE, runs=RULE.max_runs, warmup=0, give_up=3)
    ending = stage.start(made)
    (end,) = ending.session_ends
    assert (end.why, end.runs) == ("width", 4)  # it would have run to the cap for ever
    found = cells_of(stage.rows)
    for cell in cells:
        assert len(found.pop(cell)) == 3
    assert set(map(len, found.values())) == {4}
    assert (ending.done, ending.planned) == (len(stage.rows), len(stage.rows))


@pytest.mark.parametrize("min_runs", [2, 4, 7])
def test_a_session_without_any_cell_left_ends_as_it_would_have_ended(
    stage, campaign, next_run, monkeypatch, min_runs
):
    # blocks without a run are looked at too, though no row says that they were
    rule = StopRule(width=0.5, min_runs=min_runs, max_runs=7)
    made = campaign(stop=rule, runs=rule.max_runs, give_up=2)
    fails_in(stage, next_run, *((b, v) for b in "xy" for v in "ab"))
    stage.start(made)
    executed, ends = len(stage.rows), stage.manifest["session_ends"]
    assert [end["runs"] for end in ends] == [min_runs]
    shutil.rmtree(stage.trial)

    def killed(self, end):
        raise StoreError("the host died here")

    with monkeypatch.context() as patched:
        patched.setattr("harness.trial.session.TrialRun._session_ended", killed)
        with pytest.raises(StoreError, match="died"):
            stage.start(made)
    assert stage.resume(made).status == "complete"
    assert (len(stage.rows), stage.manifest["session_ends"]) == (executed, ends)


def test_a_stopping_rule_without_giving_up_runs_to_its_cap(stage, campaign, next_run):
    # the negative control
    fails_in(stage, next_run, ("x", "b"))
    ending = stage.start(campaign(stop=RULE, runs=RULE.max_runs, warmup=0))
    (end,) = ending.session_ends
    assert (end.why, end.runs) == ("max_runs", 9)


def test_warm_ups_count_neither_way():
    runs = [
        PlannedRun(position=k, session=1, block=k, benchmark="x", variant="a", warmup=k == 0)
        for k in range(4)
    ]
    hopeless = Hopeless(2, runs, {}, (), 1)
    outcomes = ["exit", "exit", "exit", "exit"]
    found = [hopeless.add(run, what) for run, what in zip(runs, outcomes, strict=True)]
    assert [one is not None for one in found] == [False, False, True, False]
