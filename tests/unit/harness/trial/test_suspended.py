"""Runs during which something stood still: discarded, executed again, and counted.

Authority: docs/trial-format.md, "Stopped and continued". A program's time while everything stood is nobody's:
a row of it would be a wrong number that looks right.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from analysis.data.trial import read_trial
from analysis.verdict.judging import judge
from harness.launch.exchange import Standstill
from harness.trial.progress import read_progress

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
