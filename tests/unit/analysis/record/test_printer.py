"""No text from elsewhere moves a terminal: the attacks on 0.1.0, B11; what cannot be written: B9."""

from __future__ import annotations

import errno
import io
import os
import re
import stat
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from analysis.errors import StoreError, UsageError
from analysis.record.printer import (
    Printer,
    check_file,
    check_files,
    check_folder,
    clean,
    printer_on,
    write_file,
    write_files,
)

OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]")


@given(st.text() | st.text(alphabet="\x1b[]0;\x07\r\n\t\x9b\u202e\u2067\ud800a"))
def test_whatever_is_printed_no_terminal_obeys(text):
    out = io.StringIO()
    Printer(out).write(text)
    assert not OBEYED.search(out.getvalue())
    out.getvalue().encode()


@given(st.text(alphabet=st.characters(codec="utf-8", exclude_categories=["Cc", "Cf", "Zl", "Zp"])))
def test_plain_text_passes_as_it_is(text):
    assert Printer(io.StringIO()).write(text) == len(text)
    assert clean(f"{text}\n\tµ·…") == f"{text}\n\tµ·…"


def test_what_was_taken_out_is_written_out():
    assert clean("\x1b]0;PWNED\x07\u202e\x9b") == r"\x1b]0;PWNED\x07\u202e\x9b"
    assert clean("a\r\nb\rc") == "a\nb\\x0dc"


def test_our_own_codes_pass():
    out = io.StringIO()
    Printer(out).paint("\x1b[32mok\x1b[0m")
    assert out.getvalue() == "\x1b[32mok\x1b[0m"


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_signs_that_a_terminal_lacks_keep_their_width(encoding):
    # the attacks on 0.1.0, B16: "…" became "\u2026" in a C locale, and the moving line too wide
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding, errors="backslashreplace")
    text = "a…b · c"
    shown = Printer(stream).clean(text)
    assert len(shown) == len(text)
    shown.encode(encoding)


class Full(io.StringIO):
    def __init__(self, number):
        super().__init__()
        self.number = number

    def write(self, text):
        raise OSError(self.number, "the reason")

    def flush(self):
        raise OSError(self.number, "the reason")


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO, errno.EDQUOT])
@pytest.mark.parametrize("step", [lambda printer: printer.write("x"), Printer.flush])
def test_a_result_that_cannot_be_written_is_an_error_with_a_place(number, step):
    with pytest.raises(StoreError, match="the result cannot be written: the reason") as error:
        step(Printer(Full(number), must=True))
    assert error.value.where == "standard output"
    step(Printer(Full(number)))  # nobody is there to read it


def test_a_reader_that_left_is_no_error_of_ours():
    with pytest.raises(BrokenPipeError):
        Printer(Full(errno.EPIPE), must=True).write("x")


def test_there_is_one_printer_on_a_stream():
    printer = Printer(io.StringIO())
    assert printer_on(printer) is printer
    assert printer_on(io.StringIO()).beneath.getvalue() == ""


# --- A file is written whole or not at all


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
