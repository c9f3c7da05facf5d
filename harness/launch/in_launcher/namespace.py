"""A PID namespace of its own: when its first process dies the kernel kills all the others."""

from __future__ import annotations

import ctypes
import errno
import os
import select
import signal

from .endings import ENDING
from .libc import call, libc
from .refused import Refused

_CLONE_NEWNS = 0x00020000
_CLONE_NEWUSER = 0x10000000
_CLONE_NEWPID = 0x20000000
_MS_REC_SLAVE = 0x4000 | 0x80000
_PR_SET_PDEATHSIG = 1


def enter_namespace(kind: str) -> None:
    """Go on as process 2 of a new PID namespace with a /proc of its own.

    Process 1 is a fork that only waits: some programs take a parent number of 1 to mean that
    their parent died, so the launcher itself must not be number 1. The caller's process ends.
    """
    uid, gid = os.geteuid(), os.getegid()
    flags = _CLONE_NEWPID | _CLONE_NEWNS | (_CLONE_NEWUSER if kind == "user" else 0)
    call("containment", libc.unshare(flags))
    if kind == "user":
        for name, text in (
            ("setgroups", "deny"),
            ("uid_map", f"{uid} {uid} 1"),
            ("gid_map", f"{gid} {gid} 1"),
        ):
            fd = os.open(f"/proc/self/{name}", os.O_WRONLY)
            os.write(fd, text.encode())
            os.close(fd)
    # Slave, not private: what a hook mounts on the host still reaches the targets.
    call("containment", libc.mount(None, b"/", None, _MS_REC_SLAVE, None))
    ready_r, ready_w = os.pipe()
    starter = os.pidfd_open(os.getpid())
    if os.fork():
        os.close(ready_w)
        verdict = os.read(ready_r, 16)
        if not verdict:
            raise Refused("containment", errno.EPERM)
        if verdict != b"ok":
            raise Refused("containment", int(verdict))
        os._exit(0)
    os.close(ready_r)
    if libc.mount(b"proc", b"/proc", b"proc", 0, None) < 0:
        os.write(ready_w, b"%d" % ctypes.get_errno())
        os._exit(1)
    child = os.fork()
    if child:
        for number in ENDING:  # of those without a handler, the inside reaches process 1 with none
            signal.signal(number, signal.SIG_DFL)
        os.write(ready_w, b"ok")
        # Who started us ends, and we fall to the orchestrator: from then on we die with it.
        ended = select.poll()
        ended.register(starter, select.POLLIN)
        ended.poll()
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        os.closerange(3, 1 << 16)
        while os.wait()[0] != child:
            pass
        os._exit(0)
    os.close(ready_w)
    os.close(starter)
