"""The installed `fairtrial tune`: it shows, and asks; on this machine nothing is ever changed by tests."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

COMMAND = str(Path(sys.executable).parent / "fairtrial")
HELD = Path("/run/fairtrial")


@pytest.fixture
def execute(lab):
    def execute(*words: str) -> subprocess.CompletedProcess[str]:
        # --yes is never among them, and there is no terminal
        assert "--yes" not in words
        return lab.run_fairtrial("tune", *words)

    return execute


@pytest.fixture(autouse=True)
def _untouched():
    before = HELD.exists()
    yield
    assert HELD.exists() == before


def test_a_dry_run_shows_the_list(execute):
    done = execute("--dry-run")
    assert (done.returncode, done.stderr) == (0, "")
    assert "to change" in done.stdout or "nothing to change" in done.stdout
    shown = json.loads(execute("--dry-run", "--json").stdout)
    for one in shown["changes"]:
        assert one["path"].startswith(("/sys/", "/proc/"))
        assert one["before"] != one["after"]


def test_without_a_terminal_and_without_yes_nothing_is_changed(execute):
    changes = json.loads(execute("--dry-run", "--json").stdout)["changes"]
    done = execute()
    assert done.returncode == (2 if changes else 0)
    assert ("there is no terminal" in done.stderr) == bool(changes)


def test_who_is_asked_and_says_no_changes_nothing(execute):
    changes = json.loads(execute("--dry-run", "--json").stdout)["changes"]
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [COMMAND, "tune", "--", "true"],
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        os.write(ours, b"n\n")
        _, said = process.communicate(timeout=120)
    os.close(ours)
    os.close(theirs)
    if changes and os.geteuid() == 0 and "a trial measures" not in said:
        assert process.returncode == 1
        assert said.endswith("change it? [y/N] nothing was changed\n")
    else:
        assert process.returncode == (3 if changes else 0)
