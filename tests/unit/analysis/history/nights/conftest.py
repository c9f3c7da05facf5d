"""Trials of many nights, a fleet of them, and what other tools write night after night."""

from dataclasses import replace

import pytest

HOST = {
    "host": {"name": "lab3", "machine_id_sha256": "abc", "boot_id": "first"},
    "cpu": {"model": "model 1", "governor": {"0": "performance"}},
    "kernel": {"release": "6.1", "boot_arguments": "quiet secret=1"},
}
TIMES = {
    "v1": {"x": [0.10, 0.11, 0.12, 0.13], "y": [0.20, 0.21, 0.22, 0.23]},
    "tip": {"x": [0.12, 0.11, 0.13, 0.15], "y": [0.20, 0.25, 0.22, 0.21]},
}


@pytest.fixture
def night(tmp_path, synthetic):
    """Write the trial of one night, below ``runs/``."""

    def make(
        number,
        *,
        times=TIMES,
        tip=1.0,
        sessions=2,
        place=None,
        campaign=None,
        environment=None,
        programs=None,
        rebuilt=(),
        commits=None,
        inputs=None,
        change=None,
        **manifest,
    ):
        day = f"2026-11-{number:02}T03:10:00"
        scaled = {
            variant: {
                bench: [t * (tip if variant == "tip" else 1.0) for t in runs]
                for bench, runs in cells.items()
            }
            for variant, cells in times.items()
        }
        made = synthetic(
            scaled,
            sessions=sessions,
            **{
                "trial": f"night-{number:02}",
                "started": f"{day}Z",
                "finished": f"{day}Z",
                "host": "lab3",
                **manifest,
            },
        )
        made.rows[:] = [replace(row, started_at=f"{day}.5Z") for row in made.rows]
        own = {"v1": "1" * 64, "tip": f"{number:064}", **(programs or {})}
        targets = {
            f"{bench}/{variant}": {
                "path": f"/bin/{variant}",
                "sha256": own[variant],
                "commit": (commits or {}).get(variant),
                **({"built": "session"} if variant in rebuilt else {}),
            }
            for bench in made.manifest.benchmarks
            for variant in made.manifest.variants
        }
        cells = [
            {
                "benchmark": b,
                "variant": v,
                "command": {"argv": [f"./{v}", b]},
                "inputs": [f"{b}.in"],
            }
            for b in made.manifest.benchmarks
            for v in made.manifest.variants
        ]
        resolved = {"name": "synthetic", "seed": number, "cells": cells}
        resolved["builds"] = [
            {"variant": name, "each": "session", "steps": [["make", name]]} for name in rebuilt
        ]
        resolved |= campaign or {}
        hashed = {"x.in": {"sha256": "a" * 64}, "y.in": {"sha256": "b" * 64}, **(inputs or {})}
        record = {**HOST, **(environment or {}), "targets": targets, "inputs": hashed}
        made.record(record, resolved)
        made.extra["findings.jsonl"] = b""
        if change is not None:
            change(made)
        return made.write(place or tmp_path / "runs" / f"night-{number:02}")

    return make


@pytest.fixture
def fleet_night(fleet_folder, night):
    """Write the fleet of one night, with the candidate's factor on each host."""

    def make(number, hosts, **how):
        folder = fleet_folder([*hosts], f"runs/fleet-{number:02}")
        for host, tip in hosts.items():
            if tip is not None:
                night(number, tip=tip, place=folder / host, trial=host, node=host, **how)
        return folder

    return make
