"""Where the variation within trials comes from."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...data import Trial, always_said
from ...errors import UsageError
from ...report import merged
from ...stats import door
from .result import Sources

__all__ = ["sources"]


@door
def sources(
    trial_or_trials: Trial | Sequence[Trial],
    *,
    metric: str | None = None,
    permutations: int = 2000,
    confidence: float = 0.95,
    rng: np.random.Generator,  # noqa: ARG001 - filled in its own time
    seed: int | None = None,
) -> Sources:
    """Tell where the values of one trial, or of several of the same programs, differ.

    Raises
    ------
    UsageError
        If there is no trial.
    """
    trials = [trial_or_trials] if isinstance(trial_or_trials, Trial) else list(trial_or_trials)
    if not trials:
        raise UsageError("there is no trial")
    response = metric or trials[0].default_metric
    return Sources(
        of=tuple(trial.manifest.trial for trial in trials),
        response=response,
        unit=trials[0].metric(response).unit,
        confidence=confidence,
        permutations=permutations,
        seed=seed,
        cautions=merged(*(always_said(trial) for trial in trials)),
    )
