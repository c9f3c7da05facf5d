from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from harness.host import activity as processes
from harness.host.activity import busiest, others_logged_in, processor_times
from harness.host.state import Busy
from tests.processes import wait_until

TICKS = os.sysconf("SC_CLK_TCK")


def plant(root, **programs):
    """Record processes as (pid, processor seconds, begin in seconds after boot)."""
    (root / "proc").mkdir(parents=True, exist_ok=True)
    (root / "proc" / "stat").write_text("cpu  1 0 1 1 0 0 0 0 0 0\nbtime 1700000000\n")
    for name, (pid, seconds, began) in programs.items():
        folder = root / "proc" / str(pid)
        folder.mkdir(exist_ok=True)
        ticks = int(seconds * TICKS)
        fields = ["S", "1", *["0"] * 9, str(ticks), "0", "0", "0", "20", "0", "1", "0"]
        fields += [str(int(began * TICKS)), *["0"] * 30]
        (folder / "stat").write_text(f"{pid} ({name.replace('_', ' ')}) {' '.join(fields)}\n")
    return root


def test_recorded_processes_are_read_by_name_time_and_begin(tmp_path):
    found = processor_times(plant(tmp_path, cc1=(10, 1.5, 5), a_b=(12, 0.25, 7)))
    assert sorted(found.values()) == [("a b", 0.25), ("cc1", 1.5)]
    assert {pid for pid, _ in found} == {10, 12}
    assert psutil.PROCFS_PATH == "/proc"


def test_what_cannot_be_read_is_left_out(tmp_path):
    assert processor_times(tmp_path) == {}  # no /proc at all
    plant(tmp_path, cc1=(10, 1.5, 5))
    (tmp_path / "proc" / "7").mkdir()  # has ended
    (tmp_path / "proc" / "8").mkdir()
    (tmp_path / "proc" / "8" / "stat").write_text("8 (x\n")
    assert list(processor_times(tmp_path).values()) == [("cc1", 1.5)]
    assert psutil.PROCFS_PATH == "/proc"


def test_who_used_most_is_named_first(tmp_path):
    before = processor_times(plant(tmp_path, cc1=(10, 1.0, 5), make=(11, 2.0, 5), idle=(12, 9, 1)))
    after = processor_times(plant(tmp_path, cc1=(10, 1.5, 5), make=(11, 2.25, 5), ld=(13, 0.75, 9)))
    assert busiest(before, after, 0.5) == (
        Busy(name="ld", share=1.5),
        Busy(name="cc1", share=1.0),
        Busy(name="make", share=0.5),
    )
    assert busiest(before, after, 0.5, most=1) == (Busy(name="ld", share=1.5),)
    assert busiest(before, before, 0.5) == ()


def test_a_number_that_came_again_is_another_process(tmp_path):
    before = processor_times(plant(tmp_path, old=(10, 100.0, 5)))
    after = processor_times(plant(tmp_path, new=(10, 0.5, 900)))
    assert busiest(before, after, 1.0) == (Busy(name="new", share=0.5),)


def test_a_program_that_spins_is_found_and_this_one_is_not():
    code = "import time\nwhile time.process_time() < 60: pass"
    spinning = subprocess.Popen([sys.executable, "-I", "-S", "-c", code])
    try:
        process = psutil.Process(spinning.pid)
        before = processor_times(Path("/"))
        used = process.cpu_times().user
        wait_until(lambda: process.cpu_times().user >= used + 0.05, "it has spun")
        found = processor_times(Path("/"))
        named = busiest(before, found, 1.0, most=len(found))
        assert process.name() in {one.name for one in named}
        assert os.getpid() not in {pid for pid, _ in found}
    finally:
        spinning.kill()
        spinning.wait()


@pytest.mark.parametrize(
    ("names", "others"), [((), 0), (("me", "me"), 0), (("me", "ada", "ada", "bob"), 2)]
)
def test_other_users_are_counted_once_each(monkeypatch, tmp_path, names, others):
    (tmp_path / "utmp").touch()
    monkeypatch.setattr(processes, "LOGINS", str(tmp_path / "utmp"))
    monkeypatch.setattr(processes.getpass, "getuser", lambda: "me")
    monkeypatch.setattr(psutil, "users", lambda: [SimpleNamespace(name=name) for name in names])
    assert others_logged_in(Path("/")) == others
    assert others_logged_in(tmp_path) is None  # psutil knows no other host's


def test_without_a_list_nobody_knows_who_is_logged_in(monkeypatch, tmp_path):
    monkeypatch.setattr(processes, "LOGINS", str(tmp_path / "utmp"))
    assert others_logged_in(Path("/")) is None
