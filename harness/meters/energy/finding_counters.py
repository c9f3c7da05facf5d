"""Chooses by what energy is read: powercap where every package may be read, else perf."""

from __future__ import annotations

from pathlib import Path

from ...host import Host, HostState
from ..perf import PerfCalls
from .counter import EnergyCounter, PerfCounter, PowercapCounter
from .meter import EnergyMeter


def open_energy(host: Host, state: HostState, calls: PerfCalls | None = None) -> EnergyMeter:
    """Open the counters of all packages; of no package alone, the energy would be a part of it.

    Parameters
    ----------
    host : Host
        Reads powercap, and must stay open as long as the meter.
    state : HostState
        What it found.
    calls : PerfCalls, optional
        Takes the place of the kernel, as for a recorded host, whose events nobody can open.

    Returns
    -------
    EnergyMeter
        Without counters where none can be had; the check ``energy`` says why.
    """
    zones = state.energy or ()
    if zones and all(zone.readable for zone in zones):
        return EnergyMeter([PowercapCounter(host, zone) for zone in zones], "powercap")
    event = state.power_event
    if calls is None and host.root == Path("/"):
        calls = PerfCalls()
    if event is None or calls is None or not event.permitted:
        return EnergyMeter()
    counters: list[EnergyCounter] = []
    try:
        for cpu in event.cpus:
            counters.append(PerfCounter(calls, event, cpu))
    except OSError as error:  # a container's rules, say
        for counter in counters:
            counter.close()
        return EnergyMeter(problem=f"perf does not open the event energy-pkg: {error.strerror}")
    return EnergyMeter(counters, "perf")
