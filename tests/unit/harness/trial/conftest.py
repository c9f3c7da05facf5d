"""A stage for trials: real plans, sessions and stores around launchers that only answer."""

from __future__ import annotations

import dataclasses
import json
import os
import runpy
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from analysis.record.run_numbers import LAUNCHER_NUMBERS
from harness.campaign.model import Command, Isolation
from harness.host.reader import Host
from harness.host.state import HostState
from harness.launch.exchange import Execution, LaunchRequest
from harness.launch.interrupts import Interrupted, Interrupts
from harness.trial.execution import Options, start
from harness.trial.resume import Begun, resume, trial_to_resume

TARGET = 4242  # the process that a launcher says it executes


def executed(**changes: Any) -> Execution:
    """Give what a launcher tells of a program that did well."""
    numbers = {
        **dict.fromkeys(LAUNCHER_NUMBERS, 0),  # all that there are, whatever a later version adds
        "wall_ns": 1_000_000,
        "max_rss_bytes": 4096,
        "max_rss_floor_bytes": 1024,
    }
    told = {
        "started_ns": 1_700_000_000_000_000_000,
        "exit_code": 0,
        "signal": None,
        "killed": None,
        "survivors": 0,
    }
    numbers |= {name: value for name, value in changes.items() if name in numbers}
    told |= {name: value for name, value in changes.items() if name not in numbers}
    return Execution(**told, numbers=numbers)


class Clock:
    """The time of sessions: it passes when somebody says so."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now

    def time_ns(self) -> int:
        return 1_700_000_000_000_000_000 + round(self.now * 1e9)

    def __getattr__(self, name: str) -> Any:
        return getattr(time, name)  # other clocks are those of the machine


class Launcher:
    """Answers requests; `answer` gives what differs from a good run, or raises."""

    def __init__(self, stage: Stage, cpus: tuple[int, ...] | None, answer: str) -> None:
        self.cpus, self._stage, self._answer = cpus, stage, answer
        self.pid, self.containment, self.dead = 4000, stage.containment, False
        self.spawns_into_groups = False
        self.placement = None
        self.requests: list[LaunchRequest] = []
        self.told: list[Execution] = []
        self.swept = 0
        self.closed = False
        self.counters = tuple(stage.answers)
        self.counted = stage.counted if answer == "target" else []

    def execute(
        self,
        request: LaunchRequest,
        watch=None,
        every_s: float = 0.25,
        *,
        padding: int = 0,
        count: bool = False,
    ) -> Execution:
        assert not self.closed
        self.counted.append(count)
        padded = {request.padded: b"x" * padding} if padding else {}
        copy = dataclasses.replace(request, env=request.env | padded)  # what the program sees
        self.requests.append(copy)
        self._stage.executed.append((self._answer, copy))
        for path in (request.stdout, request.stderr):
            if path is not None:
                path.touch()
        changes = getattr(self._stage, self._answer)(copy) or {}
        killed = watch() if watch is not None else None
        told = executed(**{"killed": killed, **changes})
        self.told.append(told)
        self._stage.clock.now += told.wall_ns / 1e9
        return told

    def targets(self) -> tuple[int, ...]:
        return (TARGET,)

    def sweep(self) -> int:
        self.swept += 1
        return 0

    def close(self) -> None:
        self.closed = True


class Watching:
    """Keeps what it is told."""

    def __init__(self) -> None:
        self.heard: list[tuple[Any, ...]] = []

    def __getattr__(self, name: str) -> Callable[..., None]:
        return lambda *words: self.heard.append((name, *words))

    def of(self, name: str) -> list[tuple[Any, ...]]:
        return [words for said, *words in self.heard if said == name]


class StageHost(Host):
    """Reads what stands still once between two changes of the stage's host."""

    def __init__(self, stage: Stage) -> None:
        super().__init__(stage.host)
        self._known = stage.known

    def read(self, cpus: tuple[int, ...] = ()) -> HostState:
        if cpus not in self._known:
            self._known[cpus] = super().read(cpus)
        return self._known[cpus]


class Stage:
    """What a test of a trial has in hand.

    `target` and `command` answer for the launchers of targets and of hooks and builds; `tree` is
    the host, which a test may change at any time.
    """

    def __init__(self, folder: Path, host: Path) -> None:
        self.folder = folder
        self.runs = folder / "runs"
        self.host = host
        self._before: dict[Path, str | None] = {}
        self.known: dict[tuple[int, ...], HostState] = {}
        self.bin = folder / "bin"
        self.clock = Clock()
        self.containment = "pid"
        self.target: Callable[[LaunchRequest], dict[str, Any] | None] = lambda request: None
        self.command: Callable[[LaunchRequest], dict[str, Any] | None] = lambda request: None
        self.launchers: list[Launcher] = []
        self.executed: list[tuple[str, LaunchRequest]] = []
        self.interrupts: Interrupts | None = None
        self.slept: list[float] = []
        self.watching = Watching()
        self.answers: list[Any] = []  # of launchers, about the events that they are asked for
        self.counted: list[bool] = []  # of each run, whether its counters were to be read
        self.bin.mkdir()
        self.program("true")

    def launcher(self, answer: str, cpus: tuple[int, ...] | None = None) -> Launcher:
        made = Launcher(self, cpus, answer)
        self.launchers.append(made)
        return made

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

        def sleep(self, seconds: float) -> None:
            made.slept.append(seconds)
            made.clock.now += seconds
            self.check()

    class Free:
        """The lock of CPUs, which nobody else holds: on a stage no CPU is used."""

        def __init__(self, cpus: tuple[int, ...]) -> None:
            made.locked = cpus

        def __enter__(self) -> None: ...
        def __exit__(self, *error: object) -> None:
            made.locked = ()

    def launcher_for(answer: str):
        def make(
            isolation, cpus, interrupts, *, contained=True, stays=False, counters=None, groups=None
        ):
            launcher = made.launcher(answer, cpus)
            launcher.stays = stays
            return launcher

        return make

    monkeypatch.setattr("harness.trial.session.LauncherClient", launcher_for("target"))
    monkeypatch.setattr("harness.trial.preparation.LauncherClient", launcher_for("trying"))
    monkeypatch.setattr("harness.launch.commands.LauncherClient", launcher_for("command"))
    for name in ("harness.trial.preparation.Host", "harness.trial.plan.Host"):
        monkeypatch.setattr(name, lambda: StageHost(made))
    monkeypatch.setattr("harness.trial.execution.Interrupts", Interruptible)
    monkeypatch.setattr("harness.trial.plan.CpuLock", Free)
    for name in (
        "harness.trial.session.time",
        "harness.trial.measure.time",
        "harness.host.surroundings.time",
        "harness.trial.plan.time",
    ):
        monkeypatch.setattr(name, made.clock)
    for name in ("harness.trial.preparation.cpus_in_use", "harness.trial.plan.cpus_in_use"):
        monkeypatch.setattr(name, lambda: ())
    monkeypatch.setattr(os, "fsync", lambda fd: None)  # it takes longer than all the rest
    monkeypatch.setattr(os, "fdatasync", lambda fd: None)
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
