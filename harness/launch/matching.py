"""Reads what programs wrote, whatever that is: within a time, of a bounded size, and never deaf to a signal.

Python's `re` may find no end, and looks for signals only once in some thousands of steps: a handler that
raises ends it there, and a long text is matched by a child. The deadline is one of processor time.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import marshal
import os
import re
import select
import signal
import time
import warnings
import weakref
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from types import FrameType
from typing import BinaryIO, NoReturn, TypeVar

from ..campaign.model import Isolation
from ..host.executables import opened_file

# --- SIGINT, SIGTERM and SIGHUP become a flag and a readable descriptor, so that a wait ends at once.


_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_SETTLE_S = 1.0  # all processes of a job get a signal within some milliseconds
_ONE_S = 5.0
_BY_TERM = 128 + signal.SIGTERM  # how a shell says that its program ended by TERM


def in_a_job() -> bool:
    """Tell whether this is a job of Slurm, which signals all of its processes at once."""
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
            # Slurm signals this process, and the batch script forwards its own signal: one request
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


T = TypeVar("T")

_DEADLINE_S = 10.0
_LONG = 1 << 16  # characters; 4096 scans of them take half a second
_MOST_FOUND = 1 << 21  # values of one run
_LOOK_S = 0.1
_PR_SET_PDEATHSIG = 1


class NotMatched(Exception):  # noqa: N818 - becomes an outcome, not an error
    """A pattern found no end; the text says why."""


class _Late(Exception):  # noqa: N818 - a signal
    """The deadline has passed."""


class Matching:
    """Reads what one run wrote, all of it in `seconds`, and no file of more than `limit_bytes`."""

    def __init__(
        self,
        interrupts: Interrupts | None = None,
        seconds: float | None = None,
        limit_bytes: int = Isolation().output_limit_bytes,
    ) -> None:
        self._interrupts, self._limit = interrupts, limit_bytes
        self._seconds = self._left = _DEADLINE_S if seconds is None else seconds

    def matches(self, regex: str, text: str) -> bool:
        """Tell whether the pattern matches somewhere in the text."""
        return bool(self._found(regex, text, first=True))

    def any_line(self, regex: str, lines: Sequence[str]) -> bool:
        """Tell whether the pattern matches in one of the lines; `re` hears nobody for long in a longer beginning."""
        pattern = re.compile(regex, re.MULTILINE)
        what = f"the pattern was too slow: {as_written(regex)}"
        return self.within(lambda: any(pattern.search(line[:_LONG]) for line in lines), what)

    def spans(self, regex: str, text: str) -> list[tuple[int, int]]:
        """Give where the group ``value``, or else the first group, is in every match; -1: not in it."""
        return self._found(regex, text, first=False)

    def text(self, path: Path) -> str:
        """Give what a file holds.

        Raises OSError if it is not there, is no regular file, or holds more than the limit;
        strerror says it in words.
        """
        with opened_output(path) as file:
            data = file.read(self._limit + 1)
        if len(data) > self._limit:
            what = f"it holds more than {self._limit} bytes (isolation.output_limit)"
            raise OSError(errno.EFBIG, what)
        text = data.decode("utf-8", "replace")
        return text.replace("\r\n", "\n").replace("\r", "\n")

    def within(self, read: Callable[[], T], what: str) -> T:
        """Give what `read` gives, which only computes, if it ends in time; `what` begins the sentence where not."""
        with contextlib.ExitStack() as stack:
            if self._interrupts is not None:
                stack.enter_context(self._interrupts.at_once())
            return self._timed(lambda: _in_time(read, self._left), what)

    def _timed(self, read: Callable[[], T], what: str) -> T:
        began = time.process_time()
        try:
            return read()
        except _Late:
            raise NotMatched(f"{what} found no end in {self._seconds:g} s") from None
        finally:
            self._left = max(1e-3, self._left - (time.process_time() - began))

    def _found(self, regex: str, text: str, *, first: bool) -> list[tuple[int, int]]:
        what = f"the pattern was too slow: {as_written(regex)}"
        if len(text) <= _LONG:
            return self.within(lambda: _find(regex, text, first=first), what)
        found = self._timed(lambda: self._found_apart(regex, text, first=first), what)
        if len(found) > _MOST_FOUND:
            raise NotMatched(f"{as_written(regex)} matches more than {_MOST_FOUND} times")
        return found

    def _found_apart(self, regex: str, text: str, *, first: bool) -> list[tuple[int, int]]:
        """Find in a child process: it can be killed at any time."""
        us = os.getpid()
        reading, writing = os.pipe2(os.O_CLOEXEC)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of threads: the child needs none
            child = os.fork()
        if not child:
            _answer(us, writing, regex, text, first=first)
        os.close(writing)
        ready = select.poll()
        ready.register(reading, select.POLLIN)
        data = b""
        try:
            while True:
                if ready.poll(_LOOK_S * 1000):
                    more = os.read(reading, 1 << 20)
                    if not more:
                        break
                    data += more
                    continue
                if self._interrupts is not None:
                    self._interrupts.check()
                self._left -= _LOOK_S
                if self._left <= 0:
                    raise _Late
        finally:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            os.close(reading)
        if not data:
            what = f"the pattern {as_written(regex)} cannot be matched: there is not enough memory"
            raise NotMatched(what)
        found: list[tuple[int, int]] = marshal.loads(data)  # noqa: S302 - our own child wrote it
        return found


def _find(regex: str, text: str, *, first: bool) -> list[tuple[int, int]]:
    pattern = re.compile(regex, re.MULTILINE)
    if first:
        return [(0, 0)] if pattern.search(text) else []
    group: str | int = "value" if "value" in pattern.groupindex else 1
    return [match.span(group) for match in islice(pattern.finditer(text), _MOST_FOUND + 1)]


def _answer(parent: int, writing: int, regex: str, text: str, *, first: bool) -> NoReturn:
    """Be the child: find, write what was found, and end; die by signals, and with the parent."""
    try:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() == parent:
            with os.fdopen(writing, "wb") as answer:
                answer.write(marshal.dumps(_find(regex, text, first=first)))
    finally:
        os._exit(0)


def opened_output(path: Path) -> BinaryIO:
    """Open a file that a program made or may have replaced: a pipe does not wait, a link is not followed.

    Raises OSError with words as its `strerror`.
    """
    try:
        return opened_file(path, os.O_NOFOLLOW)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise OSError(errno.ELOOP, "it is a symbolic link, which is not followed") from None
        raise


def floods(output: Path | None, limit_bytes: int) -> bool:
    """Tell whether a file that a program writes to holds more than it may; not one that is not there."""
    with contextlib.suppress(OSError):
        return output is not None and output.lstat().st_size > limit_bytes
    return False


def last_output(path: Path | None, most: int = 8192) -> str:
    """Give the end of what a program wrote; nothing where that is no file that can be read."""
    with contextlib.suppress(OSError):
        if path is not None:
            with opened_output(path) as file:
                file.seek(max(0, file.seek(0, os.SEEK_END) - most))
                return file.read(most).decode("utf-8", "replace")
    return ""


def _in_time(read: Callable[[], T], seconds: float) -> T:
    with _deadline(seconds):
        return read()


@contextlib.contextmanager
def _deadline(seconds: float) -> Iterator[None]:
    """Raise `_Late` in the midst of what is computed, once the time has passed."""

    def late(_number: int, _frame: FrameType | None) -> None:
        raise _Late

    before = signal.signal(signal.SIGPROF, late)
    try:
        # again and again: what is raised while an object is destroyed gets lost
        signal.setitimer(signal.ITIMER_PROF, seconds, _LOOK_S)
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def as_written(regex: str) -> str:
    """Give a pattern in quotes as it stands in the campaign: backslashes are not doubled."""
    shown = "".join(c if c.isprintable() else repr(c)[1:-1] for c in regex)
    return f"'{shown}'"
