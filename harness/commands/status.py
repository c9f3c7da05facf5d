"""The subcommand ``status``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from .arguments import add_command, add_folder, write_json

if TYPE_CHECKING:
    from .arguments import Subparsers


def add(subparsers: Subparsers) -> None:
    """Add ``status``."""
    parser = add_command(
        subparsers,
        "status",
        summary="how far a trial is, from any terminal",
        description="Say how far trials are, how they ended, and how to go on with them; or what "
        "changed in the\nenvironment between sessions; of two trials, what 'fairtrial diff' says.",
        examples="""
                                   all trials below runs/
runs/NAME                          one trial
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
    parser.set_defaults(run=_status)


def _status(args: argparse.Namespace, out: TextIO, err: TextIO) -> int:
    if args.diff is not None:
        return _differences(args, out)
    from ..errors import StoreError
    from ..screen import read_progress
    from ..trial import trials_in

    found = []
    if args.trial is not None:
        found.append(read_progress(args.trial))
    else:
        trials = trials_in(args.dir)
        unreadable = list(trials.unreadable)
        for path, _ in trials.found:
            try:
                found.append(read_progress(path))
            except StoreError as error:  # one damaged trial hides no other
                unreadable.append(error)
        for reason in unreadable:
            err.write(f"fairtrial: {reason}\n")
    if args.json:
        write_json([progress.to_dict() for progress in found], out)
    elif not found:
        out.write(f"no trials in {args.dir}\n")
    else:
        newest = sorted(found, key=lambda progress: progress.started, reverse=True)
        out.write("\n".join(map(str, newest)) + "\n")
    return 0


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
