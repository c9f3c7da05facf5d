"""Columns of a long table that nobody reads, and that matter: hosts, units, numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from ...report import figures
from ..cells import Loss
from ..columns import counts_parts, holds_units, names_host
from ..parsing import fail

if TYPE_CHECKING:
    from ..long_tables import LongTable

__all__ = ["require_units", "unread"]


def unread(table: LongTable) -> Iterator[Loss]:
    """Say which columns name several hosts, and which numbers are not read."""
    headings = {place: table.headings[place] for place in table.found.rest}
    for place, column in table.rest.items():
        hosts = tuple(dict.fromkeys(text.strip() for text in column.texts if text.strip()))
        if names_host(headings[place]) and len(hosts) > 1:
            yield Loss(
                code="several-hosts",
                text=f"the column {headings[place]!r} names {len(hosts)} hosts "
                f"({figures.listed(hosts, 3)}), and their runs are taken as those of one: give each "
                "host a file, or call the column 'variant' or 'session' if it tells one of these",
            )
    plain = tuple(
        heading
        for place, heading in headings.items()
        if place in table.numeric
        and (place not in table.rest or counts_parts(heading) or _varies(table, place))
    )
    if plain:
        yield Loss(
            code="columns-unread",
            text=f"not read, though they hold numbers: {figures.listed(plain, 6)}",
        )


def _varies(table: LongTable, place: int) -> bool:
    """Tell whether a column is no key of the groups of rows."""
    codes = table.rest[place].codes
    first = np.zeros(len(table.keys), codes.dtype)
    first[table.groups[::-1]] = codes[::-1]  # of several writes the last one stays
    return bool((first[table.groups] != codes).any())


def require_units(table: LongTable) -> None:
    """Refuse a column of units under a heading that does not say so, where values have none.

    Raises
    ------
    AnalysisError
        If there is one.
    """
    if table.found.unit_column is not None or all(unit for _, _, unit in table.found.values):
        return
    for place, column in table.rest.items():
        if holds_units(table.headings[place], column.texts):
            raise fail(
                table.opened,
                f"the column {table.headings[place]!r} holds units, and nothing says of what",
                "call it 'unit' if it is that of the values, else take it out",
            )
