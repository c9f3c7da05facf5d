"""Who else uses the processors, and who is logged in: other programs and people, as psutil sees them.

Read before a session and by the doctor, never by the process that measures.
"""

from __future__ import annotations

import getpass
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

from .facts import LOGINS

Times = Mapping[tuple[int, float], tuple[str, float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Busy:
    """A program that used the processors while they were looked at; `share` is of one CPU."""

    name: str
    share: float


def processor_times(root: Path) -> Times:
    """Give the name and the processor time so far (seconds) of each process but this one.

    A process is its number and the time at which it began.

    Parameters
    ----------
    root : Path
        Where /proc is found.
    """
    found: dict[tuple[int, float], tuple[str, float]] = {}
    with _below(root):
        own = os.getpid() if root == Path("/") else None
        for pid in psutil.pids() if (root / "proc").is_dir() else ():
            try:
                process = psutil.Process(pid)
                with process.oneshot():
                    used = process.cpu_times()
                    key = (pid, process.create_time())
                    found[key] = (process.name(), used.user + used.system)
            except (psutil.Error, OSError, ValueError, IndexError):
                continue  # it has ended meanwhile, is not ours to read, or was recorded in part
    return {key: value for key, value in found.items() if key[0] != own}


def busiest(before: Times, after: Times, elapsed_s: float, most: int = 3) -> tuple[Busy, ...]:
    """Give the programs that used most processor time between two moments, `elapsed_s` apart.

    Processes of one name count together; one that has ended meanwhile is not seen.
    """
    used: dict[str, float] = {}
    for key, (name, seconds) in after.items():
        used[name] = used.get(name, 0.0) + seconds - before.get(key, (name, 0.0))[1]
    ranked = sorted(used.items(), key=lambda item: (-item[1], item[0]))
    return tuple(
        Busy(name=name, share=seconds / elapsed_s)
        for name, seconds in ranked[:most]
        if seconds > 0 and elapsed_s > 0
    )


def others_logged_in(root: Path) -> int | None:
    """Count the users that are logged in besides the one who asks; None where nobody keeps a list."""
    if root != Path("/") or not Path(LOGINS).exists():
        return None
    try:
        return len({user.name for user in psutil.users()} - {getpass.getuser()})
    except (OSError, KeyError):  # a list that may not be read; a user without a name
        return None


@contextmanager
def _below(root: Path) -> Iterator[None]:
    """Let psutil read the processes of a recorded host."""
    usual = psutil.PROCFS_PATH
    psutil.PROCFS_PATH = str(root / "proc")
    try:
        yield
    finally:
        psutil.PROCFS_PATH = usual
