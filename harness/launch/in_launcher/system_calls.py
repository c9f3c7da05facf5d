"""The C library's calls, and what is set with them once: isolation that targets inherit, a PID namespace."""

from __future__ import annotations

import ctypes
import errno
import os
import select
import signal

from .messages import ENDING


class SettingRefused(Exception):
    """A setting could not be applied: (setting, errno)."""


libc = ctypes.CDLL(None, use_errno=True)


def call(setting: str, result: int) -> None:
    """Raise `SettingRefused` for a call that answers -1."""
    if result < 0:
        raise SettingRefused(setting, ctypes.get_errno())


def check(failure: int) -> None:
    """Raise OSError for a call that answers with an error number."""
    if failure:
        raise OSError(failure, os.strerror(failure))


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
        raise SettingRefused(setting, error.errno) from None


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
            raise SettingRefused("containment", errno.EPERM)
        if verdict != b"ok":
            raise SettingRefused("containment", int(verdict))
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
