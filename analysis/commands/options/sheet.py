"""The options of figures: how wide they are, and how they are lettered."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from ..arguments import number

if TYPE_CHECKING:
    from ...plots import Sheet

__all__ = ["add_sheet", "sheet_of"]


def add_sheet(parser: argparse.ArgumentParser) -> None:
    """Add ``--width``, ``--font-size`` and ``--font-family``: how figures are set."""
    parser.add_argument(
        "--width",
        type=_width,
        default=178.0,
        metavar="W",
        help="of a figure: 85mm for one column of a paper, 178mm for two (default); mm, cm or in",
    )
    parser.add_argument(
        "--font-size", type=number, default=8.0, metavar="PT", help="of a figure (default: 8)"
    )
    parser.add_argument(
        "--font-family",
        default="DejaVu Sans",
        metavar="F",
        help="of a figure, one that is installed (default: DejaVu Sans, which always is)",
    )


def sheet_of(args: argparse.Namespace) -> Sheet:
    """Give the sheet that the options ask for.

    Raises
    ------
    UsageError
        If it cannot be drawn on.
    """
    from ...plots import Sheet

    sheet = Sheet(width=args.width, font_size=args.font_size, font_family=args.font_family)
    sheet.check()
    return sheet


def _width(text: str) -> float:
    """Read a length: ``85mm``, ``8.5cm``, ``3.35in``, or millimetres without a unit."""
    for unit, factor in (("mm", 1.0), ("cm", 10.0), ("in", 25.4), ("", 1.0)):
        if text.endswith(unit):
            try:
                return float(text.removesuffix(unit)) * factor
            except ValueError:
                break
    raise argparse.ArgumentTypeError(f"{text!r} is no length, such as 85mm")
