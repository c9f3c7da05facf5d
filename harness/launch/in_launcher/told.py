"""Signals that mean somebody else, or say what has happened: noted, and told with the next reply.

TERM is sent to every process of a job at once by a batch system or a service manager. It is meant for
the orchestrator, which may want to execute its last hooks, and tells this process what to do. CONT
comes to a process that was stopped and goes on, which nothing else tells it.
"""

from __future__ import annotations

import signal


class Told:
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
