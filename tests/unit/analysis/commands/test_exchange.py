"""The command ``export``: what goes to a standard output that takes bytes."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path

import pytest

from analysis.errors import StoreError, UsageError
from analysis.record.printer import Printer, printer_on
from harness.commands.command_parser import parser_for


def execute(out, *words):
    args = parser_for(words[0]).read(words)
    return args.run(args, printer_on(out), io.StringIO())  # as the command line has it


@pytest.mark.parametrize("target", ["long-csv", "hyperfine", "parquet"])
def test_a_standard_output_of_bytes_gets_those_of_the_file(synthetic, tmp_path, target):
    times = {name: {"x": [1.0, 1.1, 0.9]} for name in ("old", "new")}
    trial = synthetic(times).write(tmp_path / "runs" / "one")
    words = ("export", f"{trial}:new", "--to", target)
    assert execute(io.StringIO(), *words, "-o", str(tmp_path / "f")) == 0
    out = io.TextIOWrapper(raw := io.BytesIO(), encoding="utf-8")
    assert execute(out, *words, "-o", "-") == 0
    assert raw.getvalue() == (tmp_path / "f").read_bytes() != b""


class Terminal(io.TextIOWrapper):
    def isatty(self):
        return True


def test_a_terminal_gets_cleaned_text_and_no_bytes(synthetic, tmp_path):
    trial = synthetic({"old": {"x": [1.0, 1.1]}, "new\x1b[2J": {"x": [1.0, 0.9]}}).write(
        tmp_path / "t"
    )
    out = Terminal(raw := io.BytesIO(), encoding="utf-8")
    assert execute(out, "export", str(trial), "--to", "long-csv", "-o", "-") == 0
    out.flush()
    assert b"new\\x1b[2J" in raw.getvalue()
    with pytest.raises(UsageError, match="not text"):
        execute(out, "export", str(trial), "--to", "parquet", "-o", "-")


@pytest.mark.parametrize("target", ["long-csv", "parquet"])
def test_a_standard_output_without_room_is_told(synthetic, tmp_path, target):
    trial = synthetic({"old": {"x": [1.0]}, "new": {"x": [1.0]}}).write(tmp_path / "t")
    # its end writes what is still buffered, and finds no room either
    with contextlib.suppress(OSError), Path("/dev/full").open("w") as full:
        out = Printer(full, must=True)
        with pytest.raises(StoreError, match="cannot be written: No space left"):
            execute(out, "export", f"{trial}:new", "--to", target, "-o", "-")
