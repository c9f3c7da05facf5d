"""A difference over sessions with its interval, and the correction for how many functions are looked at.

t over sessions: the n differences of a row have a mean and a standard error, n - 1 degrees of freedom. Of a
function the error is never smaller than what counting whole samples leaves unknown.

Notes
-----
A function that each profiled run executes once, in one piece that lasts lambda samples, is hit floor(lambda) times
or once more: with variance f (1 - f) for the fraction f of lambda, 1/6 in the mean over f. Over r runs the sum has
r / 6, and a sample stands for `step` milliseconds, so that a session's difference has a variance of at least
r / 6 (step_baseline^2 + step_candidate^2). Without it, functions of a few samples a session would have equal
differences in four or six sessions by chance, an error near 0, and names that are false.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.special import stdtrit

from ..stats.multiplicity import adjusted
from ..stats.paired_t import student_pvalue
from ..stats.samples import Array
from .result import Row
from .session_table import Side

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
