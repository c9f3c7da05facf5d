"""What goes to a launcher and what comes back: a measurement, what the kernel refused, whether anything stood still.

SIGCONT shows that to the launcher; so do a wait that returned far too late, a clock that went
on while the machine was suspended, and the launcher's state; never how long the program took.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import resource
import shlex
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from analysis.record.run_numbers import LAUNCHER_NUMBERS

from ..errors import HostError, LaunchError
from ..host.executables import opened_file
from ..host.facts import GROUP_LIMITS

if TYPE_CHECKING:
    from ..campaign.model import Isolation

_PR_SET_CHILD_SUBREAPER = 36
_PROC = Path("/proc")


def stat_of(process: Path) -> list[bytes]:
    """Read what stands behind a process's name, which may hold blanks and brackets: state, parent and so on."""
    return (process / "stat").read_bytes().rpartition(b")")[2].split()


def children(pid: int, proc: Path = _PROC) -> tuple[int, ...]:
    """List a process's children; by every process's parent where the kernel lists none."""
    try:
        tasks = list((proc / str(pid) / "task").iterdir())
        return tuple(
            int(child) for task in tasks for child in (task / "children").read_text().split()
        )
    except FileNotFoundError:
        pass  # ended, or a kernel without that file
    found = []
    for entry in proc.iterdir():
        if entry.name.isdecimal() and entry.name.isascii():
            with contextlib.suppress(OSError):
                if int(stat_of(entry)[1]) == pid:
                    found.append(int(entry.name))
    return tuple(found)


def descendants(pid: int, proc: Path = _PROC) -> tuple[int, ...]:
    """List the processes below one, parents before their children."""
    found: list[int] = []
    waiting = [pid]
    while waiting:
        below = children(waiting.pop(), proc)
        found += below
        waiting += below
    return tuple(found)


def lineage(pid: int, proc: Path = _PROC) -> tuple[int, ...]:
    """List a process below this one and those between, from below; as far as they are there."""
    found: list[int] = []
    with contextlib.suppress(OSError):
        while pid not in {0, 1, os.getpid()}:
            found.append(pid)
            pid = int(stat_of(proc / str(pid))[1])
    return tuple(found)


def is_stopped(pid: int, proc: Path = _PROC) -> bool:
    """Tell whether a process is stopped, by a signal or by who traces it; False where nobody knows."""
    try:
        return stat_of(proc / str(pid))[0] in {b"T", b"t"}
    except (OSError, IndexError):
        return False


def become_subreaper() -> None:
    """Let the processes of a launcher that dies fall to this process, which kills them."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise LaunchError(f"prctl failed: {os.strerror(ctypes.get_errno())}")


LOOK_S = 0.25  # SIGCONT alone shows a stop that ends within that
LATE_S = 1.0
PATIENCE_S = 10.0  # with a launcher that is stopped
_UNSEEN_S = 30.0  # beyond the end of a timeout, with one that only does not answer
_SLEPT_NS = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Standstill:
    """That something stood still while a program ran.

    `what` did, in words; `seconds` is for how long, as far as it was seen: 0.0 where SIGCONT alone tells, of
    a stop of less than a quarter of a second, or of none at all.
    """

    what: str
    seconds: float

    def __str__(self) -> str:
        if not self.seconds:
            return f"{self.what} got SIGCONT, as after a stop of less than {LOOK_S:g} s"
        return f"{self.what} stood still for {self.seconds:.1f} s"


class Lookout:
    """Follows one program's run from outside, by the waits for its end."""

    def __init__(
        self,
        launcher: int,
        limit_s: float | None,
        stopped: Callable[[int], bool] = is_stopped,
    ) -> None:
        self._launcher = launcher
        self._limit_s = None if limit_s is None else limit_s + _UNSEEN_S
        self._stopped = stopped
        self._waited_s = 0.0  # what everything stood still is no part of
        self._now_s = self._longest_s = self._seen_s = 0.0  # for how long the launcher was stopped
        self._late: list[tuple[int, int]] = []
        self._asleep = _asleep()[1]

    def waited(self, began_ns: int, asked_s: float, *, in_vain: bool) -> str | None:
        """Take note of a wait that has just returned; say why the launcher is given up, if it is."""
        now = time.monotonic_ns()
        took_s, due = (now - began_ns) / 1e9, began_ns + round(asked_s * 1e9)
        if took_s - asked_s >= LATE_S:
            self._late.append((due, now))
        took_s = min(took_s, asked_s)
        self._waited_s += took_s
        if not in_vain:
            return None
        if self._stopped(self._launcher):
            self._now_s += took_s
            self._seen_s += took_s
            self._longest_s = max(self._longest_s, self._now_s)
        else:
            self._now_s = 0.0
        if self._now_s >= PATIENCE_S:
            return f"the launcher was stopped, and not continued for {PATIENCE_S:g} s"
        if self._limit_s is not None and self._waited_s >= self._limit_s:
            return f"the launcher did not answer for {self._waited_s:.0f} s"
        return None

    def standstill(self, reply: Mapping[str, Any], *, woken: bool) -> Standstill | None:
        """Tell what stood still while the program ran, by the launcher's reply too."""
        numbers = reply["numbers"]
        ended_ns = numbers["start_ns"] + numbers["wall_ns"]
        # a program that had ended when a wait was due was over before anything stood still
        late_s = sum(now - due for due, now in self._late if due < ended_ns) / 1e9
        own_s = reply["late_ms"] / 1e3
        late_s = max(late_s, own_s if own_s >= LATE_S else 0.0)
        asleep_s = max(0, _asleep()[0] - self._asleep) / 1e9
        if asleep_s * 1e9 >= _SLEPT_NS:
            return Standstill(what="the machine", seconds=asleep_s + late_s)
        if late_s:
            both = reply["continued"] or own_s >= LATE_S
            what = "fairtrial and its launcher" if both else "fairtrial"
            return Standstill(what=what, seconds=late_s + self._seen_s)
        if (reply["continued"] and not woken) or self._longest_s >= LATE_S:
            return Standstill(what="the launcher", seconds=self._seen_s)
        return None


def _asleep() -> tuple[int, int]:
    """Tell between which bounds the machine has been suspended since it started, in ns."""
    before = time.monotonic_ns()
    boot = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
    return boot - time.monotonic_ns(), boot - before


_SHEBANG = 256  # bytes of a first line that the kernel reads
_SPAWN_FIXES = {
    errno.ENOENT: ("not found", "check the path"),
    errno.EACCES: ("not executable by you", "chmod +x it, or check the folders' permissions"),
    errno.ENOEXEC: (
        "no program that the kernel can execute",
        "give a script a '#!' line, or ask for a shell by name: {shell: ...}",
    ),
    errno.E2BIG: ("called with arguments and environment that are too long", "shorten them"),
}


def more_files(number: int | None) -> str | None:
    """Give what to do where nothing more can be opened; None for any other error of the system."""
    if number not in (errno.EMFILE, errno.ENFILE):
        return None
    return "raise the limit (ulimit -n 1024), or close other open files"


def _of_its_first_line(path: str, number: int) -> tuple[str, str] | None:
    """Say what the kernel does not like of a program's first line; None where nothing is known of it."""
    try:
        with opened_file(Path(path)) as file:
            line = file.readline(_SHEBANG)
    except OSError:
        return None
    if line.startswith(b"\xef\xbb\xbf#!"):
        return "a script with a byte order mark before its '#!'", "save it without one"
    if line.startswith(b"\x7fELF") and number != errno.EACCES:
        return "a program that was not built for this host", "build it here"
    interpreter = line[2:].split()[:1]
    if not line.startswith(b"#!") or not interpreter:
        return None
    if line.endswith(b"\r\n"):
        what = "a script whose lines end as on Windows (CRLF), also its interpreter's name"
        return what, f"sed -i 's/\\r$//' {shlex.quote(path)}"
    name = interpreter[0].decode(errors="replace")
    if os.access(name, os.X_OK) and not os.path.isdir(name):  # noqa: PTH112 - may hold any byte
        return None
    what = f"a script whose interpreter {name!r} is missing or no program"
    return what, "install it, or correct the script's first line"


def not_started(request: LaunchRequest, stage: str, number: int) -> LaunchError:
    """Say why a launcher did not execute a program: what it was doing then."""
    name, reason = request.argv[0], os.strerror(number)
    if (
        stage == "spawn"
        and request.limits
        and number in (errno.ENOMEM, errno.EAGAIN, errno.EBADF, errno.EMFILE)
    ):
        how = "raise the limits: they hold for the first steps of the new process too"
        return LaunchError(f"'{name}' is not started: {reason}", "isolation.limits", how)
    if stage == "spawn":
        what, fix = _SPAWN_FIXES.get(number, (f"not started: {reason}", None))
        if number in (errno.ENOENT, errno.ENOEXEC, errno.EACCES):
            what, fix = _of_its_first_line(request.path, number) or (what, fix)
        return LaunchError(f"'{name}' is {what}", request.path, fix)
    places = {
        "stdin": request.stdin,
        "stdout": request.stdout,
        "stderr": request.stderr,
        "cwd": request.cwd,
        "limits": "isolation.limits",
        "cgroup": "isolation.containment",
    }
    if stage in {"stdout", "stderr"} and number in (errno.ELOOP, errno.ENOTDIR):
        return LaunchError(
            f"the {stage} of '{name}' would be written through a symbolic link",
            str(places[stage]),
            "look who put it into the trial's folder (perhaps the program that is measured), "
            "remove it, then continue with --resume",
        )
    what = f"the {stage} of '{name}' could not be set: {reason}"
    other = "make its folder, or name another place" if number == errno.ENOENT else None
    return LaunchError(what, str(places[stage]), more_files(number) or other)


def not_permitted(
    setting: str, number: int, isolation: Isolation, cpus: tuple[int, ...] | None
) -> HostError:
    """Say which setting was refused, and how to have it permitted; `start` is none, but what the launcher opens."""
    if setting == "start":
        what = f"the launcher could not begin: {os.strerror(number)}"
        return HostError(what, sys.executable, more_files(number))
    refused: dict[str, tuple[str, str | None]] = {
        "scheduling": (
            f"scheduling class '{isolation.scheduling}' is not permitted",
            "execute as root, or raise 'rtprio' in /etc/security/limits.conf, or use 'other'",
        ),
        "nice": (
            f"nice {isolation.nice} is not permitted",
            "execute as root, or raise 'nice' in /etc/security/limits.conf, or drop the setting",
        ),
        "cpus": (
            f"the CPUs {cpus} cannot be used",
            "choose CPUs that are online and that this process may use (taskset -p $$ shows them)",
        ),
        "cgroup": (
            "the cgroup of a run cannot be used",
            "see 'fairtrial doctor' (check cgroup), or use 'containment: none', without limits of "
            "memory and pids",
        ),
    }
    what, fix = refused.get(setting, (f"the setting '{setting}' is not permitted", None))
    where = f"isolation.{'containment' if setting == 'cgroup' else setting}"
    return HostError(f"{what}: {os.strerror(number)}", where, more_files(number) or fix)


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchRequest:
    """One program to execute; `stdin`, `stdout` and `stderr` ``None`` for /dev/null, a number of an open file.

    `limits` are (resource number, soft limit) pairs; `sweep` kills what is left afterwards. `padded` is
    the variable whose length each execution tells; it is none of `env`.
    """

    path: str
    argv: tuple[str, ...]
    env: dict[bytes, bytes]
    cwd: Path
    stdin: Path | None = None
    stdout: Path | int | None = None
    stderr: Path | None = None
    limits: Sequence[tuple[int, int]] = ()
    timeout_s: float | None = None
    grace_s: float = 1.0
    sweep: bool = True
    padded: bytes | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Execution:
    """What the launcher tells of one program that has ended.

    `numbers` are those of `analysis.record.run_numbers`. `killed` says why the launcher ended it
    ("timeout", or the reason that a watch gave), `out_of_memory` whether the kernel killed one of its
    processes for lack of memory, None without a cgroup that tells. `counters` holds of each event by how
    much it moved and for how many ns it was enabled and counted, None where it was not read. With a
    `standstill` the times are not the program's.
    """

    started_ns: int
    exit_code: int | None
    signal: int | None
    killed: str | None
    survivors: int
    out_of_memory: bool | None = None
    numbers: Mapping[str, Any]
    counters: tuple[tuple[int, int, int] | None, ...] | None = None
    standstill: Standstill | None = None

    @property
    def wall_ns(self) -> int:
        """From the start until the end was noticed."""
        return cast("int", self.numbers["wall_ns"])


def limit_numbers(limits: Mapping[str, int]) -> tuple[tuple[int, int], ...]:
    """Translate limit names such as "nofile" into (resource number, soft limit) pairs.

    Those of all processes together are left out: a cgroup holds them.
    """
    return tuple(
        (getattr(resource, f"RLIMIT_{name.upper()}"), soft)
        for name, soft in limits.items()
        if name not in GROUP_LIMITS
    )


def message_of(request: LaunchRequest) -> dict[str, Any]:
    """Write a request as the launcher reads it."""

    def name(path: Path | int | None) -> bytes | int | None:
        # The launcher stands in another folder than we do.
        return os.fsencode(path.absolute()) if isinstance(path, Path) else path

    timeout_ms = -1 if request.timeout_s is None else max(1, round(request.timeout_s * 1000))
    # nothing wakes up while a measured program runs; the time of any other is counted in slices
    first = timeout_ms if request.sweep else min(timeout_ms, round(LOOK_S * 1000))
    return {
        "op": "prepare",
        "path": os.fsencode(request.path),
        "argv": [os.fsencode(part) for part in request.argv],
        "env": [b"%b=%b" % item for item in request.env.items()],
        "padded": request.padded,
        "cwd": os.fsencode(request.cwd),
        "stdin": name(request.stdin),
        "stdout": name(request.stdout),
        "stderr": name(request.stderr),
        "limits": list(request.limits),
        "timeout_ms": first,
        "patience_ms": 0 if timeout_ms < 0 else timeout_ms - first,
        "grace_ms": max(1, round(request.grace_s * 1000)),
        "sweep": request.sweep,
    }


def execution_of(reply: Mapping[str, Any], standstill: Standstill | None = None) -> Execution:
    """Read a launcher's reply; `standstill` is what stood still meanwhile."""
    numbers = reply["numbers"]
    if numbers.keys() != LAUNCHER_NUMBERS:
        odd = ", ".join(sorted(numbers.keys() ^ LAUNCHER_NUMBERS))
        what = f"the launcher and the table of a run's numbers do not agree on {odd}"
        fix = "install fairtrial anew: its files are of different versions"
        raise LaunchError(what, "harness/launch, run_numbers.py", fix)
    status, counted = reply["status"], reply.get("counters")
    signaled = os.WIFSIGNALED(status)
    return Execution(
        started_ns=reply["started_ns"],
        exit_code=None if signaled else os.WEXITSTATUS(status),
        signal=os.WTERMSIG(status) if signaled else None,
        killed=reply["reason"],
        survivors=reply["survivors"],
        out_of_memory=reply.get("out_of_memory"),
        numbers=numbers,
        counters=None if counted is None else tuple(counted),
        standstill=standstill,
    )
