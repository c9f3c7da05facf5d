"""The launcher's work in this very process: what it does around a program, and at its end."""

from __future__ import annotations

import marshal
import os
import re
import signal
import socket
import time
from pathlib import Path

import pytest

from harness.launch.exchange import message_of
from harness.launch.in_launcher.cgroups import Ungrouped
from harness.launch.in_launcher.serving import Launcher
from harness.launch.in_launcher.system_calls import ENDING, receive

CONFIG = {"scheduling": "other", "containment": "none", "stay_ns": 0}


class Noted(Ungrouped):
    """Leaves that do nothing and note what is asked of them."""

    def __init__(self):
        self.calls = []

    def _note(self, name):
        self.calls.append(name)

    def leave(self, pid, spawned_ns):
        self._note("leave")

    warm, enter, renew, close = (
        lambda self, name=name: self._note(name) for name in ("warm", "enter", "renew", "close")
    )


class Family:
    """All that is below the launcher, where nothing is: it notes by which signals it could be ended."""

    def __init__(self):
        self.sweeps = []

    def sweep(self):
        self.sweeps.append([signal.getsignal(number) for number in ENDING])
        return 2, 0, 0.0


@pytest.fixture
def ours(tmp_path, monkeypatch):
    """Give the orchestrator's end of a launcher's socket, and the launcher."""
    monkeypatch.chdir(tmp_path)  # it goes elsewhere
    before = {number: signal.getsignal(number) for number in ENDING}
    mine, theirs = socket.socketpair()
    launcher = Launcher(theirs.fileno(), CONFIG)
    launcher.family = Family()
    with mine, theirs:
        yield mine, launcher
    for number, handler in before.items():
        signal.signal(number, handler)
    for fd in (launcher.null, launcher.home, launcher.status, launcher.account._own):
        if fd >= 0:
            os.close(fd)


def say(end, message):
    data = marshal.dumps(message)
    end.sendall(len(data).to_bytes(4, "little") + data)


def peak():
    text = Path("/proc/self/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+) kB", text)[1]) * 1024


def run(handle=0):
    return {"op": "run", "handle": handle, "padding": 0, "count": False}


def test_a_program_is_timed_from_its_spawn_to_its_end(ours, request_for, tmp_path):
    _, launcher = ours
    request = request_for("/bin/sh", "-c", "echo out; echo bad >&2; exit 3", sweep=False)
    launcher.programs.add({**message_of(request), "handle": 0})
    floor, before = peak(), time.monotonic_ns()
    reply = launcher._execute(launcher.programs[0], run())
    after = time.monotonic_ns()
    numbers = reply["numbers"]
    assert os.waitstatus_to_exitcode(reply["status"]) == 3
    assert before <= numbers["start_ns"] <= numbers["start_ns"] + numbers["wall_ns"] <= after
    assert 0 < numbers["spawn_ns"] <= numbers["wall_ns"]
    assert floor <= numbers["max_rss_floor_bytes"] <= peak()
    assert (tmp_path / "stdout").read_text() == "out\n"
    assert (tmp_path / "stderr").read_text() == "bad\n"
    assert Path.cwd() == Path("/")  # where it was, it holds no folder back


def test_only_the_program_is_spawned_into_the_leaf(ours, request_for):
    _, launcher = ours
    launcher.leaves = noted = Noted()
    spawn = launcher.call.spawn

    def spawned(path):
        noted.calls.append("program" if path == b"/bin/true" else "nothing")
        return spawn(path)

    launcher.call.spawn = spawned
    launcher.programs.add({**message_of(request_for("/bin/true", sweep=False)), "handle": 0})
    launcher._execute(launcher.programs[0], run())
    assert noted.calls == ["warm", "nothing", "enter", "program", "leave"]


def test_requests_are_answered_until_nobody_asks_then_all_is_swept(ours, request_for):
    mine, launcher = ours
    launcher.leaves = noted = Noted()
    replies = []

    def answered():  # the next request comes after the reply: a word before that would end the run
        noted.calls.append("renew")
        replies.append(receive(mine.fileno()))
        say(mine, {"op": "sweep"})
        mine.shutdown(socket.SHUT_WR)

    noted.renew = answered
    before = [signal.getsignal(number) for number in ENDING]
    request = request_for("/bin/sh", "-c", "exit 4", sweep=False)
    say(mine, {**message_of(request), "handle": 7})
    say(mine, run(7))
    launcher.serve()
    assert os.waitstatus_to_exitcode(replies[0]["status"]) == 4
    assert replies[0]["told"] is False
    assert receive(mine.fileno()) == {"orphans": 2}
    # a second signal does not end the last sweep
    assert launcher.family.sweeps == [before, [signal.SIG_IGN] * len(ENDING)]
    assert noted.calls[-2:] == ["renew", "close"]


def test_a_mistake_of_the_orchestrator_is_raised_after_the_last_sweep(ours):
    mine, launcher = ours
    say(mine, run(3))
    with pytest.raises(KeyError):
        launcher.serve()
    assert launcher.family.sweeps == [[signal.SIG_IGN] * len(ENDING)]
