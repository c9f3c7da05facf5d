"""In what environments two trials were measured, and what differs."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..data import Trial
from ..errors import StoreError
from ..record import (
    ENVIRONMENT,
    PLACEHOLDER,
    Change,
    EnvironmentShape,
    diff,
    records_of,
)
from .result import TrialSide

__all__ = ["Surroundings", "same_host", "surroundings_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What differs between the first sessions, and how often each trial's environment changed.

    `changes` is None where an environment is unknown, and each count where it is that trial's.
    `hidden` counts the keys that cannot be compared, because names were taken out of a trial.
    """

    changes: tuple[Change, ...] | None
    drift_old: int | None
    drift_new: int | None
    hidden: int


def surroundings_of(old: Trial, new: Trial) -> Surroundings:
    """Compare the environments of two trials."""
    a, b = _records(old), _records(new)
    changes = diff(a[0], b[0]) if a and b else None
    told = changes
    if changes is not None and not _one_redaction(old.manifest.host_id, new.manifest.host_id):
        told = tuple(change for change in changes if not _holds_placeholder(change))
    return Surroundings(
        changes=told,
        drift_old=_drift(a),
        drift_new=_drift(b),
        hidden=len(changes or ()) - len(told or ()),
    )


def same_host(old: TrialSide, new: TrialSide) -> bool | None:
    """Tell whether one machine measured both.

    None where a machine id is unknown or taken out, and where one id has two names: a machine that
    was renamed, or two that were cloned from one image.
    """
    if old.host_id is None or new.host_id is None:
        return None
    taken_out = any(PLACEHOLDER.fullmatch(one.host_id or "") for one in (old, new))
    if taken_out and not _one_redaction(old.host_id, new.host_id):
        return None
    if (old.host_id, old.cpu_model) != (new.host_id, new.cpu_model):
        return False
    return True if old.host == new.host else None


def _one_redaction(old: str, new: str) -> bool:
    """Tell whether the names of both were taken out together: then equal placeholders are one name."""
    a, b = (PLACEHOLDER.fullmatch(one) for one in (old, new))
    return a is not None and b is not None and a["tag"] == b["tag"]


def _holds_placeholder(change: Change) -> bool:
    return any(PLACEHOLDER.search(repr(value)) for value in (change.old, change.new))


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
