"""A group below the own one, made and removed by the test: what the kernel really does."""

from __future__ import annotations

import dataclasses
import fcntl
import os
import signal
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from harness.host.activity import Host
from harness.host.cgroups import NoGroupsError, RunGroups, empty, remove, remove_left
from harness.host.state import OwnGroup


@pytest.fixture
def own(own_group):
    """Put the test process into a group below its own, where no other one makes or removes any.

    It is back there at the end of the test.
    """
    above = Path(own_group.path)
    place = above / f"test-own-{os.getpid()}"
    place.mkdir()
    (place / "cgroup.procs").write_text("0")
    with Host() as host:
        found = host.own_group()
    assert found.path == str(place)
    yield found
    with Host() as host:
        back = host.own_group().path
    (above / "cgroup.procs").write_text("0")
    assert remove(place)
    assert back == found.path


@pytest.fixture
def group(own):
    """Give a fresh group below the own one."""
    path = Path(own.path) / f"test-{os.getpid()}"
    path.mkdir()
    yield path
    empty(path)
    assert remove(path)


# --- The place of the runs' groups, on this host's kernel; its controllers on trees that play a kernel


OWN = OwnGroup(
    path="/g", top=False, controllers=("cpu", "memory", "pids"), handed_down=(), others=0,
    writable=True,
)  # fmt: skip


def left(own):
    return {path.name for path in Path(own.path).glob("fairtrial-*")}


def test_we_go_into_a_group_beside_the_runs_and_come_back(own):
    before = left(own)
    with closing(RunGroups(own)) as groups:
        with Host() as host:
            assert host.own_group().path == str(groups.path / "self")
        (groups.path / "run-1-1").mkdir()
    assert left(own) == before
    with Host() as host:
        assert host.own_group().path == own.path


def test_two_at_once_do_not_meet(own):
    with closing(RunGroups(own)) as first, closing(RunGroups(own)) as second:
        assert first.path != second.path
        assert first.path.is_dir()  # the second one did not take it for a left one


def test_each_launcher_has_names_of_its_own(own):
    with closing(RunGroups(own)) as groups:
        told = [groups.for_launcher({})["prefix"] for _ in range(2)]
    assert len(set(told)) == 2


def test_what_limits_comes_apart_from_what_only_sets(own):
    with closing(RunGroups(own)) as groups:
        told = groups.for_launcher({"memory": 4096, "pids": 7, "nofile": 10})
    assert told["limits"] == [("memory.max", b"4096"), ("pids.max", b"7")]
    assert dict(told["settings"]) == {"memory.oom.group": b"1", "memory.swap.max": b"0"}


KILLED = """
import os, subprocess, sys
from harness.host.activity import Host
from harness.host.cgroups import RunGroups
groups = RunGroups(Host().own_group())
run = groups.path / "run-1-1"
run.mkdir()
program = subprocess.Popen(["/bin/sleep", "600"], start_new_session=True)
(run / "cgroup.procs").write_text(str(program.pid))
print(groups.path, program.pid, flush=True)
sys.stdin.read()
"""


@pytest.fixture
def killed(own):
    """Give the folder that a killed fairtrial left, and the program that lives on in it."""
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    folder, pid = process.stdout.readline().split()
    yield process, Path(folder), int(pid)
    process.kill()
    process.wait()
    process.stdin.close()
    process.stdout.close()
    remove_left(Path(own.path))


def test_what_a_killed_fairtrial_left_is_removed_by_the_next(own, killed, processes):
    process, folder, pid = killed
    process.kill()
    process.wait()
    assert Path(f"/proc/{pid}").exists()
    with closing(RunGroups(own)) as groups:
        assert not folder.exists()
        assert groups.path.exists()
    processes.wait_until(lambda: not processes.command_line(pid), "the program ends")


def test_what_a_living_fairtrial_has_is_left_alone(own, killed):
    _, folder, pid = killed
    with closing(RunGroups(own)):
        pass
    assert folder.is_dir()
    os.kill(pid, 0)


def test_a_folder_of_another_name_is_left_alone_and_whoever_is_no_run_stays(own, tmp_path):
    other = Path(own.path) / f"fairtrial-other-{os.getpid()}"
    abandoned = Path(own.path) / f"fairtrial-{os.getpid()}-77"
    other.mkdir()
    (abandoned / "self").mkdir(parents=True)
    guest = subprocess.Popen(["/bin/sleep", "600"])
    (abandoned / "self" / "cgroup.procs").write_text(str(guest.pid))
    try:
        remove_left(Path(own.path))
        assert other.is_dir()
        assert abandoned.is_dir()
        assert guest.poll() is None
    finally:
        guest.kill()
        guest.wait()
        other.rmdir()
        assert remove_left(Path(own.path)) >= 1
    assert not abandoned.exists()


def test_a_sweep_kills_runs_and_nobody_else(own):
    with closing(RunGroups(own)) as groups:
        run = groups.path / "run-1-1"
        run.mkdir()
        program = subprocess.Popen(["/bin/sleep", "600"])
        (run / "cgroup.procs").write_text(str(program.pid))
        groups.sweep()
        assert program.wait(60) == -signal.SIGKILL
        assert not run.exists()


# --- what this host's kernel does not have: a tree that answers as one would ---------------------


@pytest.fixture
def kernel(tmp_path, monkeypatch):
    """Make folders that have the files of groups, as soon as they are made."""
    top = tmp_path / "g"
    made, removed = Path.mkdir, Path.rmdir

    def with_files(self, *args, **kwargs):
        made(self, *args, **kwargs)
        if self == top or top in self.parents:
            for name in ("cgroup.procs", "cgroup.subtree_control"):
                (self / name).touch()

    def without_files(self):
        for path in self.iterdir():
            path.unlink()
        removed(self)

    monkeypatch.setattr(Path, "mkdir", with_files)
    monkeypatch.setattr(Path, "rmdir", without_files)
    top.mkdir()
    return tmp_path


def test_controllers_of_memory_and_processes_are_handed_down_and_no_other(kernel):
    told = []
    written = os.write

    def write(fd, text):
        told.append((str(Path(f"/proc/self/fd/{fd}").readlink()), text))
        return written(fd, text)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "write", write)
        with closing(RunGroups(OWN, kernel)) as groups:
            assert groups.controllers == ("memory", "pids")
            assert groups.withheld is None
            base = str(groups.path)
    above = str(kernel / "g")
    asked = [(Path(place), text) for place, text in told if place.endswith("subtree_control")]
    control = "cgroup.subtree_control"
    assert asked[:4] == [
        (Path(above, control), b"+memory"),
        (Path(base, control), b"+memory"),
        (Path(above, control), b"+pids"),
        (Path(base, control), b"+pids"),
    ]
    # the last to be turned on is turned off first, and below before above
    assert [text for _, text in asked[4:]] == [b"-pids", b"-pids", b"-memory", b"-memory"]
    assert not list((kernel / "g").glob("fairtrial-*"))


def test_what_was_handed_down_before_us_stays_so(kernel):
    own = dataclasses.replace(OWN, handed_down=("memory", "pids"))
    with closing(RunGroups(own, kernel)):
        pass
    assert (kernel / "g" / "cgroup.subtree_control").read_text() == ""


def test_a_group_with_other_processes_says_why_it_hands_nothing_down(kernel, monkeypatch):
    import harness.host.cgroups as room

    def write(file, text):
        if file == kernel / "g" / "cgroup.subtree_control":
            raise OSError(16, os.strerror(16))
        plain(file, text)

    plain = room.write
    monkeypatch.setattr(room, "write", write)
    with closing(RunGroups(dataclasses.replace(OWN, others=3), kernel)) as groups:
        assert groups.controllers == ()
        assert groups.withheld == (
            "/g cannot hand down its controllers: it holds processes other than fairtrial (3)"
        )


@pytest.mark.parametrize(
    ("found", "says"),
    [
        (None, "no cgroup of version 2"),
        (dataclasses.replace(OWN, writable=False), "may not make groups below /g"),
        (dataclasses.replace(OWN, path="/nowhere"), "no group can be made in /nowhere: No such file"),
    ],
)  # fmt: skip
def test_where_none_can_be_had_it_is_said_why(tmp_path, found, says):
    with pytest.raises(NoGroupsError, match=says):
        RunGroups(found, tmp_path)


def test_a_closed_place_holds_no_descriptor(kernel, leaks):
    with closing(RunGroups(OWN, kernel)) as groups:
        assert len(leaks(kernel)) == 1  # its lock
    assert not leaks(kernel)
    groups.close()  # a second time is none
    assert not leaks(kernel)


def test_a_folder_that_others_take_each_time_is_said(kernel, monkeypatch):
    monkeypatch.setattr("harness.host.cgroups._locked", lambda _folder: None)
    with pytest.raises(NoGroupsError, match="no group can be made in /g: File exists"):
        RunGroups(OWN, kernel)


def test_a_folder_in_which_we_may_not_move_is_removed_again(kernel, monkeypatch):
    import harness.host.cgroups as room

    def write(file, text):
        if file.parent.name == "self":
            raise OSError(95, os.strerror(95))  # below a group of threads
        plain(file, text)

    plain = room.write
    monkeypatch.setattr(room, "write", write)
    with pytest.raises(NoGroupsError, match="cannot move into a group below /g"):
        RunGroups(OWN, kernel)
    assert not list((kernel / "g").glob("fairtrial-*"))


def test_the_lock_is_one_that_death_releases(own):
    with closing(RunGroups(own)) as groups:
        fd = os.open(groups.path, os.O_RDONLY)
        with pytest.raises(BlockingIOError):
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.close(fd)


# --- Groups are emptied and removed. Authority: the kernel's own cgroup.events and the processes


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
