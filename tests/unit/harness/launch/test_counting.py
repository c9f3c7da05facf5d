"""Counters that every kernel has, for real: page faults and time, held against what wait4(2) tells.

Authority: the kernel's account of the same processes. It begins before the exec, which costs a few faults
(perf stat, tried beside it, is as many apart).
"""

import errno
import os
import sys
from pathlib import Path

import pytest

from harness.campaign.model import Isolation
from harness.errors import LaunchError
from harness.host.counters import CounterPlan, CounterTally, look_of, plan_of
from harness.host.tree import Tree
from harness.launch.client import LauncherClient
from harness.launch.exchange import LaunchRequest
from harness.launch.matching import Interrupts

EVENTS = ("page-faults", "task-clock", "minor-faults")
SH = "/bin/sh"
BEFORE_EXEC = 12  # faults
THREADS = """
import threading
def touch():
    pages = bytearray(1 << 22)
    for k in range(200_000): pass
threads = [threading.Thread(target=touch) for _ in range(3)]
[one.start() for one in threads]; [one.join() for one in threads]
"""


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


PROGRAMS = {
    "empty": ("/bin/true",),
    "work": (SH, "-c", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done"),
    "children": (SH, "-c", "ls / >/dev/null; ls / >/dev/null; (ls / >/dev/null)"),
    "at once": (SH, "-c", "ls / >/dev/null & ls / >/dev/null & wait"),
    "threads": (sys.executable, "-I", "-S", "-c", THREADS),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_faults_and_time_are_those_of_the_kernels_account(open_launcher, request_for, name):
    wanted = plan()
    launcher = open_launcher(wanted)
    request = request_for(*PROGRAMS[name])
    for _ in range(4):  # a launcher that is mistaken for its run counts the first one only
        found, told = counted(launcher, wanted, request)
        faults = told["minor_faults"] + told["major_faults"]
        assert 0 < found["page-faults"] <= faults
        if not any(one.user_only for one in look_of(wanted, launcher.counters).counted):
            assert (
                faults - BEFORE_EXEC <= found["page-faults"]
            )  # those of the kernel's own reads, too
        assert found["minor-faults"] <= found["page-faults"]
        time_s = told["user_s"] + told["system_s"]
        assert 0 < found["task-clock"] <= time_s + 0.002  # the kernel accounts in its own steps
        assert found["task-clock"] >= 0.5 * time_s - 0.002


def test_a_run_pinned_beside_its_launcher_is_counted_each_time(open_launcher, request_for):
    # there the two follow each other on one CPU, which is where the kernel would exchange their events
    wanted = plan(("page-faults",))
    cpu = min(os.sched_getaffinity(0))
    launcher = open_launcher(wanted, (cpu,))
    found = [counted(launcher, wanted, request_for("/bin/true"))[0] for _ in range(8)]
    assert min(one["page-faults"] for one in found) > 10


def test_a_program_that_does_not_start_counts_nothing(open_launcher, request_for):
    wanted = plan(("page-faults",))
    launcher = open_launcher(wanted)
    first, _ = counted(launcher, wanted, request_for("/bin/true"))
    for _ in range(3):
        with pytest.raises(LaunchError):
            launcher.execute(request_for("/nonexistent/program"), count=True)
    again, _ = counted(launcher, wanted, request_for("/bin/true"))
    assert abs(again["page-faults"] - first["page-faults"]) <= BEFORE_EXEC


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


def test_the_launcher_itself_is_not_counted(open_launcher, request_for, tmp_path):
    wanted = plan(("task-clock",))
    launcher = open_launcher(wanted)
    found, told = counted(launcher, wanted, request_for("/bin/sleep", "0.3"))
    assert found["task-clock"] < 0.1 < told["wall_ns"] / 1e9


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
