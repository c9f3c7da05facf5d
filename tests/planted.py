"""Trials in memory, with runs of known noise and known factors: for tests and calibrations.

Loaded by path, as tests are no package. A frame has the order of a measured trial (blocks of all cells,
shuffled anew) and random padding; `filled` gives it values.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.data.columns import MetricColumn
from analysis.data.trial import Trial
from analysis.record.run_numbers import NUMBERS
from analysis.record.trial_files import Manifest

Floats = NDArray[np.float64]
SD = 0.05  # of the logarithms of runs


def frame(
    rng: np.random.Generator,
    *,
    sessions: int = 3,
    runs: int = 30,
    benchmarks: int = 1,
    variants: int = 1,
    name: str = "planted",
    host: str = "host",
    shuffled: bool = True,
) -> Trial:
    """Give a trial whose runs have an order and padding, and no values yet."""
    cells, blocks = benchmarks * variants, sessions * runs
    turn = [rng.permutation(cells) if shuffled else np.arange(cells) for _ in range(blocks)]
    cell = np.concatenate(turn).astype(np.int64)
    n = cell.size
    zeros = np.zeros(n, dtype=np.int64)
    numbers = {key: np.full(n, np.nan) for key in NUMBERS if key != "start_ns"}
    numbers["padding_bytes"] = rng.integers(0, 4096, n).astype(np.float64)
    names = tuple(f"v{k}" for k in range(variants))
    manifest = Manifest(
        trial=name,
        tool_version="1",
        campaign_name="planted",
        campaign_sha256="0",
        campaign_path="planted.yaml",
        baseline=names[0],
        variants=names,
        benchmarks=tuple(f"b{k}" for k in range(benchmarks)),
        metrics={},
        seed=1,
        sessions=sessions,
        runs=runs,
        warmup=0,
        planned=n,
        host=host,
        host_id=host,
        targets={},
        started="2026-11-21T04:12:00Z",
        status="complete",
        files={},
    )
    return Trial(
        path=Path("/nowhere"),
        manifest=manifest,
        cautions=(),
        planned_runs=n,
        position=np.arange(n),
        session=np.repeat(np.arange(1, sessions + 1), runs * cells),
        segment=zeros,
        block=np.tile(np.repeat(np.arange(1, runs + 1), cells), sessions),
        benchmark=cell // variants,
        variant=cell % variants,
        outcome=zeros,
        warmup=np.zeros(n, dtype=np.bool_),
        start_ns=np.arange(n) * 10_000_000,
        numbers=numbers,
        absent=frozenset(),
        metrics={},
        failed=(),
    )


def filled(
    trial: Trial, logs: Floats, *, metrics: Mapping[str, Floats] | None = None, **numbers: Floats
) -> Trial:
    """Give the frame wall times, whose logarithms are `logs`, metrics from output and other numbers."""
    printed = {
        name: np.asarray(values, dtype=np.float64) for name, values in (metrics or {}).items()
    }
    units: dict[str, Any] = {name: {"unit": "1", "better": "lower"} for name in printed}
    return replace(
        trial,
        manifest=replace(trial.manifest, metrics=units),
        numbers={**trial.numbers, "wall_ns": np.exp(logs) * 1e9, **numbers},
        metrics={
            name: MetricColumn(values=values, offsets=np.arange(len(trial) + 1))
            for name, values in printed.items()
        },
    )


def series(rng: np.random.Generator, trial: Trial, correlation: float = 0.0) -> Floats:
    """Give a standard normal number a run: independent, or an autoregression along each session."""
    found = rng.standard_normal(len(trial))
    if correlation:
        fresh = np.sqrt(1 - correlation**2)
        for k in range(1, found.size):
            if trial.session[k] == trial.session[k - 1]:
                found[k] = correlation * found[k - 1] + fresh * found[k]
    return found


def unrelated(
    rng: np.random.Generator,
    *,
    factors: int = 12,
    correlation: float = 0.0,
    session_sd: float = 0.5,
    **design: Any,
) -> Trial:
    """Give a trial whose runs have nothing to do with any of its factors.

    Padding counts as three factors; with several cells, order adds its own.
    """
    trial = frame(rng, **design)
    shifts = rng.normal(0, session_sd * SD, trial.manifest.sessions)
    return filled(
        trial,
        SD * series(rng, trial, correlation) + shifts[trial.session - 1],
        metrics={f"m{k}": 10 + 2 * series(rng, trial, correlation) for k in range(factors - 4)},
        temperature_c=50 + 3 * series(rng, trial, correlation),
    )
