"""The subcommand ``plot``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from ..errors import UsageError
from .arguments import SIDE, add_confidence, add_reading, number, reading

if TYPE_CHECKING:
    from ..dossier.figures import Drawing
    from ..plots import Sheet
    from .arguments import Subparsers

__all__ = ["add", "add_sheet", "sheet_of"]


class _Kinds:
    """The kinds of figures, for the help: they are read when that is shown."""

    def __str__(self) -> str:
        from ..dossier.figures import KINDS

        return "; ".join(f"{name}: {kind.shows}" for name, kind in KINDS.items())


def add(subparsers: Subparsers) -> None:
    """Add ``plot``."""
    parser = subparsers.add_parser(
        "plot",
        help="one figure for a paper, with its data",
        description="Draw one figure of a trial, or of two sides, as FILE's ending says, and write "
        "its numbers beside it as CSV. What is printed is its result in words, a caption to begin "
        "with.",
    )
    kind = parser.add_argument("kind", metavar="KIND", help="%(kinds)s")
    vars(kind)["kinds"] = _Kinds()
    parser.add_argument(
        "sources",
        metavar="SOURCE",
        nargs="+",
        help=f"a trial, or two sides, the candidate first: {SIDE}; a biplot takes what "
        "'fairtrial biplot' takes",
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE", required=True, help="the picture: .svg, .pdf or .png"
    )
    parser.add_argument(
        "--data", metavar="FILE", help="its numbers as CSV (default: beside the picture)"
    )
    add_sheet(parser)
    parser.add_argument(
        "--variant", action="append", metavar="V", help="this candidate only; may be given again"
    )
    parser.add_argument(
        "--benchmark",
        action="append",
        metavar="B",
        help="of a figure of one benchmark, that one; of others, this one only; may be given again",
    )
    parser.add_argument(
        "--margin",
        type=number,
        default=0.01,
        metavar="M",
        help="differences within it are equivalent (default: 0.01)",
    )
    parser.add_argument(
        "--correction",
        choices=("holm", "bh", "none"),
        default="holm",
        help="of the words for the number of benchmarks: Holm (default), Benjamini-Hochberg, none",
    )
    add_reading(parser)
    add_confidence(parser, "of each interval")
    parser.set_defaults(run=_plot)


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
    from ..plots import Sheet

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


def _plot(args: argparse.Namespace, out: TextIO, _err: TextIO) -> int:
    from ..dossier.figures import kind_of, write_drawing
    from ..plots import check_picture

    kind_of(args.kind)
    picture = check_picture(args.output)
    data = None if args.data is None else Path(args.data)
    if data is not None and not data.parent.is_dir():
        raise UsageError(f"there is no folder {str(data.parent)!r}", str(data), "make it")
    if picture in (data, picture.with_suffix(".csv")):
        raise UsageError("the picture and its data need names of their own", args.output)
    sheet = sheet_of(args)
    drawing = _drawing(args, sheet)
    write_drawing(drawing, picture, sheet, data=data)
    out.write(f"{drawing.alt}\n")
    return 0


def _drawing(args: argparse.Namespace, sheet: Sheet) -> Drawing:
    from ..dossier.figures import draw, kind_of

    kind = kind_of(args.kind)
    if args.kind == "biplot" and not (args.variant or args.benchmark):
        from ..dossier.figures import draw_table
        from .biplot import systems_of

        return draw_table(systems_of(args), sheet)
    if len(args.sources) > 2:
        raise UsageError(
            f"{args.kind} takes one trial or two sides, and {len(args.sources)} were given",
            fix="name two; only a biplot takes more",
        )
    named = args.benchmark
    if kind.each and named is not None and len(named) > 1:
        raise UsageError(f"a figure of kind {args.kind} shows one benchmark", fix="name one")
    from ..dossier import subject_of

    asked: dict[str, Any] = {
        "confidence": args.confidence,
        "margin": args.margin,
        "correction": args.correction,
        "variants": args.variant,
        # what a benchmark's own figure shows is as judged among all
        "benchmarks": None if kind.each else named,
    }
    subject = subject_of(args.sources, reading(args), explain=False, **asked)
    return draw(args.kind, subject, sheet, benchmark=named[0] if kind.each and named else None)
