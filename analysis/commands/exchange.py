"""The subcommands ``merge``, ``import`` and ``export``: trials and tables in and out."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from ..errors import UsageError
from ..record.printer import printer_on
from ..words import next_lines
from .options import SIDE, WhenShown, add_json, add_texts, add_value, show, write_file

if TYPE_CHECKING:
    from .options import Subparsers


def add_merge(subparsers: Subparsers) -> None:
    """Add ``merge``."""
    parser = subparsers.add_parser(
        "merge",
        description="Put together trials of one campaign that were measured separately, or "
        "copied by hand. Complete trials of one host become the sessions of a new trial, and "
        "differences between their environments are reported. Trials of several hosts become a "
        "fleet, a folder with one trial for each host. The given trials are only read. A merged "
        "trial can be judged like any other, but not resumed.",
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
        help="what they become (default: sessions if all have the same host id, otherwise a fleet)",
    )
    parser.add_argument(
        "--accept-drift",
        action="store_true",
        help="go on even if programs or inputs differ between the trials of a host, and record it",
    )
    add_json(parser)
    parser.set_defaults(run=_merge)


def _merge(args: argparse.Namespace, out: TextIO, _err: TextIO) -> int:
    import json

    from ..data.merging import merge_trials
    from ..data.merging_hosts import merge_hosts, named_trials, way_of
    from ..record.fleet import is_fleet

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


def add_import(subparsers: Subparsers) -> None:
    """Add ``import``."""
    parser = subparsers.add_parser(
        "import",
        description="Read files of other tools, which are recognized by their content, and write "
        "them as a trial that every command can judge. What a file does not contain stays "
        "unknown, and is reported.",
    )
    parser.add_argument(
        "sources", metavar="SOURCE", nargs="+", help="a file, a folder, or - for standard input"
    )
    parser.add_argument(
        "-o", "--output", metavar="FOLDER", type=Path, help="the new trial's folder"
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="only report what the files contain; write nothing"
    )
    parser.add_argument("--format", metavar="F", help="read the files as this format")
    parser.add_argument("--variant", metavar="KEY", help="the key of the file that is the variant")
    parser.add_argument(
        "--benchmark", metavar="KEY", help="the key of the file that is the benchmark"
    )
    parser.add_argument(
        "--session",
        metavar="KEY",
        help="what makes a session: file, folder, or a key of the file",
    )
    parser.add_argument("--baseline", metavar="V", help="the baseline (default: the first variant)")
    parser.add_argument(
        "--better",
        choices=("lower", "higher"),
        help="whether lower or higher values are better, for metrics where the file does not say "
        "so",
    )
    parser.add_argument("--metric", metavar="M", help="only this metric")
    add_value(
        parser, "--encoding", "E", "encoding of text files (default: UTF-8, then cp1252)", type=str
    )
    add_texts(parser)
    add_json(parser)
    parser.set_defaults(run=_import)


def _import(args: argparse.Namespace, out: TextIO, _err: TextIO) -> int:
    import json

    from ..data.opening import open_foreign
    from ..importers.gathering import gather
    from ..importers.importing import import_files, inspect_files
    from ..importers.naming import ReadingChoices
    from ..importers.registry import read_foreign

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
        ReadingChoices(
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
    following = "\n".join(next_lines(("fairtrial", "verdict", str(made.trial))))
    out.write(f"{told}\n\nwritten: {made.trial}\n{following}\n")
    return 0


_STDOUT = "-"


def add_export(subparsers: Subparsers) -> None:
    """Add ``export``."""
    parser = subparsers.add_parser(
        "export",
        description="Write the runs of a trial, or of any file that fairtrial reads, as a file "
        "for another tool. What that file cannot contain is reported, line by line.",
    )
    parser.add_argument(
        "source",
        metavar="SOURCE",
        help=f"a trial (runs/NAME), {SIDE}; or a file or folder of another tool",
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE", required=True, help="the file, or - for standard output"
    )
    target = parser.add_argument("--to", metavar="F", help="the format: %(known)s")
    vars(target)["known"] = WhenShown(_every_target)
    parser.add_argument(
        "--metric",
        metavar="M",
        action="append",
        default=[],
        help="only this metric; may be repeated (default: wall time and the metrics parsed from "
        "output; all metrics of imported files)",
    )
    parser.add_argument(
        "--better",
        choices=("lower", "higher"),
        help="whether lower or higher values are better, for files that do not say so",
    )
    add_texts(parser)
    parser.add_argument(
        "--strict",
        action="store_true",
        help="write nothing, and exit with 1, if the file cannot contain everything",
    )
    add_json(parser, " (with a FILE)")
    parser.set_defaults(run=_export)


def _every_target() -> str:
    from ..importers.targets import TARGETS

    named = ", ".join(target.name for target in TARGETS)
    endings = ", ".join(target.endings[0] for target in TARGETS if target.endings)
    return f"{named} (default: as FILE's ending says: {endings})"


def _export(args: argparse.Namespace, out: TextIO, err: TextIO) -> int:
    from ..importers.export_data import read_exported
    from ..importers.reader import Reading
    from ..importers.targets import target_for

    target = target_for(args.output, args.to)
    if args.json and args.output == _STDOUT:
        raise UsageError("--json and -o - both write to the standard output", fix="name a FILE")
    exported, cautions = read_exported(
        args.source,
        Reading(better=args.better, layout=args.layout, decimal=args.decimal),
        args.metric,
    )
    made = target.write(exported)
    if not args.json:
        for kind, texts in (
            ("caution", [one.text for one in cautions]),
            ("note", [one.text for one in made.notes]),
            ("cannot be held", [one.text for one in made.lost]),
        ):
            for text in texts:
                err.write(f"{kind}: {text}\n")
    refused = bool(args.strict and made.lost)
    if not refused:
        _write(args.output, made.data, out, binary=target.binary)
    if args.json:
        import json

        told = {
            "output": None if refused else args.output,
            "format": target.name,
            "bytes": len(made.data),
            "cannot_hold": [one.text for one in made.lost],
            "cannot_hold_codes": [one.code for one in made.lost],
            "notes": [one.text for one in made.notes],
        }
        out.write(json.dumps(told, indent=2, allow_nan=False) + "\n")
    elif refused:
        err.write(f"nothing was written: {target.said} cannot hold everything (--strict)\n")
    elif args.output != _STDOUT:
        out.write(f"written: {args.output}, {target.said}\n")
    return 1 if refused else 0


def _write(output: str, data: bytes, out: TextIO, *, binary: bool) -> None:
    """Write to the standard output, or to a file that appears whole or not at all."""
    if output == _STDOUT:
        stream = printer_on(out)
        if stream.takes_bytes:
            stream.write_bytes(data)
        elif binary:
            raise UsageError("these bytes are not text", fix="name a file with -o FILE, or a pipe")
        else:
            stream.write(data.decode())
        return
    if output.endswith(".gz"):
        import gzip

        data = gzip.compress(data, mtime=0)
    write_file(Path(output), data)
