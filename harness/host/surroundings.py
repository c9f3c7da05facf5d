"""What the host did while one run lasted: its load, who waited for what, what a hypervisor took from each CPU.

Two readings of five small files that stay open, outside the clocks. Sources: proc_loadavg(5), proc_stat(5),
Documentation/accounting/psi.rst.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from .activity import Pressed, ProcessorTime
    from .reader import Host

_FRESH_S = 0.005  # the kernel counts processor time in ticks of 10 ms
_PRESSED: tuple[Pressed, ...] = ("cpu", "memory", "io")


class _Before(NamedTuple):
    load_1min: float | None
    pressure_us: tuple[int | None, ...]
    time: ProcessorTime | None


class Surroundings:
    """Reads the host before and after each run of targets on `cpus` (empty: anywhere)."""

    def __init__(self, host: Host, cpus: tuple[int, ...]) -> None:
        self._host, self._cpus = host, cpus
        self._last: tuple[float, ProcessorTime | None] | None = None
        self._before = _Before(None, (), None)

    def begin(self) -> None:
        """Read it before a run; processor times that were read a moment ago will do."""
        last = self._last
        fresh = last is not None and time.monotonic() - last[0] < _FRESH_S
        now = last[1] if last is not None and fresh else self._host.processor_time()
        self._before = _Before(self._host.load_1min(), self._pressure(), now)

    def end(self, service_cpus: tuple[int, ...] = ()) -> dict[str, Any]:
        """Give the numbers of the run as its row has them; `service_cpus` are those of its services."""
        before, pressure = self._before, self._pressure()
        now = self._host.processor_time()
        self._last = (time.monotonic(), now)
        found: dict[str, Any] = {"load_1min": before.load_1min}
        for what, old, new in zip(_PRESSED, before.pressure_us, pressure, strict=True):
            found[f"pressure_{what}_s"] = _between(old, new, 1e-6)
        if before.time is None or now is None:
            return found
        tick_s, mine = now.tick_s, self._cpus
        found["steal_s"] = _between(before.time.stolen(mine), now.stolen(mine), tick_s)
        found["cpu_steal_s"] = _stolen(before.time, now)
        if service_cpus:
            busy = (before.time.busy(service_cpus), now.busy(service_cpus))
            found["service_cpus_busy_s"] = _between(*busy, tick_s)
        return found

    def _pressure(self) -> tuple[int | None, ...]:
        return tuple(self._host.pressure_us(what) for what in _PRESSED)


def _between(before: int | None, after: int | None, unit_s: float) -> float | None:
    return None if before is None or after is None else (after - before) * unit_s


def _stolen(before: ProcessorTime, after: ProcessorTime) -> dict[str, float] | None:
    """Give what was taken from each CPU that lost something; None where the kernel does not show it."""
    whole = _between(before.stolen(()), after.stolen(()), 1.0)
    if not whole:  # on most hosts and in most runs: so the lines of all CPUs need not be read
        return None if whole is None else {}
    old = before.stolen_by_cpu()
    parts = ((n, ticks - old[n]) for n, ticks in after.stolen_by_cpu().items() if n in old)
    return {str(number): ticks * after.tick_s for number, ticks in parts if ticks}
