"""The subcommand ``export``."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from ...errors import UsageError
from ..arguments import SIDE, add_json, add_texts

if TYPE_CHECKING:
    from ...foreign.exports import Target, Written
    from ..arguments import Subparsers

__all__ = ["add"]

_STDOUT = "-"
_MASK = 0o666  # what a new file may be at most; the umask says what it is


def add(subparsers: Subparsers) -> None:
    """Add ``export``."""
    parser = subparsers.add_parser(
        "export",
        help="write runs as another tool's file, and say what that cannot hold",
        description="Write the runs of a trial, or of any file that is read here, as a file that "
        "another tool reads. What that file cannot hold is said, line by line.",
    )
    parser.add_argument(
        "source",
        metavar="SOURCE",
        help=f"a trial (runs/NAME), {SIDE}; or a file or folder of another tool",
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE", required=True, help="the file, or - for standard output"
    )
    target = parser.add_argument("--to", metavar="F", help="what it is to be: %(known)s")
    vars(target)["known"] = _EveryTarget()
    parser.add_argument(
        "--metric",
        metavar="M",
        action="append",
        default=[],
        help="this metric; may be repeated (default: the wall time and what was parsed from output; "
        "of imported files all)",
    )
    parser.add_argument(
        "--better",
        choices=("lower", "higher"),
        help="which direction is better in files that do not say it",
    )
    add_texts(parser)
    parser.add_argument(
        "--strict",
        action="store_true",
        help="write nothing, and exit with 1, where the file cannot hold everything",
    )
    add_json(parser, " (with a FILE)")
    parser.set_defaults(run=_export)


class _EveryTarget:
    """The targets, for the help: the table is read when that is shown."""

    def __str__(self) -> str:
        from ...foreign.exports import TARGETS

        named = ", ".join(target.name for target in TARGETS)
        endings = ", ".join(target.endings[0] for target in TARGETS if target.endings)
        return f"{named} (default: as FILE's ending says: {endings})"


def _export(args: argparse.Namespace, out: TextIO, err: TextIO) -> int:
    from ...foreign.exports import target_for
    from ...formats import Reading, read_leaving

    target = target_for(args.output, args.to)
    if args.json and args.output == _STDOUT:
        raise UsageError("--json and -o - both write to the standard output", fix="name a FILE")
    leaving, cautions = read_leaving(
        args.source,
        Reading(better=args.better, layout=args.layout, decimal=args.decimal),
        args.metric,
    )
    made = target.write(leaving)
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
        _as_json(args.output, target, made, out, refused=refused)
    elif refused:
        err.write(f"nothing was written: {target.said} cannot hold everything (--strict)\n")
    elif args.output != _STDOUT:
        out.write(f"written: {args.output}, {target.said}\n")
    return 1 if refused else 0


def _as_json(output: str, target: Target, made: Written, out: TextIO, *, refused: bool) -> None:
    import json

    told = {
        "output": None if refused else output,
        "format": target.name,
        "bytes": len(made.data),
        "cannot_hold": [one.text for one in made.lost],
        "cannot_hold_codes": [one.code for one in made.lost],
        "notes": [one.text for one in made.notes],
    }
    out.write(json.dumps(told, indent=2, allow_nan=False) + "\n")


def _write(output: str, data: bytes, out: TextIO, *, binary: bool) -> None:
    """Write to the standard output, or to a file that appears whole or not at all."""
    if output == _STDOUT:
        raw = getattr(out, "buffer", None)
        if raw is not None:
            out.flush()
            raw.write(data)
            raw.flush()
        elif binary:
            raise UsageError("these bytes are no text", fix="name a file with -o FILE")
        else:
            out.write(data.decode())
        return
    path = Path(output)
    if output.endswith(".gz"):
        import gzip

        data = gzip.compress(data, mtime=0)
    try:
        if path.exists() and not path.is_file():  # a pipe, or /dev/null
            path.write_bytes(data)
        else:
            _replace(path.resolve(), data)
    except OSError as error:
        raise UsageError(
            f"the file cannot be written: {error.strerror or error}", output, "name another file"
        ) from None


def _replace(place: Path, data: bytes) -> None:
    import tempfile

    fd, fresh = tempfile.mkstemp(prefix=f".{place.name[:60]}.", dir=place.parent)
    try:
        with os.fdopen(fd, "wb") as file:
            file.write(data)
            mask = os.umask(0)
            os.umask(mask)
            os.fchmod(file.fileno(), place.stat().st_mode if place.exists() else _MASK & ~mask)
        os.replace(fresh, place)  # noqa: PTH105 - of a name that mkstemp gave
    except BaseException:
        os.unlink(fresh)  # noqa: PTH108
        raise
