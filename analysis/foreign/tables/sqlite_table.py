"""SQLite: the table ``runs``, or the only one, as a long table. Views and virtual tables are passed over."""

from __future__ import annotations

import sqlite3
from contextlib import closing

from ..cells import ForeignFile
from ..opening import Opened
from ..parsing import fail
from .rows import file_of_rows

__all__ = ["knows", "read"]

_MAGIC = b"SQLite format 3\0"
_OURS = "runs"


def knows(opened: Opened) -> bool:
    """Tell by the first bytes."""
    return opened.data.startswith(_MAGIC)


def read(opened: Opened) -> ForeignFile:
    """Give a cell for each benchmark, variant, session and metric.

    Raises
    ------
    AnalysisError
        If the file is damaged, or has several tables and none of them is ``runs``.
    """
    with closing(sqlite3.connect(":memory:")) as base:
        try:
            base.deserialize(opened.data)
            base.execute("PRAGMA trusted_schema = OFF")
            tables = [
                name
                for (name,) in base.execute(
                    "SELECT name FROM sqlite_master WHERE type = 'table' "
                    "AND name NOT LIKE 'sqlite%' AND sql NOT LIKE 'CREATE VIRTUAL%'"
                )
            ]
            if len(tables) != 1 and _OURS not in tables:
                raise fail(
                    opened,
                    f"there are {len(tables)} tables, and none is {_OURS!r}",
                    f"name the one that holds the runs {_OURS!r}",
                )
            quoted = (_OURS if _OURS in tables else tables[0]).replace('"', '""')
            rows = base.execute(f'SELECT * FROM "{quoted}"')  # noqa: S608 - quoted
            headings = [column[0] for column in rows.description]
            return file_of_rows(opened, "sqlite", headings, rows)
        except (sqlite3.Error, UnicodeError, OverflowError) as error:
            raise fail(opened, f"it is no whole data base: {error}", "copy it again") from None
