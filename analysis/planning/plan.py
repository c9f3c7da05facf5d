"""How many runs: width, error and power against the number of runs, and the published loop.

[1]_ asks how many runs m of each benchmark a comparison needs: in simulations on known data, power
rises and mean squared error and interval width fall with m; on real ones, m is raised until the
interval is narrow enough. Here the pilot's own runs are the population of the simulation, and the
interval of the loop is a t interval on logarithms by default: the percentile bootstrap of [1]_ is
too narrow at small m, and a loop that stops by its width picks its narrowest moments.

References
----------
.. [1] S. Irving, B. Li, S. Chen, L. Peng, W. Zhang, L. Duan, "Computer comparisons in the presence
   of performance variation", Frontiers of Computer Science, 2018, section 8.
.. [2] B. L. Welch, "The generalization of 'Student's' problem when several different population
   variances are involved", Biometrika 34, 1947.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..data import PerformanceMatrix
from ..stats import counted, door
from .cautions import plan_cautions
from .goal import check_wanted
from .pair import check_runs, check_share, matched
from .pilot import LEAST_RUNS, Simulation, least_runs
from .result import Interval, RunPlan
from .width import width_loop

__all__ = ["GRID", "MOST_RUNS", "plan_runs"]

MOST_RUNS = 10_000
GRID = (3, 5, 7, 10, 15, 20, 30, 50, 100)  # the numbers of runs in section 8 of [1]


@door
def plan_runs(
    candidate: PerformanceMatrix,
    baseline: PerformanceMatrix,
    *,
    width: float | None = None,
    effect: float | None = None,
    power: float = 0.8,
    confidence: float = 0.95,
    max_runs: int = 1000,
    grid: Sequence[int] = GRID,
    interval: Interval = "t",
    simulations: int = 1000,
    rng: np.random.Generator,
    seed: int | None = None,
) -> RunPlan:
    """Say how many runs of each benchmark and side a trial needs, from pilot runs.

    Trials of m runs are drawn with replacement from the pilot's logarithms, each around the mean of
    its session and widened by sqrt(n / (n - sessions)), without which resampling would understate
    the spread of n runs. Every simulated trial gets the t interval of `t_interval`.

    Parameters
    ----------
    candidate, baseline : PerformanceMatrix
        The pilot: at least three runs of each benchmark.
    width : float, optional
        Largest relative width of the interval, (high - low) / speedup.
    effect : float, optional
        Speedup that is to be told from 1, above or below it.
    power : float
        Probability with which width and effect are to be reached.
    confidence : float
        Of the two-sided interval.
    max_runs : int
        The cap of the search, at most 10,000.
    grid : sequence of int
        Numbers of runs that the table shows; those above `max_runs` are left out.
    interval : {"t", "studentized", "percentile"}
        Of the loop on the pilot's own runs.
    simulations : int
        Simulated trials for each number of runs.
    rng : numpy.random.Generator
        Each benchmark, side and number of runs gets a stream of its own from it.
    seed : int, optional
        What `rng` was made from; stands in the result.

    Returns
    -------
    RunPlan
        The answers, the table, the loop on the pilot's runs, and cautions.

    Raises
    ------
    UsageError
        If an argument is out of range.
    InsufficientDataError
        If a benchmark has fewer than three runs.
    """
    check_share("confidence", confidence)
    check_share("power", power)
    _check_plan(width, effect, runs=(max_runs, *grid), simulations=simulations)
    ours, theirs, known = matched(candidate, baseline)
    check_runs(ours, theirs, LEAST_RUNS)
    loop = None
    if width is not None:
        start = min(5, *ours.runs, *theirs.runs)
        loop = width_loop(
            ours,
            theirs,
            width=width,
            interval=interval,
            confidence=confidence,
            start=start,
            rng=np.random.default_rng(rng.integers(2**63)),
        )
    simulation = Simulation(
        ours,
        theirs,
        confidence=confidence,
        simulations=simulations,
        root=int(rng.integers(2**63)),
    )
    found = _needed(simulation, width, effect, power=power, most=max_runs)
    asked = {"width": width, "effect": effect}
    capped = tuple(name for name, goal in asked.items() if goal is not None and not found[name])
    shown = sorted({m for m in grid if m <= max_runs} | {m for m in found.values() if m})
    table = tuple(simulation.row(m, width, effect, power) for m in shown)
    low, high = min(*ours.runs, *theirs.runs), max(*ours.runs, *theirs.runs)
    return RunPlan(
        candidate=ours.name,
        baseline=theirs.name,
        benchmarks=len(ours.benchmarks),
        pilot_runs=(low, high),
        speedup=simulation.speedup,
        confidence=confidence,
        power=power,
        width=width,
        effect=effect,
        max_runs=max_runs,
        simulations=simulations,
        runs_for_width=found["width"],
        runs_for_effect=found["effect"],
        capped=capped,
        table=table,
        loop=loop,
        seed=seed,
        cautions=(*known, *plan_cautions(ours, theirs)),
    )


def _needed(
    simulation: Simulation, width: float | None, effect: float | None, *, power: float, most: int
) -> dict[str, int | None]:
    """Find the least numbers of runs; None where nothing was asked, or `most` are too few."""
    found: dict[str, int | None] = {"width": None, "effect": None}
    if width is not None:
        found["width"] = least_runs(lambda m: simulation.chance(m, width), power, most)
    if effect is not None:
        found["effect"] = least_runs(lambda m: simulation.power(m, effect), power, most)
    return found


def _check_plan(
    width: float | None, effect: float | None, *, runs: tuple[int, ...], simulations: int
) -> None:
    check_wanted(width, effect)
    for one in runs:
        counted("each number of runs", one, least=LEAST_RUNS, most=MOST_RUNS)
    counted("simulations", simulations, least=100)
