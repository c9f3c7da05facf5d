"""Bundles as files: written in one canonical form, and read only if they are in that form.

The reader interprets nothing that it cannot hold against what `analysis.artifact.zip_directory` would have
written: links, devices, packed or encrypted entries, extra fields, bytes before, between and behind,
two names for one file are all refused, and one flipped bit outside of the files' contents is found.
Those are held against their CRC-32 as they are read. Nothing is written before all of this holds.
"""

from __future__ import annotations

import hashlib
import os
import stat
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from ..errors import StoreError, UsageError
from .zip_directory import ZipEntry, central_header, directory_of, end_of, local_header, placed

MOST_ENTRIES = 10_000
MOST_BYTES = 10 * 10**9

Pieces = Callable[[], Iterator[bytes]]  # a content, from its beginning each time that it is called

_PIECE = 1024**2
_OPEN = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK  # a pipe without a writer must not wait
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """A file that is to be packed: its path in the archive and where its bytes come from."""

    name: str
    pieces: Pieces
    executable: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Weighed:
    """A file that is to be packed, read once: its size and checksums."""

    content: Content
    bytes: int
    crc32: int
    sha256: str


def of_bytes(data: bytes) -> Pieces:
    """Give a content that is at hand."""
    return lambda: iter((data,))


def of_file(path: Path) -> Pieces:
    """Give the content of a file, which must be there until it was packed."""

    def pieces() -> Iterator[bytes]:
        with path.open("rb") as file:
            while piece := file.read(_PIECE):
                yield piece

    return pieces


def weigh(content: Content) -> Weighed:
    """Read a content once."""
    digest, crc, size = hashlib.sha256(), 0, 0
    for piece in content.pieces():
        digest.update(piece)
        crc = zlib.crc32(piece, crc)
        size += len(piece)
    return Weighed(content=content, bytes=size, crc32=crc, sha256=digest.hexdigest())


def write_archive(file: BinaryIO, files: Sequence[Weighed]) -> None:
    """Write the canonical archive of some files; their names must be what `fault_of_name` allows."""
    by_name = {one.content.name: one for one in files}
    entries = placed(
        [
            ZipEntry(name=name, bytes=one.bytes, crc32=one.crc32, executable=one.content.executable)
            for name, one in by_name.items()
        ]
    )
    for entry in entries:
        file.write(local_header(entry))
        crc, size = 0, 0
        for piece in by_name[entry.name].content.pieces():
            crc = zlib.crc32(piece, crc)
            size += len(piece)
            file.write(piece)
        if (crc, size) != (entry.crc32, entry.bytes):
            raise StoreError(
                "the file changed while it was packed",
                entry.name,
                "pack again when nothing writes to it",
            )
    directory = b"".join(map(central_header, entries))
    start = entries[-1].end if entries else 0
    file.write(directory + end_of(len(entries), len(directory), start))


class Archive:
    """An archive that is in its canonical form; its files' contents are checked as they are read.

    Attributes
    ----------
    path : Path
        Where it lies.
    entries : mapping of str to Entry
        Its files by their names, in their order.
    """

    def __init__(self, path: Path, fd: int, entries: Mapping[str, ZipEntry]) -> None:
        self.path = path
        self.entries = entries
        self._fd = fd

    def pieces(self, name: str) -> Iterator[bytes]:
        """Give a file's content in pieces."""
        entry = self._entry(name)
        place, crc = entry.start, 0
        while place < entry.end:
            try:
                piece = os.pread(self._fd, min(_PIECE, entry.end - place), place)
            except OSError as error:
                raise _refused(self.path, f"it cannot be read: {error.strerror}") from None
            if not piece:
                raise _refused(self.path, "the archive was cut off while it was read")
            place += len(piece)
            crc = zlib.crc32(piece, crc)
            yield piece
        if crc != entry.crc32:
            raise StoreError(
                f"the file {name} is damaged: its content does not have its checksum",
                str(self.path),
                "fetch the bundle again",
            )

    def read(self, name: str, *, most: int = 64 * 1024**2) -> bytes:
        """Give a file's content at once."""
        if self._entry(name).bytes > most:
            what = f"the file {name} is larger than any such file of a bundle is"
            raise _refused(self.path, what)
        return b"".join(self.pieces(name))

    def sha256(self, name: str) -> str:
        """Give the SHA-256 of a file's content; raises as `pieces` does."""
        digest = hashlib.sha256()
        for piece in self.pieces(name):
            digest.update(piece)
        return digest.hexdigest()

    def extract(self, name: str, place: Path) -> str:
        """Write a file's content to a new file, and give its SHA-256.

        Its folder must be there. Modes are 0644 or 0755, less what the umask takes.
        """
        mode = 0o755 if self._entry(name).executable else 0o644
        digest = hashlib.sha256()
        try:
            fd = os.open(place, _NEW, mode)
            try:
                with os.fdopen(fd, "wb") as file:
                    for piece in self.pieces(name):
                        digest.update(piece)
                        file.write(piece)
            except BaseException:
                place.unlink(missing_ok=True)
                raise
        except OSError as error:
            raise _not_written(error, place) from error
        return digest.hexdigest()

    def unpack(self, folder: Path) -> dict[str, str]:
        """Write all files below a folder that is there and empty; give the SHA-256 of each."""
        try:
            if any(folder.iterdir()):
                raise UsageError("the folder is not empty", str(folder), "name a new one")
            found = {}
            for name in self.entries:
                place = folder / name
                place.parent.mkdir(parents=True, exist_ok=True)
                found[name] = self.extract(name, place)
        except OSError as error:
            raise _not_written(error, folder) from error
        return found

    def _entry(self, name: str) -> ZipEntry:
        entry = self.entries.get(name)
        if entry is None:
            raise _refused(self.path, f"it holds no file {name}")
        return entry


@contextmanager
def open_archive(
    path: Path, *, max_entries: int = MOST_ENTRIES, max_bytes: int = MOST_BYTES
) -> Iterator[Archive]:
    """Open an archive after all of it but the files' contents was held against its canonical form."""
    try:
        fd = os.open(path, _OPEN)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UsageError(
            f"the bundle cannot be read: {reason}",
            str(path),
            "name a file that 'fairtrial bundle' wrote",
        ) from None
    try:
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode):
            raise UsageError(
                "this is not a regular file", str(path), "name a file that 'fairtrial bundle' wrote"
            )
        try:
            entries = directory_of(
                lambda size, place: os.pread(fd, size, place),
                status.st_size,
                where=str(path),
                max_entries=max_entries,
                max_bytes=max_bytes,
            )
        except OSError as error:
            raise _refused(path, f"it cannot be read: {error.strerror}") from None
        yield Archive(path, fd, {entry.name: entry for entry in entries})
    finally:
        os.close(fd)


def _refused(path: Path, what: str) -> StoreError:
    return StoreError(what, str(path), "fetch the bundle again, or ask who made it")


def _not_written(error: OSError, place: Path) -> StoreError:
    return StoreError(
        f"it cannot be written: {error.strerror or error}",
        str(error.filename or place),
        "name another folder, or free some space",
    )
