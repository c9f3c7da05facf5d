"""The subcommand ``resample``."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import TYPE_CHECKING, TextIO

from ..announcing import doing
from ..errors import UsageError
from .options import (
    add_benchmarks,
    add_confidence,
    add_interval,
    add_json,
    add_plot,
    add_resamples,
    add_seed,
    add_sides,
    add_unit,
    chosen,
    metric_of,
    reading,
    show,
)

if TYPE_CHECKING:
    from ..data.matrix import PerformanceMatrix
    from ..methods.resampling.assignments import Unit
    from .options import Subparsers


_QUESTIONS = (
    *("mean", "centre", "alternative", "unit", "interval", "sides", "confidence", "resamples"),
)


def add(subparsers: Subparsers) -> None:
    """Add ``resample``."""
    parser = subparsers.add_parser(
        "resample",
        description="Compare two variants over a suite by resampling: the ratio of their means "
        "with a bootstrap interval, its p-value from a randomization test, and the distribution "
        "of a single pass over the suite for each of them. Without BASELINE, the baseline of the "
        "candidate's campaign is used; a file, or a trial of one variant, is described by itself.",
    )
    add_sides(parser)
    add_benchmarks(parser)
    _add_questions(parser)
    add_resamples(
        parser, 10_000, "random draws for each of test, interval and distributions (default: 10000)"
    )
    add_seed(parser)
    parser.add_argument(
        "--also",
        metavar="SOURCE",
        action="append",
        default=[],
        help="another variant or file, whose distribution is shown next to the two; may be "
        "repeated",
    )
    add_plot(parser)
    add_json(parser)
    parser.set_defaults(run=_resample)


def _add_questions(parser: argparse.ArgumentParser) -> None:
    """Add what is asked of the data: which mean, against whom, by which unit and interval."""
    parser.add_argument(
        "--mean",
        choices=("geometric", "harmonic", "arithmetic", "all"),
        default="geometric",
        help="the mean over the benchmarks, of the stored values (default: geometric); all: the "
        "three means side by side in one table",
    )
    parser.add_argument(
        "--compare",
        action="store_true",
        help="print one table for the pair with HPT, the t interval, the randomization test and "
        "the bootstrap",
    )
    parser.add_argument(
        "--centre",
        choices=("runs", "mean", "median"),
        default="runs",
        help="what represents a benchmark: all its runs in the same kind of mean (default), "
        "their arithmetic mean, or their median",
    )
    parser.add_argument(
        "--alternative",
        choices=("candidate", "baseline", "two-sided"),
        default="two-sided",
        help="who is better if there is a difference (default: two-sided)",
    )
    add_unit(
        parser,
        ("run", "block", "session"),
        None,
        "what is moved together: single runs, whole rounds or whole sessions (default: sessions "
        "if both sides have five of them in common, otherwise rounds if they are known, "
        "otherwise runs)",
    )
    add_interval(
        parser,
        ("percentile", "corrected", "bca", "studentized"),
        "percentile",
        "the kind of bootstrap interval; with few runs, corrected and studentized cover better, "
        "and the answer says how well",
    )
    add_confidence(parser, "of the interval")
    parser.add_argument(
        "--sides",
        choices=("two", "lower", "upper"),
        default="two",
        help="a two-sided interval (default), or a bound on one side only",
    )


def _resample(args: argparse.Namespace, out: TextIO, _err: TextIO) -> int:
    from ..plots.chart import check_picture, write_picture

    picture = None if args.plot is None else check_picture(args.plot)
    if not 2 <= args.resamples <= 10_000_000:
        raise UsageError(
            f"--resamples must lie between 2 and 10,000,000, and is {args.resamples}",
            fix="10000 is a good start",
        )
    from ..importers.reader import asked_of, read_one

    if args.baseline is None and _alone(args):
        return _described(args, out)
    candidate, baseline = _sides(args)
    if args.compare or args.mean == "all":
        return _tabled(args, candidate, baseline, out)
    if args.also:  # all of them answer one question
        sources = [text for text in (args.candidate, args.baseline, *args.also) if text is not None]
        asked_of(sources, reading(args))
    others = [read_one(text, reading(args)) for text in args.also]
    from ..methods.resampling.page import resampling_report
    from ..stats.arguments import stream

    doing("resampling")
    report = resampling_report(
        candidate,
        baseline,
        others=others,
        **{name: getattr(args, name) for name in _QUESTIONS},
        rng=stream(args.seed, "resample"),
        seed=args.seed,
    )
    if picture is not None:
        from ..methods.resampling.page import resampling_picture

        write_picture(
            resampling_picture(report),
            picture,
            title=f"{report.test.candidate} against {report.test.baseline}",
            alt=" ".join(report.conclusions),
        )
    show(report, out, as_json=args.json, metric=metric_of(candidate, baseline))
    return 0


def _alone(args: argparse.Namespace) -> bool:
    """Tell whether one source is given that nothing is compared with."""
    from ..importers.reader import is_file, trial_and_variant

    named = trial_and_variant(args.candidate)
    if named is None:
        return is_file(args.candidate)
    folder, variant = named
    return variant is None and len(reading(args).opened().read(folder).manifest.variants) == 1


def _described(args: argparse.Namespace, out: TextIO) -> int:
    """Describe what a single pass over the suite gives on one source, or on it and --also."""
    _refuse(args, ("plot", "compare"), "needs two sides", "name BASELINE, or leave it out")
    if args.mean == "all":
        raise UsageError("one source is described by one mean", "--mean all", "name one mean")
    from ..importers.reader import asked_of, read_one
    from ..methods.resampling.distribution import compare_distributions
    from ..methods.resampling.page import PassesReport
    from ..stats.arguments import stream

    sources = [args.candidate, *args.also]
    asked_of(sources, reading(args))
    matrices = chosen(args, [read_one(text, reading(args)) for text in sources])
    doing("resampling")
    found = compare_distributions(
        matrices,
        mean=args.mean,
        resamples=args.resamples,
        rng=stream(args.seed, "resample"),
    )
    report = PassesReport(distributions=found, seed=args.seed, cautions=found.cautions)
    show(report, out, as_json=args.json, metric=metric_of(*matrices))
    return 0


def _tabled(
    args: argparse.Namespace,
    candidate: PerformanceMatrix,
    baseline: PerformanceMatrix,
    out: TextIO,
) -> int:
    """Set means, or methods, side by side."""
    _refuse(
        args,
        ("plot", "also"),
        "is no part of the table of --compare and --mean all",
        "leave it out",
    )
    from ..data.pair import MEANS
    from ..verdict.compare_sentences import pair_table

    doing("resampling")
    table = pair_table(
        candidate,
        baseline,
        means=MEANS if args.mean == "all" else (args.mean,),
        compared=args.compare,
        seed=args.seed,
        **{name: getattr(args, name) for name in _QUESTIONS if name != "mean"},
    )
    show(table, out, as_json=args.json, metric=metric_of(candidate, baseline))
    return 0


def _refuse(args: argparse.Namespace, options: tuple[str, ...], why: str, fix: str) -> None:
    for name in options:
        if getattr(args, name):
            raise UsageError(f"--{name} {why}", fix=fix)


def _sides(args: argparse.Namespace) -> tuple[PerformanceMatrix, PerformanceMatrix]:
    """Read both sides, and say where ids of two files meet."""
    from ..importers.reader import read_sides

    sides = read_sides(args.candidate, args.baseline, reading(args))
    candidate, baseline = chosen(args, (sides.candidate, sides.baseline))
    if candidate.trial is None and baseline.trial is None:
        candidate = _with_shared_ids(candidate, baseline, args.unit)
    return candidate, baseline


def _with_shared_ids(
    candidate: PerformanceMatrix, baseline: PerformanceMatrix, unit: Unit | None
) -> PerformanceMatrix:
    """Add a caution where ids of two files meet: whether by accident, nobody but the user knows."""
    from ..data.pair import match
    from ..methods.resampling.assignments import exchangeable_units

    pair = match(candidate, baseline)
    units = exchangeable_units(pair.candidate, pair.baseline, unit)
    if not units.both:
        return candidate
    of_both = (
        f"1 {units.noun} of this file bears an id of the other file, and counts as the same one"
        if units.both == 1
        else f"{units.both} {units.noun}s of this file bear ids of the other file, and count as "
        "the same ones"
    )
    said = f"{of_both}, measured with both variants: where that is not so, change the ids"
    from ..pages.model import Caution

    return replace(candidate, cautions=(*candidate.cautions, Caution("shared-ids", said)))
