"""Gathers the chapter's values from the subject."""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import TYPE_CHECKING

from ...data.fleet import open_fleet
from ...data.fleet_as_trial import trials_apart
from ...diagnose.modes import sources
from ...errors import InsufficientDataError, UsageError
from ...pages.model import merged
from ...record.fleet import is_fleet
from ...stats.arguments import stream
from .result import Variation

if TYPE_CHECKING:
    from ..subject import Subject

__all__ = ["gather"]

_SEED = 0  # that of the command, which gives the same numbers


def gather(subject: Subject) -> Variation | None:
    """Give the chapter; None where there are too few runs for it.

    Raises
    ------
    UsageError
        If the report is not on one trial or fleet.
    """
    trial = subject.trial
    if trial is None:
        raise UsageError(
            "the sources of variation are those of one trial",
            " ".join(subject.sources),
            "leave out --sources, or name one trial: fairtrial sources takes several",
        )
    # the trial of a fleet takes each host as one session; the sources of variation have both
    fleet = is_fleet(trial.path)
    trials, told = trials_apart(open_fleet(trial.path)) if fleet else ((trial,), ())
    metric, confidence = subject.verdict.metric, subject.verdict.confidence
    try:
        found = sources(
            trials,
            metric=metric,
            confidence=confidence,
            rng=stream(_SEED, "sources"),
            seed=_SEED,
        )
    except InsufficientDataError:
        return None
    options = [] if subject.verdict.usual else ["--metric", metric]
    options += [] if confidence == _USUAL else ["--confidence", f"{confidence:g}"]
    return Variation(
        anchor=subject.anchor("variation"),
        title="Where the variation comes from",
        found=replace(found, cautions=merged(told, found.cautions)),
        command=shlex.join(["fairtrial", "sources", str(trial.path), *options]),
    )


_USUAL = 0.95
