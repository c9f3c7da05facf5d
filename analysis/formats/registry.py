"""Which files can be read as runs: one row a format, asked in this order.

A format is a module with two functions: ``knows(path, start)`` tells from the name and the first
bytes whether a file is its own, ``read(path, layout)`` gives its `Table`. To add one, write the module
and its row. Importing this table imports none of them.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast

from ..errors import UsageError

if TYPE_CHECKING:
    from ..data import Layout, Table

__all__ = ["FORMATS", "Format", "Reader", "files_said", "format_of"]

_START = 4096  # bytes that a format may look at


class Reader(Protocol):
    """What the module of a format offers."""

    def knows(self, path: Path, start: bytes) -> bool:
        """Tell whether the file is of this format."""

    def read(self, path: Path, layout: Layout) -> Table:
        """Give what the file holds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """A format: its name, the module that reads it, and how the help calls such a file."""

    name: str
    module: str
    said: str

    @property
    def reader(self) -> Reader:
        """The module that reads it."""
        return cast("Reader", importlib.import_module(self.module, __package__))


FORMATS = (
    Format(name="matrix", module=".matrix", said="a matrix file (.csv, .txt, .json)"),
    Format(name="numbers", module=".numbers_file", said="a file with one number a line"),
)


def files_said() -> str:
    """Say which files can be read, for the help and for messages."""
    *first, last = (form.said for form in FORMATS)
    return f"{', '.join(first)} or {last}"


def format_of(path: Path) -> Format:
    """Find the format of a file.

    Raises
    ------
    UsageError
        If the file cannot be read, or no format knows it.
    """
    try:
        with path.open("rb") as file:
            start = file.read(_START)
    except OSError as error:
        raise UsageError(f"the file cannot be read: {error.strerror}", str(path)) from None
    for form in FORMATS:
        if form.reader.knows(path, start):
            return form
    raise UsageError("no format is known for this file", str(path), f"name {files_said()}")
