"""Executes the command of `tune -- COMMAND` for the one who called, and waits for its end."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from types import FrameType

from ..errors import LaunchError
from .caller import Caller

_HEARD = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
_HANDED_ON = (signal.SIGTERM, signal.SIGHUP)  # the terminal sends the others to both of us


class Signals:
    """Hears the signals that end a program, so that it can put everything back before it ends.

    `number` is the first that came, None without one. While a command is executed those that do not
    come from the terminal are handed on to it.
    """

    def __init__(self) -> None:
        self.number: int | None = None
        self._child: subprocess.Popen[bytes] | None = None
        self._before: dict[int, object] = {}

    def __enter__(self) -> Signals:
        for number in _HEARD:
            self._before[number] = signal.signal(number, self._hear)
        # ignored by whoever started us, it would take the command's exit code away
        self._before[signal.SIGCHLD] = signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        return self

    def __exit__(self, *_error: object) -> None:
        for number, before in self._before.items():
            signal.signal(number, before)  # type: ignore[arg-type]  # as it was given

    def _hear(self, number: int, _frame: FrameType | None) -> None:
        self.number = self.number or number
        if self._child is not None and number in _HANDED_ON:
            with contextlib.suppress(OSError):
                self._child.send_signal(number)

    def wait(self, child: subprocess.Popen[bytes]) -> int:
        """Wait for a command; give its exit code, 128 and the signal's number after a signal."""
        self._child = child
        try:
            code = child.wait()
        finally:
            self._child = None
        return code if code >= 0 else 128 - code


def spawn(
    argv: Sequence[str], environment: Mapping[str, str], caller: Caller | None
) -> subprocess.Popen[bytes]:
    """Start a command, as the caller where there is one.

    Raises
    ------
    LaunchError
        If it cannot be executed.
    """
    env = dict(environment) if caller is None else caller.environment(environment)
    try:
        if caller is None:
            return subprocess.Popen(argv, env=env)
        return subprocess.Popen(
            argv, env=env, user=caller.uid, group=caller.gid, extra_groups=caller.groups
        )
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        fix = None
        if isinstance(error, FileNotFoundError) and os.sep not in argv[0]:
            fix = "name it with its whole path: sudo has a PATH of its own"
        raise LaunchError(f"it cannot be executed: {why}", argv[0], fix) from error
