"""How long `sources_of_table` takes for a large table of systems.

The table is simulated: 4,818 rows, 28 columns of numbers and 12 of levels (2 to 600), 5 % of the
cells unknown, 300 families. Splits at random and by families, ten folds each, at most 200 trees,
importance by permutation ten times. Seconds of wall and of processor, and where they go.

Execute it by hand, on a machine with two idle cores::

    python tests/benchmarks/sources_table.py

Figure to reach: 60 s.
"""

from __future__ import annotations

import time

import numpy as np

from analysis.methods.variance_sources.systems import sources_of_table

ROWS, FAMILIES, SEED = 4818, 300, 20261121
LEVELS = (2, 3, 5, 8, 12, 20, 40, 60, 100, 150, 300, 600)
WANTED_S = 60.0


def table() -> dict[str, list[object]]:
    """Simulate the table: the response follows five of the covariates."""
    rng = np.random.default_rng(SEED)
    family = rng.integers(0, FAMILIES, ROWS)
    x = rng.normal(size=(FAMILIES, 28))[family] + 0.3 * rng.normal(size=(ROWS, 28))
    levels = {f"c{count}": rng.integers(0, count, ROWS) for count in LEVELS}
    y = x[:, 0] + 0.5 * x[:, 1] ** 2 + 0.3 * x[:, 2] * x[:, 3] + levels["c8"] % 2
    y += 0.3 * rng.normal(size=ROWS)
    x[rng.random(x.shape) < 0.05] = np.nan
    return {
        "y": y.tolist(),
        "family": [f"f{k}" for k in family],
        **{f"n{k}": column.tolist() for k, column in enumerate(x.T)},
        **{name: [f"l{k}" for k in codes] for name, codes in levels.items()},
    }


def main() -> None:
    """Print the figures."""
    columns = table()
    stamps: list[float] = []
    began, used = time.perf_counter(), time.process_time()
    found = sources_of_table(
        columns,
        "y",
        group="family",
        progress=lambda _done, _total: stamps.append(time.perf_counter()),
        rng=np.random.default_rng(1),
    )
    wall, cpu = time.perf_counter() - began, time.process_time() - used
    parts = [end - start for start, end in zip([began, *stamps], stamps, strict=False)]
    print(f"{ROWS:,} rows x {len(columns) - 2} covariates: {wall:.1f} s, {cpu:.1f} s of processor")
    print(f"  random folds {sum(parts[:10]):.1f} s, grouped {sum(parts[10:20]):.1f} s, ", end="")
    print(f"importance {sum(parts[20:]):.1f} s; figure to reach: {WANTED_S:.0f} s")
    print(f"  correlation {found.correlation:.3f}, grouped {found.correlation_grouped:.3f}")


if __name__ == "__main__":
    main()
