"""TERM, which a batch system or a service manager sends to every process of a job at once.

It is meant for the orchestrator, which may want to execute its last hooks, and tells this process
what to do. So it does not end a launcher: it is noted, and told with the next reply.
"""

from __future__ import annotations

import signal


class Told:
    """Whether TERM has come since the last reply."""

    def __init__(self) -> None:
        self._came = False

    def listen(self) -> None:
        """Note the signal from now on, in place of ending by it."""
        signal.signal(signal.SIGTERM, self._note)

    def _note(self, _number: int, _frame: object) -> None:
        self._came = True

    def taken(self) -> bool:
        """Tell whether it came, once."""
        came, self._came = self._came, False
        return came
