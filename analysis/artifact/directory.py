"""The directory of a bundle's archive, read strictly: what no bundle holds is refused by name."""

from __future__ import annotations

import stat
import struct
from collections.abc import Callable, Sequence

from ..errors import StoreError
from .headers import (
    CENTRAL,
    END,
    END64,
    FULL,
    FULL_COUNT,
    LOCATOR,
    Entry,
    central_header,
    end_of,
    local_header,
    placed,
)
from .names import LONGEST, collisions, fault_of_name

__all__ = ["directory_of"]

Read = Callable[[int, int], bytes]  # (how many bytes, from where) -> bytes

_EXTRA = 4 + 3 * 8  # a ZIP64 field with all its numbers
_FIX = "use a bundle as 'fairtrial bundle' wrote it: fetch it again, or ask who made it"


def directory_of(
    read: Read, size: int, *, where: str, max_entries: int, max_bytes: int
) -> list[Entry]:
    """Read an archive's directory, and hold all bytes outside of the files against it.

    Parameters
    ----------
    read : callable
        Gives bytes of the archive: how many, from where.
    size : int
        Of the archive, in bytes.
    where : str
        What messages call it.
    max_entries, max_bytes : int
        The most files, and the most bytes of them all.

    Raises
    ------
    StoreError
        If a byte is not what a bundle has there.
    """

    def refused(what: str, fix: str = _FIX) -> StoreError:
        return StoreError(f"the archive is refused: {what}", where, fix)

    if size < END.size or read(4, 0)[:2] != b"PK":
        raise StoreError(
            "this is no bundle: it does not begin as one",
            where,
            "name a file that 'fairtrial bundle' wrote, or fetch it again",
        )
    if size > max_bytes + max_entries * (CENTRAL.size + 2 * LONGEST + 128) + 2 * END64.size:
        raise refused(*_too_large(f"it has {size:,} bytes", f"{max_bytes:,}", "--max-bytes"))
    count, length, start, end = _end(read, size, refused)
    if count > max_entries:
        raise refused(*_too_large(f"it has {count:,} entries", f"{max_entries:,}", "--max-entries"))
    if start + length != end or length > count * (CENTRAL.size + 2 * LONGEST + _EXTRA):
        raise refused("its directory does not lie where its end says")
    entries, lines = _entries(read(length, start), count, refused)
    _accept(entries, max_bytes, refused)
    for entry, line, canonical in zip(entries, lines, placed(entries), strict=True):
        if line != central_header(canonical):
            raise refused(f"the directory's line of {entry.name} is not as a bundle has it")
        header = local_header(canonical)
        if read(len(header), canonical.offset) != header:
            raise refused(f"the header of {entry.name} is not what the directory says")
    entries = placed(entries)
    if (entries[-1].end if entries else 0) != start:
        raise refused("there are bytes between its files and its directory, or some are missing")
    if read(size - end, end) != end_of(count, length, start):
        raise refused("its end is not as a bundle has it")
    return entries


def _too_large(what: str, most: str, option: str) -> tuple[str, str]:
    return f"{what}, more than {most}", f"if that is expected, allow it with {option}"


def _end(read: Read, size: int, refused: Callable[..., StoreError]) -> tuple[int, int, int, int]:
    """Give how many files there are, the directory's length and place, and where it must end."""
    end = size - END.size
    magic, disk, disk2, few, count, length, start, comment = END.unpack(read(END.size, end))
    if magic != b"PK\5\6" or comment:
        raise refused("it is cut off, has a comment, or bytes were added behind its end")
    if disk or disk2 or few != count:
        raise refused("it is one part of several")
    if FULL_COUNT not in {count} and FULL not in {length, start}:
        return count, length, start, end
    end -= LOCATOR.size + END64.size
    if end < 0:
        raise refused("its end speaks of a ZIP64 record that is not there")
    record = END64.unpack(read(END64.size, end))
    if record[0] != b"PK\6\6":
        raise refused("its end speaks of a ZIP64 record that is not there")
    return record[7], record[8], record[9], end


def _entries(
    data: bytes, count: int, refused: Callable[..., StoreError]
) -> tuple[list[Entry], list[bytes]]:
    """Take the directory apart: each file, and its line as it stands there."""
    entries: list[Entry] = []
    lines: list[bytes] = []
    place = 0
    while place < len(data):
        if len(data) - place < CENTRAL.size or len(entries) == count:
            raise refused("its directory holds more than its end says")
        fields = CENTRAL.unpack_from(data, place)
        (magic, _by, _needed, flags, packing, _time, _date, crc) = fields[:8]
        (packed, size, name_size, extra_size, comment, _disk, _inner, outer, offset) = fields[8:]
        begin = place + CENTRAL.size
        end = begin + name_size + extra_size + comment
        if magic != b"PK\1\2" or end > len(data):
            raise refused(f"line {len(entries) + 1} of its directory is damaged")
        name = _name(data[begin : begin + name_size], flags, refused)
        extra = data[begin + name_size : begin + name_size + extra_size]
        if flags & 1:
            raise refused(f"{name} is encrypted")
        if packing or (packed != size):
            raise refused(f"{name} is compressed; a bundle stores its files as they are")
        if flags & 8:
            raise refused(f"the size of {name} stands behind it")
        _accept_kind(name, outer >> 16, refused)
        if comment or (extra and FULL not in {size, offset}):
            raise refused(f"{name} has a comment, or fields that no bundle has")
        entries.append(
            Entry(
                name=name,
                bytes=_size(size, extra, name, refused),
                crc32=crc,
                executable=bool(outer >> 16 & 0o100),
            )
        )
        lines.append(data[place:end])
        place = end
    if len(entries) != count:
        raise refused(f"its directory holds {len(entries)} files, not {count} as its end says")
    return entries, lines


def _size(size: int, extra: bytes, name: str, refused: Callable[..., StoreError]) -> int:
    if size != FULL:
        return size
    if len(extra) < 4 + 8:
        raise refused(f"the size of {name} is not said")
    (large,) = struct.unpack_from("<Q", extra, 4)
    return int(large)


def _name(raw: bytes, flags: int, refused: Callable[..., StoreError]) -> str:
    try:
        name = raw.decode("utf-8")
    except UnicodeDecodeError:
        raise refused(f"a name is not UTF-8: {raw[:80]!r}") from None
    fault = fault_of_name(name)
    if fault is not None:
        raise refused(f"{fault}: {name[:80]!r}")
    if not flags & 0x0800:
        raise refused(f"the name of {name} is not marked as UTF-8")
    return name


_KINDS = {
    stat.S_IFLNK: "a symbolic link",
    stat.S_IFDIR: "a folder",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
}


def _accept_kind(name: str, mode: int, refused: Callable[..., StoreError]) -> None:
    kind = stat.S_IFMT(mode)
    if kind != stat.S_IFREG:
        raise refused(f"{name} is {_KINDS.get(kind, 'no plain file')}; a bundle holds files only")
    if mode & 0o7777 not in {0o644, 0o755}:
        raise refused(f"{name} has the mode {mode & 0o7777:04o}, which no bundle has")


def _accept(entries: Sequence[Entry], max_bytes: int, refused: Callable[..., StoreError]) -> None:
    """Refuse names that cannot stand beside each other, another order, and too many bytes."""
    names = [entry.name for entry in entries]
    if len(set(names)) < len(names):
        twice = next(name for k, name in enumerate(names) if name in names[:k])
        raise refused(f"it holds {twice} twice")
    for name, other in collisions(names):
        raise refused(f"{name} and {other} cannot be unpacked beside each other")
    raw = [name.encode() for name in names]
    if raw != sorted(raw):
        raise refused("its files are not in their order")
    total = sum(entry.bytes for entry in entries)
    if total > max_bytes:
        raise refused(
            *_too_large(f"its files have {total:,} bytes", f"{max_bytes:,}", "--max-bytes")
        )
