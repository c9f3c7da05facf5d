"""What numbers of sessions and runs would bring, line by line."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from dataclasses import dataclass

from scipy.special import chdtri, stdtrit

from ...data import PerformanceMatrix
from ...errors import InsufficientDataError
from ...stats import least_shift
from ..components import ComponentLine, VarianceComponents, component_lines, values_of
from ..goal import Goal
from ..log_interval import WIDEST, relative_width
from .costs import TrialCosts
from .result import On, PlannedBenchmark, PlannedSessions
from .search import Spread, errors, least_sessions

__all__ = ["Outlook", "benchmark_lines", "judged", "spread_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """The lines that a goal is asked of, and what sessions and runs cost."""

    lines: tuple[ComponentLine, ...]
    goal: Goal
    costs: TrialCosts | None

    def row(self, sessions: int, runs: int | None) -> PlannedSessions:
        """Say what so many sessions bring, with the least runs that reach the goal."""
        if runs is None:
            return PlannedSessions(
                sessions=sessions, runs=None, seconds=None, width=None, detectable=None
            )
        spreads = tuple(map(spread_of, self.lines))
        width, detectable = brought(spreads, self.goal, (sessions, runs))
        return PlannedSessions(
            sessions=sessions,
            runs=runs,
            seconds=None if self.costs is None else self.costs.seconds(sessions, runs),
            width=width,
            detectable=detectable,
        )

    def sessions_at(self, quantile: float, runs: int, *, most: int) -> int | None:
        """Give the sessions needed if the true variances were at their quantile given the pilot's.

        The variance of a session's difference is taken to be estimated as a chi square of the
        freedom that Satterthwaite gives it.
        """
        moved = []
        for line in self.lines:
            freedom = _freedom(line, runs)
            moved.append(spread_of(line).times(freedom / float(chdtri(freedom, quantile))))
        return least_sessions(tuple(moved), self.goal, runs, most=most)


def _freedom(line: ComponentLine, runs: int) -> float:
    """Give the degrees of freedom of between + within / `runs`, which the pilot's squares add up to.

    With n blocks a session in the pilot that is its variance of session means, plus the variance
    within times (1 / runs - 1 / n). A plan of more runs than the pilot's takes the last away, and has
    less freedom than sessions less one; it is cut at 1.
    """
    spread = spread_of(line)
    size = line.blocks / line.sessions
    means = spread.between + spread.within / size
    rest = spread.within * (1 / runs - 1 / size)
    known = means**2 / (line.sessions - 1) + rest**2 / max(line.blocks - line.sessions, 1)
    return max((means + rest) ** 2 / known, 1.0) if known > 0 else line.sessions - 1.0


def judged(found: VarianceComponents, on: On) -> tuple[ComponentLine, ...]:
    """Give the lines that have to reach the goal.

    Raises
    ------
    InsufficientDataError
        If it is the suite's mean, and fewer than two sessions have a block with all benchmarks.
    """
    if on == "benchmarks" or len(found.benchmarks) == 1:
        return found.benchmarks
    if found.suite is None:
        raise InsufficientDataError(
            "fewer than two sessions have a block in which every benchmark has a run that counts",
            f"{found.candidate} and {found.baseline}",
            "plan for each benchmark instead (on='benchmarks', --on benchmarks)",
            n=0,
            needed=2,
        )
    return (found.suite,)


def spread_of(line: ComponentLine) -> Spread:
    """Take a line's variances; what cannot be told from the session stays with it."""
    return Spread(between=line.session_sd**2, within=(line.run_sd or 0.0) ** 2)


def brought(
    spreads: tuple[Spread, ...], goal: Goal, plan: tuple[int, int]
) -> tuple[float, float | None]:
    """Give the relative width, and the speedup that is told from 1; None beyond all numbers."""
    sessions, runs = plan
    error = float(errors(spreads, sessions, runs)[-1, -1])
    half, shift = (factor * error for factor in _factors(sessions - 1, goal.power, goal.alpha))
    width = float(relative_width(min(half, WIDEST)))
    return width, math.exp(shift) if shift < WIDEST else None


@functools.lru_cache(maxsize=256)
def _factors(freedom: int, power: float, alpha: float) -> tuple[float, float]:
    """Give half the interval, and what is told with this power, in standard errors."""
    return float(stdtrit(freedom, 1 - alpha / 2)), float(least_shift(power, freedom, alpha))


def benchmark_lines(
    found: VarianceComponents,
    candidate: PerformanceMatrix,
    baseline: PerformanceMatrix,
    plan: tuple[int, int] | None,
    goal: Goal,
) -> Iterator[PlannedBenchmark]:
    """Give each benchmark, and last the mean over these, with its spreads and what a plan brings."""
    names = [line.name for line in found.benchmarks]
    own = [component_lines(values_of(matrix.select(names))) for matrix in (candidate, baseline)]
    rows = [
        (line, *sides)
        for line, *sides in zip(found.benchmarks, *(lines for lines, _ in own), strict=True)
    ]
    if found.suite is not None:
        rows.append((found.suite, *(suite for _, suite in own)))
    for line, ours, theirs in rows:
        width, detectable = (
            (None, None) if plan is None else brought((spread_of(line),), goal, plan)
        )
        yield PlannedBenchmark(
            name=line.name,
            session_sd=line.session_sd,
            run_sd=line.run_sd,
            session_sd_candidate=None if ours is None else ours.session_sd,
            run_sd_candidate=None if ours is None else ours.run_sd,
            session_sd_baseline=None if theirs is None else theirs.session_sd,
            run_sd_baseline=None if theirs is None else theirs.run_sd,
            width=width,
            detectable=detectable,
        )
