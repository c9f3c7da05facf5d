"""A passing folder goes with its process; what a killed one left goes with the next."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from analysis.artifact.recomputing import passing_folder

_HELD = """
import subprocess, sys
from analysis.artifact.recomputing import passing_folder
with passing_folder() as place:
    (place.content / "x").touch()
    if "child" in sys.argv:
        child = subprocess.Popen(["sleep", "600"], pass_fds=(place.lock,), stdout=subprocess.DEVNULL)
    print(child.pid if "child" in sys.argv else 0, flush=True)
    sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return tmp_path


def _holder(*words: str) -> tuple[subprocess.Popen[str], int]:
    process = subprocess.Popen(
        [sys.executable, "-c", _HELD, *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    return process, int(process.stdout.readline())


def test_it_goes_at_the_end(place):
    def interrupted() -> None:
        with passing_folder() as found:
            (found.content / "x").touch()
            assert len(list(place.iterdir())) == 1
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert list(place.iterdir()) == []


def test_what_a_killed_process_left_goes_and_what_is_held_stays(place):
    living, _ = _holder()
    killed, _ = _holder()
    left = set(place.iterdir())
    assert len(left) == 2
    killed.kill()
    killed.wait()
    assert set(place.iterdir()) == left
    with passing_folder() as found:
        own = found.content.parent
        (stays,) = set(place.iterdir()) - {own}
        assert (stays / "bundle" / "x").exists()
    living.communicate("")
    assert list(place.iterdir()) == []


def test_a_folder_in_which_a_command_still_works_stays(place):
    killed, child = _holder("child")
    killed.kill()
    killed.wait()
    (left,) = place.iterdir()
    with passing_folder():
        assert left.exists()
    os.kill(child, signal.SIGKILL)
    while Path(f"/proc/{child}").exists() and _state(child) != "Z":
        pass
    with passing_folder():
        assert not left.exists()


def _state(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "Z"


def test_nothing_else_is_touched(place):
    (place / "fairtrial-mine").mkdir()  # no lock: nobody knows whose it is
    (place / "fairtrial-mine" / "x").touch()
    (place / "fairtrial-file").touch()
    other = place / "elsewhere"
    other.mkdir()
    (other / ".fairtrial-lock").touch()
    (place / "fairtrial-link").symlink_to(other)
    linked = place / "fairtrial-linked"
    linked.mkdir()
    (linked / ".fairtrial-lock").symlink_to(other / ".fairtrial-lock")
    before = sorted(place.rglob("*"))
    with passing_folder():
        pass
    assert sorted(place.rglob("*")) == before
