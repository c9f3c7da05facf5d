"""A measured trial of tiny programs, and who hears of what is recorded beside it."""

from __future__ import annotations

import functools
import hashlib
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.campaign.resolve import load_campaign
from harness.trial.execution import Options, start

BUSY = "i=0; while [ $i -lt 3000 ]; do i=$((i+1)); done"
CAMPAIGN = """\
name: tiny
variants: {base: {}, cand: {}, other: {}}
benchmarks:
  spin: {command: ["./{variant}"]}
  child: {command: [sh, -c, "./{variant} & ./{variant}; wait"]}
protocol: {sessions: 1, runs: 1, warmup: 0}
isolation: {cpus: none}
checks: {probe: 0s}
"""


class Listening:
    """Keeps what it is told in words."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def say(self, text: str) -> None:
        self.said.append(text)

    def __getattr__(self, name: str):
        return lambda *_given, **_named: None


class Tiny:
    """A campaign and its trial, in a folder."""

    def __init__(
        self,
        folder: Path,
        text: str = CAMPAIGN,
        program: str = "",
        prepare: Callable[[Path], object] = lambda _: None,
    ) -> None:
        self.folder, self.runs = folder, folder / "runs"
        self.file = folder / "tiny.yaml"
        self.file.write_text(text)
        for name in ("base", "cand", "other"):
            (folder / name).write_text(f"#!/bin/sh\n{BUSY}\n: {name}\n{program}\n")
            (folder / name).chmod(0o755)
        prepare(folder)
        self.trial = self.runs / "tiny"
        start(self.campaign, self.options, Listening())

    @property
    def campaign(self):
        return load_campaign(self.file)

    @property
    def options(self) -> Options:
        return Options(folder=self.runs, name="tiny")

    def state(self) -> dict[str, str]:
        """Give a digest of everything but the profiles, by its path."""
        return {
            str(path.relative_to(self.folder)): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(self.folder.rglob("*"))
            if path.is_file() and "tiny.why" not in path.parts
        }


@pytest.fixture
def listening():
    return Listening()


@pytest.fixture(scope="session")
def measured_tiny(tmp_path_factory):
    """Measure the trial once, and keep a copy of what each test begins with."""
    one = Tiny(tmp_path_factory.mktemp("tiny"))
    shutil.copytree(one.folder, kept := tmp_path_factory.mktemp("kept") / "tiny")
    return one, kept


@pytest.fixture
def tiny(measured_tiny):
    """Give the trial as it was measured: where it lies, whatever a test before did to it."""
    one, kept = measured_tiny
    shutil.rmtree(one.folder)
    shutil.copytree(kept, one.folder)
    return one


@pytest.fixture
def make_tiny(tmp_path):
    return functools.partial(Tiny, tmp_path)


@pytest.fixture(scope="session")
def perf():
    """Skip where nothing can be sampled."""
    if shutil.which("perf") is None:
        pytest.skip("there is no perf that samples here")
    done = subprocess.run(
        ["perf", "record", "-e", "cpu-clock:u", "-o", "/dev/null", "true"],
        capture_output=True,
        check=False,
    )
    if done.returncode:
        pytest.skip("there is no perf that samples here")
