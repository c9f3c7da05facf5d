"""Describes the files that runs read: by their hashes."""

from __future__ import annotations

import functools
import os
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from .redaction import redact_text
from .targets import sha256_of


def describe_inputs(paths: Iterable[Path], root: Path) -> dict[str, Any]:
    """Describe files as JSON types: name -> ``sha256`` and ``size_bytes``.

    Parameters
    ----------
    paths : iterable of Path
        The files. What is no regular file, or cannot be read, has neither hash nor size.
    root : Path
        The campaign's folder: names below it are relative to it, and the home folder is ``~``.
    """
    home = os.environ.get("HOME")
    found = {}
    for path in dict.fromkeys(paths):
        inside = path.is_relative_to(root)
        name = str(path.relative_to(root)) if inside else redact_text(str(path), home)
        digest, size = digest_of(path)
        found[name] = {"sha256": digest, "size_bytes": size}
    return dict(sorted(found.items()))


def digest_of(path: Path) -> tuple[str | None, int | None]:
    """Give the SHA-256 and the size of a regular file; ``None`` where they cannot be told.

    A file that has not been touched since it was hashed is not read again.
    """
    signature = signature_of(path)
    if signature is None:
        return None, None
    digest = _digest(path, signature)
    return digest, None if digest is None else signature[2]


def signature_of(path: Path) -> tuple[int, ...] | None:
    """Give what changes whenever a regular file is written or replaced; ``None`` if it is none.

    Device, inode, size in bytes, and the times of the last change of content and inode in ns.
    """
    try:
        found = path.stat()
    except (OSError, ValueError):
        return None
    if not stat.S_ISREG(found.st_mode):
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


@functools.lru_cache(maxsize=65536)
def _digest(path: Path, _signature: tuple[int, ...]) -> str | None:
    return sha256_of(path)
