"""The subcommands ``init`` and ``doctor``: what one does before the first trial."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from analysis.record.printer import printer_on
from analysis.words import next_lines

from .options import add_command, add_folder, add_talk, short_time, write_json

if TYPE_CHECKING:
    from .options import Subparsers


def add_init(subparsers: Subparsers) -> None:
    """Add ``init``."""
    parser = add_command(
        subparsers,
        "init",
        description="Write a campaign with comments that can be run without changes: gzip at two "
        "levels, on data that it makes. An existing file is never overwritten.",
        examples="""
compressors.yaml
""",
    )
    parser.add_argument(
        "path",
        nargs="?",
        default="campaign.yaml",
        type=Path,
        help="the file, or a folder for it (default: campaign.yaml)",
    )
    parser.set_defaults(run=_init)


def _init(args: argparse.Namespace, _out: TextIO, err: TextIO) -> int:
    from analysis.errors import UsageError

    from ..campaign.resolve import starter_text

    path: Path = args.path
    try:
        if path.is_dir():
            path = path / "campaign.yaml"
        text = starter_text(path.stem)
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise UsageError("there is a file already", str(path), "choose another name") from None
    except OSError as error:
        raise UsageError(f"cannot be written: {error.strerror}", str(path)) from error
    words = ("fairtrial", "run", str(path), "--dry-run")
    err.write("\n".join((f"wrote {path}", *next_lines(words, "shows what it would do"))) + "\n")
    return 0


def add_doctor(subparsers: Subparsers) -> None:
    """Add ``doctor``."""
    parser = add_command(
        subparsers,
        "doctor",
        description="Check whether this host is fit for measuring, and say how to fix what is "
        "not. Nothing is changed.",
        examples="""
                 everything, in general
campaign.yaml    the CPUs and checks of this campaign
-q               only the problems
--probe 2s       watch for 2 s whether the CPU is taken
""",
    )
    parser.add_argument(
        "campaign",
        nargs="?",
        type=Path,
        help="check the host for this campaign (default: in general)",
    )
    parser.add_argument(
        "--strict",
        action="store_true",
        help="exit with 3 on warnings; with a campaign, on warnings of the checks that it requires",
    )
    parser.add_argument(
        "--probe",
        type=short_time,
        metavar="TIME",
        help="how long to watch whether other work takes the measured CPUs, such as 2s, at most "
        "60s (default: 200ms, as before a session)",
    )
    add_folder(parser)
    add_talk(parser)
    parser.set_defaults(run=_doctor)


def _doctor(args: argparse.Namespace, out: TextIO, _err: TextIO) -> int:
    from .doctor_page import check_up

    checkup = check_up(args.campaign, args.dir, strict=args.strict, probe_s=args.probe)
    if args.json:
        write_json(checkup.to_dict(), out)
    else:
        screen = printer_on(out)
        text = checkup.text(colour=screen.isatty(), verbose=args.verbose, quiet=args.quiet)
        screen.paint(text + "\n" * (not args.quiet))  # its parts are clean
    return 3 if checkup.fatal else 0
