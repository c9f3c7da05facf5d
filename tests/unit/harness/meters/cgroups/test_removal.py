"""Groups are emptied and removed. Authority: the kernel's own cgroup.events and the processes."""

from __future__ import annotations

import signal
import subprocess

import pytest

from harness.host.cgroups import empty, remove


@pytest.fixture
def busy(group, processes):
    """Start a shell in a group, with two sleepers that left its session, one of them in a group below."""
    inner = group / "inner"
    inner.mkdir()
    code = (
        'echo $$ > "$0/cgroup.procs"; setsid sleep 600 & '
        '(echo 0 > "$0/inner/cgroup.procs"; exec setsid sleep 600) & wait'
    )
    process = subprocess.Popen(["/bin/sh", "-c", code, str(group)])
    files = [folder / "cgroup.procs" for folder in (inner, group)]
    processes.wait_until(lambda: all(file.read_text() for file in files), "both are in use")
    return process


@pytest.mark.parametrize("at_one_stroke", [True, False])
def test_everything_in_a_group_and_below_is_killed(group, busy, monkeypatch, at_one_stroke):
    if not at_one_stroke:  # a kernel before 5.14

        def refused(file, text):
            raise FileNotFoundError

        monkeypatch.setattr("harness.host.cgroups.write", refused)
    empty(group)
    assert busy.wait(10) == -signal.SIGKILL
    assert remove(group)
    assert not group.exists()
    group.mkdir()  # for the fixture


def test_a_group_with_a_process_in_it_stays(group, busy):
    assert not remove(group, patience_s=0.05)
    assert "populated 1" in (group / "cgroup.events").read_text()
    assert busy.poll() is None  # nobody was killed


def test_what_is_frozen_dies_too(group, busy):
    (group / "cgroup.freeze").write_text("1")
    empty(group)
    assert busy.wait(10) == -signal.SIGKILL


def test_a_group_that_is_gone_needs_nothing(group):
    empty(group / "never")
    assert remove(group / "never")


def test_no_file_of_a_group_is_ever_made(tmp_path):
    from harness.host.cgroups import write

    with pytest.raises(FileNotFoundError):
        write(tmp_path / "memory.max", "1")
    assert not list(tmp_path.iterdir())
