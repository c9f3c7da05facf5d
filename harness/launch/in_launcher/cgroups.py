"""A cgroup of its own for each run: made before the clock is read, reported and removed after it.

Source: Documentation/admin-guide/cgroup-v2.rst of Linux; posix_spawnattr_setcgroup_np of glibc 2.39.
"""

from __future__ import annotations

import ctypes
import errno
import os
import signal
import time

from .system_calls import SettingRefused, check, libc

_SETCGROUP = 0x100  # POSIX_SPAWN_SETCGROUP
_NOWHERE = b"/nonexistent/fairtrial-priming"
_REMOVING_TRIES = 1000
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class GroupFailed(OSError):
    """The cgroup of a run could not be made, entered, left or limited."""


class Leaves:
    """The cgroups of runs, one at a time, below a folder that the orchestrator has made.

    A new process begins in the group of the one that spawns it. Where the C library can put it into
    another one, the launcher never enters the leaf (`spawns`). Otherwise it goes in before the clock
    is read and out again directly after the spawn returned; what limits the leaf is written then, so
    that it never holds for the launcher. `config`: base (descriptor of the folder), prefix (of the
    leaves' names), settings and limits (lists of (file, bytes): from the begin, after leaving).
    """

    def __init__(self, config: dict, attributes: ctypes.Array) -> None:  # type: ignore[type-arg]  # the message
        self.base = config["base"]
        os.set_inheritable(self.base, False)
        self.prefix = config["prefix"]
        self.settings = config["settings"]
        self.limits = config["limits"]
        self.number = 0
        self.name = ""
        self.opened: dict[str, int] = {}
        self.folder = -1
        self.problem: int | None = None
        self.inside = self.spawns = False
        self.entered_ns = self.own_ns = 0
        self.left_ns: int | None = None
        self.attributes = attributes
        self.home = os.open("self/cgroup.procs", os.O_WRONLY | os.O_CLOEXEC, dir_fd=self.base)
        self.home_folder = os.open("self", _FOLDER, dir_fd=self.base)
        self.renew()
        self.raise_problem()
        self.spawns = self._can_spawn()

    def _can_spawn(self) -> bool:
        """Find whether a process can be spawned into a group, by one that comes to nothing."""
        if not hasattr(libc, "posix_spawnattr_setcgroup_np"):
            return False
        flags = ctypes.c_short()
        check(libc.posix_spawnattr_getflags(self.attributes, ctypes.byref(flags)))
        more = ctypes.c_short(flags.value | _SETCGROUP)
        check(libc.posix_spawnattr_setflags(self.attributes, more))
        self._aim(self.home_folder)
        nothing = (ctypes.c_char_p * 1)(None)
        pid = ctypes.c_int()
        answer = libc.posix_spawn(
            ctypes.byref(pid), _NOWHERE, None, self.attributes, nothing, nothing
        )
        if answer == errno.ENOENT:
            return True
        check(libc.posix_spawnattr_setflags(self.attributes, flags))
        return False

    def _aim(self, folder: int) -> None:
        check(libc.posix_spawnattr_setcgroup_np(self.attributes, folder))

    def renew(self) -> None:
        """Make a fresh leaf in place of the last one, while nobody waits; `raise_problem` tells."""
        self.problem = None
        try:
            self._remove()
            self.number += 1
            self.name = f"{self.prefix}{self.number}"
            os.mkdir(self.name, 0o755, dir_fd=self.base)
            self.folder = os.open(self.name, _FOLDER, dir_fd=self.base)
            for name, flag in (
                ("cgroup.procs", os.O_WRONLY),
                ("cgroup.kill", os.O_WRONLY),
                ("cpu.stat", os.O_RDONLY),
                ("cpu.pressure", os.O_RDONLY),
                ("memory.peak", os.O_RDONLY),
                ("memory.events", os.O_RDONLY),
                *((name, os.O_WRONLY) for name, _ in self.limits),
            ):
                try:
                    self.opened[name] = self._open(name, flag)
                except FileNotFoundError:  # an older kernel, or no such controller
                    if flag == os.O_WRONLY and name != "cgroup.kill":
                        raise
            for name, text in self.settings:
                self._set(name, text)
            if self.spawns:
                self._aim(self.home_folder)  # for what is spawned to warm the caches
        except OSError as error:
            self.problem = error.errno

    def _open(self, name: str, flag: int) -> int:
        return os.open(name, flag | os.O_CLOEXEC | os.O_NOFOLLOW, dir_fd=self.folder)

    def _set(self, name: str, text: bytes) -> None:
        try:
            fd = self._open(name, os.O_WRONLY)
        except FileNotFoundError:  # such as that of swap, where the kernel accounts for none
            return
        try:
            os.write(fd, text)
        finally:
            os.close(fd)

    def raise_problem(self) -> None:
        """Raise what went wrong with the leaf at hand."""
        if self.problem is not None:
            raise GroupFailed(self.problem, os.strerror(self.problem))

    def warm(self) -> None:
        """Do what may have to wait, before the caches are warmed.

        The first move of a process after some 20 ms without one waits until every CPU has taken
        note (one to some tens of milliseconds); those behind it take microseconds.
        """
        self.raise_problem()
        if not self.spawns:
            try:
                os.write(self.home, b"0")
            except OSError as error:
                raise GroupFailed(error.errno, error.strerror) from None

    def enter(self) -> None:
        """Let what is spawned next begin in the leaf."""
        try:
            if self.spawns:
                self._limit()
                self._aim(self.folder)
                return
            # Asking for the time also makes the kernel book what was used so far, where it was used.
            self.entered_ns = time.thread_time_ns()
            os.write(self.opened["cgroup.procs"], b"0")
            self.inside = True
        except OSError as error:
            raise GroupFailed(error.errno, error.strerror) from None

    def leave(self, pid: int, spawned_ns: int) -> None:
        """Go back out of the leaf, within the measured time; kill what would run without its limits."""
        if not self.inside:
            return
        self.own_ns = time.thread_time_ns() - self.entered_ns
        try:
            os.write(self.home, b"0")
            self.inside = False
            self._limit()
        except OSError as error:
            self.problem = error.errno
            if pid > 0:
                os.kill(pid, signal.SIGKILL)
        self.left_ns = time.monotonic_ns() - spawned_ns

    def _limit(self) -> None:
        for name, text in self.limits:
            os.write(self.opened[name], text)

    def kill(self) -> None:
        """Kill everything in the leaf at one stroke, where the kernel can."""
        fd = self.opened.get("cgroup.kill")
        if fd is not None and not self.inside:
            try:
                os.write(fd, b"1")
            except OSError:
                pass  # the ordinary way comes next

    def numbers(self) -> dict:  # type: ignore[type-arg]  # part of the reply
        """Tell what the leaf's processes have used so far, those that have ended included."""
        peak = self._read("memory.peak")
        usage = _after(self._read("cpu.stat"), b"usage_usec ")
        stall = _after(self._read("cpu.pressure"), b"total=")  # of the first line: some waited
        return {
            "peak_memory_tree_bytes": None if peak is None else int(peak),
            "tree_cpu_s": None if usage is None else max(0, usage * 1000 - self.own_ns) / 1e9,
            "tree_stall_s": None if stall is None else stall / 1e6,
            "group_leave_ns": self.left_ns,
        }

    def out_of_memory(self) -> bool | None:
        """Tell whether the kernel killed a process of the leaf for lack of memory."""
        killed = _after(self._read("memory.events"), b"oom_kill ")
        return None if killed is None else killed > 0

    def _read(self, name: str) -> bytes | None:
        fd = self.opened.get(name)
        try:
            return None if fd is None else os.pread(fd, 4096, 0)
        except OSError:  # of pressure, where the kernel does not measure it
            return None

    def close(self) -> None:
        """Remove the leaf at hand."""
        try:
            self._remove()
        except OSError:
            pass  # the orchestrator, or the next one, does

    def _remove(self) -> None:
        for fd in self.opened.values():
            os.close(fd)
        self.opened.clear()
        self.own_ns = 0
        self.left_ns = None
        if self.folder >= 0:
            os.close(self.folder)
            self.folder = -1
            name, self.name = self.name, ""
            tries = _REMOVING_TRIES  # no deadline: everything may have stood still meanwhile
            while not _removed(name, self.base):
                tries -= 1
                if not tries:
                    raise GroupFailed(errno.EBUSY, os.strerror(errno.EBUSY))
                time.sleep(0.0005)


def _removed(name: str, base: int) -> bool:
    """Remove a group with those that a target made below it; False while a process is in one."""
    try:
        os.rmdir(name, dir_fd=base)
    except FileNotFoundError:
        return True
    except OSError:
        pass
    else:
        return True
    try:
        for _, folders, _, at in os.fwalk(name, topdown=False, dir_fd=base):
            for folder in folders:
                os.rmdir(folder, dir_fd=at)
        os.rmdir(name, dir_fd=base)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def _after(text: bytes | None, word: bytes) -> int | None:
    """Read the whole number behind a word."""
    if text is None:
        return None
    start = text.find(word)
    if start < 0:
        return None
    digits = text[start + len(word) :].split(None, 1)
    return int(digits[0]) if digits and digits[0].isdigit() else None


class Ungrouped:
    """What stands in the place of `Leaves` where runs have no cgroups: it does and knows nothing."""

    spawns = False

    def leave(self, pid: int, spawned_ns: int) -> None:
        """Do nothing: called within the measured time."""

    def _nothing(self) -> None:
        pass

    renew = warm = enter = kill = raise_problem = close = _nothing

    def numbers(self) -> dict:  # type: ignore[type-arg]  # part of the reply
        """Give the numbers that a run has of its cgroup, as unknown."""
        names = ("peak_memory_tree_bytes", "tree_cpu_s", "tree_stall_s", "group_leave_ns")
        return dict.fromkeys(names)

    def out_of_memory(self) -> bool | None:
        """Give that nobody knows."""
        return None


def leaves_for(config: dict | None, attributes: ctypes.Array) -> Leaves | Ungrouped:  # type: ignore[type-arg]  # the message
    """Give what holds the runs, as the orchestrator has a place for their cgroups or none."""
    if config is None:
        return Ungrouped()
    try:
        return Leaves(config, attributes)
    except OSError as error:
        raise SettingRefused("cgroup", error.errno) from None


# --- The processes of a run: where their time went, and those that are left behind are found, killed
# and reaped.
#
# Between its end and `wait4` a target is a zombie, and its ``schedstat`` still answers. It is
# read then, and the launcher's own around the clock: nothing of this lies in the measured time.


NAMES = ("on_cpu_ns", "run_delay_ns", "launcher_delay_ns", "launcher_on_cpu_ns")
_UNKNOWN: dict = dict.fromkeys(NAMES)  # type: ignore[type-arg]  # name -> int or None
_COMPLETE = 0.98
_APART_NS = 50_000


class Account:
    """The account of one run after the other: `begin` before t0, `end` after t1, then `numbers`.

    `proc` is where /proc lies.
    """

    def __init__(self, proc: str = "/proc") -> None:
        self._proc = proc
        try:
            self._own = os.open(f"{proc}/self/schedstat", os.O_RDONLY | os.O_CLOEXEC)
        except OSError:  # a kernel that keeps none
            self._own = -1
        self._delay: int | None = None
        self._on_cpu = 0
        self._target: tuple[int, int] | None = None

    def begin(self) -> None:
        """Note what the launcher has waited and used so far; the clock is read next."""
        self._delay = self._own_delay()
        self._on_cpu = time.thread_time_ns()  # schedstat lags behind by up to a tick while one runs

    def end(self, pid: int) -> None:
        """Take the differences, and read the zombie's account; the clock was read just before."""
        self._on_cpu = time.thread_time_ns() - self._on_cpu
        now = self._own_delay()
        self._delay = None if now is None or self._delay is None else now - self._delay
        self._target = _parsed(_contents(f"{self._proc}/{pid}/schedstat"))

    def numbers(self, wall_ns: int, spawn_ns: int, processor_s: float, tree_s: float = 0.0) -> dict:  # type: ignore[type-arg]  # name -> int or None
        """Give the numbers of `NAMES`: all of them or, where the account is not whole, none.

        `processor_s` is what `wait4` tells of the whole process and the children it waited for:
        where the leading thread has less than 0.98 of it, others have the rest. `tree_s` is that of all
        its processes, whoever waited for them: likewise, where it is beyond by more than 50 us. The
        kernel's two accounts of one process were at most 43 us apart (2,500 runs, most by less than 1);
        and who has worked for less cannot alone make its parent wait for as long as disturbs it.

        posix_spawn wakes the launcher when the program is loaded, but it may wait while that runs on
        (always with SCHED_BATCH, which preempts nobody). Such waiting is the program's own time. It
        shows as what posix_spawn took beyond twice the launcher's work; and the launcher cannot have
        waited longer than the program, from its birth to its end, neither ran nor waited.
        """
        if self._delay is None or self._target is None:
            return _UNKNOWN
        on_cpu, run_delay = self._target
        all_ns = tree_s * 1e9
        beyond = on_cpu < min(_COMPLETE * all_ns, all_ns - _APART_NS)
        if beyond or on_cpu < _COMPLETE * processor_s * 1e9:
            return _UNKNOWN
        normal = max(0, spawn_ns - 2 * self._on_cpu)
        room = max(0, wall_ns - on_cpu - run_delay)
        return {
            "on_cpu_ns": on_cpu,
            "run_delay_ns": run_delay,
            "launcher_delay_ns": min(max(0, self._delay - normal), room),
            "launcher_on_cpu_ns": self._on_cpu,
        }

    def _own_delay(self) -> int | None:
        if self._own < 0:
            return None
        try:
            found = _parsed(os.pread(self._own, 96, 0))
        except OSError:
            return None
        return None if found is None else found[1]


def _contents(path: str) -> bytes:
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        return os.read(fd, 96)
    except OSError:
        return b""
    finally:
        os.close(fd)


def _parsed(text: bytes) -> tuple[int, int] | None:
    """Read (on a CPU, waiting for one) in ns; None for "0 0 0", which is what some kernels say."""
    fields = text.split()
    if len(fields) != 3 or not all(field.isdigit() for field in fields):
        return None
    on_cpu, delay, slices = map(int, fields)
    return (on_cpu, delay) if on_cpu or delay or slices else None


_SWEEP_LIMIT_S = 10.0
_STEP_S = 0.25


class ProcessTree:
    """Everything below the launcher: `contained` in a PID namespace of its own, or not.

    `leaves` kill the run's processes at one stroke, where they have a cgroup.
    """

    def __init__(self, leaves: Leaves | Ungrouped, *, contained: bool) -> None:
        self.leaves = leaves
        self.contained = contained
        self.me = os.getpid()

    def sweep(self) -> tuple[int, int, float]:
        """Kill and reap everything that is left.

        Give how many had to be killed, how many survived, and the processor time in seconds of all that
        nobody else has waited for.
        """
        killed, used_s = 0, 0.0
        struck = False
        waited, before = 0.0, time.monotonic()
        while True:
            try:
                pid, _, usage = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                return killed, 0, used_s
            if pid:
                used_s += usage.ru_utime + usage.ru_stime
                killed += struck  # one that had ended by itself before is no orphan
                continue
            now = time.monotonic()
            waited += min(now - before, _STEP_S)  # no longer: everything may have stood still
            before = now
            if waited > _SWEEP_LIMIT_S:
                return killed, len(_descendants(self.me)), used_s
            struck = True
            self._strike()
            time.sleep(0.0005)

    def _strike(self) -> None:
        self.leaves.kill()
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
