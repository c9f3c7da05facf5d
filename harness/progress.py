"""How far a trial is, read from its directory by anybody at any time."""

from __future__ import annotations

import json
import shlex
from collections import defaultdict
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from analysis.record import MEASUREMENTS, Manifest, checksum_holds, read_manifest

from .store import is_written_now
from .wording import clock, duration, shortened


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """One trial as it stands. `state` is the manifest's status, or "killed".

    `again` is the command that goes on with it. `seconds` maps "benchmark/variant" to the mean time from one run's start to the next one's.
    """

    trial: str
    campaign: str
    state: str
    reason: str | None
    started: str
    done: int
    planned: int
    failed: dict[str, int]
    last: str | None
    seconds: dict[str, float]
    left_s: float | None
    again: str

    def to_dict(self) -> dict[str, Any]:
        """Give the progress as JSON types."""
        return asdict(self)

    def __str__(self) -> str:
        """Say it in a few lines."""
        share = 100 * self.done / self.planned if self.planned else 100
        lines = [
            f"{self.trial} · {self.state}" + (f": {self.reason}" if self.reason else ""),
            f"  {self.done} of {self.planned} runs ({share:.0f} %), started {self.started}",
        ]
        if self.state == "running" and self.left_s is not None:
            lines.append(f"  about {clock(self.left_s)} left; last: {self.last}")
        if self.failed:
            parts = (f"{count} {what}" for what, count in sorted(self.failed.items()))
            lines.append(f"  not ok: {', '.join(parts)}")
        if self.state in {"killed", "interrupted", "stopped"} and self.done < self.planned:
            lines.append(f"  continue: {self.again}")
        return "\n".join(lines)


def read_progress(trial: Path) -> Progress:
    """Read how far a trial is; a torn last line is passed over.

    Raises
    ------
    StoreError
        If it is no trial directory.
    """
    manifest = read_manifest(trial)
    rows = _rows(trial)
    planned = [row for row in rows if row["position"] >= 0]
    failed: dict[str, int] = defaultdict(int)
    for row in planned:
        if row["outcome"] != "ok":
            failed[row["outcome"]] += 1
    seconds = _seconds(rows)
    running = is_written_now(trial)
    state = manifest.status if manifest.status != "running" or running else "killed"
    return Progress(
        trial=manifest.trial,
        campaign=manifest.campaign_name,
        state=state,
        reason=manifest.reason,
        started=manifest.started,
        done=len(planned),
        planned=manifest.planned,
        failed=dict(failed),
        last=_last(rows),
        seconds=seconds,
        left_s=_left(manifest, planned, seconds) if running else None,
        again=f"fairtrial run {shlex.quote(manifest.campaign_path)} --resume "
        f"--trial {shlex.quote(str(trial))}",
    )


def _rows(trial: Path) -> list[dict[str, Any]]:
    try:
        data = (trial / MEASUREMENTS).read_bytes()
    except FileNotFoundError:
        return []
    lines = [line for line in data.split(b"\n")[:-1] if checksum_holds(line)]
    return [json.loads(line) for line in lines]


def _seconds(rows: list[dict[str, Any]]) -> dict[str, float]:
    """Mean time of one run of each cell, hooks included."""
    sums: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        if row["wall_ns"] is not None:
            total = row["wall_ns"] / 1e9 + (row["before_s"] or 0) + (row["after_s"] or 0)
            sums[f"{row['benchmark']}/{row['variant']}"].append(total)
    return {name: sum(values) / len(values) for name, values in sums.items()}


def _left(
    manifest: Manifest, rows: list[dict[str, Any]], seconds: dict[str, float]
) -> float | None:
    if not seconds:
        return None
    per_cell = manifest.sessions * (manifest.runs + manifest.warmup)
    done: dict[str, int] = defaultdict(int)
    for row in rows:
        done[f"{row['benchmark']}/{row['variant']}"] += 1
    typical = sum(seconds.values()) / len(seconds)
    cells = [f"{b}/{v}" for b in manifest.benchmarks for v in manifest.variants]
    return sum((per_cell - done[cell]) * seconds.get(cell, typical) for cell in cells)


def _last(rows: list[dict[str, Any]]) -> str | None:
    if not rows:
        return None
    row = rows[-1]
    name = shortened(f"{row['benchmark']} / {row['variant']}", 40)
    if row["outcome"] != "ok" or row["wall_ns"] is None:
        return f"{name}: {row['outcome']}"
    return f"{name} {duration(row['wall_ns'] / 1e9)}"
