"""What a look at the clock says on every machine; what it sees of a neighbour: tests/host/test_gaps.py."""

from __future__ import annotations

import os
import sys

import pytest

from harness.host.activity import Host, look_for_gaps
from harness.host.state import GapLook, Gaps


@pytest.fixture
def cpu():
    return max(os.sched_getaffinity(0))


def test_a_look_tells_how_long_it_took_and_what_was_lost(cpu):
    (gaps,) = look_for_gaps((cpu,), 0.05).gaps
    assert gaps.cpu == cpu
    assert gaps.looked_s >= 0.05
    assert 0 <= gaps.longest_s <= gaps.lost_s <= gaps.looked_s
    assert (gaps.count == 0) == (gaps.lost_s == 0)
    assert gaps.lost_s <= gaps.count * gaps.longest_s + 1e-9
    assert 0 <= gaps.share <= 1


def test_several_cpus_are_looked_at_at_the_same_time():
    cpus = tuple(sorted(os.sched_getaffinity(0)))[:2]
    look = look_for_gaps(cpus, 0.05)
    assert tuple(one.cpu for one in look.gaps) == cpus
    assert look.worst in look.gaps


def test_the_one_who_looks_stays_where_it_was(cpu):
    before = os.sched_getaffinity(0)
    look_for_gaps((cpu,), 0.01)
    assert os.sched_getaffinity(0) == before


@pytest.mark.parametrize(
    ("cpus", "words"),
    [(None, "not pinned"), ((), "not pinned"), ((4000,), "nothing may be pinned to cpu4000")],
)
def test_where_it_cannot_be_measured_it_is_unknown(cpus, words):
    look = look_for_gaps(cpus, 0.01)
    assert (look.gaps, look.worst) == ((), None)
    assert words in look.problem


def test_an_interpreter_that_cannot_be_started_makes_it_unknown(cpu, monkeypatch):
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    assert "No such file" in look_for_gaps((cpu,), 0.01).problem
    monkeypatch.setattr(sys, "executable", "/bin/false")
    assert "ended with 1" in look_for_gaps((cpu,), 0.01).problem


def test_a_recorded_host_has_no_cpus_to_look_at(tmp_path):
    with Host(tmp_path) as host:
        assert "recorded" in host.gaps((0,), 0.01).problem


def test_the_worst_cpu_lost_the_largest_share():
    def lost(cpu, seconds):
        return Gaps(cpu=cpu, looked_s=1.0, lost_s=seconds, count=1, longest_s=seconds)

    assert GapLook(gaps=(lost(1, 0.1), lost(2, 0.3), lost(3, 0.2))).worst.cpu == 2
