"""The outputs of a trial as one file: a tar archive in its one canonical form.

Plain files only, sorted by the bytes of their names, mode 0644, owner 0, time 0, in the ustar format with
GNU's long names where a name needs one. Names that are no UTF-8 cannot be held.
"""

from __future__ import annotations

import os
import tarfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from ..errors import StoreError
from .archive import MOST_BYTES, Pieces
from .names import LONGEST, TakenNames, fault_of_name

__all__ = ["read_tar", "tar_of", "unpack_tar"]

MOST_FILES = 250_000

_BLOCK = 512
_PIECE = 1024**2
_END = bytes(2 * _BLOCK)
_LONG = tarfile.GNUTYPE_LONGNAME
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW


def tar_of(files: Mapping[str, Path]) -> Pieces:
    """Give the tar archive of some files, by their names in it.

    Raises
    ------
    StoreError
        When it is read, if a file changed its size meanwhile.
    OSError
        When it is read, if a file cannot be.
    """

    def pieces() -> Iterator[bytes]:
        for name in sorted(files, key=str.encode):
            with files[name].open("rb") as file:
                size = os.fstat(file.fileno()).st_size
                yield _header(name, size)
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
    """Read a canonical tar archive: each file's name, size and content, which is taken before the next.

    Parameters
    ----------
    pieces : iterable of bytes
        The archive.
    where : str
        What messages call it.
    max_files, max_bytes : int
        The most files, and the most bytes of them all.

    Raises
    ------
    StoreError
        If it is not as `tar_of` writes it, cut off, or too large.
    """

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
    """Write the files of a tar archive below a folder that is there; give how many there are.

    Raises
    ------
    StoreError
        As for `read_tar`, or if a file cannot be written; those before it are.
    """
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


def _header(name: str, size: int) -> bytes:
    info = tarfile.TarInfo(name)
    info.size, info.mode = size, 0o644
    return info.tobuf(tarfile.GNU_FORMAT, "utf-8", "strict")


def _named(block: bytes, stream: _Stream, refused: Callable[[str], StoreError]) -> tuple[str, int]:
    """Read the header of a file, which may take several blocks."""
    try:
        info = tarfile.TarInfo.frombuf(block, "utf-8", "strict")
        name, whole = info.name, block
        if info.type == _LONG:
            if info.size > LONGEST + 1:
                raise refused("a name is too long to be unpacked")
            rest = stream.take(info.size + -info.size % _BLOCK)
            last = stream.take(_BLOCK)
            name = rest[: info.size].removesuffix(b"\0").decode("utf-8")
            info = tarfile.TarInfo.frombuf(last, "utf-8", "strict")
            whole = block + rest + last
    except (tarfile.HeaderError, UnicodeDecodeError):
        raise refused("a header is damaged") from None
    fault = fault_of_name(name)
    if fault is not None:
        raise refused(f"{fault}: {name[:80]!r}")
    if info.type != tarfile.REGTYPE:
        raise refused(f"{name} is a link, a device or a folder; only files are held")
    if whole != _header(name, info.size):
        raise refused(f"the header of {name} is not as a bundle has it")
    return name, info.size


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
