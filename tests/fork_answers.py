"""Commands that `bundle` and `reproduce` have executed, each in a fork of the warm process that executes these.

A new interpreter for each answer was most of such a command. The fork is of a process that was left as it
was before the command began: what packing or checking has loaded, cached or set is not in it. Like what
takes its place, the child has a session of its own, ends with who asked for it, and keeps the lock that it is
given; its end is seen at a pipe. Commands that a test only starts, to watch or to end them, start new
interpreters. Starts of new interpreters are in `tests/unit/analysis/artifact/test_recomputing.py`,
and in the rows of both commands in `tests/e2e/test_fresh_processes.py`.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import select
import signal
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from typing import IO, Any

COMMANDS = (["bundle"], ["reproduce"])
HIGH = 210  # descriptors from here on, also of 256, are closed by no command that begins
_DEATH_SIGNAL = 1
_MESSAGE = 1 << 20


@contextlib.contextmanager
def forked_answers(execute: Callable[[dict[str, Any]], int]) -> Iterator[None]:
    """Have the commands in the block start others as forks of what is now; `execute` is one command line."""
    from analysis.artifact import recomputing

    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    waiting = os.fork()
    if waiting == 0:
        try:
            ours.close()
            _fork_when_asked(theirs, execute)
        finally:
            os._exit(0)
    theirs.close()
    one = threading.Lock()

    class Answer(_Answer):
        def __init__(self, arguments: list[str], **own: Any) -> None:
            with one:
                super().__init__(ours, arguments, **own)

    recomputing.subprocess = _Subprocess(Answer)  # type: ignore[attr-defined]
    try:
        yield
    finally:
        ours.close()
        os.waitpid(waiting, 0)


class _Subprocess:
    """The module `subprocess`, whose processes are answers."""

    def __init__(self, answer: type[_Answer]) -> None:
        self.Popen = answer

    def __getattr__(self, name: str) -> Any:
        return getattr(subprocess, name)


class _Answer:
    """What of `subprocess.Popen` is asked of a command."""

    def __init__(
        self,
        waiting: socket.socket,
        arguments: list[str],
        *,
        stdout: IO[bytes],
        stderr: IO[bytes],
        **own: Any,
    ) -> None:
        _, _, _, _, _, *words = (
            arguments  # the interpreter, its options, what it begins with, whose child it is
        )
        self._end, ending = os.pipe2(os.O_CLOEXEC)
        (lock,) = own["pass_fds"]
        asked = {
            "words": words, "cwd": str(own["cwd"]), "environment": dict(own["env"]), "stdin": None,
            "out": str(stdout.name), "err": str(stderr.name), "host": None,
        }  # fmt: skip
        socket.send_fds(waiting, [json.dumps(asked).encode()], [ending, lock])
        os.close(ending)
        self.pid = int(waiting.recv(_MESSAGE))
        self.returncode: int | None = None

    def poll(self) -> int | None:
        if self.returncode is None and select.select([self._end], [], [], 0)[0]:
            self._take()
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None:
            if not select.select([self._end], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired("fairtrial", timeout or 0.0)
            self._take()
        assert self.returncode is not None
        return self.returncode

    def _take(self) -> None:
        told = os.read(self._end, 16)
        os.close(self._end)
        self.returncode = int(told) if told else -signal.SIGKILL


def _fork_when_asked(asking: socket.socket, execute: Callable[[dict[str, Any]], int]) -> None:
    os.setsid()
    _end_with_the_parent()
    children: set[int] = set()
    while True:
        ready, *_ = select.select([asking, *children], [], [])
        for child in children.intersection(ready):
            os.waitid(os.P_PIDFD, child, os.WEXITED)
            os.close(child)
            children.remove(child)
        if asking not in ready:
            continue
        message, descriptors, *_ = socket.recv_fds(asking, _MESSAGE, 2)
        if not message:
            return
        child = os.fork()
        if child == 0:
            _answer(asking, json.loads(message), descriptors, execute)
        for one in descriptors:
            os.close(one)
        children.add(os.pidfd_open(child))


def _answer(
    asking: socket.socket,
    asked: dict[str, Any],
    descriptors: list[int],
    execute: Callable[[dict[str, Any]], int],
) -> None:
    code = 70
    ending = HIGH
    try:
        _end_with_the_parent()
        os.setsid()  # before it is told: its group can be ended from then on
        for number, one in enumerate(descriptors):
            os.dup2(one, HIGH + number, inheritable=False)
        asking.send(str(os.getpid()).encode())
        code = execute(asked)
    finally:
        os.write(ending, str(code).encode())
        os._exit(code)


def _end_with_the_parent() -> None:
    ctypes.CDLL(None).prctl(_DEATH_SIGNAL, signal.SIGKILL)
