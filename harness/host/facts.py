"""Reads what stays on a host: kernel settings, container, power, sensors, and its cgroups with their limits.

Source: Documentation/admin-guide/cgroup-v2.rst of Linux; systemd's "Control Group APIs and
Delegation" for what a delegated group is.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping

from .state import OwnGroup, Supply
from .tree import Tree, whole

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
    match = re.search(rf"^{name}:\s*(\d+) kB", tree.text(MEMINFO) or "", re.MULTILINE)
    return None if match is None else int(match.group(1)) * 1024


def distribution(tree: Tree) -> str | None:
    """Give the distribution's name from os-release."""
    for path in ("/etc/os-release", "/usr/lib/os-release"):
        match = re.search(r'^PRETTY_NAME="?([^"\n]+)"?', tree.text(path) or "", re.MULTILINE)
        if match:
            return match.group(1).strip()
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


_OWN = re.compile(r"^0::(/.*)$", re.MULTILINE)


def own_group(tree: Tree) -> OwnGroup | None:
    """Give the own cgroup; None where no version 2 is mounted, or where it cannot be seen from here."""
    own = _OWN.search(tree.text("/proc/self/cgroup") or "")
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
        inside = _below(own.group(1), root)
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
