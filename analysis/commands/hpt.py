"""The subcommand ``hpt``."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import TYPE_CHECKING, TextIO

from ..errors import UsageError
from .options import (
    add_benchmarks,
    add_confidence,
    add_json,
    add_sides,
    add_value,
    chosen_sides,
    metric_of,
    named,
    number,
    reading,
    show,
)

if TYPE_CHECKING:
    from ..importers.reader import Sides
    from .options import Subparsers


def add(subparsers: Subparsers) -> None:
    """Add ``hpt``."""
    parser = subparsers.add_parser(
        "hpt",
        description="Test by HPT whether CANDIDATE is better than BASELINE over the suite, or "
        "better by a factor of --speedup. Without BASELINE, the baseline of the candidate's "
        "campaign is used.",
    )
    add_sides(parser)
    add_benchmarks(parser)
    parser.add_argument(
        "--alpha",
        type=number,
        metavar="A",
        help="risk of the test of each benchmark (default: 0.05 from 5 runs on, otherwise 0.10)",
    )
    add_value(parser, "--speedup", "G", "the speedup to test", 1.0)
    parser.add_argument(
        "--ties",
        choices=("table", "exact", "printed"),
        default="table",
        help="table: distributions without ties, as published (default); exact: given the ties "
        "that were observed; printed: like table, but from 25 benchmarks on without the "
        "continuity correction of the authors' window",
    )
    parser.add_argument(
        "--alternative",
        choices=("candidate", "baseline", "two-sided"),
        help="who is better if there is a difference (default: each direction with its own p)",
    )
    parser.add_argument(
        "--others",
        action="store_true",
        help="also show the paired t-test and the confidence interval: how reliable each finds "
        "--speedup, and the largest speedup that each of them claims",
    )
    parser.add_argument(
        "--names", nargs=2, type=named, metavar=("A", "B"), help="names of the two sides"
    )
    parser.add_argument(
        "--scores",
        choices=("auto", "raw", "ratio", "log-ratio"),
        default="auto",
        help="what is ranked over the benchmarks (default: the values if higher is better, "
        "otherwise baseline median / value)",
    )
    add_confidence(parser)
    add_json(parser)
    parser.set_defaults(run=_hpt)


def _hpt(args: argparse.Namespace, out: TextIO, _err: TextIO) -> int:
    from ..importers.reader import read_sides
    from ..methods.hpt.page import hpt_report

    sides = read_sides(args.candidate, args.baseline, reading(args))
    sides = _called(chosen_sides(args, sides), args.names)
    result = hpt_report(
        sides.candidate,
        sides.baseline,
        speedup=args.speedup,
        confidence=args.confidence,
        alpha=args.alpha,
        ties=args.ties,
        scores=args.scores,
        alternative=args.alternative,
        others=args.others,
    )
    show(result, out, as_json=args.json, metric=metric_of(sides.candidate, sides.baseline))
    return 0


def _called(sides: Sides, names: list[str] | None) -> Sides:
    """Give the sides the names of ``--names``."""
    if names is None:
        return sides
    if names[0] == names[1] or not all(name.strip() for name in names):
        raise UsageError(
            "--names takes two different names",
            f"{names[0]!r} and {names[1]!r}",
            "write --names NEW OLD",
        )
    return replace(
        sides,
        candidate=replace(sides.candidate, name=names[0]),
        baseline=replace(sides.baseline, name=names[1]),
    )
