"""What a person, a terminal or a batch system sends; then on to the end.

A case is ``{"send": [names], "at": instant}``: names of signals, or keys of a terminal ("^C", "^\\\\", "^Z", which
is continued) and "closed", for a terminal that goes away.
"""

from __future__ import annotations

import contextlib
import os
import pty
import signal
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from random import Random
from typing import Any

from arena import Arena, Process, below
from cases import Case, row_of
from kills import INSTANTS, reached
from row import Row

SENT = (
    *(["INT"], ["TERM"], ["HUP"], ["QUIT"], ["INT", "INT"], ["TERM", "INT"], ["STOP", "CONT"]),
    *(["^C"], ["^\\"], ["^Z"], ["^Z", "^C"], ["^C", "^C"], ["closed"]),
)
_KEYS = {"^C": b"\x03", "^\\": b"\x1c", "^Z": b"\x1a"}

# What a shell does with a job: without such a parent the kernel does not stop it at ^Z.
_SHELL = """\
import os, signal, sys, time
signal.signal(signal.SIGTTOU, signal.SIG_IGN)
child = os.fork()
if not child:
    os.setpgid(0, 0)
    os.tcsetpgrp(0, os.getpid())
    signal.signal(signal.SIGTTOU, signal.SIG_DFL)
    os.execv(sys.argv[1], sys.argv[1:])
signal.signal(signal.SIGHUP, lambda *_: os.killpg(child, signal.SIGHUP))
while True:
    _, status = os.waitpid(child, os.WUNTRACED)
    if not os.WIFSTOPPED(status):
        break
    time.sleep(0.3)
    os.killpg(child, signal.SIGCONT)
code = os.waitstatus_to_exitcode(status)
sys.exit(code if code >= 0 else 128 - code)
"""


def cases(rng: Random, count: int) -> Iterable[Case]:
    """Make `count` trials that are stopped once; every kind of signal comes up."""
    kinds = list(SENT)
    for number in range(count):
        if number % len(kinds) == 0:
            rng.shuffle(kinds)
        early = rng.random() < 0.2
        instant = f"{rng.uniform(0.05, 1.5):.3f}" if early else rng.choice(INSTANTS)
        yield {"send": kinds[number % len(kinds)], "at": instant}


def attempt(case: Case, folder: Path) -> Arena:
    """Send what the case says, then go on to the end."""
    arena = Arena(folder)
    terminal = case["send"][0] in {*_KEYS, "closed"}
    keys = None
    with arena.held(case, case["at"]):
        is_there = reached(arena, case["at"])
        if terminal:
            keys, process = _on_terminal(arena)
        else:
            process = arena.start(*arena.way_on())
        if there := is_there(process):
            for k, name in enumerate(case["send"]):
                time.sleep(0.1 * (k > 0))
                with contextlib.suppress(ProcessLookupError, OSError):
                    _send(process, name, keys)
    code = _ended(arena, process, keys, closed="closed" in case["send"])
    arena.bury()
    if there:
        arena.struck()
    # QUIT is Python's own: it ends at once, as by a kill.
    quits = (-signal.SIGQUIT, 128 + signal.SIGQUIT) if {"QUIT", "^\\"} & {*case["send"]} else ()
    # Before there is a handler a signal ends any program.
    early = [
        -getattr(signal, f"SIG{name}") for name in case["send"] if name.isalpha() and name.isupper()
    ]
    early += [128 + signal.SIGHUP, -signal.SIGHUP] if "closed" in case["send"] else []
    arena.hold(code, (0, 130, *quits, *early))
    arena.finish()
    return arena


def _on_terminal(arena: Arena) -> tuple[int, Process]:
    """Start the trial as a job of a terminal; give the terminal's other end."""
    master, slave = pty.openpty()
    streams: dict[str, Any] = {"stdin": slave, "stdout": slave, "stderr": slave}

    def adopt() -> None:
        import fcntl
        import termios

        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    prefix = (sys.executable, "-c", _SHELL)
    process = arena.start(*arena.way_on(), prefix=prefix, preexec_fn=adopt, **streams)
    os.close(slave)
    os.set_blocking(master, False)
    return master, process


def _send(process: Process, name: str, keys: int | None) -> None:
    if name == "closed" and keys is not None:
        os.close(keys)
    elif name in _KEYS and keys is not None:
        os.write(keys, _KEYS[name])
    else:
        process.send_signal(getattr(signal, f"SIG{name}"))


def _ended(arena: Arena, process: Process, keys: int | None, *, closed: bool) -> int | None:
    """Wait for the end, and read what a terminal shows until then."""
    if keys is None or closed:
        return arena.ended(process)
    end = time.monotonic() + 120
    with arena.said.open("ab") as said:
        while process.poll() is None and time.monotonic() < end:
            time.sleep(0.02)
            with contextlib.suppress(BlockingIOError, OSError):
                said.write(os.read(keys, 65536))
        with contextlib.suppress(BlockingIOError, OSError):
            said.write(os.read(keys, 65536))
    if process.poll() is None:
        for pid in (process.pid, *below(process.pid)):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
    os.close(keys)
    return process.wait() if time.monotonic() < end else None


def drill(seed: int, count: int, keep: Path | None = None) -> list[Row]:
    """Stop `count` trials; `tried` counts those that were still there."""
    made = list(cases(Random(f"signals/{seed}"), count))
    note = "INT, TERM, HUP, QUIT, two of them; ^C, ^\\, ^Z and hang-up of a terminal"
    return [row_of("signals", made, attempt, note=note, keep=keep)]
