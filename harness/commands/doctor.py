"""The subcommand ``doctor``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from .arguments import add_folder, add_talk, write_json

if TYPE_CHECKING:
    from .arguments import Subparsers


def add(subparsers: Subparsers) -> None:
    """Add ``doctor``."""
    parser = subparsers.add_parser("doctor", help="check this host, and say how to mend it")
    parser.add_argument("campaign", nargs="?", type=Path, help="check for this campaign")
    parser.add_argument("--strict", action="store_true", help="warnings give exit code 3")
    add_folder(parser)
    add_talk(parser)
    parser.set_defaults(run=_doctor)


def _doctor(args: argparse.Namespace, out: TextIO, _err: TextIO) -> int:
    from ..screen import check_up

    checkup = check_up(args.campaign, args.dir, strict=args.strict)
    if args.json:
        write_json(checkup.to_dict(), out)
    else:
        out.write(checkup.text(colour=out.isatty(), verbose=args.verbose) + "\n")
    return 3 if checkup.fatal else 0
