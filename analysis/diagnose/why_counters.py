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
from scipy.special import stdtrit

from ..data.columns import MetricColumn
from ..data.matrix import PerformanceMatrix
from ..data.trial import Trial
from ..errors import AnalysisError, InsufficientDataError
from ..methods.multilevel.compare import multilevel
from ..methods.multilevel.design import whole_matrix
from ..pages.number_format import Word
from ..record.run_numbers import METRIC_NUMBERS
from ..stats.classical import student_pvalue
from ..stats.multiplicity import adjusted
from ..stats.samples import Array
from .session_profiles import Side
from .why_result import Counter, Row

# --- A difference over sessions with its interval, and the correction for how many functions are looked at.
#
# t over sessions: the n differences of a row have a mean and a standard error, n - 1
# degrees of freedom. Of a
# function the error is never smaller than what counting whole samples leaves unknown.
#
# Notes
# -----
# A function that each profiled run executes once, in one piece that lasts lambda samples,
# is hit floor(lambda) times
# or once more: with variance f (1 - f) for the fraction f of lambda, 1/6 in the mean over
# f. Over r runs the sum has
# r / 6, and a sample stands for `step` milliseconds, so that a session's difference has a
# variance of at least
# r / 6 (step_baseline^2 + step_candidate^2). Without it, functions of a few samples a
# session would have equal
# differences in four or six sessions by chance, an error near 0, and names that are false.


_ONE_PIECE = (
    1 / 6
)  # variance of the count of a piece whose length is any part of a sample more than whole ones


def counting_variance(baseline: Side, candidate: Side) -> float:
    """Give the least variance that counting gives a session's difference of a function, in ms squared."""
    each = [_ONE_PIECE * side.runs * side.step**2 for side in (baseline, candidate)]
    return float(np.mean(each[0] + each[1]))


def interval_of(
    differences: Array, confidence: float, least: float = 0.0
) -> tuple[float | None, float | None, float | None]:
    """Give low, high and p of the mean of differences over sessions.

    Parameters
    ----------
    differences : array of n
        One a session.
    confidence : float
        Of the interval.
    least : float
        The variance of one difference is taken to be at least this.

    Returns
    -------
    low, high, pvalue : float or None
        All None with one session; the p is None as well where there is no spread and a difference.
    """
    n = differences.size
    if n < 2:
        return None, None, None
    mean = float(differences.mean())
    error = math.sqrt(max(float(differences.var(ddof=1)), least) / n)
    reach = float(stdtrit(n - 1, (1 + confidence) / 2)) * error
    p = None if error == 0 and mean != 0 else student_pvalue(mean, error, n - 1.0, "two-sided")
    return mean - reach, mean + reach, p


def row_of(
    baseline: Array,
    candidate: Array,
    confidence: float,
    least: float = 0.0,
    **known: Any,  # noqa: ANN401 - fields of a Row
) -> Row:
    """Make a row of both variants' times by session, in milliseconds."""
    low, high, p = interval_of(candidate - baseline, confidence, least)
    before, after = float(baseline.mean()), float(candidate.mean())
    return Row(
        baseline_ms=before,
        candidate_ms=after,
        difference_ms=after - before,
        low_ms=low,
        high_ms=high,
        pvalue=p,
        **known,
    )


def holm(pvalues: list[float | None]) -> list[float | None]:
    """Correct the p-values of one family by Holm's method; an unknown one counts, as 1, and stays unknown."""
    found = adjusted([1.0 if p is None else p for p in pvalues], "holm").tolist()
    return [None if p is None else one for p, one in zip(pvalues, found, strict=True)]


def corrected(rows: list[Row], risk: float, *, names: bool) -> list[Row]:
    """Give the rows of one family with their adjusted p-values, named where `names` may be and they hold."""
    return [
        replace(row, pvalue_adjusted=p, named=names and p is not None and p <= risk)
        for row, p in zip(rows, holm([row.pvalue for row in rows]), strict=True)
    ]


def by_evidence(row: Row) -> tuple[float, float, str, str]:
    """Order rows: the smallest p first, then the largest difference, then the name."""
    p = math.inf if row.pvalue is None else row.pvalue
    return p, -abs(row.difference_ms), row.function, row.object


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
