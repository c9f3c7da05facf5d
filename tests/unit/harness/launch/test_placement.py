"""Where and how a process runs: read, told and put back, on real processes.

Authority: `taskset`, `nice` and `chrt` do the same by the same system calls; sched(7).
"""

from __future__ import annotations

import os
import subprocess

import pytest

from harness.launch.client import Placement, place, placement_of

HERE = Placement(cpus=frozenset({0, 1}), nice=0, policy=os.SCHED_OTHER, priority=0)


@pytest.fixture
def child():
    with subprocess.Popen(["sleep", "60"]) as process:
        yield process.pid
        process.kill()


def test_each_change_is_told():
    assert HERE.changes(HERE) == ""
    other = Placement(cpus=frozenset({0}), nice=19, policy=os.SCHED_FIFO, priority=3)
    assert HERE.changes(other) == (
        "CPUs 0-1 became 0, nice 0 became 19, scheduling other became fifo 3"
    )


def test_it_is_read_and_put_back(child):
    before = placement_of(child)
    assert before.cpus == os.sched_getaffinity(0)
    few = frozenset({min(before.cpus)})
    os.sched_setaffinity(child, few)
    os.sched_setscheduler(child, os.SCHED_BATCH, os.sched_param(0))
    now = placement_of(child)
    assert (now.cpus, now.policy) == (few, os.SCHED_BATCH)
    assert "scheduling other became batch" in before.changes(now)
    place(child, before)
    assert placement_of(child) == before


def test_what_may_not_be_put_back_stays(child, monkeypatch):
    before = placement_of(child)
    os.setpriority(os.PRIO_PROCESS, child, 19)

    def refused(*_):
        raise PermissionError

    monkeypatch.setattr(os, "setpriority", refused)  # as of a user, who may only be nicer
    place(child, before)
    assert placement_of(child).nice == 19


def test_of_a_process_that_has_ended_nobody_knows():
    with subprocess.Popen(["true"]) as ended:
        pass
    assert placement_of(ended.pid) is None
