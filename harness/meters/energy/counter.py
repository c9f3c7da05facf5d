"""What a meter of energy reads: one package's counter, by powercap or by perf."""

from __future__ import annotations

from typing import Protocol

from ...host import EnergyZone, Host, PowerEvent
from ..perf import EventAttributes, PerfCalls

_EVERY_PROCESS = -1


class EnergyCounter(Protocol):
    """A counter of energy that only grows.

    `joules` is one count, `range` the largest count, behind which it begins again at 0; None for a
    counter that never does.
    """

    name: str
    joules: float
    range: int | None

    def read(self) -> int | None:
        """Give the count now, None when it cannot be read any more."""

    def close(self) -> None:
        """Close what is open."""


class PowercapCounter:
    """A zone of powercap: microjoules, in a file."""

    def __init__(self, host: Host, zone: EnergyZone) -> None:
        self.joules = 1e-6
        self.name = zone.name or zone.path
        self.range = zone.range_uj
        self._host, self._path = host, zone.path

    def read(self) -> int | None:
        """Give the microjoules now."""
        return self._host.energy_uj(self._path)

    def close(self) -> None:
        """Leave the file to the host, which keeps it open."""


class PerfCounter:
    """The event of the power PMU on one CPU; the kernel extends its count to 64 bits.

    Raises
    ------
    OSError
        If it may not be opened.
    """

    def __init__(self, calls: PerfCalls, event: PowerEvent, cpu: int) -> None:
        self.name = f"the package of cpu{cpu}"
        self.joules = event.joules
        self.range: int | None = None
        self._calls = calls
        attributes = EventAttributes(kind=event.kind, config=event.config).packed()
        self._fd: int | None = calls.open(attributes, pid=_EVERY_PROCESS, cpu=cpu)

    def read(self) -> int | None:
        """Give the count now."""
        try:
            told = None if self._fd is None else self._calls.read(self._fd)
        except OSError:
            return None
        return None if told is None else told[0]

    def close(self) -> None:
        """Close the event."""
        if self._fd is not None:
            self._calls.close(self._fd)
            self._fd = None
