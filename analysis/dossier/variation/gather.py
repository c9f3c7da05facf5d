"""Gathers the chapter's values from the subject."""

from __future__ import annotations

import shlex

from ...errors import InsufficientDataError, UsageError
from ...explaining import sources
from ...stats import stream
from ..fleet import level_of
from ..subject import Subject
from .result import Variation

__all__ = ["gather"]

_SEED = 0  # that of the command, which gives the same numbers


def gather(subject: Subject) -> Variation | None:
    """Give the chapter; None where there are too few runs for it.

    Raises
    ------
    UsageError
        If the report is not on one trial.
    """
    trial = subject.trial
    if trial is None:
        raise UsageError(
            "the sources of variation are those of one trial",
            " ".join(subject.sources),
            "leave out --sources, or name one trial: fairtrial sources takes several",
        )
    if level_of(subject.verdict) is not None:
        raise UsageError(
            "a report takes each host as one session, and the sources of variation have both",
            " ".join(subject.sources),
            f"leave out --sources, and ask for them alone: fairtrial sources {subject.verdict.path}",
        )
    metric, confidence = subject.verdict.metric, subject.verdict.confidence
    try:
        found = sources(
            trial,
            metric=metric,
            confidence=confidence,
            rng=stream(_SEED, "sources"),
            seed=_SEED,
        )
    except InsufficientDataError:
        return None
    options = [] if metric == trial.default_metric else ["--metric", metric]
    options += [] if confidence == _USUAL else ["--confidence", f"{confidence:g}"]
    return Variation(
        anchor=subject.anchor("variation"),
        title="Where the variation comes from",
        found=found,
        command=shlex.join(["fairtrial", "sources", str(trial.path), *options]),
    )


_USUAL = 0.95
