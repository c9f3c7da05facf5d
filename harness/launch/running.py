"""All services of a trial: their ports, when each is started, how it is known that it is ready, and who has died."""

from __future__ import annotations

import contextlib
import os
import random
import socket
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analysis.record.environment import BUILT, SESSION

from ..campaign.cells import SessionBuilds, has_port
from ..campaign.model import Campaign, Cell, Service, filled, port_mark, texts_of
from ..errors import LaunchError
from ..host.executables import sha256_file
from ..host.state import format_cpus
from .commands import (
    CommandFailedError,
    ServiceFailedError,
    ServiceProcess,
    SideCommands,
    resolve,
    unused_log,
)
from .matching import Interrupts, Matching, NotMatched, floods

if TYPE_CHECKING:
    from ..host.cgroups import RunGroups

# --- Who listens on a port of this host, by the kernel's tables; a port that nobody has.
#
# Sources: proc(5), ``/proc/net/tcp``: state 0A is LISTEN; ``/proc/PID/fd`` names sockets by their inodes.


_LISTEN = "0A"
_LOWEST = 15_000
_EPHEMERAL = 32_768  # where clients' own ports begin, unless the host says another number
_TRIES = 200


def listening(port: int, root: Path = Path("/")) -> frozenset[int] | None:
    """Give the inodes of the sockets that listen on a TCP port, at whatever address; None where the kernel shows no table."""
    found, shown = set(), False
    for table in ("tcp", "tcp6"):
        try:
            lines = (root / "proc/net" / table).read_text("ascii").splitlines()[1:]
        except OSError:
            continue
        shown = True
        for line in lines:
            fields = line.split()
            if fields[3] == _LISTEN and int(fields[1].rpartition(":")[2], 16) == port:
                found.add(int(fields[9]))
    return frozenset(found) if shown else None


def sockets_of(processes: Iterable[int], root: Path = Path("/")) -> frozenset[int]:
    """Give the inodes of the sockets that processes have open, as far as one may look."""
    found = set()
    for pid in processes:
        folder = root / "proc" / str(pid) / "fd"
        try:
            names = os.listdir(folder)  # noqa: PTH208 - names alone
        except OSError:
            continue
        for name in names:
            try:
                target = os.readlink(folder / name)  # noqa: PTH115 - a text, not a path
            except OSError:
                continue
            if target.startswith("socket:["):
                found.add(int(target[8:-1]))
    return frozenset(found)


def hidden_among(processes: Iterable[int], root: Path = Path("/")) -> int | None:
    """Give a process that does not let this user see what it has open, as one with capabilities of its file does."""
    for pid in processes:
        try:
            os.listdir(root / "proc" / str(pid) / "fd")  # noqa: PTH208 - names alone
        except PermissionError:
            return pid
        except OSError:
            continue  # it has just ended
    return None


def holder_of(inodes: Collection[int], root: Path = Path("/")) -> str:
    """Name a process that has one of the sockets: ``nginx (process 412)``; in general words where none can be seen."""
    for entry in (root / "proc").iterdir():
        if entry.name.isdecimal() and sockets_of([int(entry.name)], root) & set(inodes):
            try:
                name = (entry / "comm").read_text("utf-8", "replace").strip()
            except OSError:
                continue
            return f"{name} (process {entry.name})"
    return "a process that this user may not look at"


def is_free(port: int) -> bool:
    """Tell whether a server could listen on a port of 127.0.0.1 now."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as one:
        # what is still closing is no listener
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            one.bind(("127.0.0.1", port))
            one.listen(1)
        except OSError:
            return False
    return not listening(port)


def free_port(taken: Collection[int], root: Path = Path("/")) -> int:
    """Choose a port of 127.0.0.1 that nobody has, below those that clients get by themselves.

    All have five digits: so the arguments of a program have one length in every session.
    """
    try:
        text = (root / "proc/sys/net/ipv4/ip_local_port_range").read_text("ascii")
        highest = int(text.split()[0])
    except (OSError, ValueError, IndexError):
        highest = _EPHEMERAL
    ports = range(_LOWEST, highest) if highest - _LOWEST >= _TRIES else range(10_000, 65_536)
    draw = random.SystemRandom()
    for _ in range(_TRIES):
        port = draw.choice(ports)
        if port not in taken and is_free(port):
            return port
    with socket.socket() as one:  # the kernel's own choice
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


_LOOK_S = 0.01
_LONGEST_LOOK_S = 0.25
_ENDING_S = 10.0  # for a launcher to tell of a service that has ended
DEATH_S = 0.1  # from the death of a service until its launcher has reported it
_PORTS_TRIED = 5
_FOREIGN_LOOKS = 5  # a process that has just been born may not be seen at the first
_PATTERN_S = 10.0  # of CPU for a sign of readiness, as for the patterns of a run
_IN_VAIN = 3  # starts of one service in a row: then the trial ends


class RunningServices:
    """The services of a campaign, those of a session or of one run started at a time.

    `tell` hears in words what happened to one: that it has another port, was started again, had to be killed.
    A campaign without services has an object that does nothing.
    """

    def __init__(
        self,
        campaign: Campaign,
        *,
        environment: Mapping[str, str],
        cpus: Mapping[str, tuple[int, ...]],
        pinned: bool,
        commands: SideCommands,
        interrupts: Interrupts,
        groups: RunGroups | None = None,
    ) -> None:
        self.services = campaign.services
        self._isolation, self._variants = campaign.isolation, campaign.variants
        self._built = SessionBuilds.of(campaign)
        self._environment, self._commands, self._interrupts = environment, commands, interrupts
        self._cpus, self._pinned, self._groups = cpus, pinned, groups
        self._processes: dict[str, ServiceProcess] = {}
        self._ports: dict[str, int] = {}
        self._cells: dict[tuple[str, str], tuple[Cell, Cell]] = {}
        self._in_vain: dict[str, int] = {}
        self._dead: dict[str, str] = {}  # what was said of one that died, until it stands again
        self._ended_badly: set[str] = set()  # what was said of its end in this session
        self._tell: Callable[[str], None] = lambda _: None
        self._outputs, self._stem = Path(), ""

    # ---- what others ask

    @property
    def ports(self) -> Mapping[str, int]:
        """The ports of this session, by the services' labels."""
        return self._ports

    def processes(self) -> dict[str, tuple[int, ...]]:
        """List the processes of each service that stands, by label, as fairtrial's /proc numbers them."""
        return {label: one.processes() for label, one in self._processes.items() if one.stands}

    def serving(self, variant: str) -> tuple[str, ...]:
        """Give the labels of the services that runs of a variant use."""
        return tuple(one.label for one in self.services if one.serves(variant))

    @property
    def contained(self) -> bool | None:
        """Whether all of them have a namespace, so that nothing survives fairtrial; None before one was started."""
        found = [one.contained for one in self._processes.values()]
        return all(found) if found else None

    def filled(self, cell: Cell) -> Cell:
        """Give a cell with the ports that its services have now; the same object as long as these are the same."""
        if not self.services:
            return cell
        key = (cell.benchmark, cell.variant)
        known = self._cells.get(key)
        if known is None or known[0] != cell:
            named = any("\0port:" in text for text in texts_of(cell))
            now = filled(cell, self._ports_for(cell.variant)) if named else cell
            known = self._cells[key] = (cell, now)
        return known[1]

    def described(self) -> dict[str, Any]:
        """Say for the environment record what each is: port, CPUs and program, as JSON types."""
        return {one.label: self._described(one) for one in self.services}

    def _described(self, one: Service) -> dict[str, Any]:
        found: dict[str, Any] = {"port": self._ports.get(one.label), "path": None, "sha256": None}
        found["cpus"] = format_cpus(self._cpus.get(one.label, ())) if self._pinned else None
        with contextlib.suppress(LaunchError, OSError):
            path = resolve(one.command.argv[0], one.cwd, {**self._environment, **one.env})
            found |= {"path": str(path), "sha256": sha256_file(path)}
            variants = self._variants if one.variant is None else (one.variant,)
            if any(self._built.made(path, variant) for variant in variants):
                found[BUILT] = SESSION  # its hash says nothing beyond the session
        return found

    # ---- a session

    def choose_ports(self) -> None:
        """Choose ports that nobody has, for a session that begins or goes on."""
        self._ports.clear()
        self._cells.clear()
        for one in self.services:
            if has_port(one):
                self._choose(one)

    @contextlib.contextmanager
    def standing(self, session: int, outputs: Path, tell: Callable[[str], None]) -> Iterator[None]:
        """Have all services of the session stand while the block lasts; whatever ends it, none is left.

        Raises ServiceFailedError if one cannot be started or is not ready in time.
        """
        self._tell, self._outputs, self._stem = tell, outputs, f"session{session}"
        self._in_vain.clear()
        self._dead.clear()
        self._ended_badly.clear()
        try:
            for one in self.services:
                if one.each == "session":
                    self._start(one)
            yield
        finally:
            self.close()

    def before_run(self, variant: str) -> None:
        """Have the services of a variant's run stand: those of runs are started, who died is started again.

        Raises ServiceFailedError if one cannot be started, or is not ready in time: the run has
        failed; LaunchError if one could not be started three times in a row: the trial ends.
        """
        if not self.services:
            return
        self.look()
        again = False  # who was started after one that died may know its old port
        for one in self.services:
            if not one.serves(variant):
                continue
            there = self._processes.get(one.label)
            if there is not None and there.stands and not again:
                continue
            if one.each == "session":
                again = True
                if there is not None and there.stands:
                    self._end(one)
                died = self._dead.get(one.label)
                why = "" if died is None else f": {died.splitlines()[0]}"
                self._tell(f"the service '{one.label}' was started again{why}")
            self._start_counted(one)

    def after_run(self, variant: str) -> None:
        """End the services that were started for the run."""
        for one in reversed(self.services):
            if one.each == "run" and one.serves(variant):
                self._end(one)
                process = self._processes.get(one.label)
                if process is not None and process.log is not None and one.label not in self._dead:
                    process.log.unlink(missing_ok=True)

    @contextlib.contextmanager
    def around(self, variant: str) -> Iterator[None]:
        """Have the services of a variant's run stand while the block lasts, as `before_run` and `after_run`."""
        try:
            self.before_run(variant)
            yield
        finally:
            self.after_run(variant)

    def died(self, variant: str, patience_s: float = 0.0) -> str | None:
        """Say which service of a variant's runs has died, and its last lines; None where all stand.

        Whoever talks to one that dies may know it earlier than its launcher tells: of one that is seen to end, and
        after a failure, that is waited for.
        """
        serving, end = self.serving(variant), time.monotonic() + patience_s
        while serving:
            self.look()
            found = next((self._dead[one] for one in serving if one in self._dead), None)
            there = (self._processes[one] for one in serving if one in self._processes)
            until = end + _ENDING_S if any(one.is_ending for one in there) else end
            if found is not None or time.monotonic() >= until:
                return found
            time.sleep(_LOOK_S)
        return None

    def look(self) -> None:
        """Note who has died, or writes more than an output may hold."""
        for label, process in self._processes.items():
            if label in self._dead:
                continue
            how = process.how_it_ended()
            if (
                how is None
                and process.stands
                and floods(process.log, self._isolation.output_limit_bytes)
            ):
                process.end()
                how = "wrote more than isolation.output_limit and was ended"
            if how is not None:
                self._dead[label] = f"the service '{label}' {how}{process.last_lines()}"

    def close(self) -> None:
        """End all of them, the last one first; those that variants have of one at the same time."""
        with self._interrupts.set_aside():
            for number, one in reversed(tuple(enumerate(self.services))):
                for other in self.services[: number + 1]:
                    if other.name == one.name and other.label in self._processes:
                        self._processes[other.label].ask_to_end()
                self._end(one)
                process = self._processes.pop(one.label, None)
                if process is not None:
                    process.close()

    # ---- one service

    def _start_counted(self, one: Service) -> None:
        try:
            self._start(one)
        except ServiceFailedError as error:
            self._dead[one.label] = error.what  # its log, which is named, stays
            self._in_vain[one.label] = self._in_vain.get(one.label, 0) + 1
            if self._in_vain[one.label] >= _IN_VAIN:
                what = f"{error.what.splitlines()[0]}, {_IN_VAIN} times in a row"
                raise LaunchError(what, error.where, error.fix) from error
            raise
        self._in_vain.pop(one.label, None)

    def _start(self, one: Service) -> None:
        """Start one and wait until it is ready; with another port where somebody else has taken its own."""
        for left in reversed(range(_PORTS_TRIED)):
            movable = one.ready.port is None and one.label in self._ports
            if movable and not is_free(self._ports[one.label]):
                self._move(one)
            self._refuse_foreign(one)
            process = self._process(one)
            service = filled(one, self._ports_for(one.variant))
            stem = f"service-{one.label.replace('/', '-')}-{self._stem}"
            process.start(service, self._environment, unused_log(self._outputs, stem, 1))
            self._dead.pop(one.label, None)
            try:
                self._await_ready(process)
            except ServiceFailedError:
                if left and movable and process.found_its_port_taken:
                    self._move(one)
                    continue
                raise
            return

    def _process(self, one: Service) -> ServiceProcess:
        process = self._processes.get(one.label)
        if process is not None and process.lost_its_launcher:
            process.close()
            process = None
        if process is None:
            cpus = self._cpus.get(one.label) if self._pinned or one.cpus != "auto" else None
            containment = self._isolation.containment
            process = ServiceProcess(one, cpus or None, self._interrupts, containment, self._groups)
            self._processes[one.label] = process
        return process

    def _end(self, one: Service) -> None:
        process = self._processes.get(one.label)
        if process is None:
            return
        wrong = process.end()
        text = f"the service '{one.label}': {wrong}"
        if wrong is not None and text not in self._ended_badly:  # of one of runs: after each
            self._ended_badly.add(text)
            self._tell(text)

    # ---- ports

    def _ports_for(self, variant: str | None) -> dict[str, str]:
        return {
            port_mark(one.name): str(self._ports[one.label])
            for one in self.services
            if one.label in self._ports and (one.variant is None or one.variant == variant)
        }

    def _choose(self, one: Service) -> None:
        self._ports[one.label] = one.ready.port or free_port(set(self._ports.values()))

    def _move(self, one: Service) -> None:
        before = self._ports[one.label]
        self._choose(one)
        self._cells.clear()
        whose = f"port {before} of the service '{one.label}'"
        self._tell(f"{whose} was not free any more: it has {self._ports[one.label]} now")

    def _refuse_foreign(self, one: Service) -> None:
        """Refuse a port on which somebody listens already: runs would measure that."""
        port = self._ports.get(one.label)
        found = None if port is None else listening(port)
        if found:
            what = f"somebody else listens on port {port} of the service '{one.label}': {holder_of(found)}"
            fix = "end it, or leave ready.port out: then a free one is chosen"
            raise ServiceFailedError(what, one.command.mark, fix)

    # ---- is it ready?

    def _await_ready(self, process: ServiceProcess) -> None:
        service, ready = process.service, process.service.ready
        began, pause, foreign = time.monotonic(), _LOOK_S, 0
        matching = Matching(self._interrupts, min(ready.timeout_s, _PATTERN_S))
        whose = f"the service '{service.label}'"
        while True:
            how = process.how_it_ended()
            if how is not None:
                what = f"{whose} {how} before it was ready{process.last_lines()}"
                raise self._failed(process, what, f"the whole output is in {process.log}")
            if floods(process.log, self._isolation.output_limit_bytes):
                what = f"{whose} wrote more than isolation.output_limit before it was ready"
                raise self._failed(process, what, f"read {process.log}")
            left = ready.timeout_s - (time.monotonic() - began)
            if ready.output is not None:
                try:
                    is_ready = matching.any_line(ready.output, process.new_lines())
                except NotMatched as error:
                    fix = f"write services.{service.name}.ready.output so that it ends on any line"
                    raise self._failed(process, f"{whose} was not ready: {error}", fix) from None
            elif ready.command is not None:
                is_ready = self._says_yes(process, max(left, 0.1))
            else:
                # does a process of it have the listening socket, or who else has one there?
                found = listening(self._ports[service.label]) or frozenset()
                others = found - sockets_of(process.processes()) if found else found
                is_ready, foreign = bool(found) and not others, foreign + 1 if others else 0
                if foreign >= _FOREIGN_LOOKS:
                    raise self._not_its_own(process, holder_of(others))
            if is_ready:
                return
            if left <= 0:
                raise self._too_late(process)
            self._interrupts.check()
            self._interrupts.sleep(min(pause, left))
            pause = min(pause * 1.5, _LONGEST_LOOK_S)

    def _not_its_own(self, process: ServiceProcess, holder: str) -> ServiceFailedError:
        hidden = hidden_among(process.processes())
        label = process.service.label
        port = f"port {self._ports[label]} of the service '{label}'"
        what = f"somebody else listens on {port}: {holder}"
        fix = "end it, or leave ready.port out: then a free one is chosen"
        if hidden is not None:
            what = (
                f"who listens on {port} cannot be seen: its process {hidden} hides what it has open"
            )
            fix = "write ready: {output: REGEX} or {command: ...}; or measure as root, or with a program without capabilities of its own"
        return self._failed(process, what, fix)

    def _says_yes(self, process: ServiceProcess, seconds: float) -> bool:
        service, command = process.service, process.service.ready.command
        assert command is not None, "who calls has looked"
        log = self._outputs / f"service-{service.label.replace('/', '-')}-ready.log"
        try:
            self._commands.execute(
                f"'ready' of the service '{service.label}'",
                command,
                cwd=service.cwd,
                env={**self._environment, **service.env},
                log=log,
                timeout_s=seconds,
                setting=f"services.{service.name}.ready.timeout",
            )
        except CommandFailedError:
            return False
        finally:
            log.unlink(missing_ok=True)
        return True

    def _too_late(self, process: ServiceProcess) -> ServiceFailedError:
        service, ready = process.service, process.service.ready
        sign = "its 'ready' command did not end with exit code 0"
        fix = f"read {process.log}; if it needs more time, raise services.{service.name}.ready.timeout"
        if ready.output is not None:
            sign = f"no line of its output matches {ready.output}"
        elif ready.listens:
            port = self._ports[service.label]
            sign = f"no process of it listens on port {port}"
            fix += "; where it listens elsewhere, on a Unix socket say, write ready: {output: REGEX} or {command: ...}"
            if listening(port) is None:
                sign = "the kernel does not show who listens (/proc/net/tcp)"
        what = f"the service '{service.label}' was not ready after {ready.timeout_s:g} s: {sign}{process.last_lines()}"
        return self._failed(process, what, fix)

    def _failed(self, process: ServiceProcess, what: str, fix: str) -> ServiceFailedError:
        with self._interrupts.set_aside():
            process.end()
        return ServiceFailedError(what, process.service.command.mark, fix)
