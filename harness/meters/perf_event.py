"""The system call perf_event_open(2): what it is told, and the calls themselves."""

from __future__ import annotations

import ctypes
import errno
import os
import struct
from collections.abc import Mapping
from typing import NamedTuple

_SIZE = 136  # PERF_ATTR_SIZE_VER8; an older kernel takes more bytes as long as they are 0
_HEAD = struct.Struct("<IIQQQQQIIQQ")  # up to config2
_CONFIG3_AT = 128
_TIMES = 0b11  # of read_format: the times enabled and running stand behind the value

# The bits of the flags, as little-endian machines number them.
_DISABLED, _INHERIT, _PINNED = 1 << 0, 1 << 1, 1 << 2
_EXCLUDE_KERNEL, _EXCLUDE_HYPERVISOR, _ENABLE_ON_EXEC = 1 << 5, 1 << 6, 1 << 12


def event_attributes(
    kind: int,
    words: tuple[int, int, int, int],
    *,
    disabled: bool = False,
    inherit: bool = False,
    on_exec: bool = False,
    pinned: bool = False,
    user_only: bool = False,
) -> bytes:
    """Give ``struct perf_event_attr`` of an event (`kind`: the PMU's type, `words`: config to config3).

    `inherit` counts the processes and threads that the counted one starts too, `on_exec` from the
    exec of each on; `user_only` leaves out what kernel and hypervisor do; `pinned` takes a place on
    the processor all the time or none. A read gives three numbers of 8 bytes: the value, and for how
    many ns the event was enabled and counted.
    """
    flags = (
        disabled * _DISABLED
        | inherit * _INHERIT
        | pinned * _PINNED
        | user_only * (_EXCLUDE_KERNEL | _EXCLUDE_HYPERVISOR)
        | on_exec * _ENABLE_ON_EXEC
    )
    # kind, size, config, period, sample type, read format, flags, wake-up, breakpoint, config1, 2
    laid = bytearray(_SIZE)
    _HEAD.pack_into(laid, 0, kind, _SIZE, words[0], 0, 0, _TIMES, flags, 0, 0, *words[1:3])
    struct.pack_into("<Q", laid, _CONFIG3_AT, words[3])
    return bytes(laid)


_CLOEXEC = 8
_RESULT = struct.Struct("<QQQ")


class PerfNumbers(NamedTuple):
    """The numbers of a kind of machine: of the system call, and of the ioctl that enables an event."""

    call: int
    enable: int = 0x2400


# Little-endian ones of 64 bits, by the name that uname gives.
MACHINES: Mapping[str, PerfNumbers] = {
    "x86_64": PerfNumbers(call=298),
    "aarch64": PerfNumbers(call=241),
    "riscv64": PerfNumbers(call=241),
    "loongarch64": PerfNumbers(call=241),
    "ppc64le": PerfNumbers(call=319, enable=0x20002400),
}


class PerfCalls:
    """Opens, reads and closes events; tests put another object in its place."""

    def __init__(self) -> None:
        self._machine = MACHINES.get(os.uname().machine)
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._libc.syscall.restype = ctypes.c_long

    def open(self, attributes: bytes, *, pid: int, cpu: int) -> int:
        """Open one event, and give its descriptor, which no program inherits."""
        if self._machine is None:
            raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
        descriptor = self._libc.syscall(
            ctypes.c_long(self._machine.call),
            ctypes.c_char_p(attributes),
            *map(ctypes.c_long, (pid, cpu, -1, _CLOEXEC)),
        )
        if descriptor < 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))
        return int(descriptor)

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
