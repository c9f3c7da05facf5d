"""One service under a launcher of its own: in a namespace and a cgroup where these can be had, on its CPUs, its output in a log.

The launcher is the one that runs have: it dies with fairtrial, and takes all processes of the service with it.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from ..campaign.model import Isolation, Service
from ..errors import LauncherDiedError, LaunchError
from .client import LauncherClient
from .commands import resolve
from .exchange import Execution, LaunchRequest, children, descendants
from .matching import Interrupts, last_output, opened_output

if TYPE_CHECKING:
    from ..host.cgroups import RunGroups

_LAST_LINES = 6
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

        Raises
        ------
        ServiceFailedError
            If its program cannot be found.
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
                    self._ended = "was killed together with its launcher"
                return self._ended
            if done is not None:
                self._stands, self._ended = False, _ending(done)
        return self._ended

    @property
    def stands(self) -> bool:
        """Whether it was started and has not ended."""
        return self.how_it_ended() is None and self._stands

    @property
    def is_ending(self) -> bool:
        """Whether no process of it lives any more, though its launcher has not told so yet."""
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
        """Give the last lines of its output, each indented below what says so; nothing where it wrote none."""
        lines = self.written().rstrip().splitlines()[-_LAST_LINES:]
        return "".join(f"\n    {line[:300]}" for line in lines)

    @property
    def found_its_port_taken(self) -> bool:
        """Whether it has ended because somebody else has its port, by what it wrote."""
        return not self.stands and _IN_USE.search(self.written()) is not None


def _lives(pid: int) -> bool:
    try:
        text = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return False
    return text.rpartition(b")")[2].split(None, 1)[0] not in {b"Z", b"X"}


def _ending(done: Execution) -> str:
    if done.signal is not None:
        return f"was ended by signal {done.signal}"
    hint = ""
    if done.exit_code == 0:
        hint = "; a service stays in the foreground (redis: --daemonize no; nginx: daemon off;)"
    return f"ended with exit code {done.exit_code}{hint}"
