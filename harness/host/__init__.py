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
    from .facts import (
        ASLR as ASLR,
        MEMINFO as MEMINFO,
        NUMA_BALANCING as NUMA_BALANCING,
        PERF_RATE as PERF_RATE,
        POWERCAP as POWERCAP,
        PROFILE as PROFILE,
        RT_PERIOD as RT_PERIOD,
        RT_RUNTIME as RT_RUNTIME,
        SUPPLIES as SUPPLIES,
        SWAPPINESS as SWAPPINESS,
        THP as THP,
    )
    from .placement import CpuPlan as CpuPlan, choose_cpus as choose_cpus
    from .processors import (
        CLOCKSOURCE as CLOCKSOURCE,
        CPU as CPU,
        CPUINFO as CPUINFO,
        ISOLATED as ISOLATED,
        NOHZ_FULL as NOHZ_FULL,
        SMT_CONTROL as SMT_CONTROL,
        cpufreq as cpufreq,
    )
    from .reader import Host as Host
    from .state import Counters as Counters, Cpu as Cpu, HostState as HostState
    from .tree import format_cpus as format_cpus
else:
    __getattr__, __dir__ = hands_on(
        __name__,
        {
            "counters": "INTERRUPTS KERNEL_LOG LOADAVG STAT VMSTAT",
            "facts": "ASLR MEMINFO NUMA_BALANCING PERF_RATE POWERCAP PROFILE RT_PERIOD RT_RUNTIME SUPPLIES SWAPPINESS THP",
            "placement": "CpuPlan choose_cpus",
            "processors": "CLOCKSOURCE CPU CPUINFO ISOLATED NOHZ_FULL SMT_CONTROL cpufreq",
            "reader": "Host",
            "state": "Counters Cpu HostState",
            "tree": "format_cpus",
        },
    )
