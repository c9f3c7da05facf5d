"""The peak of a service's cgroup during a run.

Authority: cgroup-v2.rst of Linux: a write to ``memory.peak`` begins it anew for reads through the same open file.
This host's kernel may have no such file: a plain one stands in its place, and says what is written into it.
"""

from __future__ import annotations

import os
from types import SimpleNamespace

import pytest

from harness.launch import usage as group_peaks, usage as metering
from harness.launch.usage import GroupPeak, Reading, ServiceMeter, folder_with_peaks, group_of


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
