"""Find the commits that changed a metric, from any function that performs one session."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

from ..stats.arguments import door
from .search_result import StepSearch
from .step_search import Measure, watched_steps


@door
def find_steps(
    measure: Measure,
    commits: int,
    *,
    builds: Callable[[int], bool] | None = None,
    programs: Callable[[int], Hashable] | None = None,
    looks: Sequence[int] = (6, 12, 24),
    risk: float = 0.05,
    margin: float = 0.01,
    stop: float = 0.95,
    sessions_max: int | None = None,
    unit: str | None = None,
) -> StepSearch:
    """Find the places at which a metric changes between a good and a bad one.

    Parameters
    ----------
    measure : callable
        ``measure(places)`` performs one session with these places (sorted, each once) and gives the logarithm of
        the metric for each, larger = slower, or a list of those of its runs. A place that is missing or nan failed
        there. What it raises passes.
    commits : int
        The number of the bad place; the good one is 0.
    builds : callable, optional
        ``builds(place)`` tells whether a place can be measured. It is asked once of each that is wanted.
    programs : callable, optional
        ``programs(place)`` gives what a place builds to: neighbours with one program are equal by construction.
    looks : sequence of int
        Numbers of sessions at which pairs are judged; the level is divided by their number.
    risk : float
        That a false direction is stated for any culprit.
    margin : float
        The largest difference that counts as none, such as 0.01.
    stop : float
        The probability at which a place is proven.
    sessions_max : int, optional
        Of the whole search.
    unit : str, optional
        Of the metric: whole numbers are counts, unless it is of a time, a rate or a share.

    Returns
    -------
    StepSearch
        The same values give the same sessions and the same answer.

    Raises
    ------
    AnalysisError
        If the good or the bad place fails twice in a row, does not build, or a value is infinite.
    UsageError
        If a number lies outside of its range.

    Notes
    -----
    Hypotheses: logarithms of a session's values are normal about their levels with one variance, sessions are
    independent. Two builds of one source may differ by their layout alone: no number of sessions refutes that.
    """
    return watched_steps(
        measure,
        commits,
        builds=builds,
        programs=programs,
        looks=looks,
        risk=risk,
        margin=margin,
        stop=stop,
        sessions_max=sessions_max,
        unit=unit,
    )
