"""The one reader of /proc and /sys, through ``Host(root)``; nothing here changes the host.

A value that the kernel does not show, or that this process may not read, is ``None``: never a guess.
"""

from __future__ import annotations

import hashlib
import os
import re
import time
from dataclasses import replace
from pathlib import Path

from . import activity, facts, processors
from .activity import CounterReader, look_for_gaps
from .facts import own_group
from .processors import energy_zones
from .state import IN_FILES, GapLook, HostState, OwnGroup


class Host(CounterReader):
    """Reads the host below `root`: the real one, or a recorded tree.

    Notes
    -----
    Close it, or use it as a context manager: what is read between runs is kept open.
    """

    def __enter__(self) -> Host:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def read(self, cpus: tuple[int, ...] = ()) -> HostState:
        """Read everything that stands still during a session."""
        tree = self._tree
        topology = processors.topology(tree)
        usable = processors.usable(tree, topology.numbers)
        measured = cpus or usable
        # kernels before 6.1 do not show it as a file; on another root there is nobody to ask
        machine = os.uname().machine if self.root == Path("/") else None
        fields = processors.cpuinfo(tree)
        virtual, virtual_path = processors.virtual(tree, fields)
        container, container_path = facts.container(tree)
        quota, quota_known, quota_path = facts.quota(tree)
        sensors = facts.sensors(tree)
        limits = [limit for _, limit in sensors if limit is not None]
        base = processors.CPU
        throttled = (f"{base}/cpu{n}/thermal_throttle/core_throttle_count" for n in measured)
        return HostState(
            cpus=measured,
            architecture=tree.text("/proc/sys/kernel/arch") or machine,
            distribution=facts.distribution(tree),
            cpu_model=processors.cpu_model(tree, fields),
            microcode=tree.text(f"{base}/cpu0/microcode/version") or fields.get("microcode"),
            flags_sha256=processors.flags_sha256(fields),
            topology=topology,
            usable=usable,
            isolated=processors.isolated(tree),
            turbo=processors.turbo(tree, measured),
            smt_active=processors.smt_active(tree, topology),
            clocksources=tuple((tree.text(processors.CLOCKSOURCES) or "").split()),
            virtual=virtual,
            virtual_path=virtual_path,
            container=container,
            container_path=container_path,
            quota_cpus=quota,
            quota_known=quota_known,
            quota_path=quota_path,
            cgroup=own_group(tree),
            memory_total_bytes=facts.meminfo(tree, "MemTotal"),
            swap_total_bytes=facts.meminfo(tree, "SwapTotal"),
            temperature_path=sensors[0][0] if sensors else None,
            temperature_limit_c=min(limits, default=None),
            throttle_path=next(filter(tree.exists, throttled), None),
            supplies=facts.supplies(tree),
            energy=energy_zones(tree),
            device_irqs=facts.device_irqs(tree),
            vulnerabilities=facts.vulnerabilities(tree),
            **{name: getattr(tree, how)(path) for name, (path, how) in IN_FILES.items()},
        )

    def gaps(
        self, cpus: tuple[int, ...] | None, seconds: float, *, priority: int = 0, nice: int = 0
    ) -> GapLook:
        """Look for `seconds` how much of the CPUs others take; see `look_for_gaps`."""
        if self.root != Path("/"):
            return GapLook(problem="a recorded host has no CPUs to look at")
        if not cpus:
            return look_for_gaps(cpus, seconds)  # says why nothing is looked at
        began, before = time.monotonic(), activity.processor_times(self.root)
        look = look_for_gaps(cpus, seconds, priority=priority, nice=nice)
        after, elapsed = activity.processor_times(self.root), time.monotonic() - began
        return replace(look, busiest=activity.busiest(before, after, elapsed))

    def others_logged_in(self) -> int | None:
        """Count the users that are logged in besides the caller; None where nobody can tell."""
        return activity.others_logged_in(self.root)

    def own_group(self) -> OwnGroup | None:
        """Give the cgroup of version 2 in which this process is now."""
        return own_group(self._tree)

    def thread_count(self, pid: int) -> int | None:
        """Give how many threads the process has, or None when it is gone."""
        match = re.search(r"^Threads:\s*(\d+)", self._tree.text(f"/proc/{pid}/status") or "", re.M)
        return None if match is None else int(match.group(1))

    def machine_id(self) -> str | None:
        """Give the SHA-256 of the machine's id: it tells hosts apart and names none."""
        for path in ("/etc/machine-id", "/var/lib/dbus/machine-id"):
            text = self._tree.text(path)
            if text and text != "uninitialized":
                return hashlib.sha256(text.encode()).hexdigest()
        return None

    def boot_id(self) -> str | None:
        """Give the id of this boot: another one after a restart of the host."""
        return self._tree.text("/proc/sys/kernel/random/boot_id")

    def umask(self) -> str | None:
        """Give this process's umask in octal; asking the kernel to set it would race."""
        match = re.search(r"^Umask:\s*([0-7]+)", self._tree.text("/proc/self/status") or "", re.M)
        return None if match is None else match.group(1)
