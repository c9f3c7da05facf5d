"""What must hold of a trial whatever was done to it, read without any code of ours.

Every violation is a sentence; the ones about rows begin with "row".
"""

from __future__ import annotations

import hashlib
import json
import re
import zlib
from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

# `fairtrial --help` lists them; 70 means a bug.
DOCUMENTED = frozenset({0, 1, 2, 3, 4, 5, 6, 130})


def whole(line: bytes) -> bool:
    """Say whether a line, with its end, has its checksum."""
    body, key, number = line.rpartition(b',"crc32":')
    return bool(
        key and re.fullmatch(rb"\d+}\n", number) and zlib.crc32(body + b"}") == int(number[:-2])
    )


def whole_rows(trial: Path) -> list[bytes]:
    """Give the rows that stand in a trial, without a torn last one."""
    path = trial / "measurements.jsonl"
    if not path.is_file():  # a pipe would never be read
        return []
    lines = path.read_bytes().splitlines(keepends=True)
    return lines[:-1] if lines and not whole(lines[-1]) else lines


def of_a_finished_trial(
    trial: Path, *, before: Sequence[bytes] = (), executed: int = 0, interrupted: int = 0
) -> list[str]:
    """List what is wrong with a trial that was gone on with to its end.

    Parameters
    ----------
    trial : Path
        The trial.
    before : sequence of bytes
        The rows that stood there at the last fault, with their ends of line.
    executed : int
        How many programs have said themselves that they ran.
    interrupted : int
        How many of these may have no row: one for each fault.
    """
    lines = (trial / "measurements.jsonl").read_bytes().splitlines(keepends=True)
    wrong = [f"row torn: {line[:60]!r}" for line in lines if not whole(line)]
    if lines[: len(before)] != list(before):
        gone = Counter(before) - Counter(lines)
        wrong += [f"row lost: {line[:60]!r}" for line in gone] or ["rows changed their places"]
    if executed > len(lines) + interrupted:
        number = executed - len(lines) - interrupted
        wrong += [f"row lost: of a program that ran ({number} in all)"] * number
    rows = [json.loads(line) for line in lines if whole(line)]
    plan = [json.loads(line) for line in (trial / "plan.jsonl").read_bytes().splitlines()]
    manifest = json.loads((trial / "manifest.json").read_bytes())
    wrong += _against_plan(rows, plan)
    if len(plan) != manifest["planned"]:
        wrong.append(f"plan: {len(plan)} lines, and {manifest['planned']} are planned")
    if manifest["status"] != "complete":
        wrong.append(f"manifest: the status is {manifest['status']}")
    for name, digest in manifest["files"].items():
        if hashlib.sha256((trial / name).read_bytes()).hexdigest() != digest:
            wrong.append(f"manifest: the hash of {name} is not that of the file")
    return wrong


def _against_plan(rows: Sequence[dict[str, Any]], plan: Sequence[dict[str, Any]]) -> list[str]:
    counts = Counter(row["position"] for row in rows if row["position"] >= 0)
    planned = {run["position"]: run for run in plan}
    wrong = [f"row twice: position {position}" for position, n in counts.items() if n > 1]
    wrong += [f"row missing: position {position}" for position in planned.keys() - counts.keys()]
    wrong += [f"row not planned: position {position}" for position in counts.keys() - planned]
    for row in rows:
        want = planned.get(row["position"], {})
        if any(row.get(key) != value for key, value in want.items()):
            wrong.append(f"row not as planned: position {row['position']}")
    return wrong


def of_a_command(code: int | None, said: str, allowed: Collection[int] = DOCUMENTED) -> list[str]:
    """List what is wrong with how a command ended: `code` is None for one that never did."""
    wrong = []
    if code is None:
        wrong.append("hang: it had to be killed")
    elif code not in allowed:
        wrong.append(f"exit code {code}: {said[-300:]}")
    if "Traceback (most recent call last)" in said:
        wrong.append(f"traceback: {said[said.index('Traceback') :][-400:]}")
    return wrong
