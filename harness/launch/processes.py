"""What /proc tells of processes: their children, and whether they are stopped."""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
from pathlib import Path

from ..errors import LaunchError

_PR_SET_CHILD_SUBREAPER = 36
_PROC = Path("/proc")


def children(pid: int, proc: Path = _PROC) -> tuple[int, ...]:
    """List a process's children; by every process's parent where the kernel lists none."""
    try:
        tasks = list((proc / str(pid) / "task").iterdir())
        return tuple(
            int(child) for task in tasks for child in (task / "children").read_text().split()
        )
    except FileNotFoundError:
        pass  # ended, or a kernel without that file
    found = []
    for entry in proc.iterdir():
        if entry.name.isdecimal() and entry.name.isascii():
            with contextlib.suppress(OSError):
                # "pid (name) state parent ...": the name may hold blanks and brackets
                if int((entry / "stat").read_text().rpartition(")")[2].split()[1]) == pid:
                    found.append(int(entry.name))
    return tuple(found)


def is_stopped(pid: int, proc: Path = _PROC) -> bool:
    """Tell whether a process is stopped, by a signal or by who traces it; False where nobody knows."""
    try:
        fields = (proc / str(pid) / "stat").read_bytes().rpartition(b")")[2].split(None, 1)
    except OSError:
        return False
    return bool(fields) and fields[0] in {b"T", b"t"}


def ends(pidfd: int, seconds: float) -> bool:
    """Wait until a process has ended; tell whether it has."""
    poller = select.poll()
    poller.register(pidfd, select.POLLIN)
    return bool(poller.poll(seconds * 1000))


def become_subreaper() -> None:
    """Let the processes of a launcher that dies fall to this process, which kills them."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise LaunchError(f"prctl failed: {os.strerror(ctypes.get_errno())}")
