"""The analysis subcommands, mounted by `harness.cli`.

Importing this module costs no numpy: each command imports what it needs when it is executed.
Errors pass through; `harness.cli` prints them.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TextIO

from .errors import StoreError, UsageError

if TYPE_CHECKING:
    from .matrix import PerformanceMatrix
    from .trial import Trial

__all__ = ["register"]


class _Result(Protocol):
    def to_dict(self) -> dict[str, Any]: ...


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the subcommands; each sets ``args.run``, a function of (args, out) -> exit code."""
    _add_verdict(subparsers)
    _add_hpt(subparsers)
    _add_diagnose(subparsers)


def _add_verdict(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser(
        "verdict",
        help="judge a trial: every variant against the baseline",
        description="Judge a trial: per benchmark medians, speedup and outcome, and HPT over the "
        "suite, for every variant against the campaign's baseline.",
    )
    parser.add_argument("trial", metavar="TRIAL", help="a trial directory, such as runs/NAME")
    _add_metric(parser)
    _add_shared(parser)
    parser.set_defaults(run=_verdict)


def _add_hpt(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser(
        "hpt",
        help="hierarchical performance testing of two variants over a suite",
        description="HPT: is CANDIDATE better than BASELINE over the suite, or --speedup times "
        "better? Each is a variant of a trial (runs/NAME:VARIANT) or a matrix file (.csv, .txt, "
        ".json). Without BASELINE, the baseline of the candidate's campaign is taken.",
    )
    parser.add_argument("candidate", metavar="CANDIDATE")
    parser.add_argument("baseline", metavar="BASELINE", nargs="?")
    _add_metric(parser)
    _add_file_reading(parser)
    parser.add_argument(
        "--alpha",
        type=_number,
        metavar="A",
        help="risk of each test on one benchmark (default: 0.05 from 5 runs on, else 0.10)",
    )
    parser.add_argument(
        "--speedup", type=_number, default=1.0, metavar="G", help="speedup under test (default: 1)"
    )
    parser.add_argument(
        "--ties",
        choices=("table", "exact"),
        default="table",
        help="laws without ties, as published (default), or exact given the ties observed",
    )
    parser.add_argument(
        "--scores",
        choices=("auto", "raw", "ratio", "log-ratio"),
        default="auto",
        help="what is ranked over the benchmarks (default: values where higher is better, "
        "else baseline median / value)",
    )
    parser.add_argument(
        "--html", metavar="FILE", help="also write the report as one self-contained HTML page"
    )
    _add_shared(parser)
    parser.set_defaults(run=_hpt)


def _add_diagnose(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser(
        "diagnose",
        help="look at the values of one variant before judging them",
        description="Look at MATRIX, a variant of a trial (runs/NAME:VARIANT) or a matrix file "
        "(.csv, .txt, .json), before judging it.",
    )
    parser.add_argument("matrix", metavar="MATRIX")
    parser.add_argument(
        "--normality",
        action="store_true",
        help="do the runs look normal, and how large must a sample be before its mean does?",
    )
    _add_metric(parser)
    _add_file_reading(parser)
    parser.add_argument("--risk", type=_number, default=0.05, metavar="A", help="default: 0.05")
    parser.add_argument(
        "--seed", type=int, default=0, metavar="S", help="of the random draws (default: 0)"
    )
    parser.add_argument("--json", action="store_true", help="print the whole result as JSON")
    parser.set_defaults(run=_diagnose)


def _add_file_reading(parser: argparse.ArgumentParser) -> None:
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


def _add_metric(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--metric",
        metavar="M",
        help="wall (default), user, system, max_rss, or one parsed from output",
    )


def _add_shared(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--confidence",
        type=_number,
        default=0.95,
        metavar="R",
        help="confidence that the outcome needs (default: 0.95)",
    )
    parser.add_argument("--json", action="store_true", help="print the whole result as JSON")


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number") from None


def _verdict(args: argparse.Namespace, out: TextIO) -> int:
    from .verdict import verdict

    result = verdict(
        _trial(Path(args.trial)), confidence=args.confidence, metric=args.metric or "wall"
    )
    _show(result, out, as_json=args.json)
    return 0


def _hpt(args: argparse.Namespace, out: TextIO) -> int:
    from .methods.hpt_report import hpt_report

    candidate = _matrix(args.candidate, args)
    baseline = _matrix(args.baseline or _campaign_baseline(args.candidate), args)
    result = hpt_report(
        candidate,
        baseline,
        speedup=args.speedup,
        confidence=args.confidence,
        alpha=args.alpha,
        ties=args.ties,
        scores=args.scores,
    )
    if args.html is not None:
        from .hpt_page import hpt_page

        _write(Path(args.html), hpt_page(result))
    _show(result, out, as_json=args.json)
    return 0


def _diagnose(args: argparse.Namespace, out: TextIO) -> int:
    from .assumptions import normality

    if not args.normality:
        raise UsageError("say what to look at", args.matrix, "add --normality")
    # Normality has no direction; a matrix file need not be told one.
    if args.better is None and Path(args.matrix).is_file():
        args.better = "lower"
    if args.seed < 0:
        raise UsageError(f"the seed must not be negative, and is {args.seed}")
    result = normality(_matrix(args.matrix, args), risk=args.risk, seed=args.seed)
    _show(result, out, as_json=args.json)
    return 0


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(
            f"the page cannot be written: {error.strerror}", str(path), "name another file"
        ) from None


def _show(result: _Result, out: TextIO, *, as_json: bool) -> None:
    if as_json:
        json.dump(result.to_dict(), out, indent=2, allow_nan=False)
        out.write("\n")
    else:
        out.write(f"{result}\n")


def _trial(path: Path) -> Trial:
    from .trial import read_trial

    if not path.exists():
        raise StoreError(
            "there is no such trial",
            str(path),
            "name the directory that 'fairtrial run' printed, such as runs/NAME",
        )
    return read_trial(path)


def _split(text: str) -> tuple[Path, str] | None:
    """Split ``runs/NAME:VARIANT``; None when the text does not name a trial's variant."""
    folder, colon, variant = text.rpartition(":")
    return (Path(folder), variant) if colon and Path(folder).is_dir() else None


def _campaign_baseline(text: str) -> str:
    split = None if Path(text).is_file() else _split(text)
    if split is None:
        raise UsageError(
            "BASELINE is missing",
            text,
            "name the second variant or file; only a trial knows its baseline",
        )
    return f"{split[0]}:{_trial(split[0]).manifest.baseline}"


def _matrix(text: str, args: argparse.Namespace) -> PerformanceMatrix:
    """Read one side: a matrix file, or a variant of a trial."""
    path = Path(text)
    if path.is_file():
        if args.better is None:
            raise UsageError(
                "a matrix file does not say which direction is better",
                text,
                "add --better lower (times) or --better higher (scores, rates)",
            )
        if args.metric is not None:
            raise UsageError("--metric is for trials; a matrix file has one metric", text)
        from .matrix import PerformanceMatrix

        unit = "s" if args.better == "lower" else "score"
        return PerformanceMatrix.read(path, better=args.better, unit=unit, layout=args.layout)
    if path.is_dir():
        names = ", ".join(_trial(path).manifest.variants)
        raise UsageError(
            "a trial holds several variants", text, f"write {text}:VARIANT; here: {names}"
        )
    split = _split(text)
    if split is None:
        raise UsageError(
            "this is neither a matrix file nor a variant of a trial",
            text,
            "write runs/NAME:VARIANT, or name a .csv, .txt or .json file",
        )
    matrix = _trial(split[0]).matrix(split[1], args.metric or "wall")
    if args.better is not None and args.better != matrix.better:
        raise UsageError(
            f"in this trial {matrix.better} values are better",
            text,
            f"leave out --better {args.better}",
        )
    return matrix
