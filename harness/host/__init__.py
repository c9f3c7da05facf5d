"""The one reader of /proc and /sys."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis.faces import hands_on

if TYPE_CHECKING:
    from .counters import (
        INTERRUPTS as INTERRUPTS,
        KERNEL_LOG as KERNEL_LOG,
        LOADAVG as LOADAVG,
        STAT as STAT,
        VMSTAT as VMSTAT,
    )
    from .energy import POWER_EVENTS as POWER_EVENTS, POWERCAP as POWERCAP
    from .facts import LOGINS as LOGINS, MEMINFO as MEMINFO, SUPPLIES as SUPPLIES
    from .gaps import GapLook as GapLook, Gaps as Gaps, look_for_gaps as look_for_gaps
    from .groups import OwnGroup as OwnGroup
    from .placement import CpuPlan as CpuPlan, choose_cpus as choose_cpus
    from .processes import Busy as Busy
    from .processors import CPU as CPU, CPUINFO as CPUINFO, ISOLATED as ISOLATED, cpufreq as cpufreq
    from .reader import Host as Host
    from .state import (
        Counters as Counters,
        Cpu as Cpu,
        EnergyZone as EnergyZone,
        HostState as HostState,
        PowerEvent as PowerEvent,
        path_of as path_of,
    )
    from .tree import Tree as Tree, format_cpus as format_cpus, parse_cpus as parse_cpus
else:
    __getattr__, __dir__ = hands_on(
        __name__,
        {
            "counters": "INTERRUPTS KERNEL_LOG LOADAVG STAT VMSTAT",
            "energy": "POWERCAP POWER_EVENTS",
            "facts": "LOGINS MEMINFO SUPPLIES",
            "gaps": "GapLook Gaps look_for_gaps",
            "groups": "OwnGroup",
            "placement": "CpuPlan choose_cpus",
            "processors": "CPU CPUINFO ISOLATED cpufreq",
            "processes": "Busy",
            "reader": "Host",
            "state": "Counters Cpu EnergyZone HostState PowerEvent path_of",
            "tree": "Tree format_cpus parse_cpus",
        },
    )
