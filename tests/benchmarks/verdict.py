"""How long a verdict takes, in how much memory, and how that grows with the runs.

A trial of 40 benchmarks x 10 sessions x 30 runs x 3 variants, and one of twice the runs, are written
and judged, each in a fresh process: once to warm up, then once timed, the two trials in turn. The
first screen includes the diagnosis. Execute it by hand::

    python tests/benchmarks/verdict.py [ROUNDS]

Figures to reach: first screen 2 s, ``--explain`` 12 s, 400 MB; twice the runs at most 2.2 times.
"""

from __future__ import annotations

import hashlib
import json
import random
import statistics
import subprocess
import sys
import tempfile
from dataclasses import MISSING, fields
from pathlib import Path

from analysis.record.shapes import encode, encode_checked
from analysis.record.trial_files import MEASUREMENTS, PLAN, Manifest

VARIANTS = ("base", "fast", "same")
BENCHMARKS = tuple(f"benchmark-{k}" for k in range(40))
SESSIONS = 10
FASTER = {"base": 1.0, "fast": 0.9, "same": 1.0}

_JUDGE = """
import resource, sys, time
from pathlib import Path
from analysis import judge, read_trial
def answer():
    start = time.perf_counter()
    str(judge(read_trial(Path(sys.argv[1])), explain=sys.argv[2] == "explain"))
    return time.perf_counter() - start
answer()
print(answer(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


def write(path: Path, runs: int) -> None:
    """Write a finished trial of so many runs a cell and session, with shifts between sessions."""
    rng = random.Random(20261122)
    cells = [(bench, variant) for bench in BENCHMARKS for variant in VARIANTS]
    position = 0
    with (path / PLAN).open("wb") as plan, (path / MEASUREMENTS).open("wb") as measurements:
        for session in range(1, SESSIONS + 1):
            shift = {cell: rng.gauss(0, 0.01) for cell in cells}
            for block in range(1, runs + 1):
                for bench, variant in cells:
                    planned = {
                        "position": position,
                        "session": session,
                        "block": block,
                        "benchmark": bench,
                        "variant": variant,
                        "warmup": False,
                    }
                    log = shift[bench, variant] + rng.gauss(0, 0.02)
                    wall = int(1e8 * FASTER[variant] * 2.718281828**log)
                    plan.write(encode(planned) + b"\n")
                    measurements.write(encode_checked(planned | _measured(position, wall)) + b"\n")
                    position += 1
    sums = {
        name: hashlib.sha256((path / name).read_bytes()).hexdigest()
        for name in (PLAN, MEASUREMENTS)
    }
    required = (field.name for field in fields(Manifest) if field.default is MISSING)
    values = dict.fromkeys(required, "") | {
        "seed": 1,
        "warmup": 0,
        "baseline": VARIANTS[0],
        "variants": VARIANTS,
        "benchmarks": BENCHMARKS,
        "metrics": {},
        "sessions": SESSIONS,
        "runs": runs,
        "planned": position,
        "targets": {},
        "status": "complete",
        "files": sums,
    }
    (path / "manifest.json").write_text(json.dumps(Manifest(**values).to_dict()))


def _measured(position: int, wall: int) -> dict[str, object]:
    return {
        "segment": 1,
        "started_at": "2026-11-22T04:00:00.000000+00:00",
        "start_ns": position * 10**8,
        "wall_ns": wall,
        "user_s": wall / 1e9,
        "system_s": 0.001,
        "outcome": "ok",
    }


def judged(path: Path, how: str) -> tuple[float, float]:
    """Give seconds and megabytes of one answer, after one that warmed up."""
    done = subprocess.run(
        [sys.executable, "-c", _JUDGE, str(path), how], capture_output=True, text=True, check=True
    )
    seconds, megabytes = map(float, done.stdout.split())
    return seconds, megabytes


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    with tempfile.TemporaryDirectory() as folder:
        trials = {runs: Path(folder) / f"runs-{runs}" for runs in (30, 60)}
        for runs, path in trials.items():
            path.mkdir()
            write(path, runs)
        for how in ("first screen", "explain"):
            found = [
                {runs: judged(path, how) for runs, path in trials.items()} for _ in range(rounds)
            ]
            once = statistics.median(one[30][0] for one in found)
            growth = statistics.median(one[60][0] / one[30][0] for one in found)
            memory = max(one[30][1] for one in found)
            print(f"{how}: {once:.2f} s, {memory:.0f} MB; twice the runs {growth:.2f}x the time")


if __name__ == "__main__":
    main()
