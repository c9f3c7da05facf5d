"""Builds and hooks: commands around the measured runs, executed, timed and logged, never measured.

They have a launcher of their own on fairtrial's CPUs, so that they neither warm nor disturb the
measured ones, and so that they too die with fairtrial. It runs without a namespace: what a hook
mounts is seen by the targets, and a server started by ``setup`` stays until the session's end.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from ..campaign import Build, Command, Isolation
from ..errors import LaunchError
from .client import LauncherClient
from .exchange import Request
from .executables import resolve
from .interrupts import Interrupted, Interrupts


class CommandFailedError(LaunchError):
    """A hook or build step did not end with exit code 0."""


class SideCommands:
    """Executes builds and hooks; starts its launcher when the first one comes."""

    def __init__(self, cpus: tuple[int, ...] | None, interrupts: Interrupts) -> None:
        self._cpus = cpus
        self._interrupts = interrupts
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

    def execute(
        self,
        name: str,
        command: Command,
        *,
        cwd: Path,
        env: Mapping[str, str],
        log: Path,
        timeout_s: float,
        setting: str = "hooks.timeout",
    ) -> float:
        """Execute one command with its output in `log`; give its duration in seconds.

        Raises
        ------
        CommandFailedError
            If it cannot be started, does not end in time, or ends with another code than 0.
        Interrupted
            If a signal arrived.
        """
        try:
            request = Request(
                path=str(resolve(command.argv[0], cwd, env)),
                argv=command.argv,
                env={os.fsencode(key): os.fsencode(value) for key, value in env.items()},
                cwd=cwd,
                stdout=log,
                stderr=log,
                timeout_s=timeout_s,
                sweep=False,  # a server that setup starts must live on
            )
            execution = self._running().execute(request)
        except LaunchError as error:
            if self._launcher is not None and self._launcher.dead:
                self._launcher = None  # the clean-up gets a new one
            raise CommandFailedError(
                f"{name} cannot be executed: {error.what}", command.mark, error.fix
            ) from error
        if execution.killed == "timeout":
            raise CommandFailedError(
                f"{name} was ended after {timeout_s:g} s",
                command.mark,
                f"read {log}; if it needs more time, raise {setting}",
            )
        if execution.signal is not None or execution.exit_code != 0:
            self._interrupts.settle_after(execution.signal, execution.exit_code)
            ending = (
                f"exit code {execution.exit_code}"
                if execution.signal is None
                else f"signal {execution.signal}"
            )
            tail = _tail(log)
            what = f"{name} failed with {ending}: {' '.join(command.argv)}"
            raise CommandFailedError(
                f"{what}\n{tail}" if tail else what, command.mark, f"the whole output is in {log}"
            )
        return execution.wall_ns / 1e9

    def build(
        self, build: Build, environment: Mapping[str, str], outputs: Path, *, timeout_s: float
    ) -> None:
        """Execute the build steps of one variant, each with a log in `outputs`.

        Raises
        ------
        CommandFailedError
            If a step fails, or does not end in time; then nothing of it is left.
        Interrupted
            If a signal arrived; likewise.
        """
        for number, step in enumerate(build.steps, 1):
            try:
                self.execute(
                    f"build step {number} of '{build.variant}'",
                    step,
                    cwd=build.cwd,
                    env={**environment, **build.env},
                    log=outputs / f"build-{build.variant}-{number}.log",
                    timeout_s=timeout_s,
                    setting="protocol.build_timeout",
                )
            except (CommandFailedError, Interrupted):
                self.sweep()  # compilers that it started, in whatever process group
                raise

    def _running(self) -> LauncherClient:
        if self._launcher is None:
            plain = Isolation()
            self._launcher = LauncherClient(plain, self._cpus, self._interrupts, contained=False)
        return self._launcher


def _tail(log: Path, lines: int = 6) -> str:
    """Give the last lines of a log, indented."""
    try:
        text = log.read_text(encoding="utf-8", errors="replace").rstrip()
    except OSError:
        return ""
    return "\n".join(f"    {line}" for line in text.splitlines()[-lines:])
