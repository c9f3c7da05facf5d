"""What varies within trials and why: modes, and what separates them.

Where two speeds are too close for their values to show them (`modes_by_values`), runs that stay at one
for a while still do. The levels and the places where the runs change between them are those that leave the least squares,
each change being charged as if it were noise [1]_; they count where they explain the values far better
than a straight line through each session does, and than a walk in which each run is like the one before.

Components and factors are one method, the modes of a density another, which do not know each other:
here they meet.

References
----------
.. [1] Y.-C. Yao, "Estimating the number of change-points via Schwarz' criterion", Statistics &
       Probability Letters 6, 1988.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.trial import Trial
from ..methods.variance_sources.covariates import covariates_of
from ..methods.variance_sources.fit import within_trials
from ..methods.variance_sources.modes import ModalRuns, explained
from ..methods.variance_sources.result import ClassesBy, Mode, Sources
from ..stats.arguments import checks_arguments, stream
from ..stats.samples import Array as Floats, off_ticks
from ..stats.workers import Progress, in_order
from .cell_tests import LEAST_OF_MODE, Labels, modes_by_values

Runs = NDArray[np.intp]
_CHARGE = 2.0  # of a change, in variances times the logarithm of the number of runs
_ROUNDS = 20
_CLEAR = 2.0  # standard deviations between the levels
_BETTER = 0.6  # squares that two levels may leave of what lines and walks leave
_STAY = 4.0  # runs at a level, on average: what changes faster shows in its values or not at all
_NORMAL = 1.4826


def modes_by_order(values: Floats, sessions: NDArray[np.int64]) -> Labels | None:
    """Tell of each run whether it is of the lower level (0) or the higher one (1)."""
    x = off_ticks(values)
    x = np.log(x) if values.min() > 0 else x
    runs = [np.flatnonzero(sessions == one) for one in dict.fromkeys(sessions.tolist())]
    if x.size < 2 * LEAST_OF_MODE:
        return None
    labels = _levels(x, runs)
    changes = sum(int(np.count_nonzero(np.diff(labels[mine]))) for mine in runs)
    counts = np.bincount(labels, minlength=2)
    if counts.min() < LEAST_OF_MODE or changes == 0 or x.size < _STAY * (changes + len(runs)):
        return None
    means = [float(x[labels == level].mean()) for level in (0, 1)]
    left = float(((x - np.take(means, labels)) ** 2).sum())
    if means[1] - means[0] < _CLEAR * (left / (x.size - 2)) ** 0.5:
        return None
    rivals = (sum(_line(x[mine]) for mine in runs), _wandering([x[mine] for mine in runs]))
    return labels if left <= _BETTER * min(rivals) else None


def _levels(x: Floats, runs: Sequence[Runs]) -> Labels:
    """Find levels and changes in turn, from the quarters of the values on, until nothing changes."""
    steps = np.concatenate([np.diff(x[mine]) for mine in runs])
    variance = 0.5 * (_NORMAL * float(np.median(np.abs(steps)))) ** 2 if steps.size else 0.0
    charge = _CHARGE * variance * float(np.log(x.size))
    low, high = np.quantile(x, (0.25, 0.75))
    labels = np.zeros(x.size, dtype=np.int8)
    for _ in range(_ROUNDS):
        before = labels.copy()
        for mine in runs:
            labels[mine] = _path((x[mine] - low) ** 2, (x[mine] - high) ** 2, charge)
        if (labels == before).all() or not 0 < labels.sum() < x.size:
            break
        low, high = x[labels == 0].mean(), x[labels == 1].mean()
    return labels


def _path(at_low: Floats, at_high: Floats, charge: float) -> Labels:
    """Give the levels of one session with the least squares and charges (dynamic programming)."""
    costs = np.column_stack((at_low, at_high)).tolist()
    stayed = []
    low, high = costs[0]
    for here_low, here_high in costs[1:]:
        stayed.append((low <= high + charge, high <= low + charge))
        low, high = min(low, high + charge) + here_low, min(high, low + charge) + here_high
    found = np.empty(len(costs), dtype=np.int8)
    level = int(high < low)
    found[-1] = level
    for place in range(len(stayed) - 1, -1, -1):
        level = level if stayed[place][level] else 1 - level
        found[place] = level
    return found


def _line(x: Floats) -> float:
    """Give the squares that a straight line through a session leaves."""
    place = np.arange(x.size) - (x.size - 1) / 2
    y = x - x.mean()
    slope = float(place @ y) / max(1.0, float(place @ place))
    return float(((y - slope * place) ** 2).sum())


def _wandering(sessions: Sequence[Floats]) -> float:
    """Give the squares that a prediction of each run from the one before it leaves, of all runs."""
    pairs = [(y[:-1] - y.mean(), y[1:] - y.mean()) for y in sessions if y.size > 1]
    before, after = (np.concatenate(side) for side in zip(*pairs, strict=True))
    slope = float(before @ after) / max(np.finfo(np.float64).tiny, float(before @ before))
    runs = sum(y.size for y in sessions)
    return float(((after - slope * before) ** 2).mean()) * runs


def modal_runs(
    trial: Trial, metric: str, *, rng: np.random.Generator, workers: int | None = None
) -> tuple[ModalRuns, ...]:
    """Find the benchmarks and variants of a trial whose runs have modes."""
    root = int(rng.integers(2**63))
    values = trial.values(metric)
    used = trial.measured & np.isfinite(values)
    covariates = covariates_of(trial, metric)
    cells = []
    for b, benchmark in enumerate(trial.manifest.benchmarks):
        for v, variant in enumerate(trial.manifest.variants):
            rows = np.flatnonzero(used & (trial.benchmark == b) & (trial.variant == v))
            if rows.size:
                cells.append((benchmark, variant, rows))
    found = in_order(
        partial(_modes, root=root),
        ((names, values[rows], trial.session[rows]) for *names, rows in cells),
        workers=workers,
        prefer="processes",
    )
    name, sessions = trial.manifest.trial, trial.session
    return tuple(
        ModalRuns(
            benchmark, variant, name, rows, values[rows], sessions[rows], labels, by, covariates
        )
        for (benchmark, variant, rows), (labels, by) in zip(cells, found, strict=True)
        if labels is not None
    )


def _modes(
    cell: tuple[list[str], NDArray[np.float64], NDArray[np.int64]],
    _going_on: Progress,
    *,
    root: int,
) -> tuple[NDArray[np.int8] | None, ClassesBy]:
    names, values, sessions = cell
    labels = modes_by_values(values, stream(root, *names))
    if labels is not None:
        return labels, "values"
    return modes_by_order(values, sessions), "order"


_PERMUTATIONS = 2000


def explained_modes(
    trials: Sequence[Trial],
    metric: str,
    *,
    permutations: int = _PERMUTATIONS,
    confidence: float = 0.95,
    rng: np.random.Generator,
    workers: int | None = None,
) -> tuple[Mode, ...]:
    """Find the modes of all cells of trials, and the covariate that separates each.

    Parameters are those of `sources`, which hands on ``stream(rng, "modes")``.
    """
    root = int(rng.integers(2**63))
    cells: list[ModalRuns] = []
    for trial in trials:
        own = stream(root, trial.manifest.trial)
        cells += modal_runs(trial, metric, rng=own, workers=workers)
    causes, risk = stream(root, "causes"), 1 - confidence
    return explained(cells, risk=risk, permutations=permutations, rng=causes, workers=workers)


@checks_arguments
def sources(
    trial_or_trials: Trial | Sequence[Trial],
    *,
    metric: str | None = None,
    permutations: int = _PERMUTATIONS,
    confidence: float = 0.95,
    rng: np.random.Generator,
    seed: int | None = None,
    workers: int | None = None,
) -> Sources:
    """Tell where the values of one trial, or of several of the same programs, differ.

    Variance components first, then for each suspected factor an effect on the logarithms of the
    runs of one benchmark and variant, within sessions, with its interval and p-values; last the
    modes of each trial, and what separates them.

    Parameters
    ----------
    trial_or_trials : Trial or sequence of Trial
        Trials of one metric; several may be of several hosts.
    metric : str, optional
        What is to be explained; by default the first that the campaign's `judge` names, else the wall
        time (of an imported trial its first).
    permutations : int
        How many other orders each factor is held against, 99 or more.
    confidence : float
        Of the intervals; 1 minus it is the family-wise risk: of all factors, and of all sentences
        about modes.
    rng : numpy.random.Generator
        What draws the orders.
    seed : int, optional
        The seed that `rng` was made from, for the record.
    workers : int, optional
        Processes at the same time; they change no number. Without it a ``joblib.parallel_config``
        around the call decides on their number and kind; without either there is one.

    Returns
    -------
    Sources
        With `components`, `factors` and `modes`.

    Raises
    ------
    UsageError
        If there is no trial, one stands there twice, or has no such metric; if a number is out of range.
    InsufficientDataError
        If no run counts, or no benchmark has enough of them.
    AnalysisError
        If the trials differ in the metric's unit, or nothing varies.

    Notes
    -----
    A *randomized* factor (padding, position, the run before) is held against all orders of the runs
    within their session, as the plan drew it: its p-value is exact, whatever the noise. An *observed*
    one is held against circular shifts within the session, after a trend and the runs' first
    autocorrelation are removed from both; a permutation would take two series that are each similar to
    themselves for similar to each other. One that belongs to sessions as a whole is held against their
    orders, where there are enough of them. P-values are (k + 1) / (N + 1) [1]_; adjusted ones step
    down by the largest surprise among all factors of all benchmarks and variants [2]_.

    References
    ----------
    .. [1] B. Phipson, G. K. Smyth, "Permutation p-values should never be zero", 2010.
    .. [2] P. H. Westfall, S. S. Young, "Resampling-Based Multiple Testing", 1993.
    """
    trials = [trial_or_trials] if isinstance(trial_or_trials, Trial) else list(trial_or_trials)
    draws = stream(rng, "modes")
    asked: dict[str, Any] = {"permutations": permutations, "confidence": confidence}
    asked["workers"] = workers
    found = within_trials(trials, metric=metric, rng=rng, seed=seed, **asked)
    modes = explained_modes(trials, found.response, rng=draws, **asked)
    return replace(found, modes=modes)
