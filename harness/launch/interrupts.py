"""SIGINT, SIGTERM and SIGHUP become a flag and a readable descriptor, so that a wait ends at once."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import time
import weakref
from collections.abc import Iterator
from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_SETTLE_S = 1.0  # all processes of a job get a signal within some milliseconds
_ONE_S = 5.0
_BY_TERM = 128 + signal.SIGTERM  # how a shell says that its program ended by TERM


def in_a_job() -> bool:
    """Tell whether this is a job of Slurm, whose processes are all told to end at once."""
    return "SLURM_JOB_ID" in os.environ


class Interrupted(Exception):  # noqa: N818 - not an error: somebody asked to stop
    """A signal asked to stop; `number` is the signal's."""

    def __init__(self, number: int | None) -> None:
        super().__init__(number)
        self.number = number


class Interrupts:
    """Catches the three signals while used as a context manager; outside it never has any."""

    def __init__(self) -> None:
        self.received: int | None = None
        self.fd, self._write = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        # whoever begins many trials in one process makes many; one that is never entered is closed when it goes
        self._closing = [weakref.finalize(self, os.close, fd) for fd in (self.fd, self._write)]
        self._before: dict[int, object] = {}
        self._at_once = False
        self._termed = -_ONE_S

    def __enter__(self) -> Interrupts:
        """Install the handlers."""
        for number in _SIGNALS:
            # whoever started us with a signal ignored (nohup, a script's background job) meant it
            if signal.getsignal(number) is not signal.SIG_IGN:
                self._before[number] = signal.signal(number, self._handle)
        return self

    def __exit__(self, *_error: object) -> None:
        """Put the former handlers back, and close; a signal that nobody dealt with is handed on to those around this one."""
        for number, handler in self._before.items():
            signal.signal(number, handler)  # type: ignore[arg-type]  # what signal() gave us
        around = getattr(self._before.get(self.received or 0), "__self__", None)
        self._before.clear()
        if self.received and isinstance(around, Interrupts):
            around.received = around.received or self.received
        for close in self._closing:
            close()

    def _handle(self, number: int, _frame: FrameType | None) -> None:
        if number == signal.SIGTERM and in_a_job():
            # Slurm tells this process, and the batch script hands on what it was told: one request
            before, self._termed = self._termed, time.monotonic()
            if self._termed - before < _ONE_S:
                return
        self.received = self.received or number
        with contextlib.suppress(BlockingIOError):
            os.write(self._write, b"!")
        if self._at_once:
            raise Interrupted(self.received)

    @contextlib.contextmanager
    def at_once(self) -> Iterator[None]:
        """Raise `Interrupted` in the midst of the block, which only reads and computes.

        A signal that came before is not looked at: `check` does that.
        """
        self._at_once = True
        try:
            yield
        finally:
            self._at_once = False

    def drain(self) -> None:
        """Empty the descriptor after a wake-up."""
        with contextlib.suppress(BlockingIOError):
            os.read(self.fd, 1024)

    def check(self) -> None:
        """Raise `Interrupted` if a signal has arrived."""
        if self.received:
            raise Interrupted(self.received)

    def acknowledge(self) -> None:
        """Take the signal as dealt with."""
        self.received = None
        self.drain()

    @contextlib.contextmanager
    def set_aside(self) -> Iterator[None]:
        """Let clean-up run although a signal has arrived: only a further one ends it.

        The signal counts again when the block ends.
        """
        before = self.received
        self.acknowledge()
        try:
            yield
        finally:
            self.received = before or self.received

    def settle(self) -> None:
        """Raise `Interrupted` if a signal comes in a moment: others have had theirs already."""
        self.sleep(_SETTLE_S)

    def settle_after(self, number: int | None, exit_code: int | None) -> None:
        """Wait for a signal that may have ended a program before it reached this process.

        Raises `Interrupted` if one comes. In a job every failure may be such an end, elsewhere one
        by TERM may.
        """
        if in_a_job() or number == signal.SIGTERM or exit_code == _BY_TERM:
            self.settle()

    def sleep(self, seconds: float) -> None:
        """Sleep, but raise `Interrupted` as soon as a signal arrives."""
        self.check()
        end = time.monotonic() + seconds
        poller = select.poll()
        poller.register(self.fd, select.POLLIN)
        while (left := end - time.monotonic()) > 0:
            if poller.poll(left * 1000):
                self.drain()
            self.check()
