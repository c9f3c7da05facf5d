"""The original Speedup-Test's configuration: the sample files of two programs for each benchmark.

``Name,Sample1,Sample2,ConfLevel,Coef`` (Touati, Worms and Briais, *The Speedup Test*, 2010, section
6.2.1): Sample1 holds the times of the initial program, Sample2 those of the optimised one, one a line,
in seconds. Relative paths start at the configuration's folder, else at the current one.
"""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Iterator
from pathlib import Path

from ...data import read_text
from ..cells import ForeignCell, ForeignFile, Loss
from ..opening import Opened, open_foreign
from ..parsing import fail, rows_in, value_of

__all__ = ["knows", "numbers_of", "read"]

_HEADINGS = re.compile(r'^\s*"?Name"?\s*,\s*"?Sample1"?\s*,\s*"?Sample2"?\s*,', re.IGNORECASE)
_SIDES = (("Sample1", "initial"), ("Sample2", "optimised"))


def knows(opened: Opened) -> bool:
    """Tell by the line of headings."""
    return not opened.is_folder and _HEADINGS.match(opened.head()) is not None


def read(opened: Opened) -> ForeignFile:
    """Give two cells for each benchmark: the initial program, then the optimised one.

    Raises
    ------
    UsageError, AnalysisError
        If a sample file is missing or damaged, or a line has not five fields.
    """
    cells = list(_cells(opened))
    if not cells:
        raise fail(opened, "the configuration names no benchmark", "is the file whole?")
    return ForeignFile(
        format="speedup-test",
        source=opened.source,
        cells=tuple(cells),
        variant_rule="the side (initial or optimised)",
        losses=(
            Loss(
                code="processes-unknown",
                text="which values stem from one process is not in the files: each is taken as a run",
            ),
            Loss(code="no-sessions", text="on which occasion a run was made is not in the files"),
            Loss(code="failed-unknown", text="failed runs are not in the files"),
        ),
        notes=(
            (
                Loss(
                    code="settings-left-out",
                    text="confidence levels and coefficients are not values: 'fairtrial speedup-test' "
                    "reads them from the configuration",
                ),
            )
            if any(cell.keys.get("settings") for cell in cells)
            else ()
        ),
    )


def _cells(opened: Opened) -> Iterator[ForeignCell]:
    reader = csv.reader(io.StringIO(opened.text()), skipinitialspace=True)
    for k, row in enumerate(rows_in(opened, reader)):
        if k == 0 or not row or not any(cell.strip() for cell in row):
            continue
        at = f"{reader.line_num}"
        if len(row) != 5:
            raise fail(
                opened,
                f"the line has {len(row)} fields",
                "write Name,Sample1,Sample2,ConfLevel,Coef; the last two may be empty",
                at=at,
            )
        settings = " ".join(cell for cell in row[3:] if cell.strip() not in ("", "NA"))
        for place, (column, variant) in enumerate(_SIDES, 1):
            beside = _sample(opened, row[place].strip())
            yield ForeignCell(
                benchmark=row[0].strip(),
                variant=variant,
                processes=(numbers_of(beside),),
                known=False,
                keys={"Name": row[0].strip(), column: row[place].strip(), "settings": settings},
            )


def _sample(opened: Opened, name: str) -> Opened:
    path = Path(opened.source).parent / name
    if os.path.lexists(path) or path.is_absolute():  # Path.exists() raises on a name too long
        return open_foreign(str(path), decimal=opened.decimal)
    return open_foreign(os.path.join(".", name), decimal=opened.decimal)  # noqa: PTH118 - a Path would make - of ./-


def numbers_of(opened: Opened) -> tuple[float, ...]:
    """Read a file with one number a line; ``#`` begins a comment.

    Raises
    ------
    AnalysisError
        If a line is none, or there is none.
    """
    found = read_text(opened.text(), opened.source, decimal=opened.decimal)
    if found.dress != "numbers":
        raise fail(opened, "it is no list of numbers", "write one number a line")
    (row,) = found.samples.values()
    return tuple(value_of(opened, value, f"{cell.line}") for cell, value in row)
