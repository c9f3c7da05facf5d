"""Reads what stays on a host: kernel settings, processors, container, power, sensors, and its cgroups with their limits.

Source: Documentation/admin-guide/cgroup-v2.rst of Linux; systemd's "Control Group APIs and
Delegation" for what a delegated group is.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Collection, Mapping

from .state import (
    Cpu,
    EnergyZone,
    KernelSwitch,
    OwnGroup,
    Supply,
    Topology,
    Tree,
    parse_cpus,
    whole,
)

MEMINFO = "/proc/meminfo"
LOGINS = "/var/run/utmp"  # who is logged in
SUPPLIES = "/sys/class/power_supply"
_HWMON = "/sys/class/hwmon"
_THERMAL = "/sys/class/thermal"

# hwmon drivers of processor sensors, with the labels that stand for the whole package.
_SENSORS = {
    "coretemp": ("package id",),
    "k10temp": ("tdie", "tctl"),
    "zenpower": ("tdie", "tctl"),
    "cpu_thermal": (),
    "cpu-thermal": (),
    "scpi_sensors": (),
}
_ZONES = re.compile(r"x86_pkg_temp|cpu.*|soc.*|pkg.*|.*-cpu.*", re.IGNORECASE)


def meminfo(tree: Tree, name: str) -> int | None:
    """Give one line of /proc/meminfo in bytes."""
    found = tree.first(MEMINFO, rf"^{name}:\s*(\d+) kB")
    return None if found is None else int(found) * 1024


def distribution(tree: Tree) -> str | None:
    """Give the distribution's name from os-release."""
    for path in ("/etc/os-release", "/usr/lib/os-release"):
        if found := tree.first(path, r'^PRETTY_NAME="?([^"\n]+)"?'):
            return found.strip()
    return None


def container(tree: Tree) -> tuple[str | None, str | None]:
    """Give the container's kind ("none" outside, None when unknown) and the file that says so."""
    for path, kind in (("/.dockerenv", "docker"), ("/run/.containerenv", "podman")):
        if tree.exists(path):
            return kind, path
    named = tree.text("/run/systemd/container")
    if named:
        return named, "/run/systemd/container"
    groups = tree.text("/proc/1/cgroup")
    match = re.search(r"docker|kubepods|containerd|libpod|lxc|garden", groups or "")
    if match:
        return match.group(0), "/proc/1/cgroup"
    mounts = tree.text("/proc/self/mountinfo") or ""
    if "init.scope" not in (groups or "") and re.search(r" / / .* - overlay ", mounts):
        # An own cgroup namespace hides the group's name, but not the layers of the image.
        return "of unknown kind", "/proc/self/mountinfo"
    return (None, None) if groups is None else ("none", "/proc/1/cgroup")


def own_cgroups(tree: Tree) -> tuple[list[str], list[str]]:
    """Give the folders of this process's cgroup and its parents: version 2, and version 1's cpu."""
    unified: list[str] = []
    first: list[str] = []
    for line in (tree.text("/proc/self/cgroup") or "").splitlines():
        parts = line.split(":", 2)
        if len(parts) != 3:
            continue
        steps = [step for step in parts[2].split("/") if step and step != ".."]
        nested = ["/".join(steps[:count]) for count in range(len(steps), -1, -1)]
        if parts[0] == "0" and not parts[1]:
            unified = [f"/sys/fs/cgroup/{name}".rstrip("/") for name in nested]
        elif "cpu" in parts[1].split(","):
            first = [f"/sys/fs/cgroup/cpu/{name}".rstrip("/") for name in nested]
    return unified, first


def quota(tree: Tree) -> tuple[float | None, bool, str | None]:
    """Give the tightest CPU quota in CPUs, whether any group could be read, and the file."""
    unified, first = own_cgroups(tree)
    known = False
    tightest: tuple[float, str] | None = None
    for folder in unified:
        words = (tree.text(f"{folder}/cpu.max") or "").split()
        known = known or bool(words)
        if len(words) == 2:
            tightest = _tighter(tightest, whole(words[0]), whole(words[1]), f"{folder}/cpu.max")
    for folder in first:
        limit = tree.number(f"{folder}/cpu.cfs_quota_us")
        known = known or limit is not None
        period = tree.number(f"{folder}/cpu.cfs_period_us")
        tightest = _tighter(tightest, limit, period, f"{folder}/cpu.cfs_quota_us")
    # The root group has no quota file: where there are groups and no limit, there is none.
    known = known or bool(unified and tree.names("/sys/fs/cgroup"))
    return (None, known, None) if tightest is None else (tightest[0], True, tightest[1])


def _tighter(
    best: tuple[float, str] | None, limit: int | None, period: int | None, path: str
) -> tuple[float, str] | None:
    if limit is None or period is None or limit <= 0 or period <= 0:
        return best
    cpus = limit / period
    return (cpus, path) if best is None or cpus < best[0] else best


def supplies(tree: Tree) -> tuple[Supply, ...] | None:
    """Read the power supplies; None when the kernel shows no such folder."""
    names = tree.names(SUPPLIES)
    if names is None:
        return None
    return tuple(
        Supply(
            name=name,
            kind=tree.text(f"{SUPPLIES}/{name}/type"),
            online=tree.number(f"{SUPPLIES}/{name}/online"),
            status=tree.text(f"{SUPPLIES}/{name}/status"),
            capacity=tree.number(f"{SUPPLIES}/{name}/capacity"),
        )
        for name in names
        # A mouse or a headset has a battery too; it does not feed the processor.
        if (tree.text(f"{SUPPLIES}/{name}/scope") or "System").lower() != "device"
    )


def sensors(tree: Tree) -> tuple[tuple[str, float | None], ...]:
    """Find the processor's temperature files, one a package, each with its limit in Celsius."""
    found: list[tuple[str, float | None]] = []
    for folder in tree.names(_HWMON) or ():
        base = f"{_HWMON}/{folder}"
        driver = tree.text(f"{base}/name")
        if driver in _SENSORS:
            found.extend(_hwmon(tree, base, _SENSORS[driver]))
    if found:
        return tuple(found)
    for folder in tree.names(_THERMAL) or ():
        base = f"{_THERMAL}/{folder}"
        kind = tree.text(f"{base}/type")
        if folder.startswith("thermal_zone") and kind and _ZONES.fullmatch(kind):
            found.append((f"{base}/temp", _zone_limit(tree, base)))
    return tuple(found)


def _hwmon(tree: Tree, base: str, wanted: tuple[str, ...]) -> list[tuple[str, float | None]]:
    found = (re.fullmatch(r"temp(.*)_input", name) for name in tree.names(base) or ())
    numbers = [match[1] for match in found if match]
    labels = {number: (tree.text(f"{base}/temp{number}_label") or "").lower() for number in numbers}
    for label in wanted:
        chosen = [number for number in numbers if labels[number].startswith(label)]
        if chosen:
            numbers = chosen
            break
    else:
        numbers = numbers[:1]
    result: list[tuple[str, float | None]] = []
    for number in numbers:
        limits = (tree.number(f"{base}/temp{number}_{name}") for name in ("crit", "max"))
        limit = next((value / 1000 for value in limits if value is not None and value > 0), None)
        result.append((f"{base}/temp{number}_input", limit))
    return result


def _zone_limit(tree: Tree, base: str) -> float | None:
    points = [name[:-5] for name in tree.names(base) or () if re.fullmatch(r"trip_.*_type", name)]
    limits = [
        value / 1000
        for point in points
        if tree.text(f"{base}/{point}_type") in {"passive", "hot", "critical"}
        and (value := tree.number(f"{base}/{point}_temp")) is not None
        and value > 0
    ]
    return min(limits, default=None)


def device_irqs(tree: Tree) -> dict[str, tuple[int, ...]] | None:
    """Map each device interrupt to the CPUs that it is delivered to."""
    names = tree.names("/proc/irq")
    if names is None:
        return None
    delivered: dict[str, tuple[int, ...]] = {}
    for name in names:
        cpus = tree.cpus(f"/proc/irq/{name}/effective_affinity_list")
        cpus = cpus or tree.cpus(f"/proc/irq/{name}/smp_affinity_list")
        if name.isdigit() and cpus:
            delivered[name] = cpus
    return delivered


def vulnerabilities(tree: Tree) -> dict[str, str]:
    """Read what the kernel does against each processor flaw."""
    base = "/sys/devices/system/cpu/vulnerabilities"
    texts = {name: tree.text(f"{base}/{name}") for name in tree.names(base) or ()}
    return {name: text for name, text in texts.items() if text is not None}


# What to do where there is no group to be had.
DELEGATED = (
    "execute it in a group of its own: systemd-run --user --scope -p Delegate=yes fairtrial run ... "
    "(as root without --user)"
)
# The names that a campaign has for them, each that of the controller that holds it.
GROUP_LIMITS = ("memory", "pids")


def settings(limits: Mapping[str, int]) -> tuple[tuple[str, bytes], ...]:
    """Give what is written into a group at once: (file, text). It limits nobody."""
    if "memory" not in limits:
        return ()
    # Without the second the run would go on from the disk, and without the first the kernel would
    # kill one of its processes, and leave others that wait for it.
    return ("memory.oom.group", b"1"), ("memory.swap.max", b"0")


def limiting(limits: Mapping[str, int]) -> tuple[tuple[str, bytes], ...]:
    """Give what limits a group: (file, text)."""
    return tuple((f"{name}.max", b"%d" % limits[name]) for name in GROUP_LIMITS if name in limits)


def missing_for(limits: Mapping[str, int], controllers: Collection[str]) -> str | None:
    """Give the first limit that nothing here can hold; None if there is none."""
    return next((name for name in GROUP_LIMITS if name in limits and name not in controllers), None)


def own_group(tree: Tree) -> OwnGroup | None:
    """Give the own cgroup; None where no version 2 is mounted, or where it cannot be seen from here."""
    own = tree.first("/proc/self/cgroup", r"^0::(/.*)$")
    if own is None:
        return None
    # list the mounts of cgroup version 2: (the group that is mounted, where)
    found = []
    for line in (tree.text("/proc/self/mountinfo") or "").splitlines():
        # such as: 36 35 0:30 / /sys/fs/cgroup rw,relatime shared:9 - cgroup2 cgroup2 rw,nsdelegate
        before, _, after = line.partition(" - ")
        words = before.split()
        if len(words) > 4 and after.split(" ", 1)[0] == "cgroup2":
            found.append((_plain(words[3]), _plain(words[4]).rstrip("/")))
    for root, place in found:
        inside = _below(own, root)
        if inside is None:
            continue
        path = (place + inside).rstrip("/") or "/"
        if not tree.exists(f"{path}/cgroup.procs"):
            continue
        processes = tree.text(f"{path}/cgroup.procs")
        needed = (path, f"{path}/cgroup.procs", f"{path}/cgroup.subtree_control")
        return OwnGroup(
            path=path,
            top=not tree.exists(f"{path}/cgroup.type"),  # every other group has one
            controllers=tuple((tree.text(f"{path}/cgroup.controllers") or "").split()),
            handed_down=tuple((tree.text(f"{path}/cgroup.subtree_control") or "").split()),
            others=None if processes is None else max(0, len(processes.split()) - 1),
            writable=all(os.access(tree.path(one), os.W_OK) for one in needed),
        )
    return None


def _plain(name: str) -> str:
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), name)


def _below(group: str, root: str) -> str | None:
    """Give the place of a group within a mount that begins at `root`; None outside of it."""
    if ".." in group.split("/"):
        return None
    if root == "/":
        return group
    return group[len(root) :] if f"{group}/".startswith(f"{root}/") else None


# --- Reads processors from a tree: topology, frequency limits, model, hypervisor, counters of energy
# (RAPL).
#
# Source: Documentation/power/powercap/powercap.rst of Linux.


POWERCAP = "/sys/class/powercap"

_TOP = re.compile(r"(?P<kind>[\w-]+):\d+")
_PACKAGE = re.compile(r"package-\d+(-die-\d+)?")  # not psys, which holds the packages


def energy_zones(tree: Tree) -> tuple[EnergyZone, ...] | None:
    """Find the counters of whole packages, each once; None when the kernel shows no powercap.

    A package that two drivers show (``intel-rapl-mmio`` and ``intel-rapl``) is one counter.
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
    listed = tree.first("/proc/self/status", r"^Cpus_allowed_list:\s*(\S+)")
    if listed is None:
        return available
    try:
        allowed = set(parse_cpus(listed))
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
    off = KernelSwitch(on=None)
    for path in (*_BOOST, *(cpufreq(n, name) for n in cpus for name in ("boost", "cpb"))):
        word = tree.text(path)
        if word in {"1", "enabled"}:
            return KernelSwitch(on=True, path=path, value=word)
        if word in {"0", "disabled"} and off.on is None:
            off = KernelSwitch(on=False, path=path, value=word)
    return off


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
    """Give the hypervisor ("none" on bare metal, None when nothing shows it) and what says so."""
    if "microsoft" in (tree.text("/proc/sys/kernel/osrelease") or "").lower():
        return "wsl", "/proc/sys/kernel/osrelease"
    for path in ("/sys/hypervisor/type", "/proc/device-tree/hypervisor/compatible"):
        if kind := tree.text(path):
            return kind, path
    flags = fields.get("flags", "").split()
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
