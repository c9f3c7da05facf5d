"""What the analysis subcommands share: options, how a side is read, how a result is shown.

Importing this module costs no numpy. Errors pass through; `harness.cli` prints them.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TextIO

from ..errors import StoreError, UsageError

if TYPE_CHECKING:
    from ..data import PerformanceMatrix, Trial

    # argparse gives no public name to what add_subparsers() returns
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]

__all__ = [
    "add_file_reading",
    "add_metric",
    "add_shared",
    "campaign_baseline",
    "line_to",
    "names_file",
    "names_folder",
    "number",
    "open_trial",
    "read_matrix",
    "show",
    "split_variant",
    "write_file",
]


class Result(Protocol):
    def to_dict(self) -> dict[str, Any]: ...


def add_metric(parser: argparse.ArgumentParser) -> None:
    """Add ``--metric``."""
    parser.add_argument(
        "--metric",
        metavar="M",
        help="wall (default), user, system, max_rss, or one parsed from output",
    )


def add_file_reading(parser: argparse.ArgumentParser) -> None:
    """Add the options that say how matrix files are read."""
    parser.add_argument(
        "--better",
        choices=("lower", "higher"),
        help="which direction is better in matrix files (a trial knows it)",
    )
    parser.add_argument(
        "--layout",
        choices=("rows", "columns"),
        default="rows",
        help="in matrix files, one benchmark is one row (default) or one column",
    )


def add_shared(parser: argparse.ArgumentParser) -> None:
    """Add ``--confidence`` and ``--json``."""
    parser.add_argument(
        "--confidence",
        type=number,
        default=0.95,
        metavar="R",
        help="confidence that the outcome needs (default: 0.95)",
    )
    parser.add_argument("--json", action="store_true", help="print the whole result as JSON")


def number(text: str) -> float:
    """Read a number; argparse reports what is none."""
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number") from None


def show(result: Result, out: TextIO, *, as_json: bool) -> None:
    """Print a result as text, or exactly its ``to_dict()`` as JSON."""
    if as_json:
        import json

        json.dump(result.to_dict(), out, indent=2, allow_nan=False)
        out.write("\n")
    else:
        out.write(f"{result}\n")


def line_to(err: TextIO) -> Callable[[str], None]:
    """Give what says one line on `err` at once."""

    def say(text: str) -> None:
        err.write(f"{text}\n")
        err.flush()

    return say


def write_file(path: Path, text: str) -> None:
    """Write a page or a report.

    Raises
    ------
    UsageError
        If the file cannot be written.
    """
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(
            f"the page cannot be written: {error.strerror}", str(path), "name another file"
        ) from None


def names_file(text: str) -> bool:
    """Tell whether there is such a file; a text that cannot be a path at all names none."""
    try:
        return Path(text).is_file()
    except (OSError, ValueError):  # too long, or with a zero byte
        return False


def names_folder(text: str) -> bool:
    """Tell whether there is such a directory; a text that cannot be a path at all names none."""
    try:
        return Path(text).is_dir()
    except (OSError, ValueError):
        return False


def open_trial(path: Path) -> Trial:
    """Read a trial directory.

    Raises
    ------
    StoreError
        If there is none, or it cannot be trusted.
    """
    from ..data import read_trial

    if not (names_folder(str(path)) or names_file(str(path))):
        raise StoreError(
            "there is no such trial",
            str(path),
            "name the directory that 'fairtrial run' printed, such as runs/NAME",
        )
    return read_trial(path)


def split_variant(text: str) -> tuple[Path, str] | None:
    """Split ``runs/NAME:VARIANT``; None when the text does not name a trial's variant."""
    folder, colon, variant = text.rpartition(":")
    return (Path(folder), variant) if colon and names_folder(folder) else None


def campaign_baseline(text: str) -> str:
    """Name the baseline of the campaign that ``runs/NAME:VARIANT`` belongs to.

    Raises
    ------
    UsageError
        If `text` names no variant of a trial.
    """
    split = None if names_file(text) else split_variant(text)
    if split is None:
        raise UsageError(
            "BASELINE is missing",
            text,
            "name the second variant or file; only a trial knows its baseline",
        )
    return f"{split[0]}:{open_trial(split[0]).manifest.baseline}"


def read_matrix(text: str, args: argparse.Namespace) -> PerformanceMatrix:
    """Read one side: a matrix file, or a variant of a trial."""
    path = Path(text)
    if names_file(text):
        if args.better is None:
            raise UsageError(
                "a matrix file does not say which direction is better",
                text,
                "add --better lower (times) or --better higher (scores, rates)",
            )
        if args.metric is not None:
            raise UsageError("--metric is for trials; a matrix file has one metric", text)
        from ..data import PerformanceMatrix

        unit = "s" if args.better == "lower" else "score"
        return PerformanceMatrix.read(path, better=args.better, unit=unit, layout=args.layout)
    if names_folder(text):
        names = ", ".join(open_trial(path).manifest.variants)
        raise UsageError(
            "a trial holds several variants", text, f"write {text}:VARIANT; here: {names}"
        )
    split = split_variant(text)
    if split is None:
        raise UsageError(
            "this is neither a matrix file nor a variant of a trial",
            text,
            "write runs/NAME:VARIANT, or name a .csv, .txt or .json file",
        )
    matrix = open_trial(split[0]).matrix(split[1], args.metric or "wall")
    if args.better is not None and args.better != matrix.better:
        raise UsageError(
            f"in this trial {matrix.better} values are better",
            text,
            f"leave out --better {args.better}",
        )
    return matrix
