"""JSON: a list of objects, one for each value, as pandas and DuckDB read it."""

from __future__ import annotations

import json

from .leaving import Leaving
from .rows import HEADINGS, rows_of
from .written import Written

__all__ = ["write"]


def write(leaving: Leaving) -> Written:
    """Make the file: one object a line."""
    lines = (
        json.dumps(dict(zip(HEADINGS, row, strict=True)), allow_nan=False, ensure_ascii=False)
        for row in rows_of(leaving)
    )
    return Written(data=("[\n" + ",\n".join(lines) + "\n]\n").encode())
