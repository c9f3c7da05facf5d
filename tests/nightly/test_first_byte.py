"""What lasts says at once what it does, and goes on saying it: by processor time, to a terminal.

Authority: docs/concepts.md, "While it computes"; 0.3 s of the processor until the first byte, and no 5 s of it
without one, the first compilation of the kernels included. The process itself notes its processor time with
each byte, so that a busy machine makes no difference.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

SAMPLE = Path(__file__).parents[1] / "data" / "sample-0.2.0"
FIRST_S, GAP_S = 0.3, 5.0
PROGRAM = """
import io, json, sys, time

class Terminal(io.StringIO):
    def isatty(self):
        return True

    def write(self, text):
        said.append((time.process_time(), text))
        return len(text)

said = []
from harness.cli import main
code = main(sys.argv[1:], io.StringIO(), Terminal())
said.append((time.process_time(), ""))
print(json.dumps([code, said]))
"""


def watched(lab, *words: object, **environment: str) -> list[tuple[float, str]]:
    """Execute a command line in a new process; give each text on stderr with the processor time then."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *map(str, words)],
        cwd=lab.folder,
        env={**lab.environment, "TERM": "xterm", "COLUMNS": "80", **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    code, said = json.loads(done.stdout)
    assert code == 0, said
    return [(at, text) for at, text in said]


def gaps(said: list[tuple[float, str]]) -> list[float]:
    return [after - before for (before, _), (after, _) in itertools.pairwise([(0.0, ""), *said])]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["verdict", SAMPLE], "reading and judging"),
        (["verdict", SAMPLE, "--explain"], "explaining: bootstrap (4 of 6)"),
        (["report", SAMPLE, "-o", "r.html"], "writing the report: "),
        (["bundle", SAMPLE, "-o", "b.tar.gz"], "packing"),
    ],
    ids=["verdict", "explain", "report", "bundle"],
)
def test_the_first_byte_comes_at_once_and_no_gap_is_long(lab, words, says):
    said = watched(lab, *words)
    shown = "".join(text for _, text in said)
    assert said[0][0] <= FIRST_S
    assert max(gaps(said)) <= GAP_S
    assert says in shown
    assert max(len(line) for line in shown.replace("\r", "\n").split("\n")) < 80


def test_a_cold_cache_is_no_silence(lab, tmp_path):
    words = ("mixture", f"{SAMPLE}:gzip-1", "--benchmark", "text", "--resamples", "20")
    said = watched(lab, *words, FAIRTRIAL_CACHE=str(tmp_path / "cold"))
    assert "compiling the statistics, once, about 6 s" in "".join(text for _, text in said)
    assert max(gaps(said)) <= GAP_S


def test_a_real_terminal_shows_the_answer_alone_at_the_end(lab):
    terminal, theirs = pty.openpty()
    process = subprocess.Popen(
        [Path(sys.executable).parent / "fairtrial", "verdict", str(SAMPLE)],
        cwd=lab.folder,
        env={**lab.environment, "TERM": "xterm", "COLUMNS": "80", "NO_COLOR": "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=theirs,
    )
    os.close(theirs)
    shown = b""
    with contextlib.suppress(OSError):  # Linux gives it when nobody has the other end any more
        while part := os.read(terminal, 65_536):
            shown += part
    os.close(terminal)
    out, _ = process.communicate()
    assert process.returncode == 0
    assert b"gzip-1" in out
    assert b"\r" not in out
    assert shown.startswith(b"\rreading and judging")
    assert shown.endswith(b" \r")
    assert b"\x1b" not in shown
    assert b"\n" not in shown
