"""How results are set as plain text: numbers, units, names, tables and numbered cautions."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

__all__ = ["WIDTH", "grid", "numbered", "wrapped"]

WIDTH = 96


def grid(rows: Sequence[Sequence[str]], align: str, indent: str = "") -> list[str]:
    """Set rows of cells in columns; `align` holds ``<`` or ``>`` for each column."""
    widths = [max(len(row[k]) for row in rows) for k in range(len(align))]
    return [
        (
            indent + "  ".join(f"{c:{a}{w}}" for c, a, w in zip(row, align, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def wrapped(sentence: str, width: int = WIDTH, indent: str = "") -> list[str]:
    """Break a sentence into lines."""
    return textwrap.wrap(
        sentence,
        width,
        initial_indent=indent,
        subsequent_indent=indent + "  ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def numbered(cautions: Sequence[str], width: int = WIDTH) -> list[str]:
    """Set cautions as a numbered list under their heading; nothing when there are none."""
    if not cautions:
        return []
    lines = ["cautions"]
    for number, caution in enumerate(cautions, 1):
        mark = f"  [{number}] "
        lines += textwrap.wrap(
            caution,
            width,
            initial_indent=mark,
            subsequent_indent=" " * len(mark),
            break_long_words=False,
            break_on_hyphens=False,
        )
    return lines
