"""How fast, and in how much memory, a 100,000-run trial is read into matrices.

The floor is ``json.loads`` over the same lines. Both are timed in one process, interleaved; memory
is the peak of a fresh process that only reads the trial. Execute it by hand::

    python tests/benchmarks/read_trial.py [RUNS] [ROUNDS]

Figures to reach: at most 3x the floor, under 300 MB.
"""

from __future__ import annotations

import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from large_trials import Row, write_trial

from analysis.data.trial import Trial, read_trial
from analysis.record.trial_files import MEASUREMENTS

VARIANTS = tuple(f"variant-{k}" for k in range(5))
BENCHMARKS = tuple(f"benchmark-{k}" for k in range(20))
LIMIT_RATIO, LIMIT_MB = 3.0, 300.0

_PEAK = """
import resource, sys
from pathlib import Path
from analysis.data.trial import read_trial
trial = read_trial(Path(sys.argv[1]))
matrices = [trial.matrix(name) for name in trial.manifest.variants]
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def write(path: Path, runs: int) -> None:
    """Write a finished trial of so many runs, each with a parsed metric."""
    rng = random.Random(20261121)
    write_trial(
        path,
        (BENCHMARKS, VARIANTS, 5, runs // 5 // len(BENCHMARKS) // len(VARIANTS)),
        lambda planned: _measured(rng, planned["position"]),
        metrics={"items": {"unit": "1/s", "better": "higher"}},
    )


def _measured(rng: random.Random, position: int) -> Row:
    wall_ns = int(rng.lognormvariate(18, 0.05))
    return {
        "segment": 0,
        "started_at": f"2026-11-21T04:12:00.{position % 1_000_000:06d}Z",
        "start_ns": 1_234_567_890_123 + position * 100_000_000,
        "wall_ns": wall_ns,
        "spawn_ns": 181_234,
        "user_s": wall_ns * 0.9e-9,
        "system_s": wall_ns * 0.1e-9,
        "max_rss_bytes": 50 << 20,
        "max_rss_floor_bytes": 10 << 20,
        "minor_faults": 1234,
        "major_faults": 0,
        "voluntary_switches": 1,
        "involuntary_switches": 2,
        "cpus": [3],
        "frequency_khz": None,
        "temperature_c": 51.0,
        "steal_s": 0.0,
        "padding_bytes": 1234,
        "outcome": "ok",
        "exit_code": 0,
        "signal": None,
        "detail": None,
        "metrics": {"items": [1e9 / wall_ns]},
        "stdout_bytes": 1234,
        "stdout_sha256": "0" * 64,
        "orphans": 0,
        "before_s": None,
        "after_s": None,
    }


def parse_only(path: Path) -> None:
    """The floor: parse every line and keep nothing."""
    loads = json.loads
    with (path / MEASUREMENTS).open("rb") as file:
        for line in file:
            loads(line)


def read(path: Path) -> Trial:
    """The work: a checked trial and the matrices of all variants."""
    trial = read_trial(path)
    for variant in VARIANTS:
        trial.matrix(variant)
    return trial


def _timed(function: object, path: Path) -> float:
    start = time.perf_counter()
    function(path)
    return time.perf_counter() - start


def main(runs: int = 100_000, rounds: int = 5) -> int:
    """Measure, print the table, and give 1 when a figure is missed."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        write(path, runs)
        size = (path / MEASUREMENTS).stat().st_size / 1e6
        floor, whole = [], []
        for _ in range(rounds):
            floor.append(_timed(parse_only, path))
            whole.append(_timed(read, path))
        command = [sys.executable, "-c", _PEAK, str(path)]
        root = Path(__file__).resolve().parents[2]
        out = subprocess.run(command, check=True, capture_output=True, text=True, cwd=root)
        peak = int(out.stdout) * 1024 / 1e6
    ratio = statistics.median(whole) / statistics.median(floor)
    print(f"{runs:,} runs, {size:.0f} MB of measurements, medians of {rounds} rounds")
    print(f"  json.loads over the lines   {statistics.median(floor):8.3f} s")
    print(f"  read into matrices          {statistics.median(whole):8.3f} s")
    print(f"  ratio                       {ratio:8.2f}     limit {LIMIT_RATIO}")
    print(f"  peak memory                 {peak:8.0f} MB  limit {LIMIT_MB:.0f} MB")
    return int(ratio > LIMIT_RATIO or peak >= LIMIT_MB)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
