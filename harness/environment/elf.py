"""A small reader of ELF files: which loader and which libraries a program asks for.

Nothing is executed: ``ldd`` would start the program's own loader.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

_PT_LOAD, _PT_DYNAMIC, _PT_INTERP = 1, 2, 3
_DT_NEEDED, _DT_STRTAB, _DT_STRSZ, _DT_RPATH, _DT_RUNPATH = 1, 5, 10, 15, 29
_MOST_BYTES = 16 * 1024 * 1024  # of one table: a larger one is damage, not a program


@dataclass(frozen=True, slots=True, kw_only=True)
class Elf:
    """What an ELF file asks the loader for. `kind` is (class, byte order, machine)."""

    kind: tuple[int, int, int]
    interpreter: str | None
    needed: tuple[str, ...]
    search: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Segment:
    kind: int
    offset: int
    address: int
    size: int


def read_elf(path: Path) -> Elf | None:
    """Read the ELF file at `path`; None when it is none, or is damaged.

    Raises
    ------
    OSError
        If the file cannot be read.
    """
    with path.open("rb") as file:
        head = file.read(64)
        if (
            head[:4] != b"\x7fELF"
            or len(head) < 52
            or head[4] not in {1, 2}
            or head[5] not in {1, 2}
        ):
            return None
        try:
            return _read(file, head)
        except (struct.error, ValueError, OverflowError):
            return None


def _read(file: BinaryIO, head: bytes) -> Elf:
    wide, order = head[4] == 2, "<" if head[5] == 1 else ">"
    (machine,) = struct.unpack_from(f"{order}H", head, 18)
    segments = _segments(file, head, order, wide=wide)
    interpreter = None
    dynamic: list[tuple[int, int]] = []
    for segment in segments:
        if segment.kind == _PT_INTERP:
            interpreter = _at(file, segment.offset, segment.size).split(b"\0")[0].decode("utf-8")
        elif segment.kind == _PT_DYNAMIC:
            table = _at(file, segment.offset, segment.size)
            form = f"{order}qQ" if wide else f"{order}iI"
            step = struct.calcsize(form)
            dynamic = list(struct.iter_unpack(form, table[: len(table) // step * step]))
    values = dict(dynamic)
    strings = b""
    if _DT_STRTAB in values and _DT_STRSZ in values:
        strings = _at(file, _offset(segments, values[_DT_STRTAB]), values[_DT_STRSZ])

    def text(position: int) -> str:
        return strings[position : strings.index(b"\0", position)].decode("utf-8")

    needed = tuple(text(value) for tag, value in dynamic if tag == _DT_NEEDED)
    # DT_RPATH counts only where there is no DT_RUNPATH.
    search = values.get(_DT_RUNPATH, values.get(_DT_RPATH))
    return Elf(
        kind=(head[4], head[5], machine),
        interpreter=interpreter,
        needed=needed,
        search=() if search is None else tuple(filter(None, text(search).split(":"))),
    )


def _segments(file: BinaryIO, head: bytes, order: str, *, wide: bool) -> list[_Segment]:
    (start,) = struct.unpack_from(f"{order}Q" if wide else f"{order}I", head, 32 if wide else 28)
    size, count = struct.unpack_from(f"{order}HH", head, 54 if wide else 42)
    table = _at(file, start, size * count)
    segments: list[_Segment] = []
    for index in range(count):
        if wide:
            kind, _, offset, address, _, length = struct.unpack_from(
                f"{order}IIQQQQ", table, index * size
            )
        else:
            kind, offset, address, _, length = struct.unpack_from(
                f"{order}IIIII", table, index * size
            )
        segments.append(_Segment(kind, offset, address, length))
    return segments


def _offset(segments: list[_Segment], address: int) -> int:
    for segment in segments:
        inside = segment.address <= address < segment.address + segment.size
        if segment.kind == _PT_LOAD and inside:
            return segment.offset + address - segment.address
    raise ValueError("an address lies in no segment")


def _at(file: BinaryIO, offset: int, size: int) -> bytes:
    if size > _MOST_BYTES:
        raise ValueError("a table is too large")
    try:
        file.seek(offset)
    except OSError as error:
        raise ValueError("an offset is beyond any file") from error
    data = file.read(size)
    if len(data) < size:
        raise ValueError("the file ends too early")
    return data
