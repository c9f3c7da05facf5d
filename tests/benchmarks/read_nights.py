"""How fast trials of many nights are read into series: the first time, and from what was kept of them.

The first reading is held against ``json.loads`` over the same rows, in one process and in turn, by CPU
time. The second is the whole of ``fairtrial history`` in a process of its own. Execute it by hand::

    python tests/benchmarks/read_nights.py [NIGHTS] [FIRST] [ROUNDS]

NIGHTS (400) trials of 100 benchmarks are read from what is kept, FIRST (12) with 3,000 rows each for the
first time, ROUNDS (3) times. Figures to reach: at most 3x of json.loads, and 10 s.
"""

from __future__ import annotations

import json
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import datetime, timedelta
from pathlib import Path

from large_trials import Row, run_of, write_trial

from analysis.history.kept_nights import kept_folder
from analysis.history.nights import read_nights
from analysis.record.shapes import encode
from analysis.record.trial_files import ENVIRONMENT, MEASUREMENTS, RESOLVED

VARIANTS = ("v1", "tip")
BENCHMARKS = tuple(f"benchmark-{k}" for k in range(100))
LIMIT_RATIO, LIMIT_S = 3.0, 10.0
_BEGIN = datetime.fromisoformat("2026-01-01T03:10:00+00:00")


def write(path: Path, number: int, *, sessions: int, runs: int) -> None:
    """Write the trial of one night."""
    rng = random.Random(number)
    began = (_BEGIN + timedelta(days=number)).isoformat()
    cells = [(bench, variant) for bench in BENCHMARKS for variant in VARIANTS]
    first = f"{BENCHMARKS[0]}/{VARIANTS[0]}"
    targets = {f"{b}/{v}": {"same_as": first} for b, v in cells} | {first: _target(number)}
    environment = {
        "host": {"name": "lab3", "machine_id_sha256": "a" * 64, "boot_id": "b"},
        "cpu": {"model": "model 1", "governor": {"0": "performance"}},
        "kernel": {"release": "6.8", "boot_arguments": "quiet"},
        "targets": targets,
    }
    lines = ({"session": k, "segment": 0, **environment} for k in range(1, sessions + 1))
    write_trial(
        path,
        (BENCHMARKS, VARIANTS, sessions, runs),
        lambda planned: _row(planned, rng, began),
        files={
            ENVIRONMENT: b"".join(encode(line) + b"\n" for line in lines),
            RESOLVED: encode({"campaign": _campaign(cells)}) + b"\n",
        },
        campaign_name="suite",
        started=began,
    )


def _row(planned: Row, rng: random.Random, began: str) -> Row:
    wall_ns = round(1e8 * rng.lognormvariate(0, 0.02))
    return run_of(
        planned["position"],
        wall_ns,
        started_at=began,
        max_rss_bytes=50 << 20,
        spawn_ns=100_000,
        minor_faults=rng.randrange(1000),
        on_cpu_ns=wall_ns,
        cpus=(1,),
        exit_code=0,
        metrics={},
        stdout_sha256="d" * 64,
        stdout_bytes=1024,
    )


def _target(number: int) -> dict[str, object]:
    library = {"path": "/usr/lib/libc.so.6", "sha256": "e" * 64}
    return {"path": "/bin/v1", "sha256": f"{number % 1:064x}", "libraries": {"libc.so.6": library}}


def _campaign(cells: list[tuple[str, str]]) -> dict[str, object]:
    return {
        "name": "suite",
        "seed": 1,
        "cells": [
            {"benchmark": b, "variant": v, "command": {"argv": [f"./{v}", b]}, "cwd": "."}
            for b, v in cells
        ],
    }


def _cpu_s(what: object) -> float:
    begin = time.process_time()
    what()  # type: ignore[operator]
    return time.process_time() - begin


def _floor(folder: Path) -> None:
    for path in sorted(folder.glob(f"*/{MEASUREMENTS}")):
        with path.open("rb") as file:
            for line in file:
                json.loads(line)


def _first(folder: Path) -> None:
    shutil.rmtree(kept_folder(folder), ignore_errors=True)
    read_nights([folder])


def main() -> None:
    """Measure and print."""
    given = [int(word) for word in sys.argv[1:]]
    nights, first, rounds = [*given, *(400, 12, 3)[len(given) :]]
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "first"
        folder.mkdir()
        for k in range(first):
            write(folder / f"night-{k:03}", k, sessions=3, runs=5)
        pairs = [
            (_cpu_s(lambda: _floor(folder)), _cpu_s(lambda: _first(folder))) for _ in range(rounds)
        ]
        ratio = statistics.median(ours / floor for floor, ours in pairs)
        rows = first * 3 * 5 * len(BENCHMARKS) * len(VARIANTS)
        print(
            f"first reading of {first} nights, {rows:,} rows: {statistics.median(o for _, o in pairs):.2f} s "
            f"CPU, {ratio:.2f}x of json.loads (to reach: {LIMIT_RATIO:g}x)"
        )
        folder = Path(place) / "kept"
        folder.mkdir()
        for k in range(nights):
            write(folder / f"night-{k:03}", k, sessions=1, runs=1)
        time.sleep(2.1)  # what was written just now is hashed again
        read_nights([folder])
        command = [sys.executable, "-m", "harness", "history", str(folder), "--json"]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        took = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        begin = time.process_time()
        read_nights([folder])
        own = time.process_time() - begin
        size = sum(one.stat().st_size for one in kept_folder(folder).iterdir()) / 1e6
        print(
            f"history of {nights} nights x {len(BENCHMARKS)} benchmarks from what is kept "
            f"({size:.1f} MB): {took:.2f} s CPU in all (to reach: {LIMIT_S:g} s), {own:.2f} s of it reads"
        )


if __name__ == "__main__":
    main()
