# ruff: noqa: F811 - fixtures
"""Page faults and time of real runs, held against what wait4(2) tells.

Authority: the kernel's account of the same processes. It begins before the exec, which costs a few faults
(perf stat, tried beside it, is as many apart).
"""

import sys

import pytest

from harness.errors import LaunchError
from harness.host.counters import look_of
from tests.unit.harness.launch.test_counting import (  # noqa: F401
    SH,
    counted,
    open_launcher,
    plan,
    request_for,
)

BEFORE_EXEC = 12  # faults
THREADS = """
import threading
def touch():
    pages = bytearray(1 << 22)
    for k in range(200_000): pass
threads = [threading.Thread(target=touch) for _ in range(3)]
[one.start() for one in threads]; [one.join() for one in threads]
"""


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


def test_a_program_that_does_not_start_counts_nothing(open_launcher, request_for):
    wanted = plan(("page-faults",))
    launcher = open_launcher(wanted)
    first, _ = counted(launcher, wanted, request_for("/bin/true"))
    for _ in range(3):
        with pytest.raises(LaunchError):
            launcher.execute(request_for("/nonexistent/program"), count=True)
    again, _ = counted(launcher, wanted, request_for("/bin/true"))
    assert abs(again["page-faults"] - first["page-faults"]) <= BEFORE_EXEC


def test_the_launcher_itself_is_not_counted(open_launcher, request_for, tmp_path):
    wanted = plan(("task-clock",))
    launcher = open_launcher(wanted)
    found, told = counted(launcher, wanted, request_for("/bin/sleep", "0.3"))
    assert found["task-clock"] < 0.1 < told["wall_ns"] / 1e9
