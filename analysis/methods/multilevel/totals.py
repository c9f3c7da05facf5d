"""Whether totals say something else than typical runs: the ratio of arithmetic means beside that of geometric ones.

Of each side J = log(arithmetic mean) - mean log, sessions weighing the same, whose variance over n lognormal runs of
spread s is v = (exp(s^2) - 1 - s^2) / n; s is 1.4826 times the median distance of all logs from their median.
Totals disagree where both sides have 20 runs and D = J_c - J_b lies beyond max(log(1 + margin), 4 sqrt(v_c + v_b)).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ...data.pair import match
from ...pages import number_format as figures
from ...pages.difference import Difference
from ...pages.model import Caution
from ...pages.short_sentence import ShortSentence, plain
from ...stats.samples import Array, Integers
from .design import Layout, judged_runs, layout_of, whole_matrix

if TYPE_CHECKING:
    from ...data.matrix import PerformanceMatrix
    from .result import BenchmarkLine

LEAST = 20  # runs of each side
_SURE = 4.0  # standard errors, and robust standard deviations from which on a run is far
_NORMAL = 1.4826


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """Candidate over baseline, of the metric itself: `ratio` of arithmetic means, `typical` of geometric ones.

    `difference` is that of their logs, which disagree where it lies beyond `threshold`.
    """

    ratio: float
    typical: float
    disagree: bool
    difference: float
    threshold: float


def totals_of(table: Array, shares: Array, margin: float) -> Totals | None:
    """Compare the mean of benchmarks, from columns of `totals_table`; None where one is unknown. `margin`: Of the log."""
    used = shares > 0
    typical, apart = (table[:2, used] * shares[used]).sum(axis=1).tolist()
    if math.isnan(apart) or not used.any():
        return None
    threshold = max(margin, _SURE * math.hypot(*(table[2, used] * shares[used])))
    return Totals(
        ratio=math.exp(typical + apart),
        typical=math.exp(typical),
        disagree=abs(apart) > threshold,
        difference=apart,
        threshold=threshold,
    )


def disagreeing(candidate: PerformanceMatrix, baseline: PerformanceMatrix) -> list[str]:
    """Name the common benchmarks, one at least, whose totals disagree with typical runs by more than 1 %."""
    pair = match(whole_matrix(candidate), whole_matrix(baseline))
    table = totals_table(layout_of(pair.candidate, pair.baseline))
    found = (totals_of(column[:, None], np.ones(1), math.log1p(0.01)) for column in table.T)
    names = zip(pair.candidate.benchmarks, found, strict=True)
    return [name for name, one in names if one is not None and one.disagree]


def totals_table(layout: Layout) -> Array:
    """Give log typical ratio, D and its standard error, shape (3, benchmarks); nan with few runs or one of 0."""
    table = np.full((3, layout.benchmarks), np.nan)
    for k in range(layout.benchmarks):
        sides = judged_runs(layout, k)
        if all(values.size >= LEAST and (values > 0).all() for values, _ in sides):
            ours, theirs = (np.array(_of_side(*side)) for side in sides)
            table[:2, k] = (ours - theirs)[:2]
            table[2, k] = math.sqrt(ours[2] + theirs[2])
    return table


def _of_side(values: Array, session: Integers) -> tuple[float, float, float]:
    logs, at = np.log(values), np.unique(session, return_inverse=True)[1]
    mean, typical = ((np.bincount(at, x) / np.bincount(at)).mean() for x in (values, logs))
    spread = _spread(logs)
    variance = (math.expm1(min(spread**2, 500.0)) - spread**2) / values.size
    return float(typical), math.log(mean) - float(typical), variance


def _spread(logs: Array) -> float:
    return _NORMAL * float(np.median(np.abs(logs - np.median(logs))))


def _far(values: Array, session: Integers) -> str:
    """Name the far runs of a side: ``5 of 96 runs of {} take 4 to 6 times as much``."""
    logs = np.log(values)
    far = logs > np.median(logs) + _SURE * _spread(logs)
    if not far.any():
        return ""
    times = values[far] / float(np.median(values))
    hit, of = np.unique(session[far]).size, np.unique(session).size
    where = f" in {hit} of {of} sessions" if 4 * hit <= of else ""
    ends = dict.fromkeys(figures.significant(float(end), 2) for end in (times.min(), times.max()))
    return f": {times.size} of {values.size} runs of {{}}{where} take {' to '.join(ends)} times as much"


def totals_cautions(
    layout: Layout, lines: Sequence[BenchmarkLine], sides: tuple[str, str], better: str, unit: str
) -> Iterator[Caution]:
    """Say of each benchmark whose totals disagree what both ratios are, and which runs are far."""
    for k, line in enumerate(lines):
        if line.totals is None or not line.totals.disagree:
            continue
        both = (line.totals.ratio, line.totals.typical)
        total, typical = (Difference(one, None, None, "wall", unit, better) for one in both)
        if total.amount() == typical.amount():  # with the decimals that tell them apart
            total, typical = (
                replace(one, low=min(both), high=max(both)) for one in (total, typical)
            )
        amount = plain(total.amount().removesuffix(" (wall)"))
        less = " ".join(typical.amount().split()[:3])
        side = int(line.totals.difference < 0)
        far = _far(*judged_runs(layout, k)[side])
        told = (
            f"in all, {{}} {total.verb} {amount}, though the typical run {total.verb} {less}{far}"
        )
        names = [line.name] * (len(lines) > 1) + [sides[0]] + [sides[side]] * bool(far)
        short = ShortSentence.of("{}: " * (len(lines) > 1) + told, *names)
        yield Caution("totals", short.pattern.format(*names), (line.name,), short)
