"""The cgroup of each run, by the kernel of this host; what that lacks, by files that play a kernel.

Authorities: `getrusage` of the kernel for processor time; /proc/PID/cgroup for who is where. What else the kernel
counts for a run is held against it by `make host`.
"""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
import signal
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from harness.campaign.model import Isolation
from harness.errors import LaunchError
from harness.host.cgroups import RunGroups
from harness.launch.client import LauncherClient
from harness.launch.exchange import LaunchRequest
from harness.launch.in_launcher import cgroups as room
from harness.launch.in_launcher.cgroups import GroupFailed, Leaves, Ungrouped, leaves_for
from harness.launch.in_launcher.system_calls import SettingRefused
from harness.launch.matching import Interrupts

PYTHON = shutil.which("python3", path="/usr/bin:/bin") or sys.executable
SH = "/bin/sh"
WHERE = "sed -n 's/^0:://p' /proc/self/cgroup"


@pytest.fixture
def groups(own_group):
    with RunGroups(own_group) as made:
        yield made


@pytest.fixture(params=["auto", "none"])
def launcher(request, groups):
    made = LauncherClient(Isolation(containment=request.param), None, Interrupts(), groups=groups)
    yield made
    made.close()


@pytest.fixture
def execute(launcher, tmp_path):
    def run(*argv, **changes):
        fields = {
            "path": argv[0],
            "argv": argv,
            "env": {},
            "cwd": tmp_path,
            "stdout": tmp_path / "out",
        }
        return launcher.execute(LaunchRequest(**(fields | changes)))

    return run


def runs(groups):
    return sorted(path.name for path in groups.path.glob("run-*"))


def test_each_run_is_in_a_group_of_its_own_and_the_launcher_in_none(
    execute, groups, launcher, tmp_path
):
    seen = []
    for _ in range(3):
        execute(SH, "-c", WHERE)
        seen.append((tmp_path / "out").read_text().strip().rsplit("/", 1)[-1])
    assert len(set(seen)) == 3
    assert all(name.startswith("run-") for name in seen)
    mine = Path(f"/proc/{launcher.pid}/cgroup").read_text()
    assert f"{groups.path.name}/self" in mine


def test_one_leaf_waits_for_the_next_run_and_none_stays(execute, groups, launcher, processes):
    execute("/bin/true")
    execute("/bin/true")
    # made while the orchestrator writes its row
    processes.wait_until(lambda: len(runs(groups)) == 1, "one leaf is there")
    launcher.close()
    assert runs(groups) == []


# whatever the machine, its child computes for 50 ms
SPIN = """import os, time
if not os.fork():
  os.setsid()
  while time.process_time() < .05: pass
  os._exit(0)
"""


def test_children_that_nobody_waits_for_are_counted_too(execute):
    # where the signal is ignored, to wait is to wait for the last one, whose time is nobody's
    code = SPIN + "try: os.wait()\nexcept ChildProcessError: pass"
    numbers = execute(
        PYTHON, "-c", "import signal; signal.signal(17, signal.SIG_IGN)\n" + code
    ).numbers
    assert numbers["tree_cpu_s"] > numbers["user_s"] + numbers["system_s"] + 0.01


def test_what_a_run_leaves_is_killed_and_counted(execute, groups):
    told = execute(SH, "-c", "setsid sleep 600 & setsid sleep 600 & wait $!", timeout_s=0.1)
    assert told.killed == "timeout"
    left = execute(SH, "-c", "setsid sleep 600 & setsid sleep 600 & :")
    assert (left.numbers["orphans"], left.survivors) == (2, 0)


def test_groups_that_a_run_made_below_its_own_are_removed(execute, groups, launcher):
    if os.geteuid() != 0:
        pytest.skip("only root may execute as another user")
    base = groups.path
    code = f'g={base}/$({WHERE} | sed "s,.*/,,"); mkdir -p $g/a/b; echo 0 > $g/a/b/cgroup.procs; sleep 600 &'
    assert execute(SH, "-c", code).exit_code == 0
    execute("/bin/true")
    launcher.close()
    assert runs(groups) == []


def test_a_program_that_is_not_there_leaves_the_launcher_outside(
    execute, groups, launcher, tmp_path
):
    for _ in range(2):
        with pytest.raises(LaunchError, match="not found"):
            execute(str(tmp_path / "absent"))
        assert f"{groups.path.name}/self" in Path(f"/proc/{launcher.pid}/cgroup").read_text()
    assert execute("/bin/true").exit_code == 0


def test_a_run_whose_place_was_taken_away_is_not_executed_outside_of_one(
    execute, groups, tmp_path, processes
):
    execute(SH, "-c", WHERE)
    used = (tmp_path / "out").read_text().strip().rsplit("/", 1)[-1]

    def next_place():  # it is made, and the one used is removed, behind the reply
        found = runs(groups)
        return found if len(found) == 1 and found != [used] else None

    (place,) = processes.wait_until(next_place, "the next one is made")
    (groups.path / place).rmdir()
    with pytest.raises(LaunchError, match="cgroup"):
        execute(SH, "-c", "touch ran")
    assert not (tmp_path / "ran").exists()
    assert execute("/bin/true").exit_code == 0  # the next one has a place again


def test_where_the_launcher_dies_its_runs_die(groups, tmp_path, processes):
    isolation = Isolation(containment="none")
    launcher = LauncherClient(isolation, None, Interrupts(), groups=groups)
    pids = tmp_path / "pids"
    code = f"setsid sleep 600 & echo $! > {pids}; kill -9 $PPID; sleep 600"
    request = LaunchRequest(
        path=SH, argv=(SH, "-c", code), env={b"PATH": b"/usr/bin:/bin"}, cwd=tmp_path
    )
    with pytest.raises(LaunchError, match="killed or crashed"):
        launcher.execute(request)
    launcher.close()
    assert runs(groups) == []
    pid = int(pids.read_text())
    processes.wait_until(lambda: not processes.command_line(pid), "the program has ended")


def test_without_groups_nothing_is_known(tmp_path):
    launcher = LauncherClient(Isolation(), None, Interrupts())
    told = launcher.execute(LaunchRequest(path="/bin/true", argv=("true",), env={}, cwd=tmp_path))
    launcher.close()
    assert told.out_of_memory is None
    for name in ("peak_memory_tree_bytes", "tree_cpu_s", "tree_stall_s", "group_leave_ns"):
        assert told.numbers[name] is None


# --- files that play a kernel --------------------------------------------------------------------

FILES = {
    "cgroup.procs": "",
    "cgroup.kill": "",
    "cpu.stat": "usage_usec 592251\nuser_usec 500000\nsystem_usec 92251\n",
    "cpu.pressure": "some avg10=0.00 avg60=0.00 avg300=0.00 total=2500\n"
    "full avg10=0.00 avg60=0.00 avg300=0.00 total=7\n",
    "memory.peak": "81616896\n",
    "memory.events": "low 0\nhigh 0\nmax 12\noom 1\noom_kill 2\noom_group_kill 1\n",
    "memory.max": "max\n",
    "memory.oom.group": "0\n",
    "memory.swap.max": "max\n",
    "pids.max": "max\n",
}
LIMITED = {
    "settings": [("memory.oom.group", b"1"), ("memory.swap.max", b"0")],
    "limits": [("memory.max", b"4096"), ("pids.max", b"3")],
}


@pytest.fixture
def played(tmp_path, monkeypatch):
    """Make the leaves of a folder in which every new folder has the files that are asked for."""
    base = tmp_path / "base"
    (base / "self").mkdir(parents=True)
    (base / "self" / "cgroup.procs").touch()
    written = []
    made, wrote = os.mkdir, os.write

    def mkdir(name, mode=0o777, *, dir_fd=None):
        made(name, mode, dir_fd=dir_fd)
        for file, text in played.files.items():
            (base / name / file).write_text(text)

    def write(fd, data):
        place = Path(f"/proc/self/fd/{fd}").readlink()
        written.append(("home" if place.parent.name == "self" else place.name, bytes(data)))
        if written[-1][0] in played.refused:
            raise OSError(errno.EBUSY, os.strerror(errno.EBUSY))
        return wrote(fd, data)

    def rmdir(name, *, dir_fd=None):
        shutil.rmtree(base / name)

    def leaves(**changes):
        fd = os.open(base, os.O_RDONLY)
        attributes = ctypes.create_string_buffer(1024)
        config = {"base": fd, "prefix": "run-1-", "settings": [], "limits": [], **changes}
        return Leaves(config, attributes)

    fake = SimpleNamespace(**vars(os))
    fake.mkdir, fake.write, fake.rmdir = mkdir, write, rmdir
    fake.kill = lambda pid, number: played.killed.append((pid, number))
    monkeypatch.setattr(room, "os", fake)
    played = SimpleNamespace(
        files=dict(FILES), written=written, refused=set(), killed=[], leaves=leaves, base=base
    )
    return played


def told_of(played, **changes):
    leaves = played.leaves(**changes)
    leaves.warm()
    leaves.enter()
    leaves.leave(4242, time.monotonic_ns())
    return leaves


def test_the_kernels_files_are_read(played):
    leaves = told_of(played)
    numbers = leaves.numbers()
    assert numbers["peak_memory_tree_bytes"] == 81_616_896
    assert numbers["tree_cpu_s"] == pytest.approx(0.592251, abs=0.01)
    assert numbers["tree_cpu_s"] == (592_251_000 - leaves.own_ns) / 1e9
    assert numbers["tree_stall_s"] == 0.0025
    assert leaves.out_of_memory() is True


def test_a_kill_for_memory_is_told_from_none(played):
    played.files["memory.events"] = "oom 1\noom_kill 0\noom_group_kill 0\n"
    assert told_of(played).out_of_memory() is False


@pytest.mark.parametrize("file", ["memory.peak", "memory.events", "cpu.pressure", "cpu.stat"])
def test_a_file_that_is_not_there_is_unknown(played, file):
    del played.files[file]
    leaves = told_of(played)
    unknown = {name for name, value in leaves.numbers().items() if value is None}
    unknown |= {"oom"} if leaves.out_of_memory() is None else set()
    owner = {"memory.peak": "peak_memory_tree_bytes", "memory.events": "oom"}
    owner |= {"cpu.pressure": "tree_stall_s", "cpu.stat": "tree_cpu_s"}
    assert unknown == {owner[file]}


def test_nothing_limits_the_leaf_before_the_launcher_has_left_it(played):
    told_of(played, **LIMITED)
    order = [name for name, _ in played.written]
    assert order == [
        "memory.oom.group", "memory.swap.max", "home", "cgroup.procs", "home", "memory.max", "pids.max",
    ]  # fmt: skip


def test_without_swap_there_is_nothing_to_turn_off(played):
    del played.files["memory.swap.max"]
    told_of(played, **LIMITED)
    assert ("memory.max", b"4096") in played.written


def test_a_limit_that_nothing_holds_is_refused_at_once(played):
    del played.files["memory.max"]
    with pytest.raises(GroupFailed):
        played.leaves(**LIMITED)


@pytest.mark.parametrize("file", ["memory.max", "pids.max"])
def test_what_would_run_without_its_limit_is_killed_and_told(played, file):
    played.refused.add(file)
    leaves = told_of(played, **LIMITED)
    assert played.killed == [(4242, signal.SIGKILL)]
    with pytest.raises(GroupFailed):
        leaves.raise_problem()
    played.refused.clear()
    leaves.renew()
    leaves.raise_problem()  # the next one has a leaf of its own


def test_a_launcher_that_cannot_leave_does_not_limit_or_kill_its_own_group(played):
    leaves = played.leaves(**LIMITED)
    leaves.warm()
    leaves.enter()
    played.refused.add("home")
    leaves.leave(4242, time.monotonic_ns())
    leaves.kill()
    assert played.killed == [(4242, signal.SIGKILL)]
    assert not {"memory.max", "pids.max", "cgroup.kill"} & {name for name, _ in played.written}


def test_a_leaf_that_is_gone_holds_no_file_open(played, leaks):
    def held():
        return sorted(file for _, file in leaks(f"{played.base}/run-"))

    leaves = played.leaves(**LIMITED)
    first = held()
    assert f"{played.base}/run-1-1/cpu.stat" in first
    for _ in range(3):
        leaves.renew()
    assert held() == [path.replace("run-1-1", "run-1-4") for path in first]
    leaves.close()
    assert held() == []


def test_a_leaf_that_is_busy_has_time_to_become_empty(played, monkeypatch):
    # the kernel takes a while for processes that were killed; here until a tenth of a second was slept
    leaves = played.leaves()
    slept, removed = [0.0], room.os.rmdir
    needed = 0.1

    def sleep(seconds):
        slept[0] += seconds

    def rmdir(name, *, dir_fd=None):
        if slept[0] < needed:
            raise OSError(errno.EBUSY, os.strerror(errno.EBUSY))
        removed(name, dir_fd=dir_fd)

    monkeypatch.setattr(room, "time", SimpleNamespace(sleep=sleep))
    monkeypatch.setattr(room.os, "rmdir", rmdir)
    leaves.renew()
    leaves.raise_problem()
    assert leaves.name == "run-1-2"
    assert slept[0] == pytest.approx(needed, abs=0.01)
    needed = float("inf")  # one that never does is told
    leaves.renew()
    with pytest.raises(GroupFailed) as caught:
        leaves.raise_problem()
    assert caught.value.errno == errno.EBUSY


def test_groups_that_cannot_be_used_are_a_setting_that_is_refused(played):
    attributes = ctypes.create_string_buffer(1024)
    assert isinstance(leaves_for(None, attributes), Ungrouped)
    del played.files["pids.max"]
    config = {"base": os.open(played.base, os.O_RDONLY), "prefix": "run-1-", **LIMITED}
    with pytest.raises(SettingRefused) as refused:
        leaves_for(config, attributes)
    assert refused.value.args == ("cgroup", errno.ENOENT)


class NewLibrary:
    """The C library as of glibc 2.39: it can put a new process into a group."""

    def __init__(self, answer):
        self.aimed, self.flags, self.answer = [], 0x8C, answer

    def posix_spawnattr_setcgroup_np(self, attributes, folder):
        self.aimed.append(Path(f"/proc/self/fd/{folder}").readlink().name)
        return 0

    def posix_spawnattr_getflags(self, attributes, flags):
        flags._obj.value = self.flags
        return 0

    def posix_spawnattr_setflags(self, attributes, flags):
        self.flags = flags.value
        return 0

    def posix_spawn(self, *arguments):
        return self.answer


def test_a_library_that_can_spawn_into_a_group_spares_the_launcher_the_way(played, monkeypatch):
    library = NewLibrary(errno.ENOENT)
    monkeypatch.setattr(room, "libc", library)
    leaves = told_of(played, **LIMITED)
    assert leaves.spawns
    assert library.flags == 0x8C | 0x100
    assert not {"home", "cgroup.procs"} & {name for name, _ in played.written}
    assert library.aimed == ["self", "run-1-1"]  # what warms the caches is in no run's group
    assert ("memory.max", b"4096") in played.written  # before it is spawned: nobody else is there
    numbers = leaves.numbers()
    assert numbers["group_leave_ns"] is None
    assert numbers["tree_cpu_s"] == 0.592251
    leaves.renew()
    assert library.aimed[-1] == "self"


def test_a_kernel_that_cannot_is_found_out_before_the_first_run(played, monkeypatch):
    library = NewLibrary(errno.ENOSYS)
    monkeypatch.setattr(room, "libc", library)
    leaves = told_of(played)
    assert not leaves.spawns
    assert library.flags == 0x8C
    assert ("cgroup.procs", b"0") in played.written
