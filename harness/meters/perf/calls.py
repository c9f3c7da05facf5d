"""The calls on events of perf_event_open(2), through the C library: it has no function of its own."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import struct
from collections.abc import Mapping
from dataclasses import dataclass

_CLOEXEC = 8
_RESULT = struct.Struct("<QQQ")


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """The numbers of a kind of machine: of the system call, and of the ioctl that enables an event."""

    call: int
    enable: int = 0x2400


# Little-endian ones of 64 bits, by the name that uname gives.
MACHINES: Mapping[str, Machine] = {
    "x86_64": Machine(call=298),
    "aarch64": Machine(call=241),
    "riscv64": Machine(call=241),
    "loongarch64": Machine(call=241),
    "ppc64le": Machine(call=319, enable=0x20002400),
}


class PerfCalls:
    """Opens, enables, reads and closes events; tests put another object in its place."""

    def __init__(self) -> None:
        self._machine = MACHINES.get(os.uname().machine)
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._libc.syscall.restype = ctypes.c_long

    def open(self, attributes: bytes, *, pid: int, cpu: int, group: int = -1) -> int:
        """Open one event, and give its descriptor, which no program inherits.

        Parameters
        ----------
        attributes : bytes
            As of `EventAttributes.packed`.
        pid : int
            The process; 0 for this one, -1 for all.
        cpu : int
            The CPU; -1 for any.
        group : int
            The descriptor of the event that leads its group; -1 for none.

        Raises
        ------
        OSError
            With the kernel's errno: ENOENT where there is no such event, EACCES where it is not
            permitted, ENOSYS where this kind of machine is not known here.
        """
        if self._machine is None:
            raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
        given = (pid, cpu, group, _CLOEXEC)
        descriptor = self._libc.syscall(
            ctypes.c_long(self._machine.call),
            ctypes.c_char_p(attributes),
            *map(ctypes.c_long, given),
        )
        if descriptor < 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))
        return int(descriptor)

    def enable(self, descriptor: int) -> None:
        """Begin to count."""
        assert self._machine is not None, "it could not have been opened"
        fcntl.ioctl(descriptor, self._machine.enable, 0)

    def read(self, descriptor: int) -> tuple[int, int, int] | None:
        """Give the value, and for how many ns it was enabled and counted; None for no answer.

        There is none of an event that is `pinned` and found no place on the processor.
        """
        data = os.read(descriptor, _RESULT.size)
        if len(data) != _RESULT.size:
            return None
        value, enabled, running = _RESULT.unpack(data)
        return value, enabled, running

    def close(self, descriptor: int) -> None:
        """Close an event."""
        os.close(descriptor)
