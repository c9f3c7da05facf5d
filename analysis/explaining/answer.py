"""Where the variation within trials comes from, modes and what separates them included.

Components and factors are one method, the modes of a density another, which do not know each other:
here they meet.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..data import Trial
from ..methods.variance_sources import Sources, sources as within_trials
from ..methods.variance_sources.modes import Explained, explained
from ..stats import door, stream
from .runs import modal_runs

__all__ = ["explained_modes", "sources"]

_PERMUTATIONS = 2000


def explained_modes(
    trials: Sequence[Trial],
    metric: str,
    *,
    permutations: int = _PERMUTATIONS,
    confidence: float = 0.95,
    rng: np.random.Generator,
    workers: int | None = None,
) -> tuple[Explained, ...]:
    """Find the modes of all cells of trials, and the covariate that separates each.

    Parameters are those of `sources`, which hands on ``stream(rng, "modes")``.

    Raises
    ------
    UsageError
        If a trial has no such metric.
    """
    root = int(rng.integers(2**63))
    cells = [
        cell
        for trial in trials
        for cell in modal_runs(
            trial, metric, rng=stream(root, trial.manifest.trial), workers=workers
        )
    ]
    return explained(
        cells,
        risk=1 - confidence,
        permutations=permutations,
        rng=stream(root, "causes"),
        workers=workers,
    )


@door
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

    Parameters
    ----------
    trial_or_trials : Trial or sequence of Trial
        What was measured; the modes of each are looked at on their own.
    metric : str, optional
        Whose values; that of the first trial which is judged by default.
    permutations : int
        How many orders each factor is held against, at least.
    confidence : float
        Of the intervals; what is left is the family-wise risk: of all factors, and of all sentences
        about modes.
    rng : numpy.random.Generator
        Where the orders come from.
    seed : int, optional
        Where `rng` comes from, for the record.
    workers : int, optional
        Processes at the same time; they change no number. Without it a ``joblib.parallel_config``
        around the call decides on their number and kind; without either there is one.

    Raises
    ------
    UsageError
        If there is no trial, or an argument is out of its range.
    InsufficientDataError
        If there are too few runs.
    """
    draws = stream(rng, "modes")
    found = within_trials(
        trial_or_trials,
        metric=metric,
        permutations=permutations,
        confidence=confidence,
        rng=rng,
        seed=seed,
        workers=workers,
    )
    trials = [trial_or_trials] if isinstance(trial_or_trials, Trial) else list(trial_or_trials)
    modes = explained_modes(
        trials,
        found.response,
        permutations=permutations,
        confidence=confidence,
        rng=draws,
        workers=workers,
    )
    return replace(found, modes=tuple(one.mode for one in modes))
