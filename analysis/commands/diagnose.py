"""The subcommand ``diagnose``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from ..errors import UsageError
from .arguments import add_file_reading, add_metric, number, read_matrix, show

if TYPE_CHECKING:
    from .arguments import Subparsers

__all__ = ["add"]


def add(subparsers: Subparsers) -> None:
    """Add ``diagnose``."""
    parser = subparsers.add_parser(
        "diagnose",
        help="look at the values of one variant before judging them",
        description="Look at MATRIX, a variant of a trial (runs/NAME:VARIANT) or a matrix file "
        "(.csv, .txt, .json), before judging it.",
    )
    parser.add_argument("matrix", metavar="MATRIX")
    parser.add_argument(
        "--normality",
        action="store_true",
        help="do the runs look normal, and how large must a sample be before its mean does?",
    )
    add_metric(parser)
    add_file_reading(parser)
    parser.add_argument("--risk", type=number, default=0.05, metavar="A", help="default: 0.05")
    parser.add_argument(
        "--seed", type=int, default=0, metavar="S", help="of the random draws (default: 0)"
    )
    parser.add_argument("--json", action="store_true", help="print the whole result as JSON")
    parser.set_defaults(run=_diagnose)


def _diagnose(args: argparse.Namespace, out: TextIO) -> int:
    from ..assumptions import normality

    if not args.normality:
        raise UsageError("say what to look at", args.matrix, "add --normality")
    # Normality has no direction; a matrix file need not be told one.
    if args.better is None and Path(args.matrix).is_file():
        args.better = "lower"
    result = normality(read_matrix(args.matrix, args), risk=args.risk, seed=args.seed)
    show(result, out, as_json=args.json)
    return 0
