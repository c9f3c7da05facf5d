"""The files that a target reads and writes."""

from __future__ import annotations

import os

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_WRITING = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC


def open_output(path: bytes) -> int:
    """Open what output goes to; neither it nor its folder may be a symbolic link.

    The name is known beforehand, so a program could put a link there, and the next one's output
    would destroy what that names.
    """
    folder, _, name = path.rpartition(b"/")
    at = os.open(folder or b"/", _FOLDER)
    try:
        return os.open(name, _WRITING, os.fstat(at).st_mode & 0o666, dir_fd=at)
    finally:
        os.close(at)
