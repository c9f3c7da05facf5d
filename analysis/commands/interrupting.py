"""Being ended from outside, for commands that have folders and processes of their own."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from types import FrameType
from typing import NoReturn

__all__ = ["interruptible"]

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """Let SIGTERM and SIGHUP end the block as Ctrl-C does, so that what it has made goes with it.

    Only the first signal counts: a second one must not interrupt the removing.
    """
    # whoever started us with a signal ignored (nohup, a script's background job) meant it
    before = {
        number: handler
        for number in _SIGNALS
        if (handler := signal.getsignal(number)) is not signal.SIG_IGN
    }

    def end(_number: int, _frame: FrameType | None) -> NoReturn:
        for number in before:
            signal.signal(number, signal.SIG_IGN)
        raise KeyboardInterrupt

    try:
        for number in before:
            signal.signal(number, end)
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
