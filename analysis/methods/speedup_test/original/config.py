"""The configuration of the original Speedup-Test tool, and the sample files that it names.

A configuration is a CSV file of exactly five columns (Touati, Worms and Briais, *The Speedup Test*,
2010, section 6.2.1)::

    Name,Sample1,Sample2,ConfLevel,Coef
    "First benchmark","bench1.data.1","bench1.data.2",0.95,2
    "Second benchmark","bench2.data.1","bench2.data.2",NA,

Sample1 holds the times of the initial program, Sample2 those of the optimised one, one a line.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from ....data import PerformanceMatrix
from ....errors import AnalysisError, UsageError
from .sample import NUMBER, BadSampleError, locate_sample, read_sample

__all__ = [
    "HEADING",
    "LeftOut",
    "NothingLeftError",
    "SpeedupConfig",
    "looks_like_speedup_config",
    "read_speedup_config",
]

HEADING = ("Name", "Sample1", "Sample2", "ConfLevel", "Coef")

_KEYS = tuple(word.lower() for word in HEADING)
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_MISSING = ("", "NA")
_SHOWN = 20  # problems, or benchmarks, that one message lists
_LOOK = 65536  # characters of a file that tell what kind it is
_FORM = ",".join(HEADING)


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """A benchmark that cannot be judged, the configuration's line that names it, and why."""

    name: str
    line: int
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SpeedupConfig:
    """What a configuration and its sample files hold.

    Attributes
    ----------
    path : str
        The configuration, as it was named.
    baseline, candidate : PerformanceMatrix
        The times of Sample1 (the initial program) and Sample2 (the optimised one), in s, lower is
        better, of the benchmarks that can be judged, in the configuration's order.
    confidences : mapping of str to float or None
        Benchmark -> its ConfLevel; None where that is empty or NA.
    coefficients : mapping of str to float or None
        Benchmark -> its Coef; None where that is empty or NA.
    left_out : tuple of LeftOut
        The benchmarks that were left out, because a sample cannot be read or holds a bad value.
    cautions : tuple of str
        What else a reader of the results should know.
    """

    path: str
    baseline: PerformanceMatrix
    candidate: PerformanceMatrix
    confidences: Mapping[str, float | None]
    coefficients: Mapping[str, float | None]
    left_out: tuple[LeftOut, ...] = ()
    cautions: tuple[str, ...] = ()


class NothingLeftError(AnalysisError):
    """No benchmark of a configuration can be judged; `left_out` says why for each."""

    def __init__(self, path: Path, left_out: tuple[LeftOut, ...]) -> None:
        count = len(left_out)
        reasons = [
            f"\n  {path}:{out.line}: {out.name!r}: {'; '.join(out.reasons)}"
            for out in left_out[:_SHOWN]
        ]
        if count > _SHOWN:
            reasons.append(f"\n  and {count - _SHOWN} more")
        what = "the only benchmark" if count == 1 else f"each of the {count} benchmarks"
        super().__init__(
            f"{what} was left out, so there is nothing to judge{''.join(reasons)}",
            str(path),
            "name sample files with one positive number a line; relative paths start at the "
            "current folder, then at the configuration's",
        )
        self.left_out = left_out


@dataclass(frozen=True, slots=True, kw_only=True)
class _Problem:
    line: int
    what: str
    fix: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    line: int
    name: str
    files: tuple[str, str]
    confidence: float | None
    coefficient: float | None
    doubt: str | None


class _QuotesError(Exception):
    """A record's quotes do not match: the line on which it begins, and why."""


def looks_like_speedup_config(path: Path) -> bool:
    """Tell whether a file begins as a configuration does: its heading, or five fields that fit.

    A file ``*.cfg`` always counts as one, so that what is wrong in it is told.
    """
    if path.suffix.lower() == ".cfg":
        return True
    try:
        with path.open(encoding="utf-8-sig", errors="replace") as file:
            text = file.read(_LOOK)
        _, first = next(_records(text))
    except (OSError, StopIteration, _QuotesError):
        return False
    if _is_heading(first):
        return True
    names, numbers = first[:3], first[3:]
    return len(first) == len(HEADING) and (
        all(cell and not NUMBER.fullmatch(cell) for cell in names)
        and all(cell in _MISSING or NUMBER.fullmatch(cell) for cell in numbers)
    )


def read_speedup_config(path: str | Path) -> SpeedupConfig:
    """Read a configuration and the samples that it names.

    Relative paths of samples start at the current folder, as in the original; where no such file
    is, at the configuration's folder. A benchmark with a sample that cannot be read, or that holds
    anything but positive finite numbers, one a line, is left out; `SpeedupConfig.left_out` says why.

    Parameters
    ----------
    path : str or Path
        The configuration: five columns, with or without the line of headings.

    Raises
    ------
    UsageError
        If the configuration cannot be read or is wrong; all its problems are told with their lines.
    NothingLeftError
        If no benchmark can be judged.

    References
    ----------
    Touati, Worms and Briais, *The Speedup Test*, 2010, section 6.2.1.
    """
    path = Path(path)
    entries = _entries(path)
    sides: tuple[dict[str, NDArray[np.float64]], ...] = ({}, {})
    left_out, doubtful = [], []
    for entry in entries:
        samples, reasons = [], []
        for file in entry.files:
            place, elsewhere = locate_sample(file, path.parent)
            if elsewhere:
                doubtful.append(file)
            try:
                samples.append(read_sample(place, file))
            except BadSampleError as error:
                reasons.append(str(error))
        if reasons:
            # Both sides may name one file: one reason is enough then.
            told = tuple(dict.fromkeys(reasons))
            left_out.append(LeftOut(name=entry.name, line=entry.line, reasons=told))
            continue
        for side, values in zip(sides, samples, strict=True):
            side[entry.name] = values
    if not sides[0]:
        raise NothingLeftError(path, tuple(left_out))
    baseline, candidate = (
        PerformanceMatrix.from_samples(name, side, better="lower")
        for name, side in zip(("initial", "optimised"), sides, strict=True)
    )
    kept = [entry for entry in entries if entry.name in sides[0]]
    return SpeedupConfig(
        path=str(path),
        baseline=baseline,
        candidate=candidate,
        confidences=MappingProxyType({entry.name: entry.confidence for entry in kept}),
        coefficients=MappingProxyType({entry.name: entry.coefficient for entry in kept}),
        left_out=tuple(left_out),
        cautions=(
            *(f"{path}: {entry.doubt}" for entry in kept if entry.doubt is not None),
            *_doubts(list(dict.fromkeys(doubtful))),
        ),
    )


# ---- the configuration


def _records(text: str) -> Iterator[tuple[int, list[str]]]:
    """Give each record that is not blank with the line on which it begins."""
    reader = csv.reader(io.StringIO(text), strict=True, skipinitialspace=True)
    begin = 1
    try:
        for raw in reader:
            cells = [cell.strip() for cell in raw]
            if cells not in ([], [""]):
                yield begin, cells
            begin = reader.line_num + 1
    except csv.Error as error:
        raise _QuotesError(begin, str(error)) from None


def _is_heading(cells: list[str]) -> bool:
    return sum(cell.lower() in _KEYS for cell in cells) >= 3


def _entries(path: Path) -> list[_Entry]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise UsageError(f"the configuration cannot be read: {error.strerror}", str(path)) from None
    except UnicodeDecodeError as error:
        raise UsageError(
            f"the configuration is not UTF-8 text (byte {error.start})",
            str(path),
            f"save it as UTF-8, for example: iconv -f latin1 -t utf-8 {path.name}",
        ) from None
    problems: list[_Problem] = []
    entries: list[_Entry] = []
    order = _KEYS
    try:
        for number, (line, cells) in enumerate(_records(text)):
            if number == 0 and _is_heading(cells):
                order = _heading(line, cells, problems)
                continue
            entry = _entry(line, cells, order, problems)
            if entry is not None:
                entries.append(entry)
    except _QuotesError as error:
        line, why = error.args
        problems.append(
            _Problem(
                line=line,
                what=f"the quotes do not match ({why})",
                fix='close each quoted field before its comma; write "" for a quote inside one',
            )
        )
    problems += _duplicates(entries)
    _refuse(path, problems)
    if not entries:
        raise UsageError(
            "the configuration names no benchmark", str(path), f"write one line for each: {_FORM}"
        )
    return entries


def _heading(line: int, cells: list[str], problems: list[_Problem]) -> tuple[str, ...]:
    """Give the order of the columns: their headings say which is which."""
    order = tuple(cell.lower() for cell in cells)
    if sorted(order) != sorted(_KEYS):
        problems.append(
            _Problem(line=line, what="these headings are not the five known", fix=f"write {_FORM}")
        )
        return _KEYS
    return order


def _entry(
    line: int, cells: list[str], order: tuple[str, ...], problems: list[_Problem]
) -> _Entry | None:
    if len(cells) != len(HEADING):
        count = "1 field" if len(cells) == 1 else f"{len(cells)} fields"
        fix = f"write exactly five, with all four commas: {_FORM}"
        if len(cells) == 1 and re.search(r"[;\t]", cells[0]):
            fix = f"separate the fields by commas: {_FORM}"
        problems.append(_Problem(line=line, what=f"this line has {count}", fix=fix))
        return None
    before = len(problems)
    field = dict(zip(order, cells, strict=True))
    for word, key in zip(HEADING, _KEYS, strict=True):
        if _CONTROL.search(field[key]):
            problems.append(_Problem(line=line, what=f"{word} holds a control character"))
    if not field["name"]:
        problems.append(_Problem(line=line, what="Name is empty", fix="name the benchmark"))
    for word in ("Sample1", "Sample2"):
        if field[word.lower()] in _MISSING:
            problems.append(
                _Problem(line=line, what=f"{word} is missing", fix="name the file with the times")
            )
    confidence, doubt = _level(line, field["conflevel"], problems)
    coefficient = _coefficient(line, field["coef"], problems)
    if len(problems) > before:
        return None
    return _Entry(
        line=line,
        name=field["name"],
        files=(field["sample1"], field["sample2"]),
        confidence=confidence,
        coefficient=coefficient,
        doubt=doubt,
    )


def _level(line: int, text: str, problems: list[_Problem]) -> tuple[float | None, str | None]:
    """Give the level, or None and perhaps why: a number out of range counts as missing (6.2.2)."""
    if text in _MISSING:
        return None, None
    if NUMBER.fullmatch(text) and 0 < float(text) < 1:
        return float(text), None
    percent = text.removesuffix("%").strip()
    fix = "write a number between 0 and 1, such as 0.95, or leave the field empty"
    if NUMBER.fullmatch(percent) and 1 < float(percent) < 100:
        fix = f"write {float(percent) / 100:g} for {float(percent):g} %"
    what = f"ConfLevel {text!r} is not a number between 0 and 1"
    if NUMBER.fullmatch(text):
        return None, f"line {line}: {what}, and counts as missing as in the original: {fix}"
    problems.append(_Problem(line=line, what=what, fix=fix))
    return None, None


def _coefficient(line: int, text: str, problems: list[_Problem]) -> float | None:
    if text in _MISSING:
        return None
    if NUMBER.fullmatch(text) and 0 < float(text) < math.inf:
        return float(text)
    what = f"Coef {text!r} is not a positive number"
    problems.append(
        _Problem(line=line, what=what, fix="write one, such as 1.5, or leave the field empty")
    )
    return None


def _duplicates(entries: list[_Entry]) -> Iterator[_Problem]:
    known: dict[str, int] = {}
    for entry in entries:
        if entry.name in known:
            yield _Problem(
                line=entry.line,
                what=f"benchmark {entry.name!r} stands here a second time, first on line "
                f"{known[entry.name]}",
                fix="give each benchmark a name of its own",
            )
        known.setdefault(entry.name, entry.line)


def _refuse(path: Path, problems: list[_Problem]) -> None:
    """Raise one error that tells all problems."""
    problems.sort(key=lambda problem: problem.line)
    if not problems:
        return
    first = problems[0]
    if len(problems) == 1:
        raise UsageError(first.what, f"{path}:{first.line}", first.fix)
    lines = [f"the configuration has {len(problems)} problems"]
    for problem in problems[:_SHOWN]:
        lines.append(f"  {path}:{problem.line}: {problem.what}")
        if problem.fix:
            lines.append(f"    fix: {problem.fix}")
    if len(problems) > _SHOWN:
        lines.append(f"  and {len(problems) - _SHOWN} more")
    raise UsageError("\n".join(lines), str(path))


def _doubts(files: list[str]) -> tuple[str, ...]:
    if not files:
        return ()
    some = ", ".join(files[:3]) + (f" and {len(files) - 3} more" if len(files) > 3 else "")
    return (
        f"the current folder and the configuration's folder both hold {some}: the current folder's "
        "was taken, as the original does",
    )
