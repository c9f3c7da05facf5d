"""What a sample counts for: a function of a program, of the kernel, or of an interpreted program.

Sources: Python's "perf profiling" how-to (names begin with ``py::``); the kernel's tools/perf/Documentation/jit-interface.txt
(``/tmp/perf-PID.map``).
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from analysis.record.profiles import KERNEL, SampledCell, SampledChain, SampledFunction

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
    """So many samples found no room; `total` says that it is the kernel's count of all of them."""

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
        for (symbol, thing), count in self.functions.items():
            functions[names.get(symbol, symbol), thing] += count
        paths: Counter[tuple[Function, ...]] = Counter()
        for chain, count in self.chains.items():
            paths[tuple((names.get(symbol, symbol), thing) for symbol, thing in chain)] += count
        ordered = [
            one for one, _ in sorted(functions.items(), key=lambda item: (-item[1], item[0]))
        ]
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
                SampledChain(frames=tuple(number[one] for one in chain), samples=count)
                for chain, count in sorted(paths.items(), key=lambda item: (-item[1], item[0]))
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
