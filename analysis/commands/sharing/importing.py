"""The subcommand ``import``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from ...errors import UsageError
from ..arguments import add_json, add_texts, show

if TYPE_CHECKING:
    from ..arguments import Subparsers

__all__ = ["add"]


def add(subparsers: Subparsers) -> None:
    """Add ``import``."""
    parser = subparsers.add_parser(
        "import",
        help="make a trial of another tool's files, and say what they cannot tell",
        description="Read files of other tools (found by their content), and write them as a trial "
        "that every command judges. What a file does not hold stays unknown, and is said.",
    )
    parser.add_argument(
        "sources", metavar="SOURCE", nargs="+", help="a file, a folder, or - for the standard input"
    )
    parser.add_argument(
        "-o", "--output", metavar="FOLDER", type=Path, help="the new trial's folder"
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="only say what the files hold; nothing is written"
    )
    parser.add_argument("--format", metavar="F", help="take the files for this format")
    parser.add_argument("--variant", metavar="KEY", help="which key of the file is the variant")
    parser.add_argument("--benchmark", metavar="KEY", help="which key of the file is the benchmark")
    parser.add_argument(
        "--session",
        metavar="KEY",
        help="what was measured on one occasion: file, folder, or a key of the file",
    )
    parser.add_argument("--baseline", metavar="V", help="the baseline (default: the first variant)")
    parser.add_argument(
        "--better",
        choices=("lower", "higher"),
        help="for metrics of which the file does not say it",
    )
    parser.add_argument("--metric", metavar="M", help="only this metric")
    parser.add_argument(
        "--encoding", metavar="E", help="of text files (default: UTF-8, then cp1252)"
    )
    add_texts(parser)
    add_json(parser)
    parser.set_defaults(run=_import)


def _import(args: argparse.Namespace, out: TextIO, _err: TextIO) -> int:
    import json

    from ...foreign import Chosen, gather, import_files, inspect_files, open_foreign, read_foreign

    if args.output is None and not args.dry_run:
        raise UsageError(
            "no folder is named for the new trial",
            fix="add -o runs/NAME, or --dry-run to see what the files hold",
        )
    files = [
        read_foreign(
            open_foreign(source, encoding=args.encoding, layout=args.layout, decimal=args.decimal),
            args.format,
        )
        for source in args.sources
    ]
    gathered = gather(
        files,
        Chosen(
            variant=args.variant,
            benchmark=args.benchmark,
            session=args.session,
            metric=args.metric,
            better=args.better,
        ),
    )
    told = inspect_files(gathered)
    if args.dry_run:
        show(told, out, as_json=args.json)
        return 0
    made = import_files(gathered, args.output, baseline=args.baseline, better=args.better)
    if args.json:
        out.write(json.dumps(made.to_dict(), indent=2, allow_nan=False) + "\n")
        return 0
    out.write(f"{told}\n\nwritten: {made.trial}\nnext: fairtrial verdict {made.trial}\n")
    return 0
