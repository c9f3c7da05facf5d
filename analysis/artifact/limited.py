"""Commands that end: within limits of time and memory, and with whoever started them.

A bundle of anybody may ask for an answer that takes a day. So what its commands take together is
limited, and none outlives the process that waits for it, however that ends.
"""

from __future__ import annotations

import contextlib
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TypeVar

from ..errors import AnalysisError

__all__ = ["Commands", "Done", "LimitReachedError", "Limits"]

T = TypeVar("T")
R = TypeVar("R")

_LOOK_S = 0.25  # between two looks at what is taken
_GRACE_S = 2.0  # after TERM: who is told removes what it shares with its workers
_MOST_WRITTEN = 10**9  # bytes of one file, what is printed among them
# the kernel ends a command whose parent was killed; then the one command line, of this installation
_START = """
import ctypes, os, runpy, sys
ctypes.CDLL(None).prctl(1, 9)
if os.getppid() != int(sys.argv.pop(1)):
    os._exit(137)
runpy.run_module("harness", run_name="__main__", alter_sys=True)
"""


class LimitReachedError(AnalysisError):
    """A command was ended, or not started, because of a limit; the message says which."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What commands may take; None is no limit.

    Attributes
    ----------
    total_s, each_s : float or None
        Seconds: all commands together, from when the limits were set on; and one of them.
    memory_bytes : int or None
        Resident memory of all commands that run at a time, and of the process that waits for them.
    """

    total_s: float | None = None
    each_s: float | None = None
    memory_bytes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """How a command ended, and what it printed."""

    stdout: bytes
    stderr: bytes
    exit_code: int


class Commands:
    """Executes command lines of fairtrial; at the end of the context none is left.

    Parameters
    ----------
    homes : Path
        A folder; each command gets one of its own below it, for what it writes.
    lock : int
        A descriptor that each command inherits.
    limits : Limits, optional
        What they may take. Their time begins now.
    """

    def __init__(self, homes: Path, lock: int, limits: Limits | None = None) -> None:
        self._homes = homes
        self._lock = lock
        self._limits = limits or Limits()
        self._began = time.monotonic()
        self._running: dict[int, int] = {}  # process -> bytes, at the last look
        self._guard = threading.Lock()
        self._looked = self._began
        self._stopped = False

    def __enter__(self) -> Commands:
        """Begin; nothing is started yet."""
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        """End what still runs."""
        self.stop()

    def each(self, work: Callable[[T], R], items: Iterable[T], *, most: int) -> list[R]:
        """Do some work for each item, at most so many at a time; if anything is raised, all ends."""
        workers = min(most, len(os.sched_getaffinity(0)))
        with ThreadPoolExecutor(workers) as pool:
            try:
                return list(pool.map(work, items))
            except BaseException:
                self.stop()
                pool.shutdown(wait=False, cancel_futures=True)
                raise

    def hold(self) -> None:
        """Refuse to begin something when the time of all is over.

        Raises
        ------
        LimitReachedError
            If it is.
        """
        total = self._limits.total_s
        if total is not None and time.monotonic() - self._began > total:
            what = f"the time of {total:g} s for all commands was over"
            raise LimitReachedError(what, None, "allow more with --timeout")

    def run(
        self, words: Sequence[str], folder: Path, surroundings: Callable[[Path], Mapping[str, str]]
    ) -> Done:
        """Execute ``fairtrial`` with these arguments, and wait for its end.

        Parameters
        ----------
        words : sequence of str
            The arguments.
        folder : Path
            Where it is executed.
        surroundings : callable
            Gives its environment, for a home of its own.

        Raises
        ------
        LimitReachedError
            If a limit ended it, or the time was over before it began.
        OSError
            If it cannot be executed.
        """
        self.hold()
        home = Path(tempfile.mkdtemp(dir=self._homes))
        with (home / ".out").open("w+b") as out, (home / ".err").open("w+b") as err:
            with self._guard:
                if self._stopped:
                    raise LimitReachedError("it was interrupted", None, None)
                # a group of its own: what it starts ends with it, and Ctrl-C is ours to pass on
                child = subprocess.Popen(
                    [sys.executable, "-P", "-c", _START, str(os.getpid()), *words],
                    cwd=folder,
                    env=surroundings(home),
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=err,
                    start_new_session=True,
                    pass_fds=(self._lock,),
                )
                self._running[child.pid] = 0
            try:
                with contextlib.suppress(OSError, ValueError):  # it has ended, or less is allowed
                    limit = (_MOST_WRITTEN, _MOST_WRITTEN)
                    resource.prlimit(child.pid, resource.RLIMIT_FSIZE, limit)
                self._wait(child)
            finally:
                _end(child)
                with self._guard:
                    self._running.pop(child.pid, None)
                shutil.rmtree(home, ignore_errors=True)
            out.seek(0)
            err.seek(0)
            return Done(stdout=out.read(), stderr=err.read(), exit_code=child.returncode)

    def stop(self) -> None:
        """End all commands; no further one is started."""
        with self._guard:
            self._stopped = True
            groups = list(self._running)
        for group in groups:
            _signal(group, signal.SIGTERM)

    def _wait(self, child: subprocess.Popen[bytes]) -> None:
        begun, limits = time.monotonic(), self._limits
        while True:
            try:
                child.wait(_LOOK_S)
            except subprocess.TimeoutExpired:
                pass
            else:
                return
            if limits.each_s is not None and time.monotonic() - begun > limits.each_s:
                what = f"no answer in {limits.each_s:g} s, the time of one command"
                raise LimitReachedError(what, None, "allow more with --timeout-each")
            self.hold()
            if self._is_too_large(child.pid):
                what = (
                    f"the commands took more memory than the {limits.memory_bytes:,} bytes of all, "
                    "and this one most of it"
                )
                raise LimitReachedError(what, None, "allow more with --max-memory")

    def _is_too_large(self, group: int) -> bool:
        """Tell whether all together take too much memory, and this one the largest part."""
        most = self._limits.memory_bytes
        if most is None:
            return False
        with self._guard:
            now = time.monotonic()
            if now - self._looked >= _LOOK_S:
                self._looked = now
                for one in self._running:
                    self._running[one] = _resident(one, with_children=True)
            taken = self._running
            own = _resident(os.getpid(), with_children=False)
            return own + sum(taken.values()) > most and taken[group] == max(taken.values())


def _end(child: subprocess.Popen[bytes]) -> None:
    """End a command and all that it started: first they are told, then they are killed."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        there = _signal(child.pid, number)
        end = time.monotonic() + _GRACE_S
        while there and time.monotonic() < end:
            child.poll()  # it stays in its group until somebody asks how it ended
            time.sleep(0.01)
            there = _signal(child.pid, 0)
        if not there:
            break
    child.wait()


def _signal(group: int, number: int) -> bool:
    """Send a signal to a group; tell whether anybody was there."""
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def _resident(pid: int, *, with_children: bool) -> int:
    """Give the resident memory of a process, and of all that it has started, in bytes."""
    import psutil

    try:
        one = psutil.Process(pid)
        family = [one, *one.children(recursive=True)] if with_children else [one]
    except psutil.Error:
        return 0
    found = 0
    for each in family:
        with contextlib.suppress(psutil.Error):
            found += each.memory_info().rss
    return found
