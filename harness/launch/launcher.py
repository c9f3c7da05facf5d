"""The launcher: a tiny script that spawns, times, limits, kills and reaps targets.

It is executed as ``python -I -S launcher.py FD`` and needs the standard library only: the peak
memory of the process that spawns is the floor below which a target's own peak cannot be seen, and
a small, warm process disturbs the timing least. Everything that a target inherits (CPU affinity,
nice, scheduling class, personality, namespace) is set here once, so that nothing has to happen
between the clock read and the exec: no wrapper program, no code in the forked child.
(With -I it cannot import from this package, which is why it is one file and a long one.)

Messages on FD, in both directions: four bytes of length, then a dict in `marshal` format (the
same interpreter is at both ends). The first is the configuration; the reply is ``{"ready": True}`` or
``{"error": ...}``. Then every request is one run: see `_execute` for its keys. A message
``{"op": "kill"}`` ends the run under way. When FD hangs up, in whatever way, the orchestrator is dead:
the run and everything that it left behind is killed, and the launcher exits. Whatever else ends
it, a signal or an error, it sweeps first; only SIGKILL leaves it no time to.

With ``containment`` "pid" or "user" the launcher is the second process of a PID namespace of its
own: when the first one dies the kernel kills all the others, so that no target survives even if
orchestrator and launcher are killed at the same instant. The first one dies with the orchestrator.
"""

from __future__ import annotations

import ctypes
import errno
import gc
import marshal
import os
import resource
import select
import signal
import sys
import time

_CLONE_NEWNS = 0x00020000
_CLONE_NEWUSER = 0x10000000
_CLONE_NEWPID = 0x20000000
_MS_REC_SLAVE = 0x4000 | 0x80000
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_ADDR_NO_RANDOMIZE = 0x0040000
_SWEEP_LIMIT_S = 10.0
_PRIMED_NS = 2_000_000
_NOWHERE = b"/nonexistent/fairtrial-priming"

# Flags of posix_spawn, the same in glibc and musl; its opaque structs have at most 336 bytes.
_SETSIGDEF, _SETSIGMASK, _SETSCHEDPARAM, _SETSCHEDULER, _SETSID = 0x04, 0x08, 0x10, 0x20, 0x80
_OPAQUE = 1024

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_WRITING = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC

_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
_ORDINARY = (signal.SIGCHLD, *_ENDING)

_libc = ctypes.CDLL(None, use_errno=True)
_posix_spawn = _libc.posix_spawn
_posix_spawn.argtypes = [ctypes.c_void_p, ctypes.c_char_p, *[ctypes.c_void_p] * 4]


class Hangup(Exception):
    """The orchestrator is gone, or a signal has asked to end."""


class Refused(Exception):
    """A setting could not be applied: (setting, errno)."""


def _receive(fd: int) -> dict:  # type: ignore[type-arg]  # messages are plain dicts
    """Read one message; raise `Hangup` at the end of the stream."""
    head = _read_exactly(fd, 4)
    message: dict = marshal.loads(  # type: ignore[type-arg]  # a plain dict
        _read_exactly(fd, int.from_bytes(head, "little"))
    )
    return message


def _read_exactly(fd: int, size: int) -> bytes:
    data = b""
    while len(data) < size:
        try:
            more = os.read(fd, size - len(data))
        except ConnectionResetError:  # it died with a reply of ours unread
            more = b""
        if not more:
            raise Hangup
        data += more
    return data


def _send(fd: int, message: dict) -> None:  # type: ignore[type-arg]  # messages are plain dicts
    data = marshal.dumps(message)
    view = memoryview(len(data).to_bytes(4, "little") + data)
    try:
        while view:
            view = view[os.write(fd, view) :]
    except (BrokenPipeError, ConnectionResetError):
        raise Hangup from None


def _call(setting: str, result: int) -> None:
    if result < 0:
        raise Refused(setting, ctypes.get_errno())


def _enter_namespace(kind: str) -> None:
    """Go on as process 2 of a new PID namespace with a /proc of its own.

    Process 1 is a fork that only waits: some programs take a parent number of 1 to mean that
    their parent died, so the launcher itself must not be number 1. The caller's process ends.
    """
    uid, gid = os.geteuid(), os.getegid()
    flags = _CLONE_NEWPID | _CLONE_NEWNS | (_CLONE_NEWUSER if kind == "user" else 0)
    _call("containment", _libc.unshare(flags))
    if kind == "user":
        for name, text in (
            ("setgroups", "deny"),
            ("uid_map", f"{uid} {uid} 1"),
            ("gid_map", f"{gid} {gid} 1"),
        ):
            fd = os.open(f"/proc/self/{name}", os.O_WRONLY)
            os.write(fd, text.encode())
            os.close(fd)
    # Slave, not private: what a hook mounts on the host still reaches the targets.
    _call("containment", _libc.mount(None, b"/", None, _MS_REC_SLAVE, None))
    ready_r, ready_w = os.pipe()
    starter = os.pidfd_open(os.getpid())
    if os.fork():
        os.close(ready_w)
        verdict = os.read(ready_r, 16)
        if not verdict:
            raise Refused("containment", errno.EPERM)
        if verdict != b"ok":
            raise Refused("containment", int(verdict))
        os._exit(0)
    os.close(ready_r)
    if _libc.mount(b"proc", b"/proc", b"proc", 0, None) < 0:
        os.write(ready_w, b"%d" % ctypes.get_errno())
        os._exit(1)
    child = os.fork()
    if child:
        for number in _ENDING:  # of those without a handler, the inside reaches process 1 with none
            signal.signal(number, signal.SIG_DFL)
        os.write(ready_w, b"ok")
        # Who started us ends, and we fall to the orchestrator: from then on we die with it.
        ended = select.poll()
        ended.register(starter, select.POLLIN)
        ended.poll()
        _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        os.closerange(3, 1 << 16)
        while os.wait()[0] != child:
            pass
        os._exit(0)
    os.close(ready_w)
    os.close(starter)


def _apply(config: dict) -> None:  # type: ignore[type-arg]  # the configuration message
    """Put the campaign's settings on this process; targets inherit them."""
    if config["cpus"]:
        _try("cpus", lambda: os.sched_setaffinity(0, config["cpus"]))
    if config["nice"] is not None:
        _try("nice", lambda: os.setpriority(os.PRIO_PROCESS, 0, config["nice"]))
    if config["scheduling"] == "batch":
        _try("scheduling", lambda: os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0)))
    elif config["scheduling"] == "fifo":
        # One above the target, or a spinning target would never let a timeout fire.
        above = os.sched_param(config["priority"] + 1)
        _try("scheduling", lambda: os.sched_setscheduler(0, os.SCHED_FIFO, above))
    if not config["aslr"]:
        persona = _libc.personality(ctypes.c_ulong(0xFFFFFFFF))
        _call("aslr", _libc.personality(ctypes.c_ulong(persona | _ADDR_NO_RANDOMIZE)))


def _try(setting: str, action) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001 - no typing import here
    try:
        action()
    except OSError as error:
        raise Refused(setting, error.errno) from None


def _output(path: bytes) -> int:
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
        _check(_libc.posix_spawn_file_actions_init(self._actions))
        for target, source in enumerate(sources):
            _check(_libc.posix_spawn_file_actions_adddup2(self._actions, source, target))

    def spawn(self, path: bytes) -> int:
        """Spawn; give 0 or the error number. The child's number is in `pid`."""
        result: int = _posix_spawn(
            self._pid, path, self._actions, self._attributes, self._argv, self._env
        )
        return result

    def free(self) -> None:
        """Give the file actions back."""
        _libc.posix_spawn_file_actions_destroy(self._actions)


def _strings(parts: list) -> ctypes.Array:  # type: ignore[type-arg]  # list of bytes
    for part in parts:
        if b"\0" in part:
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
    return (ctypes.c_char_p * (len(parts) + 1))(*parts, None)


def _attributes(config: dict) -> ctypes.Array:  # type: ignore[type-arg]  # the configuration message
    """Make the spawn attributes: own session, no blocked signal, default actions, scheduling."""
    attributes = ctypes.create_string_buffer(_OPAQUE)
    nothing, defaults = (ctypes.create_string_buffer(_OPAQUE) for _ in range(2))
    _check(_libc.posix_spawnattr_init(attributes))
    _libc.sigemptyset(nothing)
    _libc.sigemptyset(defaults)
    # Python ignores the first two, we the third, and who started us perhaps one of the others
    # (nohup does); an ignored signal is inherited over an exec.
    for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGXCPU, *_ORDINARY):
        _libc.sigaddset(defaults, int(number))
    _check(_libc.posix_spawnattr_setsigmask(attributes, nothing))
    _check(_libc.posix_spawnattr_setsigdefault(attributes, defaults))
    flags = _SETSIGDEF | _SETSIGMASK | _SETSID
    if config["scheduling"] == "fifo":
        _check(_libc.posix_spawnattr_setschedpolicy(attributes, os.SCHED_FIFO))
        param = ctypes.create_string_buffer(_OPAQUE)
        ctypes.c_int.from_buffer(param).value = config["priority"]  # the first member
        _check(_libc.posix_spawnattr_setschedparam(attributes, param))
        flags |= _SETSCHEDPARAM | _SETSCHEDULER
    _check(_libc.posix_spawnattr_setflags(attributes, ctypes.c_short(flags)))
    return attributes


def _check(failure: int) -> None:
    if failure:
        raise OSError(failure, os.strerror(failure))


class Launcher:
    """Executes one request after the other; holds what is prepared once."""

    def __init__(self, control: int, config: dict) -> None:  # type: ignore[type-arg]  # the message
        self.control = control
        self.contained = config["containment"] != "none"
        self.attributes = _attributes(config)
        self.null = os.open("/dev/null", os.O_RDWR | os.O_CLOEXEC)
        self.home = os.open("/", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        self.status = os.open("/proc/self/status", os.O_RDONLY | os.O_CLOEXEC)
        self.me = os.getpid()
        self.last: SpawnCall | None = None
        self.primed_ns = 0

    def serve(self) -> None:
        """Answer requests until the orchestrator hangs up; whatever ends it, sweep."""
        try:
            while True:
                request = _receive(self.control)
                if request["op"] == "run":
                    _send(self.control, self._execute(request))
                    self._prime()
                elif request["op"] == "sweep":
                    _send(self.control, {"orphans": self._sweep()[0]})
        except Hangup:
            pass
        finally:
            for number in _ENDING:  # a second one does not end the sweep
                signal.signal(number, signal.SIG_IGN)
            self._sweep()

    def _prime(self) -> None:
        """Spawn what does not exist: it walks the same code, so that the timed spawn finds it warm.

        Done while the orchestrator writes the row, which costs no time; a run that comes later
        than that is primed again before its clock starts.
        """
        if self.last is not None and self.last.discards:
            self.last.spawn(_NOWHERE)
            self.primed_ns = time.monotonic_ns()

    def _execute(self, request: dict) -> dict:  # type: ignore[type-arg]  # the messages
        """Execute one run.

        Keys: path, argv, env, cwd, stdin, stdout, stderr (bytes), limits (list of (resource, soft
        limit)), timeout_ms (-1: none), grace_ms, sweep.
        """
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
                if request[stage] is not None:
                    sources[number] = _output(request[stage])
                    opened.append(sources[number])
            stage = "cwd"
            os.chdir(request["cwd"])
            stage = "limits"
            for what, soft in request["limits"]:
                old = resource.getrlimit(what)
                resource.setrlimit(what, (soft, old[1]))
                saved.append((what, old))
            stage = "spawn"
            return self._timed(request, sources, saved)
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

    def _timed(self, request: dict, sources: list, saved: list) -> dict:  # type: ignore[type-arg]  # the messages
        timeout = request["timeout_ms"]
        if self.last is not None:
            self.last.free()
        call = self.last = SpawnCall(request, sources, self.attributes)
        call.discards = sources == [self.null] * 3  # else its files are closed when it is over
        spawn, clock = call.spawn, time.monotonic_ns
        poller = select.poll()
        poller.register(self.control, select.POLLIN)
        if time.monotonic_ns() - self.primed_ns > _PRIMED_NS:
            call.spawn(_NOWHERE)
        started = time.time_ns()
        t0 = clock()
        failure = spawn(call.path)
        spawned = clock()
        if failure:
            raise OSError(failure, os.strerror(failure))
        pid = call.pid.value
        if saved:  # a limit on open files or memory must not hit the launcher itself
            for what, old in saved:
                resource.setrlimit(what, old)
            saved.clear()
        pidfd = os.pidfd_open(pid)
        poller.register(pidfd, select.POLLIN)
        events = poller.poll(timeout)
        t1 = clock()
        reason = None
        hangup = False
        if not any(fd == pidfd for fd, _ in events):
            reason = "timeout"
            if events:
                try:
                    reason = _receive(self.control).get("reason", "killed")
                except Hangup:
                    hangup = True
            self._stop(pid, pidfd, 0 if events else request["grace_ms"])
            t1 = clock()
        _, status, usage = os.wait4(pid, 0)
        os.close(pidfd)
        orphans, survivors = self._sweep() if request["sweep"] or hangup else (0, 0)
        if hangup:
            raise Hangup
        return {
            "started_ns": started,
            "status": status,
            "reason": reason,
            "survivors": survivors,
            "numbers": {  # those of the table in analysis/run_numbers.py whose source is the launcher
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
            },
        }

    def _stop(self, pid: int, pidfd: int, grace_ms: int) -> None:
        """TERM (and CONT, for a stopped one), grace, then KILL the target's process group."""
        waiter = select.poll()
        waiter.register(pidfd, select.POLLIN)
        if grace_ms:
            self._signal_group(pid, signal.SIGTERM)
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

    def _sweep(self) -> tuple[int, int]:
        """Kill and reap everything that is left: (processes that had to be killed, survivors)."""
        killed = 0
        struck = False
        deadline = 0.0
        while True:
            try:
                pid = os.waitpid(-1, os.WNOHANG)[0]
            except ChildProcessError:
                return killed, 0
            if pid:
                killed += struck  # one that had ended by itself before is no orphan
                continue
            now = time.monotonic()
            if not struck:
                deadline = now + _SWEEP_LIMIT_S
            elif now > deadline:
                return killed, len(_descendants(self.me))
            struck = True
            self._strike()
            time.sleep(0.0005)

    def _strike(self) -> None:
        if self.contained and os.getpid() == 2 and os.getppid() == 1:
            # Everything in this PID namespace but process 1 and this one, at one stroke: even a
            # fork bomb cannot outrun it.
            try:
                os.kill(-1, signal.SIGKILL)
            except ProcessLookupError:
                pass
            return
        family = _descendants(self.me)
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for pid in family:
                try:
                    os.kill(pid, number)
                except (ProcessLookupError, PermissionError):
                    pass

    def _peak(self) -> int:
        """Peak memory of this process in bytes: no target can be told to have used less."""
        text = os.pread(self.status, 4096, 0)
        start = text.find(b"VmHWM:")
        return int(text[start + 6 : text.find(b"kB", start)]) * 1024 if start >= 0 else 0


def _descendants(pid: int) -> list[int]:
    """List all processes below `pid`, by the parent field of every process in /proc."""
    parents: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                fd = os.open(f"/proc/{name}/stat", os.O_RDONLY | os.O_CLOEXEC)
            except OSError:
                continue
            try:
                fields = os.read(fd, 1024).rpartition(b")")[2].split()
            except OSError:
                continue
            finally:
                os.close(fd)
            parents.setdefault(int(fields[1]), []).append(int(name))
    found: list[int] = []
    waiting = [pid]
    while waiting:
        below = parents.get(waiting.pop(), [])
        found += below
        waiting += below
    return found


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
    os.set_inheritable(control, False)
    signal.signal(signal.SIGXCPU, signal.SIG_IGN)  # a soft CPU limit is meant for the target
    # with SIGCHLD ignored, a target would be gone before wait4
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for number in _ENDING:
        signal.signal(number, _end)
    # Stopped (by a target, say), it would not see that the orchestrator died: then go on.
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGCONT, 0, 0, 0)
    config = _receive(control)
    try:
        _apply(config)
        if config["containment"] != "none":
            try:
                _enter_namespace(config["containment"])
            except OSError as error:
                raise Refused("containment", error.errno) from None
        # After the fork into a namespace: the attribute is not inherited.
        _call("subreaper", _libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0))
        launcher = Launcher(control, config)
    except Refused as refused:
        _send(control, {"error": refused.args[0], "errno": refused.args[1]})
        return
    gc.collect()
    gc.freeze()
    gc.disable()
    _send(control, {"ready": True})
    launcher.serve()


if __name__ == "__main__":
    main()
