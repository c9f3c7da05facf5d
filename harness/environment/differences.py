"""What differs between the environments of two sessions, or of two trials, in words."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analysis.record import (
    ENVIRONMENT,
    Change,
    EnvironmentShape,
    diff,
    read_manifest,
    records_of,
)

from ..errors import StoreError


@dataclass(frozen=True, slots=True, kw_only=True)
class Differences:
    """Pairs of environments, each with what changed from the first to the second."""

    pairs: tuple[tuple[str, str, tuple[Change, ...]], ...]

    def to_dict(self) -> dict[str, Any]:
        """Give the differences as JSON types."""
        return {
            "pairs": [
                {"from": old, "to": new, "changes": [change.to_dict() for change in changes]}
                for old, new, changes in self.pairs
            ]
        }

    def __str__(self) -> str:
        """Write it for a person."""
        lines = []
        for old, new, changes in self.pairs:
            lines.append(
                f"{old} -> {new}: " + (f"{len(changes)} changes" if changes else "the same")
            )
            lines += [f"  {change.what}" for change in changes]
        return "\n".join(lines) if lines else "one session only: there is nothing to compare"


def compare_environments(trial: Path, other: Path | None) -> Differences:
    """Compare the sessions of a trial in their order, or its first session with another trial's.

    Raises
    ------
    StoreError
        If one of them is no trial directory, or its environment cannot be read.
    """
    records = _records(trial)
    if other is not None:
        theirs = _records(other)
        if not records or not theirs:
            raise StoreError("no session has begun there", str(other if records else trial))
        changes = diff(records[0][1], theirs[0][1])
        return Differences(pairs=((trial.name, other.name, changes),))
    pairs = itertools.pairwise(records)
    return Differences(pairs=tuple((old, new, diff(a, b)) for (old, a), (new, b) in pairs))


def _records(trial: Path) -> list[tuple[str, dict[str, Any]]]:
    if read_manifest(trial).origin == "imported":
        raise StoreError(
            "this trial was imported from files of another tool: nothing is known of its environment",
            str(trial),
        )
    found = []
    for known, record in records_of(trial / ENVIRONMENT, EnvironmentShape):
        segment = f", segment {known.segment}" if known.segment else ""
        found.append((f"session {known.session}{segment}", record))
    return found
