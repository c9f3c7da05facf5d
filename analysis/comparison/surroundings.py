"""In what environments two trials were measured, and what differs."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..data import Trial
from ..errors import StoreError
from ..record import ENVIRONMENT, Change, EnvironmentShape, diff, records_of
from .result import TrialSide

__all__ = ["Surroundings", "same_host", "surroundings_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What differs between the first sessions, and how often each trial's environment changed.

    `changes` is None where an environment is unknown, and each count where it is that trial's.
    """

    changes: tuple[Change, ...] | None
    drift_old: int | None
    drift_new: int | None


def surroundings_of(old: Trial, new: Trial) -> Surroundings:
    """Compare the environments of two trials."""
    a, b = _records(old), _records(new)
    return Surroundings(
        changes=diff(a[0], b[0]) if a and b else None, drift_old=_drift(a), drift_new=_drift(b)
    )


def same_host(old: TrialSide, new: TrialSide) -> bool | None:
    """Tell whether one machine measured both; None where a machine id is unknown."""
    if old.host_id is None or new.host_id is None:
        return None
    return (old.host_id, old.cpu_model) == (new.host_id, new.cpu_model)


def _records(trial: Trial) -> list[Mapping[str, Any]]:
    """Give the environments of a trial's sessions; none where nothing is known of them."""
    if trial.manifest.origin == "imported" or not (trial.path / ENVIRONMENT).exists():
        return []
    try:
        return [row for _, row in records_of(trial.path / ENVIRONMENT, EnvironmentShape)]
    except StoreError:
        if trial.finished:
            raise
        return []  # its first line is being written


def _drift(records: list[Mapping[str, Any]]) -> int | None:
    if not records:
        return None
    return sum(len(diff(a, b)) for a, b in itertools.pairwise(records))
