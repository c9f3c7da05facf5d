"""Locks that death releases: one trial at a time on a CPU, and who else measures on this host.

A lock is an abstract Unix socket: the name is unique in the network namespace, needs no file and no
permission, works between users, and the kernel frees it when its holder dies, however it dies.
Containers with a network of their own do not see each other's. A second name beside each lock says
who holds it, so that whoever is refused can read that, however many were refused before.
"""

from __future__ import annotations

import contextlib
import os
import re
import socket
import time
from pathlib import Path

from ..errors import HostError

_PREFIX = "fairtrial-cpu-"
_HOLDER = re.compile(
    r"@fairtrial-holder-([0-9]+)-([0-9]+)-([0-9]+)-([0-9]+)"
)  # CPU, process, user, namespace
_LOOKS, _LOOK_S = 10, 0.01


class CpuLock:
    """Holds the measured CPUs and their siblings for one trial.

    Raises
    ------
    HostError
        If another trial holds one of them; says which process.
    """

    def __init__(self, cpus: tuple[int, ...]) -> None:
        self._sockets: list[socket.socket] = []
        for cpu in cpus:
            try:
                self._bind(f"{_PREFIX}{cpu}")
            except OSError as error:
                self.release()
                raise HostError(
                    f"another trial measures on CPU {cpu} ({_holder(cpu)})",
                    "isolation.cpus",
                    "wait for it (--wait-for-lock), or name other CPUs under isolation.cpus",
                ) from error
            with contextlib.suppress(OSError):  # the lock is held with or without a word about us
                self._bind(f"fairtrial-holder-{cpu}-{os.getpid()}-{os.getuid()}-{_namespace()}")

    def _bind(self, name: str) -> None:
        holder = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            holder.bind(f"\0{name}")
        except OSError:
            holder.close()
            raise
        self._sockets.append(holder)

    def release(self) -> None:
        """Give the CPUs back."""
        for holder in self._sockets:
            holder.close()
        self._sockets.clear()

    def __enter__(self) -> CpuLock:
        return self

    def __exit__(self, *_error: object) -> None:
        self.release()


def cpus_in_use() -> tuple[int, ...] | None:
    """List the CPUs that trials on this host hold; ``None`` where the kernel does not tell."""
    names = _names()
    if names is None:
        return None
    held = {name[len(_PREFIX) + 1 :] for name in names if name.startswith("@" + _PREFIX)}
    return tuple(sorted(int(cpu) for cpu in held if cpu.isascii() and cpu.isdecimal()))


def whose(uid: int) -> str:
    """Say to whom a process belongs, as its user sees it."""
    return "yours" if uid == os.getuid() else f"of user {uid}"


def _names() -> list[str] | None:
    """Read the names of all Unix sockets, abstract ones with an @ before them."""
    try:
        text = Path("/proc/net/unix").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    return [line.rpartition(" ")[2] for line in text.splitlines()]


def _holder(cpu: int) -> str:
    """Name the process that holds the lock of `cpu`."""
    for _ in range(_LOOKS):
        for name in _names() or ():
            match = _HOLDER.fullmatch(name)
            if match and int(match[1]) == cpu:
                pid, uid, namespace = int(match[2]), int(match[3]), int(match[4])
                elsewhere = "" if namespace == _namespace() else ", in another container"
                return f"process {pid}, {whose(uid)}{elsewhere}"
        time.sleep(_LOOK_S)  # it has its lock, and is about to say so
    return "its process is unknown"


def _namespace() -> int:
    """Give the number of our PID namespace, within which process numbers mean something."""
    try:
        return Path("/proc/self/ns/pid").stat().st_ino
    except OSError:
        return 0
