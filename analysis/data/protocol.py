"""What a trial says of its campaign: its text, its settings with every default, the CPUs of its runs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import StoreError
from ..record import CAMPAIGN, MEASUREMENTS, RESOLVED, opened
from .trial import Trial

__all__ = ["FREE_SETTINGS", "campaign_text", "pinned_cpus", "setting_leaves", "settings_of"]

# What two trials of one campaign may say differently: the command line can change them, and who may
# read a trial is no part of the experiment.
FREE_SETTINGS = ("seed", "share", "protocol.sessions")


def campaign_text(trial: Path) -> str | None:
    """Give the text of ``campaign.yaml`` as it is stored; None where it cannot be read."""
    try:
        with opened(trial / CAMPAIGN) as file:
            return file.read().decode("utf-8", "replace")
    except (OSError, StoreError):
        return None


def settings_of(trial: Path) -> Mapping[str, Any]:
    """Give ``campaign`` of ``resolved.json``: the campaign with every default; empty if unknown."""
    try:
        with opened(trial / RESOLVED) as file:
            found: Any = json.loads(file.read())
    except (OSError, StoreError, ValueError, RecursionError):
        return {}
    campaign = found.get("campaign") if isinstance(found, dict) else None
    return campaign if isinstance(campaign, dict) else {}


def setting_leaves(value: object, at: str = "") -> Iterator[tuple[str, object]]:
    """Give the settings below one, each as its key with dots and its value; lists are values."""
    if isinstance(value, dict) and value:
        for name, item in value.items():
            yield from setting_leaves(item, f"{at}.{name}" if at else name)
    else:
        yield at, value


def pinned_cpus(trial: Trial) -> tuple[tuple[int, ...] | None, ...]:
    """Give the sets of CPUs that runs were pinned to, each once; None stands for not pinned.

    The runner chooses them when a session begins or goes on, so the first row of each is asked.
    """
    begins = np.flatnonzero(np.diff(trial.session) | np.diff(trial.segment)) + 1
    return tuple(dict.fromkeys(_cpus(trial.path / MEASUREMENTS, {0, *begins.tolist()})))


def _cpus(path: Path, rows: set[int]) -> Iterator[tuple[int, ...] | None]:
    try:
        with opened(path) as file:
            for number, line in enumerate(file):
                if number not in rows:
                    continue
                cpus = json.loads(line).get("cpus", ())
                if cpus is None or (cpus and isinstance(cpus, list)):
                    yield None if cpus is None else tuple(cpus)
    except (OSError, StoreError, ValueError, AttributeError):
        return
