"""The most memory that all processes of a service had together while a run lasted, by its cgroup.

Source: Documentation/admin-guide/cgroup-v2.rst, ``memory.peak``: since Linux 6.12 what is written to it begins the
peak anew, for who reads it through the same open file.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..meters.cgroups import RunGroups

_PEAK = "memory.peak"
_MOST = 64


def _anew(file: int) -> None:
    os.write(file, b"reset\n")


def folder_with_peaks(groups: RunGroups | None) -> Path | None:
    """Give the folder of the services' groups; None where there is none, or a peak in it cannot begin anew."""
    if groups is None or "memory" not in groups.controllers:
        return None
    peak = GroupPeak(groups.path / "self")
    known = peak.taken() is not None
    return groups.path if known else None


def group_of(pid: int, folder: Path, proc: Path = Path("/proc")) -> Path | None:
    """Give the group below a folder in which a process is; None where it is in none of them."""
    try:
        lines = (proc / str(pid) / "cgroup").read_text(errors="replace").splitlines()
    except OSError:
        return None
    own = next((line[3:] for line in lines if line.startswith("0::")), "")
    above, _, name = own.rpartition("/")
    return folder / name if above.rpartition("/")[2] == folder.name else None


class GroupPeak:
    """The peak of a group from now on."""

    def __init__(self, group: Path, anew: Callable[[int], None] = _anew) -> None:
        self._file = -1
        with contextlib.suppress(OSError):
            self._file = os.open(group / _PEAK, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
        if self._file >= 0:
            try:
                anew(self._file)
            except OSError:
                self._close()

    def taken(self) -> int | None:
        """Give it in bytes, and end; None where the kernel does not tell it."""
        if self._file < 0:
            return None
        try:
            return int(os.pread(self._file, _MOST, 0))
        except (OSError, ValueError):
            return None
        finally:
            self._close()

    def _close(self) -> None:
        os.close(self._file)
        self._file = -1
