"""How much faster `fit_mixture_of_metrics` is than R's mclust, by number of metrics.

Both fit the same samples (one to three clusters), all 126 candidates, on one core, warm, in turns
within one run: a round of R, a round of ours. Our time is that of the whole call, theirs that of
`mclustBIC` alone. The ratio of medians over all samples and rounds counts. In the same run the BIC
tables must agree to 1e-8 where no class of the start has as few runs as there are metrics (it then
is rounding error which way a class lies).

Execute it by hand, where R and mclust are installed::

    python tests/benchmarks/mixture_metrics.py [ROUNDS]

Figure to reach: 1x for every number of metrics.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from mixture_fit import Mclust

from analysis.methods.mixture.metrics_fit import MODELS, fit_mixture_of_metrics, start_classes

SHAPES = [(2, 100), (3, 60), (3, 300), (4, 100), (5, 100), (5, 300), (8, 300)]  # metrics, runs
SAMPLES = 6
WANTED = 1.0
AGREEMENT = 1e-8
SEED = 20261124


def drawn(metrics: int, n: int) -> list[np.ndarray]:
    """Draw samples, by turns of one to three clusters."""
    rng = np.random.default_rng([SEED, metrics, n])
    found = []
    for i in range(SAMPLES):
        clusters = 1 + i % 3
        x, of = rng.normal(size=(n, metrics)), np.arange(n) % clusters
        for k in range(clusters):
            turn = rng.normal(size=(metrics, metrics))
            x[of == k] = x[of == k] @ turn + 4 * rng.normal(size=metrics)
        found.append(x)
    return found


def table(values: np.ndarray) -> np.ndarray:
    """Give our 126 BICs in R's order."""
    found = fit_mixture_of_metrics(values).bic_table
    assert found is not None
    return np.concatenate([found[model] for model in MODELS])


def settled(values: np.ndarray) -> np.ndarray:
    """Tell which of them do not hang on rounding."""
    classes = start_classes(values.T.copy(), 9)
    large = [np.bincount(row).min() > values.shape[1] for row in classes]
    return np.tile(large, len(MODELS))


def timed(values: np.ndarray) -> float:
    """Give the seconds that one whole call takes."""
    start = time.perf_counter()
    fit_mixture_of_metrics(values)
    return time.perf_counter() - start


def main(rounds: int) -> int:
    """Print one line for each shape; fail when a figure is missed or tables differ."""
    failed, r = 0, Mclust()
    with tempfile.TemporaryDirectory() as folder:
        for metrics, n in SHAPES:
            xs = drawn(metrics, n)
            file = Path(folder) / f"{metrics}-{n}.csv"
            file.write_text("\n".join(",".join(repr(float(v)) for v in x.ravel()) for x in xs))
            asked = f"{file} {metrics}"
            theirs = r.ask("tables", Path(asked))
            ours = np.concatenate([table(x) for x in xs])
            sure = np.concatenate([settled(x) for x in xs])
            other = (np.isnan(theirs) != np.isnan(ours)) & sure
            difference = float(np.nanmax(np.abs(ours / theirs - 1)[sure]))
            slow, fast = [], []
            for _ in range(rounds):
                slow += r.ask("time", Path(asked)).tolist()
                fast += [timed(x) for x in xs]
            ratio = statistics.median(slow) / statistics.median(fast)
            failed += ratio < WANTED or difference > AGREEMENT or bool(other.any())
            print(
                f"{metrics} metrics, n = {n}: mclust {statistics.median(slow) * 1e3:.1f} ms, ours "
                f"{statistics.median(fast) * 1e3:.1f} ms ({ratio:.1f}x; to reach {WANTED:.0f}x); "
                f"{int(sure.sum())} of {sure.size} BICs agree to {difference:.1e}",
                flush=True,
            )
    r.close()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 3))
