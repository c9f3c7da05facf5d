"""kill -9 of the one who tunes, of its guardian, of both: on a planted tree, everything comes back."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from harness.errors import HostError
from harness.tune.journal import finding_of_tuning
from harness.tune.tuner import Guardian, tune, undo_tuning
from tests.processes import send, wait_until

from .conftest import contents

# tunes the tree, and stands still: in the midst of the changes, or in its command
SCRIPT = """
import os, sys, time
from pathlib import Path
from harness.tune.tuner import Knobs
from harness.tune.proposal import Wish
from harness.tune.tuner import survey, tune

root, where = Path(sys.argv[1]), sys.argv[2]
me = os.getpid()

class Slow(Knobs):
    def write(self, path, value):
        if os.getpid() == me and path.endswith(where):
            if sys.argv[3] == "after":
                super().write(path, value)
            print("here", flush=True)
            time.sleep(600)
        super().write(path, value)

command = [sys.executable, "-c", "print('here', flush=True); import time; time.sleep(600)", str(root)]
argv = command if where == "command" else []
tune(survey(Wish(), root, look_s=0), root, argv=argv, knobs=Slow(root),
     tell=lambda line: print(line, file=sys.stderr, flush=True))
"""
PLACES = [("scaling_governor", "before"), ("scaling_governor", "after"),
          ("max_sample_rate", "after"), ("smp_affinity_list", "before")]  # fmt: skip


def gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except OSError:
        return True


def guardian_of(pid: int) -> int:
    """Find the child in a session of its own; a command is in its parent's."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    (found,) = (int(child) for child in children if os.getsid(int(child)) == int(child))
    return found


@pytest.fixture
def tuning(laptop):
    """Start one that tunes, and wait until it stands still."""
    started = []

    def start(where: str, when: str = "after") -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-c", SCRIPT, str(laptop), where, when],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        started.append(process)
        assert process.stdout.readline() == "here\n", process.stderr.read()
        return process

    yield start
    for process in started:
        process.kill()
        send(ours(laptop))
        process.communicate(timeout=30)


def ours(root: Path) -> list[int]:
    """Find who still works on that tree, and its commands."""
    mark = str(root).encode()
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if mark in (entry / "cmdline").read_bytes() and int(entry.name) != os.getpid():
                found.append(int(entry.name))
    return found


@pytest.mark.parametrize(("where", "when"), PLACES[1:3])
def test_the_guardian_puts_back_what_a_killed_tune_has_changed(laptop, tuning, where, when):
    before = contents(laptop)
    process = tuning(where, when)
    guardian = guardian_of(process.pid)
    assert contents(laptop) != before  # the preference comes first
    process.kill()
    wait_until(lambda: gone(guardian))
    assert contents(laptop) == before
    assert not (laptop / "run/fairtrial").exists()
    assert "its guardian puts the settings back" in process.stderr.read()


def test_the_guardian_acts_when_tune_dies_under_its_command(laptop, tuning):
    before = contents(laptop)
    process = tuning("command")
    assert contents(laptop) != before
    guardian = guardian_of(process.pid)
    process.kill()
    wait_until(lambda: gone(guardian))
    assert contents(laptop) == before


def test_a_guardian_that_was_sent_home_did_nothing_and_leaves_nothing(tmp_path, leaks):
    before = leaks("")  # pipes lie below no folder, but none has the number and place of another
    guardian = Guardian((tmp_path / "acted").touch)
    made = leaks("") - before
    guardian.dismiss()  # before anything fails: whoever started it would wait for it
    assert len(made) == 1  # the way to say a word to it
    assert not made & leaks("")
    assert gone(guardian.pid)
    assert not (tmp_path / "acted").exists()


def test_without_its_guardian_tune_puts_back_itself(laptop, tuning):
    before = contents(laptop)
    process = tuning("command")
    os.kill(guardian_of(process.pid), signal.SIGKILL)
    process.send_signal(signal.SIGTERM)  # handed on to the command, whose end it waits for
    assert process.wait(30) == 0
    assert contents(laptop) == before
    assert not (laptop / "run/fairtrial").exists()


@pytest.mark.parametrize(("where", "when"), [PLACES[0], PLACES[3]])
def test_after_a_kill_of_both_undo_puts_back(laptop, tuning, where, when):
    before = contents(laptop)
    process = tuning(where, when)
    guardian = guardian_of(process.pid)
    os.kill(guardian, signal.SIGKILL)
    process.kill()
    process.wait()
    assert contents(laptop) != before  # the preference comes first
    found = finding_of_tuning(laptop)
    assert (found.status, "died and left" in found.what) == ("warn", True)
    assert found.fix == "sudo fairtrial tune --undo"
    assert undo_tuning(laptop).settled
    assert contents(laptop) == before
    assert finding_of_tuning(laptop) is None


def test_a_ctrl_c_reaches_no_guardian_and_the_lock_is_its_too(laptop, tuning, proposed):
    proposal = proposed()
    process = tuning("command")
    guardian = guardian_of(process.pid)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        os.kill(guardian, number)
    found = finding_of_tuning(laptop)
    assert (found.status, "is running" in found.what) == ("ok", True)
    with pytest.raises(HostError, match="is running"):
        undo_tuning(laptop)
    os.kill(guardian, signal.SIGSTOP)
    process.kill()
    process.wait()
    with pytest.raises(HostError, match="is running"):  # its guardian holds it
        tune(proposal, laptop)
    os.kill(guardian, signal.SIGCONT)
    wait_until(lambda: gone(guardian))
    assert undo_tuning(laptop) is None


def test_a_signal_ends_the_command_and_puts_back(laptop, tuning):
    before = contents(laptop)
    process = tuning("command")
    process.send_signal(signal.SIGTERM)
    assert process.wait(30) == 0  # the script does not look at the code
    assert contents(laptop) == before
