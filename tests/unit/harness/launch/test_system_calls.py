"""What is set once, held against a kernel that is played: nothing is changed for this process."""

from __future__ import annotations

import ctypes
import errno
import marshal
import os
import signal
from types import SimpleNamespace

import pytest

from harness.host.counters import CounterPlan, EventAnswer, Resolved, event_attributes
from harness.launch.in_launcher import system_calls as room
from harness.launch.in_launcher.system_calls import (
    ENDING,
    EventCounters,
    SettingRefused,
    apply,
    enter_namespace,
)

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


# --- The launcher's counters, on system calls that behave as a kernel that is not here
#
# Authority: perf_event_open(2), and what kernels were seen to do: ENOENT for every event of the
# processor in a virtual machine; EACCES without the right to count in the kernel; a read of 0 bytes of a
# pinned event that found no place on the processor; EINVAL for a group that can never have one.


PLAN = {"machine": "x86_64"}
HARDWARE, SOFTWARE = 0, 1


def flags(attributes):
    return int.from_bytes(attributes[40:48], "little")


class CountersKernel:
    """Opens events for `EventCounters`: what there is, what is permitted, how many fit on the processor."""

    def __init__(self, *, places=4, rights="kernel", absent=(), never_together=False):
        self.places, self.rights, self.absent = places, rights, set(absent)
        self.never_together = never_together
        self.open_now: dict[int, bytes] = {}
        self.leader: dict[int, int] = {}
        self.enabled: set[int] = set()
        self.values: dict[int, tuple[int, int, int]] = {}
        self.opened = 0
        self.next = 10

    def open(self, attributes, group=-1):
        if attributes in self.absent or self.kind(attributes) in self.absent:
            raise OSError(errno.ENOENT, "no such event")
        needs_kernel = not flags(attributes) & 1 << 5
        if self.rights == "none" or (self.rights == "user" and needs_kernel):
            raise OSError(errno.EACCES, "no")
        if group >= 0 and self.never_together and self.kind(attributes) == HARDWARE:
            raise OSError(errno.EINVAL, "no")
        self.opened += 1
        self.next += 1
        self.open_now[self.next] = attributes
        self.leader[self.next] = group if group >= 0 else self.next
        return self.next

    @staticmethod
    def kind(attributes):
        return int.from_bytes(attributes[:4], "little")

    def enable(self, fd):
        self.enabled.add(fd)

    def read(self, fd):
        if fd in self.enabled:
            assert flags(self.open_now[fd]) & 1 << 2, "only a pinned one tells that it has no place"
            mine = [one for one, leader in self.leader.items() if leader == fd]
            taken = sum(self.kind(self.open_now[one]) == HARDWARE for one in mine)
            if taken > self.places:
                return b""
        return b"".join(one.to_bytes(8, "little") for one in self.values.get(fd, (0, 0, 0)))

    def close(self, fd):
        del self.open_now[fd], self.leader[fd]
        self.enabled.discard(fd)

    def count(self, fd, value, enabled=100, running=100):
        old = self.values.get(fd, (0, 0, 0))
        self.values[fd] = (old[0] + value, old[1] + enabled, old[2] + running)


def event(name, config, kind=HARDWARE, **more):
    return Resolved(
        name=name,
        unit="1",
        kind=kind,
        words=(config, 0, 0, 0),
        on_processor=kind == HARDWARE,
        **more,
    )


def made(kernel, *events, share=False):
    setting = CounterPlan(events=events, share=share, **PLAN).message
    found = EventCounters(setting, kernel)
    return found, [EventAnswer(*one) for one in found.look()]


def test_events_that_can_be_had_are_told_and_closed_again():
    kernel = CountersKernel()
    _, answers = made(kernel, event("cycles", 0), event("faults", 2, SOFTWARE))
    assert answers == [EventAnswer(0, 0, fits=True)] * 2
    assert not kernel.open_now


def test_no_processor_is_no_such_event_and_no_lack_of_rights():
    kernel = CountersKernel(absent=[HARDWARE])
    _, answers = made(kernel, event("cycles", 0), event("faults", 2, SOFTWARE))
    assert answers == [EventAnswer(errno.ENOENT, 0, fits=False), EventAnswer(0, 0, fits=True)]


def test_without_rights_in_the_kernel_its_part_is_left_out():
    kernel = CountersKernel(rights="user")
    found, answers = made(
        kernel, event("cycles", 0), event("switches", 3, SOFTWARE, needs_kernel=True)
    )
    # switches would open without the kernel's part too, and read 0
    assert answers == [EventAnswer(0, 1, fits=True), EventAnswer(errno.EACCES, 0, fits=False)]
    found.start(wanted=True)
    attributes = [one for one in kernel.open_now.values() if flags(one) & 1 << 12]
    assert len(attributes) == 1
    assert flags(attributes[0]) & 1 << 5


def test_without_any_rights_nothing_is_opened():
    found, answers = made(CountersKernel(rights="none"), event("cycles", 0))
    assert answers == [EventAnswer(errno.EACCES, 0, fits=False)]
    found.start(wanted=True)
    assert found.taken() is None


@pytest.mark.parametrize("never_together", [False, True])
def test_more_events_than_fit_are_refused_in_their_order(never_together):
    kernel = CountersKernel(places=2, never_together=never_together)
    events = [event(f"e{n}", n) for n in range(4)] + [event("faults", 2, SOFTWARE)]
    _, answers = made(kernel, *events)
    fit = [True, not never_together, False, False, True]  # a clock needs no place
    assert [one.fits for one in answers] == fit
    assert not any(one.number for one in answers)
    assert not kernel.open_now


def test_events_that_may_take_turns_are_not_tried_together():
    _, answers = made(CountersKernel(places=1), *[event(f"e{n}", n) for n in range(3)], share=True)
    assert all(one.fits for one in answers)


def test_a_run_is_counted_by_how_much_its_events_moved():
    kernel = CountersKernel(absent=[SOFTWARE])
    found, _ = made(kernel, event("cycles", 0), event("faults", 2, SOFTWARE))
    kernel.absent = set()
    for value in (7, 9):
        found.start(wanted=True)
        mine = [fd for fd, one in kernel.open_now.items() if flags(one) & 1 << 12]
        assert len(mine) == 1
        kernel.count(mine[0], value, 50, 25)
        assert found.taken() == [(value, 50, 25), None]
    assert (
        kernel.opened == 1 + 1 + 2
    )  # tried, tried for a place, then opened once beside one of ours


def test_events_are_closed_where_no_run_is_to_inherit_them():
    kernel = CountersKernel()
    found, _ = made(kernel, event("cycles", 0))
    assert not kernel.open_now
    found.start(wanted=False)
    assert found.taken() is None
    assert not kernel.open_now
    found.start(wanted=True)
    assert len(kernel.open_now) == 2
    found.start(wanted=False)
    assert found.taken() is None
    assert not kernel.open_now


def test_every_event_that_counts_is_inherited_and_one_of_ours_is_not():
    # without it the kernel exchanges the events of the launcher and of a run, and counts one run only
    kernel = CountersKernel()
    found, _ = made(kernel, event("cycles", 0))
    found.start(wanted=True)
    inherited = [bool(flags(one) & 1 << 1) for one in kernel.open_now.values()]
    assert inherited == [False, True]
    ours, cycles = kernel.open_now.values()
    assert ours == event_attributes(SOFTWARE, (9, 0, 0, 0), disabled=True, user_only=True)
    assert cycles == event_attributes(0, (0, 0, 0, 0), disabled=True, inherit=True, on_exec=True)


def test_a_kernel_that_became_stricter_leaves_the_value_out():
    kernel = CountersKernel()
    found, _ = made(kernel, event("cycles", 0), event("faults", 2, SOFTWARE))
    kernel.absent = {HARDWARE}
    found.start(wanted=True)
    assert found.taken() == [None, (0, 0, 0)]
    kernel.rights = "none"
    found.start(wanted=False)
    found.start(wanted=True)
    assert found.taken() is None


def test_a_read_that_gives_nothing_is_no_value():
    kernel = CountersKernel()
    found, _ = made(kernel, event("cycles", 0))
    found.start(wanted=True)
    kernel.read = lambda fd: b""
    assert found.taken() == [None]


def test_without_a_setting_nothing_is_asked_for():
    found = EventCounters(None)
    assert found.look() == []
    found.start(wanted=True)
    assert found.taken() is None
