"""Student's t on differences over benchmarks, and the confidence interval technique, which is made of it.

The paired t-test asks whether the mean of the n differences is above 0. The "confidence interval
technique" that [1]_, section 5.2, sets beside it takes the two-sided interval of that mean: it claims
with confidence C what the interval of confidence C excludes. So a claim that the one-sided test makes
with confidence c has 2 c - 1 there. The paper does not print the formula; its Table 3 does by its
numbers: t confidences 0.91, 0.95, 0.96, 0.94, 0.89, 0.87 stand above 0.82, 0.90, 0.91, 0.89, 0.79, 0.73,
which is 2 c - 1 within rounding. Pair G (0.52 above 0.12) is none; nothing printed explains it.

References
----------
.. [1] T. Chen, Y. Chen, Q. Guo, O. Temam, Y. Wu, W. Hu, "Statistical performance comparisons of
   computers", 18th International Symposium on High Performance Computer Architecture, 2012.
"""

from __future__ import annotations

import math
from typing import Literal

from scipy.special import stdtr, stdtrit

from .samples import Array

Alternative = Literal["candidate", "two-sided"]


def student_pvalue(mean: float, error: float, freedom: float, alternative: Alternative) -> float:
    """Give the p of Student's t for a mean with its standard error.

    Without any spread it is 1 where the mean does not speak for the alternative, else 0.
    """
    if error == 0:
        return 1.0 if mean == 0 or (alternative == "candidate" and mean < 0) else 0.0
    if alternative == "candidate":
        return float(stdtr(freedom, -mean / error))
    return float(2 * stdtr(freedom, -abs(mean) / error))


def paired_pvalue(differences: Array, alternative: Alternative) -> float:
    """Give the p of the paired t-test over benchmarks; 1 with one benchmark, which has no spread.

    Parameters
    ----------
    differences : array of n
        Above 0 where the candidate is better.
    alternative : {"candidate", "two-sided"}
    """
    n = differences.size
    if n < 2:
        return 1.0
    error = math.sqrt(differences.var(ddof=1) / n)
    return student_pvalue(float(differences.mean()), error, n - 1.0, alternative)


def paired_interval(differences: Array, confidence: float) -> tuple[float, float] | None:
    """Give the two-sided t interval of the mean over benchmarks; None with one benchmark."""
    n = differences.size
    if n < 2:
        return None
    mean = float(differences.mean())
    reach = float(stdtrit(n - 1, (1 + confidence) / 2)) * math.sqrt(differences.var(ddof=1) / n)
    return mean - reach, mean + reach


def interval_confidence(one_sided: float) -> float:
    """Give the confidence of the interval technique in what the one-sided paired t claims with this one.

    It is that of the widest two-sided interval which excludes 0, and 0 where none does on that side.
    """
    return max(0.0, 2 * one_sided - 1)


def interval_pvalue(one_sided: float) -> float:
    """Give 1 - `interval_confidence` of a claim whose one-sided p this is, without its rounding."""
    return min(1.0, 2 * one_sided)
