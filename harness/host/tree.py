"""Small files under one root, as the kernel shows them: missing, empty or odd is ``None``."""

from __future__ import annotations

import errno
import os
import re
from pathlib import Path

# What kernels and firmware write where they have no value.
_NO_VALUE = frozenset(
    {"", "unknown", "<unknown>", "<unsupported>", "unsupported", "n/a", "(null)", "<not supported>"}
)
_POLL_BYTES = 64 * 1024


def parse_cpus(text: str) -> tuple[int, ...]:
    """Read a kernel CPU list such as ``0-2,5`` (also ``0-8:2/4``) into sorted numbers."""
    numbers: set[int] = set()
    for part in filter(None, (piece.strip() for piece in text.strip().split(","))):
        match = re.fullmatch(r"([0-9]{1,6})(?:-([0-9]{1,6})(?::([0-9]{1,6})/([0-9]{1,6}))?)?", part)
        if match is None:
            raise ValueError(f"{part!r} is no CPU number and no range of CPU numbers")
        first, last, used, group = (None if item is None else int(item) for item in match.groups())
        assert first is not None
        last = first if last is None else last
        if last < first or group == 0:
            raise ValueError(f"{part!r} is an empty range")
        span = range(first, last + 1)
        numbers.update(n for n in span if group is None or (n - first) % group < (used or 0))
    return tuple(sorted(numbers))


def format_cpus(cpus: tuple[int, ...]) -> str:
    """Write CPU numbers as the kernel does: ``(0, 1, 2, 5)`` becomes ``0-2,5``."""
    parts: list[str] = []
    ordered = sorted(set(cpus))
    start = 0
    for index, cpu in enumerate(ordered):
        if index + 1 < len(ordered) and ordered[index + 1] == cpu + 1:
            continue
        first = ordered[start]
        parts.append(str(cpu) if first == cpu else f"{first}-{cpu}")
        start = index + 1
    return ",".join(parts)


def _unless_no_more_files(error: Exception) -> None:
    """Pass an error on that says nothing of the file: that this process may open no more."""
    if isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE):
        raise error


class Tree:
    """Reads small files below `root`; every path is written as it is below ``/``.

    Files asked for with `poll` stay open, and one that could not be opened is not tried again:
    a missing file then costs nothing between two runs.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self._open: dict[str, int | None] = {}

    def path(self, path: str) -> Path:
        """Give the real place of `path`."""
        return self.root / path.lstrip("/")

    def text(self, path: str) -> str | None:
        """Give the file's text without the white space around it, or None."""
        try:
            data = self.path(path).read_bytes()
        except (OSError, ValueError) as error:
            _unless_no_more_files(error)
            return None
        text = data.decode("utf-8", "replace").strip().strip("\0")
        return None if text.lower() in _NO_VALUE else text

    def number(self, path: str) -> int | None:
        """Give the file's one whole number, or None."""
        return whole(self.text(path))

    def cpus(self, path: str) -> tuple[int, ...] | None:
        """Give the file's CPU list, or None; a file that is there but empty is the empty list."""
        try:
            return parse_cpus(self.path(path).read_bytes().decode("ascii"))
        except (OSError, ValueError) as error:
            _unless_no_more_files(error)
            return None

    def chosen(self, path: str) -> str | None:
        """Give the bracketed word of a choice such as ``always [madvise] never``, or None."""
        match = re.search(r"\[([^\]\s]+)\]", self.text(path) or "")
        return match.group(1) if match else None

    def names(self, path: str) -> tuple[str, ...] | None:
        """Give the sorted names in a directory, or None when it cannot be listed."""
        try:
            return tuple(sorted(os.listdir(self.path(path))))  # noqa: PTH208 - names, not paths
        except OSError as error:
            _unless_no_more_files(error)
            return None

    def exists(self, path: str) -> bool:
        """Tell whether there is such a file."""
        return self.path(path).exists()

    def poll(self, path: str, size: int = _POLL_BYTES) -> bytes | None:
        """Read the first `size` bytes of a file that is read again and again."""
        if path not in self._open:
            try:
                self._open[path] = os.open(self.path(path), os.O_RDONLY)
            except OSError:
                self._open[path] = None
        descriptor = self._open[path]
        if descriptor is None:
            return None
        try:
            return os.pread(descriptor, size, 0)
        except OSError:
            return None

    def poll_number(self, path: str) -> int | None:
        """Read one whole number from a file that is read again and again."""
        data = self.poll(path, 64)
        return None if data is None else whole(data.decode("ascii", "replace"))

    def close(self) -> None:
        """Close the files that `poll` keeps open."""
        for descriptor in self._open.values():
            if descriptor is not None:
                os.close(descriptor)
        self._open.clear()


def whole(text: str | None) -> int | None:
    """Read a whole number of at most 20 digits, or give None."""
    if text is None or not re.fullmatch(r"\s*[+-]?[0-9]{1,20}\s*", text):
        return None
    return int(text)
