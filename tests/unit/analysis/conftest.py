"""A writer of small synthetic trials, through `analysis.record` as the runner writes them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from analysis.record.fleet import Fleet, FleetHost, write_fleet
from analysis.record.run_numbers import Measurement
from analysis.record.shapes import encode, encode_checked
from analysis.record.trial_files import CAMPAIGN, MANIFEST, MEASUREMENTS, PLAN, Manifest, PlannedRun


@dataclass
class Synthetic:
    """What a synthetic trial holds before it is written; tests change it at will."""

    manifest: Manifest
    plan: list[PlannedRun]
    rows: list[Measurement]
    extra: dict[str, bytes] = field(default_factory=dict)

    def fail(self, when: Callable[[Measurement], object] = bool, **how: object) -> Synthetic:
        """Let the runs fail of which `when` holds: all of them with an exit code, or as `how` says."""
        failure: dict[str, Any] = {"outcome": "exit", "exit_code": 1} | how
        self.rows[:] = [replace(row, **failure) if when(row) else row for row in self.rows]
        return self

    def record(
        self, environment: Mapping[str, object] | None, campaign: Mapping[str, object] | None
    ) -> None:
        """Keep what the runner does: the record of the host in each session, and the campaign."""
        if environment is not None:
            sessions = range(1, self.manifest.sessions + 1)
            lines = [{"session": k, "segment": 0, **environment} for k in sessions]
            self.extra["environment.jsonl"] = "".join(f"{json.dumps(x)}\n" for x in lines).encode()
        if campaign is not None:
            self.extra["resolved.json"] = json.dumps({"campaign": campaign}).encode() + b"\n"

    def write(self, path: Path) -> Path:
        path.mkdir(parents=True, exist_ok=True)
        files = {
            CAMPAIGN: b"name: synthetic\n",
            PLAN: b"".join(encode(row.to_dict()) + b"\n" for row in self.plan),
            MEASUREMENTS: b"".join(encode_checked(row.to_dict()) + b"\n" for row in self.rows),
            **self.extra,
        }
        for name, content in files.items():
            (path / name).parent.mkdir(exist_ok=True)
            (path / name).write_bytes(content)
        manifest = self.manifest
        if manifest.status != "running":
            sums = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
            manifest = replace(manifest, files=sums)
        (path / MANIFEST).write_text(json.dumps(manifest.to_dict(), indent=1))
        return path


def measurement(planned: PlannedRun, wall_s: float, **changes: object) -> Measurement:
    row = Measurement(
        position=planned.position,
        session=planned.session,
        block=planned.block,
        benchmark=planned.benchmark,
        variant=planned.variant,
        warmup=planned.warmup,
        segment=0,
        started_at="2026-11-21T04:12:00.000000Z",
        start_ns=1_000_000 + planned.position,
        wall_ns=round(wall_s * 1e9),
        spawn_ns=100_000,
        user_s=wall_s * 0.9,
        system_s=wall_s * 0.1,
        max_rss_bytes=50 << 20,
        max_rss_floor_bytes=10 << 20,
        minor_faults=100,
        major_faults=0,
        voluntary_switches=1,
        involuntary_switches=2,
        cpus=(3,),
        steal_s=0.0,
        padding_bytes=17,
        outcome="ok",
        exit_code=0,
        metrics={},
    )
    return replace(row, **changes) if changes else row


def build(
    times: Mapping[str, Mapping[str, Sequence[float]]],
    *,
    baseline: str | None = None,
    sessions: int = 1,
    warmup: int = 0,
    **manifest: object,
) -> Synthetic:
    """Plan and measure `times`: variant -> benchmark -> all its runs, split over the sessions."""
    variants = tuple(times)
    benchmarks = tuple(dict.fromkeys(bench for cells in times.values() for bench in cells))
    most = max(len(values) for cells in times.values() for values in cells.values())
    per_session = -(-most // sessions)
    plan: list[PlannedRun] = []
    rows: list[Measurement] = []
    for session in range(1, sessions + 1):
        for block in range(1 - warmup, per_session + 1):
            for bench in benchmarks:
                for variant in variants:
                    values = times[variant].get(bench, ())
                    k = (session - 1) * per_session + max(block, 1) - 1
                    if k >= len(values):
                        continue
                    planned = PlannedRun(
                        position=len(plan),
                        session=session,
                        block=max(block, 0),
                        benchmark=bench,
                        variant=variant,
                        warmup=block < 1,
                    )
                    plan.append(planned)
                    rows.append(measurement(planned, values[k] * (3 if block < 1 else 1)))
    fields: dict[str, object] = {
        "trial": "synthetic-20261121-0412",
        "tool_version": "0.1.0",
        "campaign_name": "synthetic",
        "campaign_sha256": "0" * 64,
        "campaign_path": "campaign.yaml",
        "baseline": baseline or variants[0],
        "variants": variants,
        "benchmarks": benchmarks,
        "metrics": {},
        "seed": 1,
        "sessions": sessions,
        "runs": per_session,
        "warmup": warmup,
        "planned": len(plan),
        "host": "lab07",
        "host_id": "abc",
        "targets": {},
        "started": "2026-11-21T04:12:00Z",
        "finished": "2026-11-21T04:22:00Z",
        "status": "complete",
        "files": {},
    }
    return Synthetic(Manifest(**(fields | manifest)), plan, rows)


@pytest.fixture
def fleet_folder(tmp_path: Path) -> Callable[..., Path]:
    """Make the folder of a fleet of hosts of which nothing is measured."""

    def make(names: Sequence[str], place: str = "fleet") -> Path:
        folder = tmp_path / place
        folder.mkdir(parents=True)
        hosts = tuple(FleetHost(host=name, jobs=(), trial=name) for name in names)
        fleet = Fleet(
            campaign="synthetic", identity="0" * 64, submitted_at=None, script=None, hosts=hosts
        )
        write_fleet(folder, fleet)
        return folder

    return make


@pytest.fixture(scope="session")
def synthetic() -> Callable[..., Synthetic]:
    return build


def _once(make: Callable[..., Any]) -> Callable[..., Any]:
    known: dict[str, Any] = {}

    def made(*args: object, **named: object) -> Any:
        key = repr((args, named))
        if " at 0x" in key or "..." in key:  # a function, or a long array: no key
            return make(*args, **named)
        if key not in known:
            known[key] = make(*args, **named)
        return known[key]

    return made


@pytest.fixture(scope="session")
def once() -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Let a maker make the same once: whoever asks for it leaves it as it is."""
    return _once
