"""A launcher that a program has changed: found once a block, mended, and the rows between are named.

Authority: an attack in which a program gave its parent another CPU and nice 19; every later row said the CPU of
the campaign, and nothing was found.
"""

from __future__ import annotations

import os
from dataclasses import replace

import pytest

from harness.launch.client import Placement

HERE = Placement(cpus=frozenset({1}), nice=0, policy=os.SCHED_OTHER, priority=0)
MOVED = replace(HERE, cpus=frozenset({0}), nice=19)


@pytest.fixture
def next_run(stage):
    return lambda: stage.watching.of("run_started")[-1][0]


@pytest.fixture
def changing(stage, next_run, monkeypatch):
    """Let the run at a position change its launcher; `put_back` says whether that may be undone."""
    launchers = []

    def make(position, *, put_back=True, inherited=False):
        usual = stage.launcher

        def launcher(answer, cpus=None):
            made = usual(answer, cpus)
            made.placement = MOVED if inherited and launchers else HERE

            def place(placement):
                if put_back:
                    made.placement = placement

            made.place = place
            if answer == "target":
                launchers.append(made)
            return made

        monkeypatch.setattr(stage, "launcher", launcher)

        def target(request):
            if next_run().position == position:
                launchers[-1].placement = MOVED

        stage.target = target
        return launchers

    return make


def test_it_is_put_back_at_the_end_of_the_block_and_the_rows_are_named(stage, campaign, changing):
    launchers = changing(5)  # of the block of positions 4 to 7
    ending = stage.start(campaign())
    assert (ending.status, ending.failed, len(launchers)) == ("complete", 0, 1)
    assert launchers[0].placement == HERE
    (found,) = stage.findings("placement")
    assert (found["status"], found["session"], found["when"]) == ("warn", 1, "during")
    assert "CPUs 1 became 0, nice 0 became 19; it was put back" in found["what"]
    assert "rows from position 4 to 7 " in found["what"]


def test_the_last_block_is_looked_at_too(stage, campaign, changing):
    changing(11)
    stage.start(campaign())
    (found,) = stage.findings("placement")
    assert "rows from position 8 to 11 " in found["what"]


def test_where_it_may_not_be_put_back_a_new_launcher_takes_its_place(stage, campaign, changing):
    launchers = changing(5, put_back=False)
    stage.start(campaign())
    assert len(launchers) == 2
    assert launchers[0].closed
    (found,) = stage.findings("placement")
    assert "a new launcher took its place" in found["what"]


def test_what_the_new_one_inherits_is_said_once(stage, campaign, changing):
    changing(1, put_back=False, inherited=True)
    stage.start(campaign())
    (found,) = stage.findings("placement")
    assert "it cannot be put back, and stays" in found["what"]


def test_a_launcher_that_nobody_changed_is_no_finding(stage, campaign, changing):
    changing(99)
    stage.start(campaign())
    assert stage.findings("placement") == []
