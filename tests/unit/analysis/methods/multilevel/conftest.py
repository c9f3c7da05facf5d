"""Matrices of any design, and the formulas of the method written anew, plainly, run by run."""

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest

from analysis.data.matrix import PerformanceMatrix

Run = tuple[str, Any, Any, float]  # benchmark, session, block, value


def of_runs(name: str, runs: Iterable[Run], **more: Any) -> PerformanceMatrix:
    columns: dict[str, tuple[list[Any], list[Any], list[float]]] = {}
    for bench, session, block, value in runs:
        for column, entry in zip(
            columns.setdefault(bench, ([], [], [])), (session, block, value), strict=True
        ):
            column.append(entry)
    return PerformanceMatrix.from_samples(
        name,
        {bench: column[2] for bench, column in columns.items()},
        better=more.pop("better", "lower"),
        sessions={bench: column[0] for bench, column in columns.items()},
        blocks={bench: column[1] for bench, column in columns.items()},
        **more,
    )


@pytest.fixture
def matrix_of() -> Callable[..., PerformanceMatrix]:
    return of_runs


@pytest.fixture
def noisy() -> Callable[..., list[Run]]:
    """Give runs of benchmarks x sessions x blocks: log-normal, with a shift of each session."""

    def make(
        seed: int,
        benchmarks: int = 3,
        sessions: Iterable[Any] = (1, 2, 3, 4),
        blocks: int = 5,
        shift: float = 0.0,
        drop: float = 0.0,
    ) -> list[Run]:
        rng = np.random.default_rng(seed)
        return [
            (f"b{b}", s, f"{s}.{k}", math.exp(shift + tau + rng.normal(0, 0.05)))
            for b in range(benchmarks)
            for s in sessions
            for tau in [rng.normal(0, 0.03)]
            for k in range(blocks)
            if rng.random() >= drop
        ]

    return make
