"""How much faster the suite's Speedup-Test is than the same protocol in R.

The rival is `r/speedup_test.R`: base R's tests, each p-value computed once for a pair, the levels then
compared as vectors. Both judge the same pairs with the full search, and must find the same levels. They
take turns; R's start-up and reading do not count, and ours includes the whole result with all steps.
"tied" has times of a coarse clock, where R's exact laws are slow.

Execute it by hand, with R installed::

    python tests/benchmarks/speedup_test.py [ROUNDS]

Figure to reach: 5x on 1,000 pairs of 30 runs.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from analysis.data.matrix import PerformanceMatrix
from analysis.methods.speedup_test.compare import speedup_test_suite

SCRIPT = Path(__file__).parent / "r" / "speedup_test.R"
SEED = 20261121
PAIRS = 1000
# name -> runs of either side, digits that the clock shows, ratio to reach
CASES = {"30 x 30": (30, 30, 15, 5.0), "29 x 31": (29, 31, 15, 5.0), "tied": (30, 30, 2, 5.0)}
Array = np.ndarray[Any, np.dtype[np.float64]]


def pairs(n: int, m: int, digits: int) -> tuple[Array, Array]:
    """Draw times of 1,000 benchmarks: half without a difference, half 2 % faster; noise of 3 %."""
    rng = np.random.default_rng(SEED)
    gain = np.where(np.arange(PAIRS) % 2 == 0, 1.0, 1.02)[:, None]
    x, y = gain * rng.lognormal(0, 0.03, (PAIRS, n)), rng.lognormal(0, 0.03, (PAIRS, m))
    return x.round(digits), y.round(digits)


def by_r(path: Path, n: int, m: int) -> tuple[float, list[list[float]]]:
    """Give the seconds that R needs, and its best levels."""
    done = subprocess.run(
        ["Rscript", "--vanilla", str(SCRIPT), str(path), str(n), str(m)],
        check=True,
        capture_output=True,
        text=True,
    )
    seconds, *levels = done.stdout.splitlines()
    return float(seconds), [[float(word) / 100 for word in line.split()] for line in levels]


def main(rounds: int) -> int:
    """Print one line for each case; fail when the figure is missed."""
    failed = 0
    for name, (n, m, digits, wanted) in CASES.items():
        x, y = pairs(n, m, digits)
        old, new = (
            PerformanceMatrix.from_samples(
                side, {str(k): row for k, row in enumerate(rows)}, better="lower"
            )
            for side, rows in (("old", x), ("new", y))
        )
        ours, theirs = [], []
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "samples"
            np.concatenate([x, y], axis=1).tofile(path)
            for _ in range(rounds):
                for _ in range(5):
                    start = time.perf_counter()
                    suite = speedup_test_suite(baseline=old, candidate=new, confidence=None)
                    ours.append(time.perf_counter() - start)
                seconds, levels = by_r(path, n, m)
                theirs.append(seconds)
        found = [
            [decision.confidence or 0.0 for decision in decisions]
            for decisions in (
                [t.mean for t in suite.benchmarks],
                [t.median for t in suite.benchmarks],
            )
        ]
        assert found == levels
        one, other = statistics.median(ours), statistics.median(theirs)
        failed += other / one < wanted
        print(
            f"{name}: {PAIRS} pairs with the full search in {one * 1e3:.0f} ms, R {other:.2f} s: "
            f"{other / one:.1f}x (to reach {wanted:.0f}x); the same levels in all pairs"
        )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 5))
