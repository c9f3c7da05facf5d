"""kill -9 of every process of a trial, at chosen and at random instants, then on to the end.

A case is ``{"contained": bool, "kills": [[victim, instant], ...]}``: each kill hits the execution
that goes on where the last one ended. What `setup` started (B1 of the attacks on the first
version) must die with its trial like a target.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Iterable
from pathlib import Path
from random import Random

from arena import Arena, Process, below, until
from cases import Case, row_of
from row import Row

VICTIMS = ("orchestrator", "launcher", "both", "process 1", "hook launcher")
# "row N" waits for N more rows than there were, a number for so many seconds
INSTANTS = ("trial", "session", "launcher", "program", "row 1", "row 3", "row 6")


def cases(rng: Random, count: int) -> Iterable[Case]:
    """Make `count` trials with one to three kills each."""
    for number in range(count):
        kills = []
        for _ in range(rng.choice((1, 2, 3))):
            random = rng.random() < 0.3
            instant = f"{rng.uniform(0.05, 2.5):.3f}" if random else rng.choice(INSTANTS)
            kills.append([rng.choice(VICTIMS), instant])
        yield {"contained": number % 2 == 0, "kills": kills}


def attempt(case: Case, folder: Path) -> Arena:
    """Kill as the case says, then go on to the end."""
    arena = Arena(
        folder,
        isolation={
            "cpus": "none",
            "kept_outputs": "1MB",
            "containment": "auto" if case["contained"] else "none",
        },
        hooks={
            "setup": [["/bin/sh", "-c", "setsid sleep 1000 & :"]],
            "before": [["/bin/true"]],
        },
    )
    for victim, instant in case["kills"]:
        if arena.complete():
            break
        process = arena.start(*arena.way_on())
        if reached(arena, process, instant):
            pids = _victims(process, victim)
            for pid in pids:  # so that none of them can react to another one's death
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGSTOP)
            for pid in pids:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            struck = bool(pids)
        else:
            struck = False
        code = arena.ended(process)
        # What `docs/launcher.md` calls the one case that cannot be had.
        excused = victim == "both" and not (case["contained"] and arena.contained())
        arena.bury(excused=excused)
        if struck:
            arena.struck()
        arena.hold(code, (0, 1, 4, 130, -signal.SIGKILL) if struck else (0, 1))
    arena.finish()
    return arena


def reached(arena: Arena, process: Process, instant: str) -> bool:
    """Wait for an instant of this execution."""
    if instant.replace(".", "").isdigit():
        time.sleep(float(instant))
        return process.poll() is None
    rows, records = (_lines(arena, name) for name in ("measurements.jsonl", "environment.jsonl"))
    ran = arena.witness.stat().st_size if arena.witness.exists() else 0
    reached = {
        "trial": lambda: arena.trial() is not None and _lines(arena, "manifest.json") > 0,
        "session": lambda: _lines(arena, "environment.jsonl") > records,
        "launcher": lambda: launchers(process),
        "program": lambda: arena.witness.exists() and arena.witness.stat().st_size > ran,
    }
    if instant in reached:
        return until(reached[instant], process)
    more = int(instant.removeprefix("row "))
    return until(lambda: _lines(arena, "measurements.jsonl") >= rows + more, process)


def _lines(arena: Arena, name: str) -> int:
    trial = arena.trial()
    try:
        return (trial / name).read_bytes().count(b"\n") if trial else 0
    except FileNotFoundError:
        return 0


def launchers(process: Process) -> dict[int, int]:
    """Give the launchers' processes below an orchestrator in the order of their starts, each with its number in its namespace."""
    found, started = {}, {}
    for pid in below(process.pid):
        with contextlib.suppress(OSError, IndexError):
            if b"launcher.py" in Path(f"/proc/{pid}/cmdline").read_bytes():
                status = Path(f"/proc/{pid}/status").read_text()
                numbers = status.partition("NSpid:")[2].splitlines()[0].split()
                stat = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
                started[pid] = int(stat[19]), pid  # numbers of processes begin anew
                found[pid] = int(numbers[-1]) if len(numbers) > 1 else 0
    return {pid: found[pid] for pid in sorted(found, key=started.__getitem__)}


def _victims(process: Process, victim: str) -> list[int]:
    """Give whom to kill; the orchestrator where there is no such process yet."""
    known = launchers(process)
    insiders = [pid for pid, number in known.items() if number > 1]
    heads = [pid for pid, number in known.items() if number == 1]
    outside = [pid for pid, number in known.items() if number == 0]
    hooks = outside[:1]  # `setup` comes first, and its launcher never has a namespace
    chosen = {
        "orchestrator": [process.pid],
        "launcher": insiders or outside[1:],
        "both": [process.pid, *(pid for pid in known if pid not in hooks)],
        "process 1": heads,
        "hook launcher": hooks,
    }[victim]
    return chosen or [process.pid]


def drill(seed: int, count: int, keep: Path | None = None) -> list[Row]:
    """Kill the processes of `count` trials; `tried` counts the kills."""
    made = list(cases(Random(f"kills/{seed}"), count))
    return [row_of("kills", made, attempt, note=f"of {', '.join(VICTIMS)}", keep=keep)]
