"""The subcommand ``status``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from .arguments import add_folder, write_json

if TYPE_CHECKING:
    from .arguments import Subparsers


def add(subparsers: Subparsers) -> None:
    """Add ``status``."""
    parser = subparsers.add_parser("status", help="how far a trial is, from any terminal")
    parser.add_argument("trial", nargs="?", type=Path, help="default: all below --dir")
    add_folder(parser)
    parser.add_argument(
        "--diff",
        nargs="?",
        const="",
        metavar="OTHER",
        help="what changed in the environment: between the trial's sessions, or to another trial",
    )
    parser.add_argument("--json", action="store_true")
    parser.set_defaults(run=_status)


def _status(args: argparse.Namespace, out: TextIO, err: TextIO) -> int:
    if args.diff is not None:
        return _differences(args, out)
    from ..errors import StoreError
    from ..screen import read_progress

    found = []
    if args.trial is not None:
        found.append(read_progress(args.trial))
    else:
        for path in sorted(args.dir.glob("*/manifest.json")):
            try:
                found.append(read_progress(path.parent))
            except StoreError as error:  # one damaged trial hides no other
                err.write(f"fairtrial: {error}\n")
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

    if args.trial is None:
        raise UsageError("--diff needs a trial", None, "fairtrial status TRIAL --diff [OTHER]")
    found = compare_environments(args.trial, Path(args.diff) if args.diff else None)
    if args.json:
        write_json(found.to_dict(), out)
    else:
        out.write(f"{found}\n")
    return 0
