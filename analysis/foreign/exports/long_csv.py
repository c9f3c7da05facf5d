"""A long CSV: a row for each value, with everything that is known of it."""

from __future__ import annotations

import csv
import io

from .leaving import Leaving
from .rows import HEADINGS, rows_of
from .written import Written

__all__ = ["write"]


def write(leaving: Leaving) -> Written:
    """Make the file: UTF-8, one newline a row, numbers with every digit."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(HEADINGS)
    said = {True: "true", False: "false"}
    for row in rows_of(leaving):
        writer.writerow((*row[:-2], said[row[-2]], said[row[-1]]))
    return Written(data=out.getvalue().encode())
