"""How much faster `fit_mixture` is than R's mclust, which makes the same tables.

Both fit the same samples (half of them one Gaussian, half of them two modes), all 18 candidates,
on one core, warm, in turns within one run: a round of R, a round of ours. Our time is that of the
whole call `fit_mixture`, theirs that of `mclustBIC` alone. The ratio of medians over all samples
and rounds counts. In the same run the BIC tables must agree to 1e-8.

Execute it by hand, where R and mclust are installed::

    python tests/benchmarks/mixture_fit.py [ROUNDS]

Figures to reach: 10x at n = 35, 100 and 1,000.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from analysis.methods.mixture.fit import fit_mixture

SIZES = {35: 40, 100: 20, 1000: 8}  # values of a sample: samples
WANTED = 10.0
AGREEMENT = 1e-8
SEED = 20261121
SERVER = Path(__file__).parent / "r" / "mixture_fit.R"


def samples(n: int, count: int) -> list[np.ndarray]:
    """Draw samples, by turns of one Gaussian and of two."""
    rng = np.random.default_rng([SEED, n])
    second = [rng.random(n) < 0.4 * (k % 2) for k in range(count)]
    return [np.where(b, rng.normal(106, 1, n), rng.normal(100, 2, n)) for b in second]


class Mclust:
    """An R process that stays alive, so that it is warm."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            ["Rscript", "--vanilla", str(SERVER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, what: str, file: Path) -> np.ndarray:
        """Give the numbers that R answers."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{what} {file}\n")
        self._process.stdin.flush()
        return np.array([float(word) for word in self._process.stdout.readline().split()])

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def table(values: np.ndarray) -> np.ndarray:
    """Give our 18 BICs in R's order."""
    found = fit_mixture(values).bic_table
    assert found is not None
    return np.array(found["E"] + found["V"])


def timed(values: np.ndarray) -> float:
    """Give the seconds that one whole call takes."""
    start = time.perf_counter()
    fit_mixture(values)
    return time.perf_counter() - start


def main(rounds: int) -> int:
    """Print one line for each n; fail when a figure is missed or tables differ."""
    failed, r = 0, Mclust()
    with tempfile.TemporaryDirectory() as folder:
        for n, count in SIZES.items():
            xs = samples(n, count)
            file = Path(folder) / f"{n}.csv"
            file.write_text("\n".join(",".join(repr(float(v)) for v in x) for x in xs) + "\n")
            theirs = r.ask("tables", file)
            ours = np.concatenate([table(x) for x in xs])
            assert (np.isnan(theirs) == np.isnan(ours)).all(), "other candidates are discarded"
            difference = float(np.nanmax(np.abs(ours / theirs - 1)))
            slow, fast = [], []
            for _ in range(rounds):
                slow += r.ask("time", file).tolist()
                fast += [timed(x) for x in xs]
            ratio = statistics.median(slow) / statistics.median(fast)
            failed += ratio < WANTED or difference > AGREEMENT
            print(
                f"n = {n}: mclust {statistics.median(slow) * 1e3:.2f} ms, ours "
                f"{statistics.median(fast) * 1e3:.3f} ms ({ratio:.1f}x; to reach {WANTED:.0f}x); "
                f"tables agree to {difference:.1e}"
            )
    r.close()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 7))
