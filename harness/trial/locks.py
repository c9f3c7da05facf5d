"""Locks that death releases: on CPUs, so that one trial at a time measures there, and on a trial's directory.

The lock of a CPU is an abstract Unix socket: its name is unique in the network namespace, needs no file and no
permission, and works between users. A second name beside it says who holds it.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import socket
import time
from pathlib import Path

from analysis.errors import StoreError
from analysis.record.trial_files import MEASUREMENTS

from ..errors import HostError

_PREFIX = "fairtrial-cpu-"
_HOLDER = re.compile(
    r"@fairtrial-holder-([0-9]+)-([0-9]+)-([0-9]+)-([0-9]+)"
)  # CPU, process, user, namespace
_LOOKS, _LOOK_S = 10, 0.01


class CpuLock:
    """Holds the measured CPUs and their siblings for one trial."""

    def __init__(self, cpus: tuple[int, ...]) -> None:
        self._sockets: list[socket.socket] = []
        for cpu in cpus:
            try:
                self._bind(f"{_PREFIX}{cpu}")
            except OSError as error:
                self.release()
                what = f"another trial measures on CPU {cpu} ({_holder(cpu)})"
                fix = "wait for it (--wait-for-lock), or name other CPUs under isolation.cpus"
                raise HostError(what, "isolation.cpus", fix) from error
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
    try:
        text = Path("/proc/net/unix").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    return [line.rpartition(" ")[2] for line in text.splitlines()]


def _holder(cpu: int) -> str:
    for _ in range(_LOOKS):
        for name in _names() or ():
            match = _HOLDER.fullmatch(name)
            if match and int(match[1]) == cpu:
                pid, uid, namespace = int(match[2]), int(match[3]), int(match[4])
                if namespace != _namespace():
                    return f"process {pid}, {whose(uid)}, in another container"
                trial = _trial_of(pid)
                return f"{trial}process {pid}, {whose(uid)}"
        time.sleep(_LOOK_S)  # it has its lock, and is about to say so
    return "its process is unknown"


def _trial_of(pid: int) -> str:
    """Name the trial that a process measures, as seen from here; nothing where that is not known."""
    with contextlib.suppress(OSError):
        for fd in Path(f"/proc/{pid}/fd").iterdir():
            with contextlib.suppress(OSError):  # closed by now
                file = fd.readlink()
                if file.name == MEASUREMENTS:
                    trial = file.parent
                    below = trial.is_relative_to(Path.cwd())
                    return f"{trial.relative_to(Path.cwd()) if below else trial}, "
    return ""


def _namespace() -> int:
    try:
        return Path("/proc/self/ns/pid").stat().st_ino
    except OSError:
        return 0


def is_written_now(trial: Path) -> bool:
    """Tell whether a process holds the trial's lock."""
    try:
        fd = os.open(trial / MEASUREMENTS, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    except OSError as error:
        raise StoreError(f"cannot be read: {error.strerror}", str(trial / MEASUREMENTS)) from error
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(fd)
    return False


def lock_trial(fd: int, trial: Path) -> None:
    """Lock the measurements file of a trial, or close it and say who has it."""
    # A reader that asks whether we are alive holds the lock for an instant: try more than once.
    for _ in range(20):
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(0.02)
        else:
            return
    os.close(fd)
    raise written_by_another(trial)


def written_by_another(trial: Path) -> StoreError:
    """Give the error for a trial that another process has locked; it names the process."""
    fix = "wait until it is done ('fairtrial status' shows how far it is), or start a new trial"
    return StoreError(f"another process is writing this trial ({_writer(trial)})", str(trial), fix)


def _writer(trial: Path) -> str:
    """Name the process that the kernel lists as the lock's holder."""
    try:
        file = (trial / MEASUREMENTS).stat()
        for line in Path("/proc/locks").read_text(encoding="ascii").splitlines():
            words = line.split()
            # "7: FLOCK ADVISORY WRITE 1234 fe:00:5678 0 EOF"; who waits for it has "->" second
            if words[1] == "FLOCK" and words[3] == "WRITE" and _is_on(file, words[4], words[5]):
                uid = Path(f"/proc/{words[4]}").stat().st_uid
                return f"process {words[4]}, {whose(uid)}"
    except (OSError, IndexError):
        pass
    return "its process is unknown"


def _is_on(file: os.stat_result, pid: str, place: str) -> bool:
    """Tell whether the lock that the process `pid` has at `place` is one on `file`."""
    if place == f"{os.major(file.st_dev):02x}:{os.minor(file.st_dev):02x}:{file.st_ino}":
        return True
    with contextlib.suppress(OSError):  # overlay and btrfs number files otherwise there
        for fd in Path(f"/proc/{pid}/fd").iterdir():
            with contextlib.suppress(OSError):  # closed by now, as the one that lists them
                if os.path.samestat(file, fd.stat()):
                    return True
    return False
