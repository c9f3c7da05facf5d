"""How much faster the bootstrap interval is than a plain loop in R, and BCa than scipy's.

A suite of 29 benchmarks x 30 runs, 10,000 resamples. R draws within each benchmark and side in a
loop (``r/bootstrap.R``, without its start-up and with the logarithms taken before); scipy gets all
58 samples at once and a vectorized statistic. All are warm, see the same suite and take turns; the
ratios of each round count. The peak memory is that of a process of its own, 100,000 resamples of
40 x 200.

Execute it by hand::

    OMP_NUM_THREADS=1 python tests/benchmarks/bootstrap.py [ROUNDS]

Figures to reach: 150x the loop in R, BCa 8x scipy, under 400 MB.
"""

from __future__ import annotations

import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy.stats import bootstrap

from analysis.data.matrix import PerformanceMatrix
from analysis.methods.resampling.bootstrap import bootstrap_speedup

SEED = 20261121
N, M, RESAMPLES = 29, 30, 10_000
R_TIMES, SCIPY_TIMES, MEGABYTES = 150.0, 8.0, 400.0
MEMORY = "memory"


def suite(n: int, m: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw times: the candidate is 1.3 times as fast, noise of 3 %."""
    rng = np.random.default_rng(SEED)
    level = rng.lognormal(0.0, 1.0, (n, 1))
    return level * rng.lognormal(0, 0.03, (n, m)), 1.3 * level * rng.lognormal(0, 0.03, (n, m))


def matrix(name: str, rows: np.ndarray) -> PerformanceMatrix:
    """Name the benchmarks by their number."""
    return PerformanceMatrix.from_samples(
        name, {str(k): row for k, row in enumerate(rows)}, better="lower"
    )


def by_scipy(a: np.ndarray, b: np.ndarray) -> tuple[float, float]:
    """Give scipy's BCa interval, the samples of both sides as 58 strata."""
    x, y = np.log(a), np.log(b)

    def statistic(*samples: np.ndarray, axis: int) -> np.ndarray:
        means = [sample.mean(axis=axis) for sample in samples]
        return np.exp((sum(means[N:]) - sum(means[:N])) / N)

    found = bootstrap(
        (*x, *y),
        statistic,
        vectorized=True,
        n_resamples=RESAMPLES,
        method="BCa",
        rng=np.random.default_rng(1),
    ).confidence_interval
    return float(found.low), float(found.high)


def by_r(files: list[str]) -> tuple[float, float, float]:
    """Give the seconds of R's loop, and its percentile interval."""
    script = Path(__file__).parent / "r" / "bootstrap.R"
    done = subprocess.run(
        ["Rscript", "--vanilla", str(script), *files, str(RESAMPLES)],
        capture_output=True,
        text=True,
        check=True,
    )
    seconds, low, high = map(float, done.stdout.split())
    return seconds, low, high


def timed(call: Callable[[], object]) -> float:
    """Give the seconds that a call takes."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def peak() -> None:
    """Print the peak memory of 100,000 resamples of 40 x 200, after every kind of interval."""
    a, b = (matrix(name, rows) for name, rows in zip("ab", suite(40, 200), strict=True))
    for interval, centre in (("percentile", "runs"), ("bca", "median"), ("studentized", "mean")):
        bootstrap_speedup(
            a,
            b,
            interval=interval,
            centre=centre,
            resamples=100_000,
            rng=np.random.default_rng(SEED),
        )
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def main(rounds: int) -> int:
    """Print the medians of the ratios; fail when a figure is missed."""
    a, b = suite(N, M)
    ours, theirs = matrix("a", a), matrix("b", b)

    def interval(kind: str) -> tuple[float, float]:
        found = bootstrap_speedup(
            ours, theirs, interval=kind, resamples=RESAMPLES, rng=np.random.default_rng(1)
        )
        return found.low, found.high

    percentile, bca = interval("percentile"), interval("bca")
    with_r = shutil.which("Rscript") is not None
    times: dict[str, list[float]] = {"r": [], "scipy": []}
    own: dict[str, list[float]] = {"percentile": [], "bca": []}
    with tempfile.TemporaryDirectory() as folder:
        files = [f"{folder}/{name}.csv" for name in "ab"]
        for file, rows in zip(files, (a, b), strict=True):
            np.savetxt(file, rows, delimiter=",", fmt="%.17g")
        assert np.allclose(by_scipy(a, b), bca, atol=5e-4, rtol=0)
        for _ in range(rounds):
            for kind, spent in own.items():
                spent.append(statistics.median(timed(lambda: interval(kind)) for _ in range(7)))  # noqa: B023 - called at once
            times["scipy"].append(timed(lambda: by_scipy(a, b)))
            if with_r:
                seconds, *ends = by_r(files)
                times["r"].append(seconds)
                assert np.allclose(ends, percentile, atol=5e-4, rtol=0)
    failed = False
    for name, kind, wanted in (("r", "percentile", R_TIMES), ("scipy", "bca", SCIPY_TIMES)):
        if not times[name]:
            print("Rscript is not installed: the loop in R was not measured")
            continue
        faster = statistics.median(t / o for t, o in zip(times[name], own[kind], strict=True))
        failed |= faster < wanted
        print(
            f"{kind}: {statistics.median(own[kind]) * 1e3:.1f} ms, {name} "
            f"{statistics.median(times[name]):.3f} s ({faster:.0f}x; to reach {wanted:.0f}x)"
        )
    done = subprocess.run(
        [sys.executable, __file__, MEMORY], capture_output=True, text=True, check=True
    )
    megabytes = float(done.stdout)
    failed |= megabytes > MEGABYTES
    print(f"peak memory {megabytes:.0f} MB (at most {MEGABYTES:.0f} MB)")
    return 1 if failed else 0


if __name__ == "__main__":
    if sys.argv[1:] == [MEMORY]:
        peak()
    else:
        sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 3))
