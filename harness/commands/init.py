"""The subcommand ``init``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from .arguments import add_command

if TYPE_CHECKING:
    from .arguments import Subparsers


def add(subparsers: Subparsers) -> None:
    """Add ``init``."""
    parser = add_command(
        subparsers,
        "init",
        summary="write a commented campaign to start from",
        description="Write a commented campaign that runs as it stands: gzip at two levels, on data "
        "that it makes.\nAn existing file is never overwritten.",
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
    from ..campaign import starter_text
    from ..errors import UsageError

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
    err.write(f"wrote {path}\nnext: fairtrial run {path} --dry-run\n")
    return 0
