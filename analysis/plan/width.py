"""The width of an interval by the number of runs.

[1]_ looks at a bootstrap interval after each further run. Here the interval is a t interval on
logarithms by default: the percentile bootstrap is too narrow at few runs, and a loop that stops
by its width picks its narrowest moments.

References
----------
.. [1] S. Irving, B. Li, S. Chen, L. Peng, W. Zhang, L. Duan, "Computer comparisons in the presence
   of performance variation", Frontiers of Computer Science, 2018, section 8.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Literal, get_args

import numpy as np

from ..data.matrix import PerformanceMatrix
from ..data.pair import match
from ..errors import AnalysisError, UsageError
from ..pages.model import Caution
from ..stats.arguments import checks_arguments, counted
from .components import check_positive, check_runs, check_share, matched, sign_of
from .result import Interval, LoopStep, Scale, WidthLoop
from .stop_rule import Floats, exponential, log_half_width

_COST: dict[Interval, str] = {
    "t": "stopping by the width of the same runs keeps the t interval near its confidence: .94 "
    "(width .025) and .96 (.035) of a nominal .95 in simulation",
    "studentized": "stopping by the width of the same runs costs some confidence; plan the number "
    "beforehand, or measure afresh, where the level must hold",
    "percentile": "the percentile interval is the published one: it is too narrow at few runs, and "
    "stopped by its width it covers about 87 % (width .025) to 89 % (.035) where 95 % is nominal; "
    "use the t interval",
}
_EARLY = 5  # a loop that starts at fewer runs may meet a small spread by chance
_SMALL = 10  # a pilot with fewer runs has hardly shown what is rare


def loop_cautions(interval: Interval, start: int) -> Iterator[Caution]:
    """Say what stopping by the width leaves of the confidence."""
    yield Caution("stopped-by-width", _COST[interval])
    if start < _EARLY:
        said = f"a loop that starts at {start} runs may stop on a spread seen by chance"
        yield Caution("early-start", said)


def plan_cautions(ours: PerformanceMatrix, theirs: PerformanceMatrix) -> Iterator[Caution]:
    """Say what a plan rests on."""
    yield Caution(
        "within-session",
        "the widths are those within one session: what differs from session to session is not in "
        "them, and no number of runs averages it out; plan several sessions",
    )
    if ours.sessions is None or theirs.sessions is None:
        said = "the pilot does not say which runs share a session: all count as one"
        yield Caution("sessions-unknown", said)
    fewest = min(*ours.runs, *theirs.runs)
    if fewest < _SMALL:
        yield Caution(
            "small-pilot",
            f"the pilot has only {fewest} runs of some benchmark: what it has not shown, such as "
            "rare slow runs, is not in the plan",
        )


@checks_arguments
def t_interval(
    candidate: PerformanceMatrix, baseline: PerformanceMatrix, *, confidence: float = 0.95
) -> tuple[float, float, float]:
    """Give the speedup of the suite's geometric mean with its t interval on logarithms.

    Where cells have unequal numbers of runs, those of equally many are a part of the half-width each,
    with a quantile of t of its own: Welch's t is too narrow where one side is much shorter.
    """
    check_share("confidence", confidence)
    pair = match(candidate, baseline)
    left_out = [caution for caution in pair.cautions if caution.code == "benchmarks-of-one-side"]
    if left_out:
        raise AnalysisError(
            left_out[0].text,
            f"{candidate.name} against {baseline.name}",
            "select the common ones",
        )
    ours, theirs = pair.candidate, pair.baseline
    rows = [np.log(values) for values in (*ours.samples, *theirs.samples)]
    check_runs(ours, theirs, 2)
    log, half = _log_interval(rows, sign_of(ours), confidence)
    return exponential(log), exponential(log - half), exponential(log + half)


@checks_arguments
def width_loop(
    candidate: PerformanceMatrix,
    baseline: PerformanceMatrix,
    *,
    width: float,
    interval: Interval = "t",
    scale: Scale = "relative",
    confidence: float = 0.95,
    start: int = 5,
    step: int = 1,
    max_runs: int | None = None,
    resamples: int = 1000,
    rng: np.random.Generator | None = None,
) -> WidthLoop:
    """Raise the number of runs until the interval of the speedup is narrow enough.

    The loop of section 8, figure 13 of [1]_: the first `start` runs of each benchmark and side are
    looked at, then `step` more at a time, in the order in which they were measured.

    Parameters
    ----------
    candidate, baseline : PerformanceMatrix
        Runs in their order; the loop ends where the shortest benchmark does.
    width : float
        The largest width that is narrow enough.
    interval : {"t", "studentized", "percentile"}
        "t" is Welch and Satterthwaite's on logarithms; the others are `bootstrap_speedup`'s, of which
        "percentile" is the published one.
    scale : {"relative", "absolute"}
        Whether `width` is that of (high - low) / speedup, or of high - low as published.
    confidence : float
        Nominal confidence of each interval.
    start, step : int
        First number of runs (3 as published, 5 by default) and increase.
    max_runs : int, optional
        The cap; as many as there are by default.
    resamples : int
        Of each bootstrap interval.
    rng : numpy.random.Generator, optional
        For bootstrap intervals only.

    Returns
    -------
    WidthLoop
        Every look, where it stopped, and why.

    Raises
    ------
    UsageError
        If an argument is out of range, or `rng` is missing.
    InsufficientDataError
        If a benchmark has fewer than `start` runs.

    Notes
    -----
    Widths need not fall from look to look (0.0153 at 13 runs and 0.0155 at 15 in table 13 of
    [1]_), so stopping at the first one below the limit favours lucky moments.
    """
    check_share("confidence", confidence)
    check_positive("width", width)
    if interval not in get_args(Interval) or scale not in get_args(Scale):
        raise UsageError(f"unknown interval {interval!r} or scale {scale!r}")
    counted("start", start, least=2)
    counted("step", step)
    if max_runs is not None:
        counted("max_runs", max_runs, least=start)
    ours, theirs, known = matched(candidate, baseline)
    check_runs(ours, theirs, start)
    there = min(*ours.runs, *theirs.runs)
    most = there if max_runs is None else min(max_runs, there)
    find = _finder(
        ours,
        theirs,
        most,
        interval=interval,
        confidence=confidence,
        resamples=resamples,
        rng=rng,
    )
    steps: list[LoopStep] = []
    for runs in _looks(start, step, most):
        speedup, low, high = find(runs)
        found = high - low if scale == "absolute" else (high - low) / speedup
        steps.append(LoopStep(runs=runs, speedup=speedup, low=low, high=high, width=found))
        if found <= width:
            break
    why: Literal["width", "max_runs", "data"] = "width"
    if steps[-1].width > width:
        why = "max_runs" if max_runs is not None and max_runs <= there else "data"
    return WidthLoop(
        candidate=ours.name,
        baseline=theirs.name,
        interval=interval,
        scale=scale,
        confidence=confidence,
        limit=width,
        runs=steps[-1].runs,
        why=why,
        steps=tuple(steps),
        cautions=(*known, *loop_cautions(interval, start)),
    )


def _finder(
    ours: PerformanceMatrix,
    theirs: PerformanceMatrix,
    most: int,
    *,
    interval: Interval,
    confidence: float,
    resamples: int,
    rng: np.random.Generator | None,
) -> Callable[[int], tuple[float, float, float]]:
    """Give the function that finds the interval from the first runs of each benchmark."""
    if interval == "t":
        logs = np.log([values[:most] for values in (*ours.samples, *theirs.samples)])
        sign, half_of_rows = sign_of(ours), len(ours.samples)

        def by_t(runs: int) -> tuple[float, float, float]:
            seen = logs[:, :runs]
            means = seen.mean(axis=1)
            variances = np.where(np.ptp(seen, axis=1) == 0, 0.0, seen.var(axis=1, ddof=1))
            counts = np.full(len(seen), runs)
            log = sign * float(means[:half_of_rows].mean() - means[half_of_rows:].mean())
            half = float(log_half_width(variances, counts, half_of_rows, confidence))
            return exponential(log), exponential(log - half), exponential(log + half)

        return by_t
    if rng is None:
        raise UsageError(
            f"the {interval} interval is random", fix="give rng, a numpy.random.Generator"
        )
    from ..methods.resampling.bootstrap import bootstrap_speedup

    def by_bootstrap(runs: int) -> tuple[float, float, float]:
        found = bootstrap_speedup(
            _first(ours, runs),
            _first(theirs, runs),
            interval=interval,
            confidence=confidence,
            resamples=resamples,
            rng=rng,
        )
        return found.ratio, found.low, found.high

    return by_bootstrap


def _first(matrix: PerformanceMatrix, runs: int) -> PerformanceMatrix:
    """Give the first runs of each benchmark, without identities: runs are what is drawn."""
    return PerformanceMatrix.from_samples(
        matrix.name,
        {b: row[:runs] for b, row in zip(matrix.benchmarks, matrix.samples, strict=True)},
        better=matrix.better,
        unit=matrix.unit,
    )


def _log_interval(rows: list[Floats], sign: int, confidence: float) -> tuple[float, float]:
    half = len(rows) // 2
    means = [float(row.mean()) for row in rows]
    variances = np.array([0.0 if row.min() == row.max() else row.var(ddof=1) for row in rows])
    counts = np.array([row.size for row in rows])
    log = sign * (math.fsum(means[:half]) - math.fsum(means[half:])) / half
    # cells of equally many runs share a freedom; a shorter one has a quantile of its own (Banerjee 1960)
    parts = [
        float(log_half_width(variances[counts == n], counts[counts == n], half, confidence))
        for n in np.unique(counts)
    ]
    return log, math.hypot(*parts)


def _looks(start: int, step: int, most: int) -> Iterator[int]:
    yield from range(start, most, step)
    yield most
