"""The programs that the orchestrator has announced: variables, files and the call of posix_spawn, prepared before the clock is read."""

from __future__ import annotations

import ctypes
import errno
import os
import signal

from .messages import ENDING
from .system_calls import check, libc

_PAGE = 4096


def strings(parts: list, *, room: int = 0) -> ctypes.Array:  # type: ignore[type-arg]  # list of bytes
    """Make a list of C strings that ends with NULL, with `room` for more."""
    for part in parts:
        if b"\0" in part:
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
    return (ctypes.c_char_p * (len(parts) + room + 1))(*parts)


class Padding:
    """A variable of any length: one long text, whose end is moved to where a run wants it."""

    def __init__(self, name: bytes) -> None:
        self._head = name + b"="
        self._longest = self._end = 0
        self._buffer = ctypes.create_string_buffer(self._head)

    def cut(self, length: int) -> int:
        """End the value after so many bytes; give the address of the variable."""
        if length > self._longest:
            self._longest = self._end = max(length, _PAGE)
            self._buffer = ctypes.create_string_buffer(self._head + b"x" * self._longest)
        if self._end < self._longest:
            self._buffer[len(self._head) + self._end] = b"x"
        self._end = length
        self._buffer[len(self._head) + length] = b"\0"
        return ctypes.addressof(self._buffer)


class Environment:
    """The variables of a program; programs that have the same share one."""

    def __init__(self, variables: list, padding: Padding | None) -> None:  # type: ignore[type-arg]  # of bytes
        self.strings = strings(variables, room=1)
        self._last = len(variables)
        self._padding = padding

    def pad(self, length: int) -> None:
        """Set the length of the padding's value; 0 leaves the variable out."""
        if self._padding is not None:
            self.strings[self._last] = self._padding.cut(length) if length else None


_MOST_ENVIRONMENTS = 512  # as many programs as the orchestrator keeps announced


class AnnouncedProgram:
    """One announced program: its message, and what posix_spawn wants of it.

    `failure` is the error of one that cannot be converted: its runs end with that.
    """

    def __init__(self, message: dict, argv: ctypes.Array, environment: Environment) -> None:  # type: ignore[type-arg]  # the message
        self.message = message
        self.path = message["path"]
        self.argv = argv
        self.environment = environment
        self.failure: OSError | None = None


class Programs:
    """All of them, by their handles. A handle that comes again names another program."""

    def __init__(self) -> None:
        self._programs: dict[int, AnnouncedProgram] = {}
        self._environments: dict[tuple, Environment] = {}  # type: ignore[type-arg]  # of bytes
        self._paddings: dict[bytes, Padding] = {}

    def __getitem__(self, handle: int) -> AnnouncedProgram:
        return self._programs[handle]

    def add(self, message: dict) -> None:  # type: ignore[type-arg]  # the message
        """Take in an announced program.

        Keys: handle, path, argv, env, cwd, stdin, stdout, stderr (bytes; an open file's number), limits (list of
        (resource, soft limit)), timeout_ms (-1: none), patience_ms (what the timeout is in all beyond
        that, of a program that is not measured), grace_ms, sweep, padded (the variable whose length each
        run tells, or None).
        """
        failure = None
        argv, environment = strings([]), Environment([], None)
        try:
            argv = strings(message["argv"])
            environment = self._environment(message.pop("env"), message["padded"])
        except OSError as error:
            failure = error
        program = self._programs[message["handle"]] = AnnouncedProgram(message, argv, environment)
        program.failure = failure

    def _environment(self, variables: list, padded: bytes | None) -> Environment:  # type: ignore[type-arg]  # of bytes
        key = (padded, *variables)
        found = self._environments.get(key)
        if found is None:
            padding = None
            if padded is not None:
                padding = self._paddings.get(padded) or Padding(padded)
                self._paddings[padded] = padding
            found = Environment(variables, padding)
            if len(self._environments) >= _MOST_ENVIRONMENTS:
                self._environments.clear()
            self._environments[key] = found
        return found


_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_WRITING = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC


def open_output(path: bytes) -> int:
    """Open what output goes to; neither it nor its folder may be a symbolic link.

    The name is known beforehand, so a program could put a link there, and the next one's output
    would destroy what that names.
    """
    folder, _, name = path.rpartition(b"/")
    at = os.open(folder or b"/", _FOLDER)
    try:
        return os.open(name, _WRITING, os.fstat(at).st_mode & 0o666, dir_fd=at)
    finally:
        os.close(at)


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

    def prepare(self, program: AnnouncedProgram, sources: tuple, padding: int) -> None:  # type: ignore[type-arg]  # of three files
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
