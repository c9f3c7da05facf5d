"""The subcommand ``study``."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any, TextIO

from ..announcing import doing
from ..errors import UsageError
from .options import (
    SIDE,
    add_json,
    add_plot,
    add_reading,
    add_resamples,
    add_seed,
    add_unit,
    add_value,
    add_working,
    metric_of,
    number,
    reading,
    show,
    working,
)

if TYPE_CHECKING:
    from ..data.matrix import PerformanceMatrix
    from ..plan.draw import DrawStudy
    from ..plan.study import CoverageStudy, RejectionStudy
    from .options import Subparsers


_KINDS = ("power", "type1", "coverage", "draw")


def add(subparsers: Subparsers) -> None:
    """Add ``study``."""
    parser = subparsers.add_parser(
        "study",
        description="Simulate many comparisons by drawing both sides from the runs of MATRIX, and count. power: "
        "how often does each test find a shift of some benchmarks? type1: how often does it find a shift that "
        "is not there? coverage: how often do intervals contain the truth? draw: MATRIX is the candidate, and "
        "the other side is drawn from BASELINE: how often does each test tell the two apart, and where are "
        "the intervals?",
    )
    parser.add_argument("kind", choices=_KINDS, help="what is counted")
    parser.add_argument("matrix", metavar="MATRIX", help=SIDE)
    parser.add_argument(
        "baseline",
        metavar="BASELINE",
        nargs="?",
        help="for draw: the other side (default: the baseline of the campaign of MATRIX)",
    )
    add_reading(parser)
    parser.add_argument(
        "--runs",
        type=_numbers,
        metavar="M[,M]",
        help="runs of each benchmark and side; several numbers are studied one by one (default: 5 for power "
        "and draw, 3,5,10 for type1, 3,5,10,30 for coverage)",
    )
    parser.add_argument(
        "--shift",
        type=number,
        metavar="P",
        help="for power: by how many percent a shifted benchmark is faster (default: 1)",
    )
    add_value(
        parser,
        "--shift-by",
        "D",
        "for power, instead of --shift: what is added to each value of a shifted benchmark, in the unit of "
        "the values (published: 1.0 s)",
    )
    parser.add_argument(
        "--shifted",
        type=_numbers,
        metavar="K[,K]",
        help="for power: how many benchmarks are shifted (default: 0 to all)",
    )
    add_value(
        parser,
        "--speedup",
        "G",
        "for draw: test whether the candidate is more than G times better (default: 1, in either direction)",
    )
    parser.add_argument(
        "--alternative",
        choices=("two-sided", "candidate"),
        help="the alternative of every test of power, type1 and draw (default: two-sided; with --speedup: "
        "candidate)",
    )
    parser.add_argument(
        "--alpha",
        type=_levels,
        metavar="A[,A]",
        help="level of the tests (default: 0.05; for draw, which takes several, 0.01,0.05); intervals have "
        "the confidence 1 - A, with the largest A of several",
    )
    parser.add_argument(
        "--mean",
        choices=("geometric", "harmonic", "arithmetic"),
        help="for coverage: the mean over the benchmarks (default: geometric)",
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
        help="draw no run twice in one comparison, as published; if both sides come from one MATRIX, it "
        "needs as many runs as both sides draw",
    )
    parser.add_argument(
        "--simulations",
        type=int,
        metavar="N",
        help="simulated comparisons for each line (default: 200; 500 for type1, 100 for draw)",
    )
    add_resamples(parser, 999, "of each randomization test or bootstrap (default: 999)")
    add_seed(parser)
    add_working(parser, "processes")
    add_plot(parser, "the rates of power and type1, or the intervals of draw")
    add_json(parser)
    parser.set_defaults(run=_study)


def _numbers(text: str) -> tuple[int, ...]:
    """Read whole numbers between commas; argparse reports what is none."""
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of whole numbers") from None


def _levels(text: str) -> tuple[float, ...]:
    """Read numbers between commas; argparse reports what is none."""
    return tuple(number(part) for part in text.split(","))


# options of some kinds only: they have no default, so that one that is not taken is seen
_OF_SOME = {
    "shift": ("power",),
    "shift_by": ("power",),
    "shifted": ("power",),
    "speedup": ("draw",),
    "alternative": ("power", "type1", "draw"),
    "mean": ("coverage",),
    "plot": ("power", "type1", "draw"),
}


def _study(args: argparse.Namespace, out: TextIO, _err: TextIO) -> int:
    for name, kinds in _OF_SOME.items():
        if getattr(args, name) is not None and args.kind not in kinds:
            option = f"--{name.replace('_', '-')}"
            known = " and ".join(part for part in (", ".join(kinds[:-1]), kinds[-1]) if part)
            raise UsageError(f"{option} is for 'study {known}'", f"study {args.kind}")
    if args.kind == "draw":
        if args.runs is not None and len(args.runs) > 1:
            raise UsageError("a study of draws has one number of runs", fix="write --runs 5")
    else:
        if args.baseline is not None:
            raise UsageError(
                f"'study {args.kind}' draws both sides from one matrix",
                args.baseline,
                "leave it out, or write 'study draw'",
            )
        if args.alpha is not None and len(args.alpha) > 1:
            raise UsageError(f"'study {args.kind}' has one level", fix="write --alpha 0.05")
    if args.shift is not None and args.shift_by is not None:
        raise UsageError(
            "--shift and --shift-by are two ways to shift", fix="leave one of them out"
        )
    from ..plots.chart import check_picture

    picture = None if args.plot is None else check_picture(args.plot)
    from ..importers.reader import read_one, read_sides

    with working(args) as workers:
        if args.kind == "draw":
            both = read_sides(args.matrix, args.baseline, reading(args))
            sides = [both.candidate, both.baseline]
        else:
            sides = [read_one(args.matrix, reading(args))]
        result = _made(sides, args, workers)
    if picture is not None:
        from ..plan.study_page import study_picture
        from ..plots.chart import write_picture

        title, words = str(result).split("\n", 1)
        write_picture(study_picture(result), picture, title=title, alt=words)
    show(result, out, as_json=args.json, metric=metric_of(*sides))
    return 0


def _simulated(done: int, total: int) -> None:
    doing("simulating", done, total, "comparisons")


def _made(
    sides: list[PerformanceMatrix],
    args: argparse.Namespace,
    workers: int | None,
) -> RejectionStudy | CoverageStudy | DrawStudy:
    from ..plan.draw import draw_study
    from ..plan.error_rates import coverage_study, power_study, type1_study
    from ..stats.arguments import stream

    shared: dict[str, Any] = {
        "draws": args.unit,
        "replace": not args.without_replacement,
        "resamples": args.resamples,
        "rng": stream(args.seed, "study", args.kind),
        "seed": args.seed,
        "workers": workers,
        "progress": _simulated,
    }
    given = {
        name: getattr(args, name) for name in ("simulations", "mean", "alternative", "speedup")
    }
    shared |= {name: value for name, value in given.items() if value is not None}
    if args.kind == "draw":
        return draw_study(
            *sides,
            runs=5 if args.runs is None else args.runs[0],
            alphas=(0.01, 0.05) if args.alpha is None else args.alpha,
            **shared,
        )
    (population,) = sides
    alpha = 0.05 if args.alpha is None else args.alpha[0]
    if args.kind == "power":
        return power_study(
            population,
            shift=1 + (1.0 if args.shift is None else args.shift) / 100,
            shift_by=args.shift_by,
            shifted=args.shifted,
            runs=5 if args.runs is None else args.runs,
            alpha=alpha,
            **shared,
        )
    if args.runs is not None:
        shared["runs"] = args.runs
    if args.kind == "type1":
        return type1_study(population, alpha=alpha, **shared)
    return coverage_study(population, confidence=1 - alpha, **shared)
