"""pyperf's JSON: a benchmark each, a run for each process, with its values."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from ...errors import UsageError
from ..cells import Loss
from .leaving import Leaving, Metric
from .losses import WALL, lost, metrics_lost, one_variant
from .names import names_lost, renamed
from .written import Written

__all__ = ["write"]

_SAID = "pyperf's JSON"
_UNITS = {"s": "second", "B": "byte"}
_READ_AS = {"B": "memory"}


def write(leaving: Leaving) -> Written:
    """Make the file.

    Raises
    ------
    UsageError
        If there are several variants, or the metric is neither a time nor a size.
    """
    variant = one_variant(leaving, _SAID)
    metric = leaving.metrics[0]
    if metric.unit not in _UNITS or metric.better != "lower":
        raise UsageError(
            f"{_SAID} holds times and sizes; {metric.name!r} has the unit {metric.unit or 'none'!r}, "
            f"{metric.better} is better",
            leaving.name,
            "name another --metric, or write a table: --to long-csv",
        )
    names = renamed(leaving.benchmarks, _clean, leaving.name)
    zeros = sum(
        value == 0
        for sample in leaving.samples
        for process in sample.processes(metric.name)
        for value in process
    )
    benchmarks = [
        {
            "metadata": {"name": names[sample.benchmark]},
            "runs": [
                {"metadata": {}, "values": values}
                for process in sample.processes(metric.name)
                if (values := [value for value in process if value])
            ],
        }
        for sample in leaving.samples
        if any(map(any, sample.processes(metric.name)))
    ]
    if not benchmarks:
        raise UsageError(
            f"all values of {metric.name!r} are 0, which pyperf refuses",
            leaving.name,
            "name another --metric, or write a table: --to long-csv",
        )
    shared: dict[str, Any] = {"unit": _UNITS[metric.unit], "variant": _clean(variant)}
    if leaving.host:
        shared["hostname"] = leaving.host
    if leaving.cpu_model:
        shared["cpu_model_name"] = leaving.cpu_model
    # pyperf's own version of the layout; metadata that all share stand at the top
    whole = {"version": "1.0", "metadata": shared, "benchmarks": benchmarks}
    return Written(
        data=json.dumps(whole, allow_nan=False, ensure_ascii=False).encode() + b"\n",
        lost=(
            *_lost(leaving, metric, zeros),
            *names_lost("which are one line without spaces around it", names),
        ),
    )


def _clean(name: str) -> str:
    return re.sub(r"[\r\n]+", " ", name).strip() or "-"


def _lost(leaving: Leaving, metric: Metric, zeros: int) -> Iterator[Loss]:
    if zeros:
        text = (
            f"{'1 value' if zeros == 1 else f'{zeros} values'} of 0, which pyperf refuses: left out"
        )
        yield Loss(code="zeros-lost", text=text)
    yield from lost(leaving, metric.name, "processes")
    yield from metrics_lost(leaving, (metric.name,))
    if metric.name not in (WALL if metric.unit == "s" else {_READ_AS[metric.unit]}):
        text = f"that the values are {metric.name!r}: the file knows only their unit"
        yield Loss(code="metric-name-lost", text=text)
