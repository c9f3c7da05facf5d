"""Ends what is in a cgroup, and removes it with all groups below."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from pathlib import Path

from .group_file import write

_PATIENCE_S = 2.0


def empty(group: Path) -> None:
    """Kill every process in a group and below it: at one stroke where the kernel can."""
    try:
        write(group / "cgroup.kill", "1")
    except FileNotFoundError:  # before Linux 5.14, or there is no such group
        for inner in _with_groups_below(group):
            with contextlib.suppress(OSError):
                for pid in (inner / "cgroup.procs").read_text(encoding="ascii").split():
                    os.kill(int(pid), signal.SIGKILL)
    except OSError:
        pass  # gone meanwhile, or another's: what cannot be removed stays


def remove(group: Path, *, patience_s: float = _PATIENCE_S) -> bool:
    """Remove a group and those below it; tell whether it is gone.

    Its processes must have been killed; what is left of them for a moment is waited for.
    """
    end = time.monotonic() + patience_s
    while True:
        for inner in _with_groups_below(group):
            with contextlib.suppress(OSError):
                inner.rmdir()
        if not group.exists():
            return True
        if time.monotonic() >= end:
            return False
        time.sleep(0.002)


def _with_groups_below(group: Path) -> list[Path]:
    """List the group and those below it, the innermost first."""
    return [Path(place) for place, _, _ in os.walk(group, topdown=False)]
