"""Who listens on a port of this host, by the kernel's tables; a port that nobody has.

Sources: proc(5), ``/proc/net/tcp``: state 0A is LISTEN; ``/proc/PID/fd`` names sockets by their inodes.
"""

from __future__ import annotations

import os
import random
import socket
from collections.abc import Collection, Iterable
from pathlib import Path

_LISTEN = "0A"
_LOWEST = 15_000
_EPHEMERAL = (
    32_768  # what clients get by themselves begins here, unless the host says another number
)
_TRIES = 200


def listening(port: int, root: Path = Path("/")) -> frozenset[int] | None:
    """Give the inodes of the sockets that listen on a TCP port, at whatever address; None where the kernel shows no table."""
    found, shown = set(), False
    for table in ("tcp", "tcp6"):
        try:
            lines = (root / "proc/net" / table).read_text("ascii").splitlines()[1:]
        except OSError:
            continue
        shown = True
        for line in lines:
            fields = line.split()
            if fields[3] == _LISTEN and int(fields[1].rpartition(":")[2], 16) == port:
                found.add(int(fields[9]))
    return frozenset(found) if shown else None


def sockets_of(processes: Iterable[int], root: Path = Path("/")) -> frozenset[int]:
    """Give the inodes of the sockets that processes have open, as far as one may look."""
    found = set()
    for pid in processes:
        folder = root / "proc" / str(pid) / "fd"
        try:
            names = os.listdir(folder)  # noqa: PTH208 - names alone
        except OSError:
            continue
        for name in names:
            try:
                target = os.readlink(folder / name)  # noqa: PTH115 - a text, not a path
            except OSError:
                continue
            if target.startswith("socket:["):
                found.add(int(target[8:-1]))
    return frozenset(found)


def hidden_among(processes: Iterable[int], root: Path = Path("/")) -> int | None:
    """Give a process that does not let this user see what it has open, as one with capabilities of its file does."""
    for pid in processes:
        try:
            os.listdir(root / "proc" / str(pid) / "fd")  # noqa: PTH208 - names alone
        except PermissionError:
            return pid
        except OSError:
            continue  # it has just ended
    return None


def holder_of(inodes: Collection[int], root: Path = Path("/")) -> str:
    """Name a process that has one of the sockets: ``nginx (process 412)``; in general words where none can be seen."""
    for entry in (root / "proc").iterdir():
        if entry.name.isdecimal() and sockets_of([int(entry.name)], root) & set(inodes):
            try:
                name = (entry / "comm").read_text("utf-8", "replace").strip()
            except OSError:
                continue
            return f"{name} (process {entry.name})"
    return "a process that this user may not look at"


def is_free(port: int) -> bool:
    """Tell whether a server could listen on a port of 127.0.0.1 now."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as one:
        one.setsockopt(
            socket.SOL_SOCKET, socket.SO_REUSEADDR, 1
        )  # what is still closing is no listener
        try:
            one.bind(("127.0.0.1", port))
            one.listen(1)
        except OSError:
            return False
    return not listening(port)


def free_port(taken: Collection[int], root: Path = Path("/")) -> int:
    """Choose a port of 127.0.0.1 that nobody has, below those that clients get by themselves.

    All have five digits: so the arguments of a program have one length in every session.
    """
    try:
        text = (root / "proc/sys/net/ipv4/ip_local_port_range").read_text("ascii")
        highest = int(text.split()[0])
    except (OSError, ValueError, IndexError):
        highest = _EPHEMERAL
    ports = range(_LOWEST, highest) if highest - _LOWEST >= _TRIES else range(10_000, 65_536)
    draw = random.SystemRandom()
    for _ in range(_TRIES):
        port = draw.choice(ports)
        if port not in taken and is_free(port):
            return port
    with socket.socket() as one:  # the kernel's own choice
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])
