"""How much faster the exact r-Speedup is than the published step search.

The rival is the search as published: from 1.000 upwards by 0.001 until HPT's confidence falls
below 0.95, each step testing all benchmarks by two calls of scipy's ``mannwhitneyu(axis=1)`` and
the suite by the table (the normal form from 25 benchmarks on). "lean" replaces those two calls by
one ``rankdata(axis=1)`` and a ready table, the least that scipy needs. All three see the same
suite in one process, in turns; the ratio counts. Our time includes the whole curve.

Then the whole command ``fairtrial hpt`` on 100,000 runs a side, each form in a process of its own.

Execute it by hand::

    python tests/benchmarks/hpt_speedup.py [ROUNDS]

Figures to reach: 300x on 29 x 5 with a supremum near 1.25, 50x on 40 x 200; 30 s and 1 GB for
many runs.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import mannwhitneyu, norm, rankdata

from analysis.data.matrix import PerformanceMatrix
from analysis.methods.hpt.speedup import hpt_speedup
from analysis.stats.ranks import rank_sum_table, signed_rank_normal, signed_rank_table

# benchmarks, runs, centre of the true speedups (the supremum is near 1.25), ratio to reach
SUITES = {"29 x 5": (29, 5, 1.381, 300.0), "40 x 200": (40, 200, 1.344, 50.0)}
MANY, MOST_SECONDS, MOST_BYTES = 100_000, 30.0, 1e9
SEED = 20261121
Array = np.ndarray[Any, np.dtype[np.float64]]
Filter = Callable[[Array, Array], tuple[Array, Array]]


def suite(n: int, m: int, centre: float) -> tuple[Array, Array]:
    """Draw scores, higher is better: true speedups with log-sd 0.15, run noise of 2 %."""
    rng = np.random.default_rng(SEED)
    level = rng.lognormal(2.0, 0.5, (n, 1))
    gain = centre * rng.lognormal(0.0, 0.15, (n, 1))
    return level * gain * rng.lognormal(0, 0.02, (n, m)), level * rng.lognormal(0, 0.02, (n, m))


def by_scipy(s: Array, b: Array) -> tuple[Array, Array]:
    """Test every benchmark in both directions as scipy offers it."""
    method = "exact" if s.shape[1] < 12 else "asymptotic"
    greater, less = (
        mannwhitneyu(s, b, alternative=side, method=method, axis=1, use_continuity=False).pvalue
        for side in ("greater", "less")
    )
    return greater, less


def by_ranks(m: int) -> Filter:
    """Test by one ranking call for all benchmarks, and a table made once."""
    table = np.array([rank_sum_table(w, m, m) for w in range(m * (2 * m + 1) + 1)] * (m < 12))

    def test(s: Array, b: Array) -> tuple[Array, Array]:
        w = rankdata(np.concatenate([s, b], axis=1), axis=1)[:, :m].sum(axis=1)
        v = m * (2 * m + 1) - w
        if table.size:
            return table[np.ceil(w).astype(int)], table[np.ceil(v).astype(int)]
        z = (w - m * (2 * m + 1) / 2) / np.sqrt(m * m * (2 * m + 1) / 12)
        return norm.sf(z), norm.cdf(z)

    return test


def step_search(a: Array, b: Array, test: Filter) -> float:
    """Go upwards from 1.000 by 0.001 until the first failure, and back one step."""
    n = a.shape[0]
    law = signed_rank_table if n < 25 else signed_rank_normal
    centre = np.median(b, axis=1)
    step = 1000
    while True:
        s = a / (step / 1000)
        greater, less = test(s, b)
        d = np.median(s, axis=1) - centre
        d[(greater > 0.05) & (less > 0.05)] = 0.0
        ranks = rankdata(np.abs(d))
        if law(ranks[d < 0].sum() + ranks[d == 0].sum() / 2, n) > 0.05:
            return (step - 1) / 1000
        step += 1


def timed(call: Callable[[], object]) -> float:
    """Give the seconds that a call takes."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def main(rounds: int) -> int:
    """Print one line for each suite; fail when a figure is missed."""
    failed = 0
    for name, (n, m, centre, wanted) in SUITES.items():
        a, b = suite(n, m, centre)
        ours, theirs = (
            PerformanceMatrix.from_samples(
                side, {str(k): rows[k] for k in range(n)}, better="higher"
            )
            for side, rows in (("a", a), ("b", b))
        )
        result = hpt_speedup(ours, theirs)
        lean = by_ranks(m)
        assert result.printed == f"{step_search(a, b, lean):.3f}"
        assert result.printed == f"{step_search(a, b, by_scipy):.3f}"
        exact, scipy, least = [], [], []
        for _ in range(rounds):
            exact += [timed(lambda: hpt_speedup(ours, theirs)) for _ in range(20)]  # noqa: B023 - called at once
            scipy.append(timed(lambda: step_search(a, b, by_scipy)))  # noqa: B023 - called at once
            least.append(timed(lambda: step_search(a, b, lean)))  # noqa: B023 - called at once
        one, other, low = (statistics.median(times) for times in (exact, scipy, least))
        failed += other / one < wanted
        print(
            f"{name}: supremum {result.value:.4f}; exact {one * 1e3:.2f} ms, step search "
            f"{other:.3f} s ({other / one:.0f}x; to reach {wanted:.0f}x), lean {low:.3f} s "
            f"({low / one:.0f}x)"
        )
    for benchmarks in (1, 5):
        for ties in ("table", "exact"):
            seconds, peak = many_runs(benchmarks, ties)
            failed += seconds > MOST_SECONDS or peak > MOST_BYTES
            print(
                f"fairtrial hpt --ties {ties}, {benchmarks} x {MANY:,} runs a side: "
                f"{seconds:.1f} s (to reach {MOST_SECONDS:.0f} s), peak {peak / 1e6:.0f} MB "
                f"(to reach {MOST_BYTES / 1e6:.0f} MB)"
            )
    return 1 if failed else 0


def many_runs(benchmarks: int, ties: str) -> tuple[float, float]:
    """Give the seconds and the peak bytes of the whole command on many runs."""
    rng = np.random.default_rng(SEED)
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for k in range(2):
            rows = rng.lognormal(0.1 * k, 0.03, (benchmarks, MANY))
            files.append(Path(folder, f"{'ab'[k]}.csv"))
            files[k].write_text("".join(",".join(map(repr, row)) + "\n" for row in rows.tolist()))
        command = [sys.executable, "-m", "harness", "hpt", *map(str, files)]
        start = time.perf_counter()
        process = subprocess.Popen(
            [*command, "--better", "lower", "--ties", ties], stdout=subprocess.DEVNULL
        )
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
    if status:
        raise SystemExit(f"fairtrial hpt ended with status {status}")
    return seconds, usage.ru_maxrss * 1024.0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 3))
