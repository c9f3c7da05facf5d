"""How many sessions of how many runs a comparison needs, from a pilot of several sessions.

Sessions are what a claim rests on: the mean of S of them, with R blocks in each, has the variance
(between + within / R) / S, and its interval S - 1 degrees of freedom. More runs take away the second
part only, and many short sessions cost what each needs before its first run. So the cheapest of all
numbers of sessions and runs is looked for, with the t quantile of each in it.

References
----------
.. [1] T. Kalibera, R. Jones, "Rigorous benchmarking in reasonable time", ISMM 2013.
.. [2] N. L. Johnson, S. Kotz, N. Balakrishnan, "Continuous Univariate Distributions", volume 2, 1995,
   chapter 31.
"""

from __future__ import annotations

from collections.abc import Callable

from ...data import PerformanceMatrix
from ...errors import AnalysisError
from ...methods.speedup_test import speedup_test_suite
from ...stats import counted, door
from ..components import VarianceComponents, variance_components
from ..goal import WIDTH, check_on, goal_of
from ..log_interval import exponential
from .cautions import session_cautions
from .costs import TrialCosts
from .outlook import Outlook, benchmark_lines, judged, spread_of
from .result import On, SessionPlan
from .search import cheapest

__all__ = ["plan_sessions"]

_SHOWN = (2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 30, 50, 100)  # sessions that the table shows
_MOST = 10_000  # sessions, and runs of each
_PRECISION = 0.05  # of the Speedup-Test's proportion


@door
def plan_sessions(
    candidate: PerformanceMatrix,
    baseline: PerformanceMatrix,
    *,
    width: float | None = None,
    effect: float | None = None,
    on: On = "suite",
    power: float = 0.8,
    confidence: float = 0.95,
    max_sessions: int = 100,
    max_runs: int = 100,
    costs: TrialCosts | None = None,
) -> SessionPlan:
    """Find the cheapest sessions and runs that bring an interval of a width, or tell an effect.

    Parameters
    ----------
    candidate, baseline : PerformanceMatrix
        The pilot: two sessions or more that both sides have.
    width : float, optional
        Largest relative width of the interval, (high - low) / speedup, as expected: about every
        second comparison gets a narrower one. 0.02 where neither width nor effect is given.
    effect : float, optional
        Speedup that is to be told from 1, above or below it, with `power`.
    on : {"suite", "benchmarks"}
        Whether the mean over the benchmarks has to reach it, or each of them by itself (without a
        correction for how many they are).
    power : float
        Chance with which the effect is told, above 1 - `confidence`.
    confidence : float
        Of the two-sided interval.
    max_sessions, max_runs : int
        The most that are looked at; runs are those of each cell in a session.
    costs : TrialCosts, optional
        What sessions and runs cost, as `trial_costs` gives it; else a run costs 1, a session nothing.

    Returns
    -------
    SessionPlan
        The plan, other numbers of sessions beside it, what each benchmark gets, the components.

    Raises
    ------
    UsageError
        If an argument is out of range.
    InsufficientDataError
        If fewer than two sessions have values of both sides.
    AnalysisError
        If the two do not compare.

    Notes
    -----
    The variances are those of the log differences, by restricted likelihood (`variance_components`).
    With se = sqrt((between + within / R) / S), half the interval is t(S - 1) se on the log scale;
    the power is that of the two-sided t test with S - 1 degrees of freedom [2]_. All S and R are
    tried: the closed form of [1]_ leaves out the quantile, which alone forbids few sessions.
    """
    if width is None and effect is None:
        width = WIDTH
    goal = goal_of(width, effect, power, confidence)
    counted("max_sessions", max_sessions, least=2, most=_MOST)
    counted("max_runs", max_runs, most=_MOST)
    check_on(on)
    found = variance_components(candidate, baseline)
    lines = judged(found, on)
    spreads = tuple(spread_of(line) for line in lines)
    # with one run a session in the pilot, nothing says what more of them would bring
    most_runs = max_runs if any(line.run_sd is not None for line in lines) else 1
    best, least = cheapest(spreads, goal, _cost(costs), sessions=max_sessions, runs=most_runs)
    fewest = min(line.sessions for line in lines)
    shown = {s for s in _SHOWN if s <= max_sessions} | ({best[0]} if best else set())
    outlook = Outlook(lines=lines, goal=goal, costs=costs)
    low, high = (
        None if best is None else outlook.sessions_at(tail, best[1], most=max_sessions)
        for tail in (0.25, 0.75)
    )
    accelerated, needed = _benchmarks_needed(candidate, baseline)
    return SessionPlan(
        candidate=candidate.name,
        baseline=baseline.name,
        on=on if found.suite is not None else "benchmarks",
        confidence=confidence,
        power=power,
        width=width,
        effect=effect,
        speedup=exponential((found.suite or lines[0]).mean),
        pilot_sessions=found.sessions,
        pilot_runs=_pilot_runs(found),
        sessions=best[0] if best else None,
        runs=best[1] if best else None,
        seconds=costs.seconds(*best) if best and costs else None,
        sessions_low=low,
        sessions_high=high,
        max_sessions=max_sessions,
        max_runs=max_runs,
        costs=costs,
        table=tuple(outlook.row(s, least[s - 2]) for s in sorted(shown)),
        benchmarks=tuple(benchmark_lines(found, candidate, baseline, best, goal)),
        components=found,
        accelerated=accelerated,
        needed_benchmarks=needed,
        precision=_PRECISION,
        cautions=(*found.cautions, *session_cautions(lines, fewest=fewest, best=best, costs=costs)),
    )


def _cost(costs: TrialCosts | None) -> Callable[[int, int], float]:
    if costs is not None:
        return costs.seconds
    return lambda sessions, runs: float(sessions * runs)


def _pilot_runs(found: VarianceComponents) -> tuple[int, int]:
    """Give the fewest and the most blocks of a session, on the average of a benchmark."""
    each = [round(line.blocks / line.sessions) for line in found.benchmarks]
    return min(each), max(each)


def _benchmarks_needed(
    candidate: PerformanceMatrix, baseline: PerformanceMatrix
) -> tuple[int | None, int | None]:
    """Ask the Speedup-Test how many benchmarks its proportion needs; None where it cannot say."""
    try:
        share = speedup_test_suite(
            baseline=baseline, candidate=candidate, precision=_PRECISION
        ).proportion_median
    except AnalysisError:
        return None, None
    return share.accelerated, share.needed_benchmarks
