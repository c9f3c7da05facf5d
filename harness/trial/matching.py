"""A campaign's regular expressions on what a run wrote: with a deadline, and never deaf to signals.

Python's `re` may need longer than anybody lives, and it looks for signals only once in some
thousands of steps: a handler that raises ends it there. One step may scan the rest of the text, so
a long text is matched by a child, for which we wait.
The deadline is one of processor time, or of waits that cannot be longer than they ought to be: a trial that
is stopped and continued makes no pattern slow.
"""

from __future__ import annotations

import contextlib
import ctypes
import marshal
import os
import re
import select
import signal
import time
import warnings
from collections.abc import Iterator
from types import FrameType
from typing import NoReturn

from ..launch import Interrupts

_DEADLINE_S = 10.0
_LONG = 1 << 16  # characters; 4096 scans of so many take half a second
_LOOK_S = 0.1
_PR_SET_PDEATHSIG = 1


class NotMatched(Exception):  # noqa: N818 - becomes an outcome, not an error
    """A pattern found no end; the text says why."""


class _Late(Exception):  # noqa: N818 - a signal
    """The deadline has passed."""


class Matching:
    """Matches the patterns of one run, which share `seconds`.

    Parameters
    ----------
    interrupts : Interrupts, optional
        End a pattern at once.
    seconds : float, optional
        What all patterns have together.
    """

    def __init__(self, interrupts: Interrupts | None = None, seconds: float | None = None) -> None:
        self._interrupts = interrupts
        self._seconds = self._left = _DEADLINE_S if seconds is None else seconds

    def matches(self, regex: str, text: str) -> bool:
        """Tell whether the pattern matches somewhere in the text.

        Raises
        ------
        NotMatched
            If that takes too long.
        Interrupted
            If a signal arrives meanwhile.
        """
        return bool(self._found(regex, text, first=True))

    def values(self, regex: str, text: str) -> list[str | None]:
        """Give what the group ``value``, or else the first group, holds in every match.

        Raises
        ------
        NotMatched
            If that takes too long.
        Interrupted
            If a signal arrives meanwhile.
        """
        return self._found(regex, text, first=False)

    def _found(self, regex: str, text: str, *, first: bool) -> list[str | None]:
        began = time.process_time()
        try:
            if len(text) > _LONG:
                return self._found_apart(regex, text, first=first)
            with contextlib.ExitStack() as stack:
                if self._interrupts is not None:
                    stack.enter_context(self._interrupts.at_once())
                stack.enter_context(_deadline(self._left))
                return _find(regex, text, first=first)
        except _Late:
            what = f"the pattern was too slow: {regex!r} found no end in {self._seconds:g} s"
            raise NotMatched(what) from None
        finally:
            self._left = max(1e-3, self._left - (time.process_time() - began))

    def _found_apart(self, regex: str, text: str, *, first: bool) -> list[str | None]:
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
            what = f"the pattern {regex!r} could not be matched: there is not enough memory"
            raise NotMatched(what)
        found: list[str | None] = marshal.loads(data)  # noqa: S302 - our own child wrote it
        return found


def _find(regex: str, text: str, *, first: bool) -> list[str | None]:
    pattern = re.compile(regex, re.MULTILINE)
    if first:
        return [""] if pattern.search(text) else []
    group: str | int = "value" if "value" in pattern.groupindex else 1
    return [match.group(group) for match in pattern.finditer(text)]


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
