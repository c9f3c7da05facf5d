"""The subcommand ``study``."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any, TextIO

from ..errors import UsageError
from ..record.printer import printer_on
from .arguments import (
    SIDE,
    add_json,
    add_reading,
    add_resamples,
    add_seed,
    add_unit,
    add_value,
    add_working,
    line_to,
    metric_of,
    number,
    reading,
    show,
    working,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..data.matrix import PerformanceMatrix
    from ..plan.study import CoverageStudy, RejectionStudy
    from .arguments import Subparsers


def add(subparsers: Subparsers) -> None:
    """Add ``study``."""
    parser = subparsers.add_parser(
        "study",
        description=f"Draw both sides of many comparisons from MATRIX, {SIDE}, and count. power: how "
        "often does each test find a shift of some benchmarks? type1: how often does it find one that is not "
        "there? coverage: how often do intervals hold the truth?",
    )
    parser.add_argument("kind", choices=("power", "type1", "coverage"))
    parser.add_argument("matrix", metavar="MATRIX")
    add_reading(parser)
    parser.add_argument(
        "--runs",
        type=_numbers,
        metavar="M[,M]",
        help="runs of each benchmark and side (default: 5 for power, 3,5,10 for type1, 3,5,10,30 "
        "for coverage)",
    )
    parser.add_argument(
        "--shift",
        type=number,
        metavar="P",
        help="power: by how many percent a shifted benchmark is faster (default: 1)",
    )
    parser.add_argument(
        "--shifted",
        type=_numbers,
        metavar="K[,K]",
        help="power: numbers of shifted benchmarks (default: 0 to all)",
    )
    parser.add_argument(
        "--alternative",
        choices=("two-sided", "candidate"),
        help="power, type1: of every test (default: two-sided)",
    )
    add_value(parser, "--alpha", "A", "level of the tests", 0.05)
    parser.add_argument(
        "--mean",
        choices=("geometric", "harmonic", "arithmetic"),
        help="coverage: mean over the benchmarks (default: geometric)",
    )
    add_unit(
        parser,
        ("run", "block"),
        "run",
        "draw runs of each benchmark on its own (default), or whole blocks of a trial",
    )
    parser.add_argument(
        "--simulations",
        type=int,
        metavar="N",
        help="simulated comparisons for each line (default: 200; 500 for type1)",
    )
    add_resamples(parser, 999, "of each randomization test or bootstrap (default: 999)")
    add_seed(parser)
    add_working(parser, "processes")
    add_json(parser)
    parser.set_defaults(run=_study)


def _numbers(text: str) -> tuple[int, ...]:
    """Read whole numbers between commas; argparse reports what is none."""
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no list of whole numbers") from None


def _study(args: argparse.Namespace, out: TextIO, err: TextIO) -> int:
    for name, kinds in (
        ("shift", ("power",)),
        ("shifted", ("power",)),
        ("alternative", ("power", "type1")),
        ("mean", ("coverage",)),
    ):
        if getattr(args, name) is not None and args.kind not in kinds:
            raise UsageError(f"--{name} is for 'study {' and '.join(kinds)}'", f"study {args.kind}")
    from ..importers.sources import read_one
    from ..record.printer import progress_on
    from ..stats.compiled import announcing

    with (
        working(args, err) as workers,
        announcing(line_to(err)),
        progress_on(printer_on(err), "comparisons") as report,
    ):
        population = read_one(args.matrix, reading(args))
        result = _made(population, args, workers, report)
    show(result, out, as_json=args.json, metric=metric_of(population))
    return 0


def _made(
    population: PerformanceMatrix,
    args: argparse.Namespace,
    workers: int | None,
    report: Callable[[int, int], None],
) -> RejectionStudy | CoverageStudy:
    from ..plan.coverage import coverage_study
    from ..plan.error_rates import power_study, type1_study
    from ..stats.arguments import stream

    shared: dict[str, Any] = {
        "draws": args.unit,
        "resamples": args.resamples,
        "rng": stream(args.seed, "study", args.kind),
        "seed": args.seed,
        "workers": workers,
        "progress": report,
    }
    given = {"simulations": args.simulations, "mean": args.mean, "alternative": args.alternative}
    shared |= {name: value for name, value in given.items() if value is not None}
    if args.kind == "power":
        if args.runs is not None and len(args.runs) > 1:
            raise UsageError("a power study has one number of runs", fix="write --runs 5")
        return power_study(
            population,
            shift=1 + (1.0 if args.shift is None else args.shift) / 100,
            shifted=args.shifted,
            runs=5 if args.runs is None else args.runs[0],
            alpha=args.alpha,
            **shared,
        )
    if args.runs is not None:
        shared["runs"] = args.runs
    if args.kind == "type1":
        return type1_study(population, alpha=args.alpha, **shared)
    return coverage_study(population, confidence=1 - args.alpha, **shared)
