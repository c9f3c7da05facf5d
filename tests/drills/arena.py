"""A folder with a campaign of some ten runs, the command in it, and who lives of all that."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from invariants import of_a_command, of_a_finished_trial, whole_rows

FAIRTRIAL = Path(sys.executable).parent / "fairtrial"
PATIENCE_S = 120.0  # only what hangs takes so long
_LAST_BREATH_S = 20.0
_MARK = "FAIRTRIAL_DRILL"

Process = subprocess.Popen[bytes]


class Arena:
    """A campaign, its trial and its processes.

    Every process carries a marker in its environment or its arguments. Every target writes a line
    into `witness` first: what ran is known without a word of ours.

    Parameters
    ----------
    folder : Path
        An empty one.
    code : str
        What the shell of a target executes after it has left its line.
    sections
        Take the place of the campaign's own.
    """

    def __init__(self, folder: Path, code: str = ":", **sections: Any) -> None:
        self.folder = folder
        self.marker = f"drill-{uuid.uuid4().hex}"
        self.witness = folder / "witness"
        self.said = folder / "said"
        self.before: list[bytes] = []
        self.faults = 0
        self.rowless = 0  # programs that may have run without a row
        self.left = 0
        self.violations: list[str] = []
        self.environment = {
            **{key: value for key, value in os.environ.items() if not key.startswith("FAIRTRIAL_")},
            _MARK: self.marker,
            "PYTHONDONTWRITEBYTECODE": "1",
            "XDG_STATE_HOME": str(folder / "state"),
        }
        self.path = folder / "c.yaml"
        code = f"{waits(folder)}; {code}"
        campaign = {
            "name": "c",
            "seed": 5,
            "variants": {"a": {}, "b": {}},
            "baseline": "a",
            "benchmarks": {"one": {"command": self.shell(f"echo >> {self.witness}; {code}")}},
            "protocol": {"sessions": 2, "runs": 2, "warmup": 1, "grace": "200ms"},
            "isolation": {"cpus": "none", "kept_outputs": "1MB"},
        }
        self.path.write_text(json.dumps(campaign | sections, indent=1))

    def shell(self, code: str) -> list[str]:
        """Give a command that executes `code`, with the marker as its $0."""
        return ["/bin/sh", "-c", code.replace("{", "{{").replace("}", "}}"), self.marker]

    def start(self, *args: str, prefix: Sequence[str] = (), **options: Any) -> Process:
        """Start the command; what it says is added to `said`."""
        with self.said.open("ab") as said:
            streams = {"stdin": subprocess.DEVNULL, "stdout": said, "stderr": said}
            return subprocess.Popen(
                [*prefix, str(FAIRTRIAL), *args],
                cwd=self.folder,
                env=self.environment,
                **(streams | options),
            )

    @contextlib.contextmanager
    def held(self, case: Mapping[str, Any], instant: str) -> Iterator[None]:
        """Let what is under way at an instant, `setup` or a program, wait meanwhile, where the case says so.

        Whoever looks for the instant cannot come too late, however busy the machine is.
        """
        ran = self.witness.read_bytes().count(b"\n") if self.witness.exists() else 0
        rows = int(instant.removeprefix("row ")) if instant.startswith("row ") else 0
        number = "setup" if instant == "session" else ran + rows + 1
        hold = self.folder / f"hold-{number}"
        if case.get("held"):
            hold.touch()
        try:
            yield
        finally:
            hold.unlink(missing_ok=True)

    def ended(self, process: Process) -> int | None:
        """Give the exit code; None, and nothing lives on, of one that hangs."""
        try:
            return process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            for pid in (process.pid, *below(process.pid)):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            process.wait()
            return None

    def hold(self, code: int | None, allowed: Sequence[int]) -> None:
        """Hold what a command said and gave against what it may."""
        text = self.said.read_text(errors="replace")
        self.violations += of_a_command(code, text, allowed)
        self.said.rename(self.folder / f"said-{time.monotonic_ns()}")
        self.said.touch()

    def trial(self) -> Path | None:
        """Give the trial, once it has a manifest."""
        found = sorted(path.parent for path in self.folder.glob("runs/*/manifest.json"))
        return found[-1] if found else None

    def way_on(self) -> tuple[str, ...]:
        """Give the arguments with which a person would go on."""
        return ("run", str(self.path), *(("--resume",) if self.trial() else ()))

    def complete(self) -> bool:
        trial = self.trial()
        manifest = json.loads((trial / "manifest.json").read_bytes()) if trial else {}
        return manifest.get("status") == "complete"

    def rows(self) -> list[bytes]:
        """Give the whole rows of now."""
        trial = self.trial()
        return whole_rows(trial) if trial else []

    def contained(self) -> bool:
        """Say whether the launchers of the trial had a namespace."""
        trial = self.trial()
        text = (trial / "environment.jsonl").read_text() if trial else ""
        return '"containment":"none"' not in text.replace(" ", "")

    def alive(self) -> list[int]:
        """List the living processes with the marker."""
        mark = self.marker.encode()
        found = []
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit() and int(entry.name) != os.getpid():
                with contextlib.suppress(OSError):  # gone meanwhile
                    data = (entry / "environ").read_bytes() + (entry / "cmdline").read_bytes()
                    if mark in data:
                        found.append(int(entry.name))
        return found

    def bury(self, *, excused: bool = False) -> None:
        """Wait until nobody is left; count, and end, who is."""
        end = time.monotonic() + (2.0 if excused else _LAST_BREATH_S)
        while (left := self.alive()) and time.monotonic() < end:
            time.sleep(0.02)
        if left and not excused:
            self.left += len(left)
            self.violations.append("left alive: " + ", ".join(sorted(set(map(_name, left)))))
        while left:
            for pid in left:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.02)
            left = self.alive()

    def struck(self) -> None:
        """Take note of a fault: what stands there now must stand there for ever."""
        self.faults += 1
        self.interrupted()

    def interrupted(self) -> None:
        """Take note of an end before the end: the run of then has no row, all others keep theirs."""
        self.rowless += 1
        rows = self.rows()
        if rows[: len(self.before)] != self.before:
            gone = [line for line in self.before if line not in rows]
            self.violations += [f"row lost: {line[:60]!r}" for line in gone or [b"(order)"]]
        self.before = rows

    def finish(self) -> None:
        """Go on to the end, and hold the trial against everything that is known of it."""
        if not self.complete():
            code = self.ended(self.start(*self.way_on()))
            self.hold(code, (0, 1))
            self.bury()
        trial = self.trial()
        if trial is None:
            self.violations.append("there is no trial")
            return
        self.violations += of_a_finished_trial(
            trial,
            before=self.before,
            executed=len(self.witness.read_bytes()) if self.witness.exists() else 0,
            interrupted=self.rowless,
        )


@contextlib.contextmanager
def closing(arena: Arena) -> Iterator[Arena]:
    """End whoever lives when an exception ends the drill itself."""
    try:
        yield arena
    finally:
        arena.bury(excused=True)


def waits(folder: Path, number: str | None = None) -> str:
    """Give shell code that waits while there is a file hold-NUMBER; of a program it is that of its line in the witness."""
    number = number or f"$(wc -l < {folder}/witness)"
    return f"while [ -e {folder}/hold-{number} ]; do sleep 0.02; done"


def below(pid: int) -> list[int]:
    """List all processes below `pid`."""
    found: list[int] = []
    waiting = [pid]
    while waiting:
        with contextlib.suppress(OSError):
            for task in Path(f"/proc/{waiting.pop()}/task").iterdir():
                children = [int(child) for child in (task / "children").read_text().split()]
                found += children
                waiting += children
    return found


def _name(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()[:80]
    except OSError:
        return "?"


def until(condition: Callable[[], object], process: Process, seconds: float = 60.0) -> bool:
    """Wait until something holds; False when the process ended before."""
    end = time.monotonic() + seconds
    while not condition():
        if process.poll() is not None or time.monotonic() > end:
            return False
        time.sleep(0.001)
    return True
