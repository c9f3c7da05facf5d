"""A stored result computed anew: a command of the judge, in a folder of its own, within limits.

A process that was killed leaves its folder. The next one that needs such a folder removes it: each holds
a lock for as long as its process, or one that this has started, is there.

A bundle of anybody may ask for an answer that takes a day. So what its commands take together is
limited, and none outlives the process that waits for it, however that ends.

A bundle comes from anybody. So only commands that read and print are executed, with no option that
writes, and with no path that leads out of the folder; the surroundings are the same everywhere: an
own home, no colour, one width, UTC and UTF-8.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import resource
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypeVar

from ..announcing import doing
from ..errors import AnalysisError, UsageError
from ..registry import commands

_PREFIX = "fairtrial-"
_LOCK = ".fairtrial-lock"


class Passing(NamedTuple):
    """A folder that is removed at the end."""

    content: Path  # an empty folder, for the bundle
    homes: Path  # another one: what commands write for themselves goes below it
    # a descriptor; a process that inherits it keeps the folder from being removed by others
    lock: int


@contextlib.contextmanager
def passing_folder() -> Iterator[Passing]:
    """Make such a folder below the one for temporary files, and remove those that were left there."""
    try:
        place = Path(tempfile.gettempdir())
        _remove_left(place)
        root = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=place))
    except OSError as error:
        what = f"no temporary folder can be made: {error.strerror}"
        raise UsageError(what, None, "set TMPDIR to a folder that can be written") from None
    lock = None
    try:
        # it gets its name once it is held: who sees it and can have it knows that nobody else does
        fresh = root / f"{_LOCK}.new"
        lock = os.open(fresh, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX)
        fresh.rename(root / _LOCK)
        found = Passing(content=root / "bundle", homes=root / "homes", lock=lock)
        found.content.mkdir()
        found.homes.mkdir()
        yield found
    finally:
        shutil.rmtree(root, ignore_errors=True)
        if lock is not None:
            os.close(lock)


def _remove_left(place: Path) -> None:
    """Remove folders of this user whose lock nobody holds: whoever made them was killed."""
    for root in place.glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError):
            status = root.lstat()
            if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
                continue
            lock = os.open(root / _LOCK, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(root, ignore_errors=True)
            finally:
                os.close(lock)


T = TypeVar("T")
R = TypeVar("R")

_LOOK_S = 0.25  # between two looks at what is taken
_GRACE_S = 2.0  # after TERM: the program then removes what it shares with its workers
_MOST_WRITTEN = 10**9  # bytes of one file, what is printed among them
# the kernel ends a command whose parent was killed; then the one command line, of this installation
_START = """
import ctypes, os, runpy, sys
ctypes.CDLL(None).prctl(1, 9)
if os.getppid() != int(sys.argv.pop(1)):
    os._exit(137)
runpy.run_module("harness", run_name="__main__", alter_sys=True)
"""


class LimitReachedError(AnalysisError):
    """A command was ended, or not started, because of a limit; the message says which."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What commands may take; None is no limit."""

    total_s: float | None = None  # of all commands together, from when the limits were set on
    memory_bytes: int | None = None  # resident, of one command and of all that it started


@dataclass(frozen=True, slots=True, kw_only=True)
class Recomputed:
    """What a command printed, and how it ended."""

    stdout: bytes
    exit_code: int
    stderr: bytes = b""


class Commands:
    """Executes command lines of fairtrial; at the end of the context none is left."""

    def __init__(self, homes: Path, lock: int, limits: Limits | None = None) -> None:
        self._homes = homes
        self._lock = lock
        self._limits = limits or Limits()
        self._began = time.monotonic()
        self._running: set[int] = set()  # processes
        self._guard = threading.Lock()
        self._stopped = False

    def __enter__(self) -> Commands:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def each(self, work: Callable[[T], R], items: Iterable[T], *, most: int, what: str) -> list[R]:
        """Do some work for each item, at most `most` at a time; if anything is raised, all ends.

        `what` is said to be computed.
        """
        workers = min(most, len(os.sched_getaffinity(0)))
        with ThreadPoolExecutor(workers) as pool:
            try:
                begun = [pool.submit(work, item) for item in items]
                found = []
                for number, one in enumerate(begun, 1):
                    while not one.done():
                        doing("computing", number, len(begun), what)
                        wait((one,), timeout=_LOOK_S)
                    found.append(one.result())
            except BaseException:
                self.stop()
                pool.shutdown(wait=False, cancel_futures=True)
                raise
            return found

    def hold(self) -> None:
        """Refuse to begin something when the time of all is over."""
        total = self._limits.total_s
        if total is not None and time.monotonic() - self._began > total:
            what = f"the time of {total:g} s for all commands was over"
            raise LimitReachedError(what, None, "allow more with --timeout")

    def run(
        self, words: Sequence[str], folder: Path, surroundings: Callable[[Path], Mapping[str, str]]
    ) -> Recomputed:
        """Execute ``fairtrial`` with these arguments, and wait for its end."""
        self.hold()
        home = Path(tempfile.mkdtemp(dir=self._homes))
        with (home / ".out").open("w+b") as out, (home / ".err").open("w+b") as err:
            with self._guard:
                if self._stopped:
                    raise LimitReachedError("it was interrupted", None, None)
                # a group of its own: what it starts ends with it, and Ctrl-C is ours to pass on
                child = subprocess.Popen(
                    [sys.executable, "-P", "-c", _START, str(os.getpid()), *words],
                    cwd=folder,
                    env=surroundings(home),
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=err,
                    start_new_session=True,
                    pass_fds=(self._lock,),
                )
                self._running.add(child.pid)
            try:
                with contextlib.suppress(OSError, ValueError):  # it has ended, or less is allowed
                    limit = (_MOST_WRITTEN, _MOST_WRITTEN)
                    resource.prlimit(child.pid, resource.RLIMIT_FSIZE, limit)
                self._wait(child)
            finally:
                _end(child)
                with self._guard:
                    self._running.discard(child.pid)
                shutil.rmtree(home, ignore_errors=True)
            out.seek(0)
            err.seek(0)
            return Recomputed(stdout=out.read(), stderr=err.read(), exit_code=child.returncode)

    def stop(self) -> None:
        """End all commands; no further one is started."""
        with self._guard:
            self._stopped = True
            groups = list(self._running)
        for group in groups:
            _signal(group, signal.SIGTERM)

    def _wait(self, child: subprocess.Popen[bytes]) -> None:
        most = self._limits.memory_bytes
        while True:
            try:
                child.wait(_LOOK_S)
            except subprocess.TimeoutExpired:
                self.hold()
            else:
                return
            if most is not None and _resident(child.pid) > most:
                what = f"the command took more memory than {most:,} bytes"
                raise LimitReachedError(what, None, "allow more with --max-memory")


def _end(child: subprocess.Popen[bytes]) -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):  # first it is asked to end, then killed
        there = _signal(child.pid, number)
        end = time.monotonic() + _GRACE_S
        while there and time.monotonic() < end:
            child.poll()  # it stays in its group until somebody asks how it ended
            time.sleep(0.01)
            there = _signal(child.pid, 0)
        if not there:
            break
    child.wait()


def _signal(group: int, number: int) -> bool:
    """Send a signal to a group; tell whether anybody was there."""
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def _resident(pid: int) -> int:
    import psutil

    found = 0
    with contextlib.suppress(psutil.Error):
        one = psutil.Process(pid)
        for each in (one, *one.children(recursive=True)):
            with contextlib.suppress(psutil.Error):
                found += each.memory_info().rss
    return found


_METHODS = {name: one.file for name, one in commands().items() if one.file}
COMMANDS = (
    "verdict", "gate", "hpt", "speedup-test", "resample", "mixture", *_METHODS, "diagnose", "plan",
    "study", "sources", "why", "diff", "report",
)  # fmt: skip
ANSWERS = (0, 1, 7)  # exit codes of an answer: done, a gate said no, a gate could not tell
_ANSWERS_OF = {"why": (0, 1, 3)}  # 3: the difference did not appear again
_ONLY_WITH = {"why": "--stored"}  # without it programs are executed
_READING = (
    r"\n    (--[a-z][\w-]+)(?![\w-]| FILE| DIR| FOLDER)"  # a row of a method in a file of its own
)
# every option of these commands that writes no file; they are taken in full only, not abbreviated
OPTIONS = frozenset(
    """--all --allow-missing --alpha --also --alternative --always-valid --and --annotations --any --backend --below --benchmark --candidate
    --benchmarks --better --centre --certificate --clt --clusters --columns --compare --compatible --conf-level
    --confidence --correction --decimal --digits --draws --effect --estimators --exclude --exit-code --explain
    --flags --font-family --font-size --format --gate --group --guard --ignore --interval --jitter --json
    --layout --level --looks --margin --max-components --max-hosts --max-runs --max-sessions --mean --metric
    --names --normality --on --original --others --pairs --power --precision --quantile --rank --ratio --rename --require --resamples
    --resolution --response --risk --runs --scale --scores --search --seed --shift --shift-by --shifted --sides
    --simulations --sources --speedup --starts --steps --stored --test-share --ties --unit --variant --variation
    --verbose --warmup-iterations --weight --width --within-session --without-replacement --workers""".split()  # noqa: SIM905 - a table of words
) | {*re.findall(_READING, "".join(path.read_text("utf-8") for path in _METHODS.values()))}
# where a command may leave something: all of it in a folder of its own
_HOME_FOLDERS = (
    "HOME", "TMPDIR", "JOBLIB_TEMP_FOLDER", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "MPLCONFIGDIR",
)  # fmt: skip
_ARITHMETIC = ("BLIS_", "MKL_", "NPY_", "OMP_", "OPENBLAS_")  # variables of these libraries


def fault_of_command(command: Sequence[str]) -> str | None:
    """Say why a command line is not executed for a bundle; None where it is."""
    if not command or command[0] not in COMMANDS:
        named = repr(command[0]) if command else "nothing"
        return f"it is {named}, none of {', '.join(COMMANDS)}: those read and print"
    needed = _ONLY_WITH.get(command[0])
    if needed is not None and needed not in command[1:]:
        return f"{command[0]} executes programs without {needed}"
    # leave out ``-o -``, by which a report is printed like any other answer
    found: list[str] = []
    for word in command[1:]:
        if word == "-" and found[-1:] in (["-o"], ["--output"]):
            found.pop()
        else:
            found.append(word)
    for argument in found:
        if "\0" in argument:
            return "an argument holds a zero byte"
        if any("\ud800" <= character <= "\udfff" for character in argument):
            return "an argument contains half a character, which is not text"
        name, _, value = argument.partition("=")
        if argument.startswith("--"):
            if name not in OPTIONS:
                return f"the option {name} is none of those that only read and print"
        elif argument[:1] == "-" and not argument[1:2].isdigit():
            return f"the option {argument} is none of those that only read and print"
        else:
            value = argument
        if value.startswith(("/", "~")) or ".." in value.replace(":", "/").split("/"):
            return f"the argument {argument!r} leads out of the bundle"
    return None


def recompute(command: Sequence[str], folder: Path, commands: Commands) -> Recomputed:
    """Execute a command of the judge in a folder, and give what it printed."""
    fault = fault_of_command(command)
    text = " ".join(("fairtrial", *command))
    if fault is not None:
        what = f"the command is not executed: {fault}"
        raise UsageError(what, text, "ask who made the bundle what it is for")
    try:
        done = commands.run(command, folder, _surroundings)
    except LimitReachedError as error:
        raise LimitReachedError(error.what, text, error.fix) from None
    except OSError as error:  # an argument of any length, a folder without permission
        what = f"the command cannot be executed: {error.strerror or error}"
        fix = "shorten its arguments, or see that this user may execute fairtrial"
        raise AnalysisError(what, f"{text[:200]} ...", fix) from error
    if done.exit_code not in _ANSWERS_OF.get(command[0], ANSWERS):
        words = done.stderr.decode("utf-8", "replace").strip()
        what = f"the command gave no answer (exit {done.exit_code}): {words[-2000:]}"
        fix = "execute it in the unpacked bundle to see all of what it says"
        raise AnalysisError(what, text, fix)
    return done


def _surroundings(home: Path) -> Mapping[str, str]:
    """Give the environment of the command, with nothing of its user's.

    What remains is where compiled kernels are kept, and which code the libraries of linear algebra
    take: on one processor each gives other last digits.
    """
    user = os.environ
    cache = user.get("FAIRTRIAL_CACHE") or user.get("NUMBA_CACHE_DIR")
    if not cache:
        kept = user.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # noqa: PTH111 - Path.home() raises without a home
        cache = os.path.join(kept, "fairtrial", "kernels")  # noqa: PTH118
    passed = {
        name: value
        for name, value in user.items()
        if name in {"PATH", "LD_LIBRARY_PATH", "SYSTEMROOT"} or name.startswith(_ARITHMETIC)
    }
    return {
        **passed,
        "FAIRTRIAL_CACHE": str(Path(cache).absolute()),
        "PYTHONPATH": os.pathsep.join(str(Path(place).absolute()) for place in sys.path if place),
        **dict.fromkeys(_HOME_FOLDERS, str(home)),
        "LC_ALL": "C.UTF-8",
        "PYTHONUTF8": "1",
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
        "TZ": "UTC",
        "COLUMNS": "100",
        "NO_COLOR": "1",
        "TERM": "dumb",
    }
