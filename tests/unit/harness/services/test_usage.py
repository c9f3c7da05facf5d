"""What services used during a run, from recorded trees of /proc, counted by hand.

The authorities are proc_pid_stat(5) for what stands where, and wait(2): who is waited for enters its parent's account.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from harness.launch.usage import Used, can_reset_peaks, read, used

MS = 1_000_000


class Tree:
    """A /proc: each process with its numbers, ticks of 10 ms; the launcher is process 1."""

    def __init__(self, folder):
        self.folder = folder
        self.clocks = {}
        self.write(1, parent=0)

    def write(self, pid, *, parent=1, ticks=0, children=(0, 0), threads=None, **more):
        folder = self.folder / str(pid)
        seen = sum(one[0] for one in (threads or {0: (ticks * 10 * MS, 0)}).values())
        self.clocks[pid] = more.get("clock_ns", seen)
        (folder / "task").mkdir(parents=True, exist_ok=True)
        numbers = [0] * 49
        numbers[0], numbers[10], numbers[18] = parent, ticks, more.get("start", 100 + pid)
        numbers[12], numbers[7] = children
        words = " ".join(map(str, numbers))
        (folder / "stat").write_text(f"{pid} (a ) b) S {words}\n")
        ignored = f"SigIgn:\t{more.get('ignored', 0):016x}\n"
        peak = f"VmHWM:\t    {more.get('peak_kb', 100)} kB\n"
        (folder / "status").write_text(f"Name:\ta\n{ignored}{peak}")
        disk = more.get("disk", (0, 0))
        (folder / "io").write_text(f"rchar: 9\nread_bytes: {disk[0]}\nwrite_bytes: {disk[1]}\n")
        for task in (folder / "task").iterdir():
            for file in task.iterdir():
                file.unlink()
            task.rmdir()
        for number, (on_cpu, delay, *switches) in (threads or {pid: (ticks * 10 * MS, 0)}).items():
            task = folder / "task" / str(number)
            task.mkdir()
            (task / "schedstat").write_text(f"{on_cpu} {delay} 7\n")
            voluntary, not_so = switches or (0, 0)
            (task / "status").write_text(
                f"voluntary_ctxt_switches:\t{voluntary}\nnonvoluntary_ctxt_switches:\t{not_so}\n"
            )

    def read(self, *pids):
        return read(pids, self.folder, clock=self.clocks.get)


@pytest.fixture
def tree(tmp_path):
    return Tree(tmp_path)


def between(before, after):
    return used(before, after, ticks_per_s=100)


def test_the_difference_of_all_threads_and_processes(tree):
    tree.write(10, ticks=100, threads={10: (900 * MS, 5 * MS, 3, 1), 11: (100 * MS, 0, 2, 0)})
    tree.write(12, parent=10, disk=(4096, 0))
    before = tree.read(10, 12)
    tree.write(10, ticks=103, threads={10: (930 * MS, 47 * MS, 8, 2), 11: (102 * MS, 1 * MS, 4, 0)})
    tree.write(12, parent=10, disk=(8192, 512), peak_kb=28)
    assert between(before, tree.read(10, 12)) == Used(
        cpu_s=0.032,
        wait_ns=43 * MS,
        others_ns=40 * MS,  # 42 ms of the first thread, during 2 of which the second had a CPU
        read_bytes=4096,
        written_bytes=512,
        voluntary_switches=7,
        involuntary_switches=1,
        peak_bytes=128 * 1024,
    )


def test_nothing_happened(tree):
    tree.write(10, ticks=100)
    found = between(tree.read(10), tree.read(10))
    assert (found.cpu_s, found.wait_ns, found.others_ns) == (0, 0, 0)


def test_a_child_that_came_and_is_there_counts_from_its_start(tree):
    tree.write(10)
    before = tree.read(10)
    tree.write(11, parent=10, ticks=4, threads={11: (40 * MS, 3 * MS, 1, 1)})
    found = between(before, tree.read(10, 11))
    assert (found.cpu_s, found.wait_ns, found.voluntary_switches) == (0.04, 3 * MS, 1)


@pytest.mark.parametrize("who", ["its parent", "the launcher"])
def test_a_child_that_came_and_went_has_its_processor_time_in_the_account_of_who_waited(tree, who):
    tree.write(10, ticks=1)
    before = tree.read(10)
    parent = who == "its parent"
    tree.write(10, ticks=1, children=(7, 30) if parent else (0, 0), disk=(0, 512))
    tree.write(1, parent=0, children=(0, 0) if parent else (7, 30))
    found = between(before, tree.read(10))
    assert found.cpu_s == pytest.approx(0.07, rel=1e-12)
    assert found.written_bytes == (512 if parent else None)  # that of an orphan is not asked
    unknown = (found.wait_ns, found.others_ns, found.voluntary_switches, found.peak_bytes)
    assert unknown == (None,) * 4


def test_what_a_child_had_used_before_the_run_is_not_the_runs(tree):
    tree.write(10, ticks=1)
    tree.write(11, parent=10, ticks=50, children=(5, 9))
    before = tree.read(10, 11)
    tree.write(10, ticks=1, children=(58, 40))  # 50 and 5 from before, and 3
    assert between(before, tree.read(10)).cpu_s == pytest.approx(0.03, rel=1e-12)


def test_a_process_that_went_and_nobody_waited_for_leaves_everything_unknown(tree):
    tree.write(10)
    tree.write(11, parent=10, ticks=50)
    assert between(tree.read(10, 11), tree.read(10)) == Used()


def test_one_that_ignores_sigchld_keeps_no_account_of_its_children(tree):
    tree.write(10, ignored=1 << 16)
    assert between(tree.read(10), tree.read(10)) == Used()
    tree.write(10, ignored=1 << 12)  # SIGPIPE
    assert between(tree.read(10), tree.read(10)) != Used()


def test_one_that_was_gone_when_it_was_to_be_read_leaves_everything_unknown(tree):
    tree.write(10)
    assert between(tree.read(10, 11), tree.read(10)) == Used()
    assert between(tree.read(10), tree.read(10, 11)) == Used()


def test_the_same_number_is_another_process_when_it_started_later(tree):
    tree.write(10)
    tree.write(11, parent=10, ticks=50)
    before = tree.read(10, 11)
    tree.write(10, children=(50, 9))
    tree.write(11, parent=10, ticks=2, start=999)
    found = between(before, tree.read(10, 11))
    assert found.cpu_s == pytest.approx(0.02, rel=1e-12)
    assert found.wait_ns is None


def test_a_thread_that_ended_leaves_the_processor_time(tree):
    tree.write(10, ticks=10, threads={10: (50 * MS, 0), 11: (50 * MS, 0)})
    before = tree.read(10)
    tree.write(10, ticks=15, threads={10: (70 * MS, 9 * MS)}, clock_ns=150 * MS)
    found = between(before, tree.read(10))
    assert found.cpu_s == pytest.approx(0.05, rel=1e-12)
    assert found.wait_ns is None
    assert found.peak_bytes == 100 * 1024


@pytest.mark.parametrize(("clock_ns", "unseen"), [(115 * MS, True), (110 * MS, False)])
def test_a_thread_that_came_and_went_is_missed_by_the_sum_of_threads(tree, clock_ns, unseen):
    tree.write(10, ticks=10)
    before = tree.read(10)
    tree.write(10, ticks=11, threads={10: (110 * MS, 0)}, clock_ns=clock_ns)  # of 10 or 15 ms
    found = between(before, tree.read(10))
    assert found.cpu_s == (clock_ns - 100 * MS) / 1e9
    assert (found.wait_ns is None) == unseen


def test_without_a_clock_it_is_that_of_ticks_and_threads_are_missed_above_three(tree):
    for ticks, known in ((13, True), (14, False)):
        tree.write(10, ticks=10, clock_ns=None)
        before = tree.read(10)
        tree.write(10, ticks=ticks, threads={10: (100 * MS, 0)}, clock_ns=None)
        found = between(before, tree.read(10))
        assert found.cpu_s == (ticks - 10) / 100
        assert (found.wait_ns is not None) == known


def test_a_real_thread_that_came_and_went_is_counted():
    text = (
        "import threading\nprint(flush=True); input()\n"
        "for _ in 'abc':\n"  # the last may still be on its way out
        "    one = threading.Thread(target=lambda: sum(range(1_000_000))); one.start(); one.join()\n"
        "print(flush=True); input()"
    )
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", text], **pipes) as process:
        process.stdout.readline()
        before = read([process.pid])
        process.stdin.write(b"\n")
        process.stdin.flush()
        process.stdout.readline()
        found = used(before, read([process.pid]))
        process.communicate(b"\n")
    assert found.cpu_s > 0.002
    assert found.wait_ns is None


def test_without_schedstat_the_processor_time_is_that_of_ticks(tree):
    tree.write(10, ticks=10)
    (tree.folder / "10" / "task" / "10" / "schedstat").unlink()
    before = tree.read(10)
    tree.write(10, ticks=12)
    found = between(before, tree.read(10))
    assert (found.cpu_s, found.wait_ns) == (0.02, None)


def test_without_rights_to_io_only_that_is_unknown(tree):
    tree.write(10)
    (tree.folder / "10" / "io").unlink()
    found = between(tree.read(10), tree.read(10))
    assert (found.cpu_s, found.read_bytes, found.written_bytes) == (0, None, None)


def test_a_peak_that_could_not_be_reset_is_said_to_be_that_since_the_start(tree):
    tree.write(10)
    assert not read([10], tree.folder, reset=True).reset
    (tree.folder / "10" / "clear_refs").touch(mode=0o200)
    before = read([10], tree.folder, reset=True)
    (tree.folder / "10" / "clear_refs").chmod(0o600)  # as the kernel's, it is only written
    assert (tree.folder / "10" / "clear_refs").read_text() == "5"
    assert between(before, tree.read(10)).reset


def test_a_real_process_and_its_child_are_read():
    text = (
        "import subprocess, sys; print(flush=True); input()\n"
        "a = bytearray(40 << 20); del a\n"
        "subprocess.run([sys.executable, '-c', 'import time\\nwhile time.process_time() < .05: pass'])\n"
        "print(flush=True); input()"
    )
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", text], **pipes) as process:
        process.stdout.readline()
        before = read([process.pid], reset=True)
        again = used(before, read([process.pid]))
        process.stdin.write(b"\n")
        process.stdin.flush()
        process.stdout.readline()
        after = read([process.pid])
        process.communicate(b"\n")
    whole = os.times().children_user + os.times().children_system
    found = used(before, after)
    assert 0.02 < found.cpu_s <= whole + 0.05
    assert found.wait_ns is None
    assert again.wait_ns is not None
    assert again.cpu_s < found.cpu_s


def test_a_real_peak_begins_anew():
    if not can_reset_peaks():
        pytest.skip("the kernel resets no peak")
    text = "big = bytearray(b'x') * (60 << 20); del big; print(flush=True); input()\n" * 2
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", text], **pipes) as process:
        process.stdout.readline()
        kept = read([process.pid])
        before = read([process.pid], reset=True)
        small = used(before, before)
        process.stdin.write(b"\n")
        process.stdin.flush()
        process.stdout.readline()
        large = used(before, read([process.pid])).peak_bytes
        process.communicate(b"\n")
    assert used(kept, kept).peak_bytes > 60 << 20
    assert small.reset
    assert small.peak_bytes < 40 << 20
    assert large > 60 << 20
