"""When enough runs are there: the stopping rule, on counts and values of plain cells.

The interval is Welch and Satterthwaite's t interval on logarithms: each benchmark of each side is a
stratum of its own, and the suite's geometric mean is the mean of the strata on the log scale. A
loop with this interval keeps its confidence when it stops by its own width (.94 to .96 of 95 %); with
the percentile bootstrap it does not (.87 to .89).

The runner imports this module, through `analysis.planning`, when a campaign asks for it.
"""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from .record import SessionEnd, StopRule

__all__ = [
    "CONFIDENCE",
    "RunningSuite",
    "decide",
    "log_error",
    "log_half_width",
    "relative_width",
    "width_text",
]

Floats = NDArray[np.float64]

CONFIDENCE = 0.95  # of the interval whose width the rule looks at


def log_error(variances: Floats, counts: NDArray[Any], benchmarks: int) -> tuple[Floats, Floats]:
    """Give the standard error of a suite's mean log (difference), and its degrees of freedom.

    Parameters
    ----------
    variances : array, shape (..., strata)
        Variance of the logarithms (divisor n - 1) of each stratum: a benchmark of one side.
    counts : array, shape (..., strata) or (strata,)
        Runs of each stratum, at least 2.
    benchmarks : int
        How many benchmarks the suite has: the mean over them weighs each by 1 / `benchmarks`.

    Returns
    -------
    error, freedom : arrays, shape (...)
        0 and 1 where no stratum varies.

    Notes
    -----
    With u = variance / count, the standard error is sqrt(sum u) / benchmarks, and the degrees of
    freedom are (sum u)^2 / sum(u^2 / (count - 1)) (Welch 1947, Satterthwaite 1946).
    """
    share = np.asarray(variances, dtype=np.float64) / counts
    total = share.sum(axis=-1)
    some: NDArray[np.bool_] = np.asarray(total > 0)
    weights = share / np.expand_dims(np.where(some, total, 1.0), -1)
    spent = (weights**2 / (np.asarray(counts) - 1.0)).sum(axis=-1)
    return np.sqrt(total) / benchmarks, 1.0 / np.where(some, spent, 1.0)


def log_half_width(
    variances: Floats, counts: NDArray[Any], benchmarks: int, confidence: float
) -> Floats:
    """Give half the two-sided t interval on the log scale; arguments as in `log_error`.

    It is cut at 300, a factor of 1e130 to either side, so that no exponential of it overflows.
    """
    error, freedom = log_error(variances, counts, benchmarks)
    half: Floats = np.minimum(stdtrit(freedom, (1.0 + confidence) / 2.0) * error, 300.0)
    return half


def relative_width(half: Any) -> Any:  # noqa: ANN401 - a number or an array of them
    """Give (high - low) / estimate of an interval that is estimate * exp(-+ `half`)."""
    return 2.0 * np.sinh(half)


class RunningSuite:
    """Count, mean and spread of the logarithms of each cell, kept up run by run.

    Parameters
    ----------
    benchmarks, variants : int
        How many there are; a cell is one of each.
    """

    def __init__(self, benchmarks: int, variants: int) -> None:
        self._shape = (benchmarks, variants)
        cells = benchmarks * variants
        # plain lists: one addition at a time is faster than in an array
        self._count = [0] * cells
        self._mean = [0.0] * cells
        self._squares = [0.0] * cells  # sum of squared deviations (Welford 1962)

    def add(self, benchmark: int, variant: int, value: float) -> None:
        """Add one run's value, which must be positive."""
        cell = benchmark * self._shape[1] + variant
        log = math.log(value)
        self._count[cell] += 1
        step = log - self._mean[cell]
        self._mean[cell] += step / self._count[cell]
        self._squares[cell] += step * (log - self._mean[cell])

    @property
    def counts(self) -> NDArray[np.int64]:
        """Runs that count in each cell, shape (benchmarks, variants)."""
        return np.array(self._count, dtype=np.int64).reshape(self._shape)

    def widths(self, baseline: int, confidence: float = CONFIDENCE) -> Floats:
        """Give the relative width for each variant; nan for one that cannot be told yet.

        It is that of the interval of the speedup against the baseline, over the suite of all
        benchmarks; of a single variant, that of its own suite mean. The baseline's is nan.
        """
        benchmarks, variants = self._shape
        counts = self.counts
        squares = np.array(self._squares).reshape(self._shape)
        told = np.all(counts >= 2, axis=0)
        safe = np.maximum(counts, 2)
        variances = squares / (safe - 1)
        widths = np.full(variants, np.nan)
        for variant in range(variants):
            sides = [variant] if variants == 1 else [variant, baseline]
            if (variant == baseline and variants > 1) or not told[sides].all():
                continue
            strata = variances[:, sides].ravel()
            half = log_half_width(strata, safe[:, sides].ravel(), benchmarks, confidence)
            widths[variant] = relative_width(half)
        return widths


def decide(
    rule: StopRule,
    suite: RunningSuite,
    *,
    session: int,
    blocks: int,
    elapsed_s: float,
    baseline: int,
    benchmarks: tuple[str, ...],
    variants: tuple[str, ...],
) -> SessionEnd | None:
    """Decide after a whole block whether a session has enough runs.

    It has when every variant's interval is narrow enough and every cell has `rule.min_runs` runs
    that count. It ends all the same, and says so, after `rule.max_runs` blocks or
    `rule.max_time_s`.

    Parameters
    ----------
    rule : StopRule
        The campaign's.
    suite : RunningSuite
        What was measured in this session so far.
    session, blocks : int
        The session's number, and how many blocks of it are complete.
    elapsed_s : float
        Time of the session so far.
    baseline : int
        Index of the baseline among `variants`.
    benchmarks, variants : tuple of str
        Their names.

    Returns
    -------
    SessionEnd or None
        Why the session ends; None when it goes on.
    """
    late = rule.max_time_s is not None and elapsed_s >= rule.max_time_s
    if blocks < rule.min_runs and not late:
        return None
    counts = suite.counts
    widths = suite.widths(baseline)
    own = np.arange(len(variants)) != baseline
    judged = widths[own] if len(variants) > 1 else widths
    known = bool(np.isfinite(judged).all())
    width = float(judged.max()) if known else None
    told = width_text(width, rule.width)
    enough = int(counts.min()) >= rule.min_runs
    if width is not None and width <= rule.width and enough:
        why: Literal["width", "max_runs", "max_time"] = "width"
        head = f"width {told} <= {rule.width:g} after {blocks} runs a cell"
    elif blocks >= rule.max_runs:
        why, head = "max_runs", f"max_runs {rule.max_runs} reached, width {told}"
    elif late:
        why = "max_time"
        head = f"max_time {rule.max_time_s:g} s reached after {blocks} runs a cell, width {told}"
    else:
        return None
    if width is not None and len(variants) > 2:
        head += f" (widest: {variants[int(np.nanargmax(widths))]})"
    if not enough and why != "width":
        row, column = divmod(int(counts.argmin()), len(variants))
        head += (
            f"; {benchmarks[row]} / {variants[column]} has {int(counts.min())} of the"
            f" {rule.min_runs} runs that must count"
        )
    return SessionEnd(session=session, runs=blocks, why=why, width=width, text=head)


def width_text(width: float | None, limit: float) -> str:
    """Write a width with as many digits as keep it on its side of the limit."""
    if width is None:
        return "unknown"
    for digits in range(3, 17):
        text = f"{width:.{digits}g}"
        if (float(text) <= limit) == (width <= limit):
            return text
    return repr(width)
