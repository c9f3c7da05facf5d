"""A stage for trials: real plans, sessions and stores around launchers that only answer."""

from __future__ import annotations

import dataclasses
import json
import os
import runpy
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.campaign.model import Command, Isolation
from harness.launch.exchange import LaunchRequest
from harness.launch.matching import Interrupted, Interrupts
from harness.trial.execution import Begun, Options, resume, start, trial_to_resume
from tests import virtual


class Watching:
    """Keeps what it is told."""

    def __init__(self) -> None:
        self.heard: list[tuple[Any, ...]] = []

    def __getattr__(self, name: str) -> Callable[..., None]:
        return lambda *words: self.heard.append((name, *words))

    def of(self, name: str) -> list[tuple[Any, ...]]:
        return [words for said, *words in self.heard if said == name]


class Stage(virtual.Stage):
    """What a test of a trial has in hand.

    `target` and `command` answer for the launchers of targets and of hooks and builds; `tree` is the
    host, which a test may change at any time.
    """

    def __init__(self, folder: Path, host: Path) -> None:
        super().__init__(host)
        self.folder = folder
        self.runs = folder / "runs"
        self._before: dict[Path, str | None] = {}
        self.bin = folder / "bin"
        self.target: Callable[[LaunchRequest], dict[str, Any] | None] = lambda request: None
        self.command: Callable[[LaunchRequest], dict[str, Any] | None] = lambda request: None
        self.interrupts: Interrupts | None = None
        self.watching = Watching()
        self.bin.mkdir()
        self.program("true")

    def tree(self, tree: dict[str, str]) -> None:
        """Change files of the host, until the test ends."""
        self.known.clear()
        for name, text in tree.items():
            path = self.host / name
            self._before.setdefault(path, path.read_text() if path.exists() else None)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def put_back(self) -> None:
        """Leave the host as it was."""
        for path, text in self._before.items():
            path.unlink() if text is None else path.write_text(text)

    def program(self, name: str, text: str = "#!/bin/sh\n") -> Path:
        path = self.bin / name
        path.write_text(text)
        path.chmod(0o755)
        return path

    def interrupt(self, number: int = 2) -> None:
        """Let a signal arrive while a program is executed: the launcher kills it."""
        assert self.interrupts is not None
        self.interrupts.received = number
        raise Interrupted(number)

    def at(self, number: int, act: Callable[[], Any]) -> Callable[[LaunchRequest], Any]:
        """Give an answer that does `act` at the execution of that number (from 0), once."""
        numbers = iter(range(10**6))
        return lambda request: act() if next(numbers) == number else None

    # --- what is executed ------------------------------------------------------------------

    def start(self, campaign, **options):
        self.watching = Watching()
        return start(campaign, Options(folder=self.runs, **options), self.watching)

    def resume(self, campaign, *, sessions=0, **options):
        self.watching = Watching()
        path, manifest = trial_to_resume(self.runs, campaign.name, None)
        sessions = max(manifest.sessions, sessions)
        begun = Begun(path=path, manifest=manifest, campaign=campaign, sessions=sessions)
        return resume(begun, Options(folder=self.runs, **options), self.watching)

    # --- what is there afterwards ----------------------------------------------------------

    @property
    def trial(self) -> Path:
        (path,) = self.runs.iterdir()
        return path

    def lines(self, name: str) -> list[dict[str, Any]]:
        text = (self.trial / name).read_text()
        return [json.loads(line) for line in text.splitlines()]

    @property
    def rows(self) -> list[dict[str, Any]]:
        return self.lines("measurements.jsonl")

    @property
    def manifest(self) -> dict[str, Any]:
        return json.loads((self.trial / "manifest.json").read_text())

    def findings(self, check: str | None = None, when: str | None = None) -> list[dict[str, Any]]:
        return [
            found
            for found in self.lines("findings.jsonl")
            if check in {None, found["check"]} and when in {None, found["when"]}
        ]

    def outputs(self) -> set[str]:
        return {path.name for path in (self.trial / "outputs").iterdir()}


@pytest.fixture(scope="session")
def hosts():
    return SimpleNamespace(**runpy.run_path(str(Path(__file__).parents[3] / "hosts" / "trees.py")))


@pytest.fixture(scope="session")
def planted_host(tmp_path_factory, hosts):
    """Plant a host with two CPUs, once: files are slow to make and to remove."""
    return hosts.plant(tmp_path_factory.mktemp("host"), hosts.base(2))


@pytest.fixture
def stage(tmp_path, monkeypatch, planted_host):
    made = Stage(tmp_path, planted_host)

    class Interruptible(Interrupts):
        def __init__(self) -> None:
            super().__init__()
            made.interrupts = self

    for name, there in made.replaced():
        monkeypatch.setattr(name, there)
    monkeypatch.setattr("harness.trial.execution.Interrupts", Interruptible)
    monkeypatch.setattr("harness.launch.commands.LauncherClient", made.launcher_for("command"))
    # its number is somebody's on this machine, whose every process would be read to find children
    monkeypatch.setattr("harness.launch.commands.descendants", lambda pid: ())
    made.affinity = []
    monkeypatch.setattr(os, "sched_setaffinity", lambda pid, cpus: made.affinity.append(cpus))
    yield made
    made.put_back()


@pytest.fixture
def isolation(stage):
    """Make an isolation in which programs are found on the stage, and nowhere else."""

    def make(**changes):
        place = {"PATH": str(stage.bin)}
        given = {"cpus": "none", "keep_environment": "none", "set_environment": place, **changes}
        return Isolation(**given)

    return make


@pytest.fixture
def campaign(make_campaign, isolation):
    """Make a campaign of the stage: two benchmarks, two variants, a warm-up and two runs each."""

    def make(benchmarks=("x", "y"), variants=("a", "b"), **given):
        fields = {
            name: given.pop(name)
            for name in ("hooks", "builds", "checks", "cells")
            if name in given
        }
        protocol = {"sessions": 1, "runs": 2, "warmup": 1, **given}
        chosen = protocol.pop("isolation", None) or isolation()
        made = make_campaign(benchmarks, variants, isolation=chosen, **protocol)
        return dataclasses.replace(made, **fields)

    return make


@pytest.fixture
def commands():
    """Make commands of hooks and builds: programs of the stage, by their names."""

    def make(*names: str) -> tuple[Command, ...]:
        return tuple(Command(argv=(name,), mark="campaign.yaml:1:1") for name in names)

    return make
