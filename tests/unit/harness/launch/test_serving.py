"""The launcher's work in this very process: what it does around a program, and at its end."""

from __future__ import annotations

import ctypes
import errno
import marshal
import os
import re
import signal
import socket
import time
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from harness.launch.exchange import message_of
from harness.launch.in_launcher.cgroups import Ungrouped
from harness.launch.in_launcher.serving import (
    Environment,
    Launcher,
    Padding,
    Programs,
    SpawnCall,
    spawn_attributes,
    strings,
)
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


# --- Variables as execve wants them
#
# Authority: execve(2): a list of strings NAME=VALUE that ends with NULL, each with a NUL at its end.


def read(environment: Environment) -> list[bytes]:
    """Read it as the kernel does: up to the first NULL."""
    array = ctypes.cast(environment.strings, ctypes.POINTER(ctypes.c_char_p))
    found = []
    while array[len(found)] is not None:
        found.append(array[len(found)])
    return found


def test_a_list_ends_with_null_and_keeps_its_order():
    assert list(strings([b"b", b"a", b""])) == [b"b", b"a", b"", None]
    assert list(strings([b"a"], room=2)) == [b"a", None, None, None]


@pytest.mark.parametrize("part", [b"\0", b"a\0b", b"a\0"])
def test_a_nul_inside_is_refused(part):
    with pytest.raises(OSError, match="Invalid argument"):
        strings([b"fine", part])


# Lengths go up and down, beyond the page that the text begins with, and through 0, which is no variable.
@given(st.lists(st.integers(0, 5000) | st.sampled_from([0, 1, 4095, 4096, 4097]), max_size=30))
def test_each_run_has_its_own_length(lengths):
    environment = Environment([b"A=1", b"B=2"], Padding(b"PAD"))
    for length in lengths:
        environment.pad(length)
        padded = [b"PAD=" + b"x" * length] if length else []
        assert read(environment) == [b"A=1", b"B=2", *padded]


def test_programs_may_share_a_padding():
    padding = Padding(b"PAD")
    first, second = Environment([b"A=1"], padding), Environment([], padding)
    first.pad(3)
    second.pad(5000)  # the text moves
    second.pad(2)
    assert read(second) == [b"PAD=xx"]
    first.pad(4)
    assert read(first) == [b"A=1", b"PAD=xxxx"]


def test_without_a_padding_nothing_is_set():
    environment = Environment([b"A=1"], None)
    environment.pad(100)
    assert read(environment) == [b"A=1"]


# --- Programs that were announced: named by a handle, converted once, their errors kept, spawned with their files


def announced(handle=0, **changes):
    message = {"handle": handle, "path": b"/bin/true", "argv": [b"true"], "env": [b"A=1"]}
    return message | {"padded": b"PAD"} | changes


@pytest.fixture
def programs():
    return Programs()


def test_a_program_is_found_by_its_handle(programs):
    programs.add(announced(0))
    programs.add(announced(7, path=b"/bin/false", argv=[b"no", b"x"]))
    assert (programs[0].path, programs[7].path) == (b"/bin/true", b"/bin/false")
    assert list(programs[7].argv) == [b"no", b"x", None]
    assert programs[0].failure is None


def test_a_handle_that_comes_again_names_another(programs):
    programs.add(announced(0))
    programs.add(announced(0, path=b"/bin/false"))
    assert programs[0].path == b"/bin/false"


def test_an_unknown_handle_is_an_error(programs):
    with pytest.raises(KeyError):
        programs[3]


def test_the_same_variables_are_kept_once(programs):
    for handle, variables in enumerate([[b"A=1"], [b"A=1"], [b"A=2"]]):
        programs.add(announced(handle, env=variables))
    programs.add(announced(3, padded=None))
    first, second, third, fourth = (programs[k].environment for k in range(4))
    assert first is second
    assert len({id(one) for one in (first, third, fourth)}) == 3


@pytest.mark.parametrize("changes", [{"argv": [b"a\0b"]}, {"env": [b"A=\0"]}])
def test_what_cannot_be_converted_fails_when_it_is_executed(programs, changes):
    programs.add(announced(0, **changes))
    assert programs[0].failure.errno == errno.EINVAL
    programs.add(announced(0))
    assert programs[0].failure is None


def test_many_programs_with_variables_of_their_own(programs):
    for handle in range(1200):
        programs.add(announced(handle % 512, env=[b"A=%d" % handle]))
    assert programs[1199 % 512].environment.strings[0] == b"A=1199"
    assert len(programs._environments) <= 512


def test_each_program_writes_to_the_files_of_its_run(programs, tmp_path):
    names = ("first", "second", "first again")
    for handle, name in enumerate(names):
        argv = [b"sh", b"-c", b'echo "$1 $A"; echo bad >&2', b"sh", name.encode()]
        programs.add(announced(handle, path=b"/bin/sh", argv=argv, padded=None))
    call = SpawnCall(spawn_attributes({"scheduling": "other"}))
    nothing = os.open("/dev/null", os.O_RDWR)
    places = [os.open(tmp_path / name, os.O_WRONLY | os.O_CREAT) for name in ("a", "b")]
    for handle, place in enumerate((places[0], places[1], places[0])):
        call.prepare(programs[handle], (nothing, place, nothing), 0)
        assert call.spawn(b"/nonexistent/program") == errno.ENOENT
        assert call.spawn(programs[handle].path) == 0
        assert os.waitpid(call.pid.value, 0)[1] == 0
    for fd in (nothing, *places):
        os.close(fd)
    assert (tmp_path / "a").read_text() == "first 1\nfirst again 1\n"
    assert (tmp_path / "b").read_text() == "second 1\n"
