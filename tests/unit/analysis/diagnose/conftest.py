"""Simulated tables of runs, as an interleaved trial gives them."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from analysis.diagnose.cell_tests import RunTable

Floats = NDArray[np.float64]


def _simulated(
    rng: np.random.Generator,
    *,
    benchmarks: int = 4,
    variants: int = 2,
    sessions: int = 3,
    runs: int = 10,
    effect: Callable[[RunTable], Floats] | None = None,
    ordered: bool = True,
) -> RunTable:
    """Simulate: in each block all cells once, in random order; `effect` is added to the logs."""
    cells = [(b, v) for b in range(benchmarks) for v in range(variants)]
    rows = [
        (*cells[k], s, r)
        for s in range(sessions)
        for r in range(runs)
        for k in rng.permutation(len(cells))
    ]
    b, v, s, r = (np.array(column, dtype=np.int64) for column in zip(*rows, strict=True))
    logs = rng.normal(0, 0.05, b.size) + 0.7 * b + 0.3 * v

    def table(values: Floats) -> RunTable:
        return RunTable(
            benchmarks=tuple(f"b{k}" for k in range(benchmarks)),
            variants=tuple(f"v{k}" for k in range(variants)),
            sessions=tuple(range(1, sessions + 1)),
            values=values,
            benchmark=b,
            variant=v,
            session=s,
            block=r,
            start_s=np.arange(b.size) * 0.1,
            ordered=ordered,
        )

    more = 0.0 if effect is None else effect(table(np.exp(logs)))
    return table(np.exp(logs + more))


@pytest.fixture
def simulated() -> Callable[..., RunTable]:
    """Give the simulator: `simulated(rng, benchmarks=4, variants=2, sessions=3, runs=10, ...)`."""
    return _simulated
