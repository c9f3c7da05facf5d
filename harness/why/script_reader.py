"""What ``perf script`` writes, read line by line: samples with their callers, what was lost, which processes began.

The form is that of ``-F pid,tid,time,ip,sym,dso --ns``, with ``--show-lost-events --show-task-events``: a sample is
one line, or with callers a line of its time and one for each frame, the innermost first, up to an empty line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

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
