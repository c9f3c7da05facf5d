"""The subcommand ``speedup-test``."""

from __future__ import annotations

import argparse
import contextlib
import time
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from ..errors import AnalysisError, UsageError
from .options import (
    add_benchmarks,
    add_confidence,
    add_json,
    add_reading,
    chosen_sides,
    metric_of,
    number,
    reading,
    show,
)

if TYPE_CHECKING:
    from ..methods.speedup_test.original_config import LeftOut
    from ..methods.speedup_test.result import SpeedupSuite
    from .options import Subparsers

    # the title, the suite, the metric to name, and what could not be judged
    _JudgedSuite = tuple[str, SpeedupSuite, str | None, tuple[LeftOut, ...]]


_SEARCH = "search"
_DEFAULT = 0.95  # of trials and matrices


def add(subparsers: Subparsers) -> None:
    """Add ``speedup-test``."""
    parser = subparsers.add_parser(
        "speedup-test",
        description="Compare two versions by the Speedup-Test. For each benchmark it says "
        "whether the speedup of the mean and of the median is significant; for the suite, the "
        "overall gain and the share of accelerated benchmarks. CANDIDATE and BASELINE are "
        "variants of a trial (runs/NAME:VARIANT) or matrix files. Without BASELINE, the baseline "
        "of the candidate's campaign is used. A single CONFIG (.cfg, or .csv of the same form) "
        "is a configuration of the original tool, with the columns "
        "Name,Sample1,Sample2,ConfLevel,Coef; its four files are written next to it.",
        usage="%(prog)s [options] (CANDIDATE [BASELINE] | CONFIG)",
    )
    parser.add_argument(
        "candidate",
        metavar="CANDIDATE | CONFIG",
        help="the new version (runs/NAME:VARIANT, or a matrix file), or a configuration",
    )
    parser.add_argument(
        "baseline",
        metavar="BASELINE",
        nargs="?",
        help="the old version (default: the baseline of the candidate's campaign)",
    )
    _add_options(parser)
    parser.set_defaults(run=_speedup_test)


def _add_options(parser: argparse.ArgumentParser) -> None:
    add_reading(parser)
    add_benchmarks(parser)
    add_confidence(
        parser,
        "between 0 and 1, or 'search' for the highest level that is significant (default: 0.95; "
        "search, if a configuration gives no level)",
        type=_level,
        default=None,
    )
    parser.add_argument(
        "--search",
        dest="confidence",
        action="store_const",
        const=_SEARCH,
        help="the same as --confidence search",
    )
    parser.add_argument(
        "--weight",
        choices=("custom", "equal", "fraction"),
        help="weights of the benchmarks: the configuration's Coef (default with a "
        "configuration), equal (default otherwise), or their fraction of the baseline's time",
    )
    parser.add_argument(
        "--precision",
        type=number,
        default=0.05,
        metavar="R",
        help="the half-width for which the necessary number of benchmarks is computed (default: "
        "0.05)",
    )
    parser.add_argument(
        "--compatible",
        action="store_true",
        help="search for levels by bisection, as the original tool does, instead of for the "
        "highest one",
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="PREFIX",
        help="write PREFIX.status, .out, .warning and .report (default: CONFIG; none otherwise)",
    )
    parser.add_argument(
        "--steps",
        "--verbose",
        action="store_true",
        help="also print the steps of each benchmark's decision",
    )
    printed = parser.add_mutually_exclusive_group()
    printed.add_argument(
        "--original", action="store_true", help="print what the original tool prints, word for word"
    )
    add_json(printed)


def _speedup_test(args: argparse.Namespace, out: TextIO, _err: TextIO) -> int:
    from ..methods.speedup_test.original_tool import OriginalFiles, printed_text

    begin = time.perf_counter()
    configured = _is_config(args)
    prefix = args.candidate if configured and args.output is None else args.output
    files = None if prefix is None else OriginalFiles(prefix)
    try:
        title, suite, metric, left_out = _configured(args) if configured else _compared(args)
    except AnalysisError as error:
        if files is not None:
            with contextlib.suppress(UsageError):  # the first error is the one to tell
                files.write_failure(args.candidate, error)
        raise
    if files is not None:
        elapsed = time.perf_counter() - begin
        files.write(title, suite, left_out, elapsed_s=elapsed)
    if args.original:
        out.write(printed_text(title, suite))
        return 0
    show(suite, out, as_json=args.json, metric=metric)
    if args.json:
        return 0
    if args.steps:
        for test in suite.benchmarks:
            out.write(f"\n{test}\n")
    if files is not None:
        out.write(f"written: {', '.join(files.names)}\n")
    return 0


# ---- what is to be judged


def _level(text: str) -> float | str:
    if text == _SEARCH:
        return text
    value = number(text)
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not between 0 and 1; write 0.95 for 95 %, or '{_SEARCH}'"
        )
    return value


def _is_config(args: argparse.Namespace) -> bool:
    from ..importers.reader import trial_and_variant
    from ..methods.speedup_test.original_config import looks_like_speedup_config

    if args.baseline is not None:
        for text in (args.candidate, args.baseline):
            if text.lower().endswith(".cfg") and Path(text).is_file():
                raise UsageError(
                    "a configuration names both sides itself",
                    text,
                    "give it alone: fairtrial speedup-test CONFIG",
                )
        return False
    path = Path(args.candidate)
    try:
        if trial_and_variant(args.candidate) is not None:
            return False
        there = path.exists()
    except OSError as error:  # such as a name too long
        raise UsageError(f"this cannot be read: {error.strerror}", args.candidate) from None
    if not there:
        if ":" in args.candidate:
            return False
        raise UsageError(
            "there is no such file",
            args.candidate,
            "name a configuration, or CANDIDATE and BASELINE",
        )
    if path.is_file() and not looks_like_speedup_config(path):
        raise UsageError(
            "this is not a configuration of the Speedup-Test, and BASELINE is missing",
            args.candidate,
            "name the second variant or file, or begin the configuration with its line "
            "Name,Sample1,Sample2,ConfLevel,Coef",
        )
    return True


def _compared(args: argparse.Namespace) -> _JudgedSuite:
    """Judge two variants or matrix files."""
    from ..importers.reader import read_sides
    from ..methods.speedup_test.compare import speedup_test_suite

    if args.weight == "custom":
        raise UsageError(
            "--weight custom takes the coefficients of a configuration",
            args.candidate,
            "choose --weight equal or --weight fraction",
        )
    sides = chosen_sides(args, read_sides(args.candidate, args.baseline, reading(args)))
    suite = speedup_test_suite(
        baseline=sides.baseline,
        candidate=sides.candidate,
        confidence=None if args.confidence == _SEARCH else args.confidence or _DEFAULT,
        weights=args.weight or "equal",
        precision=args.precision,
        compatible=args.compatible,
    )
    title = f"{sides.candidate.name} against {sides.baseline.name}"
    return title, suite, metric_of(sides.candidate, sides.baseline), ()


def _configured(args: argparse.Namespace) -> _JudgedSuite:
    """Judge a configuration; its levels come before the command line's (section 6.2.2)."""
    from ..methods.speedup_test.original_config import read_speedup_config
    from ..methods.speedup_test.original_tool import speedup_test_config

    for option, given in (
        ("--metric", args.metric),
        ("--better", args.better),
        ("--layout columns", args.layout == "columns"),
    ):
        if given:
            raise UsageError(
                f"{option} is not for configurations: their samples are times, one a line",
                args.candidate,
                "leave it out",
            )
    for option in ("benchmark", "exclude"):
        if getattr(args, option):
            raise UsageError(
                f"--{option} is not for configurations: each line names a benchmark",
                args.candidate,
                "take the lines of the others out of a copy",
            )
    config = read_speedup_config(args.candidate)
    suite = speedup_test_config(
        config,
        confidence=None if args.confidence == _SEARCH else args.confidence,
        weighting=args.weight,
        precision=args.precision,
        compatible=args.compatible,
    )
    return config.path, suite, None, config.left_out
