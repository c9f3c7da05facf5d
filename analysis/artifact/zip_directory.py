"""A ZIP archive in its one canonical form: headers, directory and names; all else is refused.

Each file is stored as it is, under a UTF-8 name, dated 1980-01-01, with the mode 0644 or 0755, without
extra fields and comments; ZIP64 where a number needs it, and only there. So the names, modes, sizes and
checksums of the files determine every other byte, and a reader can compare instead of interpreting.

Source: PKWARE, "APPNOTE.TXT - .ZIP File Format Specification", 6.3.10, sections 4.3 to 4.5.
"""

from __future__ import annotations

import re
import stat
import struct
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from ..errors import StoreError

LONGEST = 1024  # bytes of a path
_LONGEST_PART = 255  # bytes of a part of it, on every common file system
# and what turns the direction of the letters behind it, so that another name is seen
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
_HALF = re.compile("[\ud800-\udfff]")  # of a pair: bytes that were no UTF-8
_DRIVE = re.compile("[A-Za-z]:")


def fault_of_name(name: str) -> str | None:
    """Say why a path must not stand in a bundle; None where it may."""
    parts = name.split("/")
    if not name:
        return "a name is empty"
    if name.startswith("/") or _DRIVE.match(name):
        return "a name is an absolute path"
    if ".." in parts:
        return "a name leads out of its folder (..)"
    if name.endswith("/"):
        return "an entry is a folder; a bundle holds files only"
    if "" in parts or "." in parts:
        return "a name has an empty part, or a single dot"
    if "\\" in name:
        return "a name holds a backslash, which some systems take for a separator"
    if _HALF.search(name):
        return "a name is not UTF-8"
    if _CONTROL.search(name):
        return "a name holds a control character"
    if len(name.encode()) > LONGEST or any(len(part.encode()) > _LONGEST_PART for part in parts):
        return "a name is too long to be unpacked"
    return None


def folded(name: str) -> str:
    """Give what two names share that some file systems take for one: letters' case, and accents' form."""
    if name.isascii():
        return name.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


class TakenNames:
    """The names that are taken already, as file systems see them that fold letters' case."""

    def __init__(self) -> None:
        self._files: dict[str, str] = {}  # folded name -> as it is written
        self._folders: dict[str, tuple[str, str]] = {}  # folded -> as it is written, a file in it
        self._parents: set[str] = set()  # folders with a file, as they are written

    def clash(self, name: str) -> str | None:
        """Take a name; where it cannot be unpacked beside an earlier one, give that instead.

        Two names, or two folders of them, that differ in case only, and a file where another has a
        folder.
        """
        key = folded(name)
        other = self._files.get(key)
        if key in self._folders:
            other = self._folders[key][1]
        parent = name.rpartition("/")[0]
        new = [] if parent in self._parents else list(_folders(name))
        for folder in new:
            folder_key = folded(folder)
            other = other or self._files.get(folder_key)
            written, inside = self._folders.get(folder_key, (folder, ""))
            if written != folder:
                other = other or inside
        if other is None:
            self._files[key] = name
            self._parents.add(parent)
            for folder in new:
                self._folders.setdefault(folded(folder), (folder, name))
        return other


def collisions(names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Give each name that clashes with an earlier one, with that one."""
    taken = TakenNames()
    for name in names:
        other = taken.clash(name)
        if other is not None:
            yield name, other


def _folders(name: str) -> Iterator[str]:
    place = name.find("/")
    while place > 0:
        yield name[:place]
        place = name.find("/", place + 1)


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
class ZipEntry:
    """A file in an archive."""

    name: str  # its path in the archive
    bytes: int  # its size
    crc32: int  # of its content
    executable: bool = False  # whether its mode is 0755, not 0644
    offset: int = 0  # where its header begins

    @property
    def start(self) -> int:
        """Where its content begins."""
        return self.offset + len(local_header(self))

    @property
    def end(self) -> int:
        """Where its content ends."""
        return self.start + self.bytes


def placed(entries: Sequence[ZipEntry]) -> list[ZipEntry]:
    """Give the entries in their canonical order, each with its place."""
    found: list[ZipEntry] = []
    offset = 0
    for entry in sorted(entries, key=lambda one: one.name.encode()):
        found.append(replace(entry, offset=offset))
        offset = found[-1].end
    return found


def local_header(entry: ZipEntry) -> bytes:
    """Give what stands before a file's content."""
    name = entry.name.encode()
    large = entry.bytes >= FULL
    size = FULL if large else entry.bytes
    extra = struct.pack("<2H2Q", 1, 16, entry.bytes, entry.bytes) if large else b""
    needed = _ZIP64 if large else _PLAIN
    numbers = (needed, _UTF8, 0, 0, _DATE, entry.crc32, size, size, len(name), len(extra))
    return LOCAL.pack(b"PK\3\4", *numbers) + name + extra


def central_header(entry: ZipEntry) -> bytes:
    """Give a file's line in the archive's directory."""
    name = entry.name.encode()
    large, far = entry.bytes >= FULL, entry.offset >= FULL
    numbers = [entry.bytes] * 2 * large + [entry.offset] * far
    extra = struct.pack(f"<2H{len(numbers)}Q", 1, 8 * len(numbers), *numbers) if numbers else b""
    needed = _ZIP64 if numbers else _PLAIN
    size = FULL if large else entry.bytes
    mode = _FILE | (0o755 if entry.executable else 0o644)
    kind = (_UNIX << 8 | needed, needed, _UTF8, 0, 0, _DATE)
    sizes = (entry.crc32, size, size, len(name), len(extra), 0, 0, 0)
    place = FULL if far else entry.offset
    return CENTRAL.pack(b"PK\1\2", *kind, *sizes, mode << 16, place) + name + extra


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


Read = Callable[[int, int], bytes]  # (how many bytes, from where) -> bytes

_EXTRA = 4 + 3 * 8  # a ZIP64 field with all its numbers
_FIX = "use a bundle as 'fairtrial bundle' wrote it: fetch it again, or ask who made it"


def directory_of(
    read: Read, size: int, *, where: str, max_entries: int, max_bytes: int
) -> list[ZipEntry]:
    """Read an archive's directory, and hold all bytes outside of the files against it."""

    def refused(what: str, fix: str = _FIX) -> StoreError:
        return StoreError(f"the archive is refused: {what}", where, fix)

    if size < END.size or read(4, 0)[:2] != b"PK":
        raise StoreError(
            "this is not a bundle: it does not begin like one",
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
) -> tuple[list[ZipEntry], list[bytes]]:
    """Take the directory apart: each file, and its line as it stands there."""
    entries: list[ZipEntry] = []
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
            ZipEntry(
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


def _accept(
    entries: Sequence[ZipEntry], max_bytes: int, refused: Callable[..., StoreError]
) -> None:
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
