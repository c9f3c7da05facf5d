"""What became of mutants: a file of JSON lines, to which a run adds, and from which it goes on."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

EQUIVALENT = Path(__file__).with_name("equivalent.toml")
DEAD = {"killed", "timeout"}


def read(path: Path) -> list[dict[str, Any]]:
    """Read the records; a last line that an interrupted run left torn is passed over."""
    found = []
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else []:
        try:
            found.append(json.loads(line))
        except json.JSONDecodeError:
            continue
    return found


def add(path: Path, record: dict[str, Any]) -> None:
    """Add a record, on a line of its own whatever the file ends with."""
    torn = path.exists() and path.stat().st_size and not path.read_bytes().endswith(b"\n")
    with path.open("a", encoding="utf-8") as stream:
        stream.write("\n" * bool(torn) + json.dumps(record) + "\n")


def judged(records: Iterable[dict[str, Any]], product: str, stage: str) -> dict[str, str]:
    """Give the results of a stage for a product by the mutant's name."""
    return {
        record["mutant"]: record["result"]
        for record in records
        if record["product"] == product and record["stage"] == stage
    }


def outcomes(records: Iterable[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Give one record for each mutant: who killed it, or that all stages let it live.

    Its ``stages`` names those that judged it. Whom no stage had a test for has the result ``no test``.
    """
    found: dict[str, dict[str, Any]] = {}
    for record in records:
        known = found.get(record["mutant"])
        stages = [*(known["stages"] if known else []), record["stage"]]
        left = record["left"] + (known["left"] if known else 0)
        best = record if known is None or _rank(record) < _rank(known) else known
        found[record["mutant"]] = {**best, "stages": stages, "left": left}
    return found


def _rank(record: dict[str, Any]) -> int:
    return ("killed", "timeout", "survived", "no test").index(record["result"])


def equivalents(path: Path = EQUIVALENT) -> dict[str, str]:
    """Read which survivors are no fault of the tests: why, by key."""
    known: dict[str, str] = tomllib.loads(path.read_text(encoding="utf-8"))
    return known
