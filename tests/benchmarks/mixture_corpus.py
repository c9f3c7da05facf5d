"""How long a corpus takes: 2,400 samples of 35 values, fitted and fit-tested with 200 resamples.

The samples are by turns one Gaussian, two modes, a lognormal, and two modes on a coarse clock. They are
done in ten portions, each by one worker, by two threads and by two processes in turns, so that whatever
else the machine does meets all three. Kernels are compiled and processes started before; all three must
give the same bytes.

Execute it by hand, on two idle cores::

    python tests/benchmarks/mixture_corpus.py [SAMPLES]

Figures to reach: two threads, and two processes, at least 1.8 times as fast as one worker; 2,400 samples
in less than 5 minutes on two cores.
"""

from __future__ import annotations

import itertools
import json
import sys
import time
from collections.abc import Mapping

import joblib
import numpy as np

from analysis.methods.mixture.goodness import fit_corpus

VALUES, RESAMPLES, SEED = 35, 200, 20261121
WHOLE, LIMIT = 2400, 300.0  # samples, seconds
PORTIONS, WANTED = 10, 1.8
PLACES = {"one worker": ("loky", 1), "two threads": ("threading", 2), "two processes": ("loky", 2)}


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


def fitted(samples: Mapping[str, np.ndarray], place: str, resamples: int = RESAMPLES) -> str:
    """Give all that is said of some samples."""
    backend, count = PLACES[place]
    with joblib.parallel_config(backend=backend, n_jobs=count):
        rng = np.random.default_rng(SEED)
        rows = fit_corpus(samples, resamples=resamples, rng=rng)
        return json.dumps([row.to_dict() for row in rows])


def main(count: int) -> int:
    """Print the seconds and ratios; fail when a figure is missed or results differ."""
    for place in PLACES:
        fitted({f"warm {k}": sample(k) for k in range(4)}, place, 2)
    times = dict.fromkeys(PLACES, 0.0)
    cuts = np.linspace(0, count, min(PORTIONS, count) + 1).astype(int).tolist()
    for low, high in itertools.pairwise(cuts):
        samples = {f"{k}": sample(k) for k in range(low, high)}
        said = set()
        for place in PLACES:
            start = time.perf_counter()
            said.add(fitted(samples, place))
            times[place] += time.perf_counter() - start
        assert len(said) == 1, "the places differ"
        bar(high, count)
    sys.stderr.write("\n")
    missed = 0
    for place, seconds in times.items():
        ratio = times["one worker"] / seconds
        whole = seconds * WHOLE / count
        print(f"{place}: {count} samples in {seconds:.1f} s ({WHOLE}: {whole:.0f} s), {ratio:.2f}x")
        missed += place != "one worker" and (ratio < WANTED or whole >= LIMIT)
    print(f"to reach: {WANTED}x, and {WHOLE} in {LIMIT:.0f} s on two cores")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else WHOLE))
