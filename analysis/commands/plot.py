"""The subcommand ``plot``."""

from __future__ import annotations

import argparse
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from ..errors import UsageError
from ..words import WIDTH
from .options import (
    SIDE,
    WhenShown,
    add_choice,
    add_judging,
    add_sheet,
    asked,
    headed,
    metric_of,
    reading,
    sheet_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..pages.model import Caution
    from ..plots.chart import Sheet
    from ..report.figures.panels import Drawing
    from .options import Subparsers


_OF_SYSTEMS = ("biplot", "shares")


def _kinds() -> str:
    from ..report.figures.kinds import KINDS

    return "; ".join(f"{name}: {kind.shows}" for name, kind in KINDS.items())


def add(subparsers: Subparsers) -> None:
    """Add ``plot``."""
    from .biplot import add_scale

    parser = subparsers.add_parser(
        "plot",
        description="Draw one figure of a trial, or of two sides, and write its numbers next to "
        "it as CSV. The ending of FILE is the format. The result in words is printed: it can be "
        "the beginning of a caption.",
    )
    kind = parser.add_argument("kind", metavar="KIND", help="%(kinds)s")
    vars(kind)["kinds"] = WhenShown(_kinds)
    parser.add_argument(
        "sources",
        metavar="SOURCE",
        nargs="+",
        help=f"a trial, or two sides, the candidate first: {SIDE}; biplot and shares "
        "take what 'fairtrial biplot' takes",
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE", required=True, help="the picture: .svg, .pdf or .png"
    )
    parser.add_argument(
        "--data", metavar="FILE", help="where its numbers go as CSV (default: next to the picture)"
    )
    add_scale(parser, None, "of biplot and shares: ")
    add_sheet(parser)
    add_choice(parser)
    add_judging(parser)
    parser.set_defaults(run=_plot)


def _plot(args: argparse.Namespace, out: TextIO, err: TextIO) -> int:
    from ..plots.chart import check_picture
    from ..report.figures.kinds import kind_of
    from ..report.figures.suite import write_drawing

    kind_of(args.kind)
    picture = check_picture(args.output)
    data = None if args.data is None else Path(args.data)
    if data is not None and not data.parent.is_dir():
        raise UsageError(f"there is no folder {str(data.parent)!r}", str(data), "make it")
    if picture in (data, picture.with_suffix(".csv")):
        raise UsageError("the picture and its data need names of their own", args.output)
    sheet = sheet_of(args)
    drawing, metric, told = _drawing(args, sheet)
    write_drawing(drawing, picture, data=data)
    out.write(f"{_set(headed(drawing.alt, metric))}\n")
    for caution in told:
        err.write(f"{_set(f'caution: {caution}')}\n")
    return 0


def _set(text: str) -> str:
    return "\n".join(textwrap.wrap(text, WIDTH, break_on_hyphens=False, break_long_words=False))


def _drawing(args: argparse.Namespace, sheet: Sheet) -> tuple[Drawing, str | None, list[Caution]]:
    """Draw; also give the metric that the first line must name, and what nobody has asked for."""
    from ..report.figures.kinds import draw, kind_of

    kind = kind_of(args.kind)
    if args.scale is not None and (args.kind not in _OF_SYSTEMS or args.variant or args.benchmark):
        raise UsageError(
            "--scale is for the kinds biplot and shares, of whole systems",
            args.kind,
            "leave it out, or --variant and --benchmark",
        )
    if args.kind in _OF_SYSTEMS and not (args.variant or args.benchmark):
        from ..report.figures.kinds import draw_table
        from .biplot import systems_of

        found, metric = systems_of(args)
        return draw_table(found, sheet, args.kind), metric, _unasked(found.cautions)
    if len(args.sources) > 2:
        raise UsageError(
            f"{args.kind} takes one trial or two sides, and {len(args.sources)} were given",
            fix="name two; only biplot and shares take more",
        )
    named = args.benchmark
    if kind.each and named is not None and len(named) > 1:
        raise UsageError(f"a figure of kind {args.kind} shows one benchmark", fix="name one")
    from ..report.subject import subject_of

    options: dict[str, Any] = {
        **asked(args),
        "variants": args.variant,
        "certificate": args.certificate,
        "explain": False,
    }
    if kind.each:
        options["benchmarks"] = None  # one figure of it, as it is judged among all
    subject = subject_of(args.sources, reading(args), **options)
    drawing = draw(args.kind, subject, sheet, benchmark=named[0] if kind.each and named else None)
    metric = metric_of(*subject.matrices.values())
    return drawing, metric, _unasked(subject.verdict.cautions)


def _unasked(cautions: Iterable[Caution]) -> list[Caution]:
    """Give the caution that the metric drawn is not one that benchmarks declare."""
    from ..data.host_record import NOT_ASKED

    return [one for one in cautions if one.code == NOT_ASKED]
