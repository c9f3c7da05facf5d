"""What a sample counts for: a function of a program, of the kernel, or of an interpreted program.

Sources: Python's "perf profiling" how-to (names begin with ``py::``); the kernel's tools/perf/Documentation/jit-interface.txt
(``/tmp/perf-PID.map``).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from analysis.record.profiles import KERNEL, SampledCell, SampledChain, SampledFunction

from .script_reader import Frame

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
