"""What readers share: JSON with places of mistakes, values that count, units in seconds and bytes."""

from __future__ import annotations

import csv
import json
import math
import re
from collections.abc import Iterable, Iterator
from typing import Any, Protocol, TypeVar

from ..data import number_in
from ..errors import AnalysisError, FairtrialError
from ..report import figures
from .opening import Opened

__all__ = [
    "SIZES",
    "TIMES",
    "count_of",
    "fail",
    "in_base_unit",
    "json_of",
    "looks_like_json",
    "mentions",
    "number_or_text",
    "rows_in",
    "structure_of",
    "text_of",
    "texts_of",
    "value_of",
    "values_of",
]

_STAMP = re.compile(
    r"^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)? ?(?=[\s{}\[\]\"])",
    re.MULTILINE,
)
_SMALL = re.compile(r"[eE]-\d{3}|0{300}")  # numbers that may be too small for a float
_TOKEN = 24
_HALF = re.compile(r"\\u[dD][89a-fA-F]")

TIMES: dict[str, float] = {
    name: factor
    for factor, names in (
        (1.0, "s sec secs second seconds"),
        (1e-3, "ms msec msecs millis millisecond milliseconds"),
        # both characters that stand for micro are met in files
        (1e-6, "us µs μs usec µsec μsec usecs micros microsecond microseconds"),
        (1e-9, "ns nsec nsecs nanos nanosecond nanoseconds"),
        (1e-12, "ps picosecond picoseconds"),
        (60.0, "min mins minute minutes"),
        (3600.0, "h hr hrs hour hours"),
        (86400.0, "day days"),
    )
    for name in names.split()
}
SIZES: dict[str, float] = {
    "B": 1.0,
    "byte": 1.0,
    "bytes": 1.0,
    "kB": 1e3,
    "KB": 1e3,
    "MB": 1e6,
    "GB": 1e9,
    "TB": 1e12,
    "KiB": 1024.0,
    "MiB": 1024.0**2,
    "GiB": 1024.0**3,
    "TiB": 1024.0**4,
}
_SPELT = 3  # letters from which a unit may have capitals: MS and Ms are none of ours


Row_co = TypeVar("Row_co", covariant=True)
_MOST = 2**63
_LONGEST = 400


class _Rows(Protocol[Row_co]):
    """What the csv module reads with; it counts lines."""

    line_num: int

    def __next__(self) -> Row_co: ...


def in_base_unit(unit: str) -> tuple[float, str]:
    """Give the factor into seconds or bytes, and that unit; (1, the unit) for every other one.

    Words may have capitals (``Seconds``), symbols may not.
    """
    if unit not in SIZES and len(unit) >= _SPELT and unit.lower() in TIMES.keys() | SIZES.keys():
        unit = unit.lower()
    if unit in TIMES:
        return TIMES[unit], "s"
    if unit in SIZES:
        return SIZES[unit], "B"
    return 1.0, unit


def fail(opened: Opened, what: str, fix: str, *, at: str = "") -> AnalysisError:
    """Make the error of a file that cannot be taken as it is.

    Parameters
    ----------
    opened : Opened
        The file.
    what, fix : str
        What is wrong, and how to mend it.
    at : str
        The place in it: a line's number, or a path such as ``results[2].times[0]``.
    """
    where = f"{opened.source}:{at}" if at.isdigit() else f"{opened.source}, {at}" if at else None
    return AnalysisError(_cut(what), _cut(where or opened.source), _cut(fix))


def _cut(text: str) -> str:
    """Leave out the end of what a damaged file brought into a message."""
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def looks_like_json(opened: Opened) -> bool:
    """Tell whether the content begins as JSON does, perhaps behind a log's time stamp."""
    return _STAMP.sub("", opened.head().lstrip()[:200], count=1).lstrip()[:1] in ("{", "[")


def structure_of(opened: Opened) -> Any:  # noqa: ANN401 - any JSON
    """Give the parsed JSON for who asks whether it knows the format; None if it is none."""
    if opened.is_folder or not looks_like_json(opened):
        return None
    try:
        return json_of(opened)
    except FairtrialError:
        return None


def mentions(opened: Opened, *keys: str) -> bool:
    """Tell whether what begins as JSON, but is damaged, names all of these keys."""
    if opened.is_folder or not looks_like_json(opened) or structure_of(opened) is not None:
        return False
    head = opened.head()
    return all(f'"{key}"' in head or f'"{key}"'.encode() in opened.data for key in keys)


def json_of(opened: Opened) -> Any:  # noqa: ANN401 - any JSON
    """Parse the whole file as one JSON text, once; NaN and Infinity are read as such.

    Raises
    ------
    AnalysisError
        If it is none: the message says where, and whether it was cut off or holds several.
    """
    if "json" not in opened.memo:
        try:
            opened.memo["json"] = (_parsed(opened), None)
        except FairtrialError as error:
            opened.memo["json"] = (None, (type(error), error.args))
    value, failed = opened.memo["json"]
    if failed is not None:
        kind, said = failed
        raise kind(*said)
    return value


def _parsed(opened: Opened) -> Any:  # noqa: ANN401 - any JSON
    text = opened.text()
    if text.lstrip()[:1].isdigit():
        text = _STAMP.sub("", text)
    try:
        # Tools write control characters into strings (JMH breaks its parameters into lines).
        value = json.loads(
            text, strict=False, parse_float=_not_too_small if _SMALL.search(text) else None
        )
    except json.JSONDecodeError as error:
        rest = text[error.pos :].strip()
        what = f"it is no JSON: {error.msg} (column {error.colno})"
        within = len(rest) < _TOKEN and rest[-1:] not in ("}", "]")  # a number, a literal
        if within or error.msg.startswith("Unterminated string"):
            what = "the file is cut off: its JSON does not end"
        elif error.msg == "Extra data":
            what = "the file holds something behind its JSON: several results were joined?"
        raise fail(
            opened, what, "give each result as a file of its own, whole", at=f"{error.lineno}"
        ) from None
    except (RecursionError, ValueError) as error:
        raise fail(opened, f"the JSON cannot be read: {error}", "is it damaged?") from None
    if _HALF.search(text):
        _check_characters(opened, value)
    return value


def _not_too_small(text: str) -> float:
    value = number_in(text)
    if value is None:
        raise ValueError(f"{figures.shorten(text, 40)} is too small for a number of 64 bits")
    return value


def _check_characters(opened: Opened, value: object) -> None:
    """Refuse half a character, which no name in a result could be written with."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        half = error.object[error.start]
        raise fail(
            opened,
            f"a text in it holds half a character ({half!r})",
            "write the file again, with names in UTF-8",
        ) from None


def text_of(value: object) -> str | None:
    """Give a plain value as the text of a key; None for null and for what has parts."""
    if value is None or not isinstance(value, (str, int, float)):
        return None
    return value if isinstance(value, str) else json.dumps(value)


def texts_of(found: object) -> dict[str, str]:
    """Give the plain values of a JSON object as keys of a cell."""
    if not isinstance(found, dict):
        return {}
    return {name: text for name, value in found.items() if (text := text_of(value)) is not None}


def value_of(opened: Opened, value: object, at: str, *, factor: float = 1.0) -> float:
    """Take a raw value: a finite number that is not negative; 0 is a value.

    Raises
    ------
    AnalysisError
        If it is none.
    """
    if isinstance(value, str) and value.lower().lstrip("+-") in ("nan", "inf", "infinity"):
        value = math.nan  # as tools write it whose JSON knows no such number
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise fail(opened, f"{_shown(value)} is no number", "is the file damaged?", at=at)
    try:
        # by the whole number, so that 9 ms are 0.009 s
        number = float(value) / round(1 / factor) if factor < 1 else float(value) * factor
    except OverflowError:
        number = math.inf
    if not math.isfinite(number) or number < 0:
        raise fail(
            opened,
            f"the value {_shown(value)} is {'negative' if number < 0 else 'no finite number'}",
            "take that result out, or measure again",
            at=at,
        )
    return number


def values_of(
    opened: Opened, values: Iterable[object], at: str, *, factor: float = 1.0
) -> tuple[float, ...]:
    """Take raw values as `value_of` does, each with its place."""
    given = list(values)
    plain = [value for value in given if type(value) is float]
    whole = factor == 1 and plain != [] and len(plain) == len(given)  # nearly always
    if whole and min(plain) >= 0 and math.isfinite(sum(plain)):
        return tuple(plain)
    return tuple(
        value_of(opened, value, f"{at}[{k}]", factor=factor) for k, value in enumerate(given)
    )


def _shown(value: object) -> str:
    if isinstance(value, (list, dict)):
        return "a list" if isinstance(value, list) else "an object"
    return figures.shorten(repr(value), 40)


def number_or_text(text: str) -> float | str:
    """Give the number that a text is, else the text itself: `value_of` refuses it with its place."""
    value = number_in(text)
    return text if value is None else value


def count_of(value: object) -> int | None:
    """Take a whole number of something; None for what is none, or is absurd."""
    whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    if isinstance(value, bool) or not whole or not 0 <= value < _MOST:  # type: ignore[operator]
        return None
    return int(value)  # type: ignore[call-overload,no-any-return]


def rows_in(opened: Opened, reader: _Rows[Row_co], *, before: int = 0) -> Iterator[Row_co]:
    """Give the rows of a CSV reader.

    Parameters
    ----------
    before : int
        Lines of the file that the reader was not given.

    Raises
    ------
    AnalysisError
        If a line is no CSV.
    """
    while True:
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise fail(
                opened,
                f"it is no CSV: {error}",
                "is a quote open?",
                # a reader of dicts counts behind the one that it reads with
                at=f"{before + getattr(reader, 'reader', reader).line_num}",
            ) from None
        yield row
