"""What reaches the launcher: messages from the orchestrator, and signals.

TERM is sent to every process of a job at once by a batch system or a service manager. It is meant for
the orchestrator, which may want to execute its last hooks, and tells this process what to do. CONT
comes to a process that was stopped and goes on, which nothing else tells it.
"""

from __future__ import annotations

import marshal
import os
import signal


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


ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)


class ReceivedSignals:
    """Whether TERM has come since the last reply, and whether CONT has since `continued` was cleared."""

    def __init__(self) -> None:
        self._came = False
        self.continued = False

    def listen(self) -> None:
        """Note the signals from now on, in place of ending by TERM."""
        signal.signal(signal.SIGTERM, self._note)
        signal.signal(signal.SIGCONT, self._note_going_on)

    def _note(self, _number: int, _frame: object) -> None:
        self._came = True

    def _note_going_on(self, _number: int, _frame: object) -> None:
        self.continued = True

    def taken(self) -> bool:
        """Tell whether TERM came, once."""
        came, self._came = self._came, False
        return came
