"""The bytes between the files of a bundle: a ZIP archive in its one canonical form.

Each file is stored as it is, under a UTF-8 name, dated 1980-01-01, with the mode 0644 or 0755, without
extra fields and comments; ZIP64 where a number needs it, and only there. So the names, modes, sizes and
checksums of the files determine every other byte, and a reader can compare instead of interpreting.

Source: PKWARE, "APPNOTE.TXT - .ZIP File Format Specification", 6.3.10, sections 4.3 to 4.5.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["END", "Entry", "central_header", "end_of", "local_header", "placed"]

LOCAL = struct.Struct("<4s5H3L2H")
CENTRAL = struct.Struct("<4s6H3L5H2L")
END = struct.Struct("<4s4H2LH")
END64 = struct.Struct("<4sQ2H2L4Q")
LOCATOR = struct.Struct("<4sLQL")
FULL, FULL_COUNT = 0xFFFFFFFF, 0xFFFF  # "it stands in the ZIP64 record"

_UTF8 = 0x0800
_DATE = 0x0021  # 1980-01-01, the first day that the format knows
_PLAIN, _ZIP64 = 20, 45  # versions needed
_UNIX = 3
_FILE = 0o100000


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A file in an archive.

    Attributes
    ----------
    name : str
        Its path in the archive.
    bytes : int
        Its size.
    crc32 : int
        Of its content.
    executable : bool
        Whether its mode is 0755, not 0644.
    offset : int
        Where its header begins.
    """

    name: str
    bytes: int
    crc32: int
    executable: bool = False
    offset: int = 0

    @property
    def start(self) -> int:
        """Where its content begins."""
        return self.offset + len(local_header(self))

    @property
    def end(self) -> int:
        """Where its content ends."""
        return self.start + self.bytes


def placed(entries: Sequence[Entry]) -> list[Entry]:
    """Give the entries in their canonical order, each with its place."""
    found: list[Entry] = []
    offset = 0
    for entry in sorted(entries, key=lambda one: one.name.encode()):
        found.append(
            Entry(
                name=entry.name,
                bytes=entry.bytes,
                crc32=entry.crc32,
                executable=entry.executable,
                offset=offset,
            )
        )
        offset = found[-1].end
    return found


def local_header(entry: Entry) -> bytes:
    """Give what stands before a file's content."""
    name = entry.name.encode()
    large = entry.bytes >= FULL
    size = FULL if large else entry.bytes
    extra = struct.pack("<2H2Q", 1, 16, entry.bytes, entry.bytes) if large else b""
    needed = _ZIP64 if large else _PLAIN
    numbers = (needed, _UTF8, 0, 0, _DATE, entry.crc32, size, size, len(name), len(extra))
    return LOCAL.pack(b"PK\3\4", *numbers) + name + extra


def central_header(entry: Entry) -> bytes:
    """Give a file's line in the archive's directory."""
    name = entry.name.encode()
    large, far = entry.bytes >= FULL, entry.offset >= FULL
    numbers = [entry.bytes] * 2 * large + [entry.offset] * far
    extra = struct.pack(f"<2H{len(numbers)}Q", 1, 8 * len(numbers), *numbers) if numbers else b""
    needed = _ZIP64 if numbers else _PLAIN
    size = FULL if large else entry.bytes
    mode = _FILE | (0o755 if entry.executable else 0o644)
    return (
        CENTRAL.pack(
            b"PK\1\2",
            _UNIX << 8 | needed,
            needed,
            _UTF8,
            0,
            0,
            _DATE,
            entry.crc32,
            size,
            size,
            len(name),
            len(extra),
            0,
            0,
            0,
            mode << 16,
            FULL if far else entry.offset,
        )
        + name
        + extra
    )


def end_of(count: int, size: int, start: int) -> bytes:
    """Give the archive's end: of `count` files, a directory of `size` bytes that begins at `start`."""
    found = b""
    if count >= FULL_COUNT or size >= FULL or start >= FULL:
        version = _UNIX << 8 | _ZIP64
        found = END64.pack(
            b"PK\6\6", END64.size - 12, version, _ZIP64, 0, 0, count, count, size, start
        )
        found += LOCATOR.pack(b"PK\6\7", 0, start + size, 1)
    few = min(count, FULL_COUNT)
    return found + END.pack(b"PK\5\6", 0, 0, few, few, min(size, FULL), min(start, FULL), 0)
