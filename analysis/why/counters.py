"""What other metrics of the same timed runs say: each with the interval that a verdict would give it.

Beside the metrics that the trial has, the numbers of every run are judged that are no metrics elsewhere: page
faults and switches; and instructions per cycle, where both were counted.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..data.columns import MetricColumn
from ..data.matrix import PerformanceMatrix
from ..data.trial import Trial
from ..errors import AnalysisError, InsufficientDataError
from ..methods.multilevel.compare import multilevel
from ..methods.multilevel.design import whole_matrix
from ..pages.number_format import Word
from ..record.run_numbers import METRIC_NUMBERS
from ..stats.samples import Array
from .intervals import holm
from .result import Counter, Row

INSTRUCTIONS, CYCLES, PER_CYCLE = "instructions", "cycles", "instructions_per_cycle"
# numbers of every run that no verdict asks for; the counter that counts the same, if a campaign names it
_FURTHER = {
    "minor_faults": ("minor-faults", "page-faults"),
    "major_faults": ("major-faults",),
    "voluntary_switches": (),
    "involuntary_switches": (),
}
MARGIN = 0.01  # the largest difference that counts as none, as in a verdict


def judged_counters(
    trial: Trial,
    benchmark: str,
    baseline: str,
    variant: str,
    *,
    confidence: float,
    waits: Sequence[Row] = (),
) -> tuple[tuple[Counter, ...], tuple[Row, ...]]:
    """Judge a benchmark's candidate by all metrics of its timed runs.

    Words and adjusted p-values are Holm's over all of them together with the rows `waits`; "equivalent" is two
    one-sided tests at half the risk, within 1 %. Gives the counters by evidence, and these rows with theirs.
    """
    risk = 1 - confidence
    known = _with_further(trial)
    found: list[tuple[str, float, float, float, float, float]] = []
    for metric in dict.fromkeys((*METRIC_NUMBERS, *known.manifest.metrics)):
        try:
            sides = [_alone(known, name, metric, benchmark) for name in (variant, baseline)]
            told = multilevel(*sides, confidence=confidence, margin=MARGIN, correction="none")
        except AnalysisError:
            continue
        (line,) = told.benchmarks
        numbers = (line.speedup, line.low, line.high, line.pvalue, line.pvalue_equivalent)
        if None not in numbers:
            found.append((metric, *numbers))  # type: ignore[arg-type]  # none of them is None
    different = holm([*(one[4] for one in found), *(row.pvalue for row in waits)])
    equal = holm([one[5] for one in found])
    counters = [
        _counter(known, one, p, q, risk)
        for one, p, q in zip(found, different[: len(found)], equal, strict=True)
    ]
    adjusted = [
        replace(row, pvalue_adjusted=p)
        for row, p in zip(waits, different[len(found) :], strict=True)
    ]
    counters.sort(key=lambda one: (one.pvalue, one.metric))
    return tuple(counters), tuple(adjusted)


def _alone(trial: Trial, variant: str, metric: str, benchmark: str) -> PerformanceMatrix:
    """Give one benchmark's runs of a variant, with those of 0."""
    whole = whole_matrix(trial.matrix(variant, metric, carry_zeros=True))
    if benchmark not in whole.benchmarks:
        raise InsufficientDataError(f"no run of {benchmark!r} has {metric}", n=0, needed=1)
    return replace(whole, iterations=None, run_of=None).select([benchmark])


def _counter(
    trial: Trial,
    one: tuple[str, float, float, float, float, float],
    p: float | None,
    q: float | None,
    risk: float,
) -> Counter:
    metric, speedup, low, high, pvalue, _ = one
    info = trial.metric(metric)
    assert p is not None
    word: Word = "undecided"
    if q is not None and q <= risk / 2:
        word = "equivalent"
    elif p <= risk:
        word = "faster" if speedup > 1 else "slower"
    ends = (low, high) if info.better == "higher" else (1 / high, 1 / low)
    return Counter(
        metric=metric,
        unit=info.unit,
        better=info.better,
        word=word,
        ratio=speedup if info.better == "higher" else 1 / speedup,
        low=ends[0],
        high=ends[1],
        pvalue=pvalue,
        pvalue_adjusted=p,
    )


def _with_further(trial: Trial) -> Trial:
    """Give the trial with further metrics, made of what its runs hold."""
    metrics: dict[str, Any] = dict(trial.manifest.metrics)
    columns = dict(trial.metrics)

    def add(name: str, values: Array, **about: str) -> None:
        there = np.isfinite(values)
        if name not in metrics and there.any():
            metrics[name] = {"unit": "1", "better": "lower", **about}
            offsets = np.concatenate([[0], np.cumsum(there)])
            columns[name] = MetricColumn(values=values[there], offsets=offsets)

    for name, counters in _FURTHER.items():
        if not any(one in metrics for one in counters):
            add(name, trial.numbers[name])
    if all(trial.is_counter(name) for name in (INSTRUCTIONS, CYCLES)):
        counts, cycles = (columns[name].per_run() for name in (INSTRUCTIONS, CYCLES))
        ratio = counts / np.where(cycles > 0, cycles, math.nan)
        add(PER_CYCLE, ratio, better="higher", source="counters")
    return replace(trial, metrics=columns, manifest=replace(trial.manifest, metrics=metrics))
