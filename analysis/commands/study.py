"""The subcommand ``study``."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any, TextIO

from ..errors import UsageError
from ..record.printer import printer_on
from .arguments import (
    SIDE,
    add_json,
    add_plot,
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
    from pathlib import Path

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
        "for coverage); each number of several has its lines",
    )
    parser.add_argument(
        "--shift",
        type=number,
        metavar="P",
        help="power: by how many percent a shifted benchmark is faster (default: 1)",
    )
    add_value(
        parser,
        "--shift-by",
        "D",
        "power: instead of --shift, what is added to each value of a shifted benchmark, in the unit of "
        "the values (published: 1.0 s)",
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
        "--without-replacement",
        action="store_true",
        help="draw no run twice for one comparison, as published; both sides together need as many "
        "runs as are drawn",
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
    add_plot(parser, "the rates of power and type1")
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
        ("shift_by", ("power",)),
        ("shifted", ("power",)),
        ("alternative", ("power", "type1")),
        ("mean", ("coverage",)),
        ("plot", ("power", "type1")),
    ):
        if getattr(args, name) is not None and args.kind not in kinds:
            option = f"--{name.replace('_', '-')}"
            raise UsageError(f"{option} is for 'study {' and '.join(kinds)}'", f"study {args.kind}")
    if args.shift is not None and args.shift_by is not None:
        raise UsageError(
            "--shift and --shift-by are two ways to shift", fix="leave one of them out"
        )
    from ..plots.drawing import check_picture

    picture = None if args.plot is None else check_picture(args.plot)
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
    if picture is not None:
        _draw(result, picture)
    show(result, out, as_json=args.json, metric=metric_of(population))
    return 0


def _draw(result: RejectionStudy | CoverageStudy, path: Path) -> None:
    from ..plan.study import RejectionStudy
    from ..plan.study_picture import power_picture
    from ..plots.drawing import write_picture

    assert isinstance(result, RejectionStudy)
    title, words = str(result).split("\n", 1)
    write_picture(power_picture(result), path, title=title, alt=words)


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
        "replace": not args.without_replacement,
        "resamples": args.resamples,
        "rng": stream(args.seed, "study", args.kind),
        "seed": args.seed,
        "workers": workers,
        "progress": report,
    }
    given = {"simulations": args.simulations, "mean": args.mean, "alternative": args.alternative}
    shared |= {name: value for name, value in given.items() if value is not None}
    if args.kind == "power":
        return power_study(
            population,
            shift=1 + (1.0 if args.shift is None else args.shift) / 100,
            shift_by=args.shift_by,
            shifted=args.shifted,
            runs=5 if args.runs is None else args.runs,
            alpha=args.alpha,
            **shared,
        )
    if args.runs is not None:
        shared["runs"] = args.runs
    if args.kind == "type1":
        return type1_study(population, alpha=args.alpha, **shared)
    return coverage_study(population, confidence=1 - args.alpha, **shared)
