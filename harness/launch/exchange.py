"""What goes to a launcher and what comes back: one program to execute, and its measurement."""

from __future__ import annotations

import os
import resource
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from analysis.run_numbers import LAUNCHER_NUMBERS

from ..errors import LaunchError
from ..meters.cgroups import GROUP_LIMITS
from .standstill import LOOK_S, Standstill


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One program to execute; `stdin`, `stdout` and `stderr` ``None`` for /dev/null.

    `limits` are (resource number, soft limit) pairs; `sweep` kills what is left afterwards. `padded` is
    the variable whose length each execution tells; it is none of `env`.
    """

    path: str
    argv: tuple[str, ...]
    env: dict[bytes, bytes]
    cwd: Path
    stdin: Path | None = None
    stdout: Path | None = None
    stderr: Path | None = None
    limits: Sequence[tuple[int, int]] = ()
    timeout_s: float | None = None
    grace_s: float = 1.0
    sweep: bool = True
    padded: bytes | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Execution:
    """What the launcher tells of one program that has ended.

    `numbers` holds what it measured, by the names of `analysis.run_numbers`. `killed` says why the
    launcher ended it ("timeout", or the reason that a watch gave). `out_of_memory` says whether the
    kernel killed one of its processes for lack of memory; None without a cgroup that tells. `counters`
    holds of each event that the launcher was asked for by how much it moved: the value, and for how
    many ns it was enabled and counted; None for one that was not read, and altogether for a run that
    was not counted. `standstill` says what stood still meanwhile, so that the times are not the program's.
    """

    started_ns: int
    exit_code: int | None
    signal: int | None
    killed: str | None
    survivors: int
    out_of_memory: bool | None = None
    numbers: Mapping[str, Any]
    counters: tuple[tuple[int, int, int] | None, ...] | None = None
    standstill: Standstill | None = None

    @property
    def wall_ns(self) -> int:
        """From the start until the end was noticed."""
        return cast("int", self.numbers["wall_ns"])


def limit_numbers(limits: Mapping[str, int]) -> tuple[tuple[int, int], ...]:
    """Translate limit names such as "nofile" into (resource number, soft limit) pairs.

    Those of all processes together are left out: a cgroup holds them.
    """
    return tuple(
        (getattr(resource, f"RLIMIT_{name.upper()}"), soft)
        for name, soft in limits.items()
        if name not in GROUP_LIMITS
    )


def message_of(request: Request) -> dict[str, Any]:
    """Write a request as the launcher reads it."""

    def name(path: Path | None) -> bytes | None:
        # The launcher stands in another folder than we do.
        return None if path is None else os.fsencode(path.absolute())

    timeout_ms = -1 if request.timeout_s is None else max(1, round(request.timeout_s * 1000))
    # nothing wakes up beside a program that is measured; of another one the time is counted in slices
    first = timeout_ms if request.sweep else min(timeout_ms, round(LOOK_S * 1000))
    return {
        "op": "prepare",
        "path": os.fsencode(request.path),
        "argv": [os.fsencode(part) for part in request.argv],
        "env": [b"%b=%b" % item for item in request.env.items()],
        "padded": request.padded,
        "cwd": os.fsencode(request.cwd),
        "stdin": name(request.stdin),
        "stdout": name(request.stdout),
        "stderr": name(request.stderr),
        "limits": list(request.limits),
        "timeout_ms": first,
        "patience_ms": 0 if timeout_ms < 0 else timeout_ms - first,
        "grace_ms": max(1, round(request.grace_s * 1000)),
        "sweep": request.sweep,
    }


def execution_of(reply: Mapping[str, Any], standstill: Standstill | None = None) -> Execution:
    """Read a launcher's reply; `standstill` is what stood still meanwhile.

    Raises
    ------
    LaunchError
        If it does not hold the numbers that a row needs.
    """
    numbers = reply["numbers"]
    if numbers.keys() != LAUNCHER_NUMBERS:
        odd = ", ".join(sorted(numbers.keys() ^ LAUNCHER_NUMBERS))
        raise LaunchError(
            f"the launcher and the table of a run's numbers do not agree on {odd}",
            "harness/launch, run_numbers.py",
            "install fairtrial anew: its files are of different versions",
        )
    status, counted = reply["status"], reply.get("counters")
    signaled = os.WIFSIGNALED(status)
    return Execution(
        started_ns=reply["started_ns"],
        exit_code=None if signaled else os.WEXITSTATUS(status),
        signal=os.WTERMSIG(status) if signaled else None,
        killed=reply["reason"],
        survivors=reply["survivors"],
        out_of_memory=reply.get("out_of_memory"),
        numbers=numbers,
        counters=None if counted is None else tuple(counted),
        standstill=standstill,
    )
