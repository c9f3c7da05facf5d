"""The stopping rule of a campaign: when a session has enough runs, on values of plain cells.

Two t intervals on logarithms are looked at, and the wider one decides. That of `log_interval` takes
every run as independent; the other takes each round as one value. A loop with the first keeps its
confidence when it stops by its own width (.94 to .96 of 95 %), where the percentile bootstrap does
not (.87 to .89); but only as long as the runs of a round are independent.

The runner imports this module, through `analysis.plan`, when a campaign asks for it; its
``session_stop`` feeds it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from ..errors import AnalysisError
from ..record.manifest import WarmupIterations
from ..record.trial_files import SessionEnd, StopReason, StopRule
from ..stats.steady_state import steady_state

# --- Welch and Satterthwaite's t interval of a suite's geometric mean, on logarithms.
#
# Every run counts as independent: each benchmark of each side is a stratum of its own, and the suite's
# geometric mean is the mean of the strata on the log scale.
#
# References
# ----------
# .. [1] B. L. Welch, "The generalization of 'Student's' problem when several different population
#    variances are involved", Biometrika 34, 1947.
# .. [2] F. E. Satterthwaite, "An approximate distribution of estimates of variance components",
#    Biometrics Bulletin 2, 1946.


Floats = NDArray[np.float64]
Counts = NDArray[Any]

APART = "look for values that are not measurements: they lie too far apart"
WIDEST = 300.0  # on the log scale: a factor of 1e130 to either side, whose exponential is finite
CONFIDENCE = 0.95  # of the intervals whose width the rule looks at


def log_error(variances: Floats, counts: Counts, benchmarks: int) -> tuple[Floats, Floats]:
    """Give the standard error of a suite's mean log (difference), and its degrees of freedom.

    Notes
    -----
    With u = variance / count, the standard error is sqrt(sum u) / benchmarks, and the degrees of
    freedom are (sum u)^2 / sum(u^2 / (count - 1)) ([1]_, [2]_).
    """
    share = np.asarray(variances, dtype=np.float64) / counts
    total = share.sum(axis=-1)
    some: NDArray[np.bool_] = np.asarray(total > 0)
    weights = share / np.expand_dims(np.where(some, total, 1.0), -1)
    spent = (weights**2 / (np.asarray(counts) - 1.0)).sum(axis=-1)
    return np.sqrt(total) / benchmarks, 1.0 / np.where(some, spent, 1.0)


def log_half_width(variances: Floats, counts: Counts, benchmarks: int, confidence: float) -> Floats:
    """Give half the two-sided t interval on the log scale; arguments as in `log_error`."""
    error, freedom = log_error(variances, counts, benchmarks)
    return np.minimum(stdtrit(freedom, (1.0 + confidence) / 2.0) * error, WIDEST)


def relative_width(half: Any) -> Any:  # noqa: ANN401 - a number or an array of them
    """Give (high - low) / estimate of an interval that is estimate * exp(-+ `half`)."""
    return 2.0 * np.sinh(half)


def exponential(log: float) -> float:
    """Give e to the power of an end of an interval."""
    try:
        return math.exp(log)
    except OverflowError:
        what = "the interval of the speedup leaves the range of numbers"
        raise AnalysisError(what, fix=APART) from None


def width_text(width: float | None, limit: float) -> str:
    """Write a width with as many digits as keep it on its side of the limit."""
    if width is None:
        return "unknown"
    for digits in range(3, 17):
        text = f"{width:.{digits}g}"
        if (float(text) <= limit) == (width <= limit):
            return text
    return repr(width)


class RunningSuite:
    """The logarithms of one session's runs: rounds by benchmarks by variants."""

    def __init__(self, benchmarks: int, variants: int) -> None:
        self._logs = np.full((8, benchmarks, variants), np.nan)
        self._blocks = 0
        self._there = np.ones((benchmarks, variants), dtype=np.bool_)

    def give_up(self, benchmark: int, variant: int) -> None:
        """Go on without a cell: the other benchmarks alone answer what needs it."""
        self._there[benchmark, variant] = False

    def add(self, block: int, benchmark: int, variant: int, value: float) -> None:
        """Add one run's value, which must be positive; blocks count from 1."""
        if block > len(self._logs):
            more = np.full((block, *self._logs.shape[1:]), np.nan)
            self._logs = np.concatenate([self._logs, more])
        self._logs[block - 1, benchmark, variant] = math.log(value)
        self._blocks = max(self._blocks, block)

    @property
    def counts(self) -> NDArray[np.int64]:
        """Runs that count in each cell, shape (benchmarks, variants)."""
        counts: NDArray[np.int64] = (~np.isnan(self._logs[: self._blocks])).sum(axis=0)
        return counts

    def widths(self, baseline: int, confidence: float = CONFIDENCE) -> Floats:
        """Give the relative width for each variant; nan for one that is not known yet.

        It is that of the wider one of `half_widths` for the speedup against the baseline; of a
        single variant, for its own suite mean. The baseline's is nan.
        """
        variants = self._logs.shape[2]
        widths = np.full(variants, np.nan)
        for variant in range(variants):
            if variant == baseline and variants > 1:
                continue
            sides = [variant] if variants == 1 else [variant, baseline]
            there = self._there[:, sides].all(axis=1)
            if not there.any():
                widths[variant] = 0.0  # nothing is left to find, so nothing to wait for
            elif (self.counts[there][:, sides] >= 2).all():
                widths[variant] = relative_width(max(self.half_widths(sides, confidence)))
        return widths

    def fewest(self) -> tuple[int, int, int]:
        """Give the fewest runs of a cell that was not given up, and its place."""
        counts = np.where(self._there, self.counts, np.iinfo(np.int64).max)
        row, column = divmod(int(counts.argmin()), counts.shape[1])
        return int(counts[row, column]), row, column

    def half_widths(self, sides: list[int], confidence: float = CONFIDENCE) -> tuple[float, float]:
        """Give half of two intervals on the log scale: over runs, and over rounds.

        Over runs, every run counts as independent (`log_half_width`). Over rounds, it is whole
        rounds that do: what the runs of a round have in common cancels between two sides, and adds
        up over the benchmarks of one.

        Notes
        -----
        Over rounds: with c the sum of (log - mean of its cell) / (benchmarks * runs of its cell),
        taken over one round with the other side's sign turned, the variance is G / (G - 1) times the
        sum of c^2 over the G rounds. Where no run is missing it is that of the mean of the rounds'
        own log ratios. The degrees of freedom are the least runs of a cell less 1.
        """
        kept = self._there[:, sides].all(axis=1)
        logs = self._logs[: self._blocks][:, kept][:, :, sides]
        there = ~np.isnan(logs)
        counts = there.sum(axis=0)
        means = np.where(there, logs, 0.0).sum(axis=0) / counts
        varies = np.nanmax(logs, axis=0) > np.nanmin(logs, axis=0)  # a constant's mean is rounded
        parts = np.where(there & varies, logs - means, 0.0)
        benchmarks = len(counts)
        variances = (parts**2).sum(axis=0) / (counts - 1)
        runs = log_half_width(variances.ravel(), counts.ravel(), benchmarks, confidence)
        signed = parts / counts / benchmarks * np.array([1.0, -1.0])[: len(sides)]
        rounds = int(there.any(axis=(1, 2)).sum())
        error = math.sqrt(rounds / (rounds - 1) * float((signed.sum(axis=(1, 2)) ** 2).sum()))
        quantile = float(stdtrit(int(counts.min()) - 1, (1.0 + confidence) / 2.0))
        return float(runs), min(quantile * error, WIDEST)


def judged_mean(values: Sequence[float], warmup: WarmupIterations, *, higher: bool) -> float | None:
    """Give the mean of those iterations of a run that the verdict will judge; None where none is left."""
    if warmup == "auto":
        warmup = steady_state(np.array(values), higher=higher).first if values else 0
    judged = values[warmup:]
    return sum(judged) / len(judged) if judged else None


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
    """
    late = rule.max_time_s is not None and elapsed_s >= rule.max_time_s
    if blocks < rule.min_runs and not late:
        return None
    widths = suite.widths(baseline)
    own = np.arange(len(variants)) != baseline
    judged = widths[own] if len(variants) > 1 else widths
    known = bool(np.isfinite(judged).all())
    width = float(judged.max()) if known else None
    text = f"width {width_text(width, rule.width)}"
    fewest, row, column = suite.fewest()
    enough = fewest >= rule.min_runs
    why: StopReason = "max_runs" if blocks >= rule.max_runs else "max_time"
    if width is not None and width <= rule.width and enough:
        why = "width"
    elif not late and why != "max_runs":
        return None
    runs, here = f"after {blocks} runs a cell", "within this session"
    head = {
        "width": f"{text} <= {rule.width:g} {here}, {runs}",
        "max_runs": f"max_runs {rule.max_runs} reached, {text} {here}",
        "max_time": f"max_time {rule.max_time_s or 0:g} s reached {runs}, {text} {here}",
    }[why]
    if width is not None and len(variants) > 2:
        head += f" (widest: {variants[int(np.nanargmax(widths))]})"
    if not enough and why != "width":
        head += f"; {benchmarks[row]} / {variants[column]} has {fewest} of the"
        head += f" {rule.min_runs} runs that must count"
    return SessionEnd(session=session, runs=blocks, why=why, width=width, text=head)
