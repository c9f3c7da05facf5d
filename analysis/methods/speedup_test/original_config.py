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
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...data.matrix import PerformanceMatrix
from ...errors import AnalysisError, UsageError
from ...pages import number_format as figures
from ...pages.model import Caution

if TYPE_CHECKING:
    from ...stats.samples import Array

NUMBER = re.compile(r"[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?", re.ASCII)


class BadSampleError(Exception):
    """A sample file cannot be used; the text says why. Its benchmark is left out for it."""


def locate_sample(file: str, folder: Path) -> tuple[Path, bool]:
    """Give the file's place, and whether the configuration's folder holds another one."""
    here, there = Path(file), folder / file
    try:
        if here.exists():
            return here, there.exists() and not here.samefile(there)
        return (there if there.exists() else here), False
    except OSError:  # such as a folder that must not be searched: reading it says so
        return here, False


def read_sample(path: Path, file: str) -> Array:
    """Read one sample: one positive finite number a line; blank lines are passed over."""
    try:
        if path.exists() and not path.is_file():
            kind = "a directory" if path.is_dir() else "not a regular file"
            raise BadSampleError(f"File '{file}' is not readable: it is {kind}")
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise BadSampleError(f"File '{file}' is not readable: {error.strerror}") from None
    except UnicodeDecodeError as error:
        why = f"it is no UTF-8 text (byte {error.start})"
        raise BadSampleError(f"File '{file}' is not readable: {why}") from None
    lines = text.split("\n")
    values = _at_once(text, lines)
    if values is None:  # some line needs a closer look
        each = (_value(file, k, line) for k, line in enumerate(lines, 1) if line.strip())
        values = np.array(list(each))
    if not values.size:
        raise BadSampleError(f"File '{file}' holds no value")
    return values


def _at_once(text: str, lines: list[str]) -> Array | None:
    """Read the values fast; None where any line needs a closer look."""
    if not text.isascii() or "_" in text:  # Python's own numbers may hold more than ours
        return None
    try:
        values = np.array([float(line) for line in lines if line and not line.isspace()])
    except ValueError:
        return None
    return values if (np.isfinite(values) & (values > 0)).all() else None


def _value(file: str, number: int, line: str) -> float:
    text = line.strip()
    shown = text if len(text) <= 40 else f"{text[:39]}…"
    if not NUMBER.fullmatch(text):
        what = f"{shown!r} is not a number"
        if text == "NA":
            what = "NA is not a time; remove the line if this run was never measured"
        elif all(NUMBER.fullmatch(part) for part in re.split(r"[\s,;]+", text) if part):
            what = f"{shown!r} is not one number; write one a line, with a point for decimals"
        raise BadSampleError(f"File '{file}', line {number}: {what}")
    value = float(text)
    if not (math.isfinite(value) and value > 0):
        what = f"{shown!r} is not a positive finite number"
        raise BadSampleError(f"File '{file}', line {number}: {what}")
    return value


SHOWN = 20  # problems, or benchmarks, that one message lists

_HEADING = ("Name", "Sample1", "Sample2", "ConfLevel", "Coef")
_KEYS = tuple(word.lower() for word in _HEADING)
_MISSING = ("", "NA")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_FORM = ",".join(_HEADING)
_Problem = tuple[int, str, str | None]  # a line, what is wrong in it, and how to mend it


class ConfigEntry(NamedTuple):
    """One benchmark of a configuration; `doubt` says why its level counts as missing."""

    line: int
    name: str
    files: tuple[str, str]
    confidence: float | None
    coefficient: float | None
    doubt: str | None


class _QuotesError(Exception):
    """A record's quotes do not match: the line on which it begins, and why."""


def read_entries(path: Path) -> list[ConfigEntry]:
    """Read the benchmarks of a configuration."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise UsageError(f"the configuration cannot be read: {error.strerror}", str(path)) from None
    except UnicodeDecodeError as error:
        what = f"the configuration is not UTF-8 text (byte {error.start})"
        fix = f"save it as UTF-8, for example: iconv -f latin1 -t utf-8 {path.name}"
        raise UsageError(what, str(path), fix) from None
    problems: list[_Problem] = []
    entries: list[ConfigEntry] = []
    order = _KEYS
    try:
        for number, (line, cells) in enumerate(_records(text)):
            if number == 0 and _is_heading(cells):  # the headings say which column is which
                order = tuple(cell.lower() for cell in cells)
                if sorted(order) != sorted(_KEYS):
                    order = _KEYS
                    what = "these headings are not the five known"
                    problems.append((line, what, f"write {_FORM}"))
                continue
            entry = _entry(line, cells, order, problems)
            if entry is not None:
                entries.append(entry)
    except _QuotesError as error:
        line, why = error.args
        fix = 'close each quoted field before its comma; write "" for a quote inside one'
        problems.append((line, f"the quotes do not match ({why})", fix))
    known: dict[str, int] = {}
    for entry in entries:
        if (first := known.setdefault(entry.name, entry.line)) != entry.line:
            what = f"benchmark {entry.name!r} stands here a second time, first on line {first}"
            problems.append((entry.line, what, "give each benchmark a name of its own"))
    if problems:
        raise _refusal(path, problems)
    if not entries:
        what, fix = "the configuration names no benchmark", f"write one line for each: {_FORM}"
        raise UsageError(what, str(path), fix)
    return entries


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


def _entry(
    line: int, cells: list[str], order: tuple[str, ...], problems: list[_Problem]
) -> ConfigEntry | None:
    if len(cells) != len(_HEADING):
        count = "1 field" if len(cells) == 1 else f"{len(cells)} fields"
        fix = f"write exactly five, with all four commas: {_FORM}"
        if len(cells) == 1 and re.search(r"[;\t]", cells[0]):
            fix = f"separate the fields by commas: {_FORM}"
        problems.append((line, f"this line has {count}", fix))
        return None
    before = len(problems)
    field = dict(zip(order, cells, strict=True))
    for word, key in zip(_HEADING, _KEYS, strict=True):
        if _CONTROL.search(field[key]):
            problems.append((line, f"{word} holds a control character", None))
    if not field["name"]:
        problems.append((line, "Name is empty", "name the benchmark"))
    for word in ("Sample1", "Sample2"):
        if field[word.lower()] in _MISSING:
            problems.append((line, f"{word} is missing", "name the file with the times"))
    confidence, doubt = _level(line, field["conflevel"], problems)
    coefficient, text = None, field["coef"]
    if NUMBER.fullmatch(text) and 0 < float(text) < math.inf:
        coefficient = float(text)
    elif text not in _MISSING:
        fix = "write one, such as 1.5, or leave the field empty"
        problems.append((line, f"Coef {text!r} is not a positive number", fix))
    if len(problems) > before:
        return None
    files = (field["sample1"], field["sample2"])
    return ConfigEntry(line, field["name"], files, confidence, coefficient, doubt)


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
    problems.append((line, what, fix))
    return None, None


def _refusal(path: Path, problems: list[_Problem]) -> UsageError:
    """Give one error that tells all problems."""
    problems.sort(key=lambda problem: problem[0])
    if len(problems) == 1:
        ((line, what, fix),) = problems
        return UsageError(what, f"{path}:{line}", fix)
    lines = [f"the configuration has {len(problems)} problems"]
    for line, what, fix in problems[:SHOWN]:
        lines.append(f"  {path}:{line}: {what}")
        if fix:
            lines.append(f"    fix: {fix}")
    if len(problems) > SHOWN:
        lines.append(f"  and {len(problems) - SHOWN} more")
    return UsageError("\n".join(lines), str(path))


class LeftOut(NamedTuple):
    """A benchmark that cannot be judged, the configuration's line that names it, and why."""

    name: str
    line: int
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SpeedupConfig:
    """What a configuration and its sample files hold.

    `path` is the configuration, as it was named. `baseline` and `candidate` hold the times of Sample1
    (the initial program) and Sample2 (the optimised one), in s, lower is better, of the benchmarks that
    can be judged, in the configuration's order. `confidences` and `coefficients` give each benchmark's
    ConfLevel and Coef, None where that is empty or NA. `left_out` are the benchmarks with a sample that
    cannot be read or holds a bad value.
    """

    path: str
    baseline: PerformanceMatrix
    candidate: PerformanceMatrix
    confidences: Mapping[str, float | None]
    coefficients: Mapping[str, float | None]
    left_out: tuple[LeftOut, ...] = ()
    cautions: tuple[Caution, ...] = ()


class NothingLeftError(AnalysisError):
    """No benchmark of a configuration can be judged; `left_out` says why for each."""

    def __init__(self, path: Path, left_out: tuple[LeftOut, ...]) -> None:
        count = len(left_out)
        what = "the only benchmark" if count == 1 else f"each of the {count} benchmarks"
        what += " was left out, so there is nothing to judge"
        for out in left_out[:SHOWN]:
            what += f"\n  {path}:{out.line}: {out.name!r}: {'; '.join(out.reasons)}"
        what += f"\n  and {count - SHOWN} more" * (count > SHOWN)
        fix = (
            "name sample files with one positive number a line; relative paths start at the "
            "current folder, then at the configuration's"
        )
        super().__init__(what, str(path), fix)
        self.left_out = left_out


def looks_like_speedup_config(path: Path) -> bool:
    """Tell whether a file begins as a configuration does: its heading, or five fields that fit.

    A file ``*.cfg`` always counts as one, so that what is wrong in it is reported.
    """
    if path.suffix.lower() == ".cfg":
        return True
    try:
        with path.open(encoding="utf-8-sig", errors="replace") as file:
            try:
                _, first = next(_records(file.read(65536)))
            except (StopIteration, _QuotesError):
                return False
            names, numbers = first[:3], first[3:]
            return _is_heading(first) or (
                len(first) == len(_HEADING)
                and all(cell and not NUMBER.fullmatch(cell) for cell in names)
                and all(cell in _MISSING or NUMBER.fullmatch(cell) for cell in numbers)
            )
    except OSError:
        return False


def read_speedup_config(path: str | Path) -> SpeedupConfig:
    """Read a configuration and the samples that it names.

    Relative paths of samples start at the current folder, as in the original; where no such file
    is, at the configuration's folder. A benchmark with a sample that cannot be read, or that holds
    anything but positive finite numbers, one a line, is left out; `SpeedupConfig.left_out` says why.

    References
    ----------
    Touati, Worms and Briais, *The Speedup Test*, 2010, section 6.2.1.
    """
    path = Path(path)
    entries = read_entries(path)
    sides: tuple[dict[str, Array], ...] = ({}, {})
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
            texts = tuple(dict.fromkeys(reasons))
            left_out.append(LeftOut(entry.name, entry.line, texts))
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
    cautions = [
        Caution("level-ignored", f"{path}: {entry.doubt}", (entry.name,))
        for entry in kept
        if entry.doubt is not None
    ]
    if files := tuple(dict.fromkeys(doubtful)):
        both = "the current folder and the configuration's folder both hold"
        text = f"{both} {figures.listed(files, 3)}: the current folder's was taken, as the original does"
        cautions.append(Caution("sample-in-two-folders", text, files))
    return SpeedupConfig(
        path=str(path),
        baseline=baseline,
        candidate=candidate,
        confidences=MappingProxyType({entry.name: entry.confidence for entry in kept}),
        coefficients=MappingProxyType({entry.name: entry.coefficient for entry in kept}),
        left_out=tuple(left_out),
        cautions=tuple(cautions),
    )
