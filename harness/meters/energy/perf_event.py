"""Opens events of perf that count on one CPU, whatever runs there; a test may take its place.

Source: perf_event_open(2), and ``struct perf_event_attr`` of its first version (64 bytes), which every
kernel accepts.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
from typing import Protocol

_NUMBERS = {  # of the system call
    "x86_64": 298,
    "aarch64": 241,
    "riscv64": 241,
    "ppc64le": 319,
    "s390x": 331,
}
_ATTRIBUTES = struct.Struct("=IIQQQQQIIQ")
_EVERY_PROCESS, _NO_GROUP, _CLOSE_ON_EXEC = -1, -1, 8


class PerfEvents(Protocol):
    """What the kernel offers; each raises OSError where it refuses."""

    def open(self, kind: int, config: int, cpu: int) -> int:
        """Start to count an event on a CPU; give its descriptor."""

    def read(self, fd: int) -> int:
        """Give its count."""

    def close(self, fd: int) -> None:
        """End it."""


class KernelPerfEvents:
    """The system calls themselves."""

    def open(self, kind: int, config: int, cpu: int) -> int:
        """Start to count an event on a CPU; give its descriptor."""
        number = _NUMBERS.get(platform.machine())
        if number is None:
            raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
        attributes = _ATTRIBUTES.pack(kind, _ATTRIBUTES.size, config, 0, 0, 0, 0, 0, 0, 0)
        libc = ctypes.CDLL(None, use_errno=True)
        fd: int = libc.syscall(
            ctypes.c_long(number),
            attributes,
            ctypes.c_int(_EVERY_PROCESS),
            ctypes.c_int(cpu),
            ctypes.c_int(_NO_GROUP),
            ctypes.c_ulong(_CLOSE_ON_EXEC),
        )
        if fd < 0:
            code = ctypes.get_errno()
            raise OSError(code, os.strerror(code))
        return fd

    def read(self, fd: int) -> int:
        """Give its count."""
        data = os.read(fd, 8)
        if len(data) != 8:  # what no longer counts is at its end
            raise OSError(errno.ENODATA, os.strerror(errno.ENODATA))
        return int.from_bytes(data, "little" if struct.pack("=H", 1)[0] else "big")

    def close(self, fd: int) -> None:
        """End it."""
        os.close(fd)
