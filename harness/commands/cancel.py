"""The subcommand ``cancel``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from .arguments import add_command, write_json

if TYPE_CHECKING:
    from .arguments import Subparsers


def add(subparsers: Subparsers) -> None:
    """Add ``cancel``."""
    parser = add_command(
        subparsers,
        "cancel",
        summary="end the jobs of a fleet",
        description="Cancel the jobs of a fleet that wait or run, and wait until they have ended.\n"
        "What was measured is kept. Only jobs that are the fleet's own are touched.",
        examples="runs/FLEET                     go on later with: fairtrial submit runs/FLEET --resume",
    )
    parser.add_argument("fleet", type=Path, help="the fleet's folder")
    parser.add_argument("--json", action="store_true", help="the result as JSON")
    parser.set_defaults(run=_cancel)


def _cancel(args: argparse.Namespace, out: TextIO, err: TextIO) -> int:
    from ..fleet import cancel

    done = cancel(args.fleet, lambda text: err.write(f"{text}\n"))
    if args.json:
        write_json(done.to_dict(), out)
    else:
        out.write(f"{done}\n")
    return 0
