"""The subcommand ``plan``."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, TextIO

from .arguments import add_file_reading, add_metric, campaign_baseline, number, read_matrix, show

if TYPE_CHECKING:
    from .arguments import Subparsers

__all__ = ["add"]


def add(subparsers: Subparsers) -> None:
    """Add ``plan``."""
    parser = subparsers.add_parser(
        "plan",
        help="how many runs a comparison needs, from a pilot",
        description="How many runs of each benchmark does a comparison of CANDIDATE with BASELINE "
        "need? Both are the pilot: variants of a trial (runs/NAME:VARIANT) or matrix files (.csv, "
        ".txt, .json) with a few runs. Without BASELINE, the baseline of the candidate's campaign "
        "is taken.",
    )
    parser.add_argument("candidate", metavar="CANDIDATE")
    parser.add_argument("baseline", metavar="BASELINE", nargs="?")
    add_metric(parser)
    add_file_reading(parser)
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
    parser.add_argument(
        "--interval",
        choices=("t", "studentized", "percentile"),
        default="t",
        help="of the loop on the pilot's own runs: t on logs (default), or a bootstrap; percentile "
        "is the published one and covers about 87 %% of 95 %%",
    )
    parser.add_argument(
        "--confidence",
        type=number,
        default=0.95,
        metavar="R",
        help="confidence of the interval (default: 0.95)",
    )
    parser.add_argument(
        "--simulations",
        type=int,
        default=1000,
        metavar="N",
        help="simulated trials for each number of runs (default: 1000)",
    )
    parser.add_argument(
        "--seed", type=int, default=0, metavar="S", help="of the random draws (default: 0)"
    )
    parser.add_argument("--json", action="store_true", help="print the whole result as JSON")
    parser.set_defaults(run=_plan)


def _plan(args: argparse.Namespace, out: TextIO, _err: TextIO) -> int:
    from ..planning import plan_runs
    from ..stats import stream

    candidate = read_matrix(args.candidate, args)
    baseline = read_matrix(args.baseline or campaign_baseline(args.candidate), args)
    result = plan_runs(
        candidate,
        baseline,
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
