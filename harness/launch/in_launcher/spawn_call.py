"""Calls of posix_spawn, prepared before the clock is read."""

from __future__ import annotations

import ctypes
import os
import signal

from .endings import ENDING
from .libc import check, libc
from .programs import Program

# Flags of posix_spawn, the same in glibc and musl; its opaque structs have at most 336 bytes.
_SETSIGDEF, _SETSIGMASK, _SETSCHEDPARAM, _SETSCHEDULER, _SETSID = 0x04, 0x08, 0x10, 0x20, 0x80
_OPAQUE = 1024
_MOST_REDIRECTIONS = 16  # the numbers of open files are nearly always the same

_ORDINARY = (signal.SIGCHLD, *ENDING)

# Nobody else wants the interpreter: it is not given back meanwhile.
_posix_spawn = ctypes.PyDLL(None).posix_spawn
_posix_spawn.argtypes = [ctypes.c_void_p, ctypes.c_char_p, *[ctypes.c_void_p] * 4]


class SpawnCall:
    """What all calls have in common, and how to make one: nothing is converted while it is timed.

    ``os.posix_spawn`` converts arguments and environment inside the timed interval; going to the
    C function halved what this launcher adds to an empty program's time.
    """

    def __init__(self, attributes: ctypes.Array) -> None:  # type: ignore[type-arg]  # opaque
        self.pid = ctypes.c_int()
        self._pid = ctypes.byref(self.pid)
        self._attributes = attributes
        self._redirections: dict[tuple, ctypes.Array] = {}  # type: ignore[type-arg]  # of three files
        self._set: tuple = ()  # type: ignore[type-arg]  # what the C function wants

    def prepare(self, program: Program, sources: tuple, padding: int) -> None:  # type: ignore[type-arg]  # of three files
        """Set what the next calls spawn: its files are `sources`, its padding has that length."""
        program.environment.pad(padding)
        actions = self._redirection(sources)
        self._set = (actions, self._attributes, program.argv, program.environment.strings)

    def spawn(self, path: bytes) -> int:
        """Spawn; give 0 or the error number. The child's number is in `pid`."""
        result: int = _posix_spawn(self._pid, path, *self._set)
        return result

    def _redirection(self, sources: tuple) -> ctypes.Array:  # type: ignore[type-arg]  # of three files
        """Give the file actions that put these three in place of 0, 1 and 2."""
        found = self._redirections.get(sources)
        if found is not None:
            return found
        if len(self._redirections) >= _MOST_REDIRECTIONS:
            for old in self._redirections.values():
                libc.posix_spawn_file_actions_destroy(old)
            self._redirections.clear()
        actions = ctypes.create_string_buffer(_OPAQUE)
        check(libc.posix_spawn_file_actions_init(actions))
        for target, source in enumerate(sources):
            check(libc.posix_spawn_file_actions_adddup2(actions, source, target))
        self._redirections[sources] = actions
        return actions


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
