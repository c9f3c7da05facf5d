"""No text from elsewhere moves a terminal: the attacks on 0.1.0, B11; what cannot be written: B9."""

from __future__ import annotations

import errno
import io
import re

import pytest
from hypothesis import given, strategies as st

from analysis.errors import StoreError
from analysis.record.printer import Printer, clean, printer_on

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
