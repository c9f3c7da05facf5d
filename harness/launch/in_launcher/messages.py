"""Messages to and from the orchestrator: four bytes of length, then a dict in `marshal` format."""

from __future__ import annotations

import marshal
import os


class Hangup(Exception):
    """The orchestrator is gone, or a signal has asked to end."""


def receive(fd: int) -> dict:  # type: ignore[type-arg]  # messages are plain dicts
    """Read one message; raise `Hangup` at the end of the stream."""
    head = _read_exactly(fd, 4)
    message: dict = marshal.loads(  # type: ignore[type-arg]  # a plain dict
        _read_exactly(fd, int.from_bytes(head, "little"))
    )
    return message


def _read_exactly(fd: int, size: int) -> bytes:
    data = b""
    while len(data) < size:
        try:
            more = os.read(fd, size - len(data))
        except ConnectionResetError:  # it died with a reply of ours unread
            more = b""
        if not more:
            raise Hangup
        data += more
    return data


def send(fd: int, message: dict) -> None:  # type: ignore[type-arg]  # messages are plain dicts
    """Write one message; raise `Hangup` when nobody is there to read it."""
    data = marshal.dumps(message)
    view = memoryview(len(data).to_bytes(4, "little") + data)
    try:
        while view:
            view = view[os.write(fd, view) :]
    except (BrokenPipeError, ConnectionResetError):
        raise Hangup from None
