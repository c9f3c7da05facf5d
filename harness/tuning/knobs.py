"""Writes settings of the host below a root: existing files only, never through a link at the end."""

from __future__ import annotations

import os
from pathlib import Path

from ..host import Tree
from .settings import plain_value


class Knobs:
    """The settings of the host below `root`: the real one, or a planted tree.

    Raises
    ------
    OSError
        By everything that writes: the caller says what could not be done.
    """

    def __init__(self, root: Path = Path("/")) -> None:
        self.root = root
        self.tree = Tree(root)

    def shown(self, path: str) -> str | None:
        """Give what a setting of the list shows, in its one spelling; None when it shows none."""
        return plain_value(path, self.tree.text(path))

    def write(self, path: str, value: str) -> None:
        """Write a value as one piece, as the kernel wants it."""
        fd = os.open(self.tree.path(path), os.O_WRONLY | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            os.write(fd, f"{value}\n".encode())
        finally:
            os.close(fd)

    def make_folder(self, path: str) -> None:
        """Make a cgroup."""
        self.tree.path(path).mkdir(mode=0o755)

    def remove_folder(self, path: str) -> None:
        """Remove a cgroup: the kernel takes its files with it."""
        self.tree.path(path).rmdir()
