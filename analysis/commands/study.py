"""The subcommand ``study``."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any, TextIO

from ..announcing import doing
from ..errors import UsageError
from ..options import command, number
from .options import Source, Workers, metric_of, show

if TYPE_CHECKING:
    from ..data.matrix import PerformanceMatrix


class _Asked(Source, Workers):
    kind: str
    matrix: str
    baseline: str | None
    runs: tuple[int, ...] | None
    shift: float | None
    shift_by: float | None
    shifted: tuple[int, ...] | None
    speedup: float | None
    alternative: str | None
    alpha: tuple[float, ...] | None
    mean: str | None
    unit: str
    without_replacement: bool
    simulations: int | None
    resamples: int
    seed: int
    plot: str | None


def numbers(text: str) -> tuple[int, ...]:
    """Read whole numbers between commas."""
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of whole numbers") from None


def levels(text: str) -> tuple[float, ...]:
    """Read numbers between commas."""
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


@command("study")
def study(*, args: _Asked, json: bool, out: TextIO) -> int:
    """Simulate many comparisons by drawing both sides from the runs of MATRIX, and count.

    power: how often does each test find a shift of some benchmarks? type1: how often does it find a
    shift that is not there? coverage: how often do intervals contain the truth? draw: MATRIX is the
    candidate, and the other side is drawn from BASELINE: how often does each test tell the two apart,
    and where are the intervals?
    """
    for name, kinds in _OF_SOME.items():
        for option in args.given(name) if args.kind not in kinds else ():
            known = " and ".join(part for part in (", ".join(kinds[:-1]), kinds[-1]) if part)
            raise UsageError(f"{option} is for 'study {known}'", f"study {args.kind}")
    if args.kind == "draw" and args.runs is not None and len(args.runs) > 1:
        raise UsageError("a study of draws has one number of runs", fix="write --runs 5")
    if args.kind != "draw" and args.baseline is not None:
        what = f"'study {args.kind}' draws both sides from one matrix"
        raise UsageError(what, args.baseline, "leave it out, or write 'study draw'")
    if args.kind != "draw" and args.alpha is not None and len(args.alpha) > 1:
        raise UsageError(f"'study {args.kind}' has one level", fix="write --alpha 0.05")
    if args.shift is not None and args.shift_by is not None:
        what, fix = "--shift and --shift-by are two ways to shift", "leave one of them out"
        raise UsageError(what, fix=fix)
    from ..plots.chart import check_picture

    picture = None if args.plot is None else check_picture(args.plot)
    from ..importers.reader import read_one, read_sides

    with args.working() as workers:
        if args.kind == "draw":
            both = read_sides(args.matrix, args.baseline, args.reading())
            sides = [both.candidate, both.baseline]
        else:
            sides = [read_one(args.matrix, args.reading())]
        result = _made(sides, args, workers)
    if picture is not None:
        from ..plots.chart import write_picture

        title, words = str(result).split("\n", 1)
        write_picture(result.picture(), picture, title=title, alt=words)
    show(result, out, as_json=json, metric=metric_of(*sides))
    return 0


def _made(sides: list[PerformanceMatrix], args: _Asked, workers: int | None) -> Any:  # noqa: ANN401
    from ..plan.draw import draw_study
    from ..plan.error_rates import coverage_study, power_study, type1_study
    from ..stats.arguments import stream

    given = args.some("simulations", "mean", "alternative", "speedup", "resamples", "seed", "runs")
    shared: dict[str, Any] = {
        **{name: value for name, value in given.items() if value is not None},
        "draws": args.unit,
        "replace": not args.without_replacement,
        "rng": stream(args.seed, "study", args.kind),
        "workers": workers,
        "progress": lambda done, total: doing("simulating", done, total, "comparisons"),
    }
    if args.kind == "draw":
        if args.runs is not None:
            shared["runs"] = args.runs[0]
        if args.alpha is not None:
            shared["alphas"] = args.alpha
        return draw_study(*sides, **shared)
    (population,) = sides
    alpha = 0.05 if args.alpha is None else args.alpha[0]
    if args.kind == "coverage":
        return coverage_study(population, confidence=1 - alpha, **shared)
    if args.kind == "type1":
        return type1_study(population, alpha=alpha, **shared)
    shift = 1 + (1.0 if args.shift is None else args.shift) / 100
    how = args.some("shift_by", "shifted")
    return power_study(population, shift=shift, alpha=alpha, **how, **shared)
