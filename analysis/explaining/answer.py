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
from ..methods.variance_sources.modes import modes_of
from ..stats import door, stream
from .runs import modal_runs

__all__ = ["sources"]


@door
def sources(
    trial_or_trials: Trial | Sequence[Trial],
    *,
    metric: str | None = None,
    permutations: int = 2000,
    confidence: float = 0.95,
    rng: np.random.Generator,
    seed: int | None = None,
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

    Raises
    ------
    UsageError
        If there is no trial, or an argument is out of its range.
    InsufficientDataError
        If there are too few runs.
    """
    found = within_trials(
        trial_or_trials,
        metric=metric,
        permutations=permutations,
        confidence=confidence,
        rng=rng,
        seed=seed,
    )
    trials = [trial_or_trials] if isinstance(trial_or_trials, Trial) else list(trial_or_trials)
    root = int(rng.integers(2**63))
    cells = [
        cell
        for trial in trials
        for cell in modal_runs(trial, found.response, rng=stream(root, trial.manifest.trial))
    ]
    modes = modes_of(
        cells, risk=1 - confidence, permutations=permutations, rng=stream(root, "causes")
    )
    return replace(found, modes=modes)
