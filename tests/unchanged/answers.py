"""Whole answers of commands, as tests/screens holds them, and how they are written anew.

`lines.txt` there holds command lines in the words of command_lines.py; `NAME.txt` what each gave when
it was last looked at. What measures does so on virtual times, in a fork. After a wanted change: ``python tests/unchanged/answers.py``, and read the
difference before it is committed.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import io
import os
import platform
import re
import shlex
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from importlib.metadata import version
from pathlib import Path

from command_lines import Line, line
from input_folder import copied, write_inputs
from text_filter import filtered

from analysis import announcing
from analysis.version import VERSION
from harness.cli import main

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT))  # as a program of its own

from tests import virtual  # noqa: E402
from tests.forks import Forks  # noqa: E402

ANSWERS = ROOT / "tests" / "screens"
LINES = (ANSWERS / "lines.txt").read_text().splitlines()
DIGITS = 6  # of numbers in JSON, SVG and CSV: further ones may differ between machines
LARGEST = 4000  # bytes of a written file that stands there whole; of a larger one its hash does
MEASURING = ("compare", "run")
TIMES = virtual.Times(
    effects={"true": 0.01, "one/new": 1.05, "two/new": 1.03},
    runs={
        "sh -c exit 3": {"exit_code": 3},
        "command/sleep-0.031": {"exit_code": 4},  # when it is measured, not when it is tried
    },
)
ENVIRONMENT = {"COLUMNS": "80", "TZ": "UTC"}
_PROGRESS = re.compile(
    r"(?m)^.* s so far\n"
)  # of a busy machine; another one is done before it speaks
_LONG = re.compile(r"-?\d+\.\d{7,}(?:e[-+]\d+)?|-?\d\.\d+e[-+]\d+")
VERSIONS = {
    VERSION: "<version>",
    f"Python {platform.python_version()}": "Python <version>",
    # with which the trials were measured, whichever are installed here
    "Python 3.11.7": "Python <version>",
    "2.4.6": "<version of numpy>",
    **{version(name): f"<version of {name}>" for name in ("numpy", "scipy", "numba")},
}


def rounded(text: str) -> str:
    """Round numbers that are given in full."""
    return _LONG.sub(lambda found: f"{float(found[0]):.{DIGITS}g}", text)


def _on_stage(words: Sequence[str], lab: Path, forks: Forks) -> tuple[int, str, str]:
    """Execute commands that measure: their exit code, and what they wrote to both streams."""
    code, out, err = 0, "", ""
    for day, part in enumerate(" ".join(map(shlex.quote, words)).split(" '&&' ")):
        done = forks.run(
            shlex.split(part), cwd=lab, environment=os.environ | ENVIRONMENT, seconds=300,
            virtual=virtual.asked(dataclasses.replace(TIMES, performs=words[0] == "run"), day),
        )  # fmt: skip
        code, out, err = done.returncode, out + done.stdout, err + done.stderr
    return code, out, err


def answer(asked: Line, inputs: Path, lab: Path, forks: Forks) -> str:
    """Execute a command line in a new folder; give all that it printed and wrote, and its exit code."""
    for name in asked.inputs:
        copied(inputs / name, lab / name)
    before = {path: path.stat().st_mtime_ns for path in lab.rglob("*")}
    out, err = io.StringIO(), io.StringIO()
    begun, here, known = time.time(), Path.cwd(), dict(os.environ)
    if asked.room in MEASURING and "--dry-run" not in asked.words:
        code, told, said = _on_stage(asked.words, lab, forks)
        out, err = io.StringIO(told), io.StringIO(said)
    else:
        os.chdir(lab)
        os.environ.update(ENVIRONMENT)
        try:
            with redirect_stdout(out), redirect_stderr(err):  # argparse writes there
                code = main(list(asked.words), out, err)
        finally:
            os.chdir(here)
            os.environ.clear()
            os.environ.update(known)
    written = {
        str(path.relative_to(lab)): text_of(path)
        for path in sorted(lab.rglob("*"))
        if path.is_file()
        and lab / "runs" not in path.parents
        and before.get(path) != path.stat().st_mtime_ns
    }
    told = _PROGRESS.sub("", err.getvalue())
    parts = [out.getvalue(), *(f"[stderr]\n{text}" for text in [told] if text)]
    parts += [f"[file {name}]\n{text}" for name, text in written.items()]
    whole = "\n".join(part.rstrip("\n") for part in [*parts, f"[exit code {code}]"])
    paths = {str(lab): "<here>", str(ROOT): "<installation>", **VERSIONS}
    text = filtered(whole, begun=begun, ended=time.time(), paths=paths, measured=False)
    for moment in (time.gmtime(begun), time.localtime()):
        text = text.replace(time.strftime("%Y-%m-%d", moment), "<today>")
    if "--help" in asked.words:  # which argparse lays out in another way since 3.13
        text = " ".join(re.sub(r"(-\w) ([A-Z.]+), (--[\w-]+) \2", r"\1, \3 \2", text).split())
    return rounded(text).strip("\n")


def text_of(path: Path) -> str:
    """Give a written file, or of a large one its hash."""
    text = path.read_text(encoding="utf-8", errors="replace")
    for number, name in VERSIONS.items():
        text = text.replace(number, name)
    text = rounded(text)
    if len(text) <= LARGEST:
        return text
    return f"{len(text)} characters, SHA-256 {hashlib.sha256(text.encode()).hexdigest()}"


def file_of(asked: Line) -> Path:
    return ANSWERS / f"{asked.room}.txt"


def stored(path: Path) -> dict[str, str]:
    """Read the answers of a file by their command line."""
    parts = re.split(r"(?m)^\$ fairtrial (.*)\n", path.read_text())
    return {text: found.strip("\n") for text, found in zip(parts[1::2], parts[2::2], strict=True)}


def _all_answers() -> Iterator[tuple[Line, str]]:
    with tempfile.TemporaryDirectory() as folder, contextlib.closing(Forks()) as forks:
        write_inputs(Path(folder) / "inputs", samples=False)
        for text in LINES:
            asked = line(text)
            lab = Path(folder) / asked.key
            lab.mkdir()
            yield asked, answer(asked, Path(folder) / "inputs", lab, forks)


def update() -> None:
    """Write all answers anew."""
    found: dict[Path, list[str]] = {}
    for asked, text in _all_answers():
        assert "$ fairtrial " not in text, "it would be taken for the next answer"
        found.setdefault(file_of(asked), []).append(f"$ fairtrial {asked.text}\n{text}\n")
    for path in ANSWERS.glob("*.txt"):
        if path.name != "lines.txt":
            path.unlink()
    for path, blocks in found.items():
        path.write_text("\n".join(blocks))


if __name__ == "__main__":
    announcing.clock = lambda: 0.0  # what is said after some seconds is no part of an answer
    update()
