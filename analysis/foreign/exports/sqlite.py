"""SQLite: the long table as the table ``runs``."""

from __future__ import annotations

import sqlite3
from contextlib import closing

from .leaving import Leaving
from .rows import HEADINGS, rows_of
from .written import Written

__all__ = ["write"]

_KINDS = (
    "TEXT NOT NULL", "TEXT NOT NULL", "TEXT", "INTEGER", "INTEGER NOT NULL", "INTEGER NOT NULL",
    "TEXT NOT NULL", "REAL", "TEXT NOT NULL", "TEXT NOT NULL", "INTEGER NOT NULL", "INTEGER NOT NULL",
)  # fmt: skip


def write(leaving: Leaving) -> Written:
    """Make the file; ``ok`` and ``warmup`` are 0 or 1."""
    columns = ", ".join(f'"{name}" {kind}' for name, kind in zip(HEADINGS, _KINDS, strict=True))
    marks = ", ".join("?" * len(HEADINGS))
    with closing(sqlite3.connect(":memory:")) as base:
        base.execute(f"CREATE TABLE runs ({columns})")
        base.executemany(f"INSERT INTO runs VALUES ({marks})", rows_of(leaving))  # noqa: S608 - marks only
        base.commit()
        return Written(data=base.serialize())
