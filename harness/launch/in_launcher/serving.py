"""The launcher's work: one request after the other is spawned, timed, limited, killed and reaped, until it is asked to end."""

from __future__ import annotations

import ctypes
import errno
import gc
import os
import resource
import select
import signal
import sys
import time

from .cgroups import Account, GroupFailed, ProcessTree, leaves_for
from .system_calls import (
    ENDING,
    EventCounters,
    Hangup,
    ReceivedSignals,
    SettingRefused,
    apply,
    call,
    check,
    enter_namespace,
    libc,
    receive,
    send,
)

# --- The programs that the orchestrator has announced: variables, files and the call of posix_spawn,
# prepared before the clock is read.


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
        """End the value after `length` bytes; give the address of the variable."""
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


# --- The launcher at work.


_NOWHERE = b"/nonexistent/fairtrial-priming"
_SLICE_MS = 250


class Launcher:
    """Executes one request after the other; holds what is prepared once."""

    def __init__(
        self,
        control: int,
        config: dict,  # type: ignore[type-arg]  # the message
        counters: EventCounters | None = None,
        told: ReceivedSignals | None = None,
    ) -> None:
        self.control = control
        self.told = told or ReceivedSignals()
        self.account = Account()
        self.counters = counters or EventCounters(config.get("counters"))
        self.attributes = spawn_attributes(config)
        self.leaves = leaves_for(config.get("cgroup"), self.attributes)
        self.family = ProcessTree(self.leaves, contained=config["containment"] != "none")
        self.call = SpawnCall(self.attributes)
        self.programs = Programs()
        self.pollers: dict[int, select.poll] = {}
        self.null = os.open("/dev/null", os.O_RDWR | os.O_CLOEXEC)
        self.home = os.open("/", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        self.status = os.open("/proc/self/status", os.O_RDONLY | os.O_CLOEXEC)
        self.requests = select.poll()
        self.requests.register(control, select.POLLIN)
        self.stay_ns = config["stay_ns"]

    def serve(self) -> None:
        """Answer requests until the orchestrator hangs up; whatever ends it, sweep."""
        try:
            while True:
                request = receive(self.control)
                if request["op"] == "run":
                    reply = self._execute(self.programs[request["handle"]], request)
                    send(self.control, {**reply, "told": self.told.taken()})
                    self.leaves.renew()
                    self._stay()
                elif request["op"] == "prepare":
                    self.programs.add(request)
                elif request["op"] == "sweep":
                    send(self.control, {"orphans": self.family.sweep()[0]})
        except Hangup:
            pass
        finally:
            for number in ENDING:  # a second one does not end the sweep
                signal.signal(number, signal.SIG_IGN)
            self.family.sweep()
            self.leaves.close()

    def _stay(self) -> None:
        """Keep the CPU for a moment: the next request comes soon, and finds nothing asleep or cold."""
        if self.stay_ns:
            poll, clock = self.requests.poll, time.monotonic_ns
            until = clock() + self.stay_ns
            while not poll(0) and clock() < until:
                pass

    def _execute(self, program: AnnouncedProgram, run: dict) -> dict:  # type: ignore[type-arg]  # the messages
        """Execute an announced program once.

        Keys of `run`: handle, padding (bytes of the padding's value), count (whether to read the
        counters).
        """
        request = program.message
        self.counters.start(wanted=run.get("count", False))
        opened: list[int] = []
        saved: list[tuple[int, tuple[int, int]]] = []
        try:
            stage = "stdin"
            sources = [self.null] * 3
            if request["stdin"] is not None:
                # not blocking: a FIFO without a writer would hold the launcher for ever
                reading = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC
                sources[0] = os.open(request["stdin"], reading)
                opened.append(sources[0])
                os.set_blocking(sources[0], True)
            for number, stage in ((1, "stdout"), (2, "stderr")):
                if isinstance(request[stage], int):
                    sources[number] = request[stage]  # which is open
                elif request[stage] is not None:
                    sources[number] = open_output(request[stage])
                    opened.append(sources[number])
            stage = "cwd"
            os.chdir(request["cwd"])
            stage = "spawn"
            if program.failure is not None:
                raise program.failure
            # before a limit on open files, by which the C library would judge the launcher's own
            self.call.prepare(program, tuple(sources), run["padding"])
            stage = "limits"
            for what, soft in request["limits"]:
                old = resource.getrlimit(what)
                resource.setrlimit(what, (soft, old[1]))
                saved.append((what, old))
            stage = "spawn"
            return self._timed(request, saved)
        except GroupFailed as error:
            return {"error": "cgroup", "errno": error.errno}
        except OSError as error:
            return {"error": stage, "errno": error.errno}
        except ValueError:  # setrlimit: above the hard limit
            return {"error": stage, "errno": errno.EPERM}
        finally:
            for what, old in saved:
                resource.setrlimit(what, old)
            for fd in opened:
                os.close(fd)
            os.fchdir(self.home)

    def _timed(self, request: dict, saved: list) -> dict:  # type: ignore[type-arg]  # the messages
        call, spawn, clock = self.call, self.call.spawn, time.monotonic_ns
        path, timeout = request["path"], request["timeout_ms"]
        pidfd_open, pollers = os.pidfd_open, self.pollers
        self.leaves.warm()
        started = time.time_ns()
        # Spawn what does not exist: it walks the same code, so that the timed spawn finds it warm.
        spawn(_NOWHERE)
        self.leaves.enter()
        self.told.continued = False
        self.account.begin()
        t0 = clock()
        failure = spawn(path)
        spawned = clock()
        self.leaves.leave(0 if failure else call.pid.value, spawned)
        if failure:
            raise OSError(failure, os.strerror(failure))
        pid = call.pid.value
        if saved:  # a limit on open files or memory must not hit the launcher itself
            for what, old in saved:
                resource.setrlimit(what, old)
            saved.clear()
        pidfd = pidfd_open(pid)
        events = (pollers.get(pidfd) or self._poller(pidfd)).poll(timeout)
        t1 = clock()
        late_ms = (t1 - spawned) // 1_000_000 - timeout if timeout >= _SLICE_MS else 0
        reason = None
        hangup = False
        if not events and request["patience_ms"]:
            events = self._wait_on(pollers[pidfd], request["patience_ms"])
            t1 = clock()
        if not any(fd == pidfd for fd, _ in events):
            reason, grace_ms, number = "timeout", request["grace_ms"], signal.SIGTERM
            if events:
                order: dict = {}  # type: ignore[type-arg]  # the message
                try:
                    order = receive(self.control)
                except Hangup:
                    hangup = True
                reason = order.get("reason", "killed")
                grace_ms, number = order.get("grace_ms", 0), order.get("signal", number)
            self._stop(pid, pidfd, grace_ms, number)
            t1 = clock()
        self.account.end(pid)
        _, status, usage = os.wait4(pid, 0)
        counted = self.counters.taken()
        os.close(pidfd)
        # before what was left behind is killed: its end is not the run's
        grouped, out_of_memory = self.leaves.numbers(), self.leaves.out_of_memory()
        orphans, survivors, left_s = 0, 0, 0.0
        if request["sweep"] or hangup:
            orphans, survivors, left_s = self.family.sweep()
        if hangup:
            raise Hangup
        self.leaves.raise_problem()
        own_s = usage.ru_utime + usage.ru_stime
        tree_s = max(own_s + left_s, grouped["tree_cpu_s"] or 0.0)
        return {
            "started_ns": started,
            "status": status,
            "reason": reason,
            "survivors": survivors,
            "out_of_memory": out_of_memory,
            "counters": counted,
            "continued": self.told.continued,
            "late_ms": late_ms,
            "numbers": {  # those of the table in analysis/record/run_numbers.py whose source is the launcher
                "start_ns": t0,
                "wall_ns": t1 - t0,
                "spawn_ns": spawned - t0,
                "user_s": usage.ru_utime,
                "system_s": usage.ru_stime,
                "max_rss_bytes": usage.ru_maxrss * 1024,
                "max_rss_floor_bytes": self._peak(),
                "minor_faults": usage.ru_minflt,
                "major_faults": usage.ru_majflt,
                "voluntary_switches": usage.ru_nvcsw,
                "involuntary_switches": usage.ru_nivcsw,
                "orphans": orphans,
                **grouped,
                **self.account.numbers(t1 - t0, spawned - t0, own_s, tree_s),
            },
        }

    def _poller(self, pidfd: int) -> select.poll:
        """Make what waits for an end and hears the orchestrator: once for each number of a pidfd.

        That number is nearly always the same, and setting one up would be measured.
        """
        poller = self.pollers[pidfd] = select.poll()
        poller.register(self.control, select.POLLIN)
        poller.register(pidfd, select.POLLIN)
        return poller

    def _wait_on(self, poller: select.poll, left_ms: int) -> list:  # type: ignore[type-arg]  # of events
        """Wait for a program that is not measured, in slices: what stands still costs it one of them."""
        events: list = []  # type: ignore[type-arg]  # likewise
        while not events and left_ms > 0:
            events = poller.poll(min(left_ms, _SLICE_MS))
            left_ms -= _SLICE_MS
        return events

    def _stop(self, pid: int, pidfd: int, grace_ms: int, number: int) -> None:
        """TERM or another signal (and CONT, for a stopped one), grace, then KILL the target's process group."""
        waiter = select.poll()
        waiter.register(pidfd, select.POLLIN)
        if grace_ms:
            self._signal_group(pid, number)
            self._signal_group(pid, signal.SIGCONT)
            if waiter.poll(grace_ms):
                return
        self._signal_group(pid, signal.SIGKILL)
        signal.pidfd_send_signal(pidfd, signal.SIGKILL)
        waiter.poll()

    def _signal_group(self, pid: int, number: int) -> None:
        try:
            os.killpg(pid, number)
        except (ProcessLookupError, PermissionError):
            pass

    def _peak(self) -> int:
        """Peak memory of this process in bytes: for a target, no lower peak can be seen."""
        data = os.pread(self.status, 4096, 0)
        start = data.find(b"VmHWM:")
        return int(data[start + 6 : data.find(b"kB", start)]) * 1024 if start >= 0 else 0


_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36


def _end(_number: int, _frame: object) -> None:
    """Take a signal as the end, so that the last sweep is made."""
    raise Hangup


def main() -> None:
    """Configure, report that all is set (the kernel tells the reader who wrote it), serve."""
    try:
        _serve()
    except Hangup:
        pass


def _serve() -> None:
    control = int(sys.argv[1])
    while True:  # a missing 0, 1 or 2 would be taken by a file and overwritten by its own dup2
        fd = os.open("/dev/null", os.O_RDWR)
        if fd > 2:
            os.close(fd)
            break
    for word in sys.argv[1:]:
        os.set_inheritable(int(word), False)
    signal.signal(signal.SIGXCPU, signal.SIG_IGN)  # a soft CPU limit is meant for the target
    # with SIGCHLD ignored, a target would be gone before wait4
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for number in ENDING:
        signal.signal(number, _end)
    found = ReceivedSignals()
    found.listen()
    # Stopped (by a target, say), it would not see that the orchestrator died: then go on.
    libc.prctl(_PR_SET_PDEATHSIG, signal.SIGCONT, 0, 0, 0)
    config = receive(control)
    try:
        apply(config)
        if config["containment"] != "none":
            try:
                enter_namespace(config["containment"])
            except OSError as error:
                raise SettingRefused("containment", error.errno) from None
        # After the fork into a namespace: the attribute is not inherited.
        call("subreaper", libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0))
        launcher = Launcher(control, config, told=found)
        counters = launcher.counters.look()
    except SettingRefused as refused:
        send(control, {"error": refused.args[0], "errno": refused.args[1]})
        return
    except OSError as error:
        send(control, {"error": "start", "errno": error.errno})
        return
    gc.collect()
    gc.freeze()
    gc.disable()
    entry = {"spawns_into_groups": launcher.leaves.spawns} if config.get("cgroup") else {}
    send(control, {"ready": True, "counters": counters} | entry)
    launcher.serve()
