"""Counters that every kernel has, for real. What they count is held against the kernel's account by `make host`."""

import errno
import os
from pathlib import Path

import pytest

from harness.campaign.model import Isolation
from harness.host.counters import CounterPlan, CounterTally, look_of, plan_of
from harness.host.state import Tree
from harness.launch.client import LauncherClient
from harness.launch.exchange import LaunchRequest
from harness.launch.matching import Interrupts

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
