"""The folder in which a bundle takes shape: what it will hold, and a list of what it will not."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from ...data import without_homes
from ...errors import StoreError, UsageError
from ..contents import Missing
from ..names import TakenNames, fault_of_name

__all__ = ["Staging", "file_hash"]

_PIECE = 1024**2
_READ = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW


class Staging:
    """Files on their way into a bundle.

    Parameters
    ----------
    root : Path
        An empty folder; what lies in it at the end is the unpacked bundle.
    max_bytes : int
        The most that all files may have. What must be there and does not fit is an error, what may be
        left out is listed as missing.

    Attributes
    ----------
    gone : list of str
        Records of trials that have ended, which their manifests list and nobody has any more.
    """

    def __init__(self, root: Path, max_bytes: int) -> None:
        self.root = root
        self.max_bytes = max_bytes
        self.bytes = 0
        self.names: list[str] = []
        self.gone: list[str] = []
        self._taken = TakenNames()
        self._missing: dict[tuple[str, str], Missing] = {}

    @property
    def missing(self) -> tuple[Missing, ...]:
        """What is not there, in one order whatever was found first."""
        return tuple(self._missing[key] for key in sorted(self._missing))

    def miss(
        self, what: str, why: str, *, sha256: str | None = None, size: int | None = None
    ) -> None:
        """List something as missing; home directories are written as ``~``."""
        what, why = _writable(without_homes(what)), _writable(without_homes(why))
        self._missing[what, why] = Missing(what=what, why=why, sha256=sha256, bytes=size)

    def write(self, name: str, data: bytes) -> None:
        """Put a text of ours into the bundle.

        Raises
        ------
        StoreError
            If it cannot be written.
        """
        self._accept(name, len(data))
        self._create(name, iter((data,)), executable=False)

    def copy(self, name: str, source: Path) -> str:
        """Put a file into the bundle that must be there, and give its SHA-256.

        Raises
        ------
        StoreError
            If it cannot be read, cannot be named in a bundle, or makes the bundle too large.
        """
        fd, status = _opened(source)
        with os.fdopen(fd, "rb") as file:
            self._accept(name, status.st_size)
            return self._create(name, _pieces(file), executable=bool(status.st_mode & stat.S_IXUSR))

    def copy_if_possible(self, name: str, source: Path, what: str) -> bool:
        """Put a file into the bundle if it can be, else list it as missing; tell whether it is there.

        Parameters
        ----------
        name : str
            Its path in the bundle.
        source : Path
            The file.
        what : str
            As a list of missing things calls it.
        """
        fault = fault_of_name(name)
        if fault is not None:
            self.miss(what, f"it cannot be named in a bundle: {fault}")
            return False
        try:
            fd, status = _opened(source)
        except StoreError as error:
            self.miss(what, error.what)
            return False
        with os.fdopen(fd, "rb") as file:
            size = status.st_size
            if self.bytes + size > self.max_bytes:
                why = f"it is too large: the bundle may have {self.max_bytes:,} bytes (--max-bytes)"
                self.miss(what, why, sha256=file_hash(source), size=size)
                return False
            other = self._taken.clash(name)
            if other is not None:
                self.miss(what, f"it cannot be unpacked beside {other} on every system")
                return False
            self.bytes += size
            self._create(name, _pieces(file), executable=bool(status.st_mode & stat.S_IXUSR))
        return True

    def _accept(self, name: str, size: int) -> None:
        fault = fault_of_name(name)
        other = None if fault else self._taken.clash(name)
        if fault or other:
            raise StoreError(
                f"the file cannot be put into a bundle: {fault or f'{other} is there already'}",
                name,
                "give it another name",
            )
        self.bytes += size
        if self.bytes > self.max_bytes:
            raise UsageError(
                f"the bundle would have more than {self.max_bytes:,} bytes",
                name,
                "allow more with --max-bytes",
            )

    def _create(self, name: str, pieces: Iterator[bytes], *, executable: bool) -> str:
        place = self.root / name
        digest = hashlib.sha256()
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            fd = os.open(place, _NEW, 0o700 if executable else 0o600)
            with os.fdopen(fd, "wb") as file:
                for piece in pieces:
                    digest.update(piece)
                    file.write(piece)
        except OSError as error:
            raise StoreError(
                f"the file cannot be copied: {error.strerror or error}",
                str(error.filename or name),
                "free some space in the folder for temporary files ($TMPDIR)",
            ) from error
        self.names.append(name)
        return digest.hexdigest()


def _writable(text: str) -> str:
    """Write out bytes of a name that are no UTF-8."""
    return text.encode("utf-8", "backslashreplace").decode()


def file_hash(path: Path) -> str | None:
    """Give the SHA-256 of a file; None where it cannot be read."""
    digest = hashlib.sha256()
    try:
        fd, _ = _opened(path)
        with os.fdopen(fd, "rb") as file:
            for piece in _pieces(file):
                digest.update(piece)
    except (OSError, StoreError):
        return None
    return digest.hexdigest()


def _opened(path: Path) -> tuple[int, os.stat_result]:
    """Open a plain file; a pipe, which nobody may write to, is none."""
    try:
        fd = os.open(path, _READ)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise StoreError(f"it cannot be read: {reason}", str(path), "make it readable") from None
    status = os.fstat(fd)
    if not stat.S_ISREG(status.st_mode):
        os.close(fd)
        raise StoreError("it is no plain file", str(path), "put a file in its place")
    return fd, status


def _pieces(file: BinaryIO) -> Iterator[bytes]:
    while piece := file.read(_PIECE):
        yield piece
