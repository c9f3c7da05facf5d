"""The trees that are kept of built commits, each with a record that says what it holds.

A tree counts once its record is there, which is written last and at once; anything else is the rest of a
bisection that was killed. Trees stay until somebody asks for those that no trial names. Equal files of two
commits share their blocks where the file system can do that (Btrfs, XFS); they are never one file, which a
program that writes would change for both. Source: ioctl_fideduperange(2).
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import struct
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from analysis.errors import StoreError
from analysis.record.shapes import ShapeError, opened, parse

from ..host.executables import sha256_of
from ..trial.folder import write_synced
from .clone import remove_tree

SCHEMA = 1
_FIDEDUPERANGE = 0xC0189436
_LEAST_SHARED = 64 * 1024  # bytes: below, a call costs more than it saves
_AT_ONCE = 16 * 1024 * 1024  # bytes that Btrfs compares in one call
FULL = frozenset({errno.ENOSPC, errno.EDQUOT})


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What is known of a commit: a tree with its programs and sources, or why it was not built.

    A reason is known to the `bisection` that met it, and to no other: it may have gone since.
    """

    commit: str
    seconds: float
    programs: Mapping[str, str]
    sources: str
    size_bytes: int
    why: str | None = None
    log: str | None = None
    bisection: str = ""


class KeptTrees:
    """The folder ``kept`` of a workshop. `key` names commit and recipe."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "kept"
        self._shares = True

    def make(self) -> None:
        """Make the folder, and delete trees without a record."""
        self.folder.mkdir(mode=0o700, exist_ok=True)
        for path in self.folder.iterdir():
            known = path.suffix == ".json" or self._file(path.name).is_file()
            if path.suffix == ".new" or not known:
                remove_tree(path)

    def tree(self, key: str) -> Path:
        """Give where the tree lies, or is to lie."""
        return self.folder / key

    def read(self, key: str) -> Record | None:
        """Give the record of a commit; None where there is none that can be read."""
        try:
            with opened(self._file(key)) as file:
                data = parse(file.read())
            if data.pop("schema") != SCHEMA:
                return None
            return Record(**data)
        except (OSError, StoreError, ShapeError, TypeError, KeyError, AttributeError):
            return None

    def write(self, key: str, record: Record) -> None:
        """Write a record at once; with it its tree counts."""
        path = self._file(key)
        fresh = path.with_suffix(".new")
        parts = {name: getattr(record, name) for name in Record.__slots__}
        text = json.dumps({"schema": SCHEMA} | parts, indent=1, sort_keys=True)
        write_synced(self.folder, fresh.name, f"{text}\n".encode())
        fresh.replace(path)

    def forget(self, key: str) -> None:
        """Delete a record, and then its tree."""
        self._file(key).unlink(missing_ok=True)
        remove_tree(self.tree(key))

    def share(self, key: str, names: Iterable[Path]) -> int:
        """Let equal files of the newest other tree and this one share their blocks; give their bytes.

        `names` are relative to the tree. Nothing is done where the file system cannot.
        """
        if not self._shares:
            return 0
        others = [path for path in self.folder.iterdir() if path.is_dir() and path.name != key]
        if not others:
            return 0
        other = max(others, key=lambda path: path.stat().st_mtime_ns)
        shared = 0
        for name in names:
            shared += self._share_one(other / name, self.tree(key) / name)
        return shared

    def _share_one(self, one: Path, two: Path) -> int:
        try:
            size = one.lstat().st_size
            if one.is_symlink() or two.is_symlink() or not one.is_file() or not self._shares:
                return 0
            if (
                size < _LEAST_SHARED
                or two.lstat().st_size != size
                or sha256_of(one) != sha256_of(two)
            ):
                return 0
            with one.open("rb") as source, two.open("rb") as target:
                return sum(
                    _share_range(source.fileno(), target.fileno(), at, min(_AT_ONCE, size - at))
                    for at in range(0, size, _AT_ONCE)
                )
        except OSError as error:
            self._shares = error.errno in {errno.ENOENT, errno.EACCES, errno.EPERM, errno.ETXTBSY}
            return 0

    def _file(self, key: str) -> Path:
        return self.folder / f"{key}.json"


def _share_range(source: int, target: int, at: int, count: int) -> int:
    """Ask the kernel to share a range, which it compares first; give the bytes that it shares."""
    request = bytearray(
        struct.pack("=QQHHI", at, count, 1, 0, 0) + struct.pack("=qQQiI", target, at, 0, 0, 0)
    )
    fcntl.ioctl(source, _FIDEDUPERANGE, request)
    _, _, done, status, _ = struct.unpack_from("=qQQiI", request, 24)
    if status < 0:
        raise OSError(-status, os.strerror(-status))
    return int(done)


def size_of(tree: Path) -> int:
    """Give the bytes of all files of a tree, as their lengths say."""
    return sum(
        Path(folder, name).lstat().st_size for folder, _, files in os.walk(tree) for name in files
    )


@contextlib.contextmanager
def stored(folder: Path) -> Iterator[None]:
    """Let errors of the file system be those of the workshop's folder."""
    try:
        yield
    except OSError as error:
        raise unwritable(folder, error) from error


def unwritable(folder: Path, error: OSError) -> StoreError:
    """Say that the folder cannot hold what is built, and what helps."""
    full = error.errno in FULL
    what = f"what is built cannot be stored: {os.strerror(error.errno or 0)}"
    fix = f"{'free some space' if full else 'give yourself the right to write'}, or name another folder: --work-dir DIR; what is kept already stays"
    return StoreError(what, str(error.filename or folder), fix)
