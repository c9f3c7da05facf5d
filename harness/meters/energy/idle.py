"""Measures what the machine uses while no run lasts: the part of a run's energy that is not its own."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable
from dataclasses import dataclass

from .meter import EnergyMeter

IDLE_S = 10.0
_PARTS = 10  # whose differences tell how well the mean is known


@dataclass(frozen=True, slots=True, kw_only=True)
class Idle:
    """The idle power in watts, the standard error of that, and over how many seconds it was seen."""

    watts: float
    error_w: float
    seconds: float


def measure_idle(meter: EnergyMeter, sleep: Callable[[float], None]) -> Idle | str:
    """Measure the idle power for `IDLE_S` seconds; give why it is not known otherwise.

    The standard error is that of the mean of ten parts of a second each.

    Parameters
    ----------
    meter : EnergyMeter
        What is read; no span may be under way.
    sleep : callable
        Waits for so many seconds; what it raises ends the measurement.
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
