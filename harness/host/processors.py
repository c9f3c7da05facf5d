"""Reads processors from a tree: topology, frequency limits, model, hypervisor, counters of energy (RAPL).

Source: Documentation/power/powercap/powercap.rst of Linux.
"""

from __future__ import annotations

import hashlib
import re

from .facts import own_cgroups
from .state import Cpu, EnergyZone, KernelSwitch, Topology
from .tree import Tree, parse_cpus, whole

POWERCAP = "/sys/class/powercap"

_TOP = re.compile(r"(?P<kind>[\w-]+):\d+")
_PACKAGE = re.compile(r"package-\d+(-die-\d+)?")  # not psys, which holds the packages


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
            value = tree.number(f"{POWERCAP}/{folder}/max_energy_range_uj")
            found[name] = EnergyZone(
                path=path,
                name=name,
                readable=tree.number(path) is not None,
                range_uj=value if value is not None and value > 0 else None,
            )
    return tuple(found[name] for name in sorted(found))


CPU = "/sys/devices/system/cpu"
ISOLATED = f"{CPU}/isolated"
PARTITIONS = "/sys/fs/cgroup/cpuset.cpus.isolated"
CPUINFO = "/proc/cpuinfo"
CLOCKSOURCES = "/sys/devices/system/clocksource/clocksource0/available_clocksource"

_NO_TURBO = f"{CPU}/intel_pstate/no_turbo"
_BOOST = (f"{CPU}/cpufreq/boost", f"{CPU}/amd_pstate/cpb_boost")

# The words by which firmware names itself -> the hypervisor.
_FIRMWARE = (
    ("kvm", "kvm"),
    ("qemu", "kvm or qemu"),
    ("amazon ec2", "amazon"),
    ("google compute engine", "google"),
    ("vmware", "vmware"),
    ("virtualbox", "virtualbox"),
    ("innotek", "virtualbox"),
    ("virtual machine", "hyper-v"),
    ("xen", "xen"),
    ("parallels", "parallels"),
    ("bochs", "bochs"),
    ("openstack", "kvm or qemu"),
    ("firecracker", "kvm"),
)


def cpufreq(number: int, name: str) -> str:
    """Give the path of one cpufreq file of one CPU."""
    return f"{CPU}/cpu{number}/cpufreq/{name}"


def online(tree: Tree) -> tuple[int, ...]:
    """Give the online CPUs: from /sys, else /proc/stat, else /proc/cpuinfo; empty when none says."""
    listed = tree.cpus(f"{CPU}/online")
    if listed:
        return listed
    found = re.findall(r"^cpu(\d+) ", tree.text("/proc/stat") or "", re.MULTILINE)
    found = found or re.findall(r"^processor\s*:\s*(\d+)", tree.text(CPUINFO) or "", re.MULTILINE)
    return tuple(sorted({int(number) for number in found}))


def topology(tree: Tree) -> Topology:
    """Read the online CPUs with their cores, nodes and frequency limits."""
    base = "/sys/devices/system/node"
    nodes: dict[int, int] = {}
    for name in tree.names(base) or ():
        if re.fullmatch(r"node\d+", name):
            for cpu in tree.cpus(f"{base}/{name}/cpulist") or ():
                nodes[cpu] = int(name[4:])
    fast = tree.cpus("/sys/devices/cpu_core/cpus")
    return Topology(cpus=tuple(_cpu(tree, number, nodes, fast) for number in online(tree)))


def _cpu(tree: Tree, number: int, nodes: dict[int, int], fast: tuple[int, ...] | None) -> Cpu:
    place = f"{CPU}/cpu{number}/topology"
    siblings = tree.cpus(f"{place}/thread_siblings_list") or tree.cpus(f"{place}/core_cpus_list")
    return Cpu(
        number=number,
        # A list that leaves the CPU itself out is no list of its siblings.
        siblings=siblings if siblings and number in siblings else None,
        core=_known(tree.number(f"{place}/core_id")),
        package=_known(tree.number(f"{place}/physical_package_id")),
        node=nodes.get(number),
        capacity=_positive(tree.number(f"{CPU}/cpu{number}/cpu_capacity")),
        performance=None if not fast else number in fast,
        governor=tree.text(cpufreq(number, "scaling_governor")),
        driver=tree.text(cpufreq(number, "scaling_driver")),
        preference=tree.text(cpufreq(number, "energy_performance_preference")),
        lowest=_positive(tree.number(cpufreq(number, "scaling_min_freq"))),
        highest=_positive(tree.number(cpufreq(number, "scaling_max_freq"))),
        hardware_lowest=_positive(tree.number(cpufreq(number, "cpuinfo_min_freq"))),
        hardware_highest=_positive(tree.number(cpufreq(number, "cpuinfo_max_freq"))),
    )


def _known(number: int | None) -> int | None:
    # The kernel writes -1 for an id that it does not know.
    return None if number is None or number < 0 else number


def _positive(number: int | None) -> int | None:
    return None if number is None or number <= 0 else number


def usable(tree: Tree, available: tuple[int, ...]) -> tuple[int, ...]:
    """Give the online CPUs inside this process's affinity; all online ones when it is not shown."""
    match = re.search(r"^Cpus_allowed_list:\s*(\S+)", tree.text("/proc/self/status") or "", re.M)
    if match is None:
        return available
    try:
        allowed = set(parse_cpus(match.group(1)))
    except ValueError:
        return available
    return tuple(number for number in available if number in allowed)


def isolated(tree: Tree) -> tuple[int, ...] | None:
    """Give the CPUs that the scheduler leaves alone: isolcpus, and isolated cpuset partitions.

    Older kernels list no partitions: the one that this process is in shows itself.
    """
    lists = [cpus for cpus in (tree.cpus(ISOLATED), tree.cpus(PARTITIONS)) if cpus is not None]
    for folder in own_cgroups(tree)[0]:
        if tree.text(f"{folder}/cpuset.cpus.partition") == "isolated":
            lists.append(tree.cpus(f"{folder}/cpuset.cpus.effective") or ())
    return tuple(sorted({cpu for cpus in lists for cpu in cpus})) if lists else None


def turbo(tree: Tree, cpus: tuple[int, ...]) -> KernelSwitch:
    """Read whether the processor may exceed its nominal frequency: Intel, AMD, generic."""
    value = tree.number(_NO_TURBO)
    if value in {0, 1}:
        return KernelSwitch(on=value == 0, path=_NO_TURBO, value=str(value))
    for path in (*_BOOST, *(cpufreq(n, name) for n in cpus for name in ("boost", "cpb"))):
        value = tree.number(path)
        if value in {0, 1}:
            return KernelSwitch(on=value == 1, path=path, value=str(value))
        word = tree.text(path)
        if word in {"enabled", "disabled"}:
            return KernelSwitch(on=word == "enabled", path=path, value=word)
    return KernelSwitch(on=None)


def smt_active(tree: Tree, cpus: Topology) -> bool | None:
    """Tell whether a core runs several threads: as the kernel says, else as the topology shows."""
    value = tree.number(f"{CPU}/smt/active")
    if value in {0, 1}:
        return value == 1
    groups = [cpu.siblings for cpu in cpus.cpus if cpu.siblings is not None]
    if not groups or len(groups) < len(cpus.cpus):
        return None
    return any(len(group) > 1 for group in groups)


def cpuinfo(tree: Tree) -> dict[str, str]:
    """Give the fields of the first processor in /proc/cpuinfo, with those that follow the last."""
    fields: dict[str, str] = {}
    for line in (tree.text(CPUINFO) or "").splitlines():
        name, colon, value = line.partition(":")
        if colon and value.strip():
            fields.setdefault(name.strip(), value.strip())
    return fields


def cpu_model(tree: Tree, fields: dict[str, str]) -> str | None:
    """Give the processor's name as the kernel tells it; ARM kernels tell numbers only."""
    for name in ("model name", "Processor", "cpu model", "uarch", "cpu"):
        value = fields.get(name)
        if value and whole(value) is None and value.lower() != "unknown":
            return " ".join(value.split())
    part = None
    if "CPU implementer" in fields and "CPU part" in fields:
        # A big.LITTLE processor has several parts: name each one, in order.
        found = re.findall(r"^CPU part\s*:\s*(\S+)", tree.text(CPUINFO) or "", re.MULTILINE)
        parts = ", ".join(dict.fromkeys(found))
        part = f"implementer {fields['CPU implementer']} part {parts}"
    board = tree.text("/proc/device-tree/model") or fields.get("Model") or fields.get("Hardware")
    return f"{board} ({part})" if board and part else board or part


def flags_sha256(fields: dict[str, str]) -> str | None:
    """Give the SHA-256 of the sorted processor flags: what may run, in one comparable word."""
    flags = fields.get("flags") or fields.get("Features") or fields.get("isa")
    if flags is None:
        return None
    return hashlib.sha256(" ".join(sorted(set(flags.split()))).encode()).hexdigest()


def virtual(tree: Tree, fields: dict[str, str]) -> tuple[str | None, str | None]:
    """Give the hypervisor ("none" on bare metal, None when it cannot be told) and what says so."""
    if "microsoft" in (tree.text("/proc/sys/kernel/osrelease") or "").lower():
        return "wsl", "/proc/sys/kernel/osrelease"
    kind = tree.text("/sys/hypervisor/type")
    if kind:
        return kind, "/sys/hypervisor/type"
    flags = fields.get("flags", "").split()
    tree_node = tree.text("/proc/device-tree/hypervisor/compatible")
    if tree_node:
        return tree_node, "/proc/device-tree/hypervisor/compatible"
    if flags and "hypervisor" not in flags:
        # x86 hypervisors set this flag; bare metal cannot.
        return "none", CPUINFO
    for name in ("sys_vendor", "product_name", "board_vendor", "bios_vendor"):
        path = f"/sys/class/dmi/id/{name}"
        text = (tree.text(path) or "").lower()
        for word, hypervisor in _FIRMWARE:
            if word in text:
                return hypervisor, path
    if not flags:
        return None, None
    available = tree.text(CLOCKSOURCES) or ""
    for word, hypervisor in (("kvm-clock", "kvm"), ("hyperv", "hyper-v"), ("xen", "xen")):
        if word in available:
            return hypervisor, CLOCKSOURCES
    return "of unknown kind", CPUINFO
