"""The lines of a configuration: five fields each, and all that may be wrong with them."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ....errors import UsageError
from .sample import NUMBER

__all__ = ["SHOWN", "ConfigEntry", "begins_like_entries", "read_entries"]

SHOWN = 20  # problems, or benchmarks, that one message lists

_HEADING = ("Name", "Sample1", "Sample2", "ConfLevel", "Coef")
_KEYS = tuple(word.lower() for word in _HEADING)
_MISSING = ("", "NA")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_FORM = ",".join(_HEADING)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Problem:
    line: int
    what: str
    fix: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigEntry:
    """One benchmark of a configuration; `doubt` says why its level counts as missing."""

    line: int
    name: str
    files: tuple[str, str]
    confidence: float | None
    coefficient: float | None
    doubt: str | None


class _QuotesError(Exception):
    """A record's quotes do not match: the line on which it begins, and why."""


def begins_like_entries(text: str) -> bool:
    """Tell whether a text begins as a configuration does: its heading, or five fields that fit."""
    try:
        _, first = next(_records(text))
    except (StopIteration, _QuotesError):
        return False
    if _is_heading(first):
        return True
    names, numbers = first[:3], first[3:]
    return len(first) == len(_HEADING) and (
        all(cell and not NUMBER.fullmatch(cell) for cell in names)
        and all(cell in _MISSING or NUMBER.fullmatch(cell) for cell in numbers)
    )


def read_entries(path: Path) -> list[ConfigEntry]:
    """Read the benchmarks of a configuration.

    Raises
    ------
    UsageError
        If it cannot be read or is wrong; all its problems are told with their lines.
    """
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
    entries: list[ConfigEntry] = []
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
) -> ConfigEntry | None:
    if len(cells) != len(_HEADING):
        count = "1 field" if len(cells) == 1 else f"{len(cells)} fields"
        fix = f"write exactly five, with all four commas: {_FORM}"
        if len(cells) == 1 and re.search(r"[;\t]", cells[0]):
            fix = f"separate the fields by commas: {_FORM}"
        problems.append(_Problem(line=line, what=f"this line has {count}", fix=fix))
        return None
    before = len(problems)
    field = dict(zip(order, cells, strict=True))
    for word, key in zip(_HEADING, _KEYS, strict=True):
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
    return ConfigEntry(
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


def _duplicates(entries: list[ConfigEntry]) -> Iterator[_Problem]:
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
    for problem in problems[:SHOWN]:
        lines.append(f"  {path}:{problem.line}: {problem.what}")
        if problem.fix:
            lines.append(f"    fix: {problem.fix}")
    if len(problems) > SHOWN:
        lines.append(f"  and {len(problems) - SHOWN} more")
    raise UsageError("\n".join(lines), str(path))
