"""The launcher as a process: configured, then serving until it is asked to end."""

from __future__ import annotations

import gc
import os
import signal
import sys

from .endings import ENDING
from .libc import call, libc
from .messages import Hangup, receive, send
from .namespace import enter_namespace
from .refused import Refused
from .serving import Launcher
from .settings import apply
from .told import Told

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36


def _end(_number: int, _frame: object) -> None:
    """Take a signal as the end, so that the last sweep is made."""
    raise Hangup


def main() -> None:
    """Configure, report that all is set (the kernel tells the reader who wrote it), serve."""
    try:
        _serve()
    except Hangup:
        pass


def _serve() -> None:
    control = int(sys.argv[1])
    while True:  # a missing 0, 1 or 2 would be taken by a file and overwritten by its own dup2
        fd = os.open("/dev/null", os.O_RDWR)
        if fd > 2:
            os.close(fd)
            break
    os.set_inheritable(control, False)
    signal.signal(signal.SIGXCPU, signal.SIG_IGN)  # a soft CPU limit is meant for the target
    # with SIGCHLD ignored, a target would be gone before wait4
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for number in ENDING:
        signal.signal(number, _end)
    told = Told()
    told.listen()
    # Stopped (by a target, say), it would not see that the orchestrator died: then go on.
    libc.prctl(_PR_SET_PDEATHSIG, signal.SIGCONT, 0, 0, 0)
    config = receive(control)
    try:
        apply(config)
        if config["containment"] != "none":
            try:
                enter_namespace(config["containment"])
            except OSError as error:
                raise Refused("containment", error.errno) from None
        # After the fork into a namespace: the attribute is not inherited.
        call("subreaper", libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0))
        launcher = Launcher(control, config, told=told)
        counters = launcher.counters.look()
    except Refused as refused:
        send(control, {"error": refused.args[0], "errno": refused.args[1]})
        return
    gc.collect()
    gc.freeze()
    gc.disable()
    entry = {"spawns_into_groups": launcher.leaves.spawns} if config.get("cgroup") else {}
    send(control, {"ready": True, "counters": counters} | entry)
    launcher.serve()
