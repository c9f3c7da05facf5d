"""What changed under a trial: the runner's findings `drift`, which it records where it goes on."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..errors import StoreError
from ..record import FINDINGS, opened
from ..report import Caution

_NAMED = 3


def drift_cautions(trial: Path) -> Iterator[Caution]:
    """Say that runs of before and after a change are judged together, and what changed.

    Parameters
    ----------
    trial : Path
        The trial directory. What cannot be read of its findings tells nothing: the hashes of an
        ended trial are verified before, and the last line of another may be torn.
    """
    changes = list(dict.fromkeys(_changes(trial)))
    if not changes:
        return
    named = "; ".join(changes[:_NAMED])
    more = f"; and {len(changes) - _NAMED} more" if len(changes) > _NAMED else ""
    yield Caution(
        "drift",
        f"something changed under the trial, and runs of before and after are taken together: {named}"
        f"{more}",
    )


def _changes(trial: Path) -> Iterator[str]:
    try:
        with opened(trial / FINDINGS) as file:
            lines = file.read().splitlines()
    except (OSError, StoreError):
        return
    for line in lines:
        try:
            row: Any = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(row, dict) and row.get("check") == "drift":
            what = row.get("what")
            if isinstance(what, str):
                yield what.splitlines()[0].rstrip(":") if what else "what is not said"
