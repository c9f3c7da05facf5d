"""Make the table of `analysis/stats/multiplicity.py`: risk of all looks together -> nominal risk of each.

Session differences of one normal law, of which nothing else is known, make a path of t at the looks; t is
free of their scale. The least two-sided p over the looks is then a random variable, and its quantile at
the risk of all looks is the nominal risk of each. A stretch of sessions between two looks is drawn by its
mean and its sum of squares, which are independent, so millions of paths take a minute. Prints the tables as they
stand in the module:

    python tests/calibration/make_looks_table.py
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from scipy.special import stdtr

from analysis.record.trial_files import LOOKS, OPEN_LOOKS
from analysis.stats.samples import Array

SEED = (29, 1)
PATHS = 16_000_000
AT_ONCE = 200_000
RISKS = (
    *(0.0001, 0.0002, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.0125, 0.05 / 3, 0.025),
    *(0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.93, 0.96, 0.98, 0.99),
)


def least_pvalues(looks: tuple[int, ...], paths: int, rng: np.random.Generator) -> Array:
    """Give the least p of t over the looks of so many paths."""
    total, squares = np.zeros(paths), np.zeros(paths)
    least = np.ones(paths)
    before = 0
    for n in looks:
        more = n - before
        part = rng.standard_normal(paths) * np.sqrt(more)
        within = 2.0 * rng.standard_gamma((more - 1) / 2, paths) if more > 1 else 0.0
        squares += part**2 / more + within
        total += part
        spread = np.maximum(squares - total**2 / n, 1e-300)
        t = np.abs(total) / np.sqrt(n * spread / (n - 1))
        np.minimum(least, 2.0 * stdtr(n - 1, -t), out=least)
        before = n
    return least


def nominal(looks: tuple[int, ...], paths: int = PATHS) -> list[tuple[float, float]]:
    """Give risk and nominal risk of a list of looks."""
    rng = np.random.default_rng([*SEED, len(looks)])
    least = np.concatenate(
        [least_pvalues(looks, AT_ONCE, rng).astype(np.float32) for _ in range(paths // AT_ONCE)]
    )
    return [(risk, float(np.quantile(least, risk))) for risk in RISKS]


def main() -> None:
    """Print the table of both lists."""
    print(f"made by {Path(__file__).name}: {PATHS:,} paths", file=sys.stderr)
    both = zip(nominal(LOOKS), nominal(OPEN_LOOKS), strict=True)
    rows = "".join(
        f"    ({risk:.8g}, {one:.4g}, {other:.4g}),\n" for (risk, one), (_, other) in both
    )
    print(f"_NOMINAL = (\n{rows})")


if __name__ == "__main__":
    main()
