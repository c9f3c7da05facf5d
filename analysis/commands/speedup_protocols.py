"""The subcommand ``speedup-test``."""

from __future__ import annotations

import argparse
import contextlib
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from ..errors import AnalysisError, UsageError
from ..options import command, number
from .options import BothSides, Chosen, metric_of, show

if TYPE_CHECKING:
    from ..methods.speedup_test.original_config import LeftOut
    from ..methods.speedup_test.result import SpeedupSuite, Weighting

    # the title, the suite, the metric to name, and what could not be judged
    _JudgedSuite = tuple[str, SpeedupSuite, str | None, tuple[LeftOut, ...]]


_SEARCH = "search"
_DEFAULT = 0.95  # of trials and matrices


class _Asked(BothSides, Chosen):
    confidence: Any  # a number, or the word that asks for the highest
    weight: Weighting | None
    precision: float
    compatible: bool
    output: str | None


@command("speedup-test", "original", "json")
def speedup_test(*, args: _Asked, steps: bool, original: bool, json: bool, out: TextIO) -> int:
    """Compare two versions by the Speedup-Test.

    For each benchmark it says whether the speedup of the mean and of the median is significant; for the
    suite, the overall gain and the share of accelerated benchmarks. CANDIDATE and BASELINE are variants
    of a trial (runs/NAME:VARIANT) or matrix files. Without BASELINE, the baseline of the candidate's
    campaign is used. A single CONFIG (.cfg, or .csv of the same form) is a configuration of the
    original tool, with the columns Name,Sample1,Sample2,ConfLevel,Coef; its four files are written next
    to it.
    """
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
    if original:
        out.write(printed_text(title, suite))
        return 0
    show(suite, out, as_json=json, metric=metric)
    if json:
        return 0
    if steps:
        for test in suite.benchmarks:
            out.write(f"\n{test}\n")
    if files is not None:
        out.write(f"written: {', '.join(files.names)}\n")
    return 0


# ---- what is to be judged


def level_or_search(text: str) -> float | str:
    """Read a confidence, or ``search``."""
    if text == _SEARCH:
        return text
    value = number(text)
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not between 0 and 1; write 0.95 for 95 %, or '{_SEARCH}'"
        )
    return value


def _is_config(args: _Asked) -> bool:
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


def _compared(args: _Asked) -> _JudgedSuite:
    """Judge two variants or matrix files."""
    from ..methods.speedup_test.compare import speedup_test_suite

    if args.weight == "custom":
        raise UsageError(
            "--weight custom takes the coefficients of a configuration",
            args.candidate,
            "choose --weight equal or --weight fraction",
        )
    sides = args.of_sides(args.read())
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


def _configured(args: _Asked) -> _JudgedSuite:
    """Judge a configuration; its levels come before the command line's (section 6.2.2)."""
    from ..methods.speedup_test.original_config import read_speedup_config
    from ..methods.speedup_test.original_tool import speedup_test_config

    for option in args.not_for_tables():
        raise UsageError(
            f"{option} is not for configurations: their samples are times, one a line",
            args.candidate,
            "leave it out",
        )
    for option in args.given("benchmark", "exclude"):
        raise UsageError(
            f"{option} is not for configurations: each line names a benchmark",
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
