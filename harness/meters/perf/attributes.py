"""The attributes of one event, laid out as perf_event_open(2) reads them."""

from __future__ import annotations

import struct
from dataclasses import dataclass

_SIZE = 136  # PERF_ATTR_SIZE_VER8; an older kernel takes more bytes as long as they are 0
_HEAD = struct.Struct("<IIQQQQQIIQQ")  # up to config2
_CONFIG3_AT = 128
_TIMES = 0b11  # of read_format: the times enabled and running stand behind the value

# The bits of the flags, as little-endian machines number them.
_DISABLED, _INHERIT, _PINNED = 1 << 0, 1 << 1, 1 << 2
_EXCLUDE_KERNEL, _EXCLUDE_HYPERVISOR, _ENABLE_ON_EXEC = 1 << 5, 1 << 6, 1 << 12


@dataclass(frozen=True, slots=True, kw_only=True)
class EventAttributes:
    """What is counted (`kind`: the PMU's type, `config`: the event) and when.

    `inherit` counts the processes and threads that the counted one starts too, `on_exec` from the
    exec of each on; `user_only` leaves out what kernel and hypervisor do; `pinned` takes a place on
    the processor all the time or none. A read gives three numbers of 8 bytes: the value, and for how
    many ns the event was enabled and counted.
    """

    kind: int
    config: int
    config1: int = 0
    config2: int = 0
    config3: int = 0
    disabled: bool = False
    inherit: bool = False
    on_exec: bool = False
    pinned: bool = False
    user_only: bool = False

    def packed(self) -> bytes:
        """Give the bytes of ``struct perf_event_attr`` on a little-endian machine."""
        flags = sum(
            bit
            for bit, is_set in (
                (_DISABLED, self.disabled),
                (_INHERIT, self.inherit),
                (_PINNED, self.pinned),
                (_EXCLUDE_KERNEL | _EXCLUDE_HYPERVISOR, self.user_only),
                (_ENABLE_ON_EXEC, self.on_exec),
            )
            if is_set
        )
        # kind, size, config, period, sample type, read format, flags, wake-up, breakpoint, config1, 2
        head = (
            self.kind,
            _SIZE,
            self.config,
            0,
            0,
            _TIMES,
            flags,
            0,
            0,
            self.config1,
            self.config2,
        )
        laid = bytearray(_SIZE)
        _HEAD.pack_into(laid, 0, *head)
        struct.pack_into("<Q", laid, _CONFIG3_AT, self.config3)
        return bytes(laid)
