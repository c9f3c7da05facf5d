"""A file of a group: the kernel made it, or the group is none."""

from __future__ import annotations

import os
from pathlib import Path


def write(file: Path, text: str) -> None:
    """Write to a file of a group; never makes one.

    Raises
    ------
    OSError
        If it is not there, or if the kernel refuses.
    """
    fd = os.open(file, os.O_WRONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    try:
        os.write(fd, text.encode("ascii"))
    finally:
        os.close(fd)
