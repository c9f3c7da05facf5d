"""Copies of the tree in which a change is made, to see what it costs and that it works."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# several command lines one after the other: an interpreter of its own for each is most of their cost
_ANSWERS = """
import contextlib, io, json, sys
from harness.cli import main
answers = []
for words in json.loads(sys.argv[1]):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out):  # where a help goes
        code = main(words, out, err)
    answers.append((code, out.getvalue(), err.getvalue()))
print(json.dumps(answers))
"""


def copied(place: Path, parts: Iterable[str], *left_out: str) -> Path:
    """Copy parts of the tree; what is compiled comes along, but not what others are writing just now."""
    ignored = shutil.ignore_patterns("*.pyc.*", *left_out)
    for name in parts:
        source, target = ROOT / name, place / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_file():
            shutil.copy2(source, target)
        else:
            shutil.copytree(source, target, ignore=ignored, dirs_exist_ok=True)
    return place


def edited(tree: Path, edits: dict[str, Callable[[str], str]]) -> None:
    """Edit files of a copy."""
    for name, edit in edits.items():
        path = tree / name
        path.write_text(edit(path.read_text("utf-8")), "utf-8")


def python(tree: Path, *words: object, cwd: Path | None = None) -> str:
    """Execute this interpreter with a copy's product; give what it prints."""
    env = {**os.environ, "PYTHONPATH": str(tree), "PYTHONSAFEPATH": "1"}
    env.pop("PYTHONDONTWRITEBYTECODE", None)  # the copy goes away; what is edited is compiled once
    done = subprocess.run(
        [sys.executable, *map(str, words)],
        cwd=cwd or tree, env=env, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def answers(tree: Path, *commands: Iterable[object]) -> list[str]:
    """Give what command lines of a copy's fairtrial print, executed one after the other."""
    words = json.dumps([list(map(str, command)) for command in commands])
    found = json.loads(python(tree, "-c", _ANSWERS, words))
    assert [code for code, _, _ in found] == [0] * len(found), found
    return [out for _, out, _ in found]
