"""How a record becomes a line of a trial's file, and the one way back.

Whatever a line is, a `StoreError` says where it is no such record, or the file no such file.
"""

from __future__ import annotations

import json
import os
import stat
import zlib
from collections.abc import Iterator, Mapping
from io import BufferedReader
from pathlib import Path
from typing import Any, TypeVar

from ..errors import StoreError
from ..shapes import ShapeError, parse, shaped

RESTORE = "restore the file from a copy, or start a new trial"
T = TypeVar("T")

_READ = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK  # a pipe without a writer must not wait
_ENCODER = json.JSONEncoder(separators=(",", ":"), allow_nan=False)
_CRC_KEY = b',"crc32":'


def encode(data: Mapping[str, Any]) -> bytes:
    """Write one JSON object as compact bytes without a newline.

    Raises
    ------
    ValueError
        If a number is not finite.
    """
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
    return number.isdigit() and zlib.crc32(b"}", zlib.crc32(line[:cut])) == int(number)


def opened(path: Path) -> BufferedReader:
    """Open a file of a trial to read its bytes.

    Raises
    ------
    StoreError
        If it is missing, may not be read, or is no plain file.
    """
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
        raise StoreError("this is no plain file", str(path), RESTORE)
    return open(fd, "rb")  # noqa: PTH123 - a descriptor has no path


def lines_of(path: Path) -> Iterator[tuple[int, bytes]]:
    """Give the lines of a file of a trial with their numbers, without their newlines.

    Raises
    ------
    StoreError
        If it cannot be read.
    """
    try:
        with opened(path) as file:
            for number, line in enumerate(file, 1):
                yield number, line.removesuffix(b"\n")
    except OSError as error:
        raise StoreError(f"the file cannot be read: {error.strerror}", str(path)) from error


def records_of(path: Path, kind: type[T]) -> Iterator[tuple[T, dict[str, Any]]]:
    """Give each line of a file of a trial as a record, and as it is stored.

    Raises
    ------
    StoreError
        If the file cannot be read, or a line is no such record; says which.
    """
    for number, line in lines_of(path):
        try:
            row = parse(line, "the line")
            record = shaped(kind, row, "the line")
        except ShapeError as error:
            what = f"{error}: the file was changed or is damaged"
            raise StoreError(what, f"{path}:{number}", RESTORE) from None
        yield record, row
