"""The C library, and what its calls answer."""

from __future__ import annotations

import ctypes
import os

from .refused import Refused

libc = ctypes.CDLL(None, use_errno=True)


def call(setting: str, result: int) -> None:
    """Raise `Refused` for a call that answers -1."""
    if result < 0:
        raise Refused(setting, ctypes.get_errno())


def check(failure: int) -> None:
    """Raise OSError for a call that answers with an error number."""
    if failure:
        raise OSError(failure, os.strerror(failure))
