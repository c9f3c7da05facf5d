"""A stage in place of the machine: launchers that only answer, a clock that passes when somebody says so, a planted host.

`Stage` is what tests in this process and commands in forks have in common. `Times` says what the runs of a
command take: `lab.run_fairtrial(..., virtual=Times(...))` has the fork stand on a stage before `main`. Streams,
files, exit codes, signals, hooks, builds and the locks of trials stay real; CPUs are nobody else's.
"""

from __future__ import annotations

import atexit
import contextlib
import dataclasses
import datetime
import fcntl
import itertools
import json
import os
import pkgutil
import random
import re
import select
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from analysis.record.run_numbers import LAUNCHER_NUMBERS
from harness.host.activity import Host
from harness.host.state import HostCounters, HostState
from harness.launch.client import LauncherClient
from harness.launch.exchange import Execution, LaunchRequest, not_started
from harness.launch.matching import Interrupted, Interrupts
from harness.trial.folder import mode_of_files
from tests.hosts import trees

TARGET = 4242  # the process that a launcher says it executes
BEGIN = 1_772_442_000  # 2026-03-02T09:00:00Z: the first command on virtual times; the next is a day later
_DAY_S = 86_400
_HIGH = 220  # descriptors from here on, also of 256, are closed by no command that begins
# what asks for the time while nothing but runs takes any; who waits for real processes has the machine's
_TIMED = (
    *("harness.trial.session", "harness.trial.measure", "harness.trial.plan"),
    "harness.host.activity",
)
_TIMED_BY_COMMANDS = (
    *("harness.trial.sitting", "harness.trial.writer", "harness.trial.metering"),
    "harness.commands.live_view",
    *("harness.commands.bisect_view", "harness.bisect.bisecting", "harness.bisect.workshop"),
)
_DATED = ("harness.trial.writer", "analysis.record.manifest")
_DATED_BY_CLASS = ("harness.trial.progress", "analysis.history.judging")


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

    def __init__(self, now: float = 1000.0, epoch: int = 1_700_000_000) -> None:
        self.now, self._epoch_ns = now, epoch * 1_000_000_000

    def monotonic(self) -> float:
        return self.now

    def monotonic_ns(self) -> int:
        return round(self.now * 1e9)

    def time_ns(self) -> int:
        return self._epoch_ns + self.monotonic_ns()

    def time(self) -> float:
        return self.time_ns() / 1e9

    def __getattr__(self, name: str) -> Any:
        return getattr(time, name)  # other clocks are those of the machine


class Launcher:
    """Answers requests; `answer` names who gives what differs from a good run, or raises."""

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
        self.counted: list[bool] = stage.counted if answer == "target" else []

    def execute(
        self,
        request: LaunchRequest,
        watch: Callable[[], str | None] | None = None,
        every_s: float = 0.25,
        *,
        padding: int = 0,
        count: bool = False,
    ) -> Execution:
        assert not self.closed
        self.counted.append(count)
        padded = {request.padded: b"x" * padding} if request.padded and padding else {}
        copy = dataclasses.replace(request, env=request.env | padded)  # what the program sees
        self.requests.append(copy)
        self._stage.executed.append((self._answer, copy))
        for path in (request.stdout, request.stderr):
            if isinstance(path, Path):
                path.touch(mode_of_files(path.parent))
        changes = getattr(self._stage, self._answer)(copy) or {}
        killed = watch() if watch is not None else None
        told = executed(**{"killed": killed, **changes})
        self.told.append(told)
        self._stage.passes(told)
        return told

    def targets(self) -> tuple[int, ...]:
        return (TARGET,)

    def sweep(self) -> int:
        self.swept += 1
        return 0

    def close(self) -> None:
        self.closed = True


class StageHost(Host):
    """Reads what stands still once between two changes of the stage's host."""

    def __init__(self, stage: Stage) -> None:
        super().__init__(stage.host)
        self._known = stage.known

    def read(self, cpus: tuple[int, ...] = ()) -> HostState:
        if cpus not in self._known:
            self._known[cpus] = super().read(cpus)
        return self._known[cpus]

    def counters(self, cpus: tuple[int, ...] = ()) -> HostCounters:
        if ("counters", cpus) not in self._known:
            self._known["counters", cpus] = super().counters(cpus)
        return self._known["counters", cpus]


class _Suffixes:
    """The module `secrets`, which draws one number after the other: names of trials differ."""

    def __init__(self, first: int) -> None:
        self._numbers = itertools.count(first)

    def token_hex(self, count: int) -> str:
        return f"{next(self._numbers):0{2 * count}x}"


class Stage:
    """The machine of one trial: its host, its clock and its launchers.

    Whoever derives from it has a `target` that answers for the launchers of runs; `host` is a tree.
    """

    def __init__(self, host: Path, clock: Clock | None = None) -> None:
        self.host = host
        self.known: dict[Any, Any] = {}  # what was read of it, until it changes
        self.clock = clock or Clock()
        self.containment = "pid"
        self.launchers: list[Launcher] = []
        self.executed: list[tuple[str, LaunchRequest]] = []
        self.slept: list[float] = []
        self.locked: tuple[int, ...] = ()
        self.first = 0  # suffix of a trial's name
        self.answers: list[Any] = []  # of launchers, about the events that they are asked for
        self.counted: list[bool] = []  # of each run, whether its counters were to be read

    def launcher(self, answer: str, cpus: tuple[int, ...] | None = None) -> Launcher:
        made = Launcher(self, cpus, answer)
        self.launchers.append(made)
        return made

    def passes(self, told: Execution) -> None:
        """Let the time of a run pass, once somebody has looked at it."""
        self.clock.now += told.wall_ns / 1e9

    def launcher_for(self, answer: str) -> Callable[..., Launcher]:
        """Give what stands in place of the class of launchers."""

        def make(
            isolation: object,
            cpus: tuple[int, ...] | None,
            interrupts: Interrupts,
            *,
            stays: bool = False,
            **others: object,
        ) -> Launcher:
            launcher = self.launcher(answer, cpus)
            launcher.stays, launcher.interrupts = stays, interrupts
            return launcher

        return make

    def replaced(self) -> Iterator[tuple[str, object]]:
        """Give what stands in place of what, by its name."""
        stage = self

        class Free:
            """The lock of CPUs, which nobody else holds: on a stage no CPU is used."""

            def __init__(self, cpus: tuple[int, ...]) -> None:
                stage.locked = cpus

            def __enter__(self) -> None: ...
            def __exit__(self, *error: object) -> None:
                stage.locked = ()

        def sleep(interrupts: Interrupts, seconds: float) -> None:
            stage.slept.append(seconds)
            stage.clock.now += max(0.0, seconds)
            interrupts.check()

        yield "harness.trial.measure.LauncherClient", self.launcher_for("target")
        yield "harness.trial.preparation.LauncherClient", self.launcher_for("trying")
        for name in ("harness.trial.preparation", "harness.trial.plan"):
            yield f"{name}.Host", lambda: StageHost(stage)
            yield f"{name}.cpus_in_use", lambda: ()
        yield "harness.launch.matching.Interrupts.sleep", sleep
        yield "harness.trial.plan.CpuLock", Free
        yield "harness.trial.writer.secrets", _Suffixes(self.first)
        for name in _TIMED:
            yield f"{name}.time", self.clock
        # they take longer than all the rest
        yield "os.fsync", lambda fd: None
        yield "os.fdatasync", lambda fd: None


# --- in forks -----------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Times:
    """What the runs of a command take, and what else they show: the same numbers each time, on every machine.

    A run takes `seconds`, or what its words say ("sleep 0.06"), times the `effects` that fit it, times what
    differs from session to session and from run to run: `spread` and `sessions` are standard deviations, as
    parts of the time, drawn from a stream of `seed`, session, benchmark, variant and position.

    `effects` and `runs` are by a benchmark, a variant, "BENCHMARK/VARIANT", the words of a command with blanks
    between them, or "#POSITION". `runs` hold what differs from a good run: an exit_code, a signal, stdout (with
    {seconds} in it), a factor, or any number of the launcher. With `performs` the programs are executed, and only
    their times are virtual; where their output fits `says`, its group is the seconds. `host` are files of the host
    that differ.
    """

    seed: int = 1
    effects: Mapping[str, float] = field(default_factory=dict)
    seconds: float = 0.1
    spread: float = 0.01
    sessions: float = 0.002
    runs: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    performs: bool = False
    says: str | None = None
    host: Mapping[str, str] = field(default_factory=dict)

    def of(self, position: int, session: int, benchmark: str, variant: str) -> float:
        """Give by how much a run of no effect is longer or shorter than another."""
        cell = f"{self.seed}/{session}/{benchmark}/{variant}"
        return (1 + self.sessions * _normal(cell)) * (
            1 + self.spread * _normal(f"{cell}/{position}")
        )


def _normal(key: str) -> float:
    """Draw from about a normal law, by additions alone: the same bits on every machine."""
    draw = random.Random(key)
    return sum(draw.random() for _ in range(12)) - 6


_SLEEPS = re.compile(r"\bsleep ([0-9.]+)")


class VirtualStage(Stage):
    """The machine of one command."""

    def __init__(self, times: Times, host: Path, day: int) -> None:
        since = float(1000 + day * _DAY_S)
        super().__init__(host, Clock(since, BEGIN - 1000))
        self._times, self.first = times, day
        self._run: Any = None  # the run under way, as planned
        self._guardian = -1

    def target(self, request: LaunchRequest) -> dict[str, Any]:
        """Say what a run shows."""
        words = " ".join(request.argv)
        run, times = self._run, self._times
        place = (
            (run.position, run.session, run.benchmark, run.variant) if run else (0, 0, words, "")
        )
        position, _, benchmark, variant = place
        keys = (benchmark, variant, f"{benchmark}/{variant}", words, f"#{position}")
        changes: dict[str, Any] = {}
        for key in dict.fromkeys(keys):
            changes |= times.runs.get(key, {})
        said, performed = "", {}
        if times.performs:
            said, performed = _perform(request, self.launchers[-1].interrupts, self._guardian)
        typical = (times.says and re.search(times.says, said)) or _SLEEPS.search(words)
        seconds = float(typical[1]) if typical else times.seconds
        for key in dict.fromkeys(keys):
            seconds *= times.effects.get(key, 1.0)
        seconds *= times.of(*place) * changes.pop("factor", 1.0)
        wall_ns = changes.setdefault("wall_ns", max(1, round(seconds * 1e9)))
        limit_ns = None if request.timeout_s is None else round(request.timeout_s * 1e9)
        if limit_ns is not None and wall_ns > limit_ns:
            performed |= {"killed": "timeout", "exit_code": None, "signal": int(signal.SIGKILL)}
            wall_ns = changes["wall_ns"] = limit_ns
        if changes.get("signal") is not None:
            changes["exit_code"] = None
        for name in ("stdout", "stderr"):
            text, path = changes.pop(name, None), getattr(request, name)
            if text is not None and path is not None:
                path.write_text(text.format(seconds=f"{wall_ns / 1e9:.9f}"))
        user_ns, system_ns = wall_ns * 8 // 10, wall_ns // 10
        began = {"started_ns": self.clock.time_ns(), "start_ns": self.clock.monotonic_ns()}
        self.clock.now += wall_ns / 1e9  # who looks sees that time has passed
        return {
            **began,
            "spawn_ns": 500_000,
            "user_s": user_ns / 1e9,
            "system_s": system_ns / 1e9,
            "on_cpu_ns": user_ns + system_ns,
            "tree_cpu_s": (user_ns + system_ns) / 1e9,
            "max_rss_bytes": 8_000_000 + 4096 * (position % 7),
            "max_rss_floor_bytes": 4_000_000,
            **performed,
            **changes,
        }

    def passes(self, told: Execution) -> None: ...

    def replaced(self) -> Iterator[tuple[str, object]]:
        from harness.trial.measure import Measurer

        yield from super().replaced()
        stage, clock, measure = self, self.clock, Measurer.measure

        def measured(measurer: Measurer, run: Any) -> Any:
            stage._run = run
            try:
                return measure(measurer, run)
            finally:
                stage._run = None

        class Date(datetime.datetime):
            """A date whose now is the stage's."""

            @classmethod
            def now(cls, tz: datetime.tzinfo | None = None) -> Date:
                return cls.fromtimestamp(clock.time_ns() // 1000 / 1e6, tz)

        class Dates:
            """The module `datetime` with that date."""

            datetime = Date

            def __getattr__(self, name: str) -> Any:
                return getattr(datetime, name)

        yield "harness.trial.measure.Measurer.measure", measured
        yield "harness.commands.comparing.LauncherClient", self.launcher_for("target")
        for name in ("comparing", "dry_run", "doctor_page"):
            yield f"harness.commands.{name}.Host", lambda: StageHost(stage)
        yield "harness.trial.profiles.Host", lambda: StageHost(stage)
        yield "harness.commands.dry_run.cpus_in_use", lambda: ()
        # hooks and builds are executed where this process may be
        yield "harness.launch.commands.LauncherClient", _anywhere
        yield "os.sched_setaffinity", lambda pid, cpus: None
        disk = shutil.disk_usage("/")._replace(free=80_000_000_000)
        yield "shutil.disk_usage", lambda place: disk
        for name in _TIMED_BY_COMMANDS:
            yield f"{name}.time", clock
        for name in _DATED:
            yield f"{name}.datetime", Dates()
        for name in _DATED_BY_CLASS:
            yield f"{name}.datetime", Date

    def stand_in(self) -> None:
        """Let this process, which is one command's, stand on the stage."""
        if self._times.performs:
            self._guardian = _guardian()
        for name, there in self.replaced():
            place, _, last = name.rpartition(".")
            setattr(pkgutil.resolve_name(place), last, there)


def _anywhere(
    isolation: Any, cpus: object, interrupts: Interrupts, **others: Any
) -> LauncherClient:
    return LauncherClient(isolation, None, interrupts, **others)


def _guardian() -> int:
    """Start who kills the program under way when this process dies, as a launcher does; it hears its number here."""
    source, sink = os.pipe()
    if os.fork() == 0:
        os.setsid()
        os.dup2(source, 0)
        os.closerange(3, 2 * _HIGH)
        told = b""
        while part := os.read(0, 4096):
            told = (told + part)[-100:]
        number = int(told.split()[-1]) if told else 0
        with contextlib.suppress(ProcessLookupError):
            os.killpg(number, signal.SIGKILL) if number else None
        os._exit(0)
    os.close(source)
    kept = fcntl.fcntl(sink, fcntl.F_DUPFD_CLOEXEC, _HIGH)
    os.close(sink)
    return kept


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _perform(
    request: LaunchRequest, interrupts: Interrupts, guardian: int
) -> tuple[str, dict[str, Any]]:
    """Execute a program: what it wrote to standard output, and how it ended. A signal to fairtrial kills it."""
    with contextlib.ExitStack() as opened:

        def file(path: Path | None, mode: str) -> Any:
            return opened.enter_context(open(path or os.devnull, mode, opener=_private))

        if not isinstance(request.stdout, Path):
            out = opened.enter_context(tempfile.TemporaryFile("w+b"))
        else:
            out = file(request.stdout, "w+b")
        try:
            process = subprocess.Popen(
                request.argv,
                executable=request.path,
                env=request.env,
                cwd=request.cwd,
                stdin=file(request.stdin, "rb"),
                stdout=out,
                stderr=out if request.stderr == request.stdout else file(request.stderr, "wb"),
                start_new_session=True,
                # before it can do anything: who kills fairtrial by what it does must not come first
                preexec_fn=lambda: os.write(guardian, b"%d\n" % os.getpid()),  # noqa: PLW1509 - no threads here
            )
        except OSError as error:
            os.write(guardian, b"0\n")
            raise not_started(request, "spawn", error.errno or 0) from error
        ended = os.pidfd_open(process.pid)
        opened.callback(os.close, ended)
        waits = select.poll()
        waits.register(ended, select.POLLIN)
        waits.register(interrupts.fd, select.POLLIN)
        waits.poll()
        if interrupts.received:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            raise Interrupted(interrupts.received)
        code = process.wait()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        os.write(guardian, b"0\n")
        out.seek(0)
        how = {"exit_code": code} if code >= 0 else {"exit_code": None, "signal": -code}
        said = out.read()
        if isinstance(request.stdout, int):
            os.write(request.stdout, said)
        return said.decode(errors="replace"), how


def asked(times: Times, day: int) -> dict[str, Any]:
    """Say it so that another process understands it."""
    return {"times": dataclasses.asdict(times), "day": day}


_planted: dict[str, Path] = {}


def stage_of(virtual: Mapping[str, Any]) -> VirtualStage:
    """Give the stage of a command; hosts are planted once by this process."""
    times = Times(**virtual["times"])
    key = json.dumps(times.host, sort_keys=True)
    if key not in _planted:
        _planted[key] = place = Path(tempfile.mkdtemp(prefix="host-"))
        atexit.register(_remove, place, os.getpid())
        model = {"proc/cpuinfo": trees.cpuinfo("Model CPU 1", "fpu sse2")}
        trees.plant(place, trees.base(2) | model | times.host)
    return VirtualStage(times, _planted[key], virtual["day"])


def _remove(place: Path, owner: int) -> None:
    if os.getpid() == owner:  # and no fork of it
        shutil.rmtree(place)
