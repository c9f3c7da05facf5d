"""What services used during a run, from recorded trees of /proc, counted by hand.

The authorities are proc_pid_stat(5) for what stands where, and wait(2): who is waited for enters its parent's account.
"""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
from types import SimpleNamespace

import pytest

from harness.launch import usage as group_peaks, usage as metering
from harness.launch.usage import (
    GroupPeak,
    HookLeftovers,
    Reading,
    ServiceMeter,
    Used,
    can_reset_peaks,
    disturbed,
    folder_with_peaks,
    group_of,
    read,
    service_metrics,
    used,
)

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


def read_around(text, **how):
    """Read a process twice when it has written a line, and once more when it has written the next."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", text], **pipes) as process:
        process.stdout.readline()
        found = [read([process.pid], **how), read([process.pid])]
        process.stdin.write(b"\n")
        process.stdin.flush()
        process.stdout.readline()
        found.append(read([process.pid]))
        process.communicate(b"\n")
    return found


def test_a_real_thread_that_came_and_went_is_counted():
    text = (
        "import threading\nprint(flush=True); input()\n"
        "for _ in 'abc':\n"  # the last may still be on its way out
        "    one = threading.Thread(target=lambda: sum(range(1_000_000))); one.start(); one.join()\n"
        "print(flush=True); input()"
    )
    before, _, after = read_around(text)
    found = used(before, after)
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
    before, between, after = read_around(text, reset=True)
    again = used(before, between)
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


# --- What becomes of what services used: metrics, disturbance, and words about what a hook left running
#
# Authority: the table of docs/trial-format.md; the readings are recorded, and counted by hand.


KNOWN = Used(
    cpu_s=0.5, wait_ns=3 * MS, others_ns=2 * MS, read_bytes=0, written_bytes=512, voluntary_switches=4,
    involuntary_switches=1, peak_bytes=2048, reset=True,
)  # fmt: skip


def services(**pids):
    """Stand for services: one that all share, and one of each variant."""
    made = [SimpleNamespace(label=label, name=label.partition("/")[0]) for label in pids]
    serving = {v: [label for label in pids if label.endswith(("/" + v, "all"))] for v in "ab"}
    return SimpleNamespace(services=made, serving=serving.__getitem__, processes=lambda: pids)


def test_the_metrics_that_are_declared_are_those_of_a_row():
    campaign = SimpleNamespace(services=services(**{"s/a": (), "s/b": ()}).services)
    for resets in (True, False):
        meter = ServiceMeter(services(**{"s/a": ()}), resets=resets)
        found = meter.metrics({"s": Used(**{**_all(KNOWN), "reset": resets})})
        declared = service_metrics(campaign, resets=resets)
        assert list(found) == list(declared)
        assert {about["source"] for about in declared.values()} == {"services"}
        peak = "service.s.peak_memory" + ("" if resets else "_since_start")
        assert found[peak] == (2048.0,)
        assert found["service.s.wait"] == (0.003,)


def test_the_peak_of_a_group_is_a_metric_of_its_own():
    campaign = SimpleNamespace(services=services(s=()).services)
    declared = service_metrics(campaign, resets=True, grouped=True)
    meter = ServiceMeter(services(s=()), resets=True)
    found = meter.metrics({"s": dataclasses.replace(KNOWN, tree_peak_bytes=4096)})
    assert list(found) == list(declared)
    assert found["service.s.peak_memory_tree"] == (4096.0,)


def test_what_is_unknown_is_in_no_row_and_zero_is():
    meter = ServiceMeter(services(s=()), resets=True)
    assert meter.metrics({"s": Used()}) == {}
    not_reset = Used(**{**_all(KNOWN), "reset": False})
    assert "service.s.peak_memory" not in meter.metrics({"s": not_reset})
    assert meter.metrics({"s": Used(cpu_s=0.0)}) == {"service.s.cpu": (0.0,)}


def test_only_the_services_of_the_runs_variant_are_read(tree, monkeypatch):
    monkeypatch.setattr(metering, "read", lambda pids, *, reset: tree.read(*pids))
    for pid in (10, 11, 12):
        tree.write(pid)
    meter = ServiceMeter(services(**{"s/a": (10,), "s/b": (11,), "all": (12,)}), resets=False)
    meter.begin("a")
    for pid, ticks in ((10, 1), (11, 20), (12, 3)):
        tree.write(pid, ticks=ticks)
    found = meter.end("a")
    assert {name: one.cpu_s for name, one in found.items()} == {"s": 0.01, "all": 0.03}


def test_a_service_that_came_during_the_run_is_unknown(tree, monkeypatch):
    monkeypatch.setattr(metering, "read", lambda pids, *, reset: tree.read(*pids))
    tree.write(10)
    pids = {}
    there = services(s=())
    there.processes, there.serving = (lambda: pids), (lambda _: ["s"])
    meter = ServiceMeter(there, resets=False)
    meter.begin("a")
    pids["s"] = (10,)
    assert meter.end("a") == {"s": Used()}


def test_a_service_that_waited_for_others_disturbs_the_run():
    second = 1_000_000_000
    assert disturbed(second, {"s": KNOWN}) == [False]
    assert disturbed(second // 10, {"s": KNOWN, "t": Used()}) == [True, None]


def test_what_a_hook_left_running_is_named_where_it_used_processor_time(tree, monkeypatch):
    pids = [10, 11]
    for pid, name in ((10, "redis-server"), (11, "sleep")):
        tree.write(pid)
        (tree.folder / str(pid) / "comm").write_text(f"{name}\n")
    left = HookLeftovers(lambda: pids, tree.folder)
    monkeypatch.setattr(metering, "read", lambda pids, proc: tree.read(*pids))
    left.begin()
    left.end()
    assert left.findings() == ()
    for ticks in (20, 25):
        left.begin()
        tree.write(10, ticks=ticks)
        left.end()
        tree.write(10, ticks=ticks + 3)  # between two runs
    (found,) = left.findings()
    assert found.what == (
        "what a hook left running (redis-server) used 0.22 s of processor time during runs"
    )
    assert left.findings() == ()


def test_where_a_hook_left_nothing_nothing_is_read():
    left = HookLeftovers(lambda: (), proc=None)
    left.begin()
    left.end()
    assert left.findings() == ()


def _all(one: Used):
    return {name: getattr(one, name) for name in Used.__dataclass_fields__}


# --- The peak of a service's cgroup during a run
#
# Authority: cgroup-v2.rst of Linux: a write to ``memory.peak`` begins it anew for reads through the same open file.
# This host's kernel may have no such file: a plain one stands in its place, and says what is written into it.


@pytest.fixture
def folder(tmp_path):
    for name in ("self", "run-1-1"):
        (tmp_path / "fairtrial-7-0" / name).mkdir(parents=True)
        (tmp_path / "fairtrial-7-0" / name / "memory.peak").write_text("900000\n")
    return tmp_path / "fairtrial-7-0"


def begins(file: int) -> None:
    os.ftruncate(file, 0)
    os.pwrite(file, b"4096\n", 0)


def refuses(_file: int) -> None:
    raise OSError(22, "Invalid argument")  # before Linux 6.12


def test_what_comes_behind_the_reset_is_told_once(folder):
    peak = GroupPeak(folder / "run-1-1", begins)
    (folder / "run-1-1" / "memory.peak").write_text("8192\n")
    assert peak.taken() == 8192
    assert peak.taken() is None


@pytest.mark.parametrize(("name", "anew"), [("run-1-1", refuses), ("absent", begins)])
def test_a_peak_that_is_older_than_the_run_is_unknown(folder, name, anew):
    assert GroupPeak(folder / name, anew).taken() is None


def test_where_peaks_can_begin_anew_is_known_beforehand(folder, monkeypatch):
    groups = SimpleNamespace(path=folder, controllers=("memory", "pids"))
    monkeypatch.setattr(group_peaks.GroupPeak.__init__, "__defaults__", (begins,))
    assert folder_with_peaks(groups) == folder
    assert folder_with_peaks(SimpleNamespace(path=folder, controllers=("pids",))) is None
    assert folder_with_peaks(None) is None
    monkeypatch.setattr(group_peaks.GroupPeak.__init__, "__defaults__", (refuses,))
    assert folder_with_peaks(groups) is None


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("0::/user.slice/fairtrial-7-0/run-1-1", "run-1-1"),
        ("0::/user.slice/fairtrial-7-00/run-1-1", None),  # another trial's
        ("0::/fairtrial-7-0", None),
        ("4:memory:/fairtrial-7-0/run-1-1", None),  # version 1
    ],
)
def test_a_process_is_found_in_its_group(folder, tmp_path, line, found):
    (tmp_path / "12").mkdir()
    (tmp_path / "12" / "cgroup").write_text(f"9:name=systemd:/\n{line}\n")
    assert group_of(12, folder, tmp_path) == (None if found is None else folder / found)
    assert group_of(13, folder, tmp_path) is None


def test_the_meter_tells_it_beside_what_the_processes_used(folder, monkeypatch):
    monkeypatch.setattr(group_peaks.GroupPeak.__init__, "__defaults__", (begins,))
    monkeypatch.setattr(metering, "read", lambda pids, *, reset: Reading({}, {}, whole=False))
    monkeypatch.setattr(metering, "group_of", lambda pid, folder: folder / "run-1-1")
    one = SimpleNamespace(label="s", name="s")
    services = SimpleNamespace(
        services=[one], serving=lambda _: ["s"], processes=lambda: {"s": (12,)}
    )
    meter = ServiceMeter(services, resets=False, groups=folder)
    meter.begin("a")
    assert meter.metrics(meter.end("a")) == {"service.s.peak_memory_tree": (4096.0,)}
