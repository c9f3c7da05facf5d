"""The campaign's isolation, put on the launcher: targets inherit it."""

from __future__ import annotations

import ctypes
import os

from .libc import call, libc
from .refused import Refused

_ADDR_NO_RANDOMIZE = 0x0040000


def apply(config: dict) -> None:  # type: ignore[type-arg]  # the configuration message
    """Put the campaign's settings on this process; targets inherit them."""
    if config["cpus"]:
        _try("cpus", lambda: os.sched_setaffinity(0, config["cpus"]))
    if config["nice"] is not None:
        _try("nice", lambda: os.setpriority(os.PRIO_PROCESS, 0, config["nice"]))
    if config["scheduling"] == "batch":
        _try("scheduling", lambda: os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0)))
    elif config["scheduling"] == "fifo":
        # One above the target, or a spinning target would never let a timeout fire.
        above = os.sched_param(config["priority"] + 1)
        _try("scheduling", lambda: os.sched_setscheduler(0, os.SCHED_FIFO, above))
    if not config["aslr"]:
        persona = libc.personality(ctypes.c_ulong(0xFFFFFFFF))
        call("aslr", libc.personality(ctypes.c_ulong(persona | _ADDR_NO_RANDOMIZE)))


def _try(setting: str, action) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001 - no typing import here
    try:
        action()
    except OSError as error:
        raise Refused(setting, error.errno) from None
