"""Bare numbers: one list, rows of runs, a wide CSV, or the sample files of the Speedup-Test.

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

from ...data.opening import Opened, open_foreign
from ...data.text_table import Dress, TextTable, read_text
from ...errors import AnalysisError
from ...pages.model import Caution
from ..parsing import ForeignCell, ForeignFile, cautions_of

_LOOKED_AT = 20  # lines
_CUT = 65536  # characters of the beginning: its last line may be cut off there


def knows_matrix(opened: Opened) -> bool:
    """Tell by lines of numbers, or of a name and numbers behind it."""
    return dress_of(opened) == "matrix"


def dress_of(opened: Opened) -> Dress | None:
    """Tell how the beginning holds bare numbers; None where it holds none, or names its columns."""
    if opened.is_folder:
        return None
    head = "\n".join(opened.head().split("\n")[:_LOOKED_AT])
    if len(head) >= _CUT:
        head = head.rpartition("\n")[0]
    try:
        found = _table(opened, head)
    except AnalysisError as error:
        ambiguous = "--decimal" in (error.fix or "") or "--layout" in (error.fix or "")
        return "matrix" if ambiguous else None
    named = "columns-as-runs" in {one.code for one in found.cautions}
    return None if named else found.dress


def read_matrix(opened: Opened) -> ForeignFile:
    """Give a cell for each benchmark; lines of one number each are one, called ``values``."""
    found = _table(opened, opened.text())
    cells = tuple(
        ForeignCell(
            benchmark=name,
            metric="value",
            unit="",
            better=None,
            processes=(tuple(opened.value(value, f"{cell.line}") for cell, value in row),),
            keys={} if found.dress == "numbers" else {"benchmark": name},
        )
        for name, row in found.samples.items()
    )
    return ForeignFile(
        format=found.dress,
        cells=cells,
        losses=cautions_of(
            {
                "no-unit": "the file has neither unit nor direction",
                "processes-unknown": "the file does not say which values are from one process: each "
                "is taken as a run",
                "no-sessions": "on which occasion a run was made is not in the file",
            }
        ),
        notes=tuple(Caution(one.code, one.text) for one in found.cautions),
    )


def _table(opened: Opened, text: str) -> TextTable:
    if text.lstrip()[:1] in ("{", "[", "<"):
        raise opened.fail("it begins as JSON or XML", "name its format with --format")
    return read_text(text, opened.source, layout=opened.layout, decimal=opened.decimal)


def knows_numbers(opened: Opened) -> bool:
    """Tell by what `bare_table` finds."""
    return dress_of(opened) == "numbers"


def knows_wide_csv(opened: Opened) -> bool:
    """Tell by what `bare_table` finds."""
    return dress_of(opened) == "wide-csv"


_HEADINGS = re.compile(r'^\s*"?Name"?\s*,\s*"?Sample1"?\s*,\s*"?Sample2"?\s*,', re.IGNORECASE)
_SIDES = (("Sample1", "initial"), ("Sample2", "optimised"))


def knows_speedup_test(opened: Opened) -> bool:
    """Tell by the line of headings."""
    return not opened.is_folder and _HEADINGS.match(opened.head()) is not None


def read_speedup_test(opened: Opened) -> ForeignFile:
    """Give two cells for each benchmark: the initial program, then the optimised one."""
    cells = list(_cells(opened))
    if not cells:
        raise opened.fail("the configuration names no benchmark", "is the file whole?")
    return ForeignFile(
        cells=tuple(cells),
        variant_rule="the side (initial or optimised)",
        losses=cautions_of(
            {
                "processes-unknown": "the file does not say which values are from one processs: each "
                "is taken as a run",
                "no-sessions": "on which occasion a run was made is not in the files",
                "failed-unknown": "failed runs are not in the files",
            }
        ),
        notes=cautions_of(
            {
                "settings-left-out": any(cell.keys.get("settings") for cell in cells)
                and "confidence levels and coefficients are not values: 'fairtrial speedup-test' "
                "reads them from the configuration"
            }
        ),
    )


def _cells(opened: Opened) -> Iterator[ForeignCell]:
    reader = csv.reader(io.StringIO(opened.text()), skipinitialspace=True)
    for k, row in enumerate(opened.rows(reader)):
        if k == 0 or not row or not any(cell.strip() for cell in row):
            continue
        at = f"{reader.line_num}"
        if len(row) != 5:
            raise opened.fail(
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
    """Read a file with one number a line; ``#`` begins a comment."""
    found = read_text(opened.text(), opened.source, decimal=opened.decimal)
    if found.dress != "numbers":
        raise opened.fail("it is not a list of numbers", "write one number a line")
    (row,) = found.samples.values()
    return tuple(opened.value(value, f"{cell.line}") for cell, value in row)


# one number a line, or a benchmark a line, is such a matrix too
read_numbers = read_wide_csv = read_matrix
