"""The subcommand ``report``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from .arguments import SIDE, add_confidence, add_reading, number, reading, write_file

if TYPE_CHECKING:
    from .arguments import Subparsers

__all__ = ["add"]


def add(subparsers: Subparsers) -> None:
    """Add ``report``."""
    parser = subparsers.add_parser(
        "report",
        help="one file with the answer, the evidence, the doubt and the conditions",
        description="Write the report on a trial, or on two sides, as one self-contained HTML file.",
    )
    parser.add_argument("source", metavar="SOURCE", help=f"a trial, {SIDE}")
    parser.add_argument(
        "baseline", metavar="BASELINE", nargs="?", help="compare SOURCE with this one instead"
    )
    parser.add_argument("-o", "--output", metavar="FILE", required=True, help="the file to write")
    parser.add_argument(
        "--variant", action="append", metavar="V", help="this candidate only; may be given again"
    )
    parser.add_argument(
        "--benchmark", action="append", metavar="B", help="this benchmark only; may be given again"
    )
    parser.add_argument(
        "--margin",
        type=number,
        default=0.01,
        metavar="M",
        help="differences within it are equivalent (default: 0.01)",
    )
    add_reading(parser)
    add_confidence(parser, "of each interval")
    parser.set_defaults(run=_report)


def _report(args: argparse.Namespace, out: TextIO, _err: TextIO) -> int:
    from dataclasses import replace

    from ..dossier import assemble, html_page, subject_of

    sources = [args.source] if args.baseline is None else [args.source, args.baseline]
    asked: dict[str, Any] = {
        "confidence": args.confidence,
        "margin": args.margin,
        "benchmarks": args.benchmark,
        "variants": args.variant,
    }
    metrics = (args.metric or "wall").split(",") if args.metric else [None]
    subjects = [
        subject_of(sources, replace(reading(args), metric=metric), number=k, **asked)
        for k, metric in enumerate(metrics)
    ]
    write_file(Path(args.output), html_page(assemble(subjects)))
    out.write(f"{args.output}\n")
    return 0
