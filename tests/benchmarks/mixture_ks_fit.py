"""How much faster `ks_fit` is than the same loop in R over mclust, on one core and on two.

Both draw 500 samples of 100 values from the same fit, fit each anew (18 candidates), and take the
distances: R's `Mclust` in one process, ours with one thread and with two, in turns within one run.
Our time is that of the whole call, theirs that of the loop alone. The ratio of medians counts. In
the same run the distances must agree to 1e-8, and the p-values within 4 standard errors.

Execute it by hand, where R and mclust are installed::

    python tests/benchmarks/mixture_ks_fit.py [ROUNDS]

Figures to reach: 12x on one core, 22x on two.
"""

from __future__ import annotations

import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from analysis.methods.mixture.fit import fit_mixture
from analysis.methods.mixture.goodness import ks_fit
from analysis.stats.workers import available_cores

N, RESAMPLES, SEED = 100, 500, 20261121
WANTED = {1: 12.0, 2: 22.0}  # threads: ratio
SERVER = Path(__file__).parent / "r" / "mixture_ks_fit.R"


def samples() -> dict[str, np.ndarray]:
    """Draw one sample of one Gaussian and one of two."""
    rng = np.random.default_rng(SEED)
    second = rng.random(N) < 0.4
    two = np.where(second, rng.normal(106, 1, N), rng.normal(100, 2, N))
    return {"one Gaussian": rng.normal(100, 2, N), "two Gaussians": two}


def main(rounds: int) -> int:
    """Print one line for each sample; fail when a figure is missed or results differ."""
    environment = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    r = subprocess.Popen(
        ["Rscript", "--vanilla", str(SERVER)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    )
    assert r.stdin is not None
    assert r.stdout is not None
    failed = 0
    cores = [threads for threads in WANTED if threads <= available_cores()]
    with tempfile.TemporaryDirectory() as folder:
        for name, x in samples().items():
            file = Path(folder) / "values.csv"
            file.write_text(",".join(repr(float(v)) for v in x) + "\n")
            mixture = fit_mixture(x)
            ks_fit(x, mixture, resamples=10, rng=np.random.default_rng(1))
            theirs, shares = [], []
            ours: dict[int, list[float]] = {threads: [] for threads in cores}
            for turn in range(rounds):
                r.stdin.write(f"test {file} {RESAMPLES} {turn + 1}\n")
                r.stdin.flush()
                seconds, distance, share = (float(w) for w in r.stdout.readline().split())
                theirs.append(seconds)
                for threads in cores * 3:
                    start = time.perf_counter()
                    found = ks_fit(
                        x,
                        mixture,
                        resamples=RESAMPLES,
                        rng=np.random.default_rng(turn),
                        workers=threads,
                    )
                    ours[threads].append(time.perf_counter() - start)
                assert abs(found.statistic / distance - 1) < 1e-8
                shares.append((share, found.pvalue_published))
            p, q = np.mean(shares, axis=0)
            error = math.sqrt((p * (1 - p) + q * (1 - q)) / (RESAMPLES * rounds) + 1e-9)
            assert abs(p - q) < 4 * error, f"p-values differ: {p} and {q}"
            slow = statistics.median(theirs)
            said = []
            for threads, times in ours.items():
                ratio = slow / statistics.median(times)
                failed += ratio < WANTED[threads]
                said.append(
                    f"{threads} thread(s) {statistics.median(times):.3f} s ({ratio:.1f}x; to reach "
                    f"{WANTED[threads]:.0f}x)"
                )
            print(f"{name}: R {slow:.2f} s; {', '.join(said)}; p {p:.3f} and {q:.3f}", flush=True)
    r.stdin.close()
    r.wait()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 3))
