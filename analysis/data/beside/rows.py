"""The files beside a trial's measurements, read as far as they can be: what is damaged tells nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ...errors import StoreError
from ...record import opened

__all__ = ["readable_rows"]


def readable_rows(path: Path) -> Iterator[dict[str, Any]]:
    """Give the objects of a file of JSON lines; a missing file has none, a damaged line is passed over."""
    try:
        with opened(path) as file:
            lines = file.read().splitlines()
    except (OSError, StoreError):
        return
    for line in lines:
        try:
            row: Any = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(row, dict):
            yield row
