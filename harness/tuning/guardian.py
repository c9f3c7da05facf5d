"""A process that waits for the death of the one who tunes, and then does what that one cannot.

It is forked before the first change, in a session of its own, so that neither a Ctrl-C nor a closed
terminal reaches it, and holds the descriptor of its parent (pidfd): a death is seen however it comes.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
from collections.abc import Callable

_DEAF = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGTSTP)


class Guardian:
    """Waits from now on.

    Parameters
    ----------
    after_death : callable
        What it does, in a process of its own, when this one is gone.
    """

    def __init__(self, after_death: Callable[[], None]) -> None:
        parent = os.pidfd_open(os.getpid())  # before the fork: nobody can take the number meanwhile
        ours, theirs = os.pipe()
        listening, deaf = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            with contextlib.suppress(BaseException):
                os.close(theirs)
                os.close(listening)
                _watch(parent, ours, deaf, after_death)
            os._exit(0)
        for fd in (parent, ours, deaf):
            os.close(fd)
        os.read(listening, 1)  # nothing is changed before it can no longer be reached
        os.close(listening)
        self._word = theirs

    def dismiss(self) -> None:
        """Send it home, and wait until it has gone."""
        with contextlib.suppress(OSError):
            os.write(self._word, b"x")
        os.close(self._word)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self.pid, 0)


def _watch(parent: int, word: int, deaf: int, after_death: Callable[[], None]) -> None:
    os.setsid()
    for number in _DEAF:
        signal.signal(number, signal.SIG_IGN)
    os.chdir("/")
    os.write(deaf, b"x")
    os.close(deaf)
    waiting = select.poll()
    waiting.register(parent, select.POLLIN)
    waiting.register(word, select.POLLIN)
    ready = {fd for fd, _ in waiting.poll()}
    if word in ready and os.read(word, 1):
        return  # all is well
    after_death()
