"""The journal and its folder: whose they are, what is believed, one at a time."""

from __future__ import annotations

import contextlib
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from analysis.record.shapes import encode_checked
from harness.errors import HostError
from harness.tune.journal import NAME, Desk, TuneAtWorkError, finding_of_tuning, story_of
from harness.tune.tuner import Guardian, tune, undo_tuning
from tests.processes import send, wait_until
from tests.unit.harness.tune.conftest import contents


@pytest.fixture
def root(tmp_path):
    (tmp_path / "run").mkdir()
    return tmp_path


@pytest.fixture
def folder(root):
    return root / "run" / "fairtrial"


def test_the_folder_and_the_journal_are_this_users_alone(root, folder):
    desk = Desk(root)
    desk.begin({"kept": True})
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((folder / NAME).stat().st_mode) == 0o600
    desk.close()


def test_what_was_written_is_read(root):
    desk = Desk(root)
    desk.begin({"kept": True, "boot": "b"})
    desk.add({"change": 0, "path": "/x"})
    desk.add({"took": 0, "shows": "1"})
    story = desk.read()
    assert (story.head["kept"], story.changes, story.finished, story.kept) == (
        True,
        1,
        False,
        False,
    )
    desk.add({"finished": 1})
    assert desk.read().kept
    desk.close()


def test_a_line_is_on_the_disk_before_add_returns(root, monkeypatch):
    calls = []
    monkeypatch.setattr(os, "fsync", calls.append)
    desk = Desk(root)
    desk.begin({})
    assert len(calls) == 2  # the folder that has the name, and the head
    desk.add({"change": 0})
    assert len(calls) == 3
    desk.close()


def test_a_torn_last_line_tells_of_nothing_that_was_begun(root, folder):
    desk = Desk(root)
    desk.begin({})
    desk.add({"change": 0, "path": "/x"})
    desk.close()
    data = (folder / NAME).read_bytes()
    last = data.rstrip(b"\n").rindex(b"\n") + 1
    for cut in range(last, len(data)):
        story = story_of(data[:cut])
        assert (story.changes, story.damaged, bool(story.head)) == (0, 0, True), cut
    assert story_of(data).changes == 1


def test_a_damaged_line_in_the_midst_is_counted(root, folder):
    desk = Desk(root)
    desk.begin({})
    desk.add({"change": 0, "path": "/x"})
    desk.add({"took": 0, "shows": "1"})
    desk.close()
    data = (folder / NAME).read_bytes()
    assert story_of(data.replace(b'"/x"', b'"/y"')).damaged == 1
    assert story_of(b"").lines == ()
    assert story_of(b"garbage\n").damaged == 1


def test_an_empty_folder_goes_with_the_one_who_made_it(root, folder):
    Desk(root).close()
    assert not folder.exists()


def test_one_tunes_at_a_time(root, leaks):
    desk = Desk(root)
    before = leaks(root)
    assert before
    with pytest.raises(TuneAtWorkError, match="another 'fairtrial tune' is running"):
        Desk(root)
    assert leaks(root) == before  # who was refused holds nothing
    desk.close()
    Desk(root).close()


def test_a_journal_that_is_there_is_undone_first(root):
    desk = Desk(root)
    desk.begin({})
    desk.close()
    desk = Desk(root)
    with pytest.raises(HostError, match="tuned already, or a tune died") as caught:
        desk.begin({})
    assert "tune --undo" in caught.value.fix
    desk.close()


@pytest.mark.parametrize("what", ["link", "file", "open", "absent"])
def test_a_folder_that_is_not_ours_alone_is_not_believed(root, folder, tmp_path, what):
    if what == "link":
        (tmp_path / "elsewhere").mkdir(mode=0o700)
        folder.symlink_to(tmp_path / "elsewhere")
    elif what == "file":
        folder.write_text("")
    elif what == "open":
        folder.mkdir()
        folder.chmod(0o777)
    with pytest.raises(HostError) as caught:
        Desk(root, make=what != "absent")
    assert "fairtrial" in caught.value.where
    fixes = {
        "link": "something else was put there: look at it, and remove it",
        "file": "something else was put there: look at it, and remove it",
        "open": "look at what is there, and remove it",
        "absent": None,
    }
    assert caught.value.fix == fixes[what]
    assert not (tmp_path / "elsewhere" / NAME).exists()


@pytest.mark.parametrize("what", ["link", "folder", "pipe", "huge"])
def test_a_journal_that_is_no_plain_file_is_not_believed(root, folder, tmp_path, what):
    folder.mkdir(mode=0o700)
    place = folder / NAME
    if what == "link":
        (tmp_path / "other").write_text("")
        place.symlink_to(tmp_path / "other")
    elif what == "folder":
        place.mkdir()
    elif what == "pipe":
        os.mkfifo(place)
    else:
        place.write_bytes(b"x" * (4 * 1024 * 1024 + 1))
    desk = Desk(root)
    with pytest.raises(HostError, match="not trusted"):
        desk.read()
    desk.close()


def test_a_full_disk_stops_before_anything_is_changed(root, monkeypatch):
    desk = Desk(root)
    desk.begin({})

    def full(_fd, _data):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(HostError, match="cannot be written: No space left on device"):
        desk.add({"change": 0})
    monkeypatch.setattr(os, "write", lambda _fd, data: len(data) - 1)
    with pytest.raises(HostError, match="no space is left"):
        desk.add({"change": 0})
    monkeypatch.undo()
    desk.close()


# --- What the doctor says of settings that are tuned, kept, or left behind.


def test_a_host_that_is_not_tuned_is_no_finding(laptop):
    assert finding_of_tuning(laptop) is None
    (laptop / "run/fairtrial").mkdir(mode=0o700)
    assert finding_of_tuning(laptop) is None  # an empty folder tells of nothing


def test_settings_that_are_kept_are_in_order_and_said(laptop, proposed):
    tune(proposed(), laptop)
    found = finding_of_tuning(laptop)
    assert (found.check, found.status, found.fix) == ("tune", "ok", "sudo fairtrial tune --undo")
    assert "changed 6 settings of this host since 20" in found.what


@pytest.mark.parametrize("lines", [[], [{"change": 0}], [{"change": 0}, {"took": 0}]])
def test_a_tune_that_died_is_a_warning(laptop, lines):
    folder = laptop / "run/fairtrial"
    folder.mkdir(mode=0o700)
    text = [{"journal": 1, "kept": True, "started": "2026-01-01T00:00:00Z"}, *lines]
    (folder / NAME).write_bytes(b"".join(encode_checked(line) + b"\n" for line in text))
    found = finding_of_tuning(laptop)
    assert found.status == "warn"
    assert f"left changed {len(lines) > 0:d} setting" in found.what


def test_a_folder_of_others_is_not_believed(laptop):
    folder = laptop / "run/fairtrial"
    folder.mkdir()
    folder.chmod(0o777)
    found = finding_of_tuning(laptop)
    assert (found.status, "not trusted" in found.what) == ("warn", True)


def test_who_may_not_look_knows_nothing(laptop, monkeypatch):
    (laptop / "run/fairtrial").mkdir(mode=0o700)
    monkeypatch.setattr(os, "access", lambda *_: False)
    found = finding_of_tuning(laptop)
    assert (found.status, found.fix) == ("unknown", "sudo fairtrial doctor")


# --- kill -9 of the one who tunes, of its guardian, of both: on a planted tree, everything comes back


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
