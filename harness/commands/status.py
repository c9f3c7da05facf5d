"""The subcommand ``status``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from .arguments import add_command, add_folder, write_json

if TYPE_CHECKING:
    from ..fleet import FleetStanding
    from .arguments import Subparsers


def add(subparsers: Subparsers) -> None:
    """Add ``status``."""
    parser = add_command(
        subparsers,
        "status",
        summary="how far a trial or a fleet is, from any terminal",
        description="Say how far trials are, how they ended, and how to go on with them; of a fleet, "
        "host by host,\nand what the queue says; or what changed in the environment between sessions; "
        "of two trials,\nwhat 'fairtrial diff' says.",
        examples="""
                                   all trials below runs/
runs/NAME                          one trial, or a fleet
--diff runs/NAME                   from session to session
--diff runs/A runs/B               from A to B, as 'fairtrial diff' does
""",
    )
    parser.add_argument("trial", nargs="?", type=Path, help="default: all below --dir")
    add_folder(parser)
    parser.add_argument(
        "--diff",
        nargs="*",
        type=Path,
        metavar="TRIAL",
        help="what changed in the environment between a trial's sessions; or two trials compared, as "
        "'fairtrial diff' does it",
    )
    parser.add_argument("--json", action="store_true", help="the result as JSON")
    parser.epilog = (
        f"{parser.epilog}\nexit code: 5 where TRIAL has ended and its files or rows do not fit it"
    )
    parser.set_defaults(run=_status)


def _status(args: argparse.Namespace, out: TextIO, err: TextIO) -> int:
    if args.diff is not None:
        return _differences(args, out)
    from analysis.record import is_fleet

    from ..errors import StoreError
    from ..fleet import Scheduler, read_standing, trials_standing
    from ..screen import read_progress
    from ..trial import trials_in

    found = []
    fleets: tuple[FleetStanding, ...] = ()
    if args.trial is not None and is_fleet(args.trial):
        standing = read_standing(args.trial, Scheduler())
        write_json(standing.to_dict(), out) if args.json else out.write(f"{standing}\n")
        return 0
    if args.trial is not None:
        found.append(read_progress(args.trial))
    else:
        trials = trials_in(args.dir)
        fleets, damaged = trials_standing(args.dir)
        unreadable = [*trials.unreadable, *damaged]
        for path, _ in trials.found:
            try:
                found.append(read_progress(path))
            except StoreError as error:  # one damaged trial hides no other
                unreadable.append(error)
        for reason in unreadable:
            err.write(f"fairtrial: {reason}\n")
    if args.json:
        write_json([*(one.to_dict() for one in found), *(one.to_dict() for one in fleets)], out)
    elif not found and not fleets:
        out.write(f"no trials in {args.dir}\n")
    else:
        newest = sorted(found, key=lambda progress: progress.started, reverse=True)
        out.write("\n".join(map(str, (*newest, *fleets))) + "\n")
    named = args.trial is not None
    return StoreError.exit_code if named and found[0].misfits else 0


def _differences(args: argparse.Namespace, out: TextIO) -> int:
    from ..environment import compare_environments
    from ..errors import UsageError

    trials = [*([] if args.trial is None else [args.trial]), *args.diff]
    if len(trials) not in {1, 2}:
        what = f"--diff compares one trial's sessions, or two trials, not {len(trials)}"
        raise UsageError(what, None, "write fairtrial status --diff TRIAL [OTHER]")
    if len(trials) == 2:
        from analysis.cli import write_comparison

        write_comparison((trials[0], trials[1]), out, as_json=args.json)
        return 0
    found = compare_environments(trials[0], None)
    if args.json:
        write_json(found.to_dict(), out)
    else:
        out.write(f"{found}\n")
    return 0
