"""Writes finished trials of many runs, row by row, for the benchmarks that read them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from analysis.record.shapes import encode, encode_checked
from analysis.record.trial_files import MANIFEST, MEASUREMENTS, PLAN, Manifest

Cell = tuple[str, str]  # benchmark and variant
Row = dict[str, Any]


def write_trial(
    path: Path,
    design: tuple[Sequence[str], Sequence[str], int, int],
    measured: Callable[[Row], Row],
    *,
    order: Callable[[list[Cell]], Iterable[Cell]] = lambda cells: cells,
    files: Mapping[str, bytes] | None = None,
    **manifest: Any,
) -> None:
    """Write a trial of `design`: benchmarks, variants (the first is the baseline), sessions and blocks.

    `measured` gives what a planned run measured, `order` the cells of a block; `files` are further
    files of the trial.
    """
    benchmarks, variants, sessions, blocks = design
    path.mkdir(parents=True, exist_ok=True)
    cells = [(bench, variant) for bench in benchmarks for variant in variants]
    position = 0
    with (path / PLAN).open("wb") as plan, (path / MEASUREMENTS).open("wb") as measurements:
        for session in range(1, sessions + 1):
            for block in range(1, blocks + 1):
                for bench, variant in order(cells):
                    planned = {
                        "position": position,
                        "session": session,
                        "block": block,
                        "benchmark": bench,
                        "variant": variant,
                        "warmup": False,
                    }
                    plan.write(encode(planned) + b"\n")
                    measurements.write(encode_checked(planned | measured(planned)) + b"\n")
                    position += 1
    for name, data in (files or {}).items():
        (path / name).write_bytes(data)
    known = {
        "trial": path.name,
        "tool_version": "0.3.0",
        "campaign_name": path.name,
        "campaign_sha256": "c" * 64,
        "campaign_path": "campaign.yaml",
        "baseline": variants[0],
        "variants": tuple(variants),
        "benchmarks": tuple(benchmarks),
        "metrics": {},
        "seed": 1,
        "sessions": sessions,
        "runs": blocks,
        "warmup": 0,
        "planned": position,
        "host": "lab3",
        "host_id": "a" * 64,
        "targets": {},
        "started": "2026-11-22T04:00:00.000000+00:00",
        "status": "complete",
        "files": {
            name: hashlib.sha256((path / name).read_bytes()).hexdigest()
            for name in (PLAN, MEASUREMENTS, *(files or {}))
        },
    }
    text = json.dumps(Manifest(**known | manifest).to_dict())
    (path / MANIFEST).write_text(text)


def run_of(position: int, wall_ns: float, **more: object) -> Row:
    """Give what a run of so long measured."""
    return {
        "segment": 0,
        "started_at": "2026-11-22T04:00:00.000000+00:00",
        "start_ns": 10**9 + position * 10**8,
        "wall_ns": round(wall_ns),
        "user_s": wall_ns / 1e9 * 0.9,
        "system_s": wall_ns / 1e9 * 0.1,
        "outcome": "ok",
        **more,
    }
