"""The commands of the README, executed in a folder that holds what they name; its screens are what is printed.

On virtual times: what the programs take is made up.
"""

from __future__ import annotations

import itertools
import json
import os
import random
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.virtual import Times, asked

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")

TIMES = Times(effects={"gzip -6 -k -c data": 0.87, "gzip -1 -k -c data": 0.5})
TINY = """\
name: c
variants: {a: {}, b: {}}
benchmarks: {x: {command: ["true"]}, y: {command: ["true"]}}
protocol: {sessions: 3, runs: 2, warmup: 0}
isolation: {cpus: none}
"""
ENDS = {"gate": {0, 1, 7}, "compare": {0}}  # of identical programs any answer may come


def told(text: str) -> list[str]:
    """List the commands of ours that a page tells: behind a $, in fences, in backticks."""
    found = re.findall(r"^(?: {4}\$ |)(fairtrial .*?)(?:  +#.*)?$", text, re.MULTILINE)
    return found + re.findall(r"`(fairtrial [^`]+)`", text)


@pytest.fixture(scope="module")
def place(tmp_path_factory, forks):
    """Give a folder with what the README's commands need, and a function that executes one there."""
    folder = tmp_path_factory.mktemp("readme")
    drawn = random.Random(1)
    lines = "".join(f"{drawn.gauss(0, 1):.4f}\n" for _ in range(60_000))
    (folder / "data").write_text(lines)
    (folder / "a").write_text(lines[:200_000])
    shutil.copy(shutil.which("sort"), folder / "sort")
    for name in ("A", "B"):
        (folder / name).write_text("#!/bin/sh\nexit 0\n")
        (folder / name).chmod(0o755)
    for name in ("new", "old"):  # as pyperf writes them
        values = [[drawn.uniform(0.9, 1.1) for _ in range(3)] for _ in range(4)]
        runs = [{"metadata": {}, "values": value} for value in values]
        benchmarks = [{"metadata": {"name": "x"}, "runs": runs}]
        whole = {"version": "1.0", "metadata": {"unit": "second"}, "benchmarks": benchmarks}
        (folder / f"{name}.json").write_text(json.dumps(whole))

    days = itertools.count()

    def execute(command: str, times: Times = TIMES) -> subprocess.CompletedProcess[str]:
        newest = max(
            folder.glob("runs/*/manifest.json"), key=lambda path: path.stat().st_mtime, default=None
        )
        words = shlex.split(
            command.replace("runs/NAME", str(newest.parent)) if newest else command
        )[1:]
        path = f"{folder}:{os.environ['PATH']}"
        environment = os.environ | {"PATH": path, "COLUMNS": "80"}
        stage = asked(times, next(days))
        return forks.run(words, cwd=folder, environment=environment, seconds=300, virtual=stage)

    return SimpleNamespace(folder=folder, execute=execute)


def test_each_command_works(place):
    commands = told(README)
    assert {shlex.split(command)[1] for command in commands} >= {
        *("compare", "init", "run", "verdict", "gate", "report", "bundle")
    }
    for command in commands:
        done = place.execute(command)
        assert done.returncode in ENDS.get(shlex.split(command)[1], {0}), done.stderr + done.stdout
        if " init " in command:  # what it writes measures for longer than a test should
            (place.folder / "c.yaml").write_text(TINY)
    assert (place.folder / "r.html").stat().st_size > 10_000
    assert (place.folder / "a.zip").exists()


def form(text: str) -> list[str]:
    """Give the form of a screen: numbers are N, units and widths are nothing."""
    text = re.sub(r"is \S+ times as fast as", "takes N % less time than", text)
    text = re.sub(r"\d+(?:[.,]\d+)*", "N", text)
    text = re.sub(r"N (?:ms|us|s)\b|N %(?=;)", "N", text)
    text = re.sub(r" - (?= )", " N % ", text)  # the spread of single runs
    text = re.sub(r"N times as fast|N % (?:less|more)(?: time)?", "N % less", text)
    text = re.sub(
        r"^(gzip -N) (?:…|-k -c data)", r"\1", text, flags=re.MULTILINE
    )  # as wide as it may be
    return [" ".join(line.split()) for line in text.splitlines()]


def shown(start: str) -> tuple[str, str]:
    """Give a command of the README and the screen below it."""
    found = re.search(rf"^    \$ ({start}.*)\n((?:    .*\n|\n(?=    ))+)", README, re.MULTILINE)
    return found[1], re.sub(r"^    ", "", found[2], flags=re.MULTILINE)


def test_the_first_screen_has_the_form_of_what_is_printed(place):
    command, screen = shown("fairtrial compare 'gzip")
    done = place.execute(command)
    printed = form(done.stdout.partition("\nnote")[0].partition("\nnext")[0].strip())
    assert form(screen.strip()) == printed


def test_the_second_screen_has_the_form_of_a_comparison_that_found_nothing(place):
    command, screen = shown("fairtrial compare --for")
    done = place.execute(command, Times(sessions=0.02))
    expected, found = (" ".join(form(text)) for text in (screen, done.stdout.partition("\n\n")[0]))
    assert expected.replace(" in N sessions", "") == found.replace(" in N sessions", "")
