"""The journal and its folder: whose they are, what is believed, one at a time."""

from __future__ import annotations

import os
import stat

import pytest

from analysis.record.shapes import encode_checked
from harness.errors import HostError
from harness.tune.journal import NAME, Desk, TuneAtWorkError, finding_of_tuning, story_of
from harness.tune.tuner import tune


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
