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
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given, strategies as st

from harness.campaign.model import Isolation
from harness.errors import LaunchError
from harness.host.cgroups import RunGroups
from harness.launch.client import LauncherClient
from harness.launch.exchange import LaunchRequest
from harness.launch.in_launcher import cgroups as room
from harness.launch.in_launcher.cgroups import (
    NAMES,
    Account,
    GroupFailed,
    Leaves,
    ProcessTree,
    Ungrouped,
    leaves_for,
)
from harness.launch.in_launcher.system_calls import SettingRefused
from harness.launch.matching import Interrupts

PYTHON = shutil.which("python3", path="/usr/bin:/bin") or sys.executable
SH = "/bin/sh"
WHERE = "sed -n 's/^0:://p' /proc/self/cgroup"


@pytest.fixture
def groups(own_group):
    with closing(RunGroups(own_group)) as made:
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


# --- The scheduler's account of a run: from planted files, and from real programs
#
# Authority: `Documentation/scheduler/sched-stats.rst` of the kernel (time on a CPU, time waiting for one, time
# slices), and the identity that a program's life is spent on a CPU, waiting for one, or asleep.


MS = 1_000_000
NOTHING = dict.fromkeys(NAMES)


class Tree:
    """A /proc with two processes: the launcher (`self`) and a zombie, 7."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.own("1000 0 1")
        self.target("10000000 2000000 5")

    def own(self, text: str) -> None:
        self._write("self", text)

    def target(self, text: str) -> None:
        self._write("7", text)

    def _write(self, process: str, text: str) -> None:
        (self.root / process).mkdir(exist_ok=True)
        (self.root / process / "schedstat").write_text(text + "\n")

    def account(self, delays=(0, 0)) -> Account:
        account = Account(str(self.root))
        before, after = delays
        self.own(f"1000 {before} 1")
        account.begin()
        self.own(f"2000 {after} 3")
        account.end(7)
        return account


@pytest.fixture
def tree(tmp_path):
    return Tree(tmp_path)


def numbers(account, *, wall=20 * MS, spawn=50_000, processor_s=0.010):
    return account.numbers(wall, spawn, processor_s)


def test_the_account_of_a_run(tree):
    found = numbers(tree.account((3 * MS, 4 * MS)))
    assert tuple(found) == NAMES
    assert found["on_cpu_ns"] == 10 * MS
    assert found["run_delay_ns"] == 2 * MS
    assert found["launcher_delay_ns"] == MS
    assert found["launcher_on_cpu_ns"] > 0  # a real clock's


def test_threads_and_children_make_it_incomplete(tree):
    assert numbers(tree.account(), processor_s=0.0102)["on_cpu_ns"] == 10 * MS  # 0.9804 of it
    assert numbers(tree.account(), processor_s=0.0103) == NOTHING


def test_children_that_nobody_waited_for_make_it_incomplete(tree):
    # authority: a program and its child that spin for 20 ms each, 8 of 8 told as whole
    account = tree.account()

    def whole(tree_s):
        return account.numbers(50 * MS, 0, 0.010, tree_s)["on_cpu_ns"] is not None

    assert whole(0.0)  # nobody knows
    assert whole(0.0102)  # 0.9804 of it
    assert not whole(0.0103)
    assert not whole(0.0414)
    tree.target("100000 2000000 5")  # 0.1 ms: the kernel's two accounts may be 43 us apart
    account.begin()
    account.end(7)
    assert account.numbers(MS, 0, 0.0001, 0.000149)["on_cpu_ns"] == 100_000
    assert account.numbers(MS, 0, 0.0001, 0.000151) == NOTHING


@pytest.mark.parametrize("text", ["0 0 0", "", "10 20", "a b c", "1 2 -3", "1 2 3 4"])
def test_what_is_no_account_is_unknown(tree, text):
    tree.target(text)
    assert numbers(tree.account(), processor_s=0.0) == NOTHING


def test_a_program_that_was_never_ready_has_one(tree):
    tree.target("10000000 0 1")
    assert numbers(tree.account())["run_delay_ns"] == 0


@pytest.mark.parametrize("absent", ["7", "self", None])
def test_an_absent_file_and_zeros_of_the_launcher_are_unknown(tree, absent):
    if absent is None:
        tree.own("0 0 0")
    else:
        (tree.root / absent / "schedstat").unlink()
    account = Account(str(tree.root))
    account.begin()
    account.end(7)
    assert numbers(account) == NOTHING


def test_a_run_knows_nothing_of_the_one_before(tree):
    account = tree.account((0, MS))
    assert numbers(account)["launcher_delay_ns"] == MS
    account.begin()
    (tree.root / "7" / "schedstat").unlink()
    account.end(7)
    assert numbers(account) == NOTHING


def test_waiting_while_the_program_runs_counts_once(tree):
    # the launcher waited in posix_spawn for the whole run: nothing of it is another's doing
    found = numbers(tree.account((0, 9 * MS)), wall=12 * MS + 100_000, spawn=12 * MS)
    assert found["launcher_delay_ns"] == 0


def test_waiting_in_posix_spawn_does_not_count_of_a_program_that_slept_later(tree):
    found = numbers(tree.account((0, 3 * MS)), wall=40 * MS, spawn=3 * MS + 900_000)
    assert found["launcher_delay_ns"] < 3 * MS - 2 * MS
    control = numbers(tree.account((0, 3 * MS)), wall=40 * MS, spawn=60_000)
    assert control["launcher_delay_ns"] == 3 * MS


@given(
    on_cpu=st.integers(1, 10**10),
    run_delay=st.integers(0, 10**10),
    delay=st.integers(0, 10**10),
    wall=st.integers(1, 10**11),
    data=st.data(),
)
def test_an_account_never_has_more_than_it_was_told(
    tmp_path_factory, on_cpu, run_delay, delay, wall, data
):
    tree = Tree(tmp_path_factory.mktemp("proc"))
    tree.target(f"{on_cpu} {run_delay} 1")
    spawn = data.draw(st.integers(0, wall))
    found = numbers(tree.account((5, 5 + delay)), wall=wall, spawn=spawn, processor_s=0.0)
    assert (found["on_cpu_ns"], found["run_delay_ns"]) == (on_cpu, run_delay)
    assert 0 <= found["launcher_delay_ns"] <= delay
    assert found["launcher_delay_ns"] <= max(0, wall - on_cpu - run_delay)


# --- real programs ------------------------------------------------------------------------------

ACCOUNTING_SPIN = "import time\nwhile time.process_time() < {0}: pass"
THREADS = (
    "import threading, hashlib\nwork = lambda: [hashlib.sha256(bytes(1 << 20)) for _ in range(3)]\n"
    "ts = [threading.Thread(target=work) for _ in range(3)]\n"
    "[t.start() for t in ts]\n[t.join() for t in ts]"
)
CHILDREN = "import os\nif not os.fork():\n  [x for x in range(200_000)]\nelse: os.wait()"


@pytest.fixture(params=["auto", "none"])
def run(request, tmp_path):
    if not Path("/proc/self/schedstat").exists():
        pytest.skip("the kernel keeps no account of a process's waiting")
    launcher = LauncherClient(
        Isolation(containment=request.param), (max(os.sched_getaffinity(0)),), Interrupts()
    )

    def one(code, **changes):
        argv = (PYTHON, "-I", "-S", "-c", code)
        return launcher.execute(
            LaunchRequest(path=PYTHON, argv=argv, env={}, cwd=tmp_path, **changes)
        ).numbers

    yield one
    launcher.close()


# Children that nobody waits for: one that spins as long as its parent, one that lives on, one of a child.
LEFT = (
    "import os, time\nos.fork()\n"
    "end = time.process_time() + 0.02\nwhile time.process_time() < end: pass",
    "import os, time\nend, begin = os.pipe()\nif os.fork(): os.read(end, 1)\nelse:\n  os.setsid()\n"
    "  while time.process_time() < 0.03: pass\n  os.write(begin, b'x')\n  while True: pass",
    "import os\nif not os.fork():\n  if not os.fork():\n    [x for x in range(200_000)]\n  os._exit(0)\n"
    "else:\n  os.wait()\n  [x for x in range(200_000)]",
)


def test_a_program_of_several_has_none(run):
    for code in (THREADS, CHILDREN, *LEFT):
        assert {run(code)[name] for name in NAMES} == {None}, code
    assert run("pass")["on_cpu_ns"] is not None


def test_a_program_that_was_killed_has_an_account(run):
    done = run(ACCOUNTING_SPIN.format(60), timeout_s=0.1, grace_s=0.1)
    assert 0 < done["on_cpu_ns"] <= done["wall_ns"]
    assert done["run_delay_ns"] >= 0


# --- The last sweep, by processes that are played: who is killed, reaped and counted, and when it gives up


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
