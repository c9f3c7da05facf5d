"""What is under way, said while it lasts: whoever waits longer than a second sees for what.

Whatever takes long says what it does (`doing`), wherever it stands, and knows nothing of who listens.
The command line listens around each command (`announced`). On a terminal one line is rewritten and
is gone when something else is written, or at the end; elsewhere a plain line stands after 5, 10, 20,
40 s and so on. No thread draws, nothing here lasts: work that takes long calls `doing` again now and
then, so that the line moves. What is said in another process is not heard, as after a fork.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
import unicodedata
from collections.abc import Callable, Iterator
from typing import Protocol

_REDRAW_S = 0.1
_FAR_S = 3.0  # from then on a line says how far it is
_FIRST_PLAIN_S = 5.0
_USUAL_COLUMNS = 80

clock: Callable[[], float] = time.monotonic


class Screen(Protocol):
    """What the line is drawn on, such as a `Printer`."""

    def isatty(self) -> bool:
        """Tell whether a person is watching."""

    def fileno(self) -> int:
        """Give the descriptor."""

    def clean(self, text: str) -> str:
        """Write out what a terminal would obey."""

    def paint(self, text: str) -> None:
        """Write a text as it is."""

    def flush(self) -> None:
        """Bring it to its place."""

    def write(self, text: str) -> object:
        """Write a text, cleaned."""


class _Line:
    """The line about one command on one screen."""

    def __init__(self, screen: Screen, command: str) -> None:
        self._screen = screen
        self._command = command
        self._moving = screen.isatty() and os.environ.get("TERM") != "dumb"
        self._owner = os.getpid()
        self._lock = threading.RLock()
        self._began = self._phase_began = clock()
        self._next_plain_s = _FIRST_PLAIN_S
        self._drawn_at = 0.0
        self._drawn_cells = 0
        self.what = ""
        self._how_far: tuple[int, int, str] | None = None

    def doing(self, what: str, how_far: tuple[int, int, str] | None) -> None:
        if os.getpid() != self._owner or not self._lock.acquire(blocking=False):
            return  # another process's screen; another thread draws just now
        try:
            now = clock()
            new = what != self.what
            if new:
                self.what, self._phase_began = what, now
            self._how_far = how_far
            due = new or not self._drawn_cells or now - self._drawn_at >= _REDRAW_S
            if self._moving and due:
                self._draw(now)
            elif not self._moving and now - self._began >= self._next_plain_s:
                self._write_plain(now)
        finally:
            self._lock.release()

    def again(self) -> None:
        self.doing(self.what, self._how_far)

    def note(self, text: str) -> None:
        if os.getpid() == self._owner:
            with self._lock:
                self.away()
                self._screen.write(f"note  {text}\n")
                self._screen.flush()

    def rest(self) -> None:
        self.away()
        self.what, self._how_far = "", None

    def away(self) -> None:
        if not self._drawn_cells or os.getpid() != self._owner:
            return
        with self._lock:
            drawn, self._drawn_cells = self._drawn_cells, 0
            self._screen.paint(f"\r{' ' * drawn}\r")  # no escapes, for terminals that know none
            self._screen.flush()

    def _draw(self, now: float) -> None:
        text = cut(self._cleaned(self._progress(now)), self._columns() - 1)  # the last one is free
        text = self._screen.clean(text)
        before, self._drawn_cells = self._drawn_cells, cells(text)
        self._drawn_at = now
        rest = before - self._drawn_cells
        self._screen.paint(f"\r{text}" + " " * rest + "\b" * rest)  # none if it grew
        self._screen.flush()

    def _write_plain(self, now: float) -> None:
        passed = now - self._began
        while self._next_plain_s <= passed:
            self._next_plain_s *= 2
        found = self._cleaned(self._progress(now, passed=False))
        self._screen.paint(f"{self._command}: {found}, {passed:.0f} s so far\n")
        self._screen.flush()

    def _progress(self, now: float, *, passed: bool = True) -> str:
        took = now - self._phase_began
        if self._how_far is None:
            return f"{self.what}, {took:.0f} s so far" * (passed and took >= _FAR_S) or self.what
        done, total, noun = self._how_far
        counts = f"{self.what} {done:,} of {total:,}{noun and ' ' + noun}"
        if took < _FAR_S or not 0 < done < total:
            return counts
        return f"{counts}, {about(took / done * (total - done))} left"

    def _cleaned(self, text: str) -> str:
        return self._screen.clean(text).replace("\n", " ").replace("\t", " ")

    def _columns(self) -> int:
        found = os.environ.get("COLUMNS", "")
        if found.isascii() and found.isdecimal() and int(found):
            return int(found)
        with contextlib.suppress(OSError, ValueError):
            return os.get_terminal_size(self._screen.fileno()).columns or _USUAL_COLUMNS
        return _USUAL_COLUMNS


_lines: list[_Line] = []  # the last one is listening
_parts: list[None] = []  # one for each `as_one` that is under way


@contextlib.contextmanager
def announced(screen: Screen, command: str, *, quiet: bool = False) -> Iterator[None]:
    """Show on `screen` what is said to be under way inside this context; nothing if `quiet`.

    `command` is its name, with which plain lines begin.
    """
    if quiet:
        yield
        return
    line = _Line(screen, command)
    _lines.append(line)
    try:
        yield
    finally:
        line.away()
        _lines.remove(line)


def doing(what: str, done: int | None = None, total: int | None = None, noun: str = "") -> None:
    """Say what is under way, and how far it is: ``hashing``, 3, 12, ``trials``.

    Said again with the same `what` it costs nearly nothing, so that loops may say it each time. From
    3 s on the line tells how long it will still take where `done` and `total` are known, otherwise
    how long it has taken.
    """
    if _parts:
        still()
    elif _lines:
        _lines[-1].doing(what, None if done is None or total is None else (done, total, noun))


@contextlib.contextmanager
def as_one() -> Iterator[None]:
    """Take what is said inside this context for parts of what was said before: the line only moves."""
    _parts.append(None)
    try:
        yield
    finally:
        _parts.pop()


def still() -> None:
    """Let the line move: what was said to be under way still is."""
    if _lines and _lines[-1].what:
        _lines[-1].again()


@contextlib.contextmanager
def meanwhile(what: str) -> Iterator[None]:
    """Say what is under way inside this context; then what was before is under way again."""
    before = _lines[-1].what if _lines else ""
    doing(what)
    try:
        yield
    finally:
        if before:
            doing(before)
        elif _lines:
            _lines[-1].rest()


def note(text: str) -> None:
    """Write a line that stays, about how it is done rather than what comes out."""
    if _lines:
        _lines[-1].note(text)


def away() -> None:
    """Take the line away, because something else is written; the next word draws it again."""
    if _lines:
        _lines[-1].away()


def cells(text: str) -> int:
    """Give the columns that a text takes on a terminal."""
    if text.isascii():
        return len(text)
    wide = sum(unicodedata.east_asian_width(sign) in "WF" for sign in text)
    return len(text) + wide - sum(unicodedata.combining(sign) != 0 for sign in text)


def cut(text: str, width: int) -> str:
    """Cut a text behind the last sign that fits the columns of a terminal; its beginning says most."""
    if cells(text) <= width:
        return text
    while text and cells(text) > width - 1:
        text = text[:-1]
    return f"{text.rstrip()}…"


def about(seconds: float) -> str:
    """Write an estimated time in words."""
    if seconds < 90:
        return f"about {max(1, round(seconds))} s"
    if seconds < 5400:
        return f"about {round(seconds / 60)} min"
    return f"about {seconds / 3600:.1f} h"
