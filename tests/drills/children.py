"""Programs that do not want to end, or want others to: what becomes of the trial and of them.

A case is ``{"child": name, "contained": bool}``. The two that kill whom they see run in a PID namespace
of the drill's own, whatever fairtrial makes of them.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random

from arena import Arena
from cases import Case, row_of
from row import Row


@dataclass(frozen=True, slots=True)
class Child:
    """What the shell of a target executes, and what its runs may be recorded as."""

    code: str
    outcomes: frozenset[str] = frozenset({"ok"})
    dangerous: bool = False


_LOOP = "while :; do sleep 0.02; done"
CHILDREN: Mapping[str, Child] = {
    "double fork": Child("( ( sleep 1000 & ) & ); :"),
    "setsid": Child("setsid sleep 1000 & :"),
    "trap TERM": Child(f"trap '' TERM INT HUP; {_LOOP}", frozenset({"timeout"})),
    "trap TERM, setsid": Child(f"setsid sh -c \"trap '' TERM; {_LOOP}\" $0 & :"),
    "stops itself": Child("kill -STOP $$", frozenset({"timeout"})),
    "stopped child": Child("sleep 1000 & kill -STOP $!"),
    "fork burst": Child("i=0; while [ $i -lt 100 ]; do sleep 1000 & i=$((i+1)); done"),
    # each link forks the next one and exits: no process number is good for long
    "hopper": Child("printf 'sh hop & exit\\n' > hop; setsid sh hop & sleep 0.1"),
    "nohup daemon": Child("nohup setsid sleep 1000 > /dev/null 2>&1 & :"),
    "holds stdout": Child("sleep 1000 & echo x"),
    "closes its streams": Child("exec <&- >&- 2>&-; sleep 1000 & :"),
    "no environment": Child("env -i sh -c 'setsid sleep 1000 & :' $0"),
    "fork and exec": Child("sh -c 'sleep 1000 & exec sleep 1000' $0 & :"),
    "kill -9 $PPID": Child("kill -9 $PPID; sleep 5", frozenset({"signal"}), dangerous=True),
    "kill -9 -1": Child("kill -9 -1; sleep 5", frozenset({"signal"}), dangerous=True),
}


def cases(rng: Random, count: int) -> Iterable[Case]:
    """Make `count` trials: every child comes up, contained and not."""
    every = [{"child": name, "contained": c} for name in CHILDREN for c in (True, False)]
    # Nothing but fairtrial's own namespace stands between this one and the launcher's parents.
    every.remove({"child": "kill -9 -1", "contained": False})
    for number in range(count):
        if number % len(every) == 0:
            rng.shuffle(every)
        yield every[number % len(every)]


def _own_world() -> tuple[str, ...]:
    user = () if os.geteuid() == 0 else ("--user", "--map-root-user")
    return ("unshare", *user, "--pid", "--fork", "--mount-proc", "--kill-child")


def missing() -> str | None:
    """Say why there is no PID namespace for the dangerous ones, or ``None``."""
    if not shutil.which("unshare"):
        return "unshare (util-linux) is not installed"
    done = subprocess.run([*_own_world(), "true"], capture_output=True, text=True, check=False)
    return None if done.returncode == 0 else f"no PID namespace: {done.stderr.strip()}"


def attempt(case: Case, folder: Path) -> Arena:
    """Measure the child twice in each session and variant; all runs must be told rightly."""
    child = CHILDREN[case["child"]]
    world: tuple[str, ...] = ()
    code = child.code
    if child.dangerous:
        reason = missing()
        assert reason is None, reason
        world = _own_world()
        ours = Path("/proc/self/ns/pid").readlink()
        # Never where the drill itself lives, whatever went wrong before.
        code = f'n=$(readlink /proc/self/ns/pid); [ -n "$n" ] && [ "$n" != "{ours}" ] || exit 9; {code}'
    arena = Arena(
        folder,
        code,
        protocol={
            "sessions": 2,
            "runs": 1,
            "warmup": 0,
            "never_ok": "go_on",
            "timeout": "1s",
            "grace": "100ms",
        },
        isolation={
            "cpus": "none",
            "kept_outputs": "1MB",
            "containment": "auto" if case["contained"] else "none",
        },
    )
    ended = arena.ended(arena.start(*arena.way_on(), prefix=world))
    arena.hold(ended, (0,) if child.outcomes == {"ok"} else (1,))
    arena.bury()
    rows = [json.loads(line) for line in arena.rows()]
    arena.faults = len(rows)
    # A run that kills its launcher is executed once more, and only then has a row.
    arena.rowless = len(rows) if child.dangerous else 0
    told = {row["outcome"] for row in rows}
    if not told <= child.outcomes:
        arena.violations.append(f"{case['child']} was recorded as {sorted(told)}")
    if not arena.complete():
        arena.violations.append(f"{case['child']} stopped the trial")
    arena.finish()
    return arena


def drill(seed: int, count: int, keep: Path | None = None) -> list[Row]:
    """Measure `count` times a hostile program; `tried` counts its runs."""
    made = list(cases(Random(f"children/{seed}"), count))
    reason = missing()
    note = f"{len(CHILDREN)} kinds"
    if reason:
        made = [case for case in made if not CHILDREN[case["child"]].dangerous]
        note = f"without those that kill others: {reason}"
    return [row_of("children", made, attempt, note=note, keep=keep)]
