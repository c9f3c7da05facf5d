"""The subcommand ``diff``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from .options import (
    add_better,
    add_confidence,
    add_decimal,
    add_json,
    add_level,
    add_metric,
    number,
    show,
)

if TYPE_CHECKING:
    from ..data.number_text import Decimal
    from ..record.run_numbers import Better
    from .options import Subparsers


def add(subparsers: Subparsers) -> None:
    """Add ``diff``."""
    parser = subparsers.add_parser(
        "diff",
        description="Compare two trials: of two nights, of two hosts, or before and after a "
        "change. The answer shows their campaigns, plans and environments, each speedup in both "
        "trials, whether the two differ by more than their uncertainties, and whether the second "
        "trial reproduces the conclusions of the first.",
        epilog="exit code: 0 if they were compared, whatever the answer; with --exit-code: 0 "
        "reproduced, 1 partly or not reproduced, 7 undecided",
    )
    for name, told in (("first", "FIRST"), ("second", "SECOND")):
        parser.add_argument(
            name, metavar=told, type=Path, help="a trial (runs/NAME), or another tool's file"
        )
    add_metric(parser)
    add_better(parser)
    add_decimal(parser)
    add_level(parser)
    add_confidence(parser, "of each interval; 1 minus it is the risk of each family of tests")
    parser.add_argument(
        "--margin",
        type=number,
        default=0.01,
        metavar="M",
        help="speedups, or ratios of two speedups, that differ from 1 by less than this count as "
        "equivalent (default: 0.01)",
    )
    parser.add_argument(
        "--exit-code",
        action="store_true",
        help="let the exit code say whether the conclusions hold",
    )
    add_json(parser)
    parser.set_defaults(run=_diff)


def write_comparison(
    trials: tuple[Path, Path],
    out: TextIO,
    *,
    metric: str | None = None,
    confidence: float = 0.95,
    margin: float = 0.01,
    level: str = "process",
    better: Better | None = None,
    decimal: Decimal | None = None,
    as_json: bool,
) -> int:
    """Compare two trials, write the answer to `out`, and give its exit code."""
    from ..errors import UsageError
    from ..importers.reader import open_trial, trial_and_variant
    from ..verdict.comparison import compare_trials

    for path in trials:
        named = trial_and_variant(str(path))
        if named is not None and named[1] is not None:
            raise UsageError(
                "whole trials are compared, and not one variant of them",
                str(path),
                f"name {named[0]}; 'fairtrial verdict' compares two variants",
            )
    answer = compare_trials(
        *(open_trial(path, level, better, decimal=decimal) for path in trials),
        metric=metric,
        confidence=confidence,
        margin=margin,
    )
    metric = None if answer.metric == "wall" else answer.metric
    show(answer, out, as_json=as_json, metric=metric)
    return answer.exit_code


def _diff(args: argparse.Namespace, out: TextIO, _err: TextIO) -> int:
    names = ("metric", "confidence", "margin", "level", "better", "decimal")
    asked = {name: getattr(args, name) for name in names}
    code = write_comparison((args.first, args.second), out, as_json=args.json, **asked)
    return code if args.exit_code else 0
