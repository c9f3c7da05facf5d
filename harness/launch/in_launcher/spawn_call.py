"""One call of posix_spawn, prepared before the clock is read."""

from __future__ import annotations

import ctypes
import errno
import os
import signal

from .endings import ENDING
from .libc import check, libc

# Flags of posix_spawn, the same in glibc and musl; its opaque structs have at most 336 bytes.
_SETSIGDEF, _SETSIGMASK, _SETSCHEDPARAM, _SETSCHEDULER, _SETSID = 0x04, 0x08, 0x10, 0x20, 0x80
_OPAQUE = 1024

_ORDINARY = (signal.SIGCHLD, *ENDING)

_posix_spawn = libc.posix_spawn
_posix_spawn.argtypes = [ctypes.c_void_p, ctypes.c_char_p, *[ctypes.c_void_p] * 4]


class SpawnCall:
    """Everything that posix_spawn needs, converted before the clock is read.

    ``os.posix_spawn`` converts arguments and environment inside the timed interval; going to the
    C function halved what this launcher adds to an empty program's time.
    """

    def __init__(self, request: dict, sources: list, attributes: ctypes.Array) -> None:  # type: ignore[type-arg]  # the messages
        self.path = request["path"]
        self.discards = False
        self.pid = ctypes.c_int()
        self._pid = ctypes.byref(self.pid)
        self._actions = ctypes.create_string_buffer(_OPAQUE)
        self._attributes = attributes
        self._argv = _strings(request["argv"])
        self._env = _strings(request["env"])
        check(libc.posix_spawn_file_actions_init(self._actions))
        for target, source in enumerate(sources):
            check(libc.posix_spawn_file_actions_adddup2(self._actions, source, target))

    def spawn(self, path: bytes) -> int:
        """Spawn; give 0 or the error number. The child's number is in `pid`."""
        result: int = _posix_spawn(
            self._pid, path, self._actions, self._attributes, self._argv, self._env
        )
        return result

    def free(self) -> None:
        """Give the file actions back."""
        libc.posix_spawn_file_actions_destroy(self._actions)


def _strings(parts: list) -> ctypes.Array:  # type: ignore[type-arg]  # list of bytes
    for part in parts:
        if b"\0" in part:
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
    return (ctypes.c_char_p * (len(parts) + 1))(*parts, None)


def spawn_attributes(config: dict) -> ctypes.Array:  # type: ignore[type-arg]  # the configuration message
    """Make the spawn attributes: own session, no blocked signal, default actions, scheduling."""
    attributes = ctypes.create_string_buffer(_OPAQUE)
    nothing, defaults = (ctypes.create_string_buffer(_OPAQUE) for _ in range(2))
    check(libc.posix_spawnattr_init(attributes))
    libc.sigemptyset(nothing)
    libc.sigemptyset(defaults)
    # Python ignores the first two, we the third, and who started us perhaps one of the others
    # (nohup does); an ignored signal is inherited over an exec.
    for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGXCPU, *_ORDINARY):
        libc.sigaddset(defaults, int(number))
    check(libc.posix_spawnattr_setsigmask(attributes, nothing))
    check(libc.posix_spawnattr_setsigdefault(attributes, defaults))
    flags = _SETSIGDEF | _SETSIGMASK | _SETSID
    if config["scheduling"] == "fifo":
        check(libc.posix_spawnattr_setschedpolicy(attributes, os.SCHED_FIFO))
        param = ctypes.create_string_buffer(_OPAQUE)
        ctypes.c_int.from_buffer(param).value = config["priority"]  # the first member
        check(libc.posix_spawnattr_setschedparam(attributes, param))
        flags |= _SETSCHEDPARAM | _SETSCHEDULER
    check(libc.posix_spawnattr_setflags(attributes, ctypes.c_short(flags)))
    return attributes
