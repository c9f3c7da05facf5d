"""A trial that a cap stopped: its exit code, its line, and the command that really goes on."""

from __future__ import annotations

import io

import pytest

from analysis.words import next_lines
from harness.campaign.model import Build, Hooks
from harness.commands.live_view import View
from harness.commands.run import report_ending
from harness.errors import LaunchError
from harness.trial.progress import read_progress

AGAIN = ("fairtrial", "run", "c.yaml", "--resume")
TWO_CELLS = {"benchmarks": ("x",), "variants": ("a", "b"), "warmup": 1}


def told(ending, *, quiet=False):
    """Give the exit code of an ending, and what stderr says of it."""
    err = io.StringIO()
    code = report_ending(ending, View(err, quiet=quiet), again=AGAIN)
    return code, err.getvalue()


def seconds(stage, wall):
    stage.target = lambda request: {"wall_ns": round(wall * 1e9)}


@pytest.fixture(autouse=True)
def _there_is_a_file(stage, campaign):
    campaign().source.write_text("name: c\n")


@pytest.fixture
def slow_setup(stage, campaign, commands):
    """Make a campaign whose setup takes 5 s."""
    stage.program("prepare")

    def pass_time(request):
        stage.clock.now += 5.0

    stage.command = pass_time
    hooks = Hooks(setup=commands("prepare"))
    return lambda **given: campaign(**TWO_CELLS, hooks=hooks, **given)


# --- the exit code: first use, "exit code 0 and silence when nothing was measured" ---------------


@pytest.mark.parametrize(
    ("cap", "sessions", "code"),
    [
        (2, 1, 1),  # the warm-ups only
        (3, 1, 1),  # one of two cells
        (4, 1, 0),  # each cell once
        (5, 1, 0),
        (8, 2, 1),  # the first session whole, nothing of the second
        (12, 2, 0),
    ],
)
def test_a_capped_trial_fails_when_a_cell_of_a_session_has_no_run_that_counts(
    stage, campaign, cap, sessions, code
):
    ending = stage.start(campaign(**TWO_CELLS, sessions=sessions, runs=3, max_runs=cap))
    assert (ending.status, stage.manifest["status"]) == ("stopped", "stopped")
    assert told(ending)[0] == code


def test_a_failed_run_does_not_count(stage, campaign):
    stage.target = stage.at(2, lambda: {"exit_code": 1})
    ending = stage.start(campaign(**TWO_CELLS, runs=3, max_runs=4))
    assert ending.unmeasured == 1


def test_a_complete_trial_has_nothing_unmeasured(stage, campaign):
    ending = stage.start(campaign())
    assert (ending.capped, ending.unmeasured, told(ending)[0]) == (False, 0, 0)
    assert told(ending, quiet=True) == (0, "")


def test_quiet_keeps_one_line(stage, slow_setup):
    code, said = told(stage.start(slow_setup(max_time_s=2.0)), quiet=True)
    assert code == 1
    assert "next" not in said
    said = " ".join(said.split())
    assert "stopped after 0 of 6 runs" in said
    assert "the time cap of 2 s was reached" in said
    assert "no run counts in 2 cells of all sessions" in said


# --- the command that goes on ----------------------------------------------------------------


def test_after_max_runs_the_cap_is_to_be_raised(stage, campaign):
    ending = stage.start(campaign(max_runs=5))
    for said in (told(ending)[1], str(read_progress(stage.trial))):
        assert "once protocol.max_runs is raised in the campaign" in said
        assert "--resume" in said
        assert "--accept-drift" in said
    # that is true: as it stands nothing more is executed, raised it goes on
    assert stage.resume(campaign(max_runs=5)).done == 5
    assert stage.resume(campaign(max_runs=9), accept_drift=True).done == 9
    assert stage.resume(campaign(max_runs=12), accept_drift=True).status == "complete"


def test_after_max_time_resuming_is_enough_when_something_was_measured(stage, campaign):
    seconds(stage, 2.0)
    ending = stage.start(campaign(**TWO_CELLS, max_time_s=6.0))
    assert ending.done
    for said in (told(ending)[1], str(read_progress(stage.trial))):
        assert "next  fairtrial run " in said
        assert " is raised" not in said
        assert "--accept-drift" not in said
    assert stage.resume(campaign(**TWO_CELLS, max_time_s=6.0)).done > ending.done


def test_a_time_cap_that_lets_no_run_through_is_to_be_raised(stage, slow_setup):
    ending = stage.start(slow_setup(max_time_s=2.0))
    for said in (told(ending)[1], str(read_progress(stage.trial))):
        assert "once protocol.max_time is raised in " in said
        assert "--accept-drift" in said
    assert stage.resume(slow_setup(max_time_s=2.0)).done == 0
    assert stage.resume(slow_setup(max_time_s=60.0), accept_drift=True).done == 6


def test_a_trial_of_the_first_version_does_not_say_which_cap_it_was(stage, campaign):
    stage.start(campaign(max_runs=5))
    path = stage.trial / "manifest.json"
    path.write_text(path.read_text().replace('"must_raise": "protocol.max_runs"', '"x": 1'))
    assert "once protocol.max_runs is raised in " in str(read_progress(stage.trial))


def test_a_campaign_that_is_gone_is_said(stage, campaign):
    stage.target = stage.at(4, stage.interrupt)
    c = campaign()
    stage.start(c)
    again = ("fairtrial", "run", str(c.source), "--resume", "--trial", str(stage.trial))
    assert "\n".join(next_lines(again)) in str(read_progress(stage.trial))
    c.source.unlink()
    said = " ".join(str(read_progress(stage.trial)).split())
    assert "once the campaign is put back: " in said
    assert str(stage.trial / "campaign.yaml") in said


# --- while it builds -------------------------------------------------------------------------


def test_status_says_what_is_being_built(stage, campaign, commands):
    # first use: for eight minutes of building, "running, 0 of 864 runs (0 %)"
    stage.program("make")
    steps = {"steps": commands("make"), "cwd": stage.folder, "env": {}}
    builds = tuple(Build(variant=name, **steps) for name in "ab")
    said = []
    stage.command = lambda request: said.append(str(read_progress(stage.trial))) or None
    stage.start(campaign(builds=builds))
    assert ["building a (1 of 2)" in said[0], "building b (2 of 2)" in said[1]] == [True, True]
    assert stage.manifest["stage"] is None
    assert "building" not in str(read_progress(stage.trial))


def test_a_build_that_failed_is_no_longer_going_on(stage, campaign, commands):
    stage.program("make")
    build = Build(variant="a", steps=commands("make"), cwd=stage.folder, env={})
    stage.command = lambda request: {"exit_code": 2}
    with pytest.raises(LaunchError):
        stage.start(campaign(builds=(build,)))
    assert (stage.manifest["status"], stage.manifest["stage"]) == ("stopped", None)
