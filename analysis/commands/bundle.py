"""The subcommand ``bundle``."""

from __future__ import annotations

import argparse
import re
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from .arguments import add_json, line_to, show
from .files import check_file
from .interrupting import interruptible

if TYPE_CHECKING:
    from .arguments import Subparsers

__all__ = ["add"]

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}


def add(subparsers: Subparsers) -> None:
    """Add ``bundle``."""
    parser = subparsers.add_parser(
        "bundle",
        help="pack trials, their campaign and all results into one file that others can check",
        description="Pack trials or files of runs, the campaign with the files that it names, every "
        "result with its command, and the software that computes it, into one archive that "
        "'fairtrial reproduce' checks. The same input gives the same bytes. What is too large or "
        "missing is listed. Exit code 1: the archive is written, and a claim does not hold.",
    )
    parser.add_argument(
        "sources",
        metavar="SOURCE",
        nargs="+",
        help="a trial (runs/NAME), a folder of trials, or a file or folder of another tool",
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        type=Path,
        required=True,
        help="the archive, which is replaced if it is there",
    )
    parser.add_argument(
        "--claims",
        metavar="FILE",
        type=Path,
        help="sentences of a paper, each bound to a command and a value (claims.yaml)",
    )
    parser.add_argument(
        "--about",
        metavar="FILE",
        type=Path,
        help="title, authors, licence, DOI and further files (default: bundle.yaml beside the "
        "campaign)",
    )
    parser.add_argument(
        "--campaign",
        metavar="FILE",
        type=Path,
        help="where the campaign file lies now (default: where the trial says that it lay)",
    )
    parser.add_argument(
        "--binaries", action="store_true", help="also pack the programs that were measured"
    )
    parser.add_argument(
        "--redact",
        metavar="KINDS",
        help="take names out before anything is hashed: user,host,paths,env or some of them; user=NAME "
        "and host=NAME add a name that the trial does not say",
    )
    parser.add_argument(
        "--max-bytes",
        metavar="N",
        type=size_in_bytes,
        default=10 * 10**9,
        help="the most that all files may have, such as 500M; files of the campaign that do not fit "
        "are listed (default: 10G)",
    )
    parser.add_argument(
        "--seed",
        type=int,
        default=0,
        metavar="S",
        help="of results with random draws (default: 0)",
    )
    add_json(parser)
    parser.set_defaults(run=_bundle)


def size_in_bytes(text: str) -> int:
    """Read a number of bytes, with k, M, G or T for powers of 1000; argparse reports what is none."""
    match = re.fullmatch(r"(\d{1,15})\s?([kKmMgGtT]?)[bB]?", text.strip())
    if match is None or not int(match.group(1)):
        raise argparse.ArgumentTypeError(f"{text!r} is no number of bytes, such as 500M")
    return int(match.group(1)) * _UNITS[match.group(2).lower()]


def _bundle(args: argparse.Namespace, out: TextIO, err: TextIO) -> int:
    check_file(args.output)

    from ..artifact.packing import Request, pack_bundle
    from ..artifact.redacting import known_here, redact_folder, wanted_of

    wanted = None if args.redact is None else wanted_of(args.redact)
    with interruptible():
        bundled = pack_bundle(
            Request(
                sources=args.sources,
                claims=args.claims,
                about=args.about,
                campaign=args.campaign,
                binaries=args.binaries,
                seed=args.seed,
                max_bytes=args.max_bytes,
                redact=None
                if wanted is None
                else partial(redact_folder, wanted=wanted, known=known_here()),
                tell=line_to(err) if err.isatty() else lambda _: None,
            ),
            args.output,
        )
    show(bundled, out, as_json=args.json)
    return 0 if bundled.all_hold and bundled.whole else 1
