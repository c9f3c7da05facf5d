"""The lock of a trial directory: one process writes it, and who that is can be asked."""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from pathlib import Path

from analysis.record import MEASUREMENTS

from ..errors import StoreError
from .locks import whose

_PROC_LOCKS = Path("/proc/locks")


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
    return StoreError(
        f"another process is writing this trial ({_writer(trial)})",
        str(trial),
        "wait until it is done ('fairtrial status' shows how far it is), or start a new trial",
    )


def _writer(trial: Path) -> str:
    """Name the process that the kernel lists as the lock's holder."""
    try:
        file = (trial / MEASUREMENTS).stat()
        for line in _PROC_LOCKS.read_text(encoding="ascii").splitlines():
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
        return any(_is(fd, file) for fd in Path(f"/proc/{pid}/fd").iterdir())
    return False


def _is(fd: Path, file: os.stat_result) -> bool:
    try:
        return os.path.samestat(file, fd.stat())
    except OSError:  # closed by now, as the one that lists them
        return False
