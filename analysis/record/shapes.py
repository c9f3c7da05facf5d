"""Stored records: their shapes are the types of dataclasses, and each becomes one line of a file.

`parse` makes JSON of bytes, `shaped` a record of JSON; both refuse with a `ShapeError`, whatever the
bytes are. A key that the class lacks is left out (a later version has added it), or kept in its
field `further`; a key that is missing has the field's default. Standard library only.

Whatever a line is, a `StoreError` says where it is no such record, or the file no such file.
"""

from __future__ import annotations

import dataclasses
import functools
import gzip
import hashlib
import json
import math
import os
import re
import stat
import sys
import types
import typing
import zlib
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import Any, Final, Literal, TypeVar

from ..errors import StoreError

T = TypeVar("T")
_Reader = Callable[[Any, str], Any]  # of a value and its place in the record

_LEAST, _MOST = -(2**63), 2**63 - 1  # what every reader of JSON with whole numbers can hold
_FURTHER = "further"
_BOM = b"\xef\xbb\xbf"


class ShapeError(ValueError):
    """What was read is no record of the kind that it should be; the text says what is wrong."""


def parse(text: bytes, name: str = "it") -> Any:  # noqa: ANN401 - any JSON value
    """Read one JSON value of UTF-8 text; `name` is what messages call it."""
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
    """Make a record of a JSON value."""
    record: T = _record(kind, name)(data, "")  # type: ignore[arg-type]  # a class is hashable
    return record


def refuse_other_words(record: object) -> None:
    """Refuse a record, or one within it, where a field of a fixed set of words holds another one."""
    hints = typing.get_type_hints(type(record))
    for part in dataclasses.fields(record):  # type: ignore[arg-type]  # it is one of a dataclass
        value = getattr(record, part.name)
        either = [one for one in _alternatives(hints[part.name]) if one is not types.NoneType]
        words = [word for one in either for word in typing.get_args(one)]
        if typing.get_origin(either[0]) is Literal and value is not None and value not in words:
            raise ShapeError(f"{part.name} is {json.dumps(value)[:60]}, and must be one of {words}")
        for one in value if isinstance(value, tuple) else (value,):
            if dataclasses.is_dataclass(one):
                refuse_other_words(one)


def check(kind: type, data: object) -> None:
    """Hold a JSON value against a kind of record as `shaped` does, without making one: it is faster."""
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
        first, *others = (_reader(part) for part in either if part is not types.NoneType)
        read_one = _either(first, others[0]) if others else first
        if types.NoneType not in either:
            return read_one
        return lambda value, at: None if value is None else read_one(value, at)
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin is tuple:
        reader = _reader(inner[0])

        def read(value: Any, at: str) -> tuple[Any, ...]:  # noqa: ANN401 - any JSON value
            if type(value) is not list:
                raise _wrong(value, "a list", at)
            return tuple([reader(item, f"{at}[{k}]") for k, item in enumerate(value)])

        return read
    if origin is not None and origin is not Literal and issubclass(origin, Mapping):
        return _mapping_of(_reader(inner[1]))
    if isinstance(hint, type) and issubclass(hint, tuple):  # a named one is a list of its fields
        kinds = [_alternatives(one) for one in typing.get_type_hints(hint).values()]

        def entries(value: Any, at: str) -> Any:  # noqa: ANN401 - any JSON value
            same = type(value) is list and len(value) == len(kinds)
            if not (same and all(map(isinstance, value, kinds))):
                raise _wrong(value, "a list of its entries", at)
            return hint(*value)

        return entries
    if dataclasses.is_dataclass(hint):
        return _record(hint)  # type: ignore[arg-type]  # a class is hashable
    return _READERS[str if origin is Literal else hint]


def _either(first: _Reader, second: _Reader) -> _Reader:
    def read(value: Any, at: str) -> Any:  # noqa: ANN401 - any JSON value
        try:
            return first(value, at)
        except ShapeError:
            return second(value, at)

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


def _exactly(kind: type, wanted: str) -> _Reader:
    def read(value: Any, at: str) -> Any:  # noqa: ANN401 - any JSON value
        if type(value) is not kind:
            raise _wrong(value, wanted, at)
        return value

    return read


_READERS: Mapping[Any, _Reader] = {
    int: _whole,
    float: _number,
    str: _exactly(str, "a text"),
    bool: _exactly(bool, "true or false"),
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


RESTORE = "restore the file from a copy, or start a new trial"

_READ = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK  # a pipe without a writer must not wait
_ENCODER = json.JSONEncoder(separators=(",", ":"), allow_nan=False)
_CRC_KEY = b',"crc32":'


def encode(data: Mapping[str, Any]) -> bytes:
    """Write one JSON object as compact bytes without a newline."""
    return _ENCODER.encode(data).encode("ascii")


def encode_checked(data: Mapping[str, Any]) -> bytes:
    """Write one JSON object with ``crc32``, of the bytes without it, as its last key."""
    body = encode(data)
    return body[:-1] + _CRC_KEY + b"%d}" % zlib.crc32(body)


def checksum_holds(line: bytes) -> bool:
    """Tell whether the line of ``measurements.jsonl`` (no newline) carries its right checksum."""
    cut = line.rfind(_CRC_KEY)
    if cut < 0 or not line.endswith(b"}"):
        return False
    number = line[cut + len(_CRC_KEY) : -1]
    return (
        number.isdigit()
        and len(number) <= 10
        and zlib.crc32(b"}", zlib.crc32(line[:cut])) == int(number)
    )


def opened(path: Path) -> BufferedReader:
    """Open a file of a trial to read its bytes."""
    try:
        fd = os.open(path, _READ)
    except FileNotFoundError:
        raise StoreError("the file is missing", str(path), RESTORE) from None
    except OSError as error:
        raise StoreError(f"the file cannot be read: {error.strerror}", str(path)) from None
    except ValueError:  # a name with a zero byte, or one that no file system can have
        raise StoreError(f"no file can have this name: {path.name!a}", str(path.parent)) from None
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise StoreError("this is not a regular file", str(path), RESTORE)
    return open(fd, "rb")  # noqa: PTH123 - a descriptor has no path


def file_hash(path: Path) -> str | None:
    """Give the SHA-256 of a file; None where it cannot be read."""
    try:
        with opened(path) as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except (OSError, StoreError):
        return None


def document_of(path: Path, whole: str, remedy: str) -> dict[str, Any]:
    """Read a file that holds one object with a schema number; `whole` is what messages call it."""
    try:
        with opened(path) as file:
            data = parse(file.read().strip())
    except (OSError, ShapeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise StoreError(f"the {whole} cannot be read: {reason}", str(path), remedy) from None
    if not isinstance(data, dict) or type(data.get("schema")) is not int:
        raise StoreError(f"the {whole} has no schema number", str(path), remedy)
    return data


def lines_of(path: Path) -> Iterator[tuple[int, bytes]]:
    """Give the lines of a file of a trial with their numbers, without their newlines."""
    try:
        with opened(path) as file:
            for number, line in enumerate(file, 1):
                yield number, line.removesuffix(b"\n")
    except OSError as error:
        raise StoreError(f"the file cannot be read: {error.strerror}", str(path)) from error


def records_of(path: Path, kind: type[T]) -> Iterator[tuple[T, dict[str, Any]]]:
    """Give each line of a file of a trial as a record, and as it is stored."""
    for number, line in lines_of(path):
        try:
            row = parse(line, "the line")
            record = shaped(kind, row, "the line")
        except ShapeError as error:
            what = f"{error}: the file was changed or is damaged"
            raise StoreError(what, f"{path}:{number}", RESTORE) from None
        yield record, row


def are_objects(lines: Iterable[bytes]) -> bool:
    """Tell whether each line holds an object of JSON."""
    try:
        return all(isinstance(parse(line.rstrip(b"\n")), dict) for line in lines)
    except ShapeError:
        return False


def readable_rows(path: Path) -> Iterator[dict[str, Any]]:
    """Give the objects of a file of JSON lines; a missing file has none, a damaged line is passed over."""
    try:
        with opened(path) as file:
            lines = file.read().splitlines()
    except (OSError, StoreError):
        return
    for line in lines:
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(row, dict):
            yield row


def is_writable(*names: str) -> bool:
    """Tell whether names can be written as UTF-8: a text of JSON may hold halves of characters."""
    try:
        "".join(names).encode()
    except UnicodeEncodeError:
        return False
    return True


# --- ``samples/``: all values of a metric in a run, where they are too many for its row.
#
# A file is named after its run, as those in ``outputs/``, and its metric: ``0042-latency.f64.gz``.
# It holds the values in the order in which the run printed them, as little-endian doubles, packed
# by gzip without a time. The row has their number, the SHA-256 of the unpacked bytes, and their
# mean as the metric's only value. Standard library only.


SAMPLES: Final = "samples"
FRESH: Final = "current.f64.gz"  # a file under way
MOST_IN_ROW: Final = 1000  # values of a metric that stand in a row
Form = Literal["values", "counts", "percentiles"]
_SUFFIX = ".f64.gz"
_NAME = re.compile(r"(?P<again>[wr]?)(?P<number>[0-9]+)-.+\.f64\.gz", re.DOTALL)
_LEVEL = 1  # of gzip: the next run waits for it
_PIECE = 1 << 16
_WIDTH = 8
_MOST_SAMPLES = 1 << 24  # doubles of one run: what a row says came with the file, and is no bound


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredSamples:
    """What a row says of values that do not stand in it; without `sha256` they were not kept.

    `count` is how many doubles the file holds: the values, or of a histogram each bucket's value and count. Printed percentiles
    have no file: of how many values they are, 0 where nobody says.
    """

    count: int
    sha256: str | None = None
    form: Form = "values"

    def to_dict(self) -> dict[str, Any]:
        """Give it as JSON types."""
        about = {"count": self.count, "sha256": self.sha256}
        return about if self.form == "values" else {"form": self.form, **about}


def label_of(position: int, *, warmup: bool) -> str:
    """Name the files of a run after its position; repeated warm-ups are w1, ..., other repeats r1, ..."""
    return f"{position:04d}" if position >= 0 else f"{'w' if warmup else 'r'}{-position}"


def sample_file(position: int, metric: str, *, warmup: bool) -> str:
    """Name the file of a run's values within its trial."""
    return f"{SAMPLES}/{label_of(position, warmup=warmup)}-{metric}{_SUFFIX}"


def position_in(name: str) -> int | None:
    """Give the position of the run that a file in ``samples/`` belongs to; None of another file."""
    match = _NAME.fullmatch(name)
    return match and int(match["number"]) * (-1 if match["again"] else 1)


def packed(values: Sequence[float]) -> tuple[bytes, StoredSamples]:
    """Give the bytes of a file with these values, and what its row says of them."""
    numbers = array("d", values)
    if sys.byteorder == "big":
        numbers.byteswap()
    data = numbers.tobytes()
    about = StoredSamples(count=len(numbers), sha256=hashlib.sha256(data).hexdigest())
    return gzip.compress(data, _LEVEL, mtime=0), about


def read_samples(path: Path, about: StoredSamples) -> bytes:
    """Read the doubles of a file and hold them against its row; no more is unpacked than that says.

    Raises StoreError if they were not kept, or the file is gone, torn or changed.
    """
    if about.sha256 is None:
        raise StoreError(
            f"its {about.count} values were not kept: the cap isolation.kept_outputs was reached, and only "
            "their mean and quantiles are known",
            str(path),
            "judge runs, without --level iteration and with --warmup-iterations 0; for more trials raise "
            "isolation.kept_outputs",
        )
    if not 0 <= about.count <= _MOST_SAMPLES:
        what = f"its row says that it holds {about.count} values, and a run has {_MOST_SAMPLES} at most"
        raise StoreError(what, str(path), "restore the trial from a copy")
    size = about.count * _WIDTH
    fix = "restore the file: only its values tell more than the mean and quantiles in the row"
    try:
        with opened(path) as file:
            data = _unpacked(file.read, size)
    except (OSError, zlib.error, EOFError, StoreError) as error:
        what = getattr(error, "what", None) or str(error)
        raise StoreError(f"the values cannot be read: {what}", str(path), fix) from error
    if len(data) != size or hashlib.sha256(data).hexdigest() != about.sha256:
        what = f"these are not the {about.count} values that were measured: their SHA-256 is not the row's"
        raise StoreError(what, str(path), fix)
    return data


def doubles(data: bytes) -> array[float]:
    """Give the numbers of the bytes of a file."""
    numbers = array("d", data)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers


def _unpacked(read: Callable[[int], bytes], size: int) -> bytes:
    unpacker = zlib.decompressobj(wbits=31)
    parts, there = [], 0
    while not unpacker.eof and there <= size:
        piece = unpacker.unconsumed_tail or read(_PIECE)
        if not piece:
            raise EOFError("it is torn")
        part = unpacker.decompress(piece, size + 1 - there)
        parts.append(part)
        there += len(part)
    return b"".join(parts)
