"""The wall clock as rows have it, and whether somebody set it, or the host slept, while a trial was running.

Durations come from the monotonic clock and do not suffer; `started_at` does, and a host that slept
wakes up cold.
"""

from __future__ import annotations

import datetime
import functools
import time
from collections.abc import Callable

from analysis.record import Finding

_STEP_NS = 500_000_000


class ClockWatch:
    """Compares three clocks with what they said before; they are arguments so that tests can lie.

    Parameters
    ----------
    wall, monotonic, boot : callable
        Clocks in nanoseconds; `boot` goes on while the host sleeps, `monotonic` does not.
    """

    def __init__(
        self,
        wall: Callable[[], int] = time.time_ns,
        monotonic: Callable[[], int] = time.monotonic_ns,
        boot: Callable[[], int] = lambda: time.clock_gettime_ns(time.CLOCK_BOOTTIME),
    ) -> None:
        self._wall, self._monotonic, self._boot = wall, monotonic, boot
        self._offsets = self._read()

    def _read(self) -> tuple[int, int]:
        now = self._boot()
        return self._wall() - now, now - self._monotonic()

    def findings(self) -> tuple[Finding, ...]:
        """Give what happened to the clocks since the last call."""
        before, self._offsets = self._offsets, self._read()
        step, slept = (new - old for new, old in zip(self._offsets, before, strict=True))
        found = []
        if abs(step) > _STEP_NS:
            found.append(
                Finding(
                    check="clock",
                    status="warn",
                    what=f"the wall clock was set by {step / 1e9:+.1f} s during the session",
                    where="CLOCK_REALTIME against CLOCK_BOOTTIME",
                    fix="let NTP slew the clock instead of stepping it",
                    reason="started_at jumps; durations are monotonic and stay right",
                )
            )
        if slept > _STEP_NS:
            found.append(
                Finding(
                    check="clock",
                    status="warn",
                    what=f"the host slept for {slept / 1e9:.1f} s during the session",
                    where="CLOCK_BOOTTIME against CLOCK_MONOTONIC",
                    fix="forbid it: systemd-inhibit --what=sleep fairtrial run ...",
                    reason="a host that wakes up is cold: caches, frequencies and temperatures",
                )
            )
        return tuple(found)


def written(ns: int) -> str:
    """Write a time of the wall clock as rows have it (RFC 3339, UTC)."""
    return f"{_second(ns // 1_000_000_000)}.{ns % 1_000_000_000:09d}Z"


@functools.lru_cache(maxsize=1)
def _second(second: int) -> str:
    """Write a second; hundreds of short runs begin within one."""
    return f"{datetime.datetime.fromtimestamp(second, datetime.UTC):%Y-%m-%dT%H:%M:%S}"
