"""The variables of a program, as execve wants them, with one whose length is set for each run."""

from __future__ import annotations

import ctypes
import errno
import os

_PAGE = 4096


def strings(parts: list, *, room: int = 0) -> ctypes.Array:  # type: ignore[type-arg]  # list of bytes
    """Make a list of C strings that ends with NULL, with `room` for more.

    Raises
    ------
    OSError
        EINVAL, if one has a NUL inside.
    """
    for part in parts:
        if b"\0" in part:
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
    return (ctypes.c_char_p * (len(parts) + room + 1))(*parts)


class Padding:
    """A variable of any length: one long text, whose end is moved to where a run wants it."""

    def __init__(self, name: bytes) -> None:
        self._head = name + b"="
        self._longest = self._end = 0
        self._buffer = ctypes.create_string_buffer(self._head)

    def cut(self, length: int) -> int:
        """End the value after so many bytes; give the address of the variable."""
        if length > self._longest:
            self._longest = self._end = max(length, _PAGE)
            self._buffer = ctypes.create_string_buffer(self._head + b"x" * self._longest)
        if self._end < self._longest:
            self._buffer[len(self._head) + self._end] = b"x"
        self._end = length
        self._buffer[len(self._head) + length] = b"\0"
        return ctypes.addressof(self._buffer)


class Environment:
    """The variables of a program; programs that have the same share one.

    Parameters
    ----------
    variables : list of bytes
        Each as NAME=VALUE.
    padding : Padding or None
        The one that `pad` sets; it stands behind the others.
    """

    def __init__(self, variables: list, padding: Padding | None) -> None:  # type: ignore[type-arg]  # of bytes
        self.strings = strings(variables, room=1)
        self._last = len(variables)
        self._padding = padding

    def pad(self, length: int) -> None:
        """Set the length of the padding's value; 0 leaves the variable out."""
        if self._padding is not None:
            self.strings[self._last] = self._padding.cut(length) if length else None
