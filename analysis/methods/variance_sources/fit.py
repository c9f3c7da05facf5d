"""Where the variation within trials comes from."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...data import Trial, always_said, not_judged, question_of
from ...errors import AnalysisError, UsageError
from ...report import merged
from ...stats import counted, door
from .cautions import design_cautions
from .components import components_of
from .factors import LEAST_RUNS, factors_of
from .result import Sources
from .runs import pooled

__all__ = ["LEAST_ORDERS", "sources"]

LEAST_ORDERS = 99  # fewer make no p-value below 0.01
_ROUNDING = 1e-12  # logs nearer to each other are one value


@door
def sources(
    trial_or_trials: Trial | Sequence[Trial],
    *,
    metric: str | None = None,
    permutations: int = 2000,
    confidence: float = 0.95,
    rng: np.random.Generator,
    seed: int | None = None,
    workers: int | None = None,
) -> Sources:
    """Tell where the values of one trial, or of several of the same programs, differ.

    Variance components first, then for each suspected factor an effect on the logarithms of the runs
    of one benchmark and variant, within sessions, with its interval and p-values.

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
        Of the intervals; 1 minus it is the family-wise risk.
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
    _check(trials, confidence)
    counted("permutations", permutations, least=LEAST_ORDERS)
    response = metric or question_of(trials)
    unasked = [] if metric else [name for trial in trials for name in trial.unasked]
    runs = pooled(trials, response)
    root = int(rng.integers(2**63))
    enough = runs.logs.size >= LEAST_RUNS  # that few are alike tells nothing of a coarse clock
    if enough and float(np.ptp(runs.logs)) < _ROUNDING:
        raise AnalysisError(
            f"{response} is the same in all {runs.logs.size} runs: nothing varies",
            ", ".join(runs.trials[:3]),
            "look at another metric, or at programs whose times are measured more finely",
        )
    factors, told = factors_of(
        runs, permutations=permutations, confidence=confidence, root=root, workers=workers
    )
    return Sources(
        of=tuple(trial.manifest.trial for trial in trials),
        response=response,
        unit=trials[0].metric(response).unit,
        confidence=confidence,
        permutations=permutations,
        seed=seed,
        components=components_of(runs),
        factors=factors,
        cautions=merged(
            [not_judged([*dict.fromkeys(unasked)])] if unasked else (),
            *(always_said(trial) for trial in trials),
            runs.cautions,
            told,
            tuple(design_cautions(trials, runs)),
        ),
    )


def _check(trials: Sequence[Trial], confidence: float) -> None:
    if not trials:
        raise UsageError("there is no trial", fix="name runs/NAME")
    names = [trial.manifest.trial for trial in trials]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise UsageError(f"the trial {twice} stands there twice", fix="name each trial once")
    if not 0.5 <= confidence < 1:
        raise UsageError(f"confidence must lie between 0.5 and 1, and is {confidence:g}")
