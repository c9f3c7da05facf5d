"""Whether everything, or the launcher alone, stood still while a program ran; and when it is given up.

What stands still is told by SIGCONT, which the launcher sees; by a wait that returned far too late; by a
clock that went on while the machine was suspended; and by the state of the launcher, at each look. How long
the program took plays no part: what is chosen by its value is biased.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from .processes import is_stopped

LOOK_S = 0.25  # a stop that ends within that is told by SIGCONT alone
LATE_S = 1.0
PATIENCE_S = 10.0  # with a launcher that is stopped
_UNSEEN_S = 30.0  # beyond the end of a timeout, with one that only does not answer
_SLEPT_NS = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Standstill:
    """That something stood still while a program ran.

    `what` did, in words; `seconds` is for how long, as far as it was seen: 0.0 where SIGCONT alone tells, of
    a stop of less than a quarter of a second, or of none at all.
    """

    what: str
    seconds: float

    def __str__(self) -> str:
        if not self.seconds:
            return f"{self.what} got SIGCONT, as after a stop of less than {LOOK_S:g} s"
        return f"{self.what} stood still for {self.seconds:.1f} s"


class Lookout:
    """Follows one program's run from beside it, by the waits for its end.

    Parameters
    ----------
    launcher : int
        The process that executes it.
    limit_s : float or None
        After how many seconds the launcher must have answered; None for a program without a timeout.
    stopped : callable
        Tells whether a process is stopped.
    """

    def __init__(
        self,
        launcher: int,
        limit_s: float | None,
        stopped: Callable[[int], bool] = is_stopped,
    ) -> None:
        self._launcher = launcher
        self._limit_s = None if limit_s is None else limit_s + _UNSEEN_S
        self._stopped = stopped
        self._waited_s = 0.0  # what everything stood still is no part of
        self._now_s = self._longest_s = self._seen_s = 0.0  # for how long the launcher was stopped
        self._late: list[tuple[int, int]] = []
        self._asleep = _asleep()[1]

    def waited(self, began_ns: int, asked_s: float, *, in_vain: bool) -> str | None:
        """Take note of a wait that has just returned; say why the launcher is given up, if it is.

        Parameters
        ----------
        began_ns : int
            The monotonic clock when it began.
        asked_s : float
            When it was to return at the latest, in seconds from then.
        in_vain : bool
            Whether nothing came: only then is it looked how the launcher is.
        """
        now = time.monotonic_ns()
        took_s, due = (now - began_ns) / 1e9, began_ns + round(asked_s * 1e9)
        if took_s - asked_s >= LATE_S:
            self._late.append((due, now))
        took_s = min(took_s, asked_s)
        self._waited_s += took_s
        if not in_vain:
            return None
        if self._stopped(self._launcher):
            self._now_s += took_s
            self._seen_s += took_s
            self._longest_s = max(self._longest_s, self._now_s)
        else:
            self._now_s = 0.0
        if self._now_s >= PATIENCE_S:
            return f"the launcher was stopped, and not continued for {PATIENCE_S:g} s"
        if self._limit_s is not None and self._waited_s >= self._limit_s:
            return f"the launcher did not answer for {self._waited_s:.0f} s"
        return None

    def standstill(self, reply: Mapping[str, Any], *, woken: bool) -> Standstill | None:
        """Tell what stood still while the program ran, by the launcher's reply too.

        Parameters
        ----------
        reply : mapping
            The launcher's, with its numbers.
        woken : bool
            Whether fairtrial itself has sent SIGCONT.
        """
        numbers = reply["numbers"]
        ended_ns = numbers["start_ns"] + numbers["wall_ns"]
        # a program that had ended when a wait was due was over before anything stood still, or beside it
        late_s = sum(now - due for due, now in self._late if due < ended_ns) / 1e9
        own_s = reply["late_ms"] / 1e3
        late_s = max(late_s, own_s if own_s >= LATE_S else 0.0)
        asleep_s = max(0, _asleep()[0] - self._asleep) / 1e9
        if asleep_s * 1e9 >= _SLEPT_NS:
            return Standstill(what="the machine", seconds=asleep_s + late_s)
        if late_s:
            both = reply["continued"] or own_s >= LATE_S
            what = "fairtrial and its launcher" if both else "fairtrial"
            return Standstill(what=what, seconds=late_s + self._seen_s)
        if (reply["continued"] and not woken) or self._longest_s >= LATE_S:
            return Standstill(what="the launcher", seconds=self._seen_s)
        return None


def _asleep() -> tuple[int, int]:
    """Tell between which bounds the machine has been suspended since it started, in ns."""
    before = time.monotonic_ns()
    boot = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
    return boot - time.monotonic_ns(), boot - before
