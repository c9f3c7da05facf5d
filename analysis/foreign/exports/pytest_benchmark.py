"""pytest-benchmark's JSON: a benchmark each, its rounds in ``stats.data``."""

from __future__ import annotations

import json
import statistics
from collections.abc import Sequence
from typing import Any

from ...record import utc_now
from ..cells import Loss
from .leaving import Leaving
from .losses import kept_apart, lost, metrics_lost, one_variant, time_of
from .summary import quartiles
from .written import Written

__all__ = ["write"]

_SAID = "pytest-benchmark's JSON"


def write(leaving: Leaving) -> Written:
    """Make the file.

    Raises
    ------
    UsageError
        If there are several variants, or the metric is no time.
    """
    variant = one_variant(leaving, _SAID)
    metric, renamed = time_of(leaving, _SAID)
    at = utc_now()
    benchmarks = [
        {
            "group": None,
            "name": sample.benchmark,
            "fullname": sample.benchmark,
            "params": None,
            "param": None,
            "extra_info": {"variant": variant},
            "options": {
                "disable_gc": False,
                "timer": "unknown",
                "min_rounds": 1,
                "max_time": 0.0,
                "min_time": 0.0,
                "warmup": False,
            },
            "stats": _stats(kept_apart(processes)),
        }
        for sample in leaving.samples
        if (processes := sample.processes(metric.name))
    ]
    whole = {
        "machine_info": {
            "node": leaving.host or "unknown",
            "cpu": {"brand_raw": leaving.cpu_model} if leaving.cpu_model else {},
        },
        "commit_info": {"id": "unknown", "time": None, "dirty": False, "branch": "unknown"},
        "benchmarks": benchmarks,
        "datetime": at,
        "version": "5.0.0",
    }
    zero = any(one["stats"]["ops"] == 0.0 for one in benchmarks)  # type: ignore[index]
    return Written(
        data=json.dumps(whole, indent=2, allow_nan=False, ensure_ascii=False).encode() + b"\n",
        lost=(
            *lost(leaving, metric.name),
            *metrics_lost(leaving, (metric.name,)),
            *renamed,
        ),
        notes=(Loss(code="no-rate", text="a mean of 0 has no rate: ops is 0"),) if zero else (),
    )


def _stats(values: Sequence[float]) -> dict[str, Any]:
    mean = statistics.fmean(values)
    spread = statistics.stdev(values) if len(values) > 1 else 0.0
    low, middle, high = quartiles(values)
    reach = 1.5 * (high - low)
    near = [value for value in values if low - reach <= value <= high + reach]
    outside = len(values) - len(near)
    far = sum(abs(value - mean) > spread for value in values)
    return {
        "min": min(values),
        "max": max(values),
        "mean": mean,
        "stddev": spread,
        "rounds": len(values),
        "median": middle,
        "iqr": high - low,
        "q1": low,
        "q3": high,
        "iqr_outliers": outside,
        "stddev_outliers": far,
        "outliers": f"{far};{outside}",
        "ld15iqr": min(near, default=min(values)),
        "hd15iqr": max(near, default=max(values)),
        "ops": 1 / mean if mean else 0.0,
        "total": sum(values),
        "data": list(values),
        "iterations": 1,
    }
