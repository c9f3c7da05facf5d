"""Commands: which file each really executes, and those around the measured runs, which are logged.

Hooks and builds have a launcher of their own on fairtrial's CPUs, without a namespace: what a hook mounts is
seen by the targets, and a server that ``setup`` starts stays until the session's end.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from analysis.words import quoted

from ..campaign.model import Build, Campaign, Cell, Command, Isolation, Service
from ..errors import LauncherDiedError, LaunchError
from ..host.executables import sha256_file
from .client import LauncherClient
from .exchange import Execution, LaunchRequest, children, descendants, stat_of
from .matching import Interrupted, Interrupts, floods, last_output, opened_output

if TYPE_CHECKING:
    from ..host.cgroups import RunGroups


def base_environment(isolation: Isolation, inherited: Mapping[str, str]) -> dict[str, str]:
    """Give the variables that every command starts from: those kept, then those set."""
    keep = isolation.keep_environment
    if keep == "all":
        kept = dict(inherited)
    elif keep == "none":
        kept = {}
    else:
        kept = {name: text for name, text in inherited.items() if _kept(name, keep)}
    kept.update(isolation.set_environment)
    return kept


def _kept(name: str, patterns: Iterable[str]) -> bool:
    return any(
        name.startswith(pattern[:-1]) if pattern.endswith("*") else name == pattern
        for pattern in patterns
    )


def resolve(argv0: str, cwd: Path, environment: Mapping[str, str]) -> Path:
    """Find the file that `argv0` names, as a shell in `cwd` would."""
    if "/" in argv0:
        path = cwd / argv0
        if not path.exists():
            tilde = "only a shell makes a home of ~: write the path, or {shell: ...}"
            fix = tilde if argv0.startswith("~") else "check the path"
            raise LaunchError(f"command '{argv0}' not found", str(path), fix)
        if path.is_dir():
            raise LaunchError(f"'{argv0}' is a folder", str(path), "name the program in it")
        if not path.is_file():
            raise LaunchError(f"'{argv0}' is no program", str(path), "name one")
        if not os.access(path, os.X_OK):
            what = f"'{argv0}' is not executable"
            raise LaunchError(what, str(path), f"chmod +x {quoted(str(path))}")
        return path
    search = environment.get("PATH", os.defpath)
    # A relative entry, and an empty one, mean the command's folder and not fairtrial's.
    entries = search.split(os.pathsep) if search else []
    places = (cwd.absolute() / entry / argv0 for entry in entries)
    found = next((place for place in places if shutil.which(place)), None)
    if found is None:
        fix = "install it, correct its name, or write a path such as './NAME'"
        raise LaunchError(f"command '{argv0}' not found", f"PATH={search}", fix)
    return found


def check_stdin(path: Path) -> None:
    """Refuse an input that cannot be opened again for every run."""
    if not os.access(path, os.R_OK):
        fix = "give yourself the right to read it" if os.path.lexists(path) else "create it"
        raise LaunchError("the stdin file cannot be read", str(path), fix)
    if not (path.is_file() or path.is_char_device()):
        what = "stdin is neither a regular file nor a character device"
        raise LaunchError(what, str(path), "write what it gives to a file and name that one")


def resolve_all(
    campaign: Campaign, environment: Mapping[str, str], unbuilt: Collection[str] = ()
) -> dict[tuple[str, str], Path]:
    """Find the executable of every cell, and see that those of services are there.

    Those of the variants in `unbuilt` may be missing yet, and so may a service's that is named by its place.
    """
    found: dict[tuple[str, str], Path] = {}
    problems: list[LaunchError] = []
    for cell in campaign.cells:
        try:
            found[cell.benchmark, cell.variant] = _resolve_cell(cell, environment)
        except LaunchError as error:
            if cell.variant not in unbuilt:
                problems.append(error)
    for service in campaign.services:
        name = service.command.argv[0]
        if "/" in name or service.variant in unbuilt:  # a hook 'setup' may make what lies there
            continue
        try:
            resolve(name, service.cwd, {**environment, **service.env})
        except LaunchError as error:
            what = f"the service '{service.label}' cannot be started: {error.what}"
            problems.append(LaunchError(what, service.command.mark, error.fix))
    if not problems:
        return found
    unique = {str(problem): problem for problem in problems}
    if len(unique) == 1:
        raise problems[0]
    text = "\n".join(unique)
    raise LaunchError(f"{len(unique)} commands cannot be executed:\n{text}", str(campaign.source))


def _resolve_cell(cell: Cell, environment: Mapping[str, str]) -> Path:
    """Find the executable of one cell; the error names its place in the campaign file."""
    try:
        if not cell.cwd.is_dir():
            there = cell.cwd.exists()
            what, fix = ("is no folder", "name one") if there else ("does not exist", "create it")
            raise LaunchError(f"the working folder {what}", str(cell.cwd), fix)
        if cell.stdin is not None:
            check_stdin(cell.stdin)
        for path in cell.inputs:
            if path.is_dir():
                raise LaunchError("an input is a folder", str(path), "name the files in it")
            if not path.is_file() or not os.access(path, os.R_OK):
                raise LaunchError("an input is no file that can be read", str(path), "create it")
        return resolve(cell.command.argv[0], cell.cwd, {**environment, **cell.env})
    except LaunchError as error:
        raise LaunchError(error.what, f"{cell.command.mark} ({error.where})", error.fix) from None


def hashes(paths: Iterable[Path]) -> dict[str, str]:
    """Give the SHA-256 of each executable."""
    result: dict[str, str] = {}
    for path in sorted(set(paths)):
        try:
            result[str(path)] = sha256_file(path)
        except OSError as error:
            # Executable but not readable (mode 0111): this is recorded too.
            result[str(path)] = f"unreadable: {error.strerror}"
    return result


class CommandFailedError(LaunchError):
    """A hook or build step did not end with exit code 0."""


HOOKS_LAUNCHER_DIED = "the launcher of hooks died"
SERVICES_LAUNCHER_DIED = "was killed together with its launcher"  # behind the service's name


class HooksLauncherDiedError(CommandFailedError):
    """The launcher of hooks died, which tells nothing of the command that it executed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildCost:
    """What the steps of a build took: seconds in all, and the largest memory of any one of their processes.

    `max_rss_bytes` says "at most the floor" where it is not above the launcher's own. `logs` are the steps' outputs.
    """

    seconds: float
    max_rss_bytes: int | None
    max_rss_floor_bytes: int | None
    logs: tuple[Path, ...]


class SideCommands:
    """Executes builds and hooks, whose logs hold `limit_bytes` at most; starts its launcher when the first one comes."""

    def __init__(
        self,
        cpus: tuple[int, ...] | None,
        interrupts: Interrupts,
        limit_bytes: int = Isolation().output_limit_bytes,
    ) -> None:
        self._cpus = cpus
        self._interrupts = interrupts
        self._limit = limit_bytes
        self._launcher: LauncherClient | None = None

    def close(self) -> None:
        """Kill what is left of the hooks and end the launcher."""
        if self._launcher is not None:
            self._launcher.close()
            self._launcher = None

    def sweep(self) -> int:
        """Kill what the hooks of a session left behind; give the number of processes."""
        if self._launcher is None or self._launcher.dead:
            return 0
        return self._launcher.sweep()

    def left(self) -> tuple[int, ...]:
        """List the processes that hooks have left running, as fairtrial's /proc numbers them."""
        if self._launcher is None or self._launcher.dead:
            return ()
        return descendants(self._launcher.pid)

    def execute(
        self,
        name: str,
        command: Command,
        *,
        cwd: Path,
        env: Mapping[str, str],
        log: Path,
        timeout_s: float | None,
        setting: str = "hooks.timeout",
    ) -> Execution:
        """Execute one command with its output in `log`."""
        try:
            request = LaunchRequest(
                path=str(resolve(command.argv[0], cwd, env)),
                argv=command.argv,
                env={os.fsencode(key): os.fsencode(value) for key, value in env.items()},
                cwd=cwd,
                stdout=log,
                stderr=log,
                timeout_s=timeout_s,
                sweep=False,  # a server that setup starts must live on
            )
            if self._launcher is None:
                plain, cpus = Isolation(), self._cpus
                self._launcher = LauncherClient(plain, cpus, self._interrupts, contained=False)
            execution = self._launcher.execute(
                request, lambda: "output-limit" if floods(log, self._limit) else None
            )
        except LaunchError as error:
            if self._launcher is not None and self._launcher.dead:
                self._launcher = None  # the clean-up gets a new one
            died = isinstance(error, LauncherDiedError)
            failure = HooksLauncherDiedError if died else CommandFailedError
            what = f"{name} cannot be executed: {error.what}"
            raise failure(what, command.mark, error.fix) from error
        if execution.killed == "output-limit" or floods(log, self._limit):
            self.sweep()  # whoever it started may still write
            with contextlib.suppress(OSError):
                os.truncate(log, self._limit)
            what = f"{name} wrote more than {self._limit} bytes and was ended"
            fix = f"read {log}; if it needs to write so much, raise isolation.output_limit"
            raise CommandFailedError(what, command.mark, fix)
        if execution.killed == "timeout":
            fix = f"read {log}; if it needs more time, raise {setting}"
            raise CommandFailedError(f"{name} was ended after {timeout_s:g} s", command.mark, fix)
        if execution.signal is not None or execution.exit_code != 0:
            self._interrupts.settle_after(execution.signal, execution.exit_code)
            number, code = execution.signal, execution.exit_code
            ending = f"exit code {code}" if number is None else f"signal {number}"
            typed = re.sub(r"^/bin/sh -c cd .* \|\| exit\n", "", " ".join(command.argv))
            what = f"{name} failed with {ending}: {typed}"
            for line in last_output(log).rstrip().splitlines()[-6:]:
                what += f"\n    {line}"
            raise CommandFailedError(what, command.mark, f"the whole output is in {log}")
        return execution

    def build(
        self,
        build: Build,
        environment: Mapping[str, str],
        outputs: Path,
        *,
        timeout_s: float,
        stem: str | None = None,
    ) -> BuildCost:
        """Execute the build steps of one variant, each with a log in `outputs`: STEM-1.log, ..."""
        stem = stem or f"build-{build.variant}"
        logs = tuple(unused_log(outputs, stem, k) for k in range(1, len(build.steps) + 1))
        steps = []
        for number, (step, log) in enumerate(zip(build.steps, logs, strict=True), 1):
            try:
                execution = self.execute(
                    f"build step {number} of '{build.variant}'",
                    step,
                    cwd=build.cwd,
                    env={**environment, **build.env},
                    log=log,
                    timeout_s=timeout_s,
                    setting="protocol.build_timeout",
                )
            except (CommandFailedError, Interrupted):
                self.sweep()  # compilers that it started, in whatever process group
                raise
            steps.append(execution)
        return BuildCost(
            seconds=sum(step.wall_ns for step in steps) / 1e9,
            max_rss_bytes=_largest(steps, "max_rss_bytes"),
            max_rss_floor_bytes=_largest(steps, "max_rss_floor_bytes"),
            logs=logs,
        )


def unused_log(folder: Path, stem: str, number: int) -> Path:
    """Name a log in `folder` that is not there yet: STEM-1.log, or STEM-again1-1.log of a repetition."""
    repeats = chain([""], (f"-again{n}" for n in count(1)))
    paths = (folder / f"{stem}{again}-{number}.log" for again in repeats)
    return next(path for path in paths if not path.exists())


def _largest(steps: Iterable[Execution], number: str) -> int | None:
    known = [step.numbers[number] for step in steps if step.numbers[number] is not None]
    return max(known, default=None)


# --- One service under a launcher of its own: in a namespace and a cgroup where these can be had, on
# its CPUs, its output in a log.
#
# The launcher is the one that runs have: it dies with fairtrial, and takes all processes of the
# service with it.


_LAST_LINES = 6
_LEAVES = "; a service stays in the foreground (redis: --daemonize no; nginx: daemon off;)"
_AT_ONCE = 1 << 22  # bytes; of a line without an end as many are one
_IN_USE = re.compile(r"address (?:is )?(?:already )?in use|EADDRINUSE", re.IGNORECASE)
_SIGNALS = {"TERM": signal.SIGTERM, "INT": signal.SIGINT, "QUIT": signal.SIGQUIT}


class ServiceFailedError(LaunchError):
    """A service was not started, was never ready, or died."""


class ServiceProcess:
    """A service that can be started, looked at and ended, again and again, with one launcher.

    `service` has its ports filled in. `log` is written anew at each start.
    """

    def __init__(
        self,
        service: Service,
        cpus: tuple[int, ...] | None,
        interrupts: Interrupts,
        containment: Literal["auto", "none"],
        groups: RunGroups | None = None,
    ) -> None:
        self.service = service
        isolation = Isolation(containment=containment)
        self._launcher = LauncherClient(isolation, cpus, interrupts, groups=groups)
        self.contained = self._launcher.containment != "none"
        self.log: Path | None = None
        self._stands = self._asked = False
        self._ended: str | None = None
        self._searched = 0  # bytes of its output

    def start(self, service: Service, environment: Mapping[str, str], log: Path) -> None:
        """Start it, or what it has become with other ports.

        Raises ServiceFailedError if its program cannot be found.
        """
        self.service, self.log, self._ended, self._searched = service, log, None, 0
        env = {**environment, **service.env}
        try:
            path = resolve(service.command.argv[0], service.cwd, env)
        except LaunchError as error:
            what = f"the service '{service.label}' cannot be started: {error.what}"
            raise ServiceFailedError(what, service.command.mark, error.fix) from error
        self._launcher.begin(
            LaunchRequest(
                path=str(path),
                argv=service.command.argv,
                env={os.fsencode(name): os.fsencode(text) for name, text in env.items()},
                cwd=service.cwd,
                stdout=log,
                stderr=log,
            )
        )
        self._stands, self._asked = True, False

    def how_it_ended(self) -> str | None:
        """Tell how it has ended, in words that follow its name; None while it stands."""
        if self._ended is None and self._stands:
            try:
                done = self._launcher.ended()
            except LaunchError as error:  # not spawned, or its launcher died
                self._stands, self._ended = False, f"cannot be executed: {error.what}"
                if isinstance(error, LauncherDiedError):
                    self._ended = SERVICES_LAUNCHER_DIED
                return self._ended
            if done is not None:
                self._stands, self._ended = False, f"ended with exit code {done.exit_code}"
                if done.signal is not None:
                    self._ended = f"was ended by signal {done.signal}"
        return self._ended

    @property
    def stands(self) -> bool:
        """Whether it was started and has not ended."""
        return self.how_it_ended() is None and self._stands

    @property
    def is_ending(self) -> bool:
        """Whether no process of it lives any more, though its launcher has not reported it yet."""
        there = self._stands and not self._launcher.dead
        return there and not any(map(_lives, children(self._launcher.pid)))

    @property
    def lost_its_launcher(self) -> bool:
        """Whether nothing can be started with it any more."""
        return self._launcher.dead

    def processes(self) -> tuple[int, ...]:
        """List its processes, as fairtrial's /proc numbers them: all that its launcher has below it."""
        there = self._stands and not self._launcher.dead
        return descendants(self._launcher.pid) if there else ()

    def ask_to_end(self) -> None:
        """Ask it to end, if it stands; `end` then waits for that."""
        if self._asked or not self.stands:
            return
        try:
            self._launcher.ask_to_end(_SIGNALS[self.service.stop], self.service.grace_s)
            self._asked = True
        except LauncherDiedError:
            self._stands = False  # what it left has been killed

    def end(self) -> str | None:
        """Ask it to end, kill what is left after its grace; say what went wrong, None where nothing did."""
        self.ask_to_end()
        if not self._asked:
            return None
        self._stands = self._asked = False
        try:
            done = self._launcher.end(self.service.grace_s)
        except LauncherDiedError:
            return None  # what it left has been killed
        if done.survivors:
            return f"{done.survivors} of its processes could not be killed"
        if done.signal == signal.SIGKILL:
            return f"it did not end within {self.service.grace_s:g} s of SIG{self.service.stop}, and was killed"
        return None

    def close(self) -> None:
        """End it and its launcher, whatever has become of them."""
        with contextlib.suppress(LaunchError):
            self.end()
        self._launcher.close()

    def written(self) -> str:
        """Give the end of its output, as far as it has one."""
        return last_output(self.log)

    def new_lines(self) -> list[str]:
        """Give the whole lines that it has written since they were asked for, of some megabytes at most."""
        if self.log is None:
            return []
        with contextlib.suppress(OSError), opened_output(self.log) as file:
            file.seek(self._searched)
            data = file.read(_AT_ONCE)
            end = data.rfind(b"\n") + 1 or (len(data) if len(data) == _AT_ONCE else 0)
            self._searched += end
            if end:
                return data[:end].decode("utf-8", "replace").removesuffix("\n").split("\n")
        return []

    def last_lines(self) -> str:
        """Give the last lines of its output, each indented below what says so; before them why it may have ended."""
        lines = self.written().rstrip().splitlines()[-_LAST_LINES:]
        why = _LEAVES if self._ended == "ended with exit code 0" else ""
        return why + "".join(f"\n    {line[:300]}" for line in lines)

    @property
    def found_its_port_taken(self) -> bool:
        """Whether it has ended because somebody else has its port, by what it wrote."""
        return not self.stands and _IN_USE.search(self.written()) is not None


def _lives(pid: int) -> bool:
    with contextlib.suppress(OSError):
        return stat_of(Path(f"/proc/{pid}"))[0] not in {b"Z", b"X"}
    return False
