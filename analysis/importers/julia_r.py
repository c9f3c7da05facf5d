"""Benchmark libraries of R: microbenchmark and bench.

A data frame of microbenchmark has the columns ``expr`` and ``time``, in nanoseconds. What ``bench::mark``
gives becomes rows by ``tidyr::unnest(c(time, gc))``: ``expression``, ``time`` and, repeated in each row,
summaries of all of them; times are seconds, or are written as they are printed, with a unit (``4.05µs``)
and four digits. Columns that it does not have by itself are the parameters of ``bench::press``. The
expressions are the variants, as hyperfine's commands are.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from .parsing import (
    ForeignCell,
    ForeignFile,
    cautions_of,
    number_or_text,
    one_process,
)

if TYPE_CHECKING:
    from ..data.opening import Opened

_ROWS = frozenset(("", "x", "rownames", "rowname"))  # headings of row numbers
_MICROBENCHMARK = frozenset(("expr", "time"))
_OF_BENCH = frozenset(
    (
        "expression", "min", "median", "itr/sec", "mem_alloc", "gc/sec", "n_itr", "n_gc", "total_time",
        "result", "memory", "time", "gc", "level0", "level1", "level2", "itr_sec", "gc_sec", "itr.sec",
        "gc.sec",
    )
)  # fmt: skip
_OF_SUMMARY = frozenset(("expr", "min", "lq", "mean", "median", "uq", "max", "neval"))
_UNITS = {
    "ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0,
    "d": 86400.0, "w": 604800.0,
}  # fmt: skip
_PRINTED = re.compile(r"([0-9.]+(?:[eE][-+]?\d+)?)\s*([a-zµμ]+)")
_R_FIX = (
    "write its rows: write.csv(as.data.frame(microbenchmark(...))), or tidyr::unnest(bench::mark(...), "
    "c(time, gc)) without the columns result and memory"
)


def knows_r_bench(opened: Opened) -> bool:
    """Tell by the headings."""
    if opened.is_folder:
        return False
    found = set(_headings(opened.head().partition("\n")[0]))
    return _is_microbenchmark(found) or _is_bench(found) or found >= _OF_SUMMARY


def _is_microbenchmark(found: set[str]) -> bool:
    return found - _ROWS == _MICROBENCHMARK


def _is_bench(found: set[str]) -> bool:
    return (
        "expression" in found
        and len(found & _OF_BENCH) > 2
        and not found.isdisjoint(("gc", "itr/sec", "itr_sec", "itr.sec", "n_itr", "mem_alloc"))
    )


def _separator(line: str) -> str:
    return max(",;\t", key=line.count)


def _headings(line: str) -> list[str]:
    try:
        cells = next(csv.reader([line], delimiter=_separator(line)), [])
    except csv.Error:  # no table at all
        return []
    return [one.strip().lower() for one in cells]


def read_r_bench(opened: Opened) -> ForeignFile:
    """Give a cell for each expression and each choice of parameters."""
    text = opened.text()
    line = text.partition("\n")[0]
    headings = _headings(line)
    micro = _is_microbenchmark(set(headings))
    if not micro and not {"expression", "time"} <= set(headings):
        raise opened.fail("it holds summaries only, no single evaluations", _R_FIX)
    own = _MICROBENCHMARK if micro else _OF_BENCH
    params = [k for k, name in enumerate(headings) if name not in own | _ROWS]
    expression, time = headings.index("expr" if micro else "expression"), headings.index("time")
    found: dict[tuple[str, ...], list[float]] = {}
    printed = False
    separator = _separator(line)
    reader = csv.reader(io.StringIO(text, newline="\n"), delimiter=separator)
    for k, row in enumerate(opened.rows(reader)):
        if k == 0 or not any(row):
            continue
        at = f"{reader.line_num}"
        if len(row) != len(headings):
            raise opened.fail(f"the line has {len(row)} of {len(headings)} columns", _R_FIX, at=at)
        number, factor = row[time].strip(), 1e-9 if micro else 1.0
        if separator == ";":
            number = number.replace(",", ".")
        if (match := _PRINTED.fullmatch(number)) is not None and match[2] in _UNITS:
            number, factor, printed = match[1], _UNITS[match[2]], True
        value = opened.value(number_or_text(number), at, factor=factor)
        key = (row[expression].strip(), *(row[place].strip() for place in params))
        found.setdefault(key, []).append(value)
    if not found:
        raise opened.fail("there is no row of values", "is the file whole?")
    names = [headings[place] for place in params]
    return ForeignFile(
        cells=tuple(_cell(opened, key, values, names) for key, values in found.items()),
        variant_rule="the expression",
        losses=cautions_of(
            {
                "unit-assumed": micro
                and "times are taken as nanoseconds, as microbenchmark stores them",
                "one-process": one_process("all evaluations are from one process"),
                "no-sessions": "all evaluations are from one occasion",
                "warm-ups-unknown": "warm-ups are not in the file",
                "failed-unknown": "failed evaluations are not in the file",
            }
        ),
        notes=cautions_of(
            {
                "printed-times": printed
                and "times are printed by bench with four digits: write "
                "as.numeric(time) to keep all"
            }
        ),
    )


def _cell(
    opened: Opened, key: Sequence[str], values: Sequence[float], names: Sequence[str]
) -> ForeignCell:
    expression, *rest = key
    params = dict(zip(names, rest, strict=True))
    if not expression:
        raise opened.fail("an expression has no name", "name it: bench::mark(name = ...)")
    return ForeignCell(
        benchmark=" ".join(f"{name}={value}" for name, value in params.items()) or opened.stem,
        variant=expression,
        processes=(tuple(values),),
        known=True,
        inner=1,
        keys=params | {"expression": expression},
    )
