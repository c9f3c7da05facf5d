"""The shape of a stored record is the type of its dataclass: one place holds what is read against it.

`parse` makes JSON of bytes, `shaped` a record of JSON; both refuse with a `ShapeError`, whatever the
bytes are. A key that the class lacks is left out (a later version has added it), or kept in its
field `further`; a key that is missing has the field's default. Standard library only.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import math
import types
import typing
from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeVar

__all__ = ["ShapeError", "check", "parse", "shaped"]

T = TypeVar("T")
_Reader = Callable[[Any, str], Any]  # of a value and its place in the record

_LEAST, _MOST = -(2**63), 2**63 - 1  # what every reader of JSON with whole numbers can hold
_FURTHER = "further"
_BOM = b"\xef\xbb\xbf"


class ShapeError(ValueError):
    """What was read is no record of the kind that it should be; the text says what is wrong."""


def parse(text: bytes, name: str = "it") -> Any:  # noqa: ANN401 - any JSON value
    """Read one JSON value of UTF-8 text; `name` is what messages call it.

    Raises
    ------
    ShapeError
        If it is none, or holds what JSON does not (``NaN``), numbers that cannot be read, or more
        levels than can be followed.
    """
    try:
        decoded = text.decode("utf-8")
        value, end = _decode(decoded)
        if end == len(decoded):  # as every line of ours ends
            return value
        if not decoded[end:].isspace():
            raise ShapeError(f"{name} goes on after its end, at character {end + 1}")
    except ShapeError:
        raise
    except RecursionError:
        raise ShapeError(f"{name} is nested too deeply") from None
    except UnicodeDecodeError as error:
        raise ShapeError(f"byte {error.start + 1} is not UTF-8") from None
    except json.JSONDecodeError as error:
        if text.startswith(_BOM):
            what = f"{name} begins with a byte-order mark, which some editor has added"
            raise ShapeError(what) from None
        raise ShapeError(f"{name} is no JSON: {error.msg} at character {error.pos + 1}") from None
    except ValueError:  # of a whole number with thousands of digits
        raise ShapeError("a number has too many digits") from None
    return value


def _no_constant(name: str) -> None:
    raise ShapeError(f"{name} is no JSON")


# raw_decode: a fifth faster than json.loads, which guesses the encoding
_decode = json.JSONDecoder(parse_constant=_no_constant).raw_decode


def shaped(kind: type[T], data: object, name: str = "it") -> T:
    """Make a record of a JSON value.

    Parameters
    ----------
    kind : type
        A dataclass whose fields are texts, numbers, switches, tuples, mappings from text, others
        of its like, or None. A literal may be any text: a later version may have more of them.
    data : object
        JSON types.
    name : str, optional
        What messages call it.

    Raises
    ------
    ShapeError
        If a value has another type than its field, a number is not finite or takes more than 64
        bits, or a key without a default is missing.
    """
    record: T = _record(kind, name)(data, "")  # type: ignore[arg-type]  # a class is hashable
    return record


def check(kind: type, data: object) -> None:
    """Hold a JSON value against a kind of record as `shaped` does, without making one: it is faster.

    Raises
    ------
    ShapeError
        As `shaped` does.
    """
    if type(data) is not dict:
        raise _wrong(data, "an object", "")
    for name, allowed, reader in _checks(kind):
        value = data.get(name, _ABSENT)
        found = type(value)
        if found not in allowed:
            if value is _ABSENT:
                raise ShapeError(f"it lacks {name}")
            reader(value, name)
        elif found is int or found is float:
            reader(value, name)


class _Absent:
    """The type of what a key is when it is not there."""


_ABSENT = _Absent()
_PLAIN = {str, bool, int, float, types.NoneType}


@functools.cache
def _checks(kind: type) -> tuple[tuple[str, frozenset[type], _Reader], ...]:
    """Give for each field the types that need no further look, numbers aside, and its reader."""
    hints = typing.get_type_hints(kind)
    found = []
    for part in dataclasses.fields(kind):
        allowed = set(_alternatives(hints[part.name])) & _PLAIN
        if not _needed(part):
            allowed.add(_Absent)
        if part.name != _FURTHER:
            found.append((part.name, frozenset(allowed), _reader(hints[part.name])))
    return tuple(found)


def _alternatives(hint: Any) -> tuple[Any, ...]:  # noqa: ANN401 - whatever an annotation is
    united = typing.get_origin(hint) in (typing.Union, types.UnionType)
    return typing.get_args(hint) if united else (hint,)


def _needed(part: dataclasses.Field[Any]) -> bool:
    return part.default is dataclasses.MISSING and part.default_factory is dataclasses.MISSING


@functools.cache
def _record(kind: type, whole: str = "it") -> _Reader:
    hints = typing.get_type_hints(kind)
    parts = [part for part in dataclasses.fields(kind) if part.name != _FURTHER]
    readers = {part.name: _reader(hints[part.name]) for part in parts}
    required = frozenset(part.name for part in parts if _needed(part))
    keeps = _FURTHER in hints

    def read(data: Any, at: str) -> Any:  # noqa: ANN401 - any JSON value
        if type(data) is not dict:
            raise _wrong(data, "an object", at or whole)
        if not required <= data.keys():
            lacking = ", ".join(sorted(required - data.keys()))
            raise ShapeError(f"{at or whole} lacks {lacking}")
        inside = f"{at}." if at else ""
        values = {}
        further = {}
        for name, value in data.items():
            reader = readers.get(name)
            if reader is not None:
                values[name] = reader(value, inside + name)
            elif keeps:
                further[name] = value
        return kind(**values, further=further) if keeps else kind(**values)

    return read


def _reader(hint: Any) -> _Reader:  # noqa: ANN401 - whatever an annotation is
    either = _alternatives(hint)
    if len(either) > 1:
        (one,) = (part for part in either if part is not types.NoneType)
        return _or_none(_reader(one))
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin is tuple:
        return _list_of(_reader(inner[0]))
    if origin is not None and origin is not Literal and issubclass(origin, Mapping):
        return _mapping_of(_reader(inner[1]))
    if dataclasses.is_dataclass(hint):
        return _record(hint)  # type: ignore[arg-type]  # a class is hashable
    return _READERS[str if origin is Literal else hint]


def _or_none(reader: _Reader) -> _Reader:
    return lambda value, at: None if value is None else reader(value, at)


def _list_of(reader: _Reader) -> _Reader:
    def read(value: Any, at: str) -> tuple[Any, ...]:  # noqa: ANN401 - any JSON value
        if type(value) is not list:
            raise _wrong(value, "a list", at)
        return tuple([reader(item, f"{at}[{k}]") for k, item in enumerate(value)])

    return read


def _mapping_of(reader: _Reader) -> _Reader:
    def read(value: Any, at: str) -> dict[str, Any]:  # noqa: ANN401 - any JSON value
        if type(value) is not dict:
            raise _wrong(value, "an object", at)
        return {name: reader(item, f"{at}.{name}") for name, item in value.items()}

    return read


def _whole(value: Any, at: str) -> int:  # noqa: ANN401 - any JSON value
    if type(value) is not int or not _LEAST <= value <= _MOST:
        raise _wrong(value, "a whole number of 64 bits", at)
    return value


def _number(value: Any, at: str) -> float:  # noqa: ANN401 - any JSON value
    if type(value) is int and _LEAST <= value <= _MOST:
        return value
    if type(value) is not float or not math.isfinite(value):
        raise _wrong(value, "a finite number", at)
    return value


def _text(value: Any, at: str) -> str:  # noqa: ANN401 - any JSON value
    if type(value) is not str:
        raise _wrong(value, "a text", at)
    return value


def _switch(value: Any, at: str) -> bool:  # noqa: ANN401 - any JSON value
    if type(value) is not bool:
        raise _wrong(value, "true or false", at)
    return value


_READERS: Mapping[Any, _Reader] = {
    int: _whole,
    float: _number,
    str: _text,
    bool: _switch,
    Any: lambda value, _: value,
}


def _wrong(value: object, wanted: str, at: str) -> ShapeError:
    """Say what was found; a long value is cut, a large one not even written out."""
    if isinstance(value, list | dict):
        found = "a list" if isinstance(value, list) else "an object"
    elif isinstance(value, int) and not isinstance(value, bool) and not _LEAST <= value <= _MOST:
        found = "a larger one"
    else:
        found = json.dumps(value)
        found = found if len(found) <= 60 else f"{found[:60]}…"
    return ShapeError(f"{at or 'it'} is {found}, and must be {wanted}")
