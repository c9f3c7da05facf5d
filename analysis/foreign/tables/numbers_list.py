"""A file with one number a line: the runs of one benchmark, such as a sample of the Speedup-Test."""

from __future__ import annotations

import re

from ..cells import BARE, ForeignCell, ForeignFile
from ..opening import Opened
from .speedup_config import numbers_of

__all__ = ["knows", "read"]

_LINE = re.compile(r'^\s*"?[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?"?\s*(#.*)?$')


def knows(opened: Opened) -> bool:
    """Tell by lines of one number each."""
    if opened.is_folder:
        return False
    head = opened.head()
    lines = [line for line in head.split("\n") if line.strip() and not line.startswith("#")]
    if len(head) >= 65536:
        lines = lines[:-1]  # the last one may be cut
    return bool(lines) and all(_LINE.match(line) for line in lines)


def read(opened: Opened) -> ForeignFile:
    """Give one cell, named as the file.

    Raises
    ------
    AnalysisError
        If a line is no number.
    """
    return ForeignFile(
        format="numbers",
        source=opened.source,
        cells=(
            ForeignCell(
                benchmark=opened.stem,
                metric="value",
                unit="",
                better=None,
                processes=(numbers_of(opened),),
            ),
        ),
        losses=BARE,
    )
