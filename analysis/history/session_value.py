"""What one session of a trial says of each of its variants: a number on the log scale, larger = worse."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from contextlib import suppress

import numpy as np

from ..data.matrix import PerformanceMatrix
from ..data.trial import Trial, cut_rows
from ..errors import AnalysisError, InsufficientDataError
from ..methods.multilevel.compare import Cut, cut_between, lines_of_metrics, together
from ..methods.multilevel.failures import fisher
from ..methods.multilevel.law import word_of
from ..record.run_numbers import METRIC_NUMBERS
from ..stats.arguments import checks_arguments
from ..stats.multiplicity import adjusted
from ..stats.samples import Array
from .bisection import OtherMetric
from .step_search import Measure, Search, StepSearch

_FISHER = 0.05

# --- Find the commits that changed a metric, from any function that performs one session.


@checks_arguments
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
    return Search(
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
    ).result()


def session_values(
    trial: Trial, session: int, metric: str, benchmarks: Sequence[str] | None = None
) -> dict[str, float | list[float]]:
    """Give of each variant the mean logarithm of a session's runs, in the mean over benchmarks; of one those of its runs.

    Parameters
    ----------
    trial : Trial
        Such as `read_trial` gives.
    session : int
        Its number, from 1.
    metric : str
        Of its sign it is taken that larger is worse: the logarithm of a metric of which more is better is negated.
    benchmarks : sequence of str, optional
        Those that are meant; all of the trial by default.

    Returns
    -------
    dict
        Variant -> value. Warm-ups and failed runs are left out, those that their time limit ended count with it; a variant without any run left of one of the
        benchmarks is nan.

    Raises
    ------
    AnalysisError
        If a value is 0 or less, so that it has no logarithm.
    UsageError
        If the trial has no such metric.
    """
    manifest = trial.manifest
    sign = -1.0 if trial.metric(metric).better == "higher" else 1.0
    cut, _, bounds = cut_rows(trial, metric)
    values = np.where(cut, bounds, trial.values(metric))
    mine = (trial.judged(metric) | cut) & (trial.session == session) & np.isfinite(values)
    if (values[mine] <= 0).any():
        raise AnalysisError(
            f"{metric} of a run is {values[mine].min():g}: it has no ratio to others",
            f"{trial.path}, session {session}",
            "name another metric with --metric, or let the program work longer",
        )
    logs = np.log(np.where(mine, values, 1.0))
    asked = manifest.benchmarks if benchmarks is None else benchmarks
    found: dict[str, float | list[float]] = {}
    for number, variant in enumerate(manifest.variants):
        runs = []
        for name in asked:
            cell = mine & (trial.variant == number)
            cell &= trial.benchmark == manifest.benchmarks.index(name)
            runs.append(sign * logs[cell])
        means = [float(one.mean()) if one.size else math.nan for one in runs]
        one = len(runs) == 1 and runs[0].size > 0
        found[variant] = runs[0].tolist() if one else math.fsum(means) / len(means)
    return found


def cut_in(
    trials: Iterable[Trial], candidate: str, baseline: str, metric: str, benchmarks: Sequence[str]
) -> Cut | None:
    """Count over trials the runs of two variants that their time limit ended; None without any."""
    found: list[Cut | None] = []
    for trial in trials:
        if {candidate, baseline} <= {*trial.manifest.variants}:
            with suppress(InsufficientDataError):  # nothing of it is judged
                sides = [trial.matrix(x, metric, carry_zeros=True) for x in (candidate, baseline)]
                found += [cut_between(sides[0], sides[1], bench) for bench in benchmarks]
    return together(found)


def runs_of_variants(
    trial: Trial, benchmarks: Sequence[str] | None = None
) -> dict[str, tuple[int, int]]:
    """Count of each variant the runs that failed and those that were made, without warm-ups."""
    asked = trial.manifest.benchmarks if benchmarks is None else benchmarks
    chosen = np.isin(trial.benchmark, [trial.manifest.benchmarks.index(name) for name in asked])
    counts = {}
    for number, variant in enumerate(trial.manifest.variants):
        made = trial.candidates & chosen & (trial.variant == number)
        counts[variant] = int((made & (trial.outcome != 0)).sum()), int(made.sum())
    return counts


def words_of_metrics(
    trial: Trial,
    candidate: str,
    *,
    baseline: str,
    without: str,
    risk: float,
    margin: float = 0.01,
    benchmarks: Sequence[str] | None = None,
) -> tuple[OtherMetric, ...]:
    """Judge two variants by each metric of a trial but one, corrected by Holm's method over the metrics.

    Parameters
    ----------
    trial : Trial
        With several sessions.
    candidate, baseline : str
        Its variants.
    without : str
        The metric that is judged elsewhere.
    risk : float
        Of all of these metrics together.
    margin : float
        The largest difference that counts as none.
    benchmarks : sequence of str, optional
        Those that are meant, in the mean; all by default.

    Returns
    -------
    tuple of OtherMetric
        Metrics that cannot be judged are left out: unknown, without spread, or with values of 0.
    """

    def sides_of(metric: str) -> list[PerformanceMatrix]:
        sides = [trial.matrix(name, metric) for name in (candidate, baseline)]
        return sides if benchmarks is None else [one.select(list(benchmarks)) for one in sides]

    metrics = (one for one in (*METRIC_NUMBERS, *trial.manifest.metrics) if one != without)
    lines = [*lines_of_metrics(metrics, sides_of, confidence=1 - risk, margin=margin)]
    different: Array = adjusted(np.array([one.pvalue for one in lines]), "holm")
    equal: Array = adjusted(np.array([one.pvalue_equivalent for one in lines]), "holm")
    found = []
    for line, p, q in zip(lines, different.tolist(), equal.tolist(), strict=True):
        word = word_of(math.log(line.speedup), equivalent=q <= risk / 2, differs=p <= risk)
        about = trial.metric(line.metric)
        other = OtherMetric(
            metric=line.metric,
            unit=about.unit,
            better=about.better,
            word="undecided" if line.cut is not None and line.cut.withholds(word) else word,
            speedup=line.speedup,
            low=line.low,
            high=line.high,
        )
        found.append(other)
    return tuple(found)


def unsteady_variants(trial: Trial, metric: str, benchmarks: Sequence[str]) -> set[str]:
    """Name the variants of a trial of which too many runs of a benchmark reach no steady state."""
    found = set()
    for name in trial.manifest.variants:
        with suppress(AnalysisError):  # none of its runs counts
            judged = trial.matrix(name, metric, carry_zeros=True).judged_iterations
            if any(one.unsteady for bench, one in judged.items() if bench in benchmarks):
                found.add(name)
    return found


def fails_more(counts: Mapping[int, tuple[int, int]], last: int) -> tuple[int, ...]:
    """Give the places whose runs fail more often than those of both ends, by Fisher's test at 0.05.

    Its hypothesis: runs of the place and of the ends fail with one probability, each on its own.

    Parameters
    ----------
    counts : mapping of int to (int, int)
        Failed runs and all runs of each place.
    last : int
        The place of the newer end; that of the older one is 0.
    """
    ends = [counts[place] for place in (0, last) if place in counts]
    failed, made = (sum(one[k] for one in ends) for k in (0, 1))
    return tuple(
        place
        for place, (bad, runs) in sorted(counts.items())
        if place not in (0, last)
        and bad * made > failed * runs
        and fisher(bad, runs, failed, made) <= _FISHER
    )
