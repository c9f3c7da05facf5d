"""What a launcher has been told: once for each program, again when something of it changed."""

from __future__ import annotations

import errno
import gc
import os
import subprocess
from pathlib import Path

import pytest

from harness.campaign.model import Isolation
from harness.host.counters import CounterPlan, CounterTally, look_of, plan_of
from harness.host.state import Tree
from harness.launch.client import _MOST, Announced, LauncherClient, Placement, place, placement_of
from harness.launch.exchange import LaunchRequest
from harness.launch.matching import Interrupts


def request(number=0):
    return LaunchRequest(path=f"/bin/{number}", argv=("x",), env={b"A": b"1"}, cwd=Path("/"))


@pytest.fixture
def announced():
    return Announced()


def test_a_program_is_announced_once(announced):
    one, other = request(), request()
    handle, message = announced.handle(one)
    assert (message["op"], message["handle"], message["path"]) == ("prepare", handle, b"/bin/0")
    assert message["env"] == [b"A=1"]
    assert announced.handle(one) == (handle, None)
    number, again = announced.handle(other)  # equal, but another one
    assert number != handle
    assert again is not None
    assert announced.handle(one) == (handle, None)


def test_a_changed_environment_is_announced_under_the_same_handle(announced):
    one = request()
    handle, _ = announced.handle(one)
    one.env[b"A"] = b"2"
    again, message = announced.handle(one)
    assert (again, message["env"]) == (handle, [b"A=2"])
    assert announced.handle(one) == (handle, None)
    del one.env[b"A"]
    assert announced.handle(one)[1]["env"] == []


def test_a_request_that_is_gone_does_not_lend_its_id(announced):
    seen = set()
    for number in range(200):  # without a reference of its own, ids would come again
        _, message = announced.handle(request(number))
        seen.add(message["path"])
        gc.collect(0)
    assert len(seen) == 200


def test_the_oldest_makes_room(announced):
    first = request()
    handle, _ = announced.handle(first)
    others = [request(k) for k in range(1, _MOST)]
    numbers = {announced.handle(one)[0] for one in others}
    assert len(numbers | {handle}) == _MOST
    assert announced.handle(first) == (handle, None)
    assert announced.handle(request(_MOST))[0] == handle  # what comes now has its place
    number, message = announced.handle(first)
    assert message is not None
    assert 0 <= number < _MOST


# --- Where and how a process runs: read, told and put back, on real processes
#
# Authority: `taskset`, `nice` and `chrt` do the same by the same system calls; sched(7).


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


# --- Counters that every kernel has, for real. What they count is held against the kernel's account by `make host`


EVENTS = ("page-faults", "task-clock", "minor-faults")
SH = "/bin/sh"


def plan(names=EVENTS, cpus=None) -> CounterPlan:
    return plan_of([(name, None) for name in names], Tree(Path("/")), cpus)


@pytest.fixture
def open_launcher():
    opened = []

    def open_one(wanted, cpus=None, **isolation):
        launcher = LauncherClient(
            Isolation(**isolation), cpus, Interrupts(), counters=wanted.message
        )
        opened.append(launcher)
        if launcher.counters and launcher.counters[0].number in {
            errno.EACCES,
            errno.EPERM,
            errno.ENOSYS,
        }:
            pytest.skip("the kernel lets nobody here count events")
        return launcher

    yield open_one
    for launcher in opened:
        launcher.close()


@pytest.fixture
def request_for(tmp_path):
    def make(*argv, **changes):
        env = {b"PATH": os.fsencode(os.environ["PATH"])}
        return LaunchRequest(path=argv[0], argv=argv, env=env, cwd=tmp_path, **changes)

    return make


def counted(launcher, wanted, request):
    """Execute once; give the metrics, and what the kernel says of the same processes."""
    execution = launcher.execute(request, count=True)
    assert execution.exit_code == 0
    metrics = CounterTally(wanted, look_of(wanted, launcher.counters)).metrics(execution.counters)
    return {name: value for name, (value,) in metrics.items()}, execution.numbers


def test_a_run_pinned_beside_its_launcher_is_counted_each_time(open_launcher, request_for):
    # there the two follow each other on one CPU, which is where the kernel would exchange their events
    wanted = plan(("page-faults",))
    cpu = min(os.sched_getaffinity(0))
    launcher = open_launcher(wanted, (cpu,))
    found = [counted(launcher, wanted, request_for("/bin/true"))[0] for _ in range(8)]
    assert min(one["page-faults"] for one in found) > 10


def test_a_run_that_is_not_counted_says_nothing(open_launcher, request_for):
    wanted = plan()
    launcher = open_launcher(wanted)
    for count in (False, True, False, True):
        execution = launcher.execute(request_for("/bin/true"), count=count)
        assert (execution.counters is not None) == count
    assert all(moved[0] > 0 for moved in execution.counters)


def test_no_event_is_open_in_a_target(open_launcher, request_for, tmp_path):
    launcher = open_launcher(plan())
    for out in ("counted", "uncounted"):
        path = tmp_path / out
        request = request_for(SH, "-c", "ls -l /proc/self/fd", stdout=path)
        launcher.execute(request, count=out == "counted")
        assert "perf_event" not in path.read_text()


def test_a_limit_on_open_files_is_the_targets_alone(open_launcher, request_for):
    import resource

    wanted = plan()
    launcher = open_launcher(wanted)
    request = request_for("/bin/true", limits=((resource.RLIMIT_NOFILE, 12),))
    found, _ = counted(launcher, wanted, request)
    assert set(found) == set(EVENTS)


def test_a_killed_run_is_counted_as_far_as_it_came(open_launcher, request_for):
    wanted = plan(("task-clock",))
    launcher = open_launcher(wanted)
    request = request_for(SH, "-c", "while :; do :; done", timeout_s=0.3, grace_s=0.1)
    execution = launcher.execute(request, count=True)
    assert execution.killed == "timeout"
    assert execution.counters[0][0] > 0


def test_events_that_are_not_there_are_told_by_the_launcher(open_launcher):
    wanted = plan_of(
        [("page-faults", None), ("nothing", "msr/event=0x7777/")], Tree(Path("/")), None
    )
    if len(wanted.resolved) == 1:
        pytest.skip("this machine has no PMU 'msr'")
    assert open_launcher(wanted).counters[1].number


def test_what_the_kernel_refuses_is_told_with_its_errno(open_launcher):
    wanted = plan(("page-faults", "instructions"))
    answers = open_launcher(wanted).counters
    assert answers[0] == (0, answers[0].way, True)
    assert answers[1].number in {0, errno.ENOENT, errno.EACCES, errno.EOPNOTSUPP, errno.ENODEV}
