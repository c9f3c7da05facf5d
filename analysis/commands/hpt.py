"""The subcommand ``hpt``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from .arguments import (
    add_file_reading,
    add_metric,
    add_shared,
    campaign_baseline,
    number,
    read_matrix,
    show,
    write_file,
)

if TYPE_CHECKING:
    from .arguments import Subparsers

__all__ = ["add"]


def add(subparsers: Subparsers) -> None:
    """Add ``hpt``."""
    parser = subparsers.add_parser(
        "hpt",
        help="hierarchical performance testing of two variants over a suite",
        description="HPT: is CANDIDATE better than BASELINE over the suite, or --speedup times "
        "better? Each is a variant of a trial (runs/NAME:VARIANT) or a matrix file (.csv, .txt, "
        ".json). Without BASELINE, the baseline of the candidate's campaign is taken.",
    )
    parser.add_argument("candidate", metavar="CANDIDATE")
    parser.add_argument("baseline", metavar="BASELINE", nargs="?")
    add_metric(parser)
    add_file_reading(parser)
    parser.add_argument(
        "--alpha",
        type=number,
        metavar="A",
        help="risk of each test on one benchmark (default: 0.05 from 5 runs on, else 0.10)",
    )
    parser.add_argument(
        "--speedup", type=number, default=1.0, metavar="G", help="speedup under test (default: 1)"
    )
    parser.add_argument(
        "--ties",
        choices=("table", "exact"),
        default="table",
        help="laws without ties, as published (default), or exact given the ties observed",
    )
    parser.add_argument(
        "--scores",
        choices=("auto", "raw", "ratio", "log-ratio"),
        default="auto",
        help="what is ranked over the benchmarks (default: values where higher is better, "
        "else baseline median / value)",
    )
    parser.add_argument(
        "--html", metavar="FILE", help="also write the report as one self-contained HTML page"
    )
    add_shared(parser)
    parser.set_defaults(run=_hpt)


def _hpt(args: argparse.Namespace, out: TextIO, _err: TextIO) -> int:
    from ..methods.hpt import hpt_report

    candidate = read_matrix(args.candidate, args)
    baseline = read_matrix(args.baseline or campaign_baseline(args.candidate), args)
    result = hpt_report(
        candidate,
        baseline,
        speedup=args.speedup,
        confidence=args.confidence,
        alpha=args.alpha,
        ties=args.ties,
        scores=args.scores,
    )
    if args.html is not None:
        from ..methods.hpt import hpt_page

        write_file(Path(args.html), hpt_page(result))
    show(result, out, as_json=args.json)
    return 0
