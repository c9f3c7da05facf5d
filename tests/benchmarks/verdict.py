"""How long a verdict takes, in how much memory, and how that grows with the runs.

A trial of 40 benchmarks x 10 sessions x 30 runs x 3 variants, and one of twice the runs, are written
and judged, each in a fresh process: once to warm up, then once timed, the two trials in turn. The
first screen includes the diagnosis. Execute it by hand::

    python tests/benchmarks/verdict.py [ROUNDS] [RUNS]

Figures to reach: first screen 2 s, ``--explain`` 12 s, 400 MB; twice the runs at most 2.2 times.
"""

from __future__ import annotations

import random
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from large_trials import Row, run_of, write_trial

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
    shifts: dict[tuple[str, str, int], float] = {}

    def measured(planned: Row) -> Row:
        key = planned["benchmark"], planned["variant"], planned["session"]
        if key not in shifts:
            shifts[key] = rng.gauss(0, 0.01)
        log = shifts[key] + rng.gauss(0, 0.02)
        return run_of(planned["position"], 1e8 * FASTER[key[1]] * 2.718281828**log)

    write_trial(path, (BENCHMARKS, VARIANTS, SESSIONS, runs), measured)


def judged(path: Path, how: str) -> tuple[float, float]:
    """Give seconds and megabytes of one answer, after one that warmed up."""
    done = subprocess.run(
        [sys.executable, "-c", _JUDGE, str(path), how], capture_output=True, text=True, check=True
    )
    seconds, megabytes = map(float, done.stdout.split())
    return seconds, megabytes


def main(rounds: int = 5, least: int = 30) -> None:
    with tempfile.TemporaryDirectory() as folder:
        trials = {runs: Path(folder) / f"runs-{runs}" for runs in (least, 2 * least)}
        for runs, path in trials.items():
            path.mkdir()
            write(path, runs)
        for how in ("first screen", "explain"):
            found = [
                {runs: judged(path, how) for runs, path in trials.items()} for _ in range(rounds)
            ]
            once = statistics.median(one[least][0] for one in found)
            growth = statistics.median(one[2 * least][0] / one[least][0] for one in found)
            memory = max(one[least][1] for one in found)
            print(f"{how}: {once:.2f} s, {memory:.0f} MB; twice the runs {growth:.2f}x the time")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
