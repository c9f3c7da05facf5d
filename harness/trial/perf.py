"""Linux's perf: whether it may sample here, what it writes, and what a sample counts for.

Sources: Python's "perf profiling" how-to (names begin with ``py::``); the kernel's tools/perf/Documentation/jit-interface.txt
(``/tmp/perf-PID.map``).
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from analysis.record.profiles import KERNEL, SEEN, SampledCell, SampledChain, SampledFunction

from ..errors import HostError
from ..host.state import PARANOID, Tree

# --- C++ and Rust names that perf left as the compiler wrote them, made readable once, before they
# are stored.
#
# perf demangles itself where it was built with a demangler, and none of 6.1 knows Rust's newer
# names (v0, RFC 2603). c++filt of binutils knows both; where there is none, names stay as they are,
# and whoever reads the profile says so.


_MANGLED = re.compile(r"_(?:_?Z|R)")
_SECONDS = 60.0


def demangled(symbols: Iterable[str]) -> dict[str, str]:
    """Give readable names of those that are mangled and that c++filt knows; all others are missing.

    It is one call of c++filt. None is there, or it fails: nothing is given.
    """
    wanted = sorted({one for one in symbols if _MANGLED.match(one) and "\n" not in one})
    tool = shutil.which("c++filt") if wanted else None
    if tool is None:
        return {}
    try:
        done = subprocess.run(
            [tool],
            input="".join(f"{one}\n" for one in wanted),
            capture_output=True,
            text=True,
            errors="surrogateescape",
            timeout=_SECONDS,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return {}
    names = done.stdout.splitlines()
    if len(names) != len(wanted) or not done.stdout.endswith("\n"):  # it is cut off
        return {}
    return {old: new for old, new in zip(wanted, names, strict=True) if new and new != old}


# --- What ``perf script`` writes, read line by line: samples with their callers, what was lost,
# which processes began.
#
# The form is that of ``-F pid,tid,time,ip,sym,dso --ns``, with ``--show-lost-events --show-
# task-events``: a sample is one line, or with callers a line of its time and one for each frame,
# the innermost first, up to an empty line.


_HEAD = re.compile(r"\s*(-?\d{1,19})/-?\d{1,19}\s+(\d{1,10})\.(\d{9}):\s*(.*)", re.S | re.A)
_FRAME = re.compile(r"\s*([0-9a-f]{1,16})\s(.*)", re.S)
_LOST = re.compile(r"PERF_RECORD_LOST(_SAMPLES)?\D{0,40}(\d{1,19})", re.A)
_FORK = re.compile(r"PERF_RECORD_FORK\((\d{1,19}):\d{1,19}\):\((\d{1,19}):", re.A)
_DELETED = " (deleted)"


class Frame(NamedTuple):
    """One place in a program: its address, its function's name and the file that holds it, as perf has them."""

    address: int
    symbol: str
    file: str


class Sample(NamedTuple):
    """One sample: the process, its time (CLOCK_MONOTONIC, ns), and where it was, the innermost frame first."""

    pid: int
    ns: int
    frames: tuple[Frame, ...]


class Lost(NamedTuple):
    """The number of samples that found no room; `total` says that it is the kernel's count of all of them."""

    samples: int
    total: bool


class Began(NamedTuple):
    """A process began, as a child of another."""

    pid: int
    parent: int


def read_script(lines: Iterable[str]) -> Iterator[Sample | Lost | Began]:
    """Give what the lines hold, in their order; others, such as the names of processes, are passed over."""
    open_sample: tuple[int, int] | None = None
    frames: list[Frame] = []
    for line in lines:
        if open_sample is not None:
            frame = _frame(line)
            if frame is not None:
                frames.append(frame)
                continue
            if frames:
                yield Sample(*open_sample, tuple(frames))
            open_sample, frames = None, []
        match = _HEAD.match(line)
        if match is None:
            continue
        pid, seconds, fraction, rest = match.groups()
        ns = int(seconds) * 1_000_000_000 + int(fraction)
        rest = rest.rstrip("\n")
        if not rest:
            open_sample = int(pid), ns
        elif rest.startswith("PERF_RECORD_"):
            yield from _event(rest)
        elif (frame := _frame(rest)) is not None:
            yield Sample(int(pid), ns, (frame,))
    if open_sample is not None and frames:
        yield Sample(*open_sample, tuple(frames))


def _event(text: str) -> Iterator[Lost | Began]:
    lost, fork = _LOST.match(text), _FORK.match(text)
    if lost is not None:
        yield Lost(int(lost.group(2)), total=lost.group(1) is not None)
    elif fork is not None and fork.group(1) != fork.group(2):  # else a thread
        yield Began(int(fork.group(1)), int(fork.group(2)))


def _frame(line: str) -> Frame | None:
    match = _FRAME.match(line)
    if match is None:
        return None
    address, rest = match.groups()
    rest = rest.rstrip("\n")
    # a C++ name holds blanks and brackets, and a file's name may too: the file is absolute, or [in brackets]
    place = max(rest.rfind(" (/"), rest.rfind(" (["))
    if place < 0 or not rest.endswith(")"):
        return Frame(int(address, 16), rest.strip() or "[unknown]", "[unknown]")
    file = rest[place + 2 : -1].removesuffix(_DELETED)
    return Frame(int(address, 16), rest[:place].strip() or "[unknown]", file)


# --- What a sample counts for: a function of a program, of the kernel, or of an interpreted program.


PYTHON, JIT = "python", "jit"  # the objects of names that a perf map gave
PYTHON_FRAMES, NODE_MAP = "python-frames", "node-map"
_PY = "py::"
_MAP = re.compile(r"perf-\d+\.map")
_PYTHON_FILE = re.compile(r"(?:lib)?python(\d+)\.(\d+)")
_KERNEL_HALF = 1 << 63  # of x86-64 and arm64
_FIRST_TRAMPOLINE = (3, 12)

Function = tuple[str, str]  # symbol and object


def function_of(frame: Frame) -> Function:
    """Give the function of a frame: its name as perf has it, and its file without the folder.

    Of names that a perf map gave the file says the process, so that two runs would never agree: they have the object
    ``python`` or ``jit``.
    """
    if frame.address >= _KERNEL_HALF and frame.file != "[vsyscall]":
        return frame.symbol, KERNEL
    name = frame.file.rpartition("/")[2]
    if _MAP.fullmatch(name):
        return frame.symbol, PYTHON if frame.symbol.startswith(_PY) else JIT
    return frame.symbol, name or frame.file


def counting_frames(frames: Sequence[Frame]) -> tuple[Function, ...]:
    """Give the functions of a sample, from the one that it counts for outwards.

    That is the innermost function of Python where there is one (what it had the interpreter do included), else the innermost.
    """
    named = [function_of(frame) for frame in frames]
    python = (k for k, (symbol, _) in enumerate(named) if symbol.startswith(_PY))
    return tuple(named[next(python, 0) :])


@dataclass(slots=True)
class CellCounts:
    """The samples of one cell in one session."""

    samples: int = 0
    functions: Counter[Function] = field(default_factory=Counter)
    chains: Counter[tuple[Function, ...]] = field(default_factory=Counter)

    @property
    def all_functions(self) -> Iterator[Function]:
        """The functions that samples or their chains name."""
        yield from self.functions
        for chain in self.chains:
            yield from chain

    def add(self, frames: Sequence[Frame], *, chains: bool) -> None:
        """Count a sample."""
        counting = counting_frames(frames)
        self.samples += 1
        self.functions[counting[0]] += 1
        if chains:
            self.chains[counting[::-1]] += 1

    def row(
        self,
        place: tuple[int, str, str],
        runs: int,
        lost: int,
        names: dict[str, str],
        *,
        chains: bool,
    ) -> SampledCell:
        """Give the row of a session, benchmark and variant; `names` has demangled ones."""
        functions: Counter[Function] = Counter()
        paths: Counter[tuple[Function, ...]] = Counter()

        def named(one: Function) -> Function:
            return names.get(one[0], one[0]), one[1]

        for function, count in self.functions.items():
            functions[named(function)] += count
        for chain, count in self.chains.items():
            paths[tuple(map(named, chain))] += count
        ordered = sorted(functions, key=lambda one: (-functions[one], one))
        callers = sorted({one for chain in paths for one in chain} - functions.keys())
        number = {one: k for k, one in enumerate([*ordered, *callers])}
        session, benchmark, variant = place
        return SampledCell(
            session=session,
            benchmark=benchmark,
            variant=variant,
            runs=runs,
            samples=self.samples,
            lost=lost,
            functions=tuple(
                SampledFunction(symbol=symbol, object=thing, samples=functions[symbol, thing])
                for symbol, thing in number
            ),
            chains=tuple(
                SampledChain(frames=tuple(map(number.__getitem__, chain)), samples=paths[chain])
                for chain in sorted(paths, key=lambda one: (-paths[one], one))
            )
            if chains
            else None,
        )


def runtime_of(cell: SampledCell, chains: str | None) -> str | None:
    """Say what was seen of an interpreter's functions, or why nothing was; None of a program without one."""
    objects = {one.object for one in cell.functions}
    if PYTHON in objects and chains is not None:
        return PYTHON_FRAMES
    versions = [
        (int(found[1]), int(found[2])) for one in objects if (found := _PYTHON_FILE.match(one))
    ]
    if versions:
        version = min(versions)
        if version < _FIRST_TRAMPOLINE:
            return (
                f"not-seen: Python {version[0]}.{version[1]} tells perf no names, 3.12 and newer do"
            )
        if chains is None:
            return "not-seen: the functions of Python are found with --chains dwarf"
        return f"not-seen: no chain ({chains}) led to a function of Python"
    if "node" in objects:
        return NODE_MAP if JIT in objects else "not-seen: node wrote no map of its functions"
    return None


# --- Linux's perf: whether it is there, and what it may sample on this host for this user.
#
# Sources: perf_event_open(2), Documentation/admin-guide/sysctl/kernel.rst (perf_event_paranoid),
# capabilities(7).


MOST_RATE = "/proc/sys/kernel/perf_event_max_sample_rate"
_STATUS = "/proc/self/status"
_PERFMON, _SYS_ADMIN = 1 << 38, 1 << 21
# the largest perf_event_paranoid that lets an ordinary user sample so
_USER_LEVEL, _KERNEL_LEVEL = 2, 1
_TRIED_HZ = 99
_REFUSED = "not-seen: the kernel lets perf sample the user's side alone, as in a container"
_PATIENCE_S = 30.0
_INSTALL = (
    "install it: apt install linux-perf (Debian), apt install linux-tools-$(uname -r) (Ubuntu), "
    "dnf install perf (Fedora, RHEL)"
)


@dataclass(frozen=True, slots=True)
class Perf:
    """A perf that was tried on this host.

    `event` is what it samples: ``cycles`` where a counter is there, else ``cpu-clock``. `kernel` is ``seen``, or
    ``not-seen: WHY``. `most_hz` is the highest frequency that the kernel takes, None where it does not say.
    """

    path: str
    version: str
    event: str
    kernel: str
    most_hz: int | None

    @property
    def selector(self) -> str:
        """The event as perf is asked for it: the user's side alone where the kernel's may not be seen."""
        return self.event if self.kernel == SEEN else f"{self.event}:u"

    def recording(self, data: Path, frequency_hz: int, chains: str | None) -> tuple[str, ...]:
        """Give the command that samples a program, which follows it, and all that it starts.

        It reads no settings of the user's, nothing goes to the cache of build ids, and nothing is waited for: without ``--no-bpf-event`` perf ends up to
        a second late. Times are those of CLOCK_MONOTONIC, as a launcher's.
        """
        graph = () if chains is None else ("--call-graph", _CHAINS[chains])
        asked = ("-e", self.selector, "-F", str(frequency_hz), "-k", "CLOCK_MONOTONIC", *graph)
        perf = ("env", f"PERF_CONFIG={os.devnull}", self.path, "record", *_PLAIN)
        return (*perf, *asked, "-o", str(data.absolute()), "--")

    def script(self, data: Path) -> tuple[str, ...]:
        """Give the command that writes what was sampled as lines, with what was lost and which processes began.

        No name is taken from the user's cache of build ids, so that an earlier record changes nothing.
        """
        fields = ("-F", "pid,tid,time,ip,sym,dso")
        shown = ("--ns", "--show-lost-events", "--show-task-events")
        cache = ("--buildid-dir", str(data.absolute().parent / "no-build-ids"))
        perf = (self.path, *cache, "script", "--no-inline")
        return (*perf, *shown, *fields, "-i", str(data.absolute()))


_PLAIN = ("-N", "-B", "--no-bpf-event")
_CHAINS = {"fp": "fp", "dwarf": "dwarf,16384"}


def plain_environment() -> dict[str, str]:
    """Give variables with which perf reads no settings of the user's, and asks no server for symbols."""
    plain = {"LC_ALL": "C", "PERF_CONFIG": os.devnull, "DEBUGINFOD_URLS": "", "PAGER": "cat"}
    return {**os.environ, **plain}


def permission_of(tree: Tree) -> tuple[str, int | None]:
    """Read what the kernel lets this process sample: `kernel` and `most_hz` of `Perf`.

    Raises HostError if that is nothing.
    """
    level = tree.number(PARANOID)
    if level is None:
        what = "this kernel shows no performance events: nothing can be sampled"
        fix = "use a kernel with CONFIG_PERF_EVENTS, or name a machine that has one"
        raise HostError(what, PARANOID, fix)
    most = tree.number(MOST_RATE)
    match = re.search(r"^CapEff:\s*([0-9a-f]+)", tree.text(_STATUS) or "", re.M)
    capable = match is not None and int(match.group(1), 16) & (_PERFMON | _SYS_ADMIN)
    if capable or level <= _KERNEL_LEVEL:
        return SEEN, most
    if level > _USER_LEVEL:
        what = f"the kernel does not let you sample programs: perf_event_paranoid is {level}"
        fix = f"sudo sysctl kernel.perf_event_paranoid={_USER_LEVEL}, or execute it as root"
        raise HostError(what, PARANOID, fix)
    why = f"perf_event_paranoid is {level}, and this process has no rights beyond it"
    return f"not-seen: {why}", most


def find_perf(tree: Tree | None = None) -> Perf:
    """Find perf and try what it samples: some 0.3 s. `tree` is the host's, asked for where it is not given.

    Raises HostError if there is no perf that works here; the fix says what to install, or to
    permit.
    """
    kernel, most_hz = permission_of(tree or Tree(Path("/")))
    path = shutil.which("perf")
    if path is None:
        raise HostError("there is no perf, which 'why' needs", "PATH", _INSTALL)
    version = _version(path)
    with tempfile.TemporaryDirectory(prefix="fairtrial-perf-") as folder:
        data = Path(folder) / "perf.data"
        problem = ""
        for event in ("cycles", "cpu-clock"):
            perf = Perf(path, version, event, kernel, most_hz)
            failed, _ = _execute([*perf.recording(data, _TRIED_HZ, None), "true"])
            problem = failed or problem
            taken, sides = _sampled(path, data) if failed is None else ("", "")
            if taken == event:
                user_only = "u" in sides and perf.kernel == SEEN
                return replace(perf, kernel=_REFUSED) if user_only else perf
    raise HostError(
        f"perf does not sample a program here: {problem or 'it says nothing of why'}",
        path,
        "try it: perf record -e cpu-clock -- true; in a container: docker run --cap-add PERFMON, with a "
        "seccomp profile that allows perf_event_open",
    )


def _version(path: str) -> str:
    failed, text = _execute([path, "version"])
    found = re.search(r"perf version (\S+)", text)
    if failed is not None or found is None:
        what = f"the perf that is there does not start: {failed or 'it names no version'}"
        raise HostError(what, path, _INSTALL)
    return found.group(1)


def _sampled(path: str, data: Path) -> tuple[str, str]:
    """Give the event of a file, which may be one that perf fell back to, and its modifiers."""
    _, text = _execute([path, "evlist", "-i", str(data)])
    names = [line.strip() for line in text.splitlines() if not line.startswith(("#", "dummy"))]
    event, _, sides = (names[0] if names else "").partition(":")
    return event, sides


def _execute(command: Sequence[str]) -> tuple[str | None, str]:
    """Execute perf; give why it failed, None where it did not, and what it wrote."""
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_PATIENCE_S,
            check=False,
            env=plain_environment(),
            cwd="/",
        )
    except OSError as error:
        return error.strerror or str(error), ""
    except subprocess.TimeoutExpired:
        return f"it did not end within {_PATIENCE_S:g} s", ""
    text = done.stdout.decode("utf-8", "replace")
    if done.returncode == 0:
        return None, text
    return complaint(done.stderr) or f"exit code {done.returncode}", text


def complaint(errors: bytes) -> str:
    """Give the first line that says something of what perf wrote about a failure."""
    lines = (line.strip() for line in errors.decode("utf-8", "replace").splitlines())
    return next((line.rstrip(".:") for line in lines if line.strip("- ") not in {"", "Error:"}), "")
