"""The scheduler's account of a run: from planted files, and from real programs.

Authority: `Documentation/scheduler/sched-stats.rst` of the kernel (time on a CPU, time waiting for one, time
slices), and the identity that a program's life is spent on a CPU, waiting for one, or asleep.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from harness.campaign.model import Isolation
from harness.launch.client import LauncherClient
from harness.launch.exchange import LaunchRequest
from harness.launch.in_launcher.cgroups import NAMES, Account
from harness.launch.matching import Interrupts

MS = 1_000_000
PYTHON = shutil.which("python3", path="/usr/bin:/bin") or sys.executable
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

SPIN = "import time\nwhile time.process_time() < {0}: pass"
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
    done = run(SPIN.format(60), timeout_s=0.1, grace_s=0.1)
    assert 0 < done["on_cpu_ns"] <= done["wall_ns"]
    assert done["run_delay_ns"] >= 0
