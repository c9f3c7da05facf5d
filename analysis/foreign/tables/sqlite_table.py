"""SQLite: the table ``runs``, or the only one, as a long table. Views and virtual tables are passed over."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing

from ..cells import ForeignFile
from ..opening import Opened, most_of
from ..parsing import fail
from .rows import file_of_rows

__all__ = ["knows", "read"]

_MAGIC = b"SQLite format 3\0"
_OURS = "runs"
_LONGEST = 64 * 1024**2  # bytes of a cell
_VERSIONS = slice(18, 20)  # of the file's format: 2 with a journal of its own, else 1


def knows(opened: Opened) -> bool:
    """Tell by the first bytes."""
    return opened.data.startswith(_MAGIC)


def read(opened: Opened) -> ForeignFile:
    """Give a cell for each benchmark, variant, session and metric.

    Raises
    ------
    AnalysisError
        If the file is damaged, has several tables and none of them is ``runs``, or what was written
        last stands in another file beside it.
    """
    if not knows(opened):
        raise fail(
            opened,
            "it is no whole data base: "
            + ("it is empty" if not opened.data else "it begins otherwise"),
            "copy it again, or name its format with --format",
        )
    _require_whole(opened)
    with closing(sqlite3.connect(":memory:")) as base:
        try:
            base.deserialize(_without_journal(opened.data))
            base.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST)
            base.execute("PRAGMA trusted_schema = OFF")
            tables = [
                name
                for (name,) in base.execute(
                    "SELECT name FROM sqlite_master WHERE type = 'table' "
                    "AND name NOT LIKE 'sqlite%' AND sql NOT LIKE 'CREATE VIRTUAL%'"
                )
            ]
            ours = next((name for name in tables if name.lower() == _OURS), None)
            if len(tables) != 1 and ours is None:
                raise fail(
                    opened,
                    f"there are {len(tables)} tables, and none is {_OURS!r}",
                    f"name the one that holds the runs {_OURS!r}",
                )
            quoted = (ours or tables[0]).replace('"', '""')
            rows = base.execute(f'SELECT * FROM "{quoted}"')  # noqa: S608 - quoted
            headings = [column[0] for column in rows.description]
            return file_of_rows(opened, "sqlite", headings, _bounded(opened, rows))
        except (sqlite3.Error, UnicodeError, OverflowError, MemoryError) as error:
            raise fail(opened, f"it is no whole data base: {error}", "copy it again") from None


def _bounded(opened: Opened, rows: Iterable[tuple[object, ...]]) -> Iterator[tuple[object, ...]]:
    """Give the rows while they fit: computed columns, and defaults, take no room in the file."""
    left = most_of(len(opened.data))
    for row in rows:
        left -= sum(len(cell) for cell in row if isinstance(cell, (str, bytes)))
        if left < 0:
            raise fail(
                opened,
                "the table holds too much for so small a file: its columns are computed",
                "copy the values into a table of their own",
            )
        yield row


def _require_whole(opened: Opened) -> None:
    """Refuse a data base whose last rows stand in a journal that a reader of the file does not see."""
    if opened.path is None:
        return
    for ending in ("-wal", "-journal"):
        journal = opened.path.with_name(opened.path.name + ending)
        try:
            there = journal.stat().st_size > 0
        except OSError:
            continue
        if there:
            raise fail(
                opened,
                f"its last changes stand in {journal.name} beside it, not in the file",
                "let its program end, or put them in: sqlite3 FILE 'PRAGMA wal_checkpoint(TRUNCATE)'",
            )


def _without_journal(data: bytes) -> bytes:
    """Give a data base in memory, where no journal can be; a checkpointed one needs none."""
    if data[_VERSIONS] == b"\x02\x02":
        return data[:18] + b"\x01\x01" + data[20:]
    return data
