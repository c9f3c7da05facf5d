"""How fast the randomization test is, and how much memory it takes.

The rivals are the published test as a plain loop: in R (``r/randomization.R``, every benchmark
shuffled by ``sample``) and in numpy (``Generator.permuted``, all benchmarks of one resample at
once). All see the same suite of 13 benchmarks x 5 runs, in turns, on one core; the ratio of the
times for one resample counts. Our time is the whole public call, from matrices to the result. The
p-values of all must agree within Monte Carlo error.

The memory is the peak of a process of its own that does 100,000 resamples of 40 x 200 with every
unit, mean and centre, also with rounds that lack runs.

Execute it by hand::

    python tests/benchmarks/randomization.py [ROUNDS]

Figures to reach: 80x the R loop, 20x the numpy loop, and a peak under 400 MB.
"""

from __future__ import annotations

import itertools
import math
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from analysis.data.matrix import PerformanceMatrix
from analysis.data.pair import CENTRES, MEANS
from analysis.methods.resampling.randomization import randomization_test

SEED = 20261121
N, M = 13, 5
R_LOOP = Path(__file__).parent / "r" / "randomization.R"
R_RESAMPLES, NUMPY_RESAMPLES = 2000, 4000
OURS = {"single runs": ("run", 10_000), "single runs, more": ("run", 100_000)}
WANTED = {"R loop": 80.0, "numpy loop": 20.0}
MEGABYTES = 400.0


def pooled() -> np.ndarray:
    """Draw the suite: noise of 2 %, and a difference of 0.3 %."""
    rng = np.random.default_rng(SEED)
    values = rng.lognormal(1.0, 0.5, (N, 1)) * rng.lognormal(0, 0.02, (N, 2 * M))
    values[:, :M] *= 1.003
    return values


def matrices(pool: np.ndarray) -> tuple[PerformanceMatrix, PerformanceMatrix]:
    """Give the two sides."""
    m = pool.shape[1] // 2
    return tuple(  # type: ignore[return-value]
        PerformanceMatrix.from_samples(
            name, {f"b{k}": row[part] for k, row in enumerate(pool)}, better="higher"
        )
        for name, part in (("a", slice(m)), ("b", slice(m, None)))
    )


def by_numpy(pool: np.ndarray, resamples: int, rng: np.random.Generator) -> tuple[float, float]:
    """Give the seconds for one resample of the plain loop, and p."""

    def ratio(values: np.ndarray) -> float:
        return math.exp(np.log(values[:, :M]).mean()) / math.exp(np.log(values[:, M:]).mean())

    start = time.perf_counter()
    null = np.array([ratio(rng.permuted(pool, axis=1)) for _ in range(resamples)])
    seconds = time.perf_counter() - start
    above, below = (
        (int(hits.sum()) + 1) / (resamples + 1)
        for hits in (null >= ratio(pool), null <= ratio(pool))
    )
    return seconds / resamples, min(1.0, 2 * min(above, below))


def by_r(file: Path, resamples: int, seed: int) -> tuple[float, float]:
    """Give the seconds for one resample of the loop in R, without its start, and p."""
    done = subprocess.run(
        ["Rscript", str(R_LOOP), str(file), str(resamples), str(seed)],
        capture_output=True,
        text=True,
        check=True,
    )
    seconds, pvalue = map(float, done.stdout.split())
    return seconds / resamples, pvalue


def speed(rounds: int) -> int:
    """Print the times of all, measured in turns; count the figures that are missed."""
    pool = pooled()
    a, b = matrices(pool)
    reference = randomization_test(a, b, resamples=1_000_000, rng=np.random.default_rng(0)).pvalue
    times: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "pool.csv"
        np.savetxt(file, pool, delimiter=",", fmt="%.17g")
        for k in range(rounds):
            found = {"numpy loop": by_numpy(pool, NUMPY_RESAMPLES, np.random.default_rng(k))}
            if shutil.which("Rscript"):
                found["R loop"] = by_r(file, R_RESAMPLES, k)
            for name, (unit, resamples) in OURS.items():
                start = time.perf_counter()
                result = randomization_test(
                    a, b, unit=unit, resamples=resamples, rng=np.random.default_rng(k)
                )
                found[name] = (time.perf_counter() - start) / resamples, result.pvalue
            for name, (seconds, pvalue) in found.items():
                times.setdefault(name, []).append(seconds)
                fewest = min(R_RESAMPLES, NUMPY_RESAMPLES)
                assert abs(pvalue - reference) < 6 * math.sqrt(reference / fewest), (name, pvalue)
    missed = 0
    for ours in OURS:
        print(f"{ours}: {1e9 * statistics.median(times[ours]):.0f} ns a resample")
        for rival, wanted in WANTED.items():
            if rival not in times:
                print(f"  {rival}: not measured, Rscript is not there")
                continue
            ratios = [t / o for t, o in zip(times[rival], times[ours], strict=True)]
            ratio = statistics.median(ratios)
            missed += ratio < wanted
            print(
                f"  {rival}: {1e6 * statistics.median(times[rival]):.1f} us, {ratio:.0f}x "
                f"[{min(ratios):.0f}, {max(ratios):.0f}] (to reach {wanted:.0f}x)"
            )
    return missed


def memory() -> None:
    """Do the largest tests one after the other; print the time of each and the peak."""
    rng = np.random.default_rng(SEED)
    n, m = 40, 200

    def side(name: str, first: int, *, whole: bool) -> PerformanceMatrix:
        rounds = [range(first, first + m - (0 if whole else k % 3)) for k in range(n)]
        return PerformanceMatrix.from_samples(
            name,
            {f"b{k}": rng.lognormal(0, 0.05, len(ids)) for k, ids in enumerate(rounds)},
            better="lower",
            blocks={f"b{k}": list(ids) for k, ids in enumerate(rounds)},
            sessions={f"b{k}": [x // 10 for x in ids] for k, ids in enumerate(rounds)},
        )

    for whole, unit in itertools.product((True, False), ("run", "block", "session")):
        a, b = side("a", 0, whole=whole), side("b", m, whole=whole)
        spent = []
        for mean, centre in itertools.product(MEANS, CENTRES):
            start = time.perf_counter()
            randomization_test(
                a, b, mean=mean, centre=centre, unit=unit, resamples=100_000, rng=rng
            )
            spent.append(time.perf_counter() - start)
        print(
            f"40 x 200, unit {unit}, {'no' if whole else 'some'} runs missing: 100,000 resamples "
            f"in {min(spent):.2f} to {max(spent):.2f} s"
        )
    print(f"peak {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f}")


def main(rounds: int) -> int:
    """Measure the speed here and the memory in a process of its own."""
    missed = speed(rounds)
    done = subprocess.run(
        [sys.executable, __file__, "--memory"],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    )
    *lines, last = done.stdout.splitlines()
    peak = float(last.removeprefix("peak "))
    print(*lines, f"peak memory {peak:.0f} MB (to stay under {MEGABYTES:.0f} MB)", sep="\n")
    return 1 if missed or peak >= MEGABYTES else 0


if __name__ == "__main__":
    if sys.argv[1:] == ["--memory"]:
        memory()
    else:
        sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 7))
