"""The settings that tuning may touch: a closed list of paths, each with the values that it takes.

What a journal says is held against this list before a byte is written: a journal that somebody else
wrote can change nothing that tuning could not have changed itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from ..host import format_cpus, parse_cpus

CPU = "/sys/devices/system/cpu"
THP = "/sys/kernel/mm/transparent_hugepage/enabled"
PERF_RATE = "/proc/sys/kernel/perf_event_max_sample_rate"
CGROUPS = "/sys/fs/cgroup"
CONTROLLERS = f"{CGROUPS}/cgroup.controllers"
BRANCHES = f"{CGROUPS}/cgroup.subtree_control"
PARTITION = f"{CGROUPS}/fairtrial-tune"

_POLICY = rf"{CPU}/(?:cpu[0-9]{{1,5}}/cpufreq|cpufreq/policy[0-9]{{1,5}})"
_HUGE_PAGES = ("always", "madvise", "never")
_LONGEST = 4096  # characters of a value: a list of CPUs may be long


def _word(text: str) -> str | None:
    return text if re.fullmatch(r"[a-z0-9_]{1,32}", text) else None


def _switch(text: str) -> str | None:
    return text if text in {"0", "1", "enabled", "disabled"} else None


def _bit(text: str) -> str | None:
    return text if text in {"0", "1"} else None


def _rate(text: str) -> str | None:
    return text if re.fullmatch(r"[1-9][0-9]{0,8}", text) else None


def _cpus(text: str) -> str | None:
    try:
        numbers = parse_cpus(text)
    except ValueError:
        return None
    return format_cpus(numbers) or None


def _huge_pages(text: str) -> str | None:
    bracketed = re.search(r"\[(\w+)\]", text)
    word = bracketed.group(1) if bracketed else text
    return word if word in _HUGE_PAGES else None


class Setting(NamedTuple):
    """One kind of setting.

    `plain` gives the one spelling of a value of its type, of what is read as of what is written, and
    None for what is no such value.
    """

    item: str
    pattern: str
    plain: Callable[[str], str | None]


SETTINGS: tuple[Setting, ...] = (
    Setting("preference", rf"{_POLICY}/energy_performance_preference", _word),
    Setting("governor", rf"{_POLICY}/scaling_governor", _word),
    Setting(
        "turbo",
        rf"{CPU}/(?:intel_pstate/no_turbo|cpufreq/boost|amd_pstate/cpb_boost)"
        rf"|{_POLICY}/(?:boost|cpb)",
        _switch,
    ),
    Setting("thp", re.escape(THP), _huge_pages),
    Setting("perf_rate", re.escape(PERF_RATE), _rate),
    Setting("irq", r"/proc/irq/[0-9]{1,6}/smp_affinity_list", _cpus),
    Setting("sibling", rf"{CPU}/cpu[1-9][0-9]{{0,4}}/online", _bit),
)
ITEMS: tuple[str, ...] = (*(setting.item for setting in SETTINGS), "partition")


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
class Change:
    """A setting that is to be changed, and why: `check` is the host check that named it."""

    item: str
    check: str
    path: str
    before: str
    after: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Partition:
    """An isolated cpuset partition for what is executed: `cpus` are taken from everybody else.

    `home` is the cgroup that its processes go back to, `branch` whether the root's children have to be
    given the controller first.
    """

    cpus: tuple[int, ...]
    home: str
    branch: bool
