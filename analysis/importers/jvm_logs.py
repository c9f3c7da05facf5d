"""Logs of JMH and of Renaissance, in which every iteration stands.

JMH prints what it executes above each benchmark, then a line for each iteration of each fork; of sampled times it is
their mean. Each value has three decimals only. Lines of Renaissance name the benchmark, its group, its configuration and the
iteration, from 0: where the number does not grow, another process began. sbt and the logs of builds put a word or a time
before each line.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..pages.model import Caution
from ..pages.number_format import listed
from .parsing import (
    ForeignCell,
    ForeignFile,
    cautions_of,
    in_base_unit,
    number_or_text,
    one_process,
)

if TYPE_CHECKING:
    from ..data.opening import Opened
    from ..record.run_numbers import Better

_MODES: dict[str, tuple[str, Better]] = {
    "Throughput": ("throughput", "higher"),
    "Average time": ("time", "lower"),
    "Sampling time": ("sample_time", "lower"),
    "Single shot invocation time": ("single_shot", "lower"),
}
_BEFORE = r"^(?:\d{4}-\d\d-\d\d[T ][\d:.]+Z? )?(?:\[info\] )?"
_SAID = re.compile(rf"{_BEFORE}# ([A-Z][A-Za-z ]*): +(.*)$")
_ITERATION = re.compile(rf"{_BEFORE}(# Warmup )?Iteration +(\d+): +(.*)$")
_HEAD = re.compile(rf"{_BEFORE}# (?:JMH version|Fork): ", re.MULTILINE)
_VALUE = re.compile(
    r"^(?:\(\*interrupt\*\) +)?(?:n = \d+, mean = )?(\d+)(?:[.,](\d+))?(?: ±\([\d.,]+%\) [\d.,]+)? ([^\s,]+)(?:$|, p)"
)
_FIX = "execute JMH with -rf json -rff FILE: it keeps all digits"
_FORK = re.compile(r"\d{1,6} of (\d{1,6})$")
_KEYS = {"JMH version": "jmhVersion", "VM version": "vmVersion", "Benchmark mode": "mode"}


@dataclass(slots=True)
class _Measured:
    """A benchmark of JMH: what stands above it, and the values of its forks."""

    said: dict[str, str]
    forks: list[list[float]] = field(default_factory=list)
    planned: int = 1
    warmups: int = 0
    unit: str = ""
    left: str = ""  # a value without digits, for which it is left out


def knows_jmh_log(opened: Opened) -> bool:
    """Tell by the lines above a benchmark."""
    return _HEAD.search(opened.head()) is not None


def read_jmh_log(opened: Opened) -> ForeignFile:
    """Give a cell for each benchmark, mode and set of parameters."""
    found: list[_Measured] = []
    said: dict[str, str] = {}
    counted = True
    for number, line in enumerate(opened.text().split("\n"), 1):
        if told := _SAID.match(line):
            said[told[1]] = told[2].strip()
            if told[1] == "Benchmark":
                said.pop("Parameters", None)
                found.append(_Measured(said))
            counted = told[1] != "Warmup Fork" and (counted or told[1] == "Fork")
            if told[1] == "Fork" and found:
                found[-1].said = dict(said)
                found[-1].forks.append([])
                found[-1].planned = int(of[1]) if (of := _FORK.match(told[2])) else 0
        elif (told := _ITERATION.match(line)) and found and found[-1].forks and counted:
            found[-1].warmups += told[1] is not None
            if told[1] is None and told[3] != "<failure>":
                _add(opened, found[-1], told[3], number)
    cells = [_cell(one) for one in found if one.forks and not one.left]
    left = [f"{_name(one)!r}: {one.left}" for one in found if one.left]
    if not any(cell.values for cell in cells):
        what = f", {left[0]}" if left else ""
        raise opened.fail(f"no iteration in the log has a value{what}", _FIX)
    alone = sum(one.planned == 0 for one in found)
    return ForeignFile(
        cells=tuple(cells),
        losses=cautions_of(
            {
                "means-of-operations": "each value is the mean of one iteration's operations: "
                "single ones cannot be seen",
                "one-process": alone > 0
                and one_process(f"{alone} of {len(found)} results had no forks"),
                "no-sessions": "all forks stem from one occasion",
            }
        ),
        notes=(
            *(
                Caution(
                    "forks-missing",
                    f"{cell.benchmark!r} has {len(cell.processes)} of its {n} forks",
                )
                for cell in cells
                if cell.failed and (n := len(cell.processes) + cell.failed)
            ),
            *cautions_of({"left-out": left != [] and f"left out: {listed(left, 3)} ({_FIX})"}),
        ),
    )


def _add(opened: Opened, to: _Measured, text: str, number: int) -> None:
    match = _VALUE.match(text)
    if match is None:
        to.left = to.left or f"line {number} has no digits, {text}"
        return
    factor, to.unit = in_base_unit(match[3].removesuffix("/op"))
    if match[3].endswith("/op") and to.unit != "s":
        factor, to.unit = 1.0, match[3]
    digits = number_or_text(f"{match[1]}.{match[2] or 0}")
    to.forks[-1].append(opened.value(digits, f"{number}", factor=factor))


def _parameters(one: _Measured) -> dict[str, str]:
    settings = re.split(r", (?=[\w.]+ = )", one.said.get("Parameters", "").strip("()"))
    return dict(text.split(" = ", 1) for text in settings if " = " in text)


def _name(one: _Measured) -> str:
    return " ".join(
        [one.said["Benchmark"], *(f"{key}={text}" for key, text in _parameters(one).items())]
    )


def _cell(one: _Measured) -> ForeignCell:
    mode = one.said.get("Benchmark mode", "").partition(",")[0]
    metric, better = _MODES.get(mode, (mode or "value", None))
    forks = tuple((k, tuple(values)) for k, values in enumerate(one.forks, 1) if values)
    return ForeignCell(
        benchmark=_name(one),
        metric=metric,
        unit=one.unit,
        better=better,
        processes=tuple(values for _, values in forks),
        labels=tuple(f"{mode} {k}" for k, _ in forks),
        known=True,
        warmups=one.warmups,
        failed=max(1, one.planned, len(one.forks)) - len(forks),
        keys=_parameters(one)
        | {ours: one.said[key] for key, ours in _KEYS.items() if key in one.said}
        | {"benchmark": one.said["Benchmark"]},
        definition=", ".join(
            f"{key}={one.said[key]}"
            for key in ("Threads", "Measurement", "VM options")
            if key in one.said
        ),
    )


_COMPLETED = re.compile(
    rf"{_BEFORE}=+ (\S+) \(([^()]*)\)(?: \[([^\[\]]*)\])?, iteration (\d{{1,9}}) completed \(([\d.,]+) ms\)",
    re.MULTILINE,
)


def knows_renaissance_log(opened: Opened) -> bool:
    """Tell by the line of an iteration that was completed."""
    return _COMPLETED.search(opened.head()) is not None


def read_renaissance_log(opened: Opened) -> ForeignFile:
    """Give a cell for each benchmark and configuration."""
    runs: dict[tuple[str, str, str], list[list[float]]] = {}
    last: dict[tuple[str, str, str], int] = {}
    for number, line in enumerate(opened.text().split("\n"), 1):
        if told := _COMPLETED.match(line):
            key, k = (told[1], told[2], told[3] or "default"), int(told[4])
            if k <= last.get(key, k):
                runs.setdefault(key, []).append([])
            last[key] = k
            value = number_or_text(told[5].replace(",", "."))
            runs[key][-1].append(opened.value(value, f"{number}", factor=1e-3))
    if not runs:
        raise opened.fail("no iteration stands in the log", "is it of Renaissance?")
    return ForeignFile(
        cells=tuple(
            ForeignCell(
                benchmark=name if configuration == "default" else f"{name} [{configuration}]",
                metric="time",
                unit="s",
                better="lower",
                processes=tuple(map(tuple, processes)),
                known=True,
                keys={"benchmark": name, "group": group, "configuration": configuration},
            )
            for (name, group, configuration), processes in runs.items()
        ),
        losses=cautions_of(
            {
                "one-process": all(len(one) == 1 for one in runs.values())
                and one_process("the iterations of a benchmark stem from one process"),
                "no-sessions": "all runs stem from one occasion",
                "warm-ups-unknown": "the log does not say from which iteration on a benchmark is warm",
                "failed-unknown": "an iteration that failed has no line",
            }
        ),
    )
