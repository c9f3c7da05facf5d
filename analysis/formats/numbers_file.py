"""A file with one number a line: the runs of one benchmark."""

from __future__ import annotations

import math
import re
from pathlib import Path

from ..data import Layout, Table
from ..errors import AnalysisError, UsageError

__all__ = ["VALUES", "knows", "read"]

VALUES = "values"  # the benchmark of a plain list of numbers
_LONGEST = 40


def knows(path: Path, start: bytes) -> bool:  # noqa: ARG001 - last in the table: whatever is left
    """Take every file."""
    return True


def read(path: Path, layout: Layout) -> Table:  # noqa: ARG001 - a list has no layout
    """Read the numbers; ``#`` begins a comment.

    Raises
    ------
    UsageError
        If the file cannot be read.
    AnalysisError
        If a line is no number, or there is none.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise UsageError(f"the file cannot be read: {error.strerror}", str(path)) from None
    except UnicodeDecodeError as error:
        raise AnalysisError(
            f"the file is no UTF-8 text (byte {error.start})", str(path), "save it as UTF-8"
        ) from None
    values = []
    for number, line in enumerate(text.splitlines(), 1):
        content = line.partition("#")[0].strip()
        if not content:
            continue
        value = _number(content)
        if value is None:
            shown = content if len(content) <= _LONGEST else f"{content[: _LONGEST - 1]}…"
            raise AnalysisError(
                f"{shown!r} is not one number",
                f"{path}:{number}",
                "write one number a line, or name the file .csv if it is a matrix",
            )
        values.append(value)
    if not values:
        raise AnalysisError("the file holds no values", str(path))
    return Table(samples={VALUES: values})


def _number(text: str) -> float | None:
    if not re.fullmatch(r"[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?", text, re.ASCII):
        return None
    value = float(text)
    return value if math.isfinite(value) else None
