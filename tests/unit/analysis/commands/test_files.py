"""A file is written whole or not at all."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest

from analysis.errors import UsageError
from analysis.record.printer import check_file, check_files, check_folder, write_file, write_files


def test_a_file_takes_the_place_of_the_one_that_was_there(tmp_path):
    place = tmp_path / "r.txt"
    place.write_text("a long text that was there before")
    place.chmod(0o640)
    write_file(place, "é\n")
    assert place.read_bytes() == "é\n".encode()
    assert stat.S_IMODE(place.stat().st_mode) == 0o640
    assert list(tmp_path.iterdir()) == [place]


def test_a_new_file_is_as_open_as_the_mask_lets_it(tmp_path):
    before = os.umask(0o027)
    try:
        write_file(tmp_path / "r.txt", "x")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "r.txt").stat().st_mode) == 0o640


def test_a_link_stays_a_link(tmp_path):
    place, link = tmp_path / "r.txt", tmp_path / "link"
    place.write_text("old")
    link.symlink_to("r.txt")
    write_file(link, "new")
    assert link.is_symlink()
    assert place.read_text() == "new"


def test_half_a_pair_of_surrogates_is_written_out(tmp_path):
    write_file(tmp_path / "r.txt", "a\udcffb")
    assert (tmp_path / "r.txt").read_text() == "a\\udcffb"


def test_a_full_disk_leaves_what_was_there(tmp_path, monkeypatch):
    place = tmp_path / "r.txt"
    place.write_text("old")

    def full(_file):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(UsageError, match="No space left on device"):
        write_file(place, "new")
    assert place.read_text() == "old"
    assert list(tmp_path.iterdir()) == [place]


def test_what_is_no_regular_file_is_written_as_it_is():
    check_file(Path("/dev/null"))
    write_file(Path("/dev/null"), "x")
    assert not Path("/dev/null").is_file()
    with pytest.raises(UsageError, match="No space left on device"):
        write_file(Path("/dev/full"), "x")


def test_several_files_go_into_one_folder(tmp_path):
    write_files(tmp_path, {"a.csv": "1", "b.csv": "2"})
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {
        "a.csv": "1",
        "b.csv": "2",
    }


def test_what_cannot_be_written_is_refused(tmp_path):
    with pytest.raises(UsageError, match="this is a folder"):
        check_file(tmp_path)
    with pytest.raises(UsageError, match="there is no folder"):
        check_file(tmp_path / "no" / "r.txt")
    with pytest.raises(UsageError, match="File name too long"):
        check_file(tmp_path / ("n" * 300))
    with pytest.raises(UsageError, match="there is no folder"):
        check_folder(tmp_path / "no")
    check_file(tmp_path / "new.txt")
    with pytest.raises(UsageError, match="two files would be written here"):
        check_files(str(tmp_path / "new.txt"), None, f"{tmp_path}/./new.txt")
    assert not list(tmp_path.iterdir())  # checking leaves nothing behind


def test_a_file_that_a_trial_is_made_of_is_no_place_for_a_result(tmp_path):
    # seen: 'report runs/x -o runs/x/manifest.json' left a trial that nothing reads
    for name in ("measurements.jsonl", "manifest.json"):
        (tmp_path / name).write_text("{}")
        (tmp_path / f"link-{name}").symlink_to(name)
    for write in (check_file, lambda path: write_file(path, "x")):
        for name in ("manifest.json", "link-measurements.jsonl", "plan.jsonl"):
            with pytest.raises(UsageError, match="this file is a part of a trial"):
                write(tmp_path / name)
    write_file(tmp_path / "report.json", "x")


def test_what_may_not_be_written_is_refused(tmp_path, monkeypatch):
    place = tmp_path / "r.txt"
    place.write_text("old")
    for shut, said in ((place, "Permission denied"), (tmp_path, "nothing may be written")):
        monkeypatch.setattr(os, "access", lambda path, _mode, shut=shut: Path(path) != shut)
        with pytest.raises(UsageError, match=said) as refused:
            check_file(place)
        assert refused.value.where == str(place)
