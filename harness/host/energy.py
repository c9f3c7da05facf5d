"""The energy of the processor's packages, by powercap, while runs last and while none does.

A counter begins again at 0 behind its range: it is read every 30 s, and what cannot be told is None.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from analysis.record.trial_files import ENERGY, NET_ENERGY, RESOLUTION_S

if TYPE_CHECKING:
    from .activity import Host
    from .state import HostState


@dataclass(slots=True)
class EnergyCounter:
    """A counter of energy that only grows; one count of it is `joules`.

    Behind the largest count, `range`, it begins again at 0; None for one that never does. `read` gives
    the count now, None when it cannot be read any more.
    """

    name: str
    joules: float
    range: int | None
    read: Callable[[], int | None]
    count: int | None = None
    since: float = 0.0  # when the count was seen first
    total: int = 0  # of a span
    moved: bool = False

    def note(self, at: float) -> int | None:
        """Read the count, and keep since when it has been that."""
        count = self.read()
        if count != self.count:
            self.count, self.since = count, at
        return count


_EVERY_S = 30.0
# More than any package takes. A counter that was set back (the host slept) would seem to take more,
# and one that nobody has read for long may have wrapped twice.
_MOST_W = 1000.0
_STEP_S = 0.01  # at an end that much of what was used before may show, or not yet show


class Spent(NamedTuple):
    """The energy of a span; `joules` is None where it is not known, and `why` says why."""

    joules: float | None
    seconds: float
    why: str | None = None


class EnergyMeter:
    """Measures the energy of all packages, span after span."""

    def __init__(self, counters: Sequence[EnergyCounter] = ()) -> None:
        self._counters = tuple(counters)
        self._begun = self._read_at = 0.0
        self._why: str | None = None

    @property
    def available(self) -> bool:
        """Whether there is anything to read."""
        return bool(self._counters)

    @property
    def metrics(self) -> Mapping[str, Mapping[str, str]]:
        """Declare the metrics, as a trial's manifest does; none where there is nothing to read."""
        if not self.available:
            return {}
        return {
            name: {"unit": "J", "better": "lower", "source": "powercap"}
            for name in (ENERGY, NET_ENERGY)
        }

    def begin(self) -> None:
        """Begin a span."""
        self._why = None
        # the clock first, as at the end: what a read takes is then in neither of the two
        self._begun = self._read_at = time.monotonic()
        for counter in self._counters:
            counter.total = 0
            if counter.note(self._read_at) is None:
                self._unknown(f"the energy of {counter.name} cannot be read any more")

    def tick(self) -> None:
        """Read within a span, if it is time: to be called a few times a minute, or more often."""
        if time.monotonic() - self._read_at >= _EVERY_S:
            self._take()

    def end(self) -> Spent:
        """End the span."""
        self._take()
        seconds = self._read_at - self._begun
        for counter in self._counters:
            counter.moved |= counter.total > 0
            # of a short span 0 is what a counter says that moves once a millisecond: if it ever does,
            # and has not stood through the spans before it too
            still = self._read_at - counter.since >= RESOLUTION_S
            if counter.total == 0 and (still or not counter.moved):
                self._unknown(
                    f"the energy counter of {counter.name} stands still: a virtual machine, most likely"
                )
        joules = None
        if self._why is None:
            joules = sum(counter.total * counter.joules for counter in self._counters)
        return Spent(joules=joules, seconds=seconds, why=self._why)

    def _take(self) -> None:
        before, self._read_at = self._read_at, time.monotonic()
        passed = self._read_at - before
        for counter in self._counters:
            old, new = counter.count, counter.note(self._read_at)
            if old is None or new is None:
                self._unknown(f"the energy of {counter.name} cannot be read any more")
                continue
            used = new - old
            most = _MOST_W * (passed + _STEP_S) / counter.joules
            if used < 0 and counter.range is not None:
                used += counter.range
            if counter.range is not None and most >= counter.range:
                self._unknown(
                    f"the energy counter of {counter.name} was not read for {passed:.0f} s: it may "
                    "have begun again at 0 more than once"
                )
            elif not 0 <= used <= most:
                self._unknown(f"the energy counter of {counter.name} was set back")
            else:
                counter.total += used

    def _unknown(self, why: str) -> None:
        self._why = self._why or why


def open_energy(host: Host, state: HostState) -> EnergyMeter:
    """Open the counters of all packages; of no package alone, the energy would be a part of it."""
    zones = state.energy or ()
    if zones and all(zone.readable for zone in zones):
        counted = [
            EnergyCounter(
                zone.name or zone.path, 1e-6, zone.range_uj, partial(host.energy_uj, zone.path)
            )
            for zone in zones
        ]
        return EnergyMeter(counted)
    return EnergyMeter()


IDLE_S = 10.0
_PARTS = 10  # whose differences tell how well the mean is known


class Idle(NamedTuple):
    """The idle power in watts, the standard error of that, and over how many seconds it was seen."""

    watts: float
    error_w: float
    seconds: float


def measure_idle(meter: EnergyMeter, sleep: Callable[[float], None]) -> Idle | str:
    """Measure the idle power for `IDLE_S` seconds; give why it is not known otherwise.

    The standard error is that of the mean of ten parts of a second each.
    """
    powers, joules, seconds = [], 0.0, 0.0
    for _ in range(_PARTS):
        meter.begin()
        sleep(IDLE_S / _PARTS)
        part = meter.end()
        if part.joules is None:
            return part.why or "the energy is not known"
        powers.append(part.joules / part.seconds)
        joules += part.joules
        seconds += part.seconds
    error = statistics.stdev(powers) / math.sqrt(_PARTS)
    return Idle(watts=joules / seconds, error_w=error, seconds=seconds)
