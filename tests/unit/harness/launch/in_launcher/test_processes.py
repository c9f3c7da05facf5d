"""The last sweep, by processes that are played: who is killed, reaped and counted, and when it gives up."""

from __future__ import annotations

import os
import signal
from types import SimpleNamespace

import pytest

from harness.launch.in_launcher import cgroups as room
from harness.launch.in_launcher.cgroups import ProcessTree, Ungrouped


class Kernel:
    """Children of this process: numbers with the seconds that they used; some run, some cannot be killed."""

    def __init__(self, ended=(), running=(), immortal=()):
        self.ended, self.running, self.immortal = dict(ended), dict(running), dict(immortal)
        self.stopped, self.now = set(), 0.0

    def wait4(self, pid, options):
        assert options == os.WNOHANG
        every = self.ended | self.running | self.immortal
        if not every or (pid != -1 and pid not in every):
            raise ChildProcessError
        if not self.ended:
            return 0, 0, None
        one, seconds = self.ended.popitem()
        return one, 0, SimpleNamespace(ru_utime=seconds, ru_stime=2 * seconds)

    def kill(self, pid, number):
        if number == signal.SIGSTOP:
            self.stopped.add(pid)
        elif pid in self.immortal:
            raise PermissionError
        else:
            assert number == signal.SIGKILL
            assert self.stopped >= self.running.keys()  # nobody forks on meanwhile
            self.ended[pid] = self.running.pop(pid)

    def sleep(self, seconds):
        self.now += 0.2


@pytest.fixture
def sweep(monkeypatch):
    def played(kernel):
        fake = SimpleNamespace(**vars(os))
        fake.wait4, fake.kill = kernel.wait4, kernel.kill
        monkeypatch.setattr(room, "os", fake)
        clock = SimpleNamespace(monotonic=lambda: kernel.now, sleep=kernel.sleep)
        monkeypatch.setattr(room, "time", clock)
        monkeypatch.setattr(room, "_descendants", lambda pid: [*kernel.running, *kernel.immortal])
        return ProcessTree(Ungrouped(), contained=False).sweep()

    return played


def test_where_nothing_is_left_nothing_is_killed(sweep):
    assert sweep(Kernel()) == (0, 0, 0.0)


def test_all_are_reaped_and_those_that_had_not_ended_are_orphans(sweep):
    kernel = Kernel(ended={11: 1.0, 12: 0.5}, running={13: 0.25, 14: 0.125, 15: 0.0})
    assert sweep(kernel) == (3, 0, 3 * 1.875)
    assert not kernel.ended | kernel.running


def test_who_cannot_be_killed_is_a_survivor_after_ten_seconds(sweep):
    kernel = Kernel(running={13: 0.25}, immortal={14: 1.0, 15: 1.0})
    assert sweep(kernel) == (1, 2, 0.75)
    assert kernel.now == pytest.approx(10, abs=0.5)
