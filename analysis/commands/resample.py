"""The subcommand ``resample``."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, TextIO

from ..announcing import doing
from ..errors import UsageError
from ..options import command
from .options import BothSides, Chosen, metric_of, show

if TYPE_CHECKING:
    from ..data.matrix import PerformanceMatrix
    from ..methods.resampling.assignments import Unit


_QUESTIONS = ("centre", "alternative", "unit", "interval", "sides", "confidence", "resamples")


class _Asked(BothSides, Chosen):
    mean: Any  # one, or all
    compare: bool
    centre: str
    alternative: str
    unit: Unit | None
    interval: str
    sides: str
    confidence: float
    resamples: int
    seed: int
    also: list[str] | None
    plot: str | None
    json: bool


@command("resample")
def resample(*, args: _Asked, out: TextIO) -> int:
    """Compare two variants over a suite by resampling.

    The answer shows the ratio of their means with a bootstrap interval, its p-value from a
    randomization test, and the distribution of a single pass over the suite for each of them. Without
    BASELINE, the baseline of the candidate's campaign is used; a file, or a trial of one variant, is
    described by itself.
    """
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
    also = args.also or []
    if also:  # all of them answer one question
        sources = [text for text in (args.candidate, args.baseline, *also) if text is not None]
        asked_of(sources, args.reading())
    others = [read_one(text, args.reading()) for text in also]
    from ..methods.resampling.page import resampling_report
    from ..stats.arguments import stream

    doing("resampling")
    report = resampling_report(
        candidate,
        baseline,
        others=others,
        **args.some("mean", *_QUESTIONS),
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


def _alone(args: _Asked) -> bool:
    """Tell whether one source is given that nothing is compared with."""
    from ..importers.reader import is_file, trial_and_variant

    named = trial_and_variant(args.candidate)
    if named is None:
        return is_file(args.candidate)
    folder, variant = named
    return variant is None and len(args.reading().opened().read(folder).manifest.variants) == 1


def _described(args: _Asked, out: TextIO) -> int:
    """Describe what a single pass over the suite gives on one source, or on it and --also."""
    _refuse(args, ("plot", "compare"), "needs two sides", "name BASELINE, or leave it out")
    if args.mean == "all":
        raise UsageError("one source is described by one mean", "--mean all", "name one mean")
    from ..importers.reader import asked_of, read_one
    from ..methods.resampling.distribution import compare_distributions
    from ..methods.resampling.page import PassesReport
    from ..stats.arguments import stream

    sources = [args.candidate, *(args.also or ())]
    asked_of(sources, args.reading())
    matrices = args.of(*(read_one(text, args.reading()) for text in sources))
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
    args: _Asked,
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
    from ..verdict.one_pair import pair_table

    doing("resampling")
    table = pair_table(
        candidate,
        baseline,
        means=MEANS if args.mean == "all" else (args.mean,),
        compared=args.compare,
        seed=args.seed,
        **args.some(*_QUESTIONS),
    )
    show(table, out, as_json=args.json, metric=metric_of(candidate, baseline))
    return 0


def _refuse(args: _Asked, options: tuple[str, ...], why: str, fix: str) -> None:
    for option in args.given(*options):
        raise UsageError(f"{option} {why}", fix=fix)


def _sides(args: _Asked) -> tuple[PerformanceMatrix, PerformanceMatrix]:
    """Read both sides, and say where ids of two files meet."""
    sides = args.read()
    candidate, baseline = args.of(sides.candidate, sides.baseline)
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
