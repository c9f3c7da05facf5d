"""The cgroups of a trial's runs: one folder for all of them, its end, and a leaf for fairtrial in it.

A group that hands controllers down may hold no processes, so fairtrial goes into ``self`` of its own folder.
The folder is locked while it lives: one that nobody holds was left by a fairtrial that was killed.
Source: Documentation/admin-guide/cgroup-v2.rst of Linux ("No Internal Process Constraint").
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import re
import signal
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .facts import limiting, settings
from .state import OwnGroup


def write(file: Path, text: str) -> None:
    """Write to a file of a group; never makes one."""
    fd = os.open(file, os.O_WRONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    try:
        os.write(fd, text.encode("ascii"))
    finally:
        os.close(fd)


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
    return [Path(place) for place, _, _ in os.walk(group, topdown=False)]


# Those without which something would be unknown. The CPU controller is not among them: times and
# pressure are shown without it, and with it the scheduler would place a run otherwise.
_WANTED = ("memory", "pids")
_NAME = re.compile(r"fairtrial-[0-9]+-[0-9]+")
_RUN = "run-"
_TRIES = 20


class NoGroupsError(Exception):
    """There can be no cgroups for runs here: why, in words. Becomes a finding, or an error with a fix."""


class RunGroups:
    """The folder of the runs' cgroups, and who is in it.

    The runs' groups have the `controllers`, of "memory" and "pids"; `withheld` says why they are fewer
    than the kernel has.
    """

    def __init__(self, own: OwnGroup | None, top: Path = Path("/")) -> None:
        if own is None:
            raise NoGroupsError("no cgroup of version 2 is mounted here")
        if not own.writable:
            raise NoGroupsError(f"this process may not make groups below {own.path}")
        self._own = own
        self._above = top / own.path.lstrip("/")
        self._turned_on: list[str] = []
        self._launchers = 0
        self.withheld: str | None = None
        remove_left(self._above)
        try:
            self.path, self.fd = _claimed(self._above)
        except OSError as error:
            raise NoGroupsError(f"no group can be made in {own.path}: {error.strerror}") from error
        try:
            self._self = self.path / "self"
            self._self.mkdir()
            write(self._self / "cgroup.procs", "0")
        except OSError as error:
            self.close()
            what = f"fairtrial cannot move into a group below {own.path}: {error.strerror}"
            raise NoGroupsError(what) from error
        self.controllers = tuple(name for name in _WANTED if self._hand_down(name))

    def _hand_down(self, name: str) -> bool:
        """Have the runs' groups get a controller, as far as it can be had."""
        if name not in self._own.controllers:
            return False
        try:
            if name not in self._own.handed_down:
                write(self._above / "cgroup.subtree_control", f"+{name}")
                self._turned_on.append(name)
            write(self.path / "cgroup.subtree_control", f"+{name}")
        except OSError as error:
            why = error.strerror
            if error.errno == errno.EBUSY and self._own.others:
                why = f"it holds processes other than fairtrial ({self._own.others})"
            self.withheld = f"{self._own.path} cannot hand down its controllers: {why}"
            return False
        return True

    def for_launcher(self, limits: Mapping[str, int]) -> dict[str, Any]:
        """Give what a launcher needs to know; each has names of its own for the groups of its runs."""
        self._launchers += 1
        return {
            "base": self.fd,
            "prefix": f"{_RUN}{self._launchers}-",
            "settings": list(settings(limits)),
            "limits": list(limiting(limits)),
        }

    def sweep(self, prefix: str = _RUN) -> None:
        """Kill what is in the groups of runs, and remove them: for when their launcher, of that prefix, has died."""
        for group in self.path.glob(f"{prefix}*"):
            empty(group)
            remove(group)

    def close(self) -> None:
        """Remove what was made, and go back to where we were, as far as others let us."""
        if self.fd < 0:
            return
        self.sweep()
        for name in reversed(self._turned_on):
            for place in (self.path, self._above):
                with contextlib.suppress(OSError):  # another trial uses it: then it stays
                    write(place / "cgroup.subtree_control", f"-{name}")
        with contextlib.suppress(OSError):
            write(self._above / "cgroup.procs", "0")
            remove(self.path)
        os.close(self.fd)
        self.fd = -1


def remove_left(above: Path) -> int:
    """Remove the folders that killed fairtrials left in a group; give how many.

    The lock tells them from those of trials under way, whatever namespace those are in. Of what such a
    folder holds only runs are killed: whoever else is there keeps it.
    """
    removed = 0
    with contextlib.suppress(OSError):
        for folder in sorted(above.iterdir()):
            if _NAME.fullmatch(folder.name) and (fd := _locked(folder)) is not None:
                for group in folder.glob(f"{_RUN}*"):
                    empty(group)
                    remove(group)
                removed += remove(folder, patience_s=0)
                os.close(fd)
    return removed


def _claimed(above: Path) -> tuple[Path, int]:
    """Make a folder and lock it; another one when somebody took it for a left one meanwhile."""
    for number in range(_TRIES):
        folder = above / f"fairtrial-{os.getpid()}-{number}"
        with contextlib.suppress(FileExistsError):
            folder.mkdir()
            fd = _locked(folder)
            if fd is not None:
                return folder, fd
    raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))


def _locked(folder: Path) -> int | None:
    """Lock a folder that is there; None when another process holds it, or has removed it."""
    try:
        fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.samestat(os.fstat(fd), folder.stat()):
            return fd
    except OSError:
        pass
    os.close(fd)
    return None
