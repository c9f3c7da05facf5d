"""The subcommand ``verdict``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from .arguments import add_metric, add_shared, open_trial, show

if TYPE_CHECKING:
    from .arguments import Subparsers

__all__ = ["add"]


def add(subparsers: Subparsers) -> None:
    """Add ``verdict``."""
    parser = subparsers.add_parser(
        "verdict",
        help="judge a trial: every variant against the baseline",
        description="Judge a trial: per benchmark medians, speedup and outcome, and HPT over the "
        "suite, for every variant against the campaign's baseline.",
    )
    parser.add_argument("trial", metavar="TRIAL", help="a trial directory, such as runs/NAME")
    add_metric(parser)
    add_shared(parser)
    parser.set_defaults(run=_verdict)


def _verdict(args: argparse.Namespace, out: TextIO, _err: TextIO) -> int:
    from ..verdict import judge

    result = judge(
        open_trial(Path(args.trial)), confidence=args.confidence, metric=args.metric or "wall"
    )
    show(result, out, as_json=args.json)
    return 0
