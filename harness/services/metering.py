"""What the services of a run, and what hooks have left running, used while it lasted: as metrics, and in words."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from analysis.record.disturbance import service_disturbed
from analysis.record.service_metrics import (
    PEAK,
    PEAK_SINCE_START,
    PEAK_TREE,
    SOURCE,
    metric_of,
    metrics_of,
)
from analysis.record.trial_files import Finding

from .group_peaks import GroupPeak, group_of
from .usage import Reading, Used, read, used, working

if TYPE_CHECKING:
    from ..campaign.model import Campaign
    from .running import RunningServices

_NAMED = 4
_LEAST_S = 0.01  # of processor time in all runs of a session: the kernel tells it in such steps


def can_reset_peaks() -> bool:
    """Tell whether the kernel lets a process's peak begin anew (CONFIG_PROC_PAGE_MONITOR)."""
    return Path("/proc/self/clear_refs").exists()


def service_metrics(
    campaign: Campaign, *, resets: bool, grouped: bool = False
) -> dict[str, Mapping[str, str]]:
    """Describe the metrics that a campaign's services have, for the manifest."""
    peaks = (PEAK if resets else PEAK_SINCE_START, *((PEAK_TREE,) if grouped else ()))
    return {
        metric: {"unit": unit, "better": "lower", "source": SOURCE}
        for name in dict.fromkeys(one.name for one in campaign.services)
        for metric, unit in metrics_of(name, *peaks)
    }


class ServiceMeter:
    """Reads the services that a run uses before and after it; `groups` is where their cgroups lie."""

    def __init__(
        self, services: RunningServices, *, resets: bool, groups: Path | None = None
    ) -> None:
        self._services, self._resets, self._groups = services, resets, groups
        self._peaks: dict[str, GroupPeak] = {}
        self._names = {one.label: one.name for one in services.services}
        self._before: dict[str, Reading] = {}

    def begin(self, variant: str) -> None:
        """Read those that a variant's run uses."""
        if self._names:
            self._before = self._read(variant, reset=self._resets)
            self._peaks = {} if self._groups is None else self._new_peaks(variant, self._groups)

    def end(self, variant: str) -> dict[str, Used]:
        """Give what each has used since then, by its name."""
        if not self._names:
            return {}
        peaks = {label: peak.taken() for label, peak in self._peaks.items()}
        after = self._read(variant, reset=False)
        nothing = Reading({}, {}, whole=False)
        return {
            self._names[label]: dataclasses.replace(
                used(self._before.get(label, nothing), after.get(label, nothing)),
                tree_peak_bytes=peaks.get(label),
            )
            for label in self._services.serving(variant)
        }

    def metrics(self, found: Mapping[str, Used]) -> dict[str, tuple[float, ...]]:
        """Give the metrics of a run, without those that are not known."""
        values: dict[str, float | None] = {}
        for name, one in found.items():
            parts = {
                "cpu": one.cpu_s,
                "wait": None if one.wait_ns is None else one.wait_ns / 1e9,
                "disk_read": one.read_bytes,
                "disk_written": one.written_bytes,
                "voluntary_switches": one.voluntary_switches,
                "involuntary_switches": one.involuntary_switches,
                PEAK if self._resets else PEAK_SINCE_START: (
                    one.peak_bytes if one.reset == self._resets else None
                ),
                PEAK_TREE: one.tree_peak_bytes,
            }
            values |= {metric_of(name, what): value for what, value in parts.items()}
        return {name: (float(value),) for name, value in values.items() if value is not None}

    def _new_peaks(self, variant: str, folder: Path) -> dict[str, GroupPeak]:
        serving, found = self._services.serving(variant), {}
        for label, pids in self._services.processes().items():
            group = group_of(pids[0], folder) if pids and label in serving else None
            if group is not None:
                found[label] = GroupPeak(group)
        return found

    def _read(self, variant: str, *, reset: bool) -> dict[str, Reading]:
        serving = self._services.serving(variant)
        return {
            label: read(pids, reset=reset)
            for label, pids in self._services.processes().items()
            if label in serving
        }


def disturbed(wall_ns: int, found: Mapping[str, Used]) -> list[bool | None]:
    """Tell of each service whether it waited for a CPU during a run that took so long."""
    return [service_disturbed(wall_ns, one.wait_ns, one.others_ns) for one in found.values()]


class HookLeftovers:
    """Adds up what processes that hooks have left running use while runs last.

    `left` lists them, as the /proc in `proc` numbers them.
    """

    def __init__(self, left: Callable[[], Iterable[int]], proc: Path = Path("/proc")) -> None:
        self._left, self._proc = left, proc
        self._before: Reading | None = None
        self._seconds = 0.0
        self._names: dict[str, None] = {}

    def begin(self) -> None:
        """Read them before a run."""
        pids = tuple(self._left())
        self._before = read(pids, self._proc) if pids else None

    def end(self) -> None:
        """Add what they have used since then."""
        before, self._before = self._before, None
        if before is None:
            return
        pids = tuple(self._left())
        after = read(pids, self._proc)
        seconds = used(before, after).cpu_s
        if seconds:
            self._seconds += seconds
            names = (_name(pid, self._proc) for pid in working(before, after) or pids)
            self._names |= dict.fromkeys(names)

    def findings(self) -> tuple[Finding, ...]:
        """Say what they were and used, and begin anew; nothing where they used nothing."""
        seconds, names = self._seconds, [name for name in self._names if name]
        self._seconds, self._names = 0.0, {}
        if seconds < _LEAST_S:
            return ()
        told = ", ".join(names[:_NAMED]) + (", ..." if len(names) > _NAMED else "")
        what = f"what a hook left running ({told or 'unknown'}) used {seconds:.2f} s of processor time during runs"
        return (
            Finding(
                check="hook-left-running",
                status="warn",
                what=what,
                where="hooks",
                fix="declare it as one of 'services': then it has CPUs of its own, and is measured beside each run",
                reason="it runs on fairtrial's CPUs, and nobody sees how long it waits for them",
            ),
        )


def _name(pid: int, proc: Path) -> str:
    try:
        return (proc / str(pid) / "comm").read_text(errors="replace").strip()
    except OSError:
        return ""
