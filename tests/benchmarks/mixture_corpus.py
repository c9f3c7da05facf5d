"""How long a corpus takes: 2,400 samples of 35 values, fitted and fit-tested with 200 resamples.

The samples are by turns one Gaussian, two modes, a lognormal, and two modes on a coarse clock.
The bar on stderr is the progress callback's.

Execute it by hand::

    python tests/benchmarks/mixture_corpus.py [SAMPLES] [THREADS]

Figure to reach: 2,400 samples in less than 5 minutes on two cores.
"""

from __future__ import annotations

import sys
import time

import numpy as np

from analysis.methods.mixture.goodness.corpus import fit_corpus

VALUES, RESAMPLES, SEED = 35, 200, 20261121
WHOLE, LIMIT = 2400, 300.0  # samples, seconds


def sample(k: int) -> np.ndarray:
    """Draw the k-th sample."""
    rng = np.random.default_rng([SEED, k])
    if k % 4 == 2:
        return rng.lognormal(0, 1, VALUES)
    x = rng.normal(100, 1, VALUES) + (k % 4 > 0) * 5 * (rng.random(VALUES) < 0.4)
    return np.round(x, 1) if k % 4 == 3 else x


def bar(done: int, total: int) -> None:
    """Draw the bar anew."""
    filled = 40 * done // total
    sys.stderr.write(f"\r[{'#' * filled}{' ' * (40 - filled)}] {done} of {total}")
    sys.stderr.flush()


def main(count: int, threads: int) -> int:
    """Print the seconds; fail when the whole corpus would take longer than the limit."""
    list(fit_corpus({"warm": sample(0)}, resamples=2, rng=np.random.default_rng(1)))
    samples = {f"{k}": sample(k) for k in range(count)}
    start = time.perf_counter()
    rows = list(
        fit_corpus(
            samples,
            resamples=RESAMPLES,
            rng=np.random.default_rng(SEED),
            workers=threads,
            progress=bar,
        )
    )
    seconds = time.perf_counter() - start
    sys.stderr.write("\n")
    rejected = sum(row.test is not None and row.test.rejected() for row in rows)
    whole = seconds * WHOLE / count
    print(
        f"{count} samples in {seconds:.1f} s on {threads} threads, {rejected} rejected; {WHOLE} take "
        f"{whole:.0f} s (to stay below {LIMIT:.0f} s)"
    )
    return 1 if whole >= LIMIT else 0


if __name__ == "__main__":
    arguments = [int(word) for word in sys.argv[1:]]
    sys.exit(main(*(arguments + [WHOLE, 2][len(arguments) :])))
