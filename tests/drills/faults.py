"""A system call of the orchestrator fails, or kills it, at its n-th time: strace injects that.

A case is ``{"call": "write", "fault": "error=ENOSPC", "when": "7" or "7+", "rows": N}``: with ``+`` all later ones
fail too; the fault hits a trial that already has N rows, in a second execution, if N is not 0.
"""

from __future__ import annotations

import functools
import re
import shutil
import signal
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from random import Random

from arena import Arena, until
from cases import Case, row_of
from row import Row

# What the store does, and the errors that the kernel has for it.
_DISK = ("ENOSPC", "EIO", "EROFS", "EDQUOT")
_FOLDER = ("ENOSPC", "EACCES", "EROFS", "EIO")
CALLS: Mapping[str, tuple[str, ...]] = {
    "write": _DISK,
    "fsync": ("EIO", "ENOSPC", "EROFS"),
    "fdatasync": ("EIO", "ENOSPC", "EROFS"),
    "rename": _FOLDER,
    "mkdir": _FOLDER,
    "unlink": ("EACCES", "EROFS", "EIO"),
}
# Which of them a kernel's C library uses.
_ALIASES = {"rename": ("rename", "renameat", "renameat2"), "mkdir": ("mkdir", "mkdirat")}
_ALIASES["unlink"] = ("unlink", "unlinkat")


def missing() -> str | None:
    """Say why the drill cannot be made here, or ``None``."""
    if not shutil.which("strace"):
        return "strace is not installed"
    done = subprocess.run(
        ["strace", "-o", "/dev/null", "-e", "inject=fsync:error=EIO", "true"],
        capture_output=True,
        text=True,
        check=False,
    )
    return None if done.returncode == 0 else f"strace may not trace here: {done.stderr.strip()}"


@functools.cache
def _times() -> Mapping[str, int]:
    """Count the calls of a trial that nothing happens to."""
    with tempfile.TemporaryDirectory(prefix="fairtrial-drill-") as folder:
        arena = Arena(Path(folder))
        log = arena.folder / "strace"
        names = ",".join(name for call in CALLS for name in _names(call))
        prefix = ("strace", "-qq", "-o", str(log), "-e", f"trace={names}")
        assert arena.ended(arena.start(*arena.way_on(), prefix=prefix)) == 0
        found = Counter(re.findall(r"^(\w+)\(", log.read_text(errors="replace"), re.MULTILINE))
    return {call: sum(found[name] for name in _names(call)) for call in CALLS}


def _names(call: str) -> list[str]:
    """Give the system calls of this machine that do what `call` says."""
    known = _known()
    return [name for name in _ALIASES.get(call, (call,)) if name in known]


@functools.cache
def _known() -> frozenset[str]:
    """Ask strace which of the calls there are: another architecture has fewer."""
    names = {name for call in CALLS for name in _ALIASES.get(call, (call,))}
    command = ("strace", "-o", "/dev/null", "-e")
    return frozenset(
        name
        for name in names
        if subprocess.run(
            [*command, f"trace={name}", "true"], capture_output=True, check=False
        ).returncode
        == 0
    )


def cases(rng: Random, count: int) -> Iterable[Case]:
    """Make `count` faults; every call comes up, at any of its times in a whole trial."""
    calls = [call for call, times in _times().items() if times]
    for number in range(count):
        call = calls[number % len(calls)]
        kill = rng.random() < 0.3
        error = f"error={rng.choice(CALLS[call])}"
        yield {
            "call": call,
            "fault": "signal=SIGKILL" if kill else error,
            "when": f"{rng.randint(1, _times()[call])}{rng.choice(('', '', '+'))}",
            "rows": rng.choice((0, 0, 4)),
        }


def attempt(case: Case, folder: Path) -> Arena:
    """Let the call fail as the case says, then go on to the end."""
    arena = Arena(folder)
    if case["rows"]:
        process = arena.start(*arena.way_on())
        if until(lambda: len(arena.rows()) >= case["rows"], process):
            process.send_signal(signal.SIGTERM)
        arena.hold(arena.ended(process), (0, 130))
        arena.bury()
        arena.interrupted()
    if arena.complete():
        return arena
    names, log = _names(case["call"]), arena.folder / "strace"
    inject = f"inject={','.join(names)}:{case['fault']}:when={case['when']}"
    prefix = ("strace", "-qq", "-o", str(log), "-e", f"trace={','.join(names)}", "-e", inject)
    process = arena.start(*arena.way_on(), prefix=prefix)
    code = arena.ended(process)
    arena.bury()
    text = log.read_text(errors="replace")
    if "(INJECTED)" in text or "killed by SIGKILL" in text:
        arena.struck()
    killed = (-signal.SIGKILL, 128 + signal.SIGKILL) if "SIGKILL" in case["fault"] else ()
    arena.hold(code, (0, 1, 5, *killed))
    arena.finish()
    return arena


def drill(seed: int, count: int, keep: Path | None = None) -> list[Row]:
    """Inject `count` faults; `tried` counts those that took effect."""
    reason = missing()
    if reason:
        return [Row(drill="faults", note=reason)]
    made = list(cases(Random(f"faults/{seed}"), count))
    note = "of " + ", ".join(call for call, times in _times().items() if times)
    return [row_of("faults", made, attempt, note=note, keep=keep)]
