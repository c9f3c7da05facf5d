"""What the paper sets beside HPT: the paired t-test on scores, and the confidence interval technique.

[1]_, section 5.2, gives for each of three rules its confidence in a stated speedup (Table 3) and the
largest speedup with a confidence r (Table 4). The paired t-test is one-sided, on the differences of
scores over the benchmarks; the interval technique is made of it (`analysis.stats.paired_t`).

The mean of u - g v reaches a t of q up to the lower end of Fieller's interval [2]_ for mean(u)/mean(v).

References
----------
.. [1] T. Chen, Y. Chen, Q. Guo, O. Temam, Y. Wu, W. Hu, "Statistical performance comparisons of
   computers", 18th International Symposium on High Performance Computer Architecture, 2012.
.. [2] E. C. Fieller, "Some problems in interval estimation", Journal of the Royal Statistical
   Society B 16, 1954.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np

from ...stats.samples import Array
from .compare import HptQuestion
from .speedup import HptSpeedup
from .winners import lines_of, stack

Rule = Literal["hpt", "paired t", "interval"]
_SPREAD = 1e-12  # spread that is less, relatively, is rounding


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherRule:
    """What one rule says of a stated speedup, and the largest speedup that it claims.

    `confidence` is the rule's at the speedup under test, `confidence_loss` it relative to the level
    asked for, less 1. `speedup` is the largest with that level, `speedup_error` it relative to HPT's,
    less 1. None where there is none: one benchmark, no spread, or no speedup with that level.
    """

    rule: Rule
    confidence: float | None
    confidence_loss: float | None
    speedup: float | None
    speedup_error: float | None


def paired_t_confidence(u: Array, v: Array, speedup: float = 1.0) -> float | None:
    """Give 1 - p of the one-sided paired t-test that u is more than `speedup` times v in the mean.

    `u`, `v`: scores of both sides, one a benchmark, larger is better. None without spread.
    """
    from ...stats.paired_t import paired_pvalue

    d = u - speedup * v
    sd = float(np.std(d, ddof=1)) if d.size > 1 else 0.0
    if sd <= _SPREAD * float(np.max(np.abs(u)) + np.max(np.abs(speedup * v))):
        return None
    return 1 - paired_pvalue(d, "candidate")


def paired_t_speedup(u: Array, v: Array, confidence: float = 0.95) -> float | None:
    """Give the largest speedup that the one-sided paired t-test claims with a confidence above 0.5.

    `u`, `v`: as for `paired_t_confidence`. None with one benchmark, without spread, or where no
    positive speedup has the confidence.
    """
    from scipy.special import stdtrit

    n = u.size
    if n < 2 or not float(np.mean(v)) > 0 or not float(np.mean(u)) > 0:
        return None
    u, v, scale = u / np.mean(u), v / np.mean(v), float(np.mean(u) / np.mean(v))
    uu, uv, vv = (float(np.mean((x - 1) * (y - 1))) for x, y in ((u, u), (u, v), (v, v)))
    if max(uu, vv) <= _SPREAD**2:
        return None
    # (1 - g)^2 = q^2 (uu - 2 g uv + g^2 vv) with both means 1: the largest such g up to 1
    q2 = float(stdtrit(n - 1, confidence)) ** 2 / (n - 1)
    a, b, c = 1 - q2 * vv, 1 - q2 * uv, 1 - q2 * uu
    inside = b * b - a * c
    if inside < 0:
        if inside < -1e-14 * max(b * b, abs(a * c)):
            return None
        inside = 0.0
    root = math.sqrt(inside)
    far = b + math.copysign(root, b)
    found = [*([] if a == 0 else [far / a]), *([] if far == 0 else [c / far])]
    below = [g for g in found if 0 < g <= 1 + 1e-12]
    return max(below) * scale if below else None


def other_rules(question: HptQuestion, best: HptSpeedup, confidence: float) -> list[OtherRule]:
    """Set HPT's confidence and r-Speedup beside those of the two other rules.

    `confidence`: HPT's at the speedup under test. The rules look at the medians of the scores.
    """
    required, g = question.confidence, question.speedup
    from ...stats.paired_t import interval_confidence

    lines = lines_of(stack(question), question)
    if lines.kind == "log-ratio":  # the differences are logarithms less log g
        d = -lines.level
        reached = paired_t_confidence(d - math.log(g), np.zeros(d.size))
        largest = partial(_log_speedup, d)
    else:
        u, v = (-lines.level, -lines.slope) if lines.negated else (lines.slope, lines.level)
        reached = paired_t_confidence(u, v, g)
        largest = partial(paired_t_speedup, u, v)
    between = None if reached is None else interval_confidence(reached)
    at: dict[Rule, tuple[float | None, float | None]] = {
        "hpt": (confidence, best.value),
        "paired t": (reached, largest(required)),
        "interval": (between, largest((1 + required) / 2)),
    }
    return [
        OtherRule(
            rule=rule,
            confidence=here,
            confidence_loss=None if here is None else here / required - 1,
            speedup=speedup,
            speedup_error=None
            if speedup is None or best.value is None
            else speedup / best.value - 1,
        )
        for rule, (here, speedup) in at.items()
    ]


def _log_speedup(d: Array, confidence: float) -> float | None:
    """Give exp of the lower end of the one-sided t interval of the mean of d."""
    from ...stats.paired_t import paired_interval

    ends = paired_interval(d, 2 * confidence - 1)
    if ends is None or float(np.std(d, ddof=1)) <= _SPREAD * float(np.max(np.abs(d))):
        return None
    return math.exp(ends[0])
