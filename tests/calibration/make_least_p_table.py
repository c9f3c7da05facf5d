"""Simulate the law of the least p over all windows of ranks, for series without a change.

Series are permutations: ranks are all that counts, so the law holds for every continuous law of the
values. Writes the quantiles of each length to analysis/history/least_p.json.

python tests/calibration/make_least_p_table.py [--series 100000] [--seed 20261127]
"""

from __future__ import annotations

import argparse
import json
import math
import time

import numba
import numpy as np

from analysis.history.changes import GRID, LENGTHS, TABLE, pvalues
from analysis.registry import shipped

# shares of series, densest where risks lie, and down to one series in 20,000
SHARES = (
    *(0.00005 * 1.25**k for k in range(28)),
    *(0.025 + 0.0025 * k for k in range(31)),
    *(0.11 + 0.01 * k for k in range(19)),
    *(0.30 + 0.05 * k for k in range(14)),
)


@numba.njit
def _farthest(order: np.ndarray, grid: np.ndarray, sums: np.ndarray, far: np.ndarray) -> None:
    n = order.size
    for i in range(n):
        row = 0
        for j in range(n):
            row += 1 if order[j] > order[i] else (-1 if order[j] < order[i] else 0)
            sums[i + 1, j + 1] = sums[i, j + 1] + row
    far[:] = 0
    for s in range(grid.size):
        a = grid[s]
        for t in range(grid.size):
            b = grid[t]
            most = 0
            for k in range(a, n - b + 1):
                total = sums[k, k + b] - sums[k - a, k + b] - sums[k, k] + sums[k - a, k]
                most = max(most, abs(total))
            far[s, t] = most


def least_p(n: int, series: int, rng: np.random.Generator) -> np.ndarray:
    """Give the least p of so many series of n values without a change."""
    grid = np.array([one for one in GRID if one < n])
    lookup = {}
    for a in grid.tolist():
        for b in grid.tolist():
            if a + b <= n:
                lookup[a, b] = pvalues(np.arange(a * b + 1), a, b)
    pairs = [
        (s, t, lookup[a, b])
        for s, a in enumerate(grid.tolist())
        for t, b in enumerate(grid.tolist())
        if (a, b) in lookup
    ]
    sums = np.zeros((n + 1, n + 1), dtype=np.int32)
    far = np.zeros((grid.size, grid.size), dtype=np.int32)
    found = np.ones(series)
    for k in range(series):
        _farthest(rng.permutation(n), grid, sums, far)
        found[k] = min(p[far[s, t]] for s, t, p in pairs)
    return np.sort(found)


def quantiles(found: np.ndarray) -> list[float]:
    """Give for each share the largest p that so few series, or fewer, have or go below."""
    kept = []
    for share in SHARES:
        count = math.floor(share * found.size + 1e-9)
        # all series with the same p count: the largest value whose whole group fits
        while 0 < count < found.size and found[count] == found[count - 1]:
            count -= 1
        kept.append(float(f"{found[count - 1]:.6g}") if count else 0.0)
    return kept


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--series", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=20261127)
    options = parser.parse_args()
    lengths = {}
    for n in LENGTHS:
        begun = time.monotonic()
        rng = np.random.default_rng([options.seed, n])
        lengths[str(n)] = quantiles(least_p(n, options.series, rng))
        print(
            f"{n} values: p* at 5 % {np.interp(0.05, SHARES, lengths[str(n)]):.3g}, {time.monotonic() - begun:.0f} s",
            flush=True,
        )
    table = {
        "seed": options.seed,
        "series": options.series,
        "shares": [float(f"{share:.6g}") for share in SHARES],
        "least_p": lengths,
    }
    shipped(TABLE).write_text(json.dumps(table) + "\n")


if __name__ == "__main__":
    main()
