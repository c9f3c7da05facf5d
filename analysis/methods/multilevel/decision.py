"""From intervals and p-values to words, before and after the correction."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...report import Word
from ...stats import Correction, adjusted, holm_steps
from .estimates import Estimates, satterthwaite
from .law import Law

__all__ = ["Decisions", "decide", "word_by_interval"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Decisions:
    """Intervals, p-values and words; arrays over the benchmarks, nan where there is none.

    `pvalue_welch` is Welch's of two sides, also where it is not the one that counts. `steps` and `steps_equivalent` are the factors by which the correction divides the level at each
    benchmark's own place in its family.
    """

    low: Floats
    high: Floats
    pvalue: Floats
    pvalue_equivalent: Floats
    pvalue_welch: Floats
    pvalue_adjusted: Floats
    pvalue_equivalent_adjusted: Floats
    steps: Floats
    steps_equivalent: Floats
    outcome: tuple[Word, ...]
    outcome_uncorrected: tuple[Word, ...]


def word_by_interval(low: float, high: float, margin: float) -> Word:
    """Read the word off an interval of the log ratio; `margin` is that of the log ratio.

    Equivalent wins over faster and slower: the whole interval is inside the margin.
    """
    if -margin < low and high < margin:
        return "equivalent"
    return "faster" if low > 0 else "slower" if high < 0 else "undecided"  # nan decides nothing


def decide(found: Estimates, law: Law, margin: float, correction: Correction) -> Decisions:
    """Judge the benchmarks of one candidate.

    Two families over the benchmarks are corrected: the two-sided p, held against alpha, and that of
    equivalence, held against alpha / 2. An estimate without spread, whose values do not vary for all that is known,
    has no interval and no p; it takes part with p = 1. The clock's step widens each interval, and every
    distance that is tested is less by it.

    Parameters
    ----------
    found : Estimates
        Arrays of shape (benchmarks,).
    law : Law
        Level and law.
    margin : float
        Of the log ratio, not negative.
    correction : {"holm", "bh", "none"}
        For the number of benchmarks.
    """
    flat, step = found.error == 0, found.widening
    half = np.where(flat, np.nan, law.half(found.error, found.freedom, found.parts) + step)
    low, high = found.estimate - half, found.estimate + half
    seen = np.maximum(np.abs(found.estimate) - step, 0.0)
    pvalue = law.pvalue(seen, found.error, found.freedom, found.parts)
    equivalent = law.pvalue_equivalent(
        found.estimate, found.error, found.freedom, margin - step, found.parts
    )
    families = [np.where(flat, 1.0, p) for p in (pvalue, equivalent)]
    ours, theirs = (adjusted(family, correction) for family in families)
    alone = tuple(
        word_by_interval(a, b, margin) for a, b in zip(low.tolist(), high.tolist(), strict=True)
    )
    words = alone if correction == "none" else _words(found.estimate, ours, theirs, half, law.alpha)
    return Decisions(
        low=low,
        high=high,
        pvalue=pvalue,
        pvalue_equivalent=equivalent,
        pvalue_welch=_by_welch(found, law),
        pvalue_adjusted=np.where(flat, np.nan, ours),
        pvalue_equivalent_adjusted=np.where(flat, np.nan, theirs),
        steps=holm_steps(families[0], correction),
        steps_equivalent=holm_steps(families[1], correction),
        outcome=words,
        outcome_uncorrected=alone,
    )


def _by_welch(found: Estimates, law: Law) -> Floats:
    if found.parts is None or "welch" not in found.laws:
        return np.full(found.estimate.shape, np.nan)
    return law.pvalue(found.estimate, found.error, satterthwaite(*found.parts))


def _words(
    estimate: Floats, pvalue: Floats, equivalent: Floats, half: Floats, alpha: float
) -> tuple[Word, ...]:
    words: list[Word] = []
    for e, p, q, h in zip(
        estimate.tolist(), pvalue.tolist(), equivalent.tolist(), half.tolist(), strict=True
    ):
        if np.isnan(h):
            words.append("undecided")
        elif q <= alpha / 2:
            words.append("equivalent")
        elif p <= alpha:
            words.append("faster" if e > 0 else "slower")
        else:
            words.append("undecided")
    return tuple(words)
