"""JMH's JSON (``-rf json``): forks are processes, each with its measured iterations.

An iteration's value is itself a mean over operations. Throughput is better when higher, every other
mode when lower. SampleTime keeps histograms: an iteration's value is their mean. With 0 forks all
iterations stem from JMH's own process. Numbers that are none are written as text (``"NaN"``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...record import Better
from ..cells import ForeignCell, ForeignFile, Loss
from ..opening import Opened
from ..parsing import count_of, fail, in_base_unit, json_of, looks_like_json, value_of

__all__ = ["knows", "read"]

_MODES: Mapping[str, tuple[str, Better]] = {
    "thrpt": ("throughput", "higher"),
    "avgt": ("time", "lower"),
    "sample": ("sample_time", "lower"),
    "ss": ("single_shot", "lower"),
}


def knows(opened: Opened) -> bool:
    """Tell by the keys of a result."""
    head = opened.head()
    return looks_like_json(opened) and '"primaryMetric"' in head and '"benchmark"' in head


def read(opened: Opened) -> ForeignFile:
    """Give a cell for each result, and one for each of its secondary metrics.

    Raises
    ------
    AnalysisError
        If the file is damaged, or the raw data were left out.
    """
    data = json_of(opened)
    if not isinstance(data, list) or not data:
        raise fail(opened, "there is no result in the file", "write it again with -rf json")
    cells, losses = [], []
    for k, one in enumerate(data):
        at = f"[{k}]"
        if not isinstance(one, dict) or not isinstance(one.get("benchmark"), str):
            raise fail(opened, "a result has no benchmark", "is the file damaged?", at=at)
        cells += list(_cells(opened, one, at))
        if one.get("forks") == 0:
            losses.append(one["benchmark"])
    return ForeignFile(
        format="jmh",
        source=opened.source,
        cells=tuple(cells),
        losses=(
            Loss(
                code="means-of-operations",
                text="each value is the mean of one iteration's operations: single ones cannot be seen",
            ),
            *(
                [
                    Loss(
                        code="one-process",
                        text=f"{len(losses)} of {len(data)} results had no forks: their iterations "
                        "stem from one process, and variation between processes cannot be estimated",
                    )
                ]
                if losses
                else []
            ),
            Loss(code="failed-unknown", text="JMH keeps no failed forks"),
        ),
    )


def _cells(opened: Opened, result: Mapping[str, Any], at: str) -> Iterator[ForeignCell]:
    mode = str(result.get("mode", "avgt"))
    metric, better = _MODES.get(mode, (mode, "lower"))
    params = result.get("params")
    params = params if isinstance(params, dict) else {}
    forks = count_of(result.get("forks"))
    warmups = count_of(result.get("warmupIterations"))
    shared: dict[str, Any] = {
        "benchmark": " ".join([result["benchmark"], *(f"{k}={v}" for k, v in params.items())]),
        "known": True,
        "warmups": warmups * max(1, forks) if warmups is not None and forks is not None else None,
        "keys": {str(k): str(v) for k, v in params.items()}
        | {
            key: str(result[key])
            for key in ("benchmark", "mode", "threads", "jvm", "jdkVersion", "vmName", "vmVersion")
            if key in result
        },
    }
    primary = result.get("primaryMetric")
    if not isinstance(primary, dict):
        raise fail(opened, "the result has no primary metric", "is the file damaged?", at=at)
    yield _cell(opened, primary, metric, better, f"{at}.primaryMetric", shared)
    secondary = result.get("secondaryMetrics")
    for name, found in (secondary if isinstance(secondary, dict) else {}).items():
        if isinstance(found, dict) and ("rawData" in found or "rawDataHistogram" in found):
            yield _cell(opened, found, str(name), None, f"{at}.secondaryMetrics.{name}", shared)


def _cell(  # noqa: PLR0917 - all of one result, in the order of its keys
    opened: Opened,
    metric: Mapping[str, Any],
    name: str,
    better: Better | None,
    at: str,
    shared: Mapping[str, Any],
) -> ForeignCell:
    unit = str(metric.get("scoreUnit", ""))
    per_operation = unit.removesuffix("/op")
    factor, base = in_base_unit(per_operation) if unit.endswith("/op") else (1.0, unit)
    if base != "s" and unit.endswith("/op"):
        factor, base = (factor, "B/op") if base == "B" else (1.0, unit)
    histograms = metric.get("rawDataHistogram")
    raw = metric.get("rawData") if histograms is None else histograms
    if not isinstance(raw, list) or not all(isinstance(fork, list) for fork in raw):
        raise fail(
            opened,
            "the raw data of the iterations were left out",
            "execute JMH without -Djmh.json.rawData=false",
            at=at,
        )
    take = _histogram if histograms is not None else value_of
    kind = "rawData" if histograms is None else "rawDataHistogram"
    processes = tuple(
        tuple(
            take(opened, value, f"{at}.{kind}[{f}][{k}]", factor=factor)
            for k, value in enumerate(fork)
        )
        for f, fork in enumerate(raw)
    )
    return ForeignCell(
        metric=name,
        unit=base,
        better=better,
        processes=tuple(fork for fork in processes if fork),
        **shared,
    )


def _histogram(opened: Opened, pairs: object, at: str, *, factor: float) -> float:
    """Give the mean of an iteration's histogram of (value, how often)."""
    if not isinstance(pairs, list) or not pairs:
        raise fail(opened, "the histogram is empty", "is the file damaged?", at=at)
    total = weight = 0.0
    for k, pair in enumerate(pairs):
        if not isinstance(pair, list) or len(pair) != 2:
            raise fail(
                opened, "an entry of the histogram is no pair", "is the file damaged?", at=at
            )
        count = value_of(opened, pair[1], f"{at}[{k}]")
        total += value_of(opened, pair[0], f"{at}[{k}]", factor=factor) * count
        weight += count
    if not weight:
        raise fail(opened, "the histogram is empty", "is the file damaged?", at=at)
    return value_of(opened, total / weight, at)
