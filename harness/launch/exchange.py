"""What goes to a launcher and what comes back: one program to execute, and its measurement."""

from __future__ import annotations

import os
import resource
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One program to execute; `stdin`, `stdout` and `stderr` ``None`` for /dev/null.

    `limits` are (resource number, soft limit) pairs; `sweep` kills what is left afterwards.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Execution:
    """What the launcher measured of one program. Clocks in nanoseconds, sizes in bytes.

    `killed` says why the launcher ended it ("timeout", or the reason that a watch gave).
    """

    started_ns: int
    start_ns: int
    wall_ns: int
    spawn_ns: int
    user_s: float
    system_s: float
    max_rss_bytes: int
    floor_bytes: int
    minor_faults: int
    major_faults: int
    voluntary_switches: int
    involuntary_switches: int
    exit_code: int | None
    signal: int | None
    killed: str | None
    orphans: int
    survivors: int


def limit_numbers(limits: Mapping[str, int]) -> tuple[tuple[int, int], ...]:
    """Translate limit names such as "nofile" into (resource number, soft limit) pairs."""
    return tuple(
        (getattr(resource, f"RLIMIT_{name.upper()}"), soft) for name, soft in limits.items()
    )


def message_of(request: Request) -> dict[str, Any]:
    """Write a request as the launcher reads it, without the environment."""

    def name(path: Path | None) -> bytes | None:
        # The launcher stands in another folder than we do.
        return None if path is None else os.fsencode(path.absolute())

    return {
        "op": "run",
        "path": os.fsencode(request.path),
        "argv": [os.fsencode(part) for part in request.argv],
        "cwd": os.fsencode(request.cwd),
        "stdin": name(request.stdin),
        "stdout": name(request.stdout),
        "stderr": name(request.stderr),
        "limits": list(request.limits),
        "timeout_ms": -1 if request.timeout_s is None else max(1, round(request.timeout_s * 1000)),
        "grace_ms": max(1, round(request.grace_s * 1000)),
        "sweep": request.sweep,
    }


def execution_of(reply: Mapping[str, Any]) -> Execution:
    """Read a launcher's reply."""
    status, usage = reply["status"], reply["usage"]
    signaled = os.WIFSIGNALED(status)
    return Execution(
        started_ns=reply["started_ns"],
        start_ns=reply["start_ns"],
        wall_ns=reply["wall_ns"],
        spawn_ns=reply["spawn_ns"],
        user_s=usage[0],
        system_s=usage[1],
        max_rss_bytes=usage[2] * 1024,
        floor_bytes=reply["floor"],
        minor_faults=usage[6],
        major_faults=usage[7],
        voluntary_switches=usage[14],
        involuntary_switches=usage[15],
        exit_code=None if signaled else os.WEXITSTATUS(status),
        signal=os.WTERMSIG(status) if signaled else None,
        killed=reply["reason"],
        orphans=reply["orphans"],
        survivors=reply["survivors"],
    )
