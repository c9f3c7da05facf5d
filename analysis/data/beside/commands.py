"""What a trial executed, cell by cell, as its ``resolved.json`` says it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...errors import StoreError
from ...record import RESOLVED, opened

__all__ = ["read_commands"]


def read_commands(trial: Path) -> Mapping[tuple[str, str], tuple[str, ...]]:
    """Give the arguments of each cell: (benchmark, variant) -> program and arguments.

    Parameters
    ----------
    trial : Path
        The trial directory. Trials of the first version have no such file, and imported ones none
        either: there nothing is known. What is damaged tells nothing.
    """
    try:
        with opened(trial / RESOLVED) as file:
            given: Any = json.loads(file.read())
    except (OSError, StoreError, ValueError, RecursionError):
        return {}
    campaign = given.get("campaign") if isinstance(given, dict) else None
    cells = campaign.get("cells") if isinstance(campaign, dict) else None
    found = {}
    for cell in cells if isinstance(cells, list) else ():
        if not isinstance(cell, dict) or not isinstance(command := cell.get("command"), dict):
            continue
        names = (cell.get("benchmark"), cell.get("variant"))
        words = command.get("argv")
        if not isinstance(words, list) or not words:
            continue
        if all(isinstance(text, str) for text in (*names, *words)):
            found[str(names[0]), str(names[1])] = tuple(words)
    return found
