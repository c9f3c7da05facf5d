"""A trial's folder: what is written whole and synced there, and what a start without any run left in it.

The folder may be reached through a link, which is its user's. Below it no link is followed: one was put there
by somebody else, such as the program that is measured, and a write would destroy a file elsewhere.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import re
import shutil
import socket
import stat
import time
from pathlib import Path

from analysis.errors import StoreError
from analysis.record.shapes import SAMPLES
from analysis.record.trial_files import (
    BUILDS,
    CAMPAIGN,
    ENVIRONMENT,
    FINDINGS,
    MANIFEST,
    MEASUREMENTS,
    OUTPUTS,
    PLAN,
    RESOLVED,
)
from analysis.words import command_line

from ..errors import HostError

# --- Locks that death releases: on CPUs, so that one trial at a time measures there, and on a
# trial's directory.
#
# The lock of a CPU is an abstract Unix socket: its name is unique in the network namespace, needs
# no file and no permission, and works between users. A second name says who holds it.


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
                fix = "wait for it: --wait-for-lock; a new trial may name other CPUs under isolation.cpus"
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
    with contextlib.suppress(OSError):
        text = Path("/proc/net/unix").read_text(encoding="utf-8", errors="replace")
        return [line.rpartition(" ")[2] for line in text.splitlines()]
    return None


def _holder(cpu: int) -> str:
    for _ in range(_LOOKS):
        for name in _names() or ():
            match = _HOLDER.fullmatch(name)
            if match and int(match[1]) == cpu:
                pid, uid, namespace = int(match[2]), int(match[3]), int(match[4])
                if namespace != _namespace():
                    return f"process {pid}, {whose(uid)}, in another container"
                return f"{_trial_of(pid)}process {pid}, {whose(uid)}"
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
    with contextlib.suppress(OSError):
        return Path("/proc/self/ns/pid").stat().st_ino
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


def locked(fd: int, tries: int = 1) -> bool:
    """Take the lock of an open file, if nobody else has it; who only looks has it for an instant."""
    for left in reversed(range(tries)):
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(0.02 * bool(left))
        else:
            return True
    return False


def lock_or_holder(fd: int) -> str | None:
    """Take the lock of a file that names who has it; None, or else that process, "" where it is not named."""
    if not locked(fd):
        return os.pread(fd, 32, 0).decode("ascii", "replace").strip()
    os.ftruncate(fd, 0)
    os.pwrite(fd, b"%d\n" % os.getpid(), 0)
    return None


def lock_trial(fd: int, trial: Path) -> None:
    """Lock the measurements file of a trial, or close it and say who has it."""
    if not locked(fd, 20):
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


_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


def mode_of_files(folder: Path | int) -> int:
    """Give the mode of new files in a folder of a trial: that of the folder, which is never changed."""
    return os.stat(folder).st_mode & 0o666  # noqa: PTH116 - a descriptor is no path


def give_to_owner(file: int, folder: int) -> None:
    """Give what root made to the owner of its folder, who could not go on with it; no file of two names."""
    if os.geteuid() == 0 and os.fstat(file).st_nlink == 1:
        # not known in this namespace, or on another machine's disk
        with contextlib.suppress(OSError):
            os.fchown(file, os.fstat(folder).st_uid, os.fstat(folder).st_gid)


def open_inside(trial: Path, name: str, flags: int) -> int:
    """Open or make a file of a trial's folder; give its descriptor."""
    *folders, last = Path(name).parts
    at = os.open(trial, _FOLDER)
    try:
        for part in folders:
            inner = _open(trial, name, part, _FOLDER, at)
            os.close(at)
            at = inner
        return _open(trial, name, last, flags | os.O_CLOEXEC, at)
    finally:
        os.close(at)


def _open(trial: Path, name: str, part: str, flags: int, at: int) -> int:
    """Open a file or a folder, and nothing else: a pipe without a reader would be waited for."""
    ls = command_line(("ls", "-l", str(trial / Path(name).parts[0])))
    try:
        fd = os.open(part, flags | os.O_NOFOLLOW | os.O_NONBLOCK, mode_of_files(at), dir_fd=at)
        if stat.S_IFMT(os.fstat(fd).st_mode) in {stat.S_IFREG, stat.S_IFDIR}:
            return fd
        os.close(fd)
    except OSError as error:
        linked = os.path.islink(f"/proc/self/fd/{at}/{part}")  # noqa: PTH114 - never raises
        if error.errno in {errno.ELOOP, errno.ENOTDIR} and linked:
            raise StoreError(
                "it is reached through a symbolic link, which fairtrial does not make: writing there "
                "would change a file somewhere else",
                str(trial / name),
                f"look who put it there, and remove the link: {ls}",
            ) from error
        if error.errno != errno.ENXIO:
            raise
    fix = f"look who put it there, and remove it: {ls}"
    raise StoreError("this is not a regular file", str(trial / name), fix)


def refuse_links(trial: Path) -> None:
    """Refuse a trial with symbolic links where fairtrial writes: in its folder, `outputs` and `samples`."""
    found = []
    for folder in (trial, trial / OUTPUTS, trial / SAMPLES):
        with contextlib.suppress(OSError), os.scandir(folder) as entries:
            found += [entry.path for entry in entries if entry.is_symlink()]
        if found and folder == trial:
            break  # one of them may be another of these folders
    if found:
        raise StoreError(
            "symbolic links lie in this trial, which fairtrial does not make: going on would write "
            f"where they lead to\n{chr(10).join(f'    {name}' for name in sorted(found))}",
            str(trial),
            "look who put them there, and remove them (rm removes a link, not what it names)",
        )


def files_of_runs(trial: Path) -> list[str]:
    """Name the files in `outputs` and `samples`, links left out; hooks may have made folders there."""
    paths = (path for name in (OUTPUTS, SAMPLES) for path in (trial / name).rglob("*"))
    files = (path for path in paths if path.is_file() and not path.is_symlink())
    return sorted(str(path.relative_to(trial)) for path in files)


def write_whole(fd: int, data: bytes) -> None:
    """Append with one system call; what does not fit whole leaves nothing of itself."""
    written = os.write(fd, data)
    if written != len(data):
        os.ftruncate(fd, os.fstat(fd).st_size - written)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def append_synced(trial: Path, name: str, data: bytes) -> None:
    """Append to a file of the trial and bring it to the disk."""
    fd = open_inside(trial, name, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    with os.fdopen(fd, "wb"):
        write_whole(fd, data)
        os.fdatasync(fd)


def write_synced(trial: Path, name: str, data: bytes) -> None:
    """Write a file of the trial anew and bring it to the disk."""
    fd = open_inside(trial, name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    with os.fdopen(fd, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(fd)


def cut(trial: Path, name: str, size: int) -> None:
    """Cut a file of the trial off after `size` bytes."""
    with os.fdopen(open_inside(trial, name, os.O_WRONLY), "wb") as file:
        file.truncate(size)


class storing:  # noqa: N801 - reads as a phrase: "with storing(path):"
    """Turn an operating system error into a `StoreError` that says where and what to do."""

    _FIXES = {  # noqa: RUF012 - a constant table
        errno.ENOSPC: "free some space, then continue with --resume",
        errno.EDQUOT: "your disk quota is used up: free some space, then continue with --resume",
        errno.EACCES: "choose a folder that you may write with --dir DIR",
        errno.EEXIST: "something is there: another process has just begun a trial in that folder?",
        errno.EROFS: "choose a folder on a writable file system with --dir DIR",
        errno.EFBIG: "raise the limit: ulimit -f unlimited",
    }

    def __init__(self, where: Path) -> None:
        self._where = where

    def __enter__(self) -> None:
        """Do nothing yet."""

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, OSError):
            fix = self._FIXES.get(error.errno or 0)
            if error.errno in {errno.EACCES, errno.EPERM} and os.path.lexists(self._where):
                fix = (
                    "you may not write this trial: ask its owner, or go on with a copy of your own"
                )
            what = f"cannot be written: {error.strerror}"
            raise StoreError(what, str(self._where), fix) from error


LEFT = ".part"  # how hidden folders end that nobody needs any more
RESERVE = ".reserve"  # kept aside so that a full disk still leaves room for the last manifest
FRESH_MANIFEST = f".{MANIFEST}.new"
FRESH_ENVIRONMENT = f".{ENVIRONMENT}.new"
FILES = frozenset(
    {BUILDS, CAMPAIGN, ENVIRONMENT, FINDINGS, MANIFEST, MEASUREMENTS, PLAN, RESOLVED}
    | {FRESH_ENVIRONMENT, FRESH_MANIFEST, RESERVE}
)


def holds_only_a_start(folder: Path) -> bool:
    """Tell whether a folder holds nothing but files of a trial, and no row."""
    with os.scandir(folder) as entries:
        names = {entry.name for entry in entries}
    if names - FILES - {OUTPUTS, SAMPLES}:
        return False
    return MEASUREMENTS not in names or not (folder / MEASUREMENTS).stat().st_size


def remove_left(path: Path) -> None:
    """Free the name of a folder that something may still write to, and delete what it holds now.

    What is written there later stays under another name.
    """
    gone = path.with_name(f".{os.urandom(6).hex()}{LEFT}")
    path.rename(gone)
    shutil.rmtree(gone, ignore_errors=True)


def clear_unused(folder: Path) -> None:
    """Empty a folder in which a trial was begun and nothing was measured."""
    refuse_links(folder)
    with storing(folder):
        fd = open_inside(folder, MEASUREMENTS, os.O_RDWR | os.O_CREAT)
        lock_trial(fd, folder)
        try:
            if not holds_only_a_start(folder):
                what = "it holds more than the start of a trial without any run"
                raise StoreError(what, str(folder), "name a folder that is not there")
            for name in (OUTPUTS, SAMPLES):
                with contextlib.suppress(FileNotFoundError):
                    remove_left(folder / name)
            for name in FILES - {MEASUREMENTS}:
                (folder / name).unlink(missing_ok=True)
            (folder / MEASUREMENTS).unlink()  # the lock lies on it
        finally:
            os.close(fd)
