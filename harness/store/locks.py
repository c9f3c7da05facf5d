"""Locks that death releases: one trial at a time on a CPU, and who else measures on this host.

A lock is an abstract Unix socket that this process listens on: the name is unique in the network
namespace, needs no file and no permission, works between users, and the kernel frees it when its
holder dies, however it dies. Containers with a network of their own do not see each other's.
"""

from __future__ import annotations

import os
import socket
import struct
from pathlib import Path

from ..errors import HostError

_PREFIX = "fairtrial-cpu-"


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
            holder = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            try:
                holder.bind(f"\0{_PREFIX}{cpu}")
            except OSError as error:
                holder.close()
                self.release()
                raise HostError(
                    f"another trial measures on CPU {cpu} ({_holder(cpu)})",
                    "isolation.cpus",
                    "wait for it, or name other CPUs there",
                ) from error
            holder.listen(1)
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
    try:
        text = Path("/proc/net/unix").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    names = (line.rpartition(" ")[2] for line in text.splitlines())
    held = {name[len(_PREFIX) + 1 :] for name in names if name.startswith("@" + _PREFIX)}
    return tuple(sorted(int(cpu) for cpu in held if cpu.isdigit()))


def _holder(cpu: int) -> str:
    """Name the process that listens on the lock of `cpu`."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(0.5)
        try:
            probe.connect(f"\0{_PREFIX}{cpu}")
            size = struct.calcsize("3i")
            data = probe.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size)
        except OSError:
            return "its process is unknown"
    pid, uid, _ = struct.unpack("3i", data)
    whose = "yours" if uid == os.getuid() else f"of user {uid}"
    return f"process {pid}, {whose}"
