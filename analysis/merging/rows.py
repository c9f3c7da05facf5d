"""The lines of a trial's files as those of a later part of another: with its sessions and positions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..record import (
    ENVIRONMENT,
    FINDINGS,
    MEASUREMENTS,
    PLAN,
    Appended,
    EnvironmentShape,
    Finding,
    Manifest,
    MergedTrial,
    PlannedRun,
    RowShape,
    encode,
    encode_checked,
    records_of,
)

_OUTPUT = re.compile(
    r"(?P<again>[wr]?)(?P<number>[0-9]+)(?P<rest>\.(stdout|stderr|before\.log|after\.log))"
)


@dataclass(frozen=True, slots=True)
class Place:
    """How many sessions, planned runs, and warm-ups and runs that were repeated, stand before a part's own."""

    sessions: int = 0
    positions: int = 0
    repeated: int = 0

    def position(self, old: int) -> int:
        """Move a position; those of what was repeated are negative."""
        return old + self.positions if old >= 0 else old - self.repeated

    def behind(self, manifest: Manifest, least: int) -> Place:
        """Give the place behind a part; `least` is its lowest position."""
        return Place(
            self.sessions + manifest.sessions,
            self.positions + manifest.planned,
            self.repeated + max(0, -least),
        )

    # --- lines ---------------------------------------------------------------------------------

    def measurements(self, trial: Path) -> Iterator[bytes]:
        """Give the rows of a part; only their positions, sessions and checksums become others."""
        for _, row in records_of(trial / MEASUREMENTS, RowShape):
            del row["crc32"]
            row["position"] = self.position(row["position"])
            row["session"] += self.sessions
            if row.get("repeats") is not None:
                row["repeats"] = self.position(row["repeats"])
            yield encode_checked(row) + b"\n"

    def plan(self, trial: Path) -> Iterator[bytes]:
        """Give the planned runs of a part."""
        for _, row in records_of(trial / PLAN, PlannedRun):
            row["position"] = self.position(row["position"])
            yield self._line(row)

    def environments(self, trial: Path) -> Iterator[bytes]:
        """Give the environments of a part."""
        for _, row in records_of(trial / ENVIRONMENT, EnvironmentShape):
            yield self._line(row)

    def findings(self, trial: Path) -> Iterator[bytes]:
        """Give the findings of a part."""
        for _, row in records_of(trial / FINDINGS, Finding):
            yield self._line(row)

    def _line(self, row: dict[str, Any]) -> bytes:
        if type(row.get("session")) is int:
            row["session"] += self.sessions
        return encode(row) + b"\n"

    def output(self, name: str, trial: str) -> str:
        """Name a file of ``outputs/``: after its run, or in a folder named after its trial."""
        match = _OUTPUT.fullmatch(name)
        if match is None:
            return f"{trial}/{name}"
        number = int(match["number"])
        again = match["again"]
        new = -self.position(-number) if again else self.position(number)
        return f"{again}{new}{match['rest']}" if again else f"{new:04d}{match['rest']}"

    # --- parts of the manifest -----------------------------------------------------------------

    def merged_from(self, manifest: Manifest) -> Iterator[MergedTrial]:
        """Say which trials a part's sessions were measured in."""
        for one in manifest.merged_from:
            yield replace(one, first=one.first + self.sessions, last=one.last + self.sessions)
        if not manifest.merged_from:
            yield MergedTrial(
                trial=manifest.trial,
                first=self.sessions + 1,
                last=self.sessions + manifest.sessions,
                seed=manifest.seed,
                tool_version=manifest.tool_version,
                started=manifest.started,
                finished=manifest.finished,
            )

    def appended(self, manifest: Manifest, at: str) -> Iterator[Appended]:
        """Say what counts as a look at the answer: a part behind another, and the part's own appends."""
        if self.sessions:
            own = manifest.appended[0].first - 1 if manifest.appended else manifest.sessions
            yield Appended(at=at, first=self.sessions + 1, last=self.sessions + own)
        for one in manifest.appended:
            yield replace(one, first=one.first + self.sessions, last=one.last + self.sessions)
