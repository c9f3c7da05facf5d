"""Trials in memory whose runs printed many values, with a quantile of them: loaded by path, as tests are no package."""

from __future__ import annotations

import runpy
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from analysis.data.columns import MetricColumn
from analysis.data.trial import Trial
from analysis.record.manifest import about_quantile, quantile_metric, quantile_of

Floats = NDArray[np.float64]
PLANTED = runpy.run_path(str(Path(__file__).with_name("planted.py")))
SHARE = 0.9
NAME = quantile_metric("t", SHARE)


def column_of(runs: Sequence[Floats]) -> MetricColumn:
    """Give a column of the values of each run."""
    offsets = np.concatenate(([0], np.cumsum([len(one) for one in runs])))
    return MetricColumn(values=np.concatenate(runs), offsets=offsets)


def with_values(
    *,
    sessions: int = 3,
    runs: int = 2,
    each: int = 40,
    seed: int = 7,
    warmup: str = "0",
    own: Sequence[float | None] | None = None,
) -> tuple[Trial, list[Floats]]:
    """Give a trial of two variants whose runs printed `each` values of t, and the values by row."""
    rng = np.random.default_rng(seed)
    trial = PLANTED["filled"](
        PLANTED["frame"](rng, sessions=sessions, runs=runs, variants=2),
        np.zeros(sessions * runs * 2),
    )
    values = [rng.lognormal(0.1 * variant, 1, each) for variant in trial.variant]
    quantiles = [quantile_of(sorted(one), SHARE) for one in values] if own is None else own
    told = [np.array([] if one is None else [one]) for one in quantiles]
    about = {"t": {"unit": "ms", "better": "lower", "warmup_iterations": warmup}}
    about[NAME] = about_quantile("ms", "lower", "t", SHARE)
    metrics = {"t": column_of(values), NAME: column_of(told)}
    return replace(trial, manifest=replace(trial.manifest, metrics=about), metrics=metrics), values
