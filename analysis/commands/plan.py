"""The subcommand ``plan``."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, TextIO

from .arguments import (
    add_confidence,
    add_interval,
    add_json,
    add_seed,
    add_sides,
    number,
    reading,
    show,
)

if TYPE_CHECKING:
    from .arguments import Subparsers

__all__ = ["add"]


def add(subparsers: Subparsers) -> None:
    """Add ``plan``."""
    parser = subparsers.add_parser(
        "plan",
        help="how many runs a comparison needs, from a pilot",
        description="How many runs of each benchmark does a comparison of CANDIDATE with BASELINE "
        "need? Both are the pilot, a few runs of each. Without BASELINE, the baseline of the "
        "candidate's campaign is taken.",
    )
    add_sides(parser)
    parser.add_argument(
        "--width",
        type=number,
        metavar="W",
        help="largest width of the interval of the suite's speedup, relative to it (such as 0.015)",
    )
    parser.add_argument(
        "--effect", type=number, metavar="E", help="speedup to be told from 1 (such as 1.02)"
    )
    parser.add_argument(
        "--power",
        type=number,
        default=0.8,
        metavar="P",
        help="probability of reaching them (default: 0.8)",
    )
    parser.add_argument(
        "--max-runs", type=int, default=1000, metavar="M", help="cap of the search (default: 1000)"
    )
    add_interval(
        parser,
        ("t", "studentized", "percentile"),
        "t",
        "of the loop on the pilot's own runs; percentile covers about 87 % of 95 %",
    )
    add_confidence(parser, "of the interval")
    parser.add_argument(
        "--simulations",
        type=int,
        default=1000,
        metavar="N",
        help="simulated trials for each number of runs (default: 1000)",
    )
    add_seed(parser)
    add_json(parser)
    parser.set_defaults(run=_plan)


def _plan(args: argparse.Namespace, out: TextIO, _err: TextIO) -> int:
    from ..formats import read_sides
    from ..planning import plan_runs
    from ..stats import stream

    sides = read_sides(args.candidate, args.baseline, reading(args))
    result = plan_runs(
        sides.candidate,
        sides.baseline,
        width=args.width,
        effect=args.effect,
        power=args.power,
        confidence=args.confidence,
        max_runs=args.max_runs,
        interval=args.interval,
        simulations=args.simulations,
        rng=stream(args.seed, "plan"),
        seed=args.seed,
    )
    show(result, out, as_json=args.json)
    return 0
