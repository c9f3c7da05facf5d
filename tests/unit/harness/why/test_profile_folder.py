"""A profile appears whole or not at all, and takes the place of an earlier one; what was killed is removed.

Of what programs leave for perf only their own files go.
"""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys

import pytest

from analysis.errors import StoreError, UsageError
from harness.trial import profiles as session_profile
from harness.trial.profiles import DEFAULT_HZ, DWARF_HZ, ProfileRequest, new_profile, record_profile

ONE = {"variant": "cand", "benchmarks": ("spin",), "sessions": 1, "timed": 1, "profiled": 1}


@pytest.fixture
def trial(tmp_path):
    folder = tmp_path / "t"
    folder.mkdir(mode=0o750)
    return folder


def names(trial):
    beside = trial.with_name("t.why")
    return sorted(path.name for path in beside.iterdir()) if beside.exists() else None


def test_it_appears_when_it_is_whole(trial):
    with new_profile(trial, "v") as part:
        assert names(trial) == [".v.part"]
        assert part.stat().st_mode & 0o777 == 0o750
        (part / "a").write_text("1")
    assert names(trial) == ["v"]
    with new_profile(trial, "v") as part:
        assert names(trial) == [".v.part", "v"]
        (part / "a").write_text("2")
    with new_profile(trial, "w"):
        pass
    assert names(trial) == ["v", "w"]
    assert (trial.with_name("t.why") / "v" / "a").read_text() == "2"


def test_what_ends_early_leaves_the_earlier_one(trial):
    with pytest.raises(KeyError), new_profile(trial, "v"):
        raise KeyError
    assert names(trial) is None
    with new_profile(trial, "v") as part:
        (part / "a").write_text("1")
    with pytest.raises(KeyboardInterrupt), new_profile(trial, "v"):
        raise KeyboardInterrupt
    assert names(trial) == ["v"]


def test_what_a_kill_left_is_removed_or_put_back(trial):
    beside = trial.with_name("t.why")
    (beside / ".w.part").mkdir(parents=True)
    (beside / ".v.old").mkdir()
    (beside / ".v.old" / "a").write_text("1")
    with new_profile(trial, "x"):
        assert names(trial) == [".x.part", "v"]  # its successor did not come
    (beside / ".v.old").mkdir()
    with new_profile(trial, "x"):
        assert names(trial) == [".x.part", "v", "x"]


WRITES = """
import contextlib, itertools, os
for n in itertools.count():
    with contextlib.suppress(OSError):
        os.mkdir(str(n))
"""


def test_what_something_still_writes_to_is_in_nobodys_way(trial):
    left = trial.with_name("t.why") / ".v.part"
    left.mkdir(parents=True)
    # one process: what a shell had started would go on when the shell is killed
    with subprocess.Popen([sys.executable, "-IS", "-c", WRITES], cwd=left) as writer:
        try:
            while not (left / "9").exists():
                assert writer.poll() is None
            with new_profile(trial, "v"):
                assert writer.poll() is None
                assert not list(left.iterdir())
        finally:
            writer.kill()
    with new_profile(trial, "w"):
        pass
    assert names(trial) == ["v", "w"]


def test_what_another_process_records_is_left_alone(trial):
    timed = trial.with_name("t.why") / ".v.part" / "timed"
    timed.mkdir(parents=True)
    (timed / "measurements.jsonl").touch()
    fd = os.open(timed / "measurements.jsonl", os.O_RDWR)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        with pytest.raises(StoreError, match="another process"), new_profile(trial, "v"):
            pass
    finally:
        os.close(fd)
    assert timed.exists()


def test_a_second_start_deletes_nothing_that_the_first_has_just_made(trial):
    """Authority: of two that began at once the later one tidied away the other's folder, and neither recorded."""
    with new_profile(trial, "v") as first:
        with pytest.raises(StoreError, match="another process"), new_profile(trial, "v"):
            pass
        with new_profile(trial, "w") as other:
            other.joinpath("kept").touch()
        assert first.is_dir()
    assert {path.name for path in trial.with_name("t.why").iterdir()} == {"v", "w"}


def test_counts_that_are_none_are_refused(tiny, listening):
    request = ProfileRequest(**ONE | {"profiled": 0})
    with pytest.raises(UsageError, match="are 1 or more"):
        record_profile(tiny.campaign, tiny.trial, request, tiny.options, listening)


def test_stacks_are_copied_less_often():
    assert ProfileRequest(**ONE).wanted_hz == DEFAULT_HZ
    assert ProfileRequest(**ONE, chains="dwarf").wanted_hz == DWARF_HZ <= DEFAULT_HZ


def test_only_own_regular_maps_of_these_processes_go(tmp_path, monkeypatch):
    maps = tmp_path / "maps"
    maps.mkdir()
    monkeypatch.setattr(session_profile, "MAPS", maps)
    for pid in (1, 2):
        (maps / f"perf-{pid}.map").touch()
    (maps / "kept").touch()
    (maps / "perf-3.map").symlink_to("kept")
    os.mkfifo(maps / "perf-4.map")
    session_profile._remove_maps([1, 3, 4, 5], [])
    left = ["kept", "perf-2.map", "perf-3.map", "perf-4.map"]
    assert sorted(path.name for path in maps.iterdir()) == left
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)  # whoever wrote it is somebody else
    session_profile._remove_maps([2], [])
    assert sorted(path.name for path in maps.iterdir()) == left
