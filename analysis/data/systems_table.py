"""A table with a row for each system, a column for each benchmark, and one value in each cell."""

from __future__ import annotations

import csv
import math
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from ..errors import AnalysisError, UsageError
from ..pages.model import Caution
from .matrix_file import utf8_text
from .number_text import Decimal, commas_of, number_in, two_readings


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemsTable:
    """`values` holds one row for each of `systems`, with one number for each of `benchmarks`."""

    cautions: tuple[Caution, ...]
    systems: tuple[str, ...]
    benchmarks: tuple[str, ...]
    values: list[list[float]]


def read_systems(path: Path, decimal: Decimal | None = None) -> SystemsTable:
    """Read a ``.csv`` or ``.txt`` table with headings and a first column of names.

    Cells are separated by commas, semicolons, tabs or blanks, whichever the headings hold first in
    this order; lines that start with ``#`` are comments. The heading over the names may be missing.
    Where no comma separates, it is the decimal sign if it can be nothing else, or as `decimal` says.
    """
    if path.suffix.lower() not in (".csv", ".txt"):
        raise UsageError(
            f"a table of systems ends in .csv or .txt, not in {path.suffix!r}",
            str(path),
            "name two sources or more to compare matrix files, one for each system",
        )
    lines = [
        (number, line)
        for number, line in enumerate(utf8_text(path).splitlines(), 1)
        if line.strip() and not line.lstrip().startswith("#")
    ]
    if len(lines) < 2:
        raise AnalysisError(
            "a table of systems has a line of headings and a line for each system", str(path)
        )
    (number, heading), *body = lines
    delimiter = next((mark for mark in ",;\t" if mark in heading), None)

    def cells(number: int, line: str) -> list[str]:
        if delimiter is None:
            return line.split()
        try:
            row = next(csv.reader([line], delimiter=delimiter, skipinitialspace=True))
        except csv.Error as error:
            raise AnalysisError(f"the line cannot be read: {error}", f"{path}:{number}") from None
        return [cell.strip() for cell in row]

    heads = cells(number, heading)
    width = len(cells(*body[0]))
    if len(heads) == width:
        heads = heads[1:]
    counts = Counter(heads)
    for name in heads:
        if not name or counts[name] > 1:
            what = f"the benchmark {name!r} is in the headings twice"
            fix = "give each benchmark a name of its own"
            raise AnalysisError(what if name else "a heading is empty", f"{path}:{number}", fix)
    sign = _sign(path, [cells(*line)[1:] for line in body], delimiter, decimal)
    systems, values = [], []
    seen: set[str] = set()
    for at, line in body:
        name, *rest = cells(at, line)
        if len(rest) != len(heads):
            raise AnalysisError(
                f"this line has {len(rest)} values for {len(heads)} benchmarks",
                f"{path}:{at}",
                "give a name and one value for each benchmark",
            )
        if name in seen:
            raise AnalysisError(f"the system {name!r} stands here a second time", f"{path}:{at}")
        seen.add(name)
        systems.append(name)
        values.append([_value(path, at, k, text, sign) for k, text in enumerate(rest, 2)])
    return SystemsTable(
        systems=tuple(systems),
        benchmarks=tuple(heads),
        values=values,
        cautions=_numbers_as_names(path, number, heads),
    )


def _numbers_as_names(path: Path, line: int, heads: list[str]) -> tuple[Caution, ...]:
    """Refuse headings that are measurements; say so when they may be."""
    if not all(re.fullmatch(r"[-+]?[\d.]+([eE][-+]?\d+)?", name) for name in heads):
        return ()
    if not all(name.isdigit() for name in heads):
        raise AnalysisError(
            "the first line holds measurements, and must name the benchmarks",
            f"{path}:{line}",
            "add a line of headings; to compare matrix files, name two sources or more",
        )
    said = f"the numbers of line {line} were taken as the benchmarks' names"
    return (Caution("numbers-as-names", said),)


def _sign(
    path: Path, rows: list[list[str]], delimiter: str | None, said: Decimal | None
) -> Decimal | None:
    """Tell the decimal sign of the values; columns are benchmarks, of one notation all."""
    if said is not None or delimiter == ",":
        return said
    commas = commas_of(text for row in rows for text in row)
    if commas.decimal is None:
        raise AnalysisError(
            f"{commas.example!r} may be {two_readings(commas.example)}",
            str(path),
            "say which with --decimal comma or --decimal point",
        )
    return "comma" if commas.decimal == "comma" else None


def _value(path: Path, line: int, cell: int, text: str, sign: Decimal | None) -> float:
    value = number_in(text, sign)
    if value is None or not math.isfinite(value):
        raise AnalysisError(
            f"{text!r} is not a finite number" if text else "a value is missing",
            f"{path}:{line}, cell {cell}",
            "leave the system or the benchmark out where it was not measured",
        )
    return value
