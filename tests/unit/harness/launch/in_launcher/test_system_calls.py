"""What is set once, held against a kernel that is played: nothing is changed for this process."""

from __future__ import annotations

import ctypes
import errno
import marshal
import os
import signal
from types import SimpleNamespace

import pytest

from harness.launch.in_launcher import system_calls as room
from harness.launch.in_launcher.system_calls import ENDING, SettingRefused, apply, enter_namespace

NOTHING = {"cpus": None, "nice": None, "scheduling": "other", "priority": 1, "aslr": True}
MS_REC, MS_SLAVE = 16384, 1 << 19  # of linux/mount.h


class Kernel:
    """Of a process that enters a namespace: its mounts, forks, files, and what happens in which order."""

    def __init__(self, forks=(), refused=()):
        self.forks, self.refused = list(forks), refused
        self.mounts, self.order = [], []
        self.open = {0, 1, 2, 5, 6, 97, 1023}

    def unshare(self, flags):
        return 0

    def mount(self, *arguments):
        self.mounts.append(arguments)
        ctypes.set_errno(errno.EACCES)
        return -1 if arguments[1] in self.refused else 0

    def prctl(self, what, number, *rest):
        self.order.append(("dies with its parent", what, number))

    def fork(self):
        assert self.forks, "it goes on as another process"
        return self.forks.pop(0)

    def closerange(self, low, high):
        self.open -= set(range(low, high))

    def wait(self):
        self.order.append("reaps")
        return (4242 if self.order.count("reaps") == 3 else 9, 0)

    def end(self, code):
        raise SystemExit(code)

    def poll(self):
        self.order.append("its parent has ended")


@pytest.fixture
def play(monkeypatch):
    def begin(**changes):
        kernel = Kernel(**changes)
        fake = SimpleNamespace(**vars(os))
        fake.fork, fake.closerange, fake.wait = kernel.fork, kernel.closerange, kernel.wait
        fake.pipe, fake.pidfd_open, fake._exit = lambda: (5, 6), lambda pid: 97, kernel.end
        fake.close = kernel.open.discard
        fake.write = lambda fd, data: kernel.order.append(data)
        poll = SimpleNamespace(register=lambda *_: None, poll=kernel.poll)
        signals = SimpleNamespace(**vars(signal))
        signals.signal = lambda number, handler: kernel.order.append((number, handler))
        monkeypatch.setattr(room, "os", fake)
        monkeypatch.setattr(room, "libc", kernel)
        monkeypatch.setattr(room, "signal", signals)
        monkeypatch.setattr(room, "select", SimpleNamespace(poll=lambda: poll, POLLIN=1))
        return kernel

    return begin


def test_a_message_that_comes_in_pieces_ends_where_the_next_one_begins(monkeypatch):
    here, there = os.pipe()
    for message in ({"cpus": [1, 2]}, {"end": True}):
        data = marshal.dumps(message)
        os.write(there, len(data).to_bytes(4, "little") + data)
    os.close(there)
    read = os.read
    monkeypatch.setattr(room.os, "read", lambda fd, size: read(fd, min(size, 3)))
    assert [room.receive(here), room.receive(here)] == [{"cpus": [1, 2]}, {"end": True}]
    with pytest.raises(room.Hangup):
        room.receive(here)
    os.close(here)


def test_a_refused_setting_is_named_with_the_kernels_reason(monkeypatch):
    def setpriority(*arguments):
        raise PermissionError(errno.EPERM, "not permitted")

    monkeypatch.setattr(room.os, "setpriority", setpriority)
    with pytest.raises(SettingRefused) as refused:
        apply({**NOTHING, "nice": -20})
    assert refused.value.args == ("nice", errno.EPERM)


def test_a_namespace_keeps_its_mounts_from_the_host_before_anything_is_forked(play):
    kernel = play(refused=[b"/"])
    with pytest.raises(SettingRefused) as refused:
        enter_namespace("pid")
    assert refused.value.args == ("containment", errno.EACCES)
    assert kernel.mounts == [(None, b"/", None, MS_SLAVE | MS_REC, None)]


def test_the_process_that_only_waits_holds_no_file_and_ends_with_its_child(play):
    kernel = play(forks=[0, 4242])
    with pytest.raises(SystemExit) as ended:
        enter_namespace("pid")
    assert ended.value.code == 0
    assert kernel.open == {0, 1, 2}
    assert [place for _, place, *_ in kernel.mounts] == [b"/", b"/proc"]
    assert kernel.order == [
        *((number, signal.SIG_DFL) for number in ENDING),
        *(b"ok", "its parent has ended", ("dies with its parent", 1, signal.SIGKILL)),
        *["reaps"] * 3,
    ]


def test_the_launcher_goes_on_as_the_child_of_that(play):
    kernel = play(forks=[0, 0])
    enter_namespace("pid")
    assert kernel.order == []
    assert kernel.open == {0, 1, 2, 1023}
