"""What tests of faults need to know about processes: who is there, and when something happens."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")

OTHER_UID = 65534
PATIENCE_S = 60.0  # only a failing test ever waits for so long


def wait_until(condition: Callable[[], T], what: str = "", seconds: float = PATIENCE_S) -> T:
    """Poll until `condition` gives something true; give that."""
    end = time.monotonic() + seconds
    while not (found := condition()):
        if time.monotonic() > end:
            raise AssertionError(f"never happened: {what or condition}")
        time.sleep(0.01)
    return found


def command_line(pid: int) -> list[str]:
    """Give a process's arguments; empty when it has ended, zombies included."""
    try:
        data = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return []
    return [os.fsdecode(part) for part in data.split(b"\0")[:-1]]


def processes_with(marker: str) -> list[int]:
    """List the living processes that have `marker` among their arguments."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and any(marker in part for part in command_line(int(entry.name))):
            found.append(int(entry.name))
    return found


def send(pids: Iterable[int], number: int = signal.SIGKILL) -> None:
    """Send a signal to those that are still there: who was listed a moment ago may have ended since."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


def parent(pid: int) -> int:
    """Give a process's parent, 0 when it is gone."""
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def state(pid: int) -> str:
    """Give a process's state, such as R, S, T (stopped) or Z; nothing when it is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return ""


def group_lives(group: int) -> bool:
    """Tell whether a process of a group still runs; one that nobody has waited for does not."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, its_group = stat.read_text().rpartition(")")[2].split()[:3]
        except OSError:
            continue
        if int(its_group) == group and state != "Z":
            return True
    return False


def descendants(pid: int) -> list[int]:
    """List all processes below `pid`."""
    parents = {
        int(entry.name): parent(int(entry.name))
        for entry in Path("/proc").iterdir()
        if entry.name.isdigit()
    }
    found, waiting = [], [pid]
    while waiting:
        above = waiting.pop()
        below = [child for child, its_parent in parents.items() if its_parent == above]
        found += below
        waiting += below
    return found


def as_other_user(command: list[str]) -> list[str]:
    """Give `command` as a user without rights, who can still read this interpreter.

    An ordinary user is one already. Root becomes another one and keeps a single capability, to
    read: the interpreter may stand in a folder of root's, and nothing else is granted by it.
    """
    if os.geteuid() != 0:
        return command
    only = "-all,+dac_read_search"
    return [
        *("setpriv", f"--reuid={OTHER_UID}", f"--regid={OTHER_UID}", "--clear-groups"),
        *(f"--inh-caps={only}", f"--ambient-caps={only}", f"--bounding-set={only}"),
        *command,
    ]


def why_no_other_user() -> str | None:
    """Say why `as_other_user` does not work here, or ``None`` when it does."""
    if os.geteuid() == 0 and not shutil.which("setpriv"):
        return "setpriv (util-linux) is not installed: root cannot become another user"
    code = "import os; print(os.geteuid())"
    done = subprocess.run(
        as_other_user([sys.executable, "-c", code]), capture_output=True, text=True, check=False
    )
    if done.returncode != 0 or done.stdout.strip() == "0":
        return f"another user cannot execute this interpreter: {done.stderr.strip()}"
    return None
