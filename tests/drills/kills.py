"""kill -9 of every process of a trial, at chosen and at random instants, then on to the end.

A case is ``{"of": command, "contained": bool, "kills": [[victim, instant], ...]}``: each kill hits the execution
that goes on where the last one ended. What `setup` started (B1 of the attacks on the first
version) must die with its trial like a target, and so must a service.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from random import Random

from arena import Arena, Process, below, until, waits
from cases import Case, row_of
from invariants import of_a_finished_trial, whole_rows
from row import Row

sys.path.append(str(Path(__file__).resolve().parents[2]))

from tests import bisect_lab

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


class Trial(Arena):
    """A trial with hooks, and with a service where the case says so."""

    def __init__(self, folder: Path, case: Case) -> None:
        served = case.get("of") == "services"
        super().__init__(
            folder,
            isolation={
                "cpus": "none",
                "kept_outputs": "1MB",
                "containment": "auto" if case["contained"] else "none",
            },
            hooks={
                "setup": [["/bin/sh", "-c", f"setsid sleep 1000 & {waits(folder, 'setup')}"]],
                "before": [["/bin/true"]],
            },
            services={"s": SERVICE} if served else {},
        )


SERVICE = {
    "command": ["/bin/sh", "-c", "echo up; setsid sleep 1000 & wait"],
    "ready": {"output": "up"},
}


class Comparison(Arena):
    """A comparison of two commands, each of which it tries once before."""

    def __init__(self, folder: Path, _case: Case) -> None:
        super().__init__(folder)
        self.rowless = 2

    def way_on(self) -> tuple[str, ...]:
        """Give the arguments with which a person would go on."""
        if self.trial():
            return ("compare", "--wait-for-lock", "--resume", "--for", "2s")
        self.rowless += 2
        one, two = (f"/bin/sh -c 'echo >> {self.witness}; : {k}' {self.marker}" for k in "ab")
        return ("compare", "--wait-for-lock", "--for", "2s", one, two)


class Bisection(Arena):
    """A bisection of eight commits, and all of its trials."""

    STEP = 5
    SOURCE = "#!/bin/sh\n: {number}\necho work 0.$(({cost} + $$ * 7919 % 300)) s\n"

    def __init__(self, folder: Path, _case: Case) -> None:
        super().__init__(folder)
        costs = [100_000 if k < self.STEP else 110_000 for k in range(9)]
        source = self.SOURCE.replace("echo", f"echo >> {self.witness}\n{waits(folder)}\necho")
        self.shas = bisect_lab.repository(folder / "app", costs, source=source)
        bisect_lab.campaign(folder / "app", build=bisect_lab.COPIES)

    def found(self) -> list[Path]:
        return sorted(self.folder.glob("runs/bisect-*"))

    def way_on(self) -> tuple[str, ...]:
        """Give the arguments with which a person would go on."""
        begun = [str(one) for one in self.found() if (one / "bisect.json").exists()]
        asked = ("HEAD~8", "HEAD", "--campaign", "app/campaign.yaml", "--work-dir", "work")
        return ("bisect", "--wait-for-lock", *(("--resume", *begun[-1:]) if begun else asked))

    def complete(self) -> bool:
        states = [one / "bisect.json" for one in self.found() if (one / "bisect.json").exists()]
        return any(json.loads(one.read_bytes()).get("state") == "ended" for one in states)

    def trials(self) -> list[Path]:
        found = (path.parent for path in self.folder.glob("runs/bisect-*/**/manifest.json"))
        return sorted(found, key=lambda path: path.stat().st_mtime)

    def trial(self) -> Path | None:
        """Give the trial that is measured."""
        return next(reversed(self.trials()), None)

    def rows(self) -> list[bytes]:
        """Give the whole rows of all trials."""
        return [row for trial in self.trials() for row in whole_rows(trial)]

    def interrupted(self) -> None:
        """Take note of an end before the end: all rows stand, in whichever order the trials do."""
        rows = self.rows()
        self.violations += [f"row lost: {one[:60]!r}" for one in {*self.before} - {*rows}]
        self.before = rows

    def finish(self) -> None:
        """Go on to the end, and hold all trials and the answer against what is known."""
        if not self.complete():
            self.hold(self.ended(self.start(*self.way_on())), (0,))
            self.bury()
        self.interrupted()
        (folder,) = (one for one in self.found() if (one / "bisect.json").exists())
        for trial in self.trials():
            self.violations += of_a_finished_trial(trial)
        listed = bisect_lab.listed(folder)
        if len(set(listed)) < len(listed):
            self.violations.append("row twice: of a session")
        told = json.loads((folder / "bisect.json").read_bytes())["culprits"]
        if [one["upto"] for one in told] != [self.shas[self.STEP]]:
            self.violations.append(f"another answer: {told}")
        if list(self.folder.glob("work/**/.git")):
            self.violations.append("a clone is left")


OF = {"run": Trial, "services": Trial, "compare": Comparison, "bisect": Bisection}


def attempt(case: Case, folder: Path) -> Arena:
    """Kill as the case says, then go on to the end."""
    arena = OF[case.get("of", "run")](folder, case)
    for victim, instant in case["kills"]:
        if arena.complete():
            break
        with arena.held(case, instant):
            there = reached(arena, instant)
            process = arena.start(*arena.way_on())
            if struck := there(process):
                pids = _victims(process, victim)
                for pid in pids:  # so that none of them can react to another one's death
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGSTOP)
                for pid in pids:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
        code = arena.ended(process)
        # What `docs/launcher.md` calls the one case that cannot be had.
        excused = victim == "both" and not (case["contained"] and arena.contained())
        arena.bury(excused=excused)
        if struck:
            arena.struck()
        arena.hold(code, (0, 1, 4, 130, -signal.SIGKILL) if struck else (0, 1))
    arena.finish()
    return arena


def reached(arena: Arena, instant: str) -> Callable[[Process], bool]:
    """Give what waits for an instant of the next execution."""
    if instant.replace(".", "").isdigit():
        return lambda process: time.sleep(float(instant)) or process.poll() is None
    rows, records = (_lines(arena, name) for name in ("measurements.jsonl", "environment.jsonl"))
    ran = arena.witness.stat().st_size if arena.witness.exists() else 0
    instants: dict[str, Callable[[Process], object]] = {
        "trial": lambda _: arena.trial() is not None and _lines(arena, "manifest.json") > 0,
        "session": lambda _: _lines(arena, "environment.jsonl") > records,
        "launcher": launchers,
        "program": lambda _: arena.witness.exists() and arena.witness.stat().st_size > ran,
    }
    for more in (1, 3, 6):
        instants[f"row {more}"] = lambda _, more=more: (
            _lines(arena, "measurements.jsonl") >= rows + more
        )
    return lambda process: until(lambda: instants[instant](process), process)


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


def drill(seed: int, count: int, keep: Path | None = None, of: str = "run") -> list[Row]:
    """Kill the processes of `count` trials, comparisons or bisections; `tried` counts the kills."""
    made = [{"of": of, **case} for case in cases(Random(f"kills/{seed}"), count)]
    name = "kills" if of == "run" else f"kills {of}"
    found = row_of("kills", made, attempt, note=f"of {', '.join(VICTIMS)}", keep=keep)
    return [dataclasses.replace(found, drill=name)]
