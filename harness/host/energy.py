"""Finds the counters of consumed energy: zones of powercap, and the events of the power PMU.

Both show the same counters of the processor (RAPL). What a zone means is told by its name: packages
stand beside each other, ``core`` and ``uncore`` are parts of theirs, ``psys`` holds them all.
Sources: Documentation/power/powercap/powercap.rst, Documentation/ABI/testing/sysfs-bus-event_source-devices-events,
Documentation/admin-guide/perf-security.rst of Linux.
"""

from __future__ import annotations

import math
import re

from .state import EnergyZone, PowerEvent
from .tree import Tree

POWERCAP = "/sys/class/powercap"
POWER_EVENTS = "/sys/bus/event_source/devices/power"

_TOP = re.compile(r"(?P<kind>[\w-]+):\d+")
_PACKAGE = re.compile(r"package-\d+(-die-\d+)?")  # not psys, which holds the packages
_EVENT = "energy-pkg"
_TERM = re.compile(r"event=(0x[0-9a-fA-F]{1,16}|[0-9]{1,19})")
_CAPABILITIES = re.compile(r"^CapEff:\s*([0-9a-f]{1,16})$", re.MULTILINE)
_PERFMON, _ADMIN = 1 << 38, 1 << 21  # either may count what belongs to no process


def energy_zones(tree: Tree) -> tuple[EnergyZone, ...] | None:
    """Find the counters of whole packages, each once; None when the kernel shows no powercap.

    A package that two drivers show (``intel-rapl-mmio`` beside ``intel-rapl``) is one counter.
    """
    names = tree.names(POWERCAP)
    if names is None:
        return None
    found: dict[str, EnergyZone] = {}
    for folder in sorted(names, key=lambda name: ("-mmio:" in name, name)):
        path = f"{POWERCAP}/{folder}/energy_uj"
        name = tree.text(f"{POWERCAP}/{folder}/name") or ""
        if not (_TOP.fullmatch(folder) and _PACKAGE.fullmatch(name)) or name in found:
            continue
        if tree.exists(path):
            found[name] = EnergyZone(
                path=path,
                name=name,
                readable=tree.number(path) is not None,
                range_uj=_positive(tree.number(f"{POWERCAP}/{folder}/max_energy_range_uj")),
            )
    return tuple(found[name] for name in sorted(found))


def power_event(tree: Tree) -> PowerEvent | None:
    """Find the event of the power PMU that counts the energy of packages; None without one."""
    place = f"{POWER_EVENTS}/events/{_EVENT}"
    kind = tree.number(f"{POWER_EVENTS}/type")
    term = _TERM.fullmatch(tree.text(place) or "")
    cpus = tree.cpus(f"{POWER_EVENTS}/cpumask")
    joules = _scale(tree.text(f"{place}.scale"))
    if kind is None or term is None or not cpus or joules is None:
        return None
    if (tree.text(f"{place}.unit") or "").lower() != "joules":
        return None
    layout = re.fullmatch(
        r"config:(\d{1,2})(-\d{1,2})?", tree.text(f"{POWER_EVENTS}/format/event") or ""
    )
    if layout is None:
        return None
    return PowerEvent(
        path=place,
        kind=kind,
        config=int(term.group(1), 0) << int(layout.group(1)),
        joules=joules,
        cpus=cpus,
        permitted=_permitted(tree),
    )


def _permitted(tree: Tree) -> bool | None:
    """Tell whether this process may count what belongs to no process; None when nobody knows."""
    effective = _CAPABILITIES.search(tree.text("/proc/self/status") or "")
    if effective is not None and int(effective.group(1), 16) & (_PERFMON | _ADMIN):
        return True
    paranoid = tree.number("/proc/sys/kernel/perf_event_paranoid")
    return None if paranoid is None else paranoid <= 0


def _scale(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if math.isfinite(value) and value > 0 else None


def _positive(value: int | None) -> int | None:
    return value if value is not None and value > 0 else None
