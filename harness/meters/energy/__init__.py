"""The energy of the processor's packages, by powercap or by perf."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis.faces import hands_on

if TYPE_CHECKING:
    from .finding_counters import open_energy as open_energy
    from .idle import IDLE_S as IDLE_S, Idle as Idle, measure_idle as measure_idle
    from .meter import EnergyMeter as EnergyMeter, Spent as Spent
else:
    __getattr__, __dir__ = hands_on(
        __name__,
        {
            "finding_counters": "open_energy",
            "idle": "IDLE_S Idle measure_idle",
            "meter": "EnergyMeter Spent",
        },
    )
