"""One vocabulary of options for all analysis subcommands, and how a result is shown.

An option means the same everywhere: ``--confidence`` is the level of an answer, ``--alpha`` the risk
of a single test, ``--resamples`` the random draws of one answer, ``--unit`` what is drawn together,
``--interval`` a kind of interval, ``--output`` where files go. Importing this module costs no numpy.
Errors pass through; `harness.cli` prints them.
"""

from __future__ import annotations

import argparse
import contextlib
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TextIO

if TYPE_CHECKING:
    from ..data import PerformanceMatrix
    from ..formats import Reading

    # argparse gives no public name to what add_subparsers() returns
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]

__all__ = [
    "INTERVALS",
    "SIDE",
    "add_better",
    "add_confidence",
    "add_decimal",
    "add_interval",
    "add_json",
    "add_level",
    "add_plot",
    "add_reading",
    "add_resamples",
    "add_seed",
    "add_sides",
    "add_texts",
    "add_unit",
    "headed",
    "line_to",
    "metric_of",
    "named",
    "number",
    "reading",
    "show",
]

SIDE = (
    "a variant of a trial (runs/NAME:VARIANT), a file of another tool, or a file of numbers: a row of "
    "runs a benchmark, or one number a line"
)

# every kind of interval that some command has, and what it is
INTERVALS: Mapping[str, str] = {
    "t": "Student's t on logs",
    "percentile": "the bootstrap's quantiles, as published",
    "corrected": "percentile, corrected for few runs",
    "bca": "bias-corrected and accelerated",
    "studentized": "by a bootstrap of t",
}


class Result(Protocol):
    """What a command shows."""

    def to_dict(self) -> dict[str, Any]:
        """Give what ``--json`` prints."""


def add_sides(parser: argparse.ArgumentParser) -> None:
    """Add CANDIDATE and BASELINE, and how they are read."""
    parser.add_argument("candidate", metavar="CANDIDATE", help=SIDE)
    parser.add_argument(
        "baseline",
        metavar="BASELINE",
        nargs="?",
        help="likewise (default: the baseline of the candidate's campaign; then CANDIDATE may be a "
        "trial with one candidate)",
    )
    add_reading(parser)


def add_reading(parser: argparse.ArgumentParser) -> None:
    """Add ``--metric``, ``--better``, ``--layout``, ``--decimal`` and ``--level``: how sources are read."""
    parser.set_defaults(command=parser.prog)
    add_metric(parser)
    add_better(parser)
    add_texts(parser)
    add_level(parser)


def add_texts(parser: argparse.ArgumentParser) -> None:
    """Add ``--layout`` and ``--decimal``: how files of numbers are read."""
    parser.add_argument(
        "--layout",
        choices=("rows", "columns"),
        help="in files of numbers, one benchmark is one row or one column (default: rows; one number a "
        "line are the runs of one benchmark)",
    )
    add_decimal(parser)


def add_decimal(parser: argparse.ArgumentParser) -> None:
    """Add ``--decimal``."""
    parser.add_argument(
        "--decimal",
        choices=("comma", "point"),
        help="the decimal sign in files whose numbers may be read in two ways, such as 1,234",
    )


def add_better(parser: argparse.ArgumentParser) -> None:
    """Add ``--better``."""
    parser.add_argument(
        "--better",
        choices=("lower", "higher"),
        help="which direction is better in files that do not say it (a trial knows it)",
    )


def add_level(parser: argparse.ArgumentParser) -> None:
    """Add ``--level``."""
    parser.add_argument(
        "--level",
        choices=("process", "iteration"),
        default="process",
        help="what is one run: a process, with the mean of its iterations (default), or each "
        "iteration, as if they were independent",
    )


class _EveryRunsMetrics:
    """The metrics that every run has, for the help: the table is read when that is shown."""

    def __str__(self) -> str:
        from ..run_numbers import BUILTIN_METRICS

        return ", ".join(BUILTIN_METRICS)


def add_metric(parser: argparse.ArgumentParser) -> None:
    """Add ``--metric``."""
    metric = parser.add_argument(
        "--metric",
        metavar="M",
        help="%(known)s, or one parsed from output (default: the campaign's 'judge', else wall)",
    )
    vars(metric)["known"] = _EveryRunsMetrics()


def add_confidence(
    parser: argparse.ArgumentParser,
    said: str = "that the answer needs",
    *,
    type: Callable[[str], Any] | None = None,
    default: float | None = 0.95,
) -> None:
    """Add ``--confidence``, the level of an answer; ``--conf-level`` is its hidden alias."""
    shown = "" if default is None else f" (default: {default:g})"
    for option, told in (("--confidence", f"confidence {said}{shown}"), ("--conf-level", None)):
        parser.add_argument(
            option,
            dest="confidence",
            type=type or number,
            default=default,
            metavar="R",
            help=argparse.SUPPRESS if told is None else told,
        )


def add_interval(
    parser: argparse.ArgumentParser, kinds: tuple[str, ...], default: str, said: str
) -> None:
    """Add ``--interval`` with the kinds that the command has."""
    shown = "; ".join(
        f"{kind}{' (default)' if kind == default else ''}: {INTERVALS[kind]}" for kind in kinds
    )
    parser.add_argument(
        "--interval", choices=kinds, default=default, help=f"{said}. {shown}".replace("%", "%%")
    )


def add_unit(
    parser: argparse.ArgumentParser, choices: tuple[str, ...], default: str | None, said: str
) -> None:
    """Add ``--unit``, what is drawn or moved together; ``--draws`` is its hidden alias."""
    for option, told in (("--unit", said), ("--draws", argparse.SUPPRESS)):
        parser.add_argument(option, dest="unit", choices=choices, default=default, help=told)


def add_resamples(parser: argparse.ArgumentParser, default: int | None, said: str) -> None:
    """Add ``--resamples``."""
    parser.add_argument("--resamples", type=int, default=default, metavar="N", help=said)


def add_seed(parser: argparse.ArgumentParser) -> None:
    """Add ``--seed``."""
    parser.add_argument(
        "--seed", type=int, default=0, metavar="S", help="of the random draws (default: 0)"
    )


def add_plot(parser: argparse.ArgumentParser, what: str = "it") -> None:
    """Add ``--plot``."""
    parser.add_argument(
        "--plot",
        metavar="FILE",
        help=f"also draw {what}, as FILE's ending says: .svg, .png or .pdf",
    )


def add_json(parser: argparse.ArgumentParser, said: str = "") -> None:
    """Add ``--json``."""
    parser.add_argument("--json", action="store_true", help=f"print the whole result as JSON{said}")


def number(text: str) -> float:
    """Read a number; argparse reports what is none."""
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number") from None


def named(text: str) -> str:
    """Read a name, which trials store in its normal form (NFC)."""
    from ..words import normal

    return normal(text)


def reading(args: argparse.Namespace) -> Reading:
    """Give how the sources of this command line are read."""
    from ..formats import Reading

    return Reading(
        metric=args.metric,
        better=args.better,
        layout=args.layout,
        decimal=args.decimal,
        level=args.level,
        command=args.command,
    )


def metric_of(*matrices: PerformanceMatrix) -> str | None:
    """Give what the first line of a text must name: the metric that was chosen of trials.

    None where no trial is among them, and of the wall time where no campaign names it.
    """
    from ..errors import FairtrialError
    from ..record import read_manifest

    for matrix in matrices:
        if matrix.trial is None or matrix.metric is None:
            continue
        if matrix.metric != "wall":
            return matrix.metric
        with contextlib.suppress(FairtrialError):  # a fleet, or another tool's file
            return "wall" if read_manifest(Path(matrix.trial)).questions else None
    return None


def show(result: Result, out: TextIO, *, as_json: bool, metric: str | None = None) -> None:
    """Print a result as text, or exactly its ``to_dict()`` as JSON.

    Parameters
    ----------
    result : Result
        What is shown.
    out : file
        Where to.
    as_json : bool
        Whether as JSON.
    metric : str, optional
        What was judged: it is named above a text whose first line does not say it.
    """
    if as_json:
        import json

        json.dump(result.to_dict(), out, indent=2, allow_nan=False)
        out.write("\n")
    else:
        out.write(f"{headed(str(result), metric)}\n")


def headed(text: str, metric: str | None) -> str:
    """Name the metric above a text whose first line does not say it."""
    line = text.partition("\n")[0]
    said = metric is None or re.search(rf"(?<![\w.+-]){re.escape(metric)}(?![\w+-])", line)
    return text if said else f"metric: {metric}\n{text}"


def line_to(err: TextIO) -> Callable[[str], None]:
    """Give what says one line on `err` at once."""

    def say(text: str) -> None:
        err.write(f"{text}\n")
        err.flush()

    return say
