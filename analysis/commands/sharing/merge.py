"""The subcommand ``merge``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from ..arguments import add_json

if TYPE_CHECKING:
    from ..arguments import Subparsers

__all__ = ["add"]


def add(subparsers: Subparsers) -> None:
    """Add ``merge``."""
    parser = subparsers.add_parser(
        "merge",
        help="put trials of one campaign on one host together",
        description="Put complete trials of one campaign on one host together, as the sessions of a "
        "new trial, and say what differs between their environments. The trials are only read; the "
        "new one can be judged like any other, and cannot be resumed.",
    )
    parser.add_argument("trials", metavar="TRIAL", nargs="+", type=Path, help="a trial directory")
    parser.add_argument(
        "-o", "--output", metavar="FOLDER", type=Path, required=True, help="the new trial's folder"
    )
    parser.add_argument(
        "--accept-drift",
        action="store_true",
        help="go on although programs or inputs differ, and record it",
    )
    add_json(parser)
    parser.set_defaults(run=_merge)


def _merge(args: argparse.Namespace, out: TextIO, _err: TextIO) -> int:
    import json

    from ...merging import merge_trials

    merged = merge_trials(args.trials, args.output, accept_drift=args.accept_drift)
    text = json.dumps(merged.to_dict(), indent=2, allow_nan=False) if args.json else str(merged)
    out.write(text + "\n")
    return 0
