"""What tuning would change: of a closed list of settings, by what the host showed and the checks named.

A journal that somebody else wrote can change nothing beyond that list.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, NamedTuple

from analysis.record.trial_files import Finding

from ..errors import HostError
from ..host.facts import CPU, cpufreq
from ..host.placement import CpuPlan, choose_cpus
from ..host.state import Cpu, HostState, Tree, format_cpus, parse_cpus

THP = "/sys/kernel/mm/transparent_hugepage/enabled"
PERF_RATE = "/proc/sys/kernel/perf_event_max_sample_rate"
CGROUPS = "/sys/fs/cgroup"
CONTROLLERS = f"{CGROUPS}/cgroup.controllers"
BRANCHES = f"{CGROUPS}/cgroup.subtree_control"
PARTITION = f"{CGROUPS}/fairtrial-tune"

_POLICY = rf"{CPU}/(?:cpu[0-9]{{1,5}}/cpufreq|cpufreq/policy[0-9]{{1,5}})"
_LONGEST = 4096  # characters of a value: a list of CPUs may be long


def _matching(pattern: str) -> Callable[[str], str | None]:
    return lambda text: text if re.fullmatch(pattern, text) else None


def _cpus(text: str) -> str | None:
    try:
        numbers = parse_cpus(text)
    except ValueError:
        return None
    return format_cpus(numbers) or None


def _huge_pages(text: str) -> str | None:
    bracketed = re.search(r"\[(\w+)\]", text)
    word = bracketed.group(1) if bracketed else text
    return word if word in {"always", "madvise", "never"} else None


class Setting(NamedTuple):
    """One kind of setting.

    `plain` gives the one spelling of a value of its type, of what is read as of what is written, and
    None for what is no such value.
    """

    item: str
    pattern: str
    plain: Callable[[str], str | None]


_WORD = _matching(r"[a-z0-9_]{1,32}")
SETTINGS: tuple[Setting, ...] = (
    Setting("preference", rf"{_POLICY}/energy_performance_preference", _WORD),
    Setting("governor", rf"{_POLICY}/scaling_governor", _WORD),
    Setting(
        "turbo",
        rf"{CPU}/(?:intel_pstate/no_turbo|cpufreq/boost|amd_pstate/cpb_boost)"
        rf"|{_POLICY}/(?:boost|cpb)",
        _matching("0|1|enabled|disabled"),
    ),
    Setting("thp", re.escape(THP), _huge_pages),
    Setting("perf_rate", re.escape(PERF_RATE), _matching(r"[1-9][0-9]{0,8}")),
    Setting("irq", r"/proc/irq/[0-9]{1,6}/smp_affinity_list", _cpus),
    Setting("sibling", rf"{CPU}/cpu[1-9][0-9]{{0,4}}/online", _matching("[01]")),
)


def setting_of(path: str) -> Setting | None:
    """Give the setting that a path is; None when it is none of the list."""
    return next((one for one in SETTINGS if re.fullmatch(one.pattern, path)), None)


def plain_value(path: str, text: str | None) -> str | None:
    """Give the one spelling of a value of the setting at `path`; None when it is no such value."""
    setting = setting_of(path)
    if setting is None or text is None or len(text) > _LONGEST:
        return None
    return setting.plain(text.strip())


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingChange:
    """A setting that is to be changed, and why: `check` is the host check that named it."""

    item: str
    check: str
    path: str
    before: str
    after: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CpusetPartition:
    """An isolated cpuset partition for what is executed: `cpus` are taken from everybody else.

    `home` is the cgroup that its processes go back to, `branch` whether the root's children have to be
    given the controller first.
    """

    cpus: tuple[int, ...]
    home: str
    branch: bool


_OFF = {"0": "1", "1": "0"}  # of no_turbo and of boost alike: the other value


class Left(NamedTuple):
    """Something that a check named and that is left as it is, and why."""

    item: str
    what: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """What would be changed on a host, in this order, and what not.

    `cpus` are the targets' CPUs (None when they are not pinned), `busy` the CPUs on which trials measure
    right now (None where the kernel does not tell).
    """

    host: str | None
    cpus: tuple[int, ...] | None
    changes: tuple[SettingChange, ...]
    partition: CpusetPartition | None
    left: tuple[Left, ...]
    busy: tuple[int, ...] | None

    @property
    def count(self) -> int:
        """How many things would be changed."""
        return len(self.changes) + (self.partition is not None)

    def to_dict(self) -> dict[str, Any]:
        """Give the proposal as JSON types."""
        return {
            "host": self.host,
            "cpus": None if self.cpus is None else list(self.cpus),
            "changes": [asdict(one) for one in self.changes],
            "partition": None if self.partition is None else list(self.partition.cpus),
            "left": [one._asdict() for one in self.left],
            "busy": None if self.busy is None else list(self.busy),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What is asked of tuning.

    `setting` is the campaign's ``isolation.cpus``; `offline_sibling` allows to take the other threads of
    the measured cores offline, `inside` that something is executed which can be inside a partition.
    """

    setting: Literal["auto", "none"] | tuple[int, ...] = "auto"
    offline_sibling: bool = False
    inside: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """A host as tuning finds it, and what is asked for.

    `state` was read for the targets' CPUs, `tree` reads single settings, `findings` are those of the
    checks by their names, `plan` the CPUs that a trial would take, `busy` those of trials that measure
    right now.
    """

    state: HostState
    tree: Tree
    findings: Mapping[str, Finding]
    plan: CpuPlan
    wish: Wish
    busy: tuple[int, ...] | None

    def named(self, check: str) -> bool:
        """Tell whether a check found something to mend."""
        finding = self.findings.get(check)
        return finding is not None and finding.status in {"warn", "fail"}


def propose(scene: Scene) -> Proposal:
    """Say what would be changed: only what a check named, and only what can be put back."""
    state, tree, plan = scene.state, scene.tree, scene.plan
    left: list[Left] = []
    changes: list[SettingChange] = []
    targets = plan.targets or state.usable
    offline = _siblings(scene, targets, left) if scene.named("smt") else ()
    partition = _partition(scene, offline, left) if scene.named("isolation") else None
    if partition is not None and scene.wish.setting == "auto":
        # inside there are these CPUs only: which of them a trial takes is chosen among them
        inner = choose_cpus("auto", state.topology, usable=partition.cpus, isolated=partition.cpus)
        targets = inner.targets or targets
    measured = state.topology.only(targets)
    if scene.named("governor"):
        changes += _frequency(tree, measured, left)
    if scene.named("turbo"):
        changes += _turbo(state, tree, measured)
    if scene.named("thp"):
        changes += _one(tree, "thp", THP, "madvise")
    if scene.named("perf_rate"):
        changes += _one(tree, "perf_rate", PERF_RATE, "1")
    if scene.named("irq"):
        changes += _interrupts(scene, targets, left)
    # an interrupt that may go nowhere else would forget where it was
    changes += _stranded(scene, offline)
    processes = (name for name in tree.names("/proc") or () if name.isdigit())
    if any(one.item == "irq" for one in changes) and any(
        tree.text(f"/proc/{pid}/comm") == "irqbalance" for pid in processes
    ):
        what = "irqbalance is running and may move interrupts back: systemctl stop irqbalance"
        left.append(Left("irq", what))
    for cpu in offline:
        changes += _one(tree, "smt", f"{CPU}/cpu{cpu}/online", "0")
    return Proposal(
        host=state.hostname,
        cpus=None if plan.targets is None else targets,
        changes=_once(tree, changes),
        partition=partition,
        left=tuple(left),
        busy=scene.busy,
    )


def _once(tree: Tree, changes: list[SettingChange]) -> tuple[SettingChange, ...]:
    """Name each file once, by its own place: CPUs of one policy share it through links."""
    seen: dict[str, SettingChange] = {}
    base = os.path.realpath(tree.root)
    for change in changes:
        own = os.path.realpath(tree.path(change.path))
        inside = os.path.commonpath((base, own)) == base
        path = "/" + os.path.relpath(own, base) if inside else change.path
        path = path if plain_value(path, change.before) is not None else change.path
        seen.setdefault(own, replace(change, path=path))
    return tuple(seen.values())


def _one(
    tree: Tree, check: str, path: str, after: str, item: str | None = None
) -> Iterator[SettingChange]:
    """Change one file, where it shows a value of its type that is another one."""
    before = plain_value(path, tree.text(path))
    if before is not None and before != plain_value(path, after):
        named = item or {"smt": "sibling"}.get(check, check)
        yield SettingChange(item=named, check=check, path=path, before=before, after=after)


def _frequency(tree: Tree, measured: tuple[Cpu, ...], left: list[Left]) -> Iterator[SettingChange]:
    """Set the governor, and the energy preference before it: some drivers hide that behind it."""
    for cpu in measured:
        if cpu.governor in {None, "performance"}:
            continue
        path = cpufreq(cpu.number, "energy_performance_preference")
        offered = tree.text(cpufreq(cpu.number, "energy_performance_available_preferences"))
        preference = "performance" in (offered or "").split()
        if preference:
            yield from _one(tree, "governor", path, "performance", "preference")
        offered = tree.text(cpufreq(cpu.number, "scaling_available_governors"))
        if offered is None or "performance" in offered.split():
            path = cpufreq(cpu.number, "scaling_governor")
            yield from _one(tree, "governor", path, "performance")
        elif not preference:
            what = f"cpu{cpu.number} has no governor 'performance', only {offered}"
            left.append(Left("governor", what))


def _turbo(state: HostState, tree: Tree, measured: tuple[Cpu, ...]) -> Iterator[SettingChange]:
    path, value = state.turbo.path, state.turbo.value
    if path is None or value is None:
        return
    paths = [path]
    if own := re.search(r"/cpu\d+/cpufreq/(boost|cpb)$", path):
        paths = [cpufreq(cpu.number, own.group(1)) for cpu in measured]
    for one in paths:
        yield from _one(tree, "turbo", one, _OFF.get(value, "disabled"))


def _interrupts(
    scene: Scene, targets: tuple[int, ...], left: list[Left]
) -> Iterator[SettingChange]:
    state, tree = scene.state, scene.tree
    away = set(targets) | set(scene.plan.reserved)
    others = tuple(cpu for cpu in state.topology.numbers if cpu not in away)
    if not others:
        what = "all CPUs are measured: interrupts have nowhere else to go"
        left.append(Left("irq", what))
        return
    for name in sorted(state.device_irqs or {}, key=int):
        path = f"/proc/irq/{name}/smp_affinity_list"
        now = tree.cpus(path)
        if now and set(now) & set(targets):
            rest = tuple(cpu for cpu in now if cpu in others) or others
            yield from _one(tree, "irq", path, format_cpus(rest))


def _stranded(scene: Scene, offline: tuple[int, ...]) -> Iterator[SettingChange]:
    away = set(scene.plan.reserved) | set(offline)
    others = tuple(cpu for cpu in scene.state.topology.numbers if cpu not in away)
    for name in sorted(scene.tree.names("/proc/irq") or () if offline and others else ()):
        path = f"/proc/irq/{name}/smp_affinity_list"
        now = scene.tree.cpus(path)
        if now and set(now) <= set(offline):
            yield from _one(scene.tree, "smt", path, format_cpus(others), "irq")


def _siblings(scene: Scene, targets: tuple[int, ...], left: list[Left]) -> tuple[int, ...]:
    """Give the threads that may go offline; say why there are none."""
    state, tree, wish, busy = scene.state, scene.tree, scene.wish, scene.busy
    shared = {n for cpu in state.topology.only(targets) for n in cpu.siblings or ()}
    siblings = tuple(sorted(shared - set(targets)))
    if not siblings:
        return ()
    who = f"cpu {format_cpus(siblings)} shares a measured core"
    first = v1_cpusets(tree)
    why = None
    if not wish.offline_sibling:
        why = "--offline-sibling takes it offline meanwhile"
    elif first is not False:
        why = (
            "it stays online: cgroup version 1 cpusets forget a CPU that goes offline"
            if first
            else "it stays online: the kernel does not tell which cpusets there are"
        )
    elif busy is None or busy:
        why = "it stays online: other trials measure on this host, or the kernel does not show it"
    elif any(tree.text(f"{CPU}/cpu{cpu}/online") is None for cpu in siblings):
        why = "it stays online: the kernel has no switch for it"
    if why is not None:
        left.append(Left("sibling", f"{who}: {why}"))
        return ()
    return siblings


def v1_cpusets(tree: Tree) -> bool | None:
    """Tell whether cpusets are those of cgroup version 1; None when that is not known."""
    table = tree.text("/proc/cgroups")
    if table is not None and (row := re.search(r"^cpuset\s+(\d+)", table, re.M)):
        return row.group(1) != "0"
    own = tree.text("/proc/self/cgroup")
    if own is None:
        return None
    if re.search(r"^\d+:[^:]*\bcpuset\b[^:]*:", own, re.M):
        return True
    return None if tree.text(CONTROLLERS) is None else False


def _partition(scene: Scene, offline: tuple[int, ...], left: list[Left]) -> CpusetPartition | None:
    """Take the targets' cores, and one CPU for fairtrial itself, from everybody else."""
    state, tree, reserved = scene.state, scene.tree, set(scene.plan.reserved) - set(offline)
    cores = {n for cpu in state.topology.only(tuple(reserved)) for n in cpu.siblings or ()}
    free = [n for n in state.topology.numbers if n not in reserved | cores | set(offline)]
    # CPU 0 does the kernel's own chores: it stays with the others
    cpus = tuple(sorted({*reserved, *free[-1:]}))
    why = _no_partition(scene, cpus, free)
    if why is not None:
        left.append(Left("partition", f"no isolated partition: {why}"))
        return None
    branches = (tree.text(BRANCHES) or "").split()
    # the cgroup of this process, of version 2
    home = tree.first("/proc/self/cgroup", r"^0::(/\S*)$") or "/"
    return CpusetPartition(cpus=cpus, home=home, branch="cpuset" not in branches)


def _no_partition(scene: Scene, cpus: tuple[int, ...], free: list[int]) -> str | None:
    """Say why there can be no partition of these CPUs; None when there can."""
    tree, wish = scene.tree, scene.wish
    if v1_cpusets(tree) is not False or "cpuset" not in (tree.text(CONTROLLERS) or "").split():
        return f"{CGROUPS} offers no cpusets of cgroup version 2"
    if scene.plan.targets is None:
        return "the targets are not pinned"
    if not wish.inside:
        return "only what 'tune -- COMMAND' executes can be inside one"
    if tree.exists(PARTITION):
        return f"there is already a {PARTITION}"
    if len(free) < 2:
        return "it needs a CPU for targets, one for fairtrial and one for everything else"
    try:
        choose_cpus(wish.setting, scene.state.topology, usable=cpus, isolated=cpus)
    except HostError as error:
        return error.what
    return None
