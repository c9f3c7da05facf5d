"""JMH's JSON (``-rf json``): forks are processes, each with its measured iterations.

An iteration's value is itself a mean over operations. Throughput is better when higher, times are when
lower; of a mode that is not known nothing is said. SampleTime keeps histograms: an iteration's value is their mean. With 0 forks all
iterations stem from JMH's own process. Numbers that are none are written as text (``"NaN"``). The
other result formats, and the log, hold no runs that could be told apart.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from ...errors import AnalysisError
from ...record import Better
from ..cells import ForeignCell, ForeignFile, Loss
from ..opening import Opened
from ..parsing import (
    count_of,
    fail,
    in_base_unit,
    json_of,
    mentions,
    structure_of,
    text_of,
    texts_of,
    value_of,
)

__all__ = ["knows", "read"]

_MODES: Mapping[str, tuple[str, Better]] = {
    "thrpt": ("throughput", "higher"),
    "avgt": ("time", "lower"),
    "sample": ("sample_time", "lower"),
    "ss": ("single_shot", "lower"),
}
_SUMMARY = re.compile(
    r'^"Benchmark"[,;]"Mode"[,;]"Threads"[,;]"Samples"[,;]"Score"'  # -rf csv, scsv
    r"|^Benchmark +(?:\([^)]*\) +)*Mode +(?:Cnt|Samples) +Score"  # -rf text, and the log's end
    r"|^# JMH version:|^# (?:Warmup|Measurement): \d+ iterations, \d",
    re.MULTILINE,
)
_BROKEN = re.compile(r"([,\[\]{}])\s*\n\s*")  # JMH breaks its text into lines, within names too
_KEYS = (
    "mode", "threads", "forks", "jmhVersion", "jvm", "jdkVersion", "vmName", "vmVersion",
)  # fmt: skip


def knows(opened: Opened) -> bool:
    """Tell by the keys of a result, or by the headings of an export without runs."""
    data = structure_of(opened)
    if data is None:
        return (
            bool(_SUMMARY.search(opened.head()))
            or mentions(opened, "benchmark", "primaryMetric")
            or mentions(opened, "benchmark", "warmupIterations")
        )
    return isinstance(data, list) and any(
        isinstance(one, dict) and "primaryMetric" in one and "benchmark" in one for one in data
    )


def read(opened: Opened) -> ForeignFile:
    """Give a cell for each result, and one for each of its secondary metrics.

    Raises
    ------
    AnalysisError
        If the file is damaged, or the raw data were left out.
    """
    if structure_of(opened) is None and _SUMMARY.search(opened.head()):
        raise fail(
            opened,
            "this output of JMH holds summaries only, or is its log",
            "execute JMH with -rf json -rff FILE",
        )
    data = json_of(opened)
    if not isinstance(data, list) or not data:
        raise fail(opened, "there is no result in the file", "write it again with -rf json")
    notes: list[Loss] = []
    cells, alone, sampled = [], 0, False
    for k, one in enumerate(data):
        at = f"[{k}]"
        if not isinstance(one, dict) or not isinstance(one.get("benchmark"), str):
            raise fail(opened, "a result has no benchmark", "is the file damaged?", at=at)
        cells += list(_cells(opened, one, at, notes))
        alone += one.get("forks") == 0
        sampled = sampled or one.get("mode") == "sample"
    return ForeignFile(
        format="jmh",
        source=opened.source,
        cells=tuple(cells),
        losses=tuple(_losses(alone, len(data), sampled=sampled)),
        notes=tuple(notes),
    )


def _losses(alone: int, count: int, *, sampled: bool) -> Iterator[Loss]:
    yield Loss(
        code="means-of-operations",
        text="each value is the mean of one iteration's operations: single ones cannot be seen",
    )
    if sampled:
        yield Loss(
            code="histograms",
            text="of sampled times the file keeps a histogram of each iteration, without order",
        )
    if alone:
        yield Loss(
            code="one-process",
            text=f"{alone} of {count} results had no forks: their iterations stem from one process, "
            "and variation between processes cannot be estimated",
        )
    yield Loss(code="no-sessions", text="all forks stem from one occasion")
    yield Loss(code="failed-unknown", text="JMH keeps no failed forks")


def _cells(
    opened: Opened, result: Mapping[str, Any], at: str, notes: list[Loss]
) -> Iterator[ForeignCell]:
    mode = text_of(result.get("mode")) or "value"
    metric, better = _MODES.get(mode, (mode, None))
    params = {k: _whole(v) for k, v in texts_of(result.get("params")).items()}
    forks, warmups = count_of(result.get("forks")), count_of(result.get("warmupIterations"))
    name = _whole(result["benchmark"])
    primary = result.get("primaryMetric")
    if not isinstance(primary, dict):
        raise fail(opened, "the result has no primary metric", "is the file damaged?", at=at)
    shared: dict[str, Any] = {
        "benchmark": " ".join([name, *(f"{k}={v}" for k, v in params.items())]),
        "known": True,
        "warmups": None if warmups is None or forks is None else warmups * max(1, forks),
        "keys": params | texts_of({key: result.get(key) for key in _KEYS}) | {"benchmark": name},
    }
    found = _cell(opened, primary, metric, better, f"{at}.primaryMetric", shared)
    missing = max(1, forks) - len(found.processes) if forks is not None else 0
    if missing > 0:
        text = (
            f"{shared['benchmark']!r} has {len(found.processes)} of its {max(1, forks or 0)} forks"
        )
        notes.append(Loss(code="forks-missing", text=text))
        shared["failed"] = missing
        found = _cell(opened, primary, metric, better, f"{at}.primaryMetric", shared)
    yield _by_mode(found, mode)
    secondary = result.get("secondaryMetrics")
    for key, one in (secondary if isinstance(secondary, dict) else {}).items():
        if not isinstance(one, dict) or not ("rawData" in one or "rawDataHistogram" in one):
            continue
        try:
            cell = _cell(opened, one, key, None, f"{at}.secondaryMetrics.{key}", shared)
            yield _by_mode(cell, mode)
        except AnalysisError as error:  # such as "NaN", where nothing was allocated
            text = f"{key!r} of {shared['benchmark']!r} is left out: {error.what}"
            notes.append(Loss(code="left-out", text=text))


def _by_mode(cell: ForeignCell, mode: str) -> ForeignCell:
    """Name the forks by their mode: each mode of a benchmark has forks of its own."""
    return replace(cell, labels=tuple(f"{mode} {one}" for one in cell.labels or ()))


def _whole(text: str) -> str:
    return _BROKEN.sub(r"\1", text)


def _cell(  # noqa: PLR0917 - all of one result, in the order of its keys
    opened: Opened,
    metric: Mapping[str, Any],
    name: str,
    better: Better | None,
    at: str,
    shared: Mapping[str, Any],
) -> ForeignCell:
    factor, base = _unit(text_of(metric.get("scoreUnit")) or "")
    histograms = metric.get("rawDataHistogram")
    raw = metric.get("rawData") if histograms is None else histograms
    if not isinstance(raw, list) or not any(raw):
        raise fail(
            opened,
            "the raw data of the iterations were left out",
            "execute JMH without -Djmh.json.rawData=false",
            at=at,
        )
    kind = "rawData" if histograms is None else "rawDataHistogram"
    processes, labels = [], []
    for f, fork in enumerate(raw):
        if not isinstance(fork, list):
            raise fail(opened, "a fork is no list", "is the file damaged?", at=f"{at}.{kind}[{f}]")
        places = [(one, f"{at}.{kind}[{f}][{k}]") for k, one in enumerate(fork)]
        if histograms is None:
            values = [value_of(opened, one, place, factor=factor) for one, place in places]
        else:  # an iteration without any sample has none: an operation took longer than it
            values = [_mean(opened, one, place, factor) for one, place in places if one != []]
        if values:
            processes.append(tuple(values))
            labels.append(f"{f + 1}")
    if not processes:
        raise fail(opened, "no iteration has a value", "give the iterations more time", at=at)
    return ForeignCell(
        metric=name,
        unit=base,
        better=better,
        processes=tuple(processes),
        labels=tuple(labels),
        **shared,
    )


def _unit(unit: str) -> tuple[float, str]:
    """Give the factor and the unit of a score: a time or a size an operation loses its ``/op``."""
    if not unit.endswith("/op"):
        return in_base_unit(unit)
    factor, base = in_base_unit(unit.removesuffix("/op"))
    return (factor, base) if base == "s" else (factor, "B/op") if base == "B" else (1.0, unit)


def _mean(opened: Opened, pairs: object, at: str, factor: float) -> float:
    """Give the mean of an iteration's histogram of (value, how often)."""
    if not isinstance(pairs, list):
        raise fail(opened, "the histogram is no list", "is the file damaged?", at=at)
    total = weight = 0.0
    for k, pair in enumerate(pairs):
        if not isinstance(pair, list) or len(pair) != 2:
            raise fail(
                opened, "an entry of the histogram is no pair", "is the file damaged?", at=at
            )
        count = value_of(opened, pair[1], f"{at}[{k}]")
        total += value_of(opened, pair[0], f"{at}[{k}]", factor=factor) * count
        weight += count
    if not weight or not math.isfinite(total / weight):
        raise fail(opened, "the histogram has no mean", "is the file damaged?", at=at)
    return total / weight
