"""The outputs of a trial as one file: a tar archive in its one canonical form.

Plain files only, sorted by the bytes of their names, mode 0644, owner 0, time 0, with GNU's header and its
long names where a name needs one. Names that are no UTF-8 cannot be held. The headers are written here,
not by the standard library: its bytes may differ from version to version.

Source: GNU tar manual, "Basic Tar Format".
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from ..errors import StoreError
from .archive import MOST_BYTES, Pieces
from .zip_directory import LONGEST, TakenNames, fault_of_name

MOST_FILES = 250_000

_BLOCK = 512
_PIECE = 1024**2
_END = bytes(2 * _BLOCK)
_FILE, _LONG = b"0", b"L"  # kinds of entries: a file, and a name that is too long for its header
_LONG_NAME = b"././@LongLink"
_SHORT = 100  # bytes of a name in a header
_LARGEST = 8**11 - 1  # bytes of a file: what eleven octal digits hold
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW


def tar_of(files: Mapping[str, Path]) -> Pieces:
    """Give the tar archive of some files, by their names in it."""

    def pieces() -> Iterator[bytes]:
        for name in sorted(files, key=str.encode):
            with files[name].open("rb") as file:
                size = os.fstat(file.fileno()).st_size
                if size > _LARGEST:
                    raise StoreError(
                        "the file is too large for an archive of outputs",
                        str(files[name]),
                        "leave it out of the trial's outputs",
                    )
                yield _header(name.encode(), size)
                left = size
                while piece := file.read(min(_PIECE, left)):
                    left -= len(piece)
                    yield piece
                if left or file.read(1):
                    raise StoreError(
                        "the file changed while it was packed",
                        str(files[name]),
                        "pack again when nothing writes to it",
                    )
            yield bytes(-size % _BLOCK)
        yield _END

    return pieces


def read_tar(
    pieces: Iterable[bytes],
    where: str,
    *,
    max_files: int = MOST_FILES,
    max_bytes: int = MOST_BYTES,
) -> Iterator[tuple[str, int, Iterator[bytes]]]:
    """Read a canonical tar archive: each file's name, size and content, which is taken before the next."""

    def refused(what: str) -> StoreError:
        fix = "use a bundle as 'fairtrial bundle' wrote it: fetch it again, or ask who made it"
        return StoreError(f"the outputs are refused: {what}", where, fix)

    stream = _Stream(pieces, refused)
    before, count, total = b"", 0, 0
    taken = TakenNames()
    while True:
        block = stream.take(_BLOCK)
        if not block.strip(b"\0"):
            break
        name, size = _named(block, stream, refused)
        count, total = count + 1, total + size
        if count > max_files or total > max_bytes:
            raise refused(f"they are more than {max_files:,} files or {max_bytes:,} bytes")
        if name.encode() <= before:
            raise refused(f"{name} is there twice, or not in its order")
        before = name.encode()
        other = taken.clash(name)
        if other is not None:
            raise refused(f"{name} and {other} cannot be unpacked beside each other")
        content = stream.content(size)
        yield name, size, content
        for _ in content:  # what nobody wanted
            pass
        if stream.take(-size % _BLOCK).strip(b"\0"):
            raise refused(f"there are bytes behind {name}")
    if stream.take(_BLOCK).strip(b"\0") or not stream.at_end():
        raise refused("there are bytes behind their end")


def unpack_tar(
    pieces: Iterable[bytes],
    folder: Path,
    where: str,
    *,
    max_files: int = MOST_FILES,
    max_bytes: int = MOST_BYTES,
) -> int:
    """Write the files of a tar archive below a folder that is there; give how many there are."""
    count = 0
    for name, _, content in read_tar(pieces, where, max_files=max_files, max_bytes=max_bytes):
        place = folder / name
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            with os.fdopen(os.open(place, _NEW, 0o644), "wb") as file:
                for piece in content:
                    file.write(piece)
        except OSError as error:
            raise StoreError(
                f"the file cannot be written: {error.strerror or error}",
                str(place),
                "name another folder, or free some space",
            ) from error
        count += 1
    return count


def _header(name: bytes, size: int) -> bytes:
    """Give all that stands before a file's content."""
    if len(name) <= _SHORT:
        return _block(name, size, _FILE)
    told = name + b"\0"
    return (
        _block(_LONG_NAME, len(told), _LONG)
        + told
        + bytes(-len(told) % _BLOCK)
        + _block(name[:_SHORT], size, _FILE)
    )


@functools.cache
def _rest(kind: bytes) -> tuple[bytes, bytes, int]:
    """Give what of a header depends on the kind alone, and its part of the sum."""
    mode = (b"0000644\0" if kind == _FILE else b"0000000\0") + b"0000000\0" * 2
    rest = kind + bytes(100) + b"ustar  \0" + bytes(247)
    return mode, rest, sum(mode + rest) + 8 * ord(" ")


def _block(name: bytes, size: int, kind: bytes) -> bytes:
    mode, rest, known = _rest(kind)
    numbers = b"%011o\0" % size + b"00000000000\0"
    checksum = (known + sum(name) + sum(numbers)) & 0o777777
    return name.ljust(_SHORT, b"\0") + mode + numbers + b"%06o\0 " % checksum + rest


def _named(block: bytes, stream: _Stream, refused: Callable[[str], StoreError]) -> tuple[str, int]:
    """Read the header of a file, which may take several blocks."""
    raw, size = block[:_SHORT].rstrip(b"\0"), _size(block, refused)
    whole = last = block
    if block[156:157] == _LONG:
        if size > LONGEST + 1:
            raise refused("a name is too long to be unpacked")
        told, last = stream.take(size + -size % _BLOCK), stream.take(_BLOCK)
        raw, whole = told[:size].removesuffix(b"\0"), block + told + last
        size = _size(last, refused)
    try:
        name = raw.decode("utf-8")
    except UnicodeDecodeError:
        raise refused(f"a name is not UTF-8: {raw[:80]!r}") from None
    fault = fault_of_name(name)
    if fault is not None:
        raise refused(f"{fault}: {name[:80]!r}")
    if last[156:157] != _FILE:
        raise refused(f"{name} is a link, a device or a folder; only files are held")
    if whole != _header(raw, size):
        raise refused(f"the header of {name} is not as a bundle has it")
    return name, size


def _size(block: bytes, refused: Callable[[str], StoreError]) -> int:
    digits = block[124:135]
    if not digits.isdigit() or b"8" in digits or b"9" in digits:
        raise refused("a header is damaged")
    return int(digits, 8)


class _Stream:
    """Bytes that come in pieces, taken in parts of other sizes."""

    def __init__(self, pieces: Iterable[bytes], refused: Callable[[str], StoreError]) -> None:
        self._pieces = iter(pieces)
        self._held = b""
        self._refused = refused

    def take(self, size: int) -> bytes:
        """Give exactly so many bytes."""
        return b"".join(self.content(size))

    def content(self, size: int) -> Iterator[bytes]:
        """Give so many bytes in pieces."""
        while size:
            if not self._held:
                self._held = next(self._pieces, b"")
                if not self._held:
                    raise self._refused("they are cut off")
            piece, self._held = self._held[:size], self._held[size:]
            size -= len(piece)
            yield piece

    def at_end(self) -> bool:
        """Tell whether nothing is left."""
        while not self._held:
            piece = next(self._pieces, None)
            if piece is None:
                return True
            self._held = piece
        return False
