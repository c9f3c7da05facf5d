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
        help="put trials of one campaign together: as sessions, or as hosts",
        description="Put trials of one campaign together that were measured apart, or copied by hand. "
        "Those of one host become the sessions of a new trial (they must be complete), and what differs "
        "between their environments is said; those of several hosts become a fleet, a folder with a "
        "trial a host. What is put together is only read; a merged trial can be judged like any other, "
        "and cannot be resumed.",
    )
    parser.add_argument(
        "trials", metavar="TRIAL", nargs="+", type=Path, help="a trial directory, or a fleet"
    )
    parser.add_argument(
        "-o", "--output", metavar="FOLDER", type=Path, required=True, help="the new folder"
    )
    parser.add_argument(
        "--as",
        dest="way",
        choices=("sessions", "fleet"),
        help="what they become (default: sessions where all have one host id, else a fleet)",
    )
    parser.add_argument(
        "--accept-drift",
        action="store_true",
        help="go on although programs or inputs differ between the trials of a host, and record it",
    )
    add_json(parser)
    parser.set_defaults(run=_merge)


def _merge(args: argparse.Namespace, out: TextIO, _err: TextIO) -> int:
    import json

    from ...merging import merge_hosts, merge_trials, named_trials, way_of
    from ...record import is_fleet

    trials = named_trials(args.trials)
    way = way_of(trials, asked=args.way, fleets=any(map(is_fleet, args.trials)))
    merged = (
        merge_hosts(trials, args.output, accept_drift=args.accept_drift)
        if way == "fleet"
        else merge_trials([one.path for one in trials], args.output, accept_drift=args.accept_drift)
    )
    text = json.dumps(merged.to_dict(), indent=2, allow_nan=False) if args.json else str(merged)
    out.write(text + "\n")
    return 0
