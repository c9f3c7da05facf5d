"""The subcommand ``speedup-test``."""

from __future__ import annotations

import argparse
import contextlib
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from ..errors import AnalysisError, UsageError
from .arguments import add_confidence, add_json, add_reading, number, reading, show

if TYPE_CHECKING:
    from ..data import PerformanceMatrix
    from ..methods.speedup_test import LeftOut, SpeedupConfig, SpeedupSuite, Weights
    from .arguments import Subparsers

__all__ = ["add"]

_SEARCH = "search"
_DEFAULT = 0.95  # of trials and matrices, and of every proportion's interval
_ENDINGS = (".out", ".warning", ".report", ".status")  # the status comes last: it says how it ended


def add(subparsers: Subparsers) -> None:
    """Add ``speedup-test``."""
    parser = subparsers.add_parser(
        "speedup-test",
        help="the Speedup-Test: is the speedup of the mean, of the median significant?",
        description="The Speedup-Test of two versions: per benchmark, is the speedup of the mean and "
        "of the median significant; over the suite, overall gain and share of accelerated "
        "benchmarks. CANDIDATE and BASELINE are variants of a trial (runs/NAME:VARIANT) or matrix "
        "files; without BASELINE, the baseline of the candidate's campaign is taken. A single "
        "CONFIG (.cfg, or .csv of its form) is a configuration of the original tool: "
        "Name,Sample1,Sample2,ConfLevel,Coef; its four files are written beside it.",
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
    add_confidence(
        parser,
        "between 0 and 1, or 'search' for the highest one that is significant (default: 0.95; of a "
        "configuration: search where it gives no level)",
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
        help="weights of the benchmarks: the configuration's Coef (its default), equal (default "
        "otherwise), or their fraction of the baseline's time",
    )
    parser.add_argument(
        "--precision",
        type=number,
        default=0.05,
        metavar="R",
        help="half-width for which the needed number of benchmarks is computed (default: 0.05)",
    )
    parser.add_argument(
        "--compatible",
        action="store_true",
        help="search levels as the original does, by bisection, and not the highest one",
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
        help="also print how each benchmark's decision was reached",
    )
    add_json(parser)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Case:
    """What is to be judged, and how; `level` is that of the command line."""

    title: str
    baseline: PerformanceMatrix
    candidate: PerformanceMatrix
    confidence: float | Mapping[str, float | None] | None
    weights: Weights
    level: float | None
    left_out: tuple[LeftOut, ...] = ()
    cautions: tuple[str, ...] = ()


def _speedup_test(args: argparse.Namespace, out: TextIO, _err: TextIO) -> int:
    begin = time.perf_counter()
    configured = _is_config(args)
    prefix = args.output
    if configured and prefix is None:
        prefix = args.candidate
    if prefix is not None:
        _check_prefix(prefix)
    try:
        case = _configured(args) if configured else _compared(args)
        suite = _judge(case, args)
    except AnalysisError as error:
        if prefix is not None:
            with contextlib.suppress(UsageError):  # the first error is the one to tell
                _write_failure(prefix, args.candidate, error)
        raise
    if prefix is not None:
        _write_results(prefix, case, suite, begin)
    show(suite, out, as_json=args.json)
    if args.json:
        return 0
    if args.steps:
        for test in suite.benchmarks:
            out.write(f"\n{test}\n")
    if prefix is not None:
        out.write(f"written: {', '.join(prefix + ending for ending in sorted(_ENDINGS))}\n")
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
    from ..methods.speedup_test import looks_like_speedup_config

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
    from ..formats import trial_and_variant

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
            "this is no configuration of the Speedup-Test, and BASELINE is missing",
            args.candidate,
            "name the second variant or file, or begin the configuration with its line "
            "Name,Sample1,Sample2,ConfLevel,Coef",
        )
    return True


def _compared(args: argparse.Namespace) -> _Case:
    """Read two variants or matrix files."""
    if args.weight == "custom":
        raise UsageError(
            "--weight custom takes the coefficients of a configuration",
            args.candidate,
            "choose --weight equal or --weight fraction",
        )
    from ..formats import read_sides

    sides = read_sides(args.candidate, args.baseline, reading(args))
    level = None if args.confidence == _SEARCH else args.confidence or _DEFAULT
    return _Case(
        title=f"{sides.candidate.name} against {sides.baseline.name}",
        baseline=sides.baseline,
        candidate=sides.candidate,
        confidence=level,
        weights=args.weight or "equal",
        level=level,
    )


def _configured(args: argparse.Namespace) -> _Case:
    """Read a configuration; its levels come before the command line's (section 6.2.2)."""
    from ..methods.speedup_test import read_speedup_config

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
    config = read_speedup_config(args.candidate)
    level = None if args.confidence == _SEARCH else args.confidence
    levels = {name: level if own is None else own for name, own in config.confidences.items()}
    first, *others = levels.values()
    weights, cautions = _weights(args, config)
    return _Case(
        title=config.path,
        baseline=config.baseline,
        candidate=config.candidate,
        confidence=first if all(other == first for other in others) else levels,
        weights=weights,
        level=level,
        left_out=config.left_out,
        cautions=(*_left_out_caution(config.left_out), *config.cautions, *cautions),
    )


def _weights(args: argparse.Namespace, config: SpeedupConfig) -> tuple[Weights, tuple[str, ...]]:
    """Give the weights, and what to say about coefficients that are missing."""
    if args.weight in ("equal", "fraction"):
        return args.weight, ()
    missing = [name for name, value in config.coefficients.items() if value is None]
    if len(missing) == len(config.coefficients):
        if args.weight is None:
            return "equal", ()
        return "equal", ("the configuration gives no Coef, so all benchmarks weigh the same",)
    filled = {name: 1.0 if v is None else v for name, v in config.coefficients.items()}
    if not missing:
        return filled, ()
    some = ", ".join(missing[:3]) + (f" and {len(missing) - 3} more" if len(missing) > 3 else "")
    return filled, (f"without a Coef of its own, 1 was taken: {some}",)


def _left_out_caution(left_out: tuple[LeftOut, ...]) -> tuple[str, ...]:
    if not left_out:
        return ()
    first = left_out[0]
    count = "1 benchmark" if len(left_out) == 1 else f"{len(left_out)} benchmarks"
    verb = "was" if len(left_out) == 1 else "were"
    start = "" if len(left_out) == 1 else "the first is "
    return (
        f"{count} of the configuration {verb} left out: {start}{first.name!r} (line {first.line}): "
        f"{'; '.join(first.reasons)}. The warnings file has all of them",
    )


def _judge(case: _Case, args: argparse.Namespace) -> SpeedupSuite:
    from ..methods.speedup_test import speedup_test_suite

    suite = speedup_test_suite(
        case.baseline,
        case.candidate,
        confidence=case.confidence,
        weights=case.weights,
        precision=args.precision,
        # The interval has the command line's level, whatever the benchmarks' own are (6.2.4).
        proportion_confidence=_DEFAULT if case.level is None else case.level,
        compatible=args.compatible,
    )
    return replace(suite, cautions=(*case.cautions, *suite.cautions))


# ---- the four files


def _check_prefix(prefix: str) -> None:
    """Refuse a prefix below which nothing can be written, before anything is computed."""
    what, fix = None, "name another prefix with -o"
    folder = Path(prefix).parent
    try:
        taken = [prefix + ending for ending in _ENDINGS if Path(prefix + ending).is_dir()]
    except OSError as error:
        taken, what = [], f"the results cannot be written: {error.strerror}"
    if not prefix or prefix.endswith(os.sep):
        what, fix = "this is no prefix of file names", "write -o FOLDER/NAME"
    elif not folder.is_dir():
        what, fix = f"there is no folder {str(folder)!r}", "make it, or name another prefix with -o"
    elif not os.access(folder, os.W_OK | os.X_OK):
        what = f"the results cannot be written: folder {str(folder)!r} is not writable"
    elif taken:
        what = f"the results cannot be written: {taken[0]!r} is a directory"
    if what is not None:
        raise UsageError(what, prefix or "-o", fix)


def _write_results(prefix: str, case: _Case, suite: SpeedupSuite, begin: float) -> None:
    from ..methods.speedup_test import (
        report_text,
        results_text,
        status_text,
        warning_text,
        warnings_of,
    )

    warnings = {
        name: warnings_of(test) for test in suite.benchmarks if (name := test.name) is not None
    }
    texts = {
        ".out": results_text(suite),
        ".warning": warning_text(case.title, case.left_out, warnings),
        ".report": report_text(case.title, suite),
        ".status": status_text(time.perf_counter() - begin),
    }
    _write(prefix, texts)


def _write_failure(prefix: str, title: str, error: AnalysisError) -> None:
    from ..methods.speedup_test import NothingLeftError, failure_text, warning_text

    left_out = error.left_out if isinstance(error, NothingLeftError) else ()
    texts = {
        ".warning": warning_text(title, left_out, {}),
        ".status": failure_text(str(error)),
    }
    _write(prefix, texts)


def _write(prefix: str, texts: Mapping[str, str]) -> None:
    """Write all files beside their places first, then put them there: each is whole or not there.

    Raises
    ------
    UsageError
        If that fails; what was written is taken away again.
    """
    mark = f".{os.getpid()}.part"
    fresh = {Path(f"{prefix}{ending}{mark}"): Path(prefix + ending) for ending in texts}
    try:
        for path, text in zip(fresh, texts.values(), strict=True):
            with path.open("w", encoding="utf-8", errors="backslashreplace") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
        for path, place in fresh.items():
            path.replace(place)
    except OSError as error:
        raise UsageError(
            f"the results cannot be written: {error.strerror}",
            prefix,
            "make room, or name another prefix with -o",
        ) from None
    finally:
        for path in fresh:
            with contextlib.suppress(OSError):  # most are gone, and rightly so
                path.unlink()
